//! Events of the hub for the program: requests for this machine, notices of conversations, events
//! of runs.
use crate::hub::link::Link;
use crate::hub::new_run::RunStart;
use crate::hub::records;
use crate::hub::state::{State, Unavailable};
use acp_types::client::{AgentRequest, Diagnostic, ReceivedValue, Reply, RequestKey};
use acp_types::v1::session_setup::SessionId;
use agui_bridge::conversation::{Conversation, Notice};
use agui_bridge::hub::{HubEvent, HubRefused, HubRunEvent, HubRunOutput};
use agui_bridge::{CancelReason, Failure};
use agui_types::event::Event;
use agui_types::id::RunId;
use agui_types::run_log::RunOutcome;
use host::terminals::TerminalEvent;
use host::workspace::HostEvent;
use jsonrpc_core::{ErrorCode, ErrorObject, peek_member};
use std::time::Duration;
use tokio::sync::mpsc;

impl State {
    /// Handles all events of the hub and of its runs. `link` is the transport, if one is open.
    pub(crate) fn handle_events(
        &mut self,
        now: Duration,
        mut link: Option<&mut Link>,
        removed: &mpsc::UnboundedSender<String>,
    ) {
        loop {
            // The end of a run may have events of its own, such as a cancelled call.
            let Some(event) = self.hub.poll_event() else {
                let Some(event) = self.hub.poll_run() else { break };
                self.handle_run_event(&event, now);
                continue;
            };
            match event {
                HubEvent::Connected(initialized) => {
                    for waiting in self.waiting.drain(..) {
                        let _gone = waiting.send(Ok(initialized.clone()));
                    }
                }
                HubEvent::Closed(reason) => {
                    let unavailable = Unavailable(Failure::AgentUnavailable, reason.to_string());
                    for waiting in self.waiting.drain(..) {
                        let _gone = waiting.send(Err(unavailable.clone()));
                    }
                }
                HubEvent::Request { thread, key, request } => {
                    self.handle_request(link.as_deref_mut(), thread, key, &request);
                }
                HubEvent::Withdrawn(key) => {
                    if let Some(link) = link.as_deref_mut() {
                        link.host.withdraw(&key);
                    }
                }
                HubEvent::Notice(thread, notice) => self.handle_notice(&thread, notice),
                HubEvent::ThreadRemoved(thread) => {
                    self.threads.remove(&thread);
                    let _ending = removed.send(thread);
                }
                HubEvent::CallEnded(key, ended) => {
                    if let Some(reply) = self.calls.remove(&key) {
                        let _gone = reply.send(ended);
                    }
                }
                HubEvent::Diagnostic(diagnostic) => {
                    log(&diagnostic);
                    if let Some(link) = link.as_deref_mut() {
                        link.waste.count_lines(useless_lines(&diagnostic));
                    }
                }
                _ => {}
            }
        }
        if let Some(link) = link {
            self.end_unused_terminals(link);
        }
    }

    /// Answers the client of a run that does not begin.
    fn answer_start(
        &mut self,
        thread: &str,
        run_id: &RunId,
        outcome: Result<RunStart, HubRefused>,
    ) {
        let run = self.threads.get_mut(thread).and_then(|thread| thread.runs.remove(run_id));
        if let Some(reply) = run.and_then(|run| run.reply) {
            let _gone = reply.send(outcome);
        }
    }

    /// Adds an event to the log of its run.
    pub(crate) fn handle_run_event(&mut self, event: &HubRunEvent, now: Duration) {
        let thread_name = &*event.thread;
        match &event.output {
            HubRunOutput::Refused(why) => {
                let refused = Err(why.clone().into());
                return self.answer_start(thread_name, &event.run_id, refused);
            }
            HubRunOutput::Again(earlier) => {
                let again = Ok(RunStart::Again(earlier.clone()));
                return self.answer_start(thread_name, &event.run_id, again);
            }
            _ => {}
        }
        let Some(thread) = self.threads.get_mut(thread_name) else { return };
        let Some(run) = thread.runs.get_mut(&event.run_id) else { return };
        if thread.current.as_ref() != Some(&event.run_id) {
            thread.current = Some(event.run_id.clone());
            thread.span.clone_from(&run.span);
        }
        let has_reader =
            run.reply.take().is_none_or(|reply| reply.send(Ok(RunStart::Begun)).is_ok());
        let has_room = run.log.write(|log| event.append_to(log));
        if let Some(outcome) = event.outcome() {
            thread.runs.remove(&event.run_id);
            self.record_end(event, &outcome);
        } else if !has_reader {
            // The client is gone, and the run will never have a reader.
            self.hub.handle_cancel(thread_name, &event.run_id, CancelReason::NoReader, now);
        } else if !has_room {
            self.hub.handle_full(thread_name, &event.run_id, now);
        }
    }

