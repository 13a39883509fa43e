//! Agents and clients in version 1 of the protocol.
use super::driver::{Driver, Serve};
use super::machine;
use super::shared::Shared;
use super::side::side;
use super::{Context, Extension, Options, Peer, Sessions};
use crate::agent;
use crate::client::{self, Diagnostic};
use crate::methods::RequestParams;
use crate::v1::authentication::{
    AuthStatusRequest, AuthStatusResponse, AuthStatusUpdateNotification, AuthenticateRequest,
    AuthenticateResponse, LogoutRequest, LogoutResponse,
};
use crate::v1::dispatch;
use crate::v1::elicitation::{
    CompleteElicitationNotification, CreateElicitationRequest, CreateElicitationResponse,
};
use crate::v1::file_system::{
    ReadTextFileRequest, ReadTextFileResponse, WriteTextFileRequest, WriteTextFileResponse,
};
use crate::v1::initialization::ProtocolVersion;
use crate::v1::initialization::{InitializeRequest, InitializeResponse};
use crate::v1::mcp_over_acp::{MessageMcpNotification, MessageMcpRequest, MessageMcpResponse};
use crate::v1::prompt_turn::{
    CancelNotification, PromptRequest, PromptResponse, SessionNotification,
};
use crate::v1::providers::{
    DisableProviderRequest, DisableProviderResponse, ListProvidersRequest, ListProvidersResponse,
    SetProviderRequest, SetProviderResponse,
};
use crate::v1::session_config_options::{
    SetSessionConfigOptionRequest, SetSessionConfigOptionResponse,
};
use crate::v1::session_list::{
    ArchiveSessionRequest, ArchiveSessionResponse, DeleteSessionRequest, DeleteSessionResponse,
    ListSessionsRequest, ListSessionsResponse, SetSessionTitleRequest, SetSessionTitleResponse,
    UnarchiveSessionRequest, UnarchiveSessionResponse,
};
use crate::v1::session_modes::{SetSessionModeRequest, SetSessionModeResponse};
use crate::v1::session_setup::{
    CloseSessionRequest, CloseSessionResponse, ForkSessionRequest, ForkSessionResponse,
    LoadSessionRequest, LoadSessionResponse, NewSessionRequest, NewSessionResponse,
    ResumeSessionRequest, ResumeSessionResponse,
};
use crate::v1::session_status::{SessionStatusRequest, SessionStatusResponse};
use crate::v1::terminals::{
    CreateTerminalRequest, CreateTerminalResponse, KillTerminalRequest, KillTerminalResponse,
    ReleaseTerminalRequest, ReleaseTerminalResponse, TerminalOutputRequest, TerminalOutputResponse,
    WaitForTerminalExitRequest, WaitForTerminalExitResponse,
};
use crate::v1::tool_calls::{RequestPermissionRequest, RequestPermissionResponse};
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

/// What a client of this version offers.
fn offer(initialize: InitializeRequest) -> client::Options {
    client::Options::v1(initialize)
}

