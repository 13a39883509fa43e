//! The agent, without IO: lines of the client in, lines for the client out, the time as an argument.

use crate::client::Client;
use crate::script::Scene;
use crate::session::{Session, Turn};
use crate::words::{self, WORDS};
use acp_types::v1::authentication::{
    AuthMethod, AuthMethodAgent, AuthenticateRequest, AuthenticateResponse,
};
use acp_types::v1::content::ContentBlock;
use acp_types::v1::dispatch::{ClientNotification, ClientRequest};
use acp_types::v1::error::RESOURCE_NOT_FOUND;
use acp_types::v1::initialization::{
    AgentCapabilities, Implementation, InitializeRequest, InitializeResponse, PromptCapabilities,
    ProtocolVersion,
};
use acp_types::v1::prompt_turn::{PromptRequest, SessionUpdate};
use acp_types::v1::session_modes::{SetSessionModeRequest, SetSessionModeResponse};
use acp_types::v1::session_setup::{
    LoadSessionRequest, LoadSessionResponse, NewSessionRequest, NewSessionResponse, SessionId,
};
use acp_types::v1::slash_commands::{AvailableCommand, AvailableCommandsUpdate};
use core::time::Duration;
use jsonrpc_core::framing::FrameError;
use jsonrpc_core::wire::Raw;
use jsonrpc_core::{ErrorCode, ErrorObject, Incoming, Request, RequestId};
use std::collections::BTreeMap;

/// How many sessions there may be.
const MAX_SESSIONS: usize = 1_000;

/// The only way to log in, and nobody has to.
const AUTH_METHOD: &str = "none";

/// The agent and its sessions.
#[derive(Debug)]
pub(crate) struct Agent {
    /// The time between two updates.
    pub(crate) pause: Duration,
    pub(crate) client: Client,
    pub(crate) sessions: BTreeMap<SessionId, Session>,
    has_terminal: bool,
}

impl Agent {
    /// `pause`: the time between two updates.
    pub(crate) fn new(pause: Duration) -> Self {
        Self { pause, client: Client::new(), sessions: BTreeMap::new(), has_terminal: false }
    }

    /// Takes in a line of the client.
    pub(crate) fn handle_line(&mut self, line: Result<&str, FrameError>, now: Duration) {
        match self.client.read(line) {
            Incoming::Request(request) => self.handle_request(&request, now),
            Incoming::Notification(notification) => {
                let decoded = ClientNotification::decode(&notification.method, notification.params);
                if let Ok(ClientNotification::CancelNotification(cancel)) = decoded {
                    self.cancel(&cancel.session_id);
                }
            }
            Incoming::Cancelled { id, .. } => self.cancel_request(&id),
            Incoming::Response { id, token, outcome } => {
                self.go_on(&token, &id, outcome.map(Raw::from));
            }
            Incoming::Refused { response, .. } => self.client.reply(response),
            Incoming::Unmatched(_) => {}
            Incoming::Malformed { error, reply, ended } => {
                if let Some(reply) = reply {
                    self.client.reply(reply);
                }
                if let Some((id, session)) = ended {
                    let error = ErrorObject::new(ErrorCode::INTERNAL_ERROR, error.to_string());
                    self.go_on(&session, &id, Err(error));
                }
            }
        }
    }

    fn handle_request(&mut self, request: &Request<'_>, now: Duration) {
        let (id, method) = (&request.id, &request.method);
        match ClientRequest::decode(method, request.params) {
            Ok(ClientRequest::InitializeRequest(request)) => self.initialize(id, &request),
            Ok(ClientRequest::AuthenticateRequest(request)) => self.authenticate(id, &request),
            Ok(ClientRequest::NewSessionRequest(request)) => self.new_session(id, *request),
            Ok(ClientRequest::LoadSessionRequest(request)) => self.load_session(id, &request),
            Ok(ClientRequest::SetSessionModeRequest(request)) => self.set_mode(id, &request),
            Ok(ClientRequest::PromptRequest(request)) => self.prompt(id, &request, now),
            Ok(other) => {
                let message = format!("no method {:?} here", other.method());
                self.refuse(id, ErrorCode::METHOD_NOT_FOUND, message);
            }
            Err(error) => {
                self.refuse(id, ErrorCode::INVALID_PARAMS, format!("params of {method}: {error}"));
            }
        }
    }

