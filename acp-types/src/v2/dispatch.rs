//! Decoding of parameters and results by method.
//!
//! Spec: [schema](https://agentclientprotocol.com/protocol/v2/schema)
//!
//! Names are those of the schema: a client request is sent by a client and received by an agent.
//! Unstable methods are included; the [table](crate::methods) marks them.
//!
//! ```
//! use acp_types::v2::dispatch::{AgentNotification, AgentResponse};
//! use acp_types::v2::prompt_lifecycle::SessionUpdate;
//! use acp_types::v2::session_states::StateUpdate;
//! use jsonrpc_core::wire::Raw;
//!
//! let result = Raw::from_text(r#"{"messageId":"m-1"}"#)?;
//! let response = AgentResponse::decode("session/prompt", result.as_ref())?;
//! let AgentResponse::PromptResponse(prompt) = response else { panic!("not of a prompt") };
//! assert_eq!(prompt.message_id.as_str(), "m-1");
//!
//! let params = r#"{"sessionId":"s","update":{"sessionUpdate":"state_update","state":"idle","stopReason":"end_turn"}}"#;
//! let notification = AgentNotification::decode("session/update", Some(Raw::from_text(params)?.as_ref()))?;
//! let AgentNotification::UpdateSessionNotification(reported) = notification else { panic!("not an update") };
//! assert!(matches!(reported.update, SessionUpdate::StateUpdate(StateUpdate::Idle(_))));
//! # Ok::<(), jsonrpc_core::wire::DecodeError>(())
//! ```
use super::authentication::*;
use super::cancellation::*;
use super::elicitation::*;
use super::initialization::*;
use super::mcp_over_acp::*;
use super::permissions::*;
use super::prompt_lifecycle::*;
use super::providers::*;
use super::proxy_chains::*;
use super::session_config_options::*;
use super::session_delete::*;
use super::session_list::*;
use super::session_setup::*;
use super::session_status::*;
use super::terminals::*;
use super::tool_calls::*;
use crate::dispatch::{notifications, requests};
use crate::method::{Method, Receiver, Stability};
use crate::params::NotificationParams;
use alloc::boxed::Box;
use alloc::string::String;
#[cfg(feature = "schemars")]
use alloc::vec::Vec;
use jsonrpc_core::wire::{DecodeError, DecodedValue, Mode, Raw, Wire};
#[cfg(feature = "schemars")]
use schemars::{Schema, SchemaGenerator};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

requests! {
    /// A request from a client to an agent.
    ///
    /// Spec: [schema](https://agentclientprotocol.com/protocol/v2/schema)
    pub enum ClientRequest to Agent;

    /// A result from an agent to a client.
    ///
    /// Spec: [schema](https://agentclientprotocol.com/protocol/v2/schema)
    pub enum AgentResponse;

    "initialize" InitializeRequest -> InitializeResponse [],
    "auth/login" LoginAuthRequest -> LoginAuthResponse or null ["authMethods"],
    "auth/logout" LogoutAuthRequest -> LogoutAuthResponse or null ["authMethods"],
    "session/new" NewSessionRequest -> NewSessionResponse ["capabilities.session"],
    "session/resume" ResumeSessionRequest -> ResumeSessionResponse or null [session "capabilities.session"],
    shared "session/close" CloseSessionRequest -> CloseSessionResponse or null [session "capabilities.session"],
    "session/list" ListSessionsRequest -> ListSessionsResponse ["capabilities.session"],
    shared "session/delete" DeleteSessionRequest -> DeleteSessionResponse or null [session "capabilities.session.delete"],
    "session/set_config_option" SetSessionConfigOptionRequest -> SetSessionConfigOptionResponse [session "configOptions of the session"],
    "session/prompt" PromptRequest -> PromptResponse [session "capabilities.session"],
    "tool_call/cancel" CancelToolCallRequest -> CancelToolCallResponse or null [session "capabilities.cancel of the tool call"],
    "terminal/cancel" CancelTerminalRequest -> CancelTerminalResponse or null [session "capabilities.cancel of the terminal"],
    shared "auth/status" AuthStatusRequest -> AuthStatusResponse [unstable "capabilities.auth.status"],
    shared "providers/list" ListProvidersRequest -> ListProvidersResponse [unstable "capabilities.providers"],
    shared "providers/set" SetProviderRequest -> SetProviderResponse or null [unstable "capabilities.providers"],
    shared "providers/disable" DisableProviderRequest -> DisableProviderResponse or null [unstable "capabilities.providers"],
    "session/fork" ForkSessionRequest -> ForkSessionResponse [unstable session "capabilities.session.fork"],
    shared "session/archive" ArchiveSessionRequest -> ArchiveSessionResponse or null [unstable session "capabilities.session.archive"],
    shared "session/unarchive" UnarchiveSessionRequest -> UnarchiveSessionResponse or null [unstable session "capabilities.session.archive"],
    "session/options" SessionOptionsRequest -> SessionOptionsResponse or null [unstable "capabilities.session.options"],
    "session/status" SessionStatusRequest -> SessionStatusResponse [unstable session "capabilities.session.status"],
    shared "session/set_title" SetSessionTitleRequest -> SetSessionTitleResponse [unstable session "capabilities.session.title"],
}

