//! Decoding of parameters and results by method.
//!
//! Spec: [schema](https://agentclientprotocol.com/protocol/v1/schema)
//!
//! Names are those of the schema: a client request is sent by a client and received by an agent. Unstable methods are
//! included; the [table](crate::methods) marks them.
//!
//! ```
//! use acp_types::v1::dispatch::ClientRequest;
//! use jsonrpc_core::wire::Raw;
//!
//! let params = Raw::from_text(r#"{"sessionId":"s","prompt":[{"type":"text","text":"Hi"}]}"#)?;
//! let request = ClientRequest::decode("session/prompt", Some(params.as_ref()))?;
//! let ClientRequest::PromptRequest(prompt) = request else { panic!("not a prompt") };
//! assert_eq!(prompt.session_id.as_str(), "s");
//!
//! let request = ClientRequest::decode("_example.com/ping", None)?;
//! assert!(matches!(request, ClientRequest::Other { method, .. } if method == "_example.com/ping"));
//! # Ok::<(), jsonrpc_core::wire::DecodeError>(())
//! ```
use super::authentication::{
    AuthStatusRequest, AuthStatusResponse, AuthStatusUpdateNotification, AuthenticateRequest,
    AuthenticateResponse, LogoutRequest, LogoutResponse,
};
use super::cancellation::CancelRequestNotification;
use super::elicitation::{
    CompleteElicitationNotification, CreateElicitationRequest, CreateElicitationResponse,
};
use super::file_system::{
    ReadTextFileRequest, ReadTextFileResponse, WriteTextFileRequest, WriteTextFileResponse,
};
use super::initialization::{InitializeRequest, InitializeResponse};
use super::mcp_over_acp::{MessageMcpNotification, MessageMcpRequest, MessageMcpResponse};
use super::prompt_turn::{CancelNotification, PromptRequest, PromptResponse, SessionNotification};
use super::providers::{
    DisableProviderRequest, DisableProviderResponse, ListProvidersRequest, ListProvidersResponse,
    SetProviderRequest, SetProviderResponse,
};
use super::proxy_chains::{
    InitializeProxyRequest, InitializeProxyResponse, ProxySuccessorNotification,
    ProxySuccessorRequest, ProxySuccessorResponse,
};
use super::session_config_options::{
    SetSessionConfigOptionRequest, SetSessionConfigOptionResponse,
};
use super::session_list::{
    ArchiveSessionRequest, ArchiveSessionResponse, DeleteSessionRequest, DeleteSessionResponse,
    ListSessionsRequest, ListSessionsResponse, SetSessionTitleRequest, SetSessionTitleResponse,
    UnarchiveSessionRequest, UnarchiveSessionResponse,
};
use super::session_modes::{SetSessionModeRequest, SetSessionModeResponse};
use super::session_setup::{
    CloseSessionRequest, CloseSessionResponse, ForkSessionRequest, ForkSessionResponse,
    LoadSessionRequest, LoadSessionResponse, NewSessionRequest, NewSessionResponse,
    ResumeSessionRequest, ResumeSessionResponse,
};
use super::session_status::{SessionStatusRequest, SessionStatusResponse};
use super::terminals::{
    CreateTerminalRequest, CreateTerminalResponse, KillTerminalRequest, KillTerminalResponse,
    ReleaseTerminalRequest, ReleaseTerminalResponse, TerminalOutputRequest, TerminalOutputResponse,
    WaitForTerminalExitRequest, WaitForTerminalExitResponse,
};
use super::tool_calls::{RequestPermissionRequest, RequestPermissionResponse};
use crate::dispatch::{NotificationParams, notifications, requests};
use alloc::boxed::Box;
use alloc::string::String;
#[cfg(feature = "schemars")]
use alloc::vec::Vec;
use jsonrpc_core::wire::{self, DecodeError, Decoded, Mode, Raw};
#[cfg(feature = "schemars")]
use schemars::{Schema, SchemaGenerator};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

