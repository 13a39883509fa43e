//! The methods of version 2.
use super::{Method, Receiver, notification, request};
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
    request::<InitializeRequest>(Receiver::Agent, false, None).draft(),
    request::<LoginAuthRequest>(Receiver::Agent, false, Some("authMethods")).draft(),
    request::<LogoutAuthRequest>(Receiver::Agent, false, Some("authMethods")).draft(),
    request::<NewSessionRequest>(Receiver::Agent, false, Some("capabilities.session")).draft(),
    request::<ResumeSessionRequest>(Receiver::Agent, true, Some("capabilities.session")).draft(),
    request::<CloseSessionRequest>(Receiver::Agent, true, Some("capabilities.session")).draft(),
    request::<ListSessionsRequest>(Receiver::Agent, false, Some("capabilities.session")).draft(),
    request::<DeleteSessionRequest>(Receiver::Agent, true, Some("capabilities.session.delete"))
        .draft(),
    request::<SetSessionConfigOptionRequest>(
        Receiver::Agent,
        true,
        Some("configOptions of the session"),
    )
    .draft(),
    request::<PromptRequest>(Receiver::Agent, true, Some("capabilities.session")).draft(),
    request::<CancelToolCallRequest>(
        Receiver::Agent,
        true,
        Some("capabilities.cancel of the tool call"),
    )
    .draft(),
    request::<CancelTerminalRequest>(
        Receiver::Agent,
        true,
        Some("capabilities.cancel of the terminal"),
    )
    .draft(),
    request::<AuthStatusRequest>(Receiver::Agent, false, Some("capabilities.auth.status"))
        .unstable(),
    request::<ListProvidersRequest>(Receiver::Agent, false, Some("capabilities.providers"))
        .unstable(),
    request::<SetProviderRequest>(Receiver::Agent, false, Some("capabilities.providers"))
        .unstable(),
    request::<DisableProviderRequest>(Receiver::Agent, false, Some("capabilities.providers"))
        .unstable(),
    request::<ForkSessionRequest>(Receiver::Agent, true, Some("capabilities.session.fork"))
        .unstable(),
    request::<ArchiveSessionRequest>(Receiver::Agent, true, Some("capabilities.session.archive"))
        .unstable(),
    request::<UnarchiveSessionRequest>(Receiver::Agent, true, Some("capabilities.session.archive"))
        .unstable(),
    request::<SessionStatusRequest>(Receiver::Agent, true, Some("capabilities.session.status"))
        .unstable(),
    request::<SetSessionTitleRequest>(Receiver::Agent, true, Some("capabilities.session.title"))
        .unstable(),
    notification::<CancelSessionNotification>(Receiver::Agent, true, Some("capabilities.session"))
        .draft(),
    notification::<MessageMcpNotification>(
        Receiver::Agent,
        false,
        Some("capabilities.session.mcp.acp"),
    )
    .unstable(),
    notification::<UpdateSessionNotification>(Receiver::Client, true, Some("capabilities.session"))
        .draft(),
    notification::<CompleteElicitationNotification>(
        Receiver::Client,
        false,
        Some("capabilities.elicitation.url"),
    )
    .draft(),
    notification::<AuthStatusUpdateNotification>(
        Receiver::Client,
        false,
        Some("capabilities.auth.status"),
    )
    .unstable(),
    request::<RequestPermissionRequest>(Receiver::Client, true, Some("capabilities.session"))
        .draft(),
    request::<CreateElicitationRequest>(
        Receiver::Client,
        false,
        Some("capabilities.elicitation, by mode"),
    )
    .draft(),
    request::<MessageMcpRequest>(Receiver::Client, false, Some("capabilities.session.mcp.acp"))
        .unstable(),
    notification::<CancelRequestNotification>(Receiver::Either, false, None).draft(),
    request::<InitializeProxyRequest>(Receiver::Proxy, false, None).unstable(),
    request::<ProxySuccessorRequest>(Receiver::ProxyOrConductor, false, None).unstable(),
    notification::<ProxySuccessorNotification>(Receiver::ProxyOrConductor, false, None).unstable(),
];
