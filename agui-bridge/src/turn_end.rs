//! The end of a turn: the agent's response, or a failure.
use acp_types::v1::prompt_turn::PromptResponse;
use alloc::boxed::Box;
use alloc::string::String;
use jsonrpc_core::wire::Extra;
use jsonrpc_core::{ErrorCode, ErrorObject};
use serde::{Deserialize, Serialize};

/// The code of a run that cannot resume because the agent is gone.
pub(crate) const AGENT_LOST: &str = "AGENT_LOST";

/// The end of a turn.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum TurnEnd {
    Response(Box<PromptResponse>),
    Error(ErrorObject),
    Failed { code: String, message: String },
    Stopped,
}

/// The reason why a run ends without the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Failure {
    /// The agent cannot be started or reached.
    AgentUnavailable,
    /// The agent took too long to start or to initialize.
    AgentTimeout,
    /// The agent has no version of ACP in common with the bridge.
    AcpVersion,
    /// The agent process or its connection ended.
    AgentExited,
    /// The turn took too long.
    TurnTimeout,
    /// The agent was silent for too long.
    IdleTimeout,
    /// The program has no capacity for the run.
    Overloaded,
    /// The agent exceeded a limit.
    LimitExceeded,
    /// The program is shutting down.
    GatewayShutdown,
}

impl Failure {
    /// Returns the `code` of the `RUN_ERROR`.
    ///
    /// ```
    /// assert_eq!(agui_bridge::Failure::AgentExited.code(), "AGENT_EXITED");
    /// ```
    pub fn code(self) -> &'static str {
        match self {
            Self::AgentUnavailable => "AGENT_UNAVAILABLE",
            Self::AgentTimeout => "AGENT_TIMEOUT",
            Self::AcpVersion => "ACP_VERSION",
            Self::AgentExited => "AGENT_EXITED",
            Self::TurnTimeout => "TURN_TIMEOUT",
            Self::IdleTimeout => "IDLE_TIMEOUT",
            Self::Overloaded => "OVERLOADED",
            Self::LimitExceeded => "LIMIT_EXCEEDED",
            Self::GatewayShutdown => "GATEWAY_SHUTDOWN",
        }
    }
}

/// Returns the `code` of the `RUN_ERROR` for an error response to a prompt.
///
/// | JSON-RPC | code |
/// |---|---|
/// | -32700 | `ACP_PARSE_ERROR` |
/// | -32600 | `ACP_INVALID_REQUEST` |
/// | -32601 | `ACP_METHOD_NOT_FOUND` |
/// | -32602 | `ACP_INVALID_PARAMS` |
/// | -32603 | `ACP_INTERNAL_ERROR` |
/// | -32800 | `ACP_REQUEST_CANCELLED` |
/// | -32000 | `ACP_AUTH_REQUIRED` |
/// | -32002 | `ACP_SESSION_NOT_FOUND` if `data` names a session, otherwise `ACP_RESOURCE_NOT_FOUND` |
/// | any other | `ACP_ERROR` |
pub(crate) fn error_code(error: &ErrorObject) -> &'static str {
    match error.code {
        ErrorCode::PARSE_ERROR => "ACP_PARSE_ERROR",
        ErrorCode::INVALID_REQUEST => "ACP_INVALID_REQUEST",
        ErrorCode::METHOD_NOT_FOUND => "ACP_METHOD_NOT_FOUND",
        ErrorCode::INVALID_PARAMS => "ACP_INVALID_PARAMS",
        ErrorCode::INTERNAL_ERROR => "ACP_INTERNAL_ERROR",
        ErrorCode::REQUEST_CANCELLED => "ACP_REQUEST_CANCELLED",
        AUTH_REQUIRED => "ACP_AUTH_REQUIRED",
        RESOURCE_NOT_FOUND if names_session(error) => "ACP_SESSION_NOT_FOUND",
        RESOURCE_NOT_FOUND => "ACP_RESOURCE_NOT_FOUND",
        _ => "ACP_ERROR",
    }
}

/// Spec: [`ErrorCode`](https://agentclientprotocol.com/protocol/v1/schema#errorcode) (ACP v1)
const AUTH_REQUIRED: ErrorCode = ErrorCode(-32000);
const RESOURCE_NOT_FOUND: ErrorCode = ErrorCode(-32002);

fn names_session(error: &ErrorObject) -> bool {
    let data = error.data.as_ref().and_then(|data| data.decode::<Extra>().ok());
    data.is_some_and(|data| data.get("sessionId").is_some())
}
