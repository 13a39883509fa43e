//! Session setup: new, loaded, resumed and forked sessions.
//!
//! Spec: [Session Setup](https://agentclientprotocol.com/protocol/v2/session-setup)
pub use super::paths::AbsolutePath;
use super::session_config_options::{InitialSessionConfigOption, SessionConfigOption};
use super::slash_commands::AvailableCommand;
use super::system_prompt::SystemPrompt;
use crate::shared::session_cursors::CursorId;
pub use crate::shared::session_setup::{
    CloseSessionRequest, CloseSessionResponse, EnvVariable, HttpHeader, McpServerAcp, SessionId,
};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::{object, open_union};

object! {
    /// A request for a new session.
    ///
    /// Method `session/new`.
    /// Spec: [`NewSessionRequest`](https://agentclientprotocol.com/protocol/v2/schema#newsessionrequest)
    #[doc(alias = "session/new")]
    pub struct NewSessionRequest {
        /// Working directory of the session.
        cwd: AbsolutePath = "cwd",
    }
    optional {
        /// Additional directories.
        additional_directories: Vec<AbsolutePath> = "additionalDirectories" [default_on_null],
        /// MCP servers for the agent to connect to.
        mcp_servers: Vec<McpServer> = "mcpServers" [default_on_null],
        /// Instructions for the model.
        system_prompt: Box<SystemPrompt> = "systemPrompt",
        /// **Unstable.** Initial values of options, in order, each at most once. Requires the agent's
        /// `options`.
        config_options: Vec<InitialSessionConfigOption> = "configOptions" [default_on_null],
    }
    and "_meta"
}

object! {
    /// The new session.
    ///
    /// Method `session/new`.
    /// Spec: [`NewSessionResponse`](https://agentclientprotocol.com/protocol/v2/schema#newsessionresponse)
    pub struct NewSessionResponse {
        /// Identifier of the session.
        session_id: SessionId = "sessionId",
    }
    optional {
        /// Configuration options, if the agent has any.
        config_options: Vec<SessionConfigOption> = "configOptions" [default_on_error, skip_invalid_items],
        /// Commands, if the agent has any.
        available_commands: Vec<AvailableCommand> = "availableCommands" [default_on_error, skip_invalid_items],
    }
    and "_meta"
}

object! {
    /// The client resumes a session, with or without a replay of its history.
    ///
    /// Method `session/resume`.
    /// Spec: [`ResumeSessionRequest`](https://agentclientprotocol.com/protocol/v2/schema#resumesessionrequest)
    #[doc(alias = "session/resume")]
    pub struct ResumeSessionRequest {
        /// Identifier of the session.
        session_id: SessionId = "sessionId",
        /// Working directory of the session.
        cwd: AbsolutePath = "cwd",
    }
    optional {
        /// Additional directories.
        additional_directories: Vec<AbsolutePath> = "additionalDirectories" [default_on_null],
        /// MCP servers for the agent to connect to.
        mcp_servers: Vec<McpServer> = "mcpServers" [default_on_null],
        /// Start of the replay; absent means no replay.
        replay_from: ReplayFrom = "replayFrom",
        /// Instructions for the model.
        system_prompt: Box<SystemPrompt> = "systemPrompt",
        /// **Unstable.** Initial values of options, in order, each at most once. Requires the agent's
        /// `options`.
        config_options: Vec<InitialSessionConfigOption> = "configOptions" [default_on_null],
    }
    and "_meta"
}

open_union! {
    /// Start of the replay of a session. An agent rejects an unknown one.
    ///
    /// Spec: [`ReplayFrom`](https://agentclientprotocol.com/protocol/v2/schema#replayfrom)
    pub enum ReplayFrom by "type" {
        /// The beginning of the session.
        Start(ReplayFromStart) = "start",
    }
}

object! {
    /// The replay begins with the first message.
    ///
    /// Spec: [`ReplayFromStart`](https://agentclientprotocol.com/protocol/v2/schema#replayfromstart)
    pub struct ReplayFromStart {}
    and "_meta"
}

object! {
    /// The replay and the state of the session are complete, and the session is open.
    ///
    /// Method `session/resume`.
    /// Spec: [`ResumeSessionResponse`](https://agentclientprotocol.com/protocol/v2/schema#resumesessionresponse)
    pub struct ResumeSessionResponse {}
    optional {
        /// Configuration options, if the agent has any.
        config_options: Vec<SessionConfigOption> = "configOptions" [default_on_error, skip_invalid_items],
        /// Commands, if the agent has any.
        available_commands: Vec<AvailableCommand> = "availableCommands" [default_on_error, skip_invalid_items],
    }
    and "_meta"
}

