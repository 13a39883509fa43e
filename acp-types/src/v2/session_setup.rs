//! Beginning a session, and coming back to one.
//!
//! Spec: [Session Setup](https://agentclientprotocol.com/protocol/v2/session-setup)
use super::session_config_options::SessionConfigOption;
use super::slash_commands::AvailableCommand;
use super::system_prompt::SystemPrompt;
pub use crate::shared::session_setup::{
    CloseSessionRequest, CloseSessionResponse, EnvVariable, HttpHeader, McpServerAcp, SessionId,
};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::{object, open_union, string_id};

string_id! {
    /// A path that begins at the root, as its own system writes it. It is kept as it came, and not checked.
    ///
    /// Spec: [`AbsolutePath`](https://agentclientprotocol.com/protocol/v2/schema#absolutepath)
    pub struct AbsolutePath;
}

object! {
    /// The client begins a session.
    ///
    /// Method `session/new`. Spec: [`NewSessionRequest`](https://agentclientprotocol.com/protocol/v2/schema#newsessionrequest)
    #[doc(alias = "session/new")]
    pub struct NewSessionRequest {
        /// The folder that the session works in.
        cwd: AbsolutePath = "cwd",
    }
    optional {
        /// More folders that belong to the session.
        additional_directories: Vec<AbsolutePath> = "additionalDirectories" [default_on_null],
        /// MCP servers that the agent shall connect to.
        mcp_servers: Vec<McpServer> = "mcpServers" [default_on_null],
        /// **Unstable.** What the client tells the model.
        system_prompt: Box<SystemPrompt> = "systemPrompt",
    }
    and "_meta"
}

object! {
    /// The session that has begun.
    ///
    /// Method `session/new`. Spec: [`NewSessionResponse`](https://agentclientprotocol.com/protocol/v2/schema#newsessionresponse)
    pub struct NewSessionResponse {
        /// Names it from now on.
        session_id: SessionId = "sessionId",
    }
    optional {
        /// Its options, where the agent has such.
        config_options: Vec<SessionConfigOption> = "configOptions" [default_on_error, skip_invalid_items],
        /// Its commands, where the agent has such.
        available_commands: Vec<AvailableCommand> = "availableCommands" [default_on_error, skip_invalid_items],
    }
    and "_meta"
}

object! {
    /// The client comes back to a session, with its history or without.
    ///
    /// Method `session/resume`. Spec: [`ResumeSessionRequest`](https://agentclientprotocol.com/protocol/v2/schema#resumesessionrequest)
    #[doc(alias = "session/resume")]
    pub struct ResumeSessionRequest {
        /// Which one.
        session_id: SessionId = "sessionId",
        /// The folder that the session works in.
        cwd: AbsolutePath = "cwd",
    }
    optional {
        /// More folders that belong to the session.
        additional_directories: Vec<AbsolutePath> = "additionalDirectories" [default_on_null],
        /// MCP servers that the agent shall connect to.
        mcp_servers: Vec<McpServer> = "mcpServers" [default_on_null],
        /// From where its history shall be told; absent means not at all.
        replay_from: ReplayFrom = "replayFrom",
        /// **Unstable.** What the client tells the model.
        system_prompt: Box<SystemPrompt> = "systemPrompt",
    }
    and "_meta"
}

open_union! {
    /// From where the history of a session shall be told. An agent refuses one that it does not know.
    ///
    /// Spec: [`ReplayFrom`](https://agentclientprotocol.com/protocol/v2/schema#replayfrom)
    pub enum ReplayFrom by "type" {
        /// From its beginning.
        Start(ReplayFromStart) = "start",
    }
}

object! {
    /// The history of a session shall be told from its beginning.
    ///
    /// Spec: [`ReplayFromStart`](https://agentclientprotocol.com/protocol/v2/schema#replayfromstart)
    pub struct ReplayFromStart {}
    and "_meta"
}

