//! Events of the agent's session: updates, requests and responses.
use super::Conversation;
use super::output::{AgentReply, Command, Notice, SessionNumber};
use super::requests::Requester;
use super::servers::is_work;
use crate::PermissionDecision;
use crate::frontend_tool::CallOwner;
use acp_types::client::{AgentRequest, ReceivedValue, RequestKey, SessionEvent, Update};
use acp_types::v1::dispatch::AgentRequest as AgentRequestV1;
use acp_types::v2::dispatch::AgentRequest as AgentRequestV2;
use acp_types::v2::prompt_lifecycle::SessionUpdate as SessionUpdateV2;
use acp_types::v2::session_states::StateUpdate;
use alloc::boxed::Box;
use core::time::Duration;
use jsonrpc_core::wire::Raw;

impl Conversation {
    /// Handles an event of a session. Events of a released session are ignored.
    ///
    /// Returns an event for the program: a request for files, terminals or an extension, its
    /// withdrawal, or the notification of an extension.
    #[must_use = "the program has to answer a returned request"]
    pub fn handle_session(
        &mut self,
        session: SessionNumber,
        event: SessionEvent,
        now: Duration,
    ) -> Option<SessionEvent> {
        self.begin_input(now);
        if self.attached != Some(session) {
            return None;
        }
        let mut left = None;
        match event {
            SessionEvent::Opened(opened) => self.handle_opened(session, *opened),
            SessionEvent::Refused(error) => self.handle_refused(&error),
            SessionEvent::Update(update) => {
                if is_work(&update.value) {
                    self.handle_attempt_succeeded();
                }
                if !self.note_timeline(&update.value) {
                    self.handle_update(update.value);
                }
                self.extend_replay();
            }
            SessionEvent::Request(key, request) => {
                left = self.handle_request(key, *request, None);
            }
            SessionEvent::Withdrawn(key) => match self.requests.find(Requester::Agent(key)) {
                Some(id) => {
                    // The connection has answered it.
                    self.requests.remove(&id);
                    self.translator.handle_request_withdrawn(&id);
                }
                None => left = Some(SessionEvent::Withdrawn(key)),
            },
            SessionEvent::Notification(notification) => {
                let params = Some(notification.raw.clone());
                self.translator.handle_extension(notification.value.method(), params);
                left = Some(SessionEvent::Notification(notification));
            }
            SessionEvent::PromptAccepted(_, accepted) => {
                self.note_prompt_accepted(&accepted.value.message_id);
                self.translator.handle_prompt_accepted(&accepted.value);
            }
            SessionEvent::TurnEnded(_, ended) => self.handle_turn_ended(ended),
            SessionEvent::Lagged { dropped } => {
                self.memory.handle_lost_updates();
                self.translator.handle_dropped(dropped);
            }
            _ => {}
        }
        self.advance();
        left
    }

    /// Handles a permission request that the program has decided. Otherwise as
    /// [`handle_session`](Self::handle_session).
    pub fn handle_decided(
        &mut self,
        session: SessionNumber,
        key: RequestKey,
        request: ReceivedValue<AgentRequest>,
        decision: PermissionDecision,
        now: Duration,
    ) -> Option<SessionEvent> {
        self.begin_input(now);
        if self.attached != Some(session) {
            return None;
        }
        let left = self.handle_request(key, request, Some(decision));
        self.advance();
        left
    }

    fn handle_update(&mut self, update: Update) {
        match update {
            Update::V1(update) => {
                if let Some(session) = &mut self.session
                    && session.handle_update(&update.update)
                {
                    self.settings.handle_agent_change(&session.settings);
                    self.remember();
                }
                self.requests.handle_update(&update.update);
                if self.page.machine.handle_update(&update, self.now) == CallOwner::Agent {
                    self.translator.handle_notification(update);
                }
            }
            Update::V2(update) if is_idle(&update.update) => {
                // `TurnEnded` has the end of a prompt's turn. A session that is being opened has
                // none.
                let is_other = self.session.as_ref().is_some_and(|session| {
                    session.has_turn || session.id.as_str() != update.session_id.as_str()
                });
                if self.translator.has_own_turn() && !is_other {
                    self.page.machine.handle_turn_end();
                    self.page.drive(&mut self.translator);
                    self.translator.handle_notification_v2(update);
                }
            }
            Update::V2(update) => {
                if let Some(session) = &mut self.session
                    && session.handle_update_v2(&update.update)
                {
                    self.settings.handle_agent_change(&session.settings);
                    self.remember();
                }
                let owner = self.page.machine.handle_update_v2(&update, self.now);
                if owner == CallOwner::Agent {
                    self.translator.handle_notification_v2(update);
                }
            }
            _ => {}
        }
    }

