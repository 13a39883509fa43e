//! The methods of version 1.
use super::{Direction, Method, notification, request};
use crate::v1::authentication::{
    AuthStatusRequest, AuthStatusUpdateNotification, AuthenticateRequest, LogoutRequest,
};
use crate::v1::cancellation::CancelRequestNotification;
use crate::v1::elicitation::{CompleteElicitationNotification, CreateElicitationRequest};
use crate::v1::file_system::{ReadTextFileRequest, WriteTextFileRequest};
use crate::v1::initialization::InitializeRequest;
use crate::v1::mcp_over_acp::{MessageMcpNotification, MessageMcpRequest};
use crate::v1::prompt_turn::{CancelNotification, PromptRequest, SessionNotification};
use crate::v1::providers::{DisableProviderRequest, ListProvidersRequest, SetProviderRequest};
use crate::v1::proxy_chains::{
    InitializeProxyRequest, ProxySuccessorNotification, ProxySuccessorRequest,
};
use crate::v1::session_config_options::SetSessionConfigOptionRequest;
use crate::v1::session_list::{
    ArchiveSessionRequest, DeleteSessionRequest, ListSessionsRequest, SetSessionTitleRequest,
    UnarchiveSessionRequest,
};
use crate::v1::session_modes::SetSessionModeRequest;
use crate::v1::session_setup::{
    CloseSessionRequest, ForkSessionRequest, LoadSessionRequest, NewSessionRequest,
    ResumeSessionRequest,
};
use crate::v1::session_status::SessionStatusRequest;
use crate::v1::terminals::{
    CreateTerminalRequest, KillTerminalRequest, ReleaseTerminalRequest, TerminalOutputRequest,
    WaitForTerminalExitRequest,
};
use crate::v1::tool_calls::RequestPermissionRequest;

/// The methods of version 1, including unstable ones.
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
    request::<AuthStatusRequest>(Direction::ToAgent, false, Some("agentCapabilities.auth.status"))
        .unstable(),
    request::<ListProvidersRequest>(Direction::ToAgent, false, Some("agentCapabilities.providers"))
        .unstable(),
    request::<SetProviderRequest>(Direction::ToAgent, false, Some("agentCapabilities.providers"))
        .unstable(),
    request::<DisableProviderRequest>(
        Direction::ToAgent,
        false,
        Some("agentCapabilities.providers"),
    )
    .unstable(),
    request::<ForkSessionRequest>(
        Direction::ToAgent,
        true,
        Some("agentCapabilities.sessionCapabilities.fork"),
    )
    .unstable(),
    request::<ArchiveSessionRequest>(
        Direction::ToAgent,
        true,
        Some("agentCapabilities.sessionCapabilities.archive"),
    )
    .unstable(),
    request::<UnarchiveSessionRequest>(
        Direction::ToAgent,
        true,
        Some("agentCapabilities.sessionCapabilities.archive"),
    )
    .unstable(),
    request::<SessionStatusRequest>(
        Direction::ToAgent,
        true,
        Some("agentCapabilities.sessionCapabilities.status"),
    )
    .unstable(),
    request::<SetSessionTitleRequest>(
        Direction::ToAgent,
        true,
        Some("agentCapabilities.sessionCapabilities.title"),
    )
    .unstable(),
    notification::<CancelNotification>(Direction::ToAgent, true, None),
    notification::<MessageMcpNotification>(
        Direction::ToAgent,
        false,
        Some("agentCapabilities.mcpCapabilities.acp"),
    )
    .unstable(),
    notification::<SessionNotification>(Direction::ToClient, true, None),
    notification::<CompleteElicitationNotification>(
        Direction::ToClient,
        false,
        Some("clientCapabilities.elicitation.url"),
    ),
    notification::<AuthStatusUpdateNotification>(
        Direction::ToClient,
        false,
        Some("agentCapabilities.auth.status"),
    )
    .unstable(),
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
    request::<CreateTerminalRequest>(
        Direction::ToClient,
        true,
        Some("clientCapabilities.terminal"),
    ),
    request::<TerminalOutputRequest>(
        Direction::ToClient,
        true,
        Some("clientCapabilities.terminal"),
    ),
    request::<WaitForTerminalExitRequest>(
        Direction::ToClient,
        true,
        Some("clientCapabilities.terminal"),
    ),
    request::<KillTerminalRequest>(Direction::ToClient, true, Some("clientCapabilities.terminal")),
    request::<ReleaseTerminalRequest>(
        Direction::ToClient,
        true,
        Some("clientCapabilities.terminal"),
    ),
    request::<CreateElicitationRequest>(
        Direction::ToClient,
        false,
        Some("clientCapabilities.elicitation, by mode"),
    ),
    request::<MessageMcpRequest>(
        Direction::ToClient,
        false,
        Some("agentCapabilities.mcpCapabilities.acp"),
    )
    .unstable(),
    notification::<CancelRequestNotification>(Direction::ToEither, false, None),
    request::<InitializeProxyRequest>(Direction::ToProxy, false, None).unstable(),
    request::<ProxySuccessorRequest>(Direction::ToProxyOrConductor, false, None).unstable(),
    notification::<ProxySuccessorNotification>(Direction::ToProxyOrConductor, false, None)
        .unstable(),
];
