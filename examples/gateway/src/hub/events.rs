//! Events of the hub for the program: requests for this machine, notices of conversations, frames
//! of runs.
use crate::hub::link::Link;
use crate::hub::new_run::RunStart;
use crate::hub::records;
use crate::hub::state::{Shared, State, Unavailable};
use acp_types::client::{AgentRequest, Diagnostic, Received, Reply, RequestKey};
use acp_types::v1::session_setup::SessionId;
use agui_bridge::conversation::{Conversation, Notice};
use agui_bridge::hub::{HubEvent, HubRefused};
use agui_bridge::{CancelReason, Failure};
use agui_types::id::RunId;
use host::terminals::TerminalEvent;
use host::workspace::HostEvent;
use jsonrpc_core::{ErrorCode, ErrorObject, peek_member};
use tokio::sync::mpsc;

impl State {
    /// Handles all events and frames of the hub. `link` is the transport, if one is open.
    pub(crate) fn handle_events(
        &mut self,
        shared: &Shared,
        mut link: Option<&mut Link>,
        removed: &mpsc::UnboundedSender<String>,
    ) {
        while let Some(event) = self.hub.poll_event() {
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
                HubEvent::RunRefused(thread, run_id, why) => {
                    self.answer_start(&thread, &run_id, Err(why.into()));
                }
                HubEvent::RunAgain(thread, run_id, earlier) => {
                    self.answer_start(&thread, &run_id, Ok(RunStart::Again(earlier)));
                }
                HubEvent::RunFailed(_, run, code, reason) => {
                    let code = code.unwrap_or_default();
                    let reason = &*self.variables.hide(&reason);
                    tracing::warn!(%run, code, reason, "a run has failed");
                }
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
        self.handle_frames(shared);
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

    /// Wakes the readers of runs with new frames, and closes runs that have ended.
    fn handle_frames(&mut self, shared: &Shared) {
        while let Some(changed) = self.hub.poll_changed() {
            let Some(thread) = self.threads.get_mut(&changed.thread) else { continue };
            let Some(run) = thread.runs.get_mut(&changed.run_id) else { continue };
            if let Some(reply) = run.reply.take()
                && reply.send(Ok(RunStart::Begun)).is_err()
            {
                // The client is gone, and the run will never have a reader.
                let thread = &changed.thread;
                let run_id = &changed.run_id;
                self.hub.handle_cancel(thread, run_id, CancelReason::NoReader, shared.now());
            }
            if thread.current.as_ref() != Some(&changed.run_id) {
                thread.current = Some(changed.run_id.clone());
                thread.span = run.span.clone();
            }
            if !changed.has_ended {
                run.log.notify();
            } else if let Some(run) = thread.runs.remove(&changed.run_id)
                && let Some(log) = self.hub.log(&changed.thread, &changed.run_id)
            {
                records::run_ended(&changed.thread, changed.run_id.as_str(), log.outcome());
                run.log.settle(log.clone());
            }
        }
    }

    fn handle_request(
        &mut self,
        link: Option<&mut Link>,
        thread: Option<String>,
        key: RequestKey,
        request: &Received<AgentRequest>,
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
    pub(crate) fn handle_host(
        &mut self,
        shared: &Shared,
        link: &Link,
        event: HostEvent<RequestKey>,
    ) {
        match event {
            HostEvent::Answer(key, answer) => self.reply(key, answer),
            HostEvent::Terminal(session, event) => {
                let Some(thread) = link.sessions.get(&session) else { return };
                let now = shared.now();
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