    /// Handles a request of the agent. Returns one that the program has to answer.
    fn handle_request(
        &mut self,
        key: RequestKey,
        request: ReceivedValue<AgentRequest>,
        decision: Option<PermissionDecision>,
    ) -> Option<SessionEvent> {
        let ReceivedValue { value, raw, .. } = request;
        self.handle_attempt_succeeded();
        match value {
            AgentRequest::V1(AgentRequestV1::RequestPermissionRequest(request)) => {
                self.note_question();
                self.page.machine.handle_permission_request(&request, self.now);
                self.page.drive(&mut self.translator);
                let id = self.requests.insert(Requester::Agent(key));
                self.translator.handle_permission(id, *request, decision);
            }
            AgentRequest::V1(AgentRequestV1::CreateElicitationRequest(request)) => {
                self.note_question();
                let id = self.requests.insert(Requester::Agent(key));
                self.translator.handle_elicitation_request(id, *request);
            }
            AgentRequest::V2(AgentRequestV2::RequestPermissionRequest(request)) => {
                self.note_question();
                self.page.machine.handle_permission_request_v2(&request, self.now);
                self.page.drive(&mut self.translator);
                let id = self.requests.insert(Requester::Agent(key));
                self.translator.handle_permission_v2(id, *request, decision);
            }
            AgentRequest::V2(AgentRequestV2::CreateElicitationRequest(request)) => {
                self.note_question();
                let id = self.requests.insert(Requester::Agent(key));
                self.translator.handle_elicitation_request_v2(id, *request);
            }
            other if other.method() == crate::contextual_tools::METHOD => {
                let result = self.page.handle_contextual(Some(raw.as_ref()), self.now);
                let reply = match result {
                    Ok(result) => AgentReply::Result(result),
                    Err(error) => AgentReply::Error(error),
                };
                self.reply(key, reply);
            }
            other => {
                let request = ReceivedValue::new(other, raw);
                return Some(SessionEvent::Request(key, Box::new(request)));
            }
        }
        None
    }

    /// Records a question, which is work of the agent's own turn outside of a prompt's, and no part
    /// of a replay.
    fn note_question(&mut self) {
        self.translator.show_held();
        if self.session.is_some() {
            self.translator.note_work();
        }
    }

    pub(super) fn reply(&mut self, request: RequestKey, reply: AgentReply) {
        if let Some(session) = self.attached {
            self.commands.push_back(Command::Reply { session, request, reply });
        }
    }

    /// Sends the translator's responses to the agent and to the program's tools.
    pub(super) fn respond(&mut self) {
        while let Some(response) = self.translator.poll_response() {
            self.notices.push_back(Notice::RequestAnswered(Box::new(response.clone())));
            match self.requests.remove(&response.request_id) {
                Some(Requester::Agent(key)) => {
                    self.reply(key, AgentReply::Answer(response.result));
                }
                Some(Requester::Tool(key)) => self.answer_question(key, response.result),
                None => {}
            }
        }
    }
}

fn is_idle(update: &SessionUpdateV2) -> bool {
    matches!(update, SessionUpdateV2::StateUpdate(StateUpdate::Idle(_)))
}

/// Converts a reply into a result or an error.
impl From<AgentReply> for acp_types::client::Reply {
    fn from(reply: AgentReply) -> Self {
        match reply {
            AgentReply::Answer(answer) => Self::result(&answer),
            AgentReply::Result(result) => Self::from(Ok::<Raw, _>(result)),
            AgentReply::Error(error) => Self::from(error),
        }
    }
}