object! {
    /// The history has been told, how the session stands too, and it goes on.
    ///
    /// Method `session/resume`. Spec: [`ResumeSessionResponse`](https://agentclientprotocol.com/protocol/v2/schema#resumesessionresponse)
    pub struct ResumeSessionResponse {}
    optional {
        /// Its options, where the agent has such.
        config_options: Vec<SessionConfigOption> = "configOptions" [default_on_error, skip_invalid_items],
        /// Its commands, where the agent has such.
        available_commands: Vec<AvailableCommand> = "availableCommands" [default_on_error, skip_invalid_items],
    }
    and "_meta"
}

object! {
    /// **Unstable.** The client begins a session with the history of another.
    ///
    /// Method `session/fork`. Spec: [`ForkSessionRequest`](https://agentclientprotocol.com/protocol/v2/draft/schema#forksessionrequest)
    #[doc(alias = "session/fork")]
    pub struct ForkSessionRequest {
        /// That other one.
        session_id: SessionId = "sessionId",
        /// The folder that the new session works in.
        cwd: AbsolutePath = "cwd",
    }
    optional {
        /// More folders that belong to the new session.
        additional_directories: Vec<AbsolutePath> = "additionalDirectories" [default_on_null],
        /// MCP servers that the agent shall connect to.
        mcp_servers: Vec<McpServer> = "mcpServers" [default_on_null],
        /// What the client tells the model.
        system_prompt: Box<SystemPrompt> = "systemPrompt",
    }
    and "_meta"
}

object! {
    /// **Unstable.** The new session that has begun.
    ///
    /// Method `session/fork`. Spec: [`ForkSessionResponse`](https://agentclientprotocol.com/protocol/v2/draft/schema#forksessionresponse)
    pub struct ForkSessionResponse {
        /// Names it from now on.
        session_id: SessionId = "sessionId",
    }
    optional {
        /// Its options, where the agent has such.
        config_options: Vec<SessionConfigOption> = "configOptions" [default_on_error, skip_invalid_items],
        /// Its commands, where the agent has such.
        available_commands: Vec<AvailableCommand> = "availableCommands" [default_on_error, skip_invalid_items],
    }
    and "_meta"
}

open_union! {
    /// How an agent reaches an MCP server. An agent refuses one that it does not know.
    ///
    /// Spec: [`McpServer`](https://agentclientprotocol.com/protocol/v2/schema#mcpserver)
    pub enum McpServer by "type" {
        /// Over HTTP, where the agent's `session.mcp.http` says so.
        Http(McpServerHttp) = "http",
        /// **Unstable.** Over the connection itself, where the agent's `session.mcp.acp` says so.
        Acp(McpServerAcp) = "acp",
        /// Over the standard streams of a program, where the agent's `session.mcp.stdio` says so.
        Stdio(McpServerStdio) = "stdio",
    }
}

object! {
    /// An MCP server over HTTP.
    ///
    /// Spec: [`McpServerHttp`](https://agentclientprotocol.com/protocol/v2/schema#mcpserverhttp)
    pub struct McpServerHttp {
        /// What to call it.
        name: String = "name",
        /// Where it is.
        url: String = "url",
    }
    optional {
        /// Headers to send with each request.
        headers: Vec<HttpHeader> = "headers" [default_on_null],
    }
    and "_meta"
}

object! {
    /// An MCP server that is a program of its own.
    ///
    /// Spec: [`McpServerStdio`](https://agentclientprotocol.com/protocol/v2/schema#mcpserverstdio)
    pub struct McpServerStdio {
        /// What to call it.
        name: String = "name",
        /// The program.
        command: AbsolutePath = "command",
    }
    optional {
        /// Its arguments.
        args: Vec<String> = "args" [default_on_null],
        /// Variables to set in its environment.
        env: Vec<EnvVariable> = "env" [default_on_null],
    }
    and "_meta"
}
