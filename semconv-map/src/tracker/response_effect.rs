//! Effects of the responses to requests.
use crate::acp::lifecycle::Peers;
use crate::acp::permission::Options;
use crate::attribute::clip;
use crate::json::member;
use crate::span::SpanHandle;
use alloc::boxed::Box;
use alloc::string::String;
use core::time::Duration;
use jsonrpc_core::transcript::Direction;

/// Effect of the response to a request.
#[derive(Debug)]
pub(super) enum ResponseEffect {
    /// Contains what the client declared.
    Initialize(Box<Peers>),
    NewSession,
    ForkSession(String),
    /// `session/load`, or `session/resume`, which has no replay after its response.
    LoadSession {
        id: String,
        is_replayed: bool,
    },
    SetConfigOption(String),
    /// Request of older agents. The response does not contain the model.
    SetModel {
        session: String,
        model: String,
    },
    EndSession(String),
    Prompt(String),
    Permission(Box<OpenPermission>),
    /// Contains the session and the terminal, with content capture.
    TerminalExit(Option<(String, String)>),
    /// Contains the session and the terminal.
    TerminalOutput(String, String),
    Other,
}

/// A permission request without a response.
#[derive(Debug)]
pub(super) struct OpenPermission {
    pub(super) options: Options,
    pub(super) asked: Duration,
    pub(super) tool: Option<SpanHandle>,
}

impl ResponseEffect {
    /// `has_content` is whether content is recorded.
    pub(super) fn of(
        direction: Direction,
        method: &str,
        session: Option<&str>,
        params: &str,
        has_content: bool,
    ) -> Self {
        let session = || session.map(String::from);
        let terminal = || {
            let terminal = member(params, "terminalId").filter(|_| has_content);
            session().zip(terminal.map(|id| clip(&id)))
        };
        let effect = match (direction, method) {
            (Direction::Sent, "initialize") => {
                Some(Self::Initialize(Box::new(Peers::of_client(params))))
            }
            (Direction::Sent, "session/new") => Some(Self::NewSession),
            (Direction::Sent, "session/fork") => session().map(Self::ForkSession),
            (Direction::Sent, "session/load" | "session/resume") => {
                let is_replayed = method == "session/load";
                session().map(|id| Self::LoadSession { id, is_replayed })
            }
            (Direction::Sent, "session/set_config_option") => session().map(Self::SetConfigOption),
            (Direction::Sent, "session/set_model") => {
                let model = member(params, "modelId").map(|model| clip(&model));
                session().zip(model).map(|(session, model)| Self::SetModel { session, model })
            }
            (Direction::Sent, "session/close" | "session/delete") => {
                session().map(Self::EndSession)
            }
            (Direction::Received, "terminal/wait_for_exit") => Some(Self::TerminalExit(terminal())),
            (Direction::Received, "terminal/output") => {
                terminal().map(|(session, terminal)| Self::TerminalOutput(session, terminal))
            }
            _ => None,
        };
        effect.unwrap_or(Self::Other)
    }

    /// Returns whether only the success of the response is recorded.
    pub(super) fn ends_with_any_result(&self) -> bool {
        matches!(self, Self::SetModel { .. } | Self::EndSession(_) | Self::Other)
    }
}
