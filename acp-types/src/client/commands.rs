//! Commands of the program: sessions, prompts, calls, replies.
use super::pending_event::{PendingEvent, Replay};
use super::session::{Session, SessionSetup, Stage, Turn};
use super::{
    AgentVersion, Base, Call, CallError, CallKey, Connection, Prompt, PromptContent, PromptError,
    Purpose, RepeatedAnswer, Reply, RequestKey, SessionKey, SessionSetupRequest, Token, Transmit,
    TurnError, TurnKey,
};
use crate::endpoint::{SessionClose, line, notification};
use crate::methods::{NotificationParams, RequestParams};
use crate::v1::session_setup::SessionId;
use crate::{v1, v2};
use alloc::vec::Vec;
use core::time::Duration;
use jsonrpc_core::wire::{Extra, Raw};
use jsonrpc_core::{Notification, Request, RequestId};

/// The request that opens a session.
struct OpenRequest {
    call: Call,
    /// The loaded or resumed session.
    session_id: Option<SessionId>,
    is_v2: bool,
}

impl OpenRequest {
    fn of<P: RequestParams>(params: &P, id: Option<&str>, is_v2: bool) -> Self {
        Self { call: Call::new(params), session_id: id.map(SessionId::from), is_v2 }
    }
}

impl From<&SessionSetupRequest> for OpenRequest {
    fn from(open: &SessionSetupRequest) -> Self {
        match open {
            SessionSetupRequest::New(params) => Self::of(&**params, None, false),
            SessionSetupRequest::Load(params) => {
                Self::of(&**params, Some(params.session_id.as_str()), false)
            }
            SessionSetupRequest::Resume(params) => {
                Self::of(&**params, Some(params.session_id.as_str()), false)
            }
            SessionSetupRequest::Fork(params) => Self::of(&**params, None, false),
            SessionSetupRequest::NewV2(params) => Self::of(&**params, None, true),
            SessionSetupRequest::ResumeV2(params) => {
                Self::of(&**params, Some(params.session_id.as_str()), true)
            }
            SessionSetupRequest::ForkV2(params) => Self::of(&**params, None, true),
        }
    }
}

impl Connection {
    /// Opens a session. [`SessionEvent::Opened`](super::SessionEvent::Opened) or
    /// [`SessionEvent::Refused`](super::SessionEvent::Refused) follows. The request waits for the
    /// response to `initialize`.
    pub fn open_session(
        &mut self,
        how: impl Into<SessionSetupRequest>,
        now: Duration,
    ) -> SessionKey {
        let key = SessionKey::new(self.base.number());
        match self.begin_open(key, OpenRequest::from(&how.into()), now) {
            Ok(opening) => self.sessions.insert(key, Stage::Opening(opening)),
            Err(error) if !self.base.is_closed_polled => {
                self.sessions.insert(key, Stage::Over);
                self.sessions.push(key, PendingEvent::Refused(error));
            }
            Err(_) => {}
        }
        key
    }

    fn begin_open(
        &mut self,
        key: SessionKey,
        open: OpenRequest,
        now: Duration,
    ) -> Result<SessionSetup, CallError> {
        self.base.check_open()?;
        if self.sessions.len() >= self.options.limits.sessions {
            return Err(CallError::Full);
        }
        if self.agent_version != AgentVersion::Unknown && self.agent_version.is_v2() != open.is_v2 {
            return Err(CallError::Version);
        }
        if let Some(id) = open.session_id.as_ref().filter(|id| self.sessions.is_in_use(id.as_str()))
        {
            return Err(CallError::InUse(id.clone()));
        }
        let deadline = now.saturating_add(self.options.call_timeout);
        let token = Token::Open(key);
        let purpose = Purpose::Session(key);
        let is_held = self.agent_version == AgentVersion::Unknown;
        let request = send(&mut self.base, is_held, token, purpose, open.call, deadline)?;
        let replay = open.session_id.map(|id| {
            let room = self.replay_room();
            let mut replay = Replay::new(id.clone());
            self.early.take(&id).for_each(|update| replay.push(update, room));
            replay
        });
        Ok(SessionSetup { request, is_v2: open.is_v2, replay })
    }