requests! {
    /// A request from a client to an agent.
    ///
    /// Spec: [schema](https://agentclientprotocol.com/protocol/v1/schema)
    pub enum ClientRequest;

    /// A result from an agent to a client.
    ///
    /// Spec: [schema](https://agentclientprotocol.com/protocol/v1/schema)
    pub enum AgentResponse;

    "initialize" InitializeRequest -> InitializeResponse,
    "authenticate" AuthenticateRequest -> AuthenticateResponse or null,
    "logout" LogoutRequest -> LogoutResponse or null,
    "session/new" NewSessionRequest -> NewSessionResponse,
    "session/load" LoadSessionRequest -> LoadSessionResponse or null,
    "session/resume" ResumeSessionRequest -> ResumeSessionResponse or null,
    shared "session/close" CloseSessionRequest -> CloseSessionResponse or null,
    "session/list" ListSessionsRequest -> ListSessionsResponse,
    shared "session/delete" DeleteSessionRequest -> DeleteSessionResponse or null,
    "session/set_mode" SetSessionModeRequest -> SetSessionModeResponse or null,
    "session/set_config_option" SetSessionConfigOptionRequest -> SetSessionConfigOptionResponse,
    "session/prompt" PromptRequest -> PromptResponse,
    shared "auth/status" AuthStatusRequest -> AuthStatusResponse,
    shared "providers/list" ListProvidersRequest -> ListProvidersResponse,
    shared "providers/set" SetProviderRequest -> SetProviderResponse or null,
    shared "providers/disable" DisableProviderRequest -> DisableProviderResponse or null,
    "session/fork" ForkSessionRequest -> ForkSessionResponse,
    shared "session/archive" ArchiveSessionRequest -> ArchiveSessionResponse or null,
    shared "session/unarchive" UnarchiveSessionRequest -> UnarchiveSessionResponse or null,
    "session/status" SessionStatusRequest -> SessionStatusResponse,
    shared "session/set_title" SetSessionTitleRequest -> SetSessionTitleResponse,
}

requests! {
    /// A request from an agent to a client.
    ///
    /// Spec: [schema](https://agentclientprotocol.com/protocol/v1/schema)
    pub enum AgentRequest;

    /// A result from a client to an agent.
    ///
    /// Spec: [schema](https://agentclientprotocol.com/protocol/v1/schema)
    pub enum ClientResponse;

    "session/request_permission" RequestPermissionRequest -> RequestPermissionResponse,
    "fs/read_text_file" ReadTextFileRequest -> ReadTextFileResponse,
    "fs/write_text_file" WriteTextFileRequest -> WriteTextFileResponse or null,
    "terminal/create" CreateTerminalRequest -> CreateTerminalResponse,
    "terminal/output" TerminalOutputRequest -> TerminalOutputResponse,
    "terminal/wait_for_exit" WaitForTerminalExitRequest -> WaitForTerminalExitResponse or null,
    "terminal/kill" KillTerminalRequest -> KillTerminalResponse or null,
    "terminal/release" ReleaseTerminalRequest -> ReleaseTerminalResponse or null,
    "elicitation/create" CreateElicitationRequest -> CreateElicitationResponse,
    shared "mcp/message" MessageMcpRequest -> MessageMcpResponse or null,
}

requests! {
    /// **Unstable.** A request between a conductor and a proxy.
    ///
    /// Spec: [draft schema](https://agentclientprotocol.com/protocol/v1/draft/schema),
    /// [Proxy Chains](https://agentclientprotocol.com/rfds/proxy-chains)
    pub enum ProxyRequest;

    /// **Unstable.** A result between a conductor and a proxy.
    ///
    /// Spec: [draft schema](https://agentclientprotocol.com/protocol/v1/draft/schema),
    /// [Proxy Chains](https://agentclientprotocol.com/rfds/proxy-chains)
    pub enum ProxyResponse;

    "proxy/initialize" InitializeProxyRequest -> InitializeProxyResponse,
    shared "proxy/successor" ProxySuccessorRequest -> ProxySuccessorResponse,
}

notifications! {
    /// A notification from a client to an agent.
    ///
    /// Spec: [schema](https://agentclientprotocol.com/protocol/v1/schema)
    pub enum ClientNotification;

    CancelNotification,
    MessageMcpNotification,
    CancelRequestNotification,
}

notifications! {
    /// A notification from an agent to a client.
    ///
    /// Spec: [schema](https://agentclientprotocol.com/protocol/v1/schema)
    pub enum AgentNotification;

    SessionNotification,
    CompleteElicitationNotification,
    AuthStatusUpdateNotification,
    CancelRequestNotification,
}

notifications! {
    /// **Unstable.** A notification between a conductor and a proxy.
    ///
    /// Spec: [draft schema](https://agentclientprotocol.com/protocol/v1/draft/schema),
    /// [Proxy Chains](https://agentclientprotocol.com/rfds/proxy-chains)
    pub enum ProxyNotification;

    ProxySuccessorNotification,
}

/// Returns the schemas of all parameters and results.
#[cfg(feature = "schemars")]
pub(crate) fn schemas(generator: &mut SchemaGenerator) -> Vec<Schema> {
    [
        ClientRequest::schemas,
        AgentRequest::schemas,
        ProxyRequest::schemas,
        ClientNotification::schemas,
        AgentNotification::schemas,
        ProxyNotification::schemas,
    ]
    .into_iter()
    .flat_map(|schemas| schemas(generator))
    .collect()
}

impl NotificationParams for CancelNotification {
    const METHOD: &'static str = "session/cancel";
}

impl NotificationParams for SessionNotification {
    const METHOD: &'static str = "session/update";
}
