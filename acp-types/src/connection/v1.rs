//! Agents and clients of protocol version 1.
use super::driver::{Driver, Serve};
use super::machine;
use super::shared::SharedConnection;
use super::side::side;
use super::{ConnectionOptions, Context, Extension, Peer, Sessions};
use crate::agent;
use crate::client::{self, Diagnostic};
use crate::methods::RequestParams;
use crate::v1::authentication::*;
use crate::v1::dispatch;
use crate::v1::elicitation::*;
use crate::v1::file_system::*;
use crate::v1::initialization::*;
use crate::v1::mcp_over_acp::*;
use crate::v1::prompt_turn::*;
use crate::v1::providers::*;
use crate::v1::session_config_options::*;
use crate::v1::session_list::*;
use crate::v1::session_modes::*;
use crate::v1::session_setup::*;
use crate::v1::session_status::*;
use crate::v1::terminals::*;
use crate::v1::tool_calls::*;
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
const VERSION: ProtocolVersion = ProtocolVersion::V1;

/// Returns the offer of a client of this version.
fn offer(initialize: InitializeRequest) -> client::Options {
    client::Options::v1(initialize)
}

side! {
    {
        agent agent::Connection, V1,
        agent::ClientRequest, dispatch::ClientRequest,
        agent::ClientNotification, dispatch::ClientNotification
    };
    /// An agent of version 1: handlers for the requests and notifications of a client.
    ///
    /// [The page of handlers](crate::guide::handlers) has the methods as an implementation writes
    /// them.
    ///
    /// ```
    /// use acp_types::connection::{Context, Result, async_trait, v1};
    /// use acp_types::v1::initialization::*;
    /// use acp_types::v1::prompt_turn::*;
    /// use acp_types::v1::session_setup::*;
    ///
    /// struct Silent;
    ///
    /// #[async_trait]
    /// impl v1::Agent for Silent {
    ///     async fn initialize(&self, _: InitializeRequest, _: Context) -> Result<InitializeResponse> {
    ///         Ok(InitializeResponse::new(ProtocolVersion::V1))
    ///     }
    ///
    ///     async fn new_session(&self, _: NewSessionRequest, _: Context) -> Result<NewSessionResponse> {
    ///         Ok(NewSessionResponse::new("session-1"))
    ///     }
    ///
    ///     async fn prompt(&self, _: PromptRequest, _: Context) -> Result<PromptResponse> {
    ///         Ok(PromptResponse::new(StopReason::EndTurn))
    ///     }
    /// }
    /// ```
    ///
    /// Spec: [schema](https://agentclientprotocol.com/protocol/v1/schema)
    Agent by
    /// Connects an agent with a client. Returns the future that runs the connection, and the client
    /// as a [`Peer`].
    connect_agent with Handles,
    /// An [`Agent`] on one thread: it and its futures need not be `Send`.
    ///
    /// Spec: [schema](https://agentclientprotocol.com/protocol/v1/schema)
    LocalAgent by
    /// Connects an agent on one thread with a client; see [`connect_agent`].
    connect_local_agent with LocalHandles;
    required {
        /// Negotiates version and capabilities. See [`InitializeRequest`].
        initialize(InitializeRequest) -> InitializeResponse;
        /// Opens a new session. See [`NewSessionRequest`].
        new_session(NewSessionRequest) -> NewSessionResponse;
        /// Processes a prompt. The response ends the turn. See [`PromptRequest`].
        prompt(PromptRequest) -> PromptResponse;
    }
    optional {
        /// Logs the user in. See [`AuthenticateRequest`].
        authenticate(AuthenticateRequest) -> AuthenticateResponse;
        /// Logs the user out. See [`LogoutRequest`].
        logout(LogoutRequest) -> LogoutResponse;
        /// Loads a session, and replays its history before the response. See
        /// [`LoadSessionRequest`].
        load_session(LoadSessionRequest) -> LoadSessionResponse;
        /// Resumes a session without a replay. See [`ResumeSessionRequest`].
        resume_session(ResumeSessionRequest) -> ResumeSessionResponse;
        /// Closes a session, which may be resumed later. See [`CloseSessionRequest`].
        close_session(CloseSessionRequest) -> CloseSessionResponse;
        /// Lists sessions. See [`ListSessionsRequest`].
        list_sessions(ListSessionsRequest) -> ListSessionsResponse;
        /// Deletes a session. See [`DeleteSessionRequest`].
        delete_session(DeleteSessionRequest) -> DeleteSessionResponse;
        /// Sets the mode of a session. See [`SetSessionModeRequest`].
        set_session_mode(SetSessionModeRequest) -> SetSessionModeResponse;
        /// Sets an option of a session. See [`SetSessionConfigOptionRequest`].
        set_session_config_option(SetSessionConfigOptionRequest) -> SetSessionConfigOptionResponse;
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
        /// Handles the cancellation of a turn. The prompt has still to be answered, with
        /// `cancelled`. See [`CancelNotification`].
        cancel(CancelNotification);
        /// **Unstable.** Handles a notification of a client's MCP server. See
        /// [`MessageMcpNotification`].
        message_mcp(MessageMcpNotification);
    }
}