    /// Sends a prompt, which begins a turn.
    /// [`SessionEvent::TurnEnded`](super::SessionEvent::TurnEnded) follows.
    ///
    /// In version 2 a prompt with the key of an earlier one repeats it. If the session has worked on
    /// it already, the turn ends with the last idle state.
    ///
    /// # Errors
    /// The session is not open, has a turn with an end that was not polled, or speaks another
    /// version than the prompt.
    pub fn prompt(
        &mut self,
        session: SessionKey,
        prompt: Prompt,
        now: Duration,
    ) -> Result<TurnKey, PromptError> {
        let state = self.sessions.get(session).ok_or(PromptError::NotOpen)?;
        if let Some(turn) = state.turn_key() {
            return Err(PromptError::TurnOpen(turn));
        }
        let Stage::Open(id) = &state.stage else { return Err(PromptError::NotOpen) };
        let id = id.clone();
        let turn = TurnKey::new(self.base.number());
        let Prompt { content, meta, idempotency_key } = prompt;
        let mut prompt_key = None;
        let params = match (content, self.agent_version.is_v2()) {
            (PromptContent::V1(content), false) => {
                let mut request = v1::prompt_turn::PromptRequest::new(id, content);
                request.meta = meta;
                Raw::of(&request)
            }
            (PromptContent::V2(content), true) => {
                let id = v2::session_setup::SessionId::from(id.as_str());
                let mut request = v2::prompt_lifecycle::PromptRequest::new(id, content);
                request.meta = meta;
                prompt_key = idempotency_key.or_else(|| self.options.prompt_key(turn.get()));
                request.idempotency_key.clone_from(&prompt_key);
                Raw::of(&request)
            }
            _ => return Err(PromptError::Version),
        };
        let deadline = now.saturating_add(self.options.turn_timeout);
        // The turn has a timer of its own.
        let token = Token::Prompt(session, turn);
        let purpose = Purpose::Prompt(session, turn);
        let id = self.base.peer.register(token, None).map_err(|_| PromptError::NotOpen)?;
        let request = Request::new(id.clone(), "session/prompt", params.as_ref());
        self.base.outgoing.push(request, purpose);
        self.sessions.begin_turn(session, Turn::new(turn, id, deadline, prompt_key));
        Ok(turn)
    }

    /// Cancels the open turn of a session, and answers the agent's open questions in it. The turn
    /// ends when the agent ends it, or after `grace` with [`TurnError::GraceOver`].
    pub fn cancel(&mut self, session: SessionKey, grace: Duration, now: Duration) {
        if !self.send_cancel(session) {
            return;
        }
        self.sessions.set_deadline(session, now.saturating_add(grace));
        self.give_up_all(|open| open.session == Some(session) && open.kind.is_question());
    }

    /// Sends `session/cancel`, and returns whether a turn is open.
    fn send_cancel(&mut self, session: SessionKey) -> bool {
        let Some(Stage::Open(id)) = self.sessions.get(session).map(|session| &session.stage) else {
            return false;
        };
        let params = v1::prompt_turn::CancelNotification::new(id.clone());
        let is_busy = self.sessions.get(session).is_some_and(Session::is_busy);
        let Some(turn) = self.sessions.turn(session) else {
            if is_busy {
                self.base.outgoing.push_line(notification(&params), Purpose::Notification);
            }
            return false;
        };
        if core::mem::replace(&mut turn.is_cancelled, true) {
            return true;
        }
        let key = turn.key;
        self.base.outgoing.push_line(notification(&params), Purpose::Cancel(session, key));
        true
    }

    /// Answers a request of the agent.
    ///
    /// # Errors
    /// The request is already answered, by the caller or by the machine.
    pub fn reply(
        &mut self,
        request: RequestKey,
        reply: impl Into<Reply>,
    ) -> Result<(), RepeatedAnswer> {
        self.base.reply(request, reply.into())
    }

    /// Makes a call. [`Event::CallEnded`](super::Event::CallEnded) follows. The call waits for the
    /// response to `initialize`.
    pub fn call(&mut self, call: Call, now: Duration) -> CallKey {
        let deadline = now.saturating_add(call.timeout.unwrap_or(self.options.call_timeout));
        let is_held = self.agent_version == AgentVersion::Unknown;
        self.base.call(call, |base, key, call| {
            let token = Token::Call(key, call.method.clone());
            send(base, is_held, token, Purpose::Call(key), call, deadline)
        })
    }

    /// Withdraws a call with `$/cancel_request`, once. The end of the call still follows.
    pub fn withdraw(&mut self, call: CallKey) {
        self.base.withdraw(call);
    }

    /// Sends a notification.
    ///
    /// # Errors
    /// The connection is closed or not initialized.
    pub fn notify<P: NotificationParams>(&mut self, params: &P) -> Result<(), CallError> {
        self.notify_line(notification(params))
    }

    /// Sends a notification by method name.
    ///
    /// # Errors
    /// The connection is closed or not initialized.
    pub fn notify_raw(&mut self, method: &str, params: &Raw) -> Result<(), CallError> {
        self.notify_line(line(Notification::new(method, params.as_ref())))
    }

