//! Agents and clients in version 2 of the protocol.
//!
//! Version 2 is a draft: it may change in any release.
use super::driver::{Driver, Serve};
use super::machine;
use super::shared::Shared;
use super::side::side;
use super::{Context, Extension, Options, Peer, Sessions};
use crate::agent;
use crate::client::{self, Diagnostic};
use crate::methods::RequestParams;
use crate::v1::initialization::ProtocolVersion;
use crate::v2::authentication::{
    AuthStatusRequest, AuthStatusResponse, AuthStatusUpdateNotification, LoginAuthRequest,
    LoginAuthResponse, LogoutAuthRequest, LogoutAuthResponse,
};
use crate::v2::dispatch;
use crate::v2::elicitation::{
    CompleteElicitationNotification, CreateElicitationRequest, CreateElicitationResponse,
};
use crate::v2::initialization::{InitializeRequest, InitializeResponse};
use crate::v2::mcp_over_acp::{MessageMcpNotification, MessageMcpRequest, MessageMcpResponse};
use crate::v2::permissions::{RequestPermissionRequest, RequestPermissionResponse};
use crate::v2::prompt_lifecycle::{
    CancelSessionNotification, PromptRequest, PromptResponse, UpdateSessionNotification,
};
use crate::v2::providers::{
    DisableProviderRequest, DisableProviderResponse, ListProvidersRequest, ListProvidersResponse,
    SetProviderRequest, SetProviderResponse,
};
use crate::v2::session_config_options::{
    SetSessionConfigOptionRequest, SetSessionConfigOptionResponse,
};
use crate::v2::session_delete::{DeleteSessionRequest, DeleteSessionResponse};
use crate::v2::session_list::{
    ArchiveSessionRequest, ArchiveSessionResponse, ListSessionsRequest, ListSessionsResponse,
    SetSessionTitleRequest, SetSessionTitleResponse, UnarchiveSessionRequest,
    UnarchiveSessionResponse,
};
use crate::v2::session_setup::{
    CloseSessionRequest, CloseSessionResponse, ForkSessionRequest, ForkSessionResponse,
    NewSessionRequest, NewSessionResponse, ResumeSessionRequest, ResumeSessionResponse,
};
use crate::v2::session_status::{SessionStatusRequest, SessionStatusResponse};
use crate::v2::terminals::{CancelTerminalRequest, CancelTerminalResponse};
use crate::v2::tool_calls::{CancelToolCallRequest, CancelToolCallResponse};
use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::sync::Arc;
use core::future::Future;
use futures::future::{BoxFuture, LocalBoxFuture};
use futures::{Sink, Stream};
use jsonrpc_core::ErrorObject;
use jsonrpc_core::framing::{Frame, FrameError};
use jsonrpc_core::wire::Raw;

/// The version of this module.
const VERSION: ProtocolVersion = ProtocolVersion::V2;

/// What a client of this version offers.
fn offer(initialize: InitializeRequest) -> client::Options {
    client::Options::v2(initialize)
}