side! {
    {
        agent agent::Connection, V1,
        agent::ClientRequest, dispatch::ClientRequest,
        agent::ClientNotification, dispatch::ClientNotification
    };
    /// An agent in version 1: what it does with the requests and notifications of a client.
    ///
    /// Spec: [schema](https://agentclientprotocol.com/protocol/v1/schema)
    Agent by
    /// Connects an agent with a client: the future runs the connection until it ends, the [`Peer`] is the client.
    connect_agent,
    /// An [`Agent`] that stays on one thread: it may hold what is not `Send`, also while it waits.
    ///
    /// Spec: [schema](https://agentclientprotocol.com/protocol/v1/schema)
    LocalAgent by
    /// Connects an agent that stays on one thread with a client; see [`connect_agent`].
    connect_local_agent;
    required {
        /// Agrees on the version and on what either side can do. See [`InitializeRequest`].
        initialize(InitializeRequest) -> InitializeResponse;
        /// Begins a session. See [`NewSessionRequest`].
        new_session(NewSessionRequest) -> NewSessionResponse;
        /// Works on what the user said; the answer ends the turn. See [`PromptRequest`].
        prompt(PromptRequest) -> PromptResponse;
    }
    optional {
        /// Logs the user in. See [`AuthenticateRequest`].
        authenticate(AuthenticateRequest) -> AuthenticateResponse;
        /// Logs the user out. See [`LogoutRequest`].
        logout(LogoutRequest) -> LogoutResponse;
        /// Comes back to a session and tells it again before answering. See [`LoadSessionRequest`].
        load_session(LoadSessionRequest) -> LoadSessionResponse;
        /// Comes back to a session without telling it again. See [`ResumeSessionRequest`].
        resume_session(ResumeSessionRequest) -> ResumeSessionResponse;
        /// Ends a session that may be come back to. See [`CloseSessionRequest`].
        close_session(CloseSessionRequest) -> CloseSessionResponse;
        /// Lists sessions. See [`ListSessionsRequest`].
        list_sessions(ListSessionsRequest) -> ListSessionsResponse;
        /// Deletes a session. See [`DeleteSessionRequest`].
        delete_session(DeleteSessionRequest) -> DeleteSessionResponse;
        /// Switches the mode of a session. See [`SetSessionModeRequest`].
        set_session_mode(SetSessionModeRequest) -> SetSessionModeResponse;
        /// Sets an option of a session. See [`SetSessionConfigOptionRequest`].
        set_session_config_option(SetSessionConfigOptionRequest) -> SetSessionConfigOptionResponse;
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
        /// Takes that the turn of a session is cancelled; its prompt is still to be answered, with `cancelled`. See [`CancelNotification`].
        cancel(CancelNotification);
        /// **Unstable.** Takes a notification of an MCP server on the client's side. See [`MessageMcpNotification`].
        message_mcp(MessageMcpNotification);
    }
}

side! {
    {
        client machine::Client, V1,
        client::AgentRequest, dispatch::AgentRequest,
        client::AgentNotification, dispatch::AgentNotification
    };
    /// A client in version 1: what it does with the requests and notifications of an agent.
    ///
    /// Spec: [schema](https://agentclientprotocol.com/protocol/v1/schema)
    Client by
    /// Connects a client with an agent: the future runs the connection until it ends, [`Sessions`] speak to the agent.
    connect_client,
    /// A [`Client`] that stays on one thread: it may hold what is not `Send`, also while it waits.
    ///
    /// Spec: [schema](https://agentclientprotocol.com/protocol/v1/schema)
    LocalClient by
    /// Connects a client that stays on one thread with an agent; see [`connect_client`].
    connect_local_client;
    required {
        /// Asks the user for permission. See [`RequestPermissionRequest`].
        request_permission(RequestPermissionRequest) -> RequestPermissionResponse;
    }
    optional {
        /// Reads a file. See [`ReadTextFileRequest`].
        read_text_file(ReadTextFileRequest) -> ReadTextFileResponse;
        /// Writes a file. See [`WriteTextFileRequest`].
        write_text_file(WriteTextFileRequest) -> WriteTextFileResponse;
        /// Runs a command in a terminal. See [`CreateTerminalRequest`].
        create_terminal(CreateTerminalRequest) -> CreateTerminalResponse;
        /// Gives what a terminal has shown. See [`TerminalOutputRequest`].
        terminal_output(TerminalOutputRequest) -> TerminalOutputResponse;
        /// Waits for the command of a terminal to end. See [`WaitForTerminalExitRequest`].
        wait_for_terminal_exit(WaitForTerminalExitRequest) -> WaitForTerminalExitResponse;
        /// Ends the command of a terminal. See [`KillTerminalRequest`].
        kill_terminal(KillTerminalRequest) -> KillTerminalResponse;
        /// Lets a terminal go, and ends its command. See [`ReleaseTerminalRequest`].
        release_terminal(ReleaseTerminalRequest) -> ReleaseTerminalResponse;
        /// Asks the user for data. See [`CreateElicitationRequest`].
        create_elicitation(CreateElicitationRequest) -> CreateElicitationResponse;
        /// **Unstable.** Asks an MCP server on the client's side. See [`MessageMcpRequest`].
        message_mcp(MessageMcpRequest) -> MessageMcpResponse;
    }
    taken {
        /// Takes an update of a session. See [`SessionNotification`].
        session_update(SessionNotification);
    }
    may_be_taken {
        /// Takes that an elicitation behind a URL is done. See [`CompleteElicitationNotification`].
        complete_elicitation(CompleteElicitationNotification);
        /// **Unstable.** Takes the state of the login. See [`AuthStatusUpdateNotification`].
        auth_status_update(AuthStatusUpdateNotification);
    }
}