side! {
    {
        client machine::Client, V1,
        client::AgentRequest, dispatch::AgentRequest,
        client::AgentNotification, dispatch::AgentNotification
    };
    /// A client of version 1: handlers for the requests and notifications of an agent.
    ///
    /// [The page of handlers](crate::guide::handlers) has the methods as an implementation writes
    /// them.
    ///
    /// ```
    /// use acp_types::connection::{Context, Peer, Result, async_trait, v1};
    /// use acp_types::jsonrpc_core::wire::Extra;
    /// use acp_types::v1::prompt_turn::SessionNotification;
    /// use acp_types::v1::tool_calls::*;
    ///
    /// struct Viewer;
    ///
    /// #[async_trait]
    /// impl v1::Client for Viewer {
    ///     async fn request_permission(
    ///         &self,
    ///         _: RequestPermissionRequest,
    ///         _: Context,
    ///     ) -> Result<RequestPermissionResponse> {
    ///         let outcome = RequestPermissionOutcome::Cancelled(Extra::default());
    ///         Ok(RequestPermissionResponse::new(outcome))
    ///     }
    ///
    ///     async fn session_update(&self, notification: SessionNotification, _: Peer) {
    ///         println!("{}", notification.update.tag());
    ///     }
    /// }
    /// ```
    ///
    /// Spec: [schema](https://agentclientprotocol.com/protocol/v1/schema)
    Client by
    /// Connects a client with an agent. Returns the future that runs the connection, and the agent
    /// as [`Sessions`].
    connect_client with ClientHandles,
    /// A [`Client`] on one thread: it and its futures need not be `Send`.
    ///
    /// Spec: [schema](https://agentclientprotocol.com/protocol/v1/schema)
    LocalClient by
    /// Connects a client on one thread with an agent; see [`connect_client`].
    connect_local_client with LocalClientHandles;
    required {
        /// Requests the user's permission. See [`RequestPermissionRequest`].
        request_permission(RequestPermissionRequest) -> RequestPermissionResponse;
    }
    optional {
        /// Reads a file. See [`ReadTextFileRequest`].
        read_text_file(ReadTextFileRequest) -> ReadTextFileResponse;
        /// Writes a file. See [`WriteTextFileRequest`].
        write_text_file(WriteTextFileRequest) -> WriteTextFileResponse;
        /// Runs a command in a terminal. See [`CreateTerminalRequest`].
        create_terminal(CreateTerminalRequest) -> CreateTerminalResponse;
        /// Returns the output of a terminal. See [`TerminalOutputRequest`].
        terminal_output(TerminalOutputRequest) -> TerminalOutputResponse;
        /// Waits for the end of a terminal's command. See [`WaitForTerminalExitRequest`].
        wait_for_terminal_exit(WaitForTerminalExitRequest) -> WaitForTerminalExitResponse;
        /// Kills the command of a terminal. See [`KillTerminalRequest`].
        kill_terminal(KillTerminalRequest) -> KillTerminalResponse;
        /// Releases a terminal, and kills its command. See [`ReleaseTerminalRequest`].
        release_terminal(ReleaseTerminalRequest) -> ReleaseTerminalResponse;
        /// Requests input of the user. See [`CreateElicitationRequest`].
        create_elicitation(CreateElicitationRequest) -> CreateElicitationResponse;
        /// **Unstable.** Forwards a request to a client's MCP server. See [`MessageMcpRequest`].
        message_mcp(MessageMcpRequest) -> MessageMcpResponse;
    }
    taken {
        /// Handles an update of a session. See [`SessionNotification`].
        session_update(SessionNotification);
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