side! {
    {
        agent agent::Connection, V2,
        agent::ClientRequest, dispatch::ClientRequest,
        agent::ClientNotification, dispatch::ClientNotification
    };
    /// An agent in version 2: what it does with the requests and notifications of a client.
    ///
    /// Spec: [schema](https://agentclientprotocol.com/protocol/v2/schema)
    Agent by
    /// Connects an agent with a client: the future runs the connection until it ends, the [`Peer`] is the client.
    connect_agent,
    /// An [`Agent`] that stays on one thread: it may hold what is not `Send`, also while it waits.
    ///
    /// Spec: [schema](https://agentclientprotocol.com/protocol/v2/schema)
    LocalAgent by
    /// Connects an agent that stays on one thread with a client; see [`connect_agent`].
    connect_local_agent;
    required {
        /// Agrees on the version and on what either side can do. See [`InitializeRequest`].
        initialize(InitializeRequest) -> InitializeResponse;
        /// Begins a session. See [`NewSessionRequest`].
        new_session(NewSessionRequest) -> NewSessionResponse;
        /// Takes in a prompt; updates report what becomes of it. See [`PromptRequest`].
        prompt(PromptRequest) -> PromptResponse;
    }
    optional {
        /// Logs the user in. See [`LoginAuthRequest`].
        login_auth(LoginAuthRequest) -> LoginAuthResponse;
        /// Logs the user out. See [`LogoutAuthRequest`].
        logout_auth(LogoutAuthRequest) -> LogoutAuthResponse;
        /// Comes back to a session. See [`ResumeSessionRequest`].
        resume_session(ResumeSessionRequest) -> ResumeSessionResponse;
        /// Ends a session that may be come back to. See [`CloseSessionRequest`].
        close_session(CloseSessionRequest) -> CloseSessionResponse;
        /// Lists sessions. See [`ListSessionsRequest`].
        list_sessions(ListSessionsRequest) -> ListSessionsResponse;
        /// Deletes a session. See [`DeleteSessionRequest`].
        delete_session(DeleteSessionRequest) -> DeleteSessionResponse;
        /// Sets an option of a session. See [`SetSessionConfigOptionRequest`].
        set_session_config_option(SetSessionConfigOptionRequest) -> SetSessionConfigOptionResponse;
        /// Cancels a tool call. See [`CancelToolCallRequest`].
        cancel_tool_call(CancelToolCallRequest) -> CancelToolCallResponse;
        /// Ends the command of a terminal. See [`CancelTerminalRequest`].
        cancel_terminal(CancelTerminalRequest) -> CancelTerminalResponse;
        /// **Unstable.** Returns the state of the login. See [`AuthStatusRequest`].
        auth_status(AuthStatusRequest) -> AuthStatusResponse;
        /// **Unstable.** Lists providers of models. See [`ListProvidersRequest`].
        list_providers(ListProvidersRequest) -> ListProvidersResponse;
        /// **Unstable.** Sets a provider up. See [`SetProviderRequest`].
        set_provider(SetProviderRequest) -> SetProviderResponse;
        /// **Unstable.** Disables a provider. See [`DisableProviderRequest`].
        disable_provider(DisableProviderRequest) -> DisableProviderResponse;
        /// **Unstable.** Begins a session with what another has. See [`ForkSessionRequest`].
        fork_session(ForkSessionRequest) -> ForkSessionResponse;
        /// **Unstable.** Archives a session. See [`ArchiveSessionRequest`].
        archive_session(ArchiveSessionRequest) -> ArchiveSessionResponse;
        /// **Unstable.** Takes a session out of the archive. See [`UnarchiveSessionRequest`].
        unarchive_session(UnarchiveSessionRequest) -> UnarchiveSessionResponse;
        /// **Unstable.** Says whether a session is open. See [`SessionStatusRequest`].
        session_status(SessionStatusRequest) -> SessionStatusResponse;
        /// **Unstable.** Gives a session a title. See [`SetSessionTitleRequest`].
        set_session_title(SetSessionTitleRequest) -> SetSessionTitleResponse;
    }
    taken {
    }
    may_be_taken {
        /// Takes that the work of a session is cancelled; an idle `state_update` is to follow. See [`CancelSessionNotification`].
        cancel_session(CancelSessionNotification);
        /// **Unstable.** Takes a notification of an MCP server on the client's side. See [`MessageMcpNotification`].
        message_mcp(MessageMcpNotification);
    }
}

side! {
    {
        client machine::Client, V2,
        client::AgentRequest, dispatch::AgentRequest,
        client::AgentNotification, dispatch::AgentNotification
    };
    /// A client in version 2: what it does with the requests and notifications of an agent.
    ///
    /// Spec: [schema](https://agentclientprotocol.com/protocol/v2/schema)
    Client by
    /// Connects a client with an agent: the future runs the connection until it ends, [`Sessions`] speak to the agent.
    connect_client,
    /// A [`Client`] that stays on one thread: it may hold what is not `Send`, also while it waits.
    ///
    /// Spec: [schema](https://agentclientprotocol.com/protocol/v2/schema)
    LocalClient by
    /// Connects a client that stays on one thread with an agent; see [`connect_client`].
    connect_local_client;
    required {
        /// Asks the user for permission. See [`RequestPermissionRequest`].
        request_permission(RequestPermissionRequest) -> RequestPermissionResponse;
    }
    optional {
        /// Asks the user for data. See [`CreateElicitationRequest`].
        create_elicitation(CreateElicitationRequest) -> CreateElicitationResponse;
        /// **Unstable.** Asks an MCP server on the client's side. See [`MessageMcpRequest`].
        message_mcp(MessageMcpRequest) -> MessageMcpResponse;
    }
    taken {
        /// Takes an update of a session. See [`UpdateSessionNotification`].
        update_session(UpdateSessionNotification);
    }
    may_be_taken {
        /// Takes that an elicitation behind a URL is done. See [`CompleteElicitationNotification`].
        complete_elicitation(CompleteElicitationNotification);
        /// **Unstable.** Takes the state of the login. See [`AuthStatusUpdateNotification`].
        auth_status_update(AuthStatusUpdateNotification);
    }
}
