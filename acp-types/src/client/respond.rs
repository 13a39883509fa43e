//! Responses of the agent.
use super::pending_event::{PendingEvent, Replay};
use super::poll::read;
use super::session::Stage;
use super::{
    AgentResponse, AuthMethods, CallError, Connection, Diagnostic, NewSessionResponse, Purpose,
    ReceivedValue, SessionKey, Token, TurnEnd, TurnError, TurnKey,
};
use crate::dispatch::object;
use crate::endpoint::string;
use crate::spoken;
use crate::v1::error::AUTH_REQUIRED;
use crate::v1::session_setup::SessionId;
use crate::v2::prompt_lifecycle::PromptResponse;
use crate::{v1, v2};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::time::Duration;
use jsonrpc_core::wire::Raw;
use jsonrpc_core::{ErrorObject, peek_member};
use serde_json::value::RawValue;

impl Connection {
    /// Returns the error of a call that the agent refused.
    pub(super) fn refused(&self, error: ErrorObject) -> CallError {
        if error.code != AUTH_REQUIRED {
            return CallError::Answered(error);
        }
        let methods = match &self.initialized {
            Some(initialized) => initialized.response.value.auth_methods(),
            None => AuthMethods::V1(Vec::new()),
        };
        CallError::AuthRequired { error, methods: Box::new(methods) }
    }

    /// Ends a request to the agent.
    pub(super) fn handle_response(
        &mut self,
        token: Token,
        outcome: Result<&RawValue, CallError>,
        now: Duration,
    ) {
        match token {
            Token::Initialize => self.handle_initialized(outcome),
            Token::Open(session) => self.handle_opened(session, outcome, now),
            Token::Prompt(session, turn) => self.handle_prompted(session, turn, outcome),
            Token::Call(key, method) => {
                let is_v2 = self.agent_version.is_v2();
                let decode =
                    |method: &str, result: &_| AgentResponse::decode(is_v2, method, result);
                self.base.end_call(key, &method, outcome, decode);
            }
            Token::Close(session_id) => {
                if let Err(error) = outcome {
                    self.base.diagnostics.push(Diagnostic::CloseFailed { session_id, error });
                }
            }
        }
    }

    /// Handles the response to a session request.
    fn handle_opened(
        &mut self,
        key: SessionKey,
        outcome: Result<&RawValue, CallError>,
        now: Duration,
    ) {
        let stage = self.sessions.get(key).map(|session| &session.stage);
        let Some(Stage::Opening(opening)) = stage else {
            self.close_unwanted(key, outcome, now);
            return self.drop_early();
        };
        let loaded = opening.replay.as_ref().map(|replay| replay.session.clone());
        let opened = outcome.and_then(|result| {
            let response = self.read_opened(loaded.as_ref(), result)?;
            if loaded.is_none() && self.sessions.is_in_use(response.id()) {
                return Err(CallError::InUse(response.id().into()));
            }
            Ok(ReceivedValue { value: response, raw: Raw::from(result) })
        });
        match opened {
            Ok(response) => {
                let session_id = SessionId::from(response.value.id());
                // The agent uses the id again, so its session is not closed.
                if let Some(request) = self.base.outgoing.take_closing(session_id.as_str()) {
                    let _ = self.base.peer.forget(&request);
                }
                let replay = self.sessions.open(key, session_id.clone());
                let (replay, later) = replay.map(Replay::into_parts).unwrap_or_default();
                let response = Box::new(response);
                let event =
                    PendingEvent::Opened { session_id: session_id.clone(), response, replay };
                self.sessions.push(key, event);
                self.sessions.add_dropped(key, later.left_out());
                for update in later.into_updates() {
                    self.sessions.push(key, PendingEvent::Update(update));
                }
                for update in self.early.take(&session_id) {
                    let tag = string(update.as_str(), &["update", "sessionUpdate"]);
                    self.handle_known(key, &tag.unwrap_or_default(), update.as_ref());
                }
            }
            Err(error) => {
                self.give_up_all(|open| open.session == Some(key));
                self.sessions.refuse(key, error);
            }
        }
        self.drop_early();
    }