    /// Sends a complete notification line.
    pub(crate) fn notify_line(&mut self, line: Vec<u8>) -> Result<(), CallError> {
        self.base.check_open()?;
        if self.agent_version == AgentVersion::Unknown {
            return Err(CallError::Version);
        }
        self.base.notify_line(line)
    }

    /// Releases a session: its open requests are answered, its turn and its opening end with
    /// [`CallError::Released`], and later updates are dropped. `session/close` is sent if the agent
    /// supports it: after the answer to an open `session/new` or `session/fork`, or before a
    /// request with the session's id as `sessionId`.
    pub fn release(&mut self, session: SessionKey, now: Duration) {
        match self.sessions.get(session).map(|session| &session.stage) {
            None | Some(Stage::Over) => {}
            Some(Stage::Opening(_)) => {
                if let Some(Stage::Opening(opening)) = self.sessions.end(session) {
                    self.give_up_all(|open| open.session == Some(session));
                    if self.base.outgoing.forget(&opening.request) {
                        let _ = self.base.peer.forget(&opening.request);
                    }
                    self.sessions.drop_events(session);
                    self.sessions.push(session, PendingEvent::Refused(CallError::Released));
                }
                self.drop_early();
            }
            Some(Stage::Open(id)) => {
                let id = id.clone();
                self.send_cancel(session);
                self.give_up_all(|open| open.session == Some(session));
                self.sessions.drop_events(session);
                let error = TurnError::Call(CallError::Released);
                if let Some(request) = self.sessions.end_turn(session, Err(error)) {
                    let _ = self.base.peer.forget(&request);
                }
                self.sessions.end(session);
                self.sessions.put_back(session);
                self.send_close(id, Purpose::Session(session), now);
            }
        }
    }

    /// Sends `session/close` if the agent supports it.
    pub(super) fn send_close(&mut self, id: SessionId, purpose: Purpose, now: Duration) {
        if !self.may_close() {
            return;
        }
        let params = v1::session_setup::CloseSessionRequest::new(id.clone());
        let params = Raw::of(&params);
        // The time of this request, after that of a `session/new`.
        let deadline = now.saturating_add(self.options.call_timeout.saturating_mul(2));
        let registered = self.base.peer.register(Token::Close(id.clone()), Some(deadline));
        debug_assert!(registered.is_ok(), "numbers are never taken, and the connection is open");
        if let Ok(request) = registered {
            let message = Request::new(request.clone(), "session/close", params.as_ref());
            let transmit = Transmit { line: line(message), purpose };
            self.base.outgoing.push_closing(SessionClose {
                request,
                session: id,
                transmit,
                before: None,
            });
        }
    }

    fn may_close(&self) -> bool {
        let Some(initialized) = &self.initialized else { return false };
        match &initialized.response.value {
            super::InitializeResponse::V1(response) => {
                let agent = response.agent_capabilities.as_ref();
                let sessions = agent.and_then(|agent| agent.session_capabilities.as_ref());
                sessions.is_some_and(|sessions| sessions.close.is_some())
            }
            // Every agent with sessions supports `session/close`.
            super::InitializeResponse::V2(response) => {
                response.capabilities.as_ref().is_some_and(|agent| agent.session.is_some())
            }
        }
    }

    /// Forgets a call, sent or held.
    pub(super) fn forget(&mut self, id: &RequestId) {
        self.base.outgoing.forget(id);
        let _ = self.base.peer.forget(id);
    }
}

/// Sends a request, or holds it until `initialize` is answered.
fn send(
    base: &mut Base,
    is_held: bool,
    token: Token,
    purpose: Purpose,
    call: Call,
    deadline: Duration,
) -> Result<RequestId, CallError> {
    if base.outgoing.has_closings()
        && let Some(session) = named_session(&call.params)
    {
        // The source of a fork is closed after the fork.
        if call.method == v1::session_setup::ForkSessionRequest::METHOD {
            base.outgoing.delay_closing_of(session.as_str());
        } else {
            base.outgoing.send_closing_of(session.as_str());
        }
    }
    // The number of requests is not limited here.
    let id = base.peer.register(token, Some(deadline)).map_err(|_| CallError::Full)?;
    let request = Request::new(id.clone(), call.method, call.params.as_ref());
    if is_held {
        base.outgoing.hold(id.clone(), request, purpose);
    } else {
        base.outgoing.push(request, purpose);
    }
    Ok(id)
}

/// Returns the session of a request: its `sessionId`.
fn named_session(params: &Raw) -> Option<SessionId> {
    params.decode::<Extra>().ok()?.get("sessionId")?.decode().ok()
}