    fn record_end(&self, event: &HubRunEvent, outcome: &RunOutcome) {
        records::run_ended(&event.thread, event.run_id.as_str(), Some(outcome));
        if let (HubRunOutput::Event(Event::RunError(error)), RunOutcome::Error(code)) =
            (&event.output, outcome)
        {
            let run = &event.run_id;
            let code = code.as_deref().unwrap_or_default();
            let reason = &*self.variables.hide(&error.message);
            tracing::warn!(%run, code, reason, "a run has failed");
        }
    }

    fn handle_request(
        &mut self,
        link: Option<&mut Link>,
        thread: Option<String>,
        key: RequestKey,
        request: &ReceivedValue<AgentRequest>,
    ) {
        let method = request.value.method();
        let params = request.raw.as_ref();
        records::requested(thread.as_deref(), method, params.get());
        let answer = link.and_then(|link| {
            let session = peek_member(params.get(), "sessionId").ok().flatten();
            let session = session.and_then(|id| serde_json::from_str::<String>(id).ok());
            if let (Some(session), Some(thread)) = (session, thread) {
                link.sessions.insert(SessionId::from(session), thread);
            }
            link.host.request(&key, method, params)
        });
        let unknown = || {
            let message = "this client does not have the method";
            Some(Err(ErrorObject::new(ErrorCode::METHOD_NOT_FOUND, message)))
        };
        if let Some(answer) = answer.unwrap_or_else(unknown) {
            self.reply(key, answer);
        }
    }

    fn reply(&mut self, key: RequestKey, answer: impl Into<Reply>) {
        if self.hub.reply(key, answer).is_err() {
            tracing::debug!("a request of the agent is answered already");
        }
    }

    /// Handles a result of the host, or a change of a terminal.
    pub(crate) fn handle_host(&mut self, now: Duration, link: &Link, event: HostEvent<RequestKey>) {
        match event {
            HostEvent::Answer(key, answer) => self.reply(key, answer),
            HostEvent::Terminal(session, event) => {
                let Some(thread) = link.sessions.get(&session) else { return };
                self.hub.with_conversation(thread, now, |it| match event {
                    TerminalEvent::Update(update) => it.handle_terminal_update(*update, now),
                    TerminalEvent::Output(chunk) => it.handle_terminal_output(chunk, now),
                });
            }
        }
    }

    /// Ends the terminals of sessions that their threads have left.
    fn end_unused_terminals(&self, link: &mut Link) {
        let Link { host, sessions, .. } = link;
        sessions.retain(|session, thread| {
            let current = self.hub.conversation(thread).and_then(Conversation::session_id);
            let is_current = current == Some(session);
            if !is_current {
                host.end_session(session);
            }
            is_current
        });
    }

    /// Reports the present session of a thread, which can be continued after a restart. Its notice
    /// may still wait.
    pub(crate) fn report_session(&self, name: &str) {
        if let (Some(thread), Some(conversation)) =
            (self.threads.get(name), self.hub.conversation(name))
        {
            thread.remembered.send_replace(conversation.remembered().cloned());
        }
    }

    fn handle_notice(&mut self, name: &str, notice: Notice) {
        let Some(thread) = self.threads.get_mut(name) else { return };
        match notice {
            Notice::ToolAnswered(call, outcome) => thread.answer_call(&call, outcome),
            Notice::ToolAlive(call) => thread.keep_call_alive(&call),
            Notice::ToolsChanged => {
                if let (Some(page), Some(conversation)) =
                    (&thread.page, self.hub.conversation(name))
                {
                    page.offer(conversation.tools());
                }
            }
            Notice::RequestAnswered(response) => records::answered(name, &response),
            Notice::QuestionAnswered(key, action) => {
                if let Some((_, reply)) = thread.questions.remove(&key) {
                    let _gone = reply.send(action);
                }
            }
            Notice::SettingEnded(key, ended) => {
                if let Some(reply) = thread.settings.remove(&key) {
                    let _gone = reply.send(ended);
                }
            }
            Notice::Prepared(prepared) => {
                for reply in thread.prepared.drain(..) {
                    let _gone = reply.send(prepared.clone());
                }
            }
            Notice::Activity => thread.activity.notify_waiters(),
            Notice::Remember(_) | Notice::Forget => self.report_session(name),
            Notice::Diagnostic(diagnostic) => tracing::warn!("{diagnostic}"),
            _ => {}
        }
    }
}

/// Returns the number of lines that had no use.
fn useless_lines(diagnostic: &Diagnostic) -> u64 {
    match diagnostic {
        Diagnostic::Lenient { .. } => 0,
        Diagnostic::Dropped { count } | Diagnostic::Missed { count } => *count,
        _ => 1,
    }
}

fn log(diagnostic: &Diagnostic) {
    match diagnostic {
        Diagnostic::Malformed { error } => {
            tracing::warn!(error, "the agent wrote a line that is no message");
        }
        Diagnostic::Unmatched { id } => tracing::debug!(%id, "a response without a request"),
        other => tracing::warn!(?other, "something of the agent was dropped or tolerated"),
    }
}