    /// Closes a session that was released before the agent assigned an id.
    fn close_unwanted(
        &mut self,
        key: SessionKey,
        outcome: Result<&RawValue, CallError>,
        now: Duration,
    ) {
        let Ok(result) = outcome else { return };
        let id = peek_member(result.get(), "sessionId").ok().flatten();
        let id = id.and_then(|id| jsonrpc_core::wire::decode::<SessionId>(id).ok());
        if let Some(id) = id.filter(|id| !self.sessions.is_in_use(id.as_str())) {
            self.send_close(id, Purpose::Session(key), now);
        }
    }

    /// Decodes a response in the form of `session/new`, which has the same members and the id.
    fn read_opened(
        &mut self,
        loaded: Option<&SessionId>,
        result: &RawValue,
    ) -> Result<NewSessionResponse, CallError> {
        use v1::session_setup as one;
        use v2::session_setup as two;
        let text = object(Some(result));
        let method = "session/new";
        let read = if self.agent_version.is_v2() {
            match loaded {
                None => self.base.diagnostics.tolerate(method, read(text)),
                Some(id) => self.base.diagnostics.tolerate("session/resume", read(text)).map(
                    |answer: two::ResumeSessionResponse| {
                        let mut response = two::NewSessionResponse::new(id.as_str());
                        response.config_options = answer.config_options;
                        response.available_commands = answer.available_commands;
                        response.meta = answer.meta;
                        response.extra = answer.extra;
                        response
                    },
                ),
            }
            .map(|response| NewSessionResponse::V2(Box::new(response)))
        } else {
            match loaded {
                None => self.base.diagnostics.tolerate(method, read(text)),
                Some(id) => self.base.diagnostics.tolerate("session/load", read(text)).map(
                    |answer: one::LoadSessionResponse| {
                        let mut response = one::NewSessionResponse::new(id.clone());
                        (response.modes, response.config_options) =
                            (answer.modes, answer.config_options);
                        response.meta = answer.meta;
                        response.extra = answer.extra;
                        response
                    },
                ),
            }
            .map(|response| NewSessionResponse::V1(Box::new(response)))
        };
        read.map_err(CallError::Invalid)
    }

    /// Handles the response to a prompt: in version 1 the end of the turn, in version 2 its
    /// beginning.
    fn handle_prompted(
        &mut self,
        session: SessionKey,
        turn: TurnKey,
        outcome: Result<&RawValue, CallError>,
    ) {
        if let Ok(result) = &outcome {
            let has = |name: &str| peek_member(result.get(), name).ok().flatten().is_some();
            self.settle(spoken::of_prompted(has));
        }
        if self.sessions.turn(session).is_none_or(|open| open.key != turn) {
            return;
        }
        let failed = |error| Err(TurnError::Call(error));
        let result = match outcome {
            Ok(result) => result,
            Err(error) => {
                self.sessions.end_turn(session, failed(error));
                return;
            }
        };
        let text = object(Some(result));
        let raw = Raw::from(result);
        if self.agent_version.is_v2() {
            match self.base.diagnostics.tolerate("session/prompt", read(text)) {
                Ok(value) => {
                    let accepted: Box<ReceivedValue<PromptResponse>> =
                        Box::new(ReceivedValue { value, raw });
                    let message = accepted.value.message_id.clone();
                    self.sessions.push(session, PendingEvent::PromptAccepted(turn, accepted));
                    self.sessions.accept(session, &message);
                }
                Err(error) => {
                    self.sessions.end_turn(session, failed(CallError::Invalid(error)));
                }
            }
        } else {
            let end = self.base.diagnostics.tolerate("session/prompt", read(text)).map(TurnEnd::V1);
            let outcome = match end {
                Ok(value) => Ok(Box::new(ReceivedValue { value, raw })),
                Err(error) => failed(CallError::Invalid(error)),
            };
            self.sessions.end_turn(session, outcome);
        }
    }
}

impl NewSessionResponse {
    /// Returns the id of the session.
    pub(super) fn id(&self) -> &str {
        match self {
            Self::V1(response) => response.session_id.as_str(),
            Self::V2(response) => response.session_id.as_str(),
        }
    }
}
