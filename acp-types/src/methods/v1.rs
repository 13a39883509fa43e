//! The methods of version 1.
use super::{Method, Receiver, notification, request};
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
    request::<InitializeRequest>(Receiver::Agent, false, None),
    request::<AuthenticateRequest>(Receiver::Agent, false, Some("authMethods: not a terminal one")),
    request::<LogoutRequest>(Receiver::Agent, false, Some("agentCapabilities.auth.logout")),
    request::<NewSessionRequest>(Receiver::Agent, false, None),
    request::<LoadSessionRequest>(Receiver::Agent, true, Some("agentCapabilities.loadSession")),
    request::<ResumeSessionRequest>(
        Receiver::Agent,
        true,
        Some("agentCapabilities.sessionCapabilities.resume"),
    ),
    request::<CloseSessionRequest>(
        Receiver::Agent,
        true,
        Some("agentCapabilities.sessionCapabilities.close"),
    ),
    request::<ListSessionsRequest>(
        Receiver::Agent,
        false,
        Some("agentCapabilities.sessionCapabilities.list"),
    ),
    request::<DeleteSessionRequest>(
        Receiver::Agent,
        true,
        Some("agentCapabilities.sessionCapabilities.delete"),
    ),
    request::<SetSessionModeRequest>(Receiver::Agent, true, Some("modes of the session")),
    request::<SetSessionConfigOptionRequest>(
        Receiver::Agent,
        true,
        Some("configOptions of the session"),
    ),
    request::<PromptRequest>(Receiver::Agent, true, None),
    request::<AuthStatusRequest>(Receiver::Agent, false, Some("agentCapabilities.auth.status"))
        .unstable(),
    request::<ListProvidersRequest>(Receiver::Agent, false, Some("agentCapabilities.providers"))
        .unstable(),
    request::<SetProviderRequest>(Receiver::Agent, false, Some("agentCapabilities.providers"))
        .unstable(),
    request::<DisableProviderRequest>(Receiver::Agent, false, Some("agentCapabilities.providers"))
        .unstable(),
    request::<ForkSessionRequest>(
        Receiver::Agent,
        true,
        Some("agentCapabilities.sessionCapabilities.fork"),
    )
    .unstable(),
    request::<ArchiveSessionRequest>(
        Receiver::Agent,
        true,
        Some("agentCapabilities.sessionCapabilities.archive"),
    )
    .unstable(),
    request::<UnarchiveSessionRequest>(
        Receiver::Agent,
        true,
        Some("agentCapabilities.sessionCapabilities.archive"),
    )
    .unstable(),
    request::<SessionStatusRequest>(
        Receiver::Agent,
        true,
        Some("agentCapabilities.sessionCapabilities.status"),
    )
    .unstable(),
    request::<SetSessionTitleRequest>(
        Receiver::Agent,
        true,
        Some("agentCapabilities.sessionCapabilities.title"),
    )
    .unstable(),
    notification::<CancelNotification>(Receiver::Agent, true, None),
    notification::<MessageMcpNotification>(
        Receiver::Agent,
        false,
        Some("agentCapabilities.mcpCapabilities.acp"),
    )
    .unstable(),
    notification::<SessionNotification>(Receiver::Client, true, None),
    notification::<CompleteElicitationNotification>(
        Receiver::Client,
        false,
        Some("clientCapabilities.elicitation.url"),
    ),
    notification::<AuthStatusUpdateNotification>(
        Receiver::Client,
        false,
        Some("agentCapabilities.auth.status"),
    )
    .unstable(),
    request::<RequestPermissionRequest>(Receiver::Client, true, None),
    request::<ReadTextFileRequest>(
        Receiver::Client,
        true,
        Some("clientCapabilities.fs.readTextFile"),
    ),
    request::<WriteTextFileRequest>(
        Receiver::Client,
        true,
        Some("clientCapabilities.fs.writeTextFile"),
    ),
    request::<CreateTerminalRequest>(Receiver::Client, true, Some("clientCapabilities.terminal")),
    request::<TerminalOutputRequest>(Receiver::Client, true, Some("clientCapabilities.terminal")),
    request::<WaitForTerminalExitRequest>(
        Receiver::Client,
        true,
        Some("clientCapabilities.terminal"),
    ),
    request::<KillTerminalRequest>(Receiver::Client, true, Some("clientCapabilities.terminal")),
    request::<ReleaseTerminalRequest>(Receiver::Client, true, Some("clientCapabilities.terminal")),
    request::<CreateElicitationRequest>(
        Receiver::Client,
        false,
        Some("clientCapabilities.elicitation, by mode"),
    ),
    request::<MessageMcpRequest>(
        Receiver::Client,
        false,
        Some("agentCapabilities.mcpCapabilities.acp"),
    )
    .unstable(),
    notification::<CancelRequestNotification>(Receiver::Either, false, None),
    request::<InitializeProxyRequest>(Receiver::Proxy, false, None).unstable(),
    request::<ProxySuccessorRequest>(Receiver::ProxyOrConductor, false, None).unstable(),
    notification::<ProxySuccessorNotification>(Receiver::ProxyOrConductor, false, None).unstable(),
];
