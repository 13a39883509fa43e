//! The methods of version 2.
use super::{Direction, Method, notification, request};
use crate::v2::authentication::{
    AuthStatusRequest, AuthStatusUpdateNotification, LoginAuthRequest, LogoutAuthRequest,
};
use crate::v2::cancellation::CancelRequestNotification;
use crate::v2::elicitation::{CompleteElicitationNotification, CreateElicitationRequest};
use crate::v2::initialization::InitializeRequest;
use crate::v2::mcp_over_acp::{MessageMcpNotification, MessageMcpRequest};
use crate::v2::permissions::RequestPermissionRequest;
use crate::v2::prompt_lifecycle::{
    CancelSessionNotification, PromptRequest, UpdateSessionNotification,
};
use crate::v2::providers::{DisableProviderRequest, ListProvidersRequest, SetProviderRequest};
use crate::v2::proxy_chains::{
    InitializeProxyRequest, ProxySuccessorNotification, ProxySuccessorRequest,
};
use crate::v2::session_config_options::SetSessionConfigOptionRequest;
use crate::v2::session_delete::DeleteSessionRequest;
use crate::v2::session_list::{
    ArchiveSessionRequest, ListSessionsRequest, SetSessionTitleRequest, UnarchiveSessionRequest,
};
use crate::v2::session_setup::{
    CloseSessionRequest, ForkSessionRequest, NewSessionRequest, ResumeSessionRequest,
};
use crate::v2::session_status::SessionStatusRequest;
use crate::v2::terminals::CancelTerminalRequest;
use crate::v2::tool_calls::CancelToolCallRequest;

/// The methods of version 2, which is a draft.
///
/// Spec: [schema](https://agentclientprotocol.com/protocol/v2/schema)
pub const V2: &[Method] = &[
    request::<InitializeRequest>(Direction::ToAgent, false, None).draft(),
    request::<LoginAuthRequest>(Direction::ToAgent, false, Some("authMethods")).draft(),
    request::<LogoutAuthRequest>(Direction::ToAgent, false, Some("authMethods")).draft(),
    request::<NewSessionRequest>(Direction::ToAgent, false, Some("capabilities.session")).draft(),
    request::<ResumeSessionRequest>(Direction::ToAgent, true, Some("capabilities.session")).draft(),
    request::<CloseSessionRequest>(Direction::ToAgent, true, Some("capabilities.session")).draft(),
    request::<ListSessionsRequest>(Direction::ToAgent, false, Some("capabilities.session")).draft(),
    request::<DeleteSessionRequest>(Direction::ToAgent, true, Some("capabilities.session.delete"))
        .draft(),
    request::<SetSessionConfigOptionRequest>(
        Direction::ToAgent,
        true,
        Some("configOptions of the session"),
    )
    .draft(),
    request::<PromptRequest>(Direction::ToAgent, true, Some("capabilities.session")).draft(),
    request::<CancelToolCallRequest>(
        Direction::ToAgent,
        true,
        Some("capabilities.cancel of the tool call"),
    )
    .draft(),
    request::<CancelTerminalRequest>(
        Direction::ToAgent,
        true,
        Some("capabilities.cancel of the terminal"),
    )
    .draft(),
    request::<AuthStatusRequest>(Direction::ToAgent, false, Some("capabilities.auth.status"))
        .unstable(),
    request::<ListProvidersRequest>(Direction::ToAgent, false, Some("capabilities.providers"))
        .unstable(),
    request::<SetProviderRequest>(Direction::ToAgent, false, Some("capabilities.providers"))
        .unstable(),
    request::<DisableProviderRequest>(Direction::ToAgent, false, Some("capabilities.providers"))
        .unstable(),
    request::<ForkSessionRequest>(Direction::ToAgent, true, Some("capabilities.session.fork"))
        .unstable(),
    request::<ArchiveSessionRequest>(
        Direction::ToAgent,
        true,
        Some("capabilities.session.archive"),
    )
    .unstable(),
    request::<UnarchiveSessionRequest>(
        Direction::ToAgent,
        true,
        Some("capabilities.session.archive"),
    )
    .unstable(),
    request::<SessionStatusRequest>(Direction::ToAgent, true, Some("capabilities.session.status"))
        .unstable(),
    request::<SetSessionTitleRequest>(Direction::ToAgent, true, Some("capabilities.session.title"))
        .unstable(),
    notification::<CancelSessionNotification>(
        Direction::ToAgent,
        true,
        Some("capabilities.session"),
    )
    .draft(),
    notification::<MessageMcpNotification>(
        Direction::ToAgent,
        false,
        Some("capabilities.session.mcp.acp"),
    )
    .unstable(),
    notification::<UpdateSessionNotification>(
        Direction::ToClient,
        true,
        Some("capabilities.session"),
    )
    .draft(),
    notification::<CompleteElicitationNotification>(
        Direction::ToClient,
        false,
        Some("capabilities.elicitation.url"),
    )
    .draft(),
    notification::<AuthStatusUpdateNotification>(
        Direction::ToClient,
        false,
        Some("capabilities.auth.status"),
    )
    .unstable(),
    request::<RequestPermissionRequest>(Direction::ToClient, true, Some("capabilities.session"))
        .draft(),
    request::<CreateElicitationRequest>(
        Direction::ToClient,
        false,
        Some("capabilities.elicitation, by mode"),
    )
    .draft(),
    request::<MessageMcpRequest>(Direction::ToClient, false, Some("capabilities.session.mcp.acp"))
        .unstable(),
    notification::<CancelRequestNotification>(Direction::ToEither, false, None).draft(),
    request::<InitializeProxyRequest>(Direction::ToProxy, false, None).unstable(),
    request::<ProxySuccessorRequest>(Direction::ToProxyOrConductor, false, None).unstable(),
    notification::<ProxySuccessorNotification>(Direction::ToProxyOrConductor, false, None)
        .unstable(),
];
