//! Decoding of parameters and results by method.
//!
//! Spec: [schema](https://agentclientprotocol.com/protocol/v1/schema)
//!
//! Names are those of the schema: a client request is sent by a client and received by an agent.
//! Unstable methods are included; the [table](crate::methods) marks them.
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
use super::authentication::*;
use super::cancellation::*;
use super::elicitation::*;
use super::file_system::*;
use super::initialization::*;
use super::mcp_over_acp::*;
use super::prompt_turn::*;
use super::providers::*;
use super::proxy_chains::*;
use super::session_config_options::*;
use super::session_list::*;
use super::session_modes::*;
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
    /// Spec: [schema](https://agentclientprotocol.com/protocol/v1/schema)
    pub enum ClientRequest to Agent;

    /// A result from an agent to a client.
    ///
    /// Spec: [schema](https://agentclientprotocol.com/protocol/v1/schema)
    pub enum AgentResponse;

    "initialize" InitializeRequest -> InitializeResponse [],
    "authenticate" AuthenticateRequest -> AuthenticateResponse or null ["authMethods: not a terminal one"],
    "logout" LogoutRequest -> LogoutResponse or null ["agentCapabilities.auth.logout"],
    "session/new" NewSessionRequest -> NewSessionResponse [],
    "session/load" LoadSessionRequest -> LoadSessionResponse or null [session "agentCapabilities.loadSession"],
    "session/resume" ResumeSessionRequest -> ResumeSessionResponse or null [session "agentCapabilities.sessionCapabilities.resume"],
    shared "session/close" CloseSessionRequest -> CloseSessionResponse or null [session "agentCapabilities.sessionCapabilities.close"],
    "session/list" ListSessionsRequest -> ListSessionsResponse ["agentCapabilities.sessionCapabilities.list"],
    shared "session/delete" DeleteSessionRequest -> DeleteSessionResponse or null [session "agentCapabilities.sessionCapabilities.delete"],
    "session/set_mode" SetSessionModeRequest -> SetSessionModeResponse or null [session "modes of the session"],
    "session/set_config_option" SetSessionConfigOptionRequest -> SetSessionConfigOptionResponse [session "configOptions of the session"],
    "session/prompt" PromptRequest -> PromptResponse [session],
    shared "auth/status" AuthStatusRequest -> AuthStatusResponse [unstable "agentCapabilities.auth.status"],
    shared "providers/list" ListProvidersRequest -> ListProvidersResponse [unstable "agentCapabilities.providers"],
    shared "providers/set" SetProviderRequest -> SetProviderResponse or null [unstable "agentCapabilities.providers"],
    shared "providers/disable" DisableProviderRequest -> DisableProviderResponse or null [unstable "agentCapabilities.providers"],
    "session/fork" ForkSessionRequest -> ForkSessionResponse [unstable session "agentCapabilities.sessionCapabilities.fork"],
    shared "session/archive" ArchiveSessionRequest -> ArchiveSessionResponse or null [unstable session "agentCapabilities.sessionCapabilities.archive"],
    shared "session/unarchive" UnarchiveSessionRequest -> UnarchiveSessionResponse or null [unstable session "agentCapabilities.sessionCapabilities.archive"],
    "session/options" SessionOptionsRequest -> SessionOptionsResponse or null [unstable "agentCapabilities.sessionCapabilities.options"],
    "session/status" SessionStatusRequest -> SessionStatusResponse [unstable session "agentCapabilities.sessionCapabilities.status"],
    shared "session/set_title" SetSessionTitleRequest -> SetSessionTitleResponse [unstable session "agentCapabilities.sessionCapabilities.title"],
}

