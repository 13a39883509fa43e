//! Agents and clients of protocol version 2.
//!
//! Version 2 is a preview: it may change in any release.
use super::driver::{Driver, Serve};
use super::machine;
use super::shared::SharedConnection;
use super::side::side;
use super::{ConnectionOptions, Context, Extension, Peer, Sessions};
use crate::agent;
use crate::client::{self, Diagnostic};
use crate::methods::RequestParams;
use crate::v1::initialization::ProtocolVersion;
use crate::v2::authentication::*;
use crate::v2::dispatch;
use crate::v2::elicitation::*;
use crate::v2::initialization::*;
use crate::v2::mcp_over_acp::*;
use crate::v2::permissions::*;
use crate::v2::prompt_lifecycle::*;
use crate::v2::providers::*;
use crate::v2::session_config_options::*;
use crate::v2::session_delete::*;
use crate::v2::session_list::*;
use crate::v2::session_setup::*;
use crate::v2::session_status::*;
use crate::v2::terminals::*;
use crate::v2::tool_calls::*;
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

/// Returns the offer of a client of this version.
fn offer(initialize: InitializeRequest) -> client::Options {
    client::Options::v2(initialize)
}

side! {
    {
        agent agent::Connection, V2,
        agent::ClientRequest, dispatch::ClientRequest,
        agent::ClientNotification, dispatch::ClientNotification
    };
    /// An agent of version 2: handlers for the requests and notifications of a client.
    ///
    /// Spec: [schema](https://agentclientprotocol.com/protocol/v2/schema)
    Agent by
    /// Connects an agent with a client. Returns the future that runs the connection, and the client
    /// as a [`Peer`].
    connect_agent with Handles,
    /// An [`Agent`] on one thread: it and its futures need not be `Send`.
    ///
    /// Spec: [schema](https://agentclientprotocol.com/protocol/v2/schema)
    LocalAgent by
    /// Connects an agent on one thread with a client; see [`connect_agent`].
    connect_local_agent with LocalHandles;
    required {
        /// Negotiates version and capabilities. See [`InitializeRequest`].
        initialize(InitializeRequest) -> InitializeResponse;
        /// Opens a new session. See [`NewSessionRequest`].
        new_session(NewSessionRequest) -> NewSessionResponse;
        /// Accepts a prompt. Updates report its progress. See [`PromptRequest`].
        prompt(PromptRequest) -> PromptResponse;
    }
    optional {
        /// Logs the user in. See [`LoginAuthRequest`].
        login_auth(LoginAuthRequest) -> LoginAuthResponse;
        /// Logs the user out. See [`LogoutAuthRequest`].
        logout_auth(LogoutAuthRequest) -> LogoutAuthResponse;
        /// Resumes a session. See [`ResumeSessionRequest`].
        resume_session(ResumeSessionRequest) -> ResumeSessionResponse;
        /// Closes a session, which may be resumed later. See [`CloseSessionRequest`].
        close_session(CloseSessionRequest) -> CloseSessionResponse;
        /// Lists sessions. See [`ListSessionsRequest`].
        list_sessions(ListSessionsRequest) -> ListSessionsResponse;
        /// Deletes a session. See [`DeleteSessionRequest`].
        delete_session(DeleteSessionRequest) -> DeleteSessionResponse;
        /// Sets an option of a session. See [`SetSessionConfigOptionRequest`].
        set_session_config_option(SetSessionConfigOptionRequest) -> SetSessionConfigOptionResponse;
        /// Cancels a tool call. See [`CancelToolCallRequest`].
        cancel_tool_call(CancelToolCallRequest) -> CancelToolCallResponse;
        /// Cancels the command of a terminal. See [`CancelTerminalRequest`].
        cancel_terminal(CancelTerminalRequest) -> CancelTerminalResponse;
        /// **Unstable.** Returns the state of the login. See [`AuthStatusRequest`].
        auth_status(AuthStatusRequest) -> AuthStatusResponse;
        /// **Unstable.** Lists model providers. See [`ListProvidersRequest`].
        list_providers(ListProvidersRequest) -> ListProvidersResponse;
        /// **Unstable.** Configures a provider. See [`SetProviderRequest`].
        set_provider(SetProviderRequest) -> SetProviderResponse;
        /// **Unstable.** Disables a provider. See [`DisableProviderRequest`].
        disable_provider(DisableProviderRequest) -> DisableProviderResponse;
        /// **Unstable.** Opens a new session with the history of another. See
        /// [`ForkSessionRequest`].
        fork_session(ForkSessionRequest) -> ForkSessionResponse;
        /// **Unstable.** Archives a session. See [`ArchiveSessionRequest`].
        archive_session(ArchiveSessionRequest) -> ArchiveSessionResponse;
        /// **Unstable.** Restores a session from the archive. See [`UnarchiveSessionRequest`].
        unarchive_session(UnarchiveSessionRequest) -> UnarchiveSessionResponse;
        /// **Unstable.** Returns the options that a session would begin with. See
        /// [`SessionOptionsRequest`].
        session_options(SessionOptionsRequest) -> SessionOptionsResponse;
        /// **Unstable.** Returns whether a session is in memory. See [`SessionStatusRequest`].
        session_status(SessionStatusRequest) -> SessionStatusResponse;
        /// **Unstable.** Sets the title of a session. See [`SetSessionTitleRequest`].
        set_session_title(SetSessionTitleRequest) -> SetSessionTitleResponse;
    }
    taken {
    }
    may_be_taken {
        /// Handles the cancellation of a session's work. An idle `state_update` has to follow. See
        /// [`CancelSessionNotification`].
        cancel_session(CancelSessionNotification);
        /// **Unstable.** Handles a notification of a client's MCP server. See
        /// [`MessageMcpNotification`].
        message_mcp(MessageMcpNotification);
    }
}

side! {
    {
        client machine::Client, V2,
        client::AgentRequest, dispatch::AgentRequest,
        client::AgentNotification, dispatch::AgentNotification
    };
    /// A client of version 2: handlers for the requests and notifications of an agent.
    ///
    /// Spec: [schema](https://agentclientprotocol.com/protocol/v2/schema)
    Client by
    /// Connects a client with an agent. Returns the future that runs the connection, and the agent
    /// as [`Sessions`].
    connect_client with ClientHandles,
    /// A [`Client`] on one thread: it and its futures need not be `Send`.
    ///
    /// Spec: [schema](https://agentclientprotocol.com/protocol/v2/schema)
    LocalClient by
    /// Connects a client on one thread with an agent; see [`connect_client`].
    connect_local_client with LocalClientHandles;
    required {
        /// Requests the user's permission. See [`RequestPermissionRequest`].
        request_permission(RequestPermissionRequest) -> RequestPermissionResponse;
    }
    optional {
        /// Requests input of the user. See [`CreateElicitationRequest`].
        create_elicitation(CreateElicitationRequest) -> CreateElicitationResponse;
        /// **Unstable.** Forwards a request to a client's MCP server. See [`MessageMcpRequest`].
        message_mcp(MessageMcpRequest) -> MessageMcpResponse;
    }
    taken {
        /// Handles an update of a session. See [`UpdateSessionNotification`].
        update_session(UpdateSessionNotification);
    }
    may_be_taken {
        /// Handles the completion of an elicitation by URL. See
        /// [`CompleteElicitationNotification`].
        complete_elicitation(CompleteElicitationNotification);
        /// **Unstable.** Handles a change of the authentication state. See
        /// [`AuthStatusUpdateNotification`].
        auth_status_update(AuthStatusUpdateNotification);
    }
}