    fn initialize(&mut self, id: &RequestId, request: &InitializeRequest) {
        let client = request.client_capabilities.as_ref();
        self.has_terminal = client.and_then(|client| client.terminal).unwrap_or(false);
        let mut prompt = PromptCapabilities::new();
        prompt.image = Some(true);
        prompt.embedded_context = Some(true);
        let mut capabilities = AgentCapabilities::new();
        capabilities.load_session = Some(true);
        capabilities.prompt_capabilities = Some(prompt);
        let mut info = Implementation::new("demo-agent", env!("CARGO_PKG_VERSION"));
        info.title = Some("Demo agent".to_owned());
        let mut response = InitializeResponse::new(ProtocolVersion::V1);
        response.agent_capabilities = Some(capabilities);
        response.agent_info = Some(info);
        response.auth_methods =
            Some(vec![AuthMethod::Agent(AuthMethodAgent::new(AUTH_METHOD, "No login needed"))]);
        self.client.answer(id, Ok(response));
    }

    fn authenticate(&mut self, id: &RequestId, request: &AuthenticateRequest) {
        if request.method_id.as_str() == AUTH_METHOD {
            self.client.answer(id, Ok(AuthenticateResponse::new()));
        } else {
            let message = format!("no way to log in {:?}", request.method_id);
            self.refuse(id, ErrorCode::INVALID_PARAMS, message);
        }
    }

    fn new_session(&mut self, id: &RequestId, request: NewSessionRequest) {
        if self.sessions.len() >= MAX_SESSIONS {
            let message = format!("no more than {MAX_SESSIONS} sessions");
            return self.refuse(id, ErrorCode::INTERNAL_ERROR, message);
        }
        let session_id = SessionId::from(format!("demo-{}", self.sessions.len() + 1));
        let session = Session::new(Scene {
            session_id: session_id.clone(),
            cwd: request.cwd,
            has_terminal: self.has_terminal,
            asks: true,
            ids: 0,
        });
        let mut response = NewSessionResponse::new(session_id.clone());
        response.modes = Some(session.modes());
        self.sessions.insert(session_id.clone(), session);
        self.client.answer(id, Ok(response));
        let commands: Vec<_> =
            WORDS.iter().map(|word| AvailableCommand::new(word.name, word.about)).collect();
        let update = AvailableCommandsUpdate::new(commands);
        self.client.update(&session_id, SessionUpdate::AvailableCommandsUpdate(update));
    }

    fn load_session(&mut self, id: &RequestId, request: &LoadSessionRequest) {
        let Some(session) = self.sessions.get(&request.session_id) else {
            return self.refuse_session(id, &request.session_id);
        };
        for update in session.history() {
            self.client.update(&request.session_id, update.clone());
        }
        let mut response = LoadSessionResponse::new();
        response.modes = Some(session.modes());
        self.client.answer(id, Ok(response));
    }

    fn set_mode(&mut self, id: &RequestId, request: &SetSessionModeRequest) {
        let Some(session) = self.sessions.get_mut(&request.session_id) else {
            return self.refuse_session(id, &request.session_id);
        };
        if session.set_mode(request.mode_id.as_str()) {
            self.client.answer(id, Ok(SetSessionModeResponse::new()));
        } else {
            let message = format!("no mode {:?}", request.mode_id);
            self.refuse(id, ErrorCode::INVALID_PARAMS, message);
        }
    }

    fn prompt(&mut self, id: &RequestId, request: &PromptRequest, now: Duration) {
        let Some(session) = self.sessions.get_mut(&request.session_id) else {
            return self.refuse_session(id, &request.session_id);
        };
        if session.turn.is_some() {
            let message = "a prompt of this session is being worked on; cancel it or wait";
            return self.refuse(id, ErrorCode::INVALID_REQUEST, message.to_owned());
        }
        session.remember_prompt(&request.prompt);
        let steps = words::steps(&text(&request.prompt), &mut session.scene);
        session.turn = Some(Turn::new(id.clone(), steps, now));
    }

    fn refuse_session(&mut self, id: &RequestId, session: &SessionId) {
        self.refuse(id, RESOURCE_NOT_FOUND, format!("no session {session:?}"));
    }

    fn refuse(&mut self, id: &RequestId, code: ErrorCode, message: String) {
        self.client.answer::<()>(id, Err(ErrorObject::new(code, message)));
    }
}

/// What a prompt says.
fn text(prompt: &[ContentBlock]) -> String {
    let texts: Vec<_> = prompt
        .iter()
        .filter_map(|block| match block {
            ContentBlock::Text(text) => Some(text.text.as_str()),
            _ => None,
        })
        .collect();
    texts.join("\n")
}