requests! {
    /// A request from an agent to a client.
    ///
    /// Spec: [schema](https://agentclientprotocol.com/protocol/v2/schema)
    pub enum AgentRequest to Client;

    /// A result from a client to an agent.
    ///
    /// Spec: [schema](https://agentclientprotocol.com/protocol/v2/schema)
    pub enum ClientResponse;

    "session/request_permission" RequestPermissionRequest -> RequestPermissionResponse [session "capabilities.session"],
    "elicitation/create" CreateElicitationRequest -> CreateElicitationResponse ["capabilities.elicitation, by mode"],
    shared "mcp/message" MessageMcpRequest -> MessageMcpResponse or null [unstable "capabilities.session.mcp.acp"],
}

requests! {
    /// **Unstable.** A request between a conductor and a proxy.
    ///
    /// Spec: [draft schema](https://agentclientprotocol.com/protocol/v2/draft/schema),
    /// [Proxy Chains](https://agentclientprotocol.com/rfds/proxy-chains)
    pub enum ProxyRequest to Proxy;

    /// **Unstable.** A result between a conductor and a proxy.
    ///
    /// Spec: [draft schema](https://agentclientprotocol.com/protocol/v2/draft/schema),
    /// [Proxy Chains](https://agentclientprotocol.com/rfds/proxy-chains)
    pub enum ProxyResponse;

    "proxy/initialize" InitializeProxyRequest -> InitializeProxyResponse [unstable],
    shared "proxy/successor" ProxySuccessorRequest -> ProxySuccessorResponse [to ProxyOrConductor unstable],
}

notifications! {
    /// A notification from a client to an agent.
    ///
    /// Spec: [schema](https://agentclientprotocol.com/protocol/v2/schema)
    pub enum ClientNotification to Agent;

    CancelSessionNotification [session "capabilities.session"],
    MessageMcpNotification [unstable "capabilities.session.mcp.acp"],
    CancelRequestNotification [to Either],
}

notifications! {
    /// A notification from an agent to a client.
    ///
    /// Spec: [schema](https://agentclientprotocol.com/protocol/v2/schema)
    pub enum AgentNotification to Client;

    UpdateSessionNotification [session "capabilities.session"],
    CompleteElicitationNotification ["capabilities.elicitation.url"],
    AuthStatusUpdateNotification [unstable "capabilities.auth.status"],
    CancelRequestNotification,
}

notifications! {
    /// **Unstable.** A notification between a conductor and a proxy.
    ///
    /// Spec: [draft schema](https://agentclientprotocol.com/protocol/v2/draft/schema),
    /// [Proxy Chains](https://agentclientprotocol.com/rfds/proxy-chains)
    pub enum ProxyNotification to Proxy;

    ProxySuccessorNotification [to ProxyOrConductor unstable],
}

/// The methods of the version.
pub(crate) const METHODS: &[Method] = &Method::join::<34>(
    [
        ClientRequest::METHODS,
        AgentRequest::METHODS,
        ProxyRequest::METHODS,
        ClientNotification::METHODS,
        AgentNotification::METHODS,
        ProxyNotification::METHODS,
    ],
    Stability::Preview,
    Method::request::<InitializeRequest>(Receiver::Agent),
);

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

impl NotificationParams for CancelSessionNotification {
    const METHOD: &'static str = "session/cancel";
}

impl NotificationParams for UpdateSessionNotification {
    const METHOD: &'static str = "session/update";
}