requests! {
    /// A request from an agent to a client.
    ///
    /// Spec: [schema](https://agentclientprotocol.com/protocol/v1/schema)
    pub enum AgentRequest to Client;

    /// A result from a client to an agent.
    ///
    /// Spec: [schema](https://agentclientprotocol.com/protocol/v1/schema)
    pub enum ClientResponse;

    "session/request_permission" RequestPermissionRequest -> RequestPermissionResponse [session],
    "fs/read_text_file" ReadTextFileRequest -> ReadTextFileResponse [session "clientCapabilities.fs.readTextFile"],
    "fs/write_text_file" WriteTextFileRequest -> WriteTextFileResponse or null [session "clientCapabilities.fs.writeTextFile"],
    "terminal/create" CreateTerminalRequest -> CreateTerminalResponse [session "clientCapabilities.terminal"],
    "terminal/output" TerminalOutputRequest -> TerminalOutputResponse [session "clientCapabilities.terminal"],
    "terminal/wait_for_exit" WaitForTerminalExitRequest -> WaitForTerminalExitResponse or null [session "clientCapabilities.terminal"],
    "terminal/kill" KillTerminalRequest -> KillTerminalResponse or null [session "clientCapabilities.terminal"],
    "terminal/release" ReleaseTerminalRequest -> ReleaseTerminalResponse or null [session "clientCapabilities.terminal"],
    "elicitation/create" CreateElicitationRequest -> CreateElicitationResponse ["clientCapabilities.elicitation, by mode"],
    shared "mcp/message" MessageMcpRequest -> MessageMcpResponse or null [unstable "agentCapabilities.mcpCapabilities.acp"],
}

requests! {
    /// **Unstable.** A request between a conductor and a proxy.
    ///
    /// Spec: [draft schema](https://agentclientprotocol.com/protocol/v1/draft/schema),
    /// [Proxy Chains](https://agentclientprotocol.com/rfds/proxy-chains)
    pub enum ProxyRequest to Proxy;

    /// **Unstable.** A result between a conductor and a proxy.
    ///
    /// Spec: [draft schema](https://agentclientprotocol.com/protocol/v1/draft/schema),
    /// [Proxy Chains](https://agentclientprotocol.com/rfds/proxy-chains)
    pub enum ProxyResponse;

    "proxy/initialize" InitializeProxyRequest -> InitializeProxyResponse [unstable],
    shared "proxy/successor" ProxySuccessorRequest -> ProxySuccessorResponse [to ProxyOrConductor unstable],
}

notifications! {
    /// A notification from a client to an agent.
    ///
    /// Spec: [schema](https://agentclientprotocol.com/protocol/v1/schema)
    pub enum ClientNotification to Agent;

    CancelNotification [session],
    MessageMcpNotification [unstable "agentCapabilities.mcpCapabilities.acp"],
    CancelRequestNotification [to Either],
}

notifications! {
    /// A notification from an agent to a client.
    ///
    /// Spec: [schema](https://agentclientprotocol.com/protocol/v1/schema)
    pub enum AgentNotification to Client;

    SessionNotification [session],
    CompleteElicitationNotification ["clientCapabilities.elicitation.url"],
    AuthStatusUpdateNotification [unstable "agentCapabilities.auth.status"],
    CancelRequestNotification,
}

notifications! {
    /// **Unstable.** A notification between a conductor and a proxy.
    ///
    /// Spec: [draft schema](https://agentclientprotocol.com/protocol/v1/draft/schema),
    /// [Proxy Chains](https://agentclientprotocol.com/rfds/proxy-chains)
    pub enum ProxyNotification to Proxy;

    ProxySuccessorNotification [to ProxyOrConductor unstable],
}

/// The methods of the version.
pub(crate) const METHODS: &[Method] = &Method::join::<41>(
    [
        ClientRequest::METHODS,
        AgentRequest::METHODS,
        ProxyRequest::METHODS,
        ClientNotification::METHODS,
        AgentNotification::METHODS,
        ProxyNotification::METHODS,
    ],
    Stability::Stable,
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

impl NotificationParams for CancelNotification {
    const METHOD: &'static str = "session/cancel";
}

impl NotificationParams for SessionNotification {
    const METHOD: &'static str = "session/update";
}