object! {
    /// **Unstable.** A request for a new session with the history of another.
    ///
    /// Method `session/fork`.
    /// Spec: [`ForkSessionRequest`](https://agentclientprotocol.com/protocol/v2/draft/schema#forksessionrequest)
    #[doc(alias = "session/fork")]
    pub struct ForkSessionRequest {
        /// Identifier of the session to fork.
        session_id: SessionId = "sessionId",
        /// Working directory of the new session.
        cwd: AbsolutePath = "cwd",
    }
    optional {
        /// The cursor to fork at, which `capabilities.fork` permits; absent for the whole session.
        cursor_id: CursorId = "cursorId",
        /// Additional directories of the new session.
        additional_directories: Vec<AbsolutePath> = "additionalDirectories" [default_on_null],
        /// MCP servers for the agent to connect to.
        mcp_servers: Vec<McpServer> = "mcpServers" [default_on_null],
        /// Instructions for the model.
        system_prompt: Box<SystemPrompt> = "systemPrompt",
        /// **Unstable.** Initial values of options, in order, each at most once. Requires the agent's
        /// `options`.
        config_options: Vec<InitialSessionConfigOption> = "configOptions" [default_on_null],
    }
    and "_meta"
}

object! {
    /// **Unstable.** The forked session.
    ///
    /// Method `session/fork`.
    /// Spec: [`ForkSessionResponse`](https://agentclientprotocol.com/protocol/v2/draft/schema#forksessionresponse)
    pub struct ForkSessionResponse {
        /// Identifier of the session.
        session_id: SessionId = "sessionId",
    }
    optional {
        /// Configuration options, if the agent has any.
        config_options: Vec<SessionConfigOption> = "configOptions" [default_on_error, skip_invalid_items],
        /// Commands, if the agent has any.
        available_commands: Vec<AvailableCommand> = "availableCommands" [default_on_error, skip_invalid_items],
    }
    and "_meta"
}

object! {
    /// **Unstable.** A request for the options that a session would begin with, without effects.
    ///
    /// Method `session/options`.
    /// Spec: [`SessionOptionsRequest`](https://agentclientprotocol.com/protocol/v2/draft/schema#sessionoptionsrequest)
    #[doc(alias = "session/options")]
    pub struct SessionOptionsRequest {
        /// Working directory.
        cwd: AbsolutePath = "cwd",
    }
    optional {
        /// Additional directories.
        additional_directories: Vec<AbsolutePath> = "additionalDirectories" [default_on_null],
        /// A session to resume; absent for a new one.
        session_id: SessionId = "sessionId",
    }
    and "_meta"
}

object! {
    /// **Unstable.** The options that a session would begin with at present.
    ///
    /// Method `session/options`.
    /// Spec: [`SessionOptionsResponse`](https://agentclientprotocol.com/protocol/v2/draft/schema#sessionoptionsresponse)
    pub struct SessionOptionsResponse {}
    optional {
        /// Configuration options, if the agent has any.
        config_options: Vec<SessionConfigOption> = "configOptions" [default_on_error, skip_invalid_items],
        /// Commands, possibly not all.
        available_commands: Vec<AvailableCommand> = "availableCommands" [default_on_error, skip_invalid_items],
    }
    and "_meta"
}

object! {
    /// The end of a replay. It follows the last replayed update, and precedes the response to the
    /// request with `replayFrom`.
    ///
    /// Spec: [`ReplayComplete`](https://agentclientprotocol.com/protocol/v2/schema#replaycomplete)
    pub struct ReplayComplete {}
    and "_meta"
}

open_union! {
    /// An MCP server, by transport. An agent refuses an unknown transport.
    ///
    /// Spec: [`McpServer`](https://agentclientprotocol.com/protocol/v2/schema#mcpserver)
    pub enum McpServer by "type" {
        /// HTTP. Requires the agent's `session.mcp.http`.
        Http(McpServerHttp) = "http",
        /// **Unstable.** The ACP connection. Requires the agent's `session.mcp.acp`.
        Acp(McpServerAcp) = "acp",
        /// Standard input and output of a program. Requires the agent's `session.mcp.stdio`.
        Stdio(McpServerStdio) = "stdio",
    }
}

object! {
    /// An MCP server over HTTP.
    ///
    /// Spec: [`McpServerHttp`](https://agentclientprotocol.com/protocol/v2/schema#mcpserverhttp)
    pub struct McpServerHttp {
        /// Human-readable name.
        name: String = "name",
        /// URL of the server.
        url: String = "url",
    }
    optional {
        /// Headers of each request.
        headers: Vec<HttpHeader> = "headers" [default_on_null],
    }
    and "_meta"
}

object! {
    /// An MCP server that runs as a program.
    ///
    /// Spec: [`McpServerStdio`](https://agentclientprotocol.com/protocol/v2/schema#mcpserverstdio)
    pub struct McpServerStdio {
        /// Human-readable name.
        name: String = "name",
        /// The program.
        command: AbsolutePath = "command",
    }
    optional {
        /// Arguments of the program.
        args: Vec<String> = "args" [default_on_null],
        /// Additional environment variables.
        env: Vec<EnvVariable> = "env" [default_on_null],
    }
    and "_meta"
}
