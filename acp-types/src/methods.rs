//! Methods of the protocol as data, and the types that stand for them.
//!
//! ```
//! use acp_types::methods::{self, Direction, RequestParams};
//! use acp_types::v1::prompt_turn::PromptRequest;
//!
//! assert_eq!(PromptRequest::METHOD, "session/prompt");
//! let method = methods::find(methods::V1, Direction::ToAgent, "session/prompt").ok_or("no such method")?;
//! assert_eq!((method.params, method.result), ("PromptRequest", Some("PromptResponse")));
//! assert!(method.session_scoped);
//! # Ok::<(), &str>(())
//! ```
use crate::v1::authentication::{AuthenticateRequest, LogoutRequest};
use crate::v1::cancellation::CancelRequestNotification;
use crate::v1::elicitation::{CompleteElicitationNotification, CreateElicitationRequest};
use crate::v1::file_system::{ReadTextFileRequest, WriteTextFileRequest};
use crate::v1::initialization::InitializeRequest;
use crate::v1::prompt_turn::{CancelNotification, PromptRequest, SessionNotification};
use crate::v1::session_config_options::SetSessionConfigOptionRequest;
use crate::v1::session_list::{DeleteSessionRequest, ListSessionsRequest};
use crate::v1::session_modes::SetSessionModeRequest;
use crate::v1::session_setup::{
    CloseSessionRequest, LoadSessionRequest, NewSessionRequest, ResumeSessionRequest,
};
use crate::v1::terminals::{
    CreateTerminalRequest, KillTerminalRequest, ReleaseTerminalRequest, TerminalOutputRequest,
    WaitForTerminalExitRequest,
};
use crate::v1::tool_calls::RequestPermissionRequest;
use jsonrpc_core::wire::Object;

/// The stable methods of version 1.
///
/// Spec: [schema](https://agentclientprotocol.com/protocol/v1/schema)
pub const V1: &[Method] = &[
    request::<InitializeRequest>(Direction::ToAgent, false, None),
    request::<AuthenticateRequest>(
        Direction::ToAgent,
        false,
        Some("authMethods: not a terminal one"),
    ),
    request::<LogoutRequest>(Direction::ToAgent, false, Some("agentCapabilities.auth.logout")),
    request::<NewSessionRequest>(Direction::ToAgent, false, None),
    request::<LoadSessionRequest>(Direction::ToAgent, true, Some("agentCapabilities.loadSession")),
    request::<ResumeSessionRequest>(
        Direction::ToAgent,
        true,
        Some("agentCapabilities.sessionCapabilities.resume"),
    ),
    request::<CloseSessionRequest>(
        Direction::ToAgent,
        true,
        Some("agentCapabilities.sessionCapabilities.close"),
    ),
    request::<ListSessionsRequest>(
        Direction::ToAgent,
        false,
        Some("agentCapabilities.sessionCapabilities.list"),
    ),
    request::<DeleteSessionRequest>(
        Direction::ToAgent,
        true,
        Some("agentCapabilities.sessionCapabilities.delete"),
    ),
    request::<SetSessionModeRequest>(Direction::ToAgent, true, Some("modes of the session")),
    request::<SetSessionConfigOptionRequest>(
        Direction::ToAgent,
        true,
        Some("configOptions of the session"),
    ),
    request::<PromptRequest>(Direction::ToAgent, true, None),
    notification::<CancelNotification>(Direction::ToAgent, true, None),
    notification::<SessionNotification>(Direction::ToClient, true, None),
    request::<RequestPermissionRequest>(Direction::ToClient, true, None),
    request::<ReadTextFileRequest>(
        Direction::ToClient,
        true,
        Some("clientCapabilities.fs.readTextFile"),
    ),
    request::<WriteTextFileRequest>(
        Direction::ToClient,
        true,
        Some("clientCapabilities.fs.writeTextFile"),
    ),
    request::<CreateTerminalRequest>(Direction::ToClient, true, Some(TERMINAL)),
    request::<TerminalOutputRequest>(Direction::ToClient, true, Some(TERMINAL)),
    request::<WaitForTerminalExitRequest>(Direction::ToClient, true, Some(TERMINAL)),
    request::<KillTerminalRequest>(Direction::ToClient, true, Some(TERMINAL)),
    request::<ReleaseTerminalRequest>(Direction::ToClient, true, Some(TERMINAL)),
    request::<CreateElicitationRequest>(
        Direction::ToClient,
        false,
        Some("clientCapabilities.elicitation, by mode"),
    ),
    notification::<CompleteElicitationNotification>(
        Direction::ToClient,
        false,
        Some("clientCapabilities.elicitation.url"),
    ),
    notification::<CancelRequestNotification>(Direction::ToEither, false, None),
];

const TERMINAL: &str = "clientCapabilities.terminal";

/// A method of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Method {
    /// Its name on the wire.
    pub name: &'static str,
    /// Who receives it.
    pub direction: Direction,
    /// Whether it is answered.
    pub kind: MethodKind,
    /// The type of its parameters, by its name in the schema.
    pub params: &'static str,
    /// The type of its result, by its name in the schema; notifications have none.
    pub result: Option<&'static str>,
    /// Whether its parameters must name a session. Those of `elicitation/create` may.
    pub session_scoped: bool,
    /// What its receiver must have said before it may be sent, a path or a few words; nothing for the baseline.
    pub gate: Option<&'static str>,
}

/// Who receives a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// The client sends, the agent receives.
    ToAgent,
    /// The agent sends, the client receives.
    ToClient,
    /// Either sends, the other receives.
    ToEither,
}

/// Whether a method is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MethodKind {
    /// It is answered, once.
    Request,
    /// It is not answered.
    Notification,
}

/// The method of this name that the receiver in `direction` may get.
pub fn find(table: &'static [Method], direction: Direction, name: &str) -> Option<&'static Method> {
    table.iter().find(|method| {
        method.name == name
            && (method.direction == direction || method.direction == Direction::ToEither)
    })
}

/// The parameters of a request: they know its method and the type of its result.
pub trait RequestParams: Object {
    /// The method.
    const METHOD: &'static str;
    /// The result.
    type Response: Object;
}

/// The parameters of a notification: they know its method.
pub trait NotificationParams: Object {
    /// The method.
    const METHOD: &'static str;
}

const fn request<P: RequestParams>(
    direction: Direction,
    session_scoped: bool,
    gate: Option<&'static str>,
) -> Method {
    Method {
        name: P::METHOD,
        direction,
        kind: MethodKind::Request,
        params: P::NAME,
        result: Some(<P::Response as Object>::NAME),
        session_scoped,
        gate,
    }
}

const fn notification<P: NotificationParams>(
    direction: Direction,
    session_scoped: bool,
    gate: Option<&'static str>,
) -> Method {
    Method {
        name: P::METHOD,
        direction,
        kind: MethodKind::Notification,
        params: P::NAME,
        result: None,
        session_scoped,
        gate,
    }
}
