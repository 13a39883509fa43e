//! Beginning a session, and coming back to one.
//!
//! Spec: [Session Setup](https://agentclientprotocol.com/protocol/v1/session-setup)
use super::session_config_options::SessionConfigOption;
use super::session_modes::SessionModeState;
use super::system_prompt::SystemPrompt;
pub use crate::shared::session_setup::{
    CloseSessionRequest, CloseSessionResponse, EnvVariable, HttpHeader, McpServerAcp, SessionId,
};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::{object, open_union};

object! {
    /// The client begins a session.
    ///
    /// Method `session/new`. Spec: [`NewSessionRequest`](https://agentclientprotocol.com/protocol/v1/schema#newsessionrequest)
    ///
    /// ```
    /// use acp_types::v1::session_setup::{McpServer, McpServerStdio, NewSessionRequest};
    ///
    /// let server = McpServerStdio::new("files", "/usr/bin/mcp-files", Vec::new(), Vec::new());
    /// let request = NewSessionRequest::new("/home/user/project", vec![McpServer::Stdio(server)]);
    /// assert_eq!(
    ///     serde_json::to_string(&request)?,
    ///     r#"{"cwd":"/home/user/project","mcpServers":[{"name":"files","command":"/usr/bin/mcp-files","args":[],"env":[]}]}"#,
    /// );
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    #[doc(alias = "session/new")]
    pub struct NewSessionRequest {
        /// Absolute path of the folder that the session works in.
        cwd: String = "cwd",
        /// MCP servers that the agent shall connect to.
        mcp_servers: Vec<McpServer> = "mcpServers" [default_on_null] or "[]",
    }
    optional {
        /// Absolute paths of more folders that belong to the session.
        additional_directories: Vec<String> = "additionalDirectories" [default_on_null],
        /// **Unstable.** What the client tells the model.
        system_prompt: Box<SystemPrompt> = "systemPrompt",
    }
    and "_meta"
}

object! {
    /// The session that has begun.
    ///
    /// Method `session/new`. Spec: [`NewSessionResponse`](https://agentclientprotocol.com/protocol/v1/schema#newsessionresponse)
    pub struct NewSessionResponse {
        /// Names it from now on.
        session_id: SessionId = "sessionId",
    }
    optional {
        /// Its modes, where the agent has such.
        modes: SessionModeState = "modes" [default_on_error],
        /// Its options, where the agent has such.
        config_options: Vec<SessionConfigOption> = "configOptions" [default_on_error, skip_invalid_items],
    }
    and "_meta"
}

object! {
    /// The client comes back to a session, and wants its history told first.
    ///
    /// Method `session/load`. Spec: [`LoadSessionRequest`](https://agentclientprotocol.com/protocol/v1/schema#loadsessionrequest)
    #[doc(alias = "session/load")]
    pub struct LoadSessionRequest {
        /// Which one.
        session_id: SessionId = "sessionId",
        /// Absolute path of the folder that the session works in.
        cwd: String = "cwd",
        /// MCP servers that the agent shall connect to.
        mcp_servers: Vec<McpServer> = "mcpServers" [default_on_null] or "[]",
    }
    optional {
        /// Absolute paths of more folders that belong to the session.
        additional_directories: Vec<String> = "additionalDirectories" [default_on_null],
        /// **Unstable.** What the client tells the model.
        system_prompt: Box<SystemPrompt> = "systemPrompt",
    }
    and "_meta"
}

object! {
    /// The session's history has been told, and it goes on.
    ///
    /// Method `session/load`. Spec: [`LoadSessionResponse`](https://agentclientprotocol.com/protocol/v1/schema#loadsessionresponse)
    pub struct LoadSessionResponse {}
    optional {
        /// Its modes, where the agent has such.
        modes: SessionModeState = "modes" [default_on_error],
        /// Its options, where the agent has such.
        config_options: Vec<SessionConfigOption> = "configOptions" [default_on_error, skip_invalid_items],
    }
    and "_meta"
}

object! {
    /// The client comes back to a session without its history.
    ///
    /// Method `session/resume`. Spec: [`ResumeSessionRequest`](https://agentclientprotocol.com/protocol/v1/schema#resumesessionrequest)
    #[doc(alias = "session/resume")]
    pub struct ResumeSessionRequest {
        /// Which one.
        session_id: SessionId = "sessionId",
        /// Absolute path of the folder that the session works in.
        cwd: String = "cwd",
    }
    optional {
        /// MCP servers that the agent shall connect to.
        mcp_servers: Vec<McpServer> = "mcpServers" [default_on_null],
        /// Absolute paths of more folders that belong to the session.
        additional_directories: Vec<String> = "additionalDirectories" [default_on_null],
        /// **Unstable.** What the client tells the model.
        system_prompt: Box<SystemPrompt> = "systemPrompt",
    }
    and "_meta"
}

object! {
    /// The session goes on.
    ///
    /// Method `session/resume`. Spec: [`ResumeSessionResponse`](https://agentclientprotocol.com/protocol/v1/schema#resumesessionresponse)
    pub struct ResumeSessionResponse {}
    optional {
        /// Its modes, where the agent has such.
        modes: SessionModeState = "modes" [default_on_error],
        /// Its options, where the agent has such.
        config_options: Vec<SessionConfigOption> = "configOptions" [default_on_error, skip_invalid_items],
    }
    and "_meta"
}

object! {
    /// **Unstable.** The client begins a session with the history of another.
    ///
    /// Method `session/fork`. Spec: [`ForkSessionRequest`](https://agentclientprotocol.com/protocol/v1/draft/schema#forksessionrequest)
    #[doc(alias = "session/fork")]
    pub struct ForkSessionRequest {
        /// That other one.
        session_id: SessionId = "sessionId",
        /// Absolute path of the folder that the new session works in.
        cwd: String = "cwd",
    }
    optional {
        /// MCP servers that the agent shall connect to.
        mcp_servers: Vec<McpServer> = "mcpServers" [default_on_null],
        /// Absolute paths of more folders that belong to the new session.
        additional_directories: Vec<String> = "additionalDirectories" [default_on_null],
        /// What the client tells the model.
        system_prompt: Box<SystemPrompt> = "systemPrompt",
    }
    and "_meta"
}

object! {
    /// **Unstable.** The new session that has begun.
    ///
    /// Method `session/fork`. Spec: [`ForkSessionResponse`](https://agentclientprotocol.com/protocol/v1/draft/schema#forksessionresponse)
    pub struct ForkSessionResponse {
        /// Names it from now on.
        session_id: SessionId = "sessionId",
    }
    optional {
        /// Its modes, where the agent has such.
        modes: SessionModeState = "modes" [default_on_error],
        /// Its options, where the agent has such.
        config_options: Vec<SessionConfigOption> = "configOptions" [default_on_error, skip_invalid_items],
    }
    and "_meta"
}

open_union! {
    /// How an agent reaches an MCP server.
    ///
    /// Spec: [`McpServer`](https://agentclientprotocol.com/protocol/v1/schema#mcpserver)
    ///
    /// ```
    /// use acp_types::v1::session_setup::McpServer;
    ///
    /// let server: McpServer =
    ///     serde_json::from_str(r#"{"type":"http","name":"docs","url":"https://example.com","headers":[]}"#)?;
    /// let McpServer::Http(http) = &server else { panic!("another transport") };
    /// assert_eq!(http.url, "https://example.com");
    ///
    /// let newer = r#"{"type":"pigeon","name":"docs","loft":7}"#;
    /// let server: McpServer = serde_json::from_str(newer)?;
    /// assert!(!server.is_known());
    /// assert_eq!(serde_json::to_string(&server)?, newer);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub enum McpServer by "type" {
        /// Over HTTP, where the agent's `mcpCapabilities.http` says so.
        Http(McpServerHttp) = "http",
        /// Over server-sent events, where the agent's `mcpCapabilities.sse` says so.
        Sse(McpServerSse) = "sse",
        /// **Unstable.** Over the connection itself, where the agent's `mcpCapabilities.acp` says so.
        Acp(McpServerAcp) = "acp",
    }
    untagged {
        /// Over the standard streams of a program; meant when there is no tag.
        Stdio(McpServerStdio) = "stdio",
    }
}

object! {
    /// An MCP server over HTTP.
    ///
    /// Spec: [`McpServerHttp`](https://agentclientprotocol.com/protocol/v1/schema#mcpserverhttp)
    pub struct McpServerHttp {
        /// What to call it.
        name: String = "name",
        /// Where it is.
        url: String = "url",
        /// Headers to send with each request.
        headers: Vec<HttpHeader> = "headers" [default_on_null] or "[]",
    }
    and "_meta"
}

object! {
    /// An MCP server over server-sent events.
    ///
    /// Spec: [`McpServerSse`](https://agentclientprotocol.com/protocol/v1/schema#mcpserversse)
    pub struct McpServerSse {
        /// What to call it.
        name: String = "name",
        /// Where it is.
        url: String = "url",
        /// Headers to send with each request.
        headers: Vec<HttpHeader> = "headers" [default_on_null] or "[]",
    }
    and "_meta"
}

object! {
    /// An MCP server that is a program of its own.
    ///
    /// Spec: [`McpServerStdio`](https://agentclientprotocol.com/protocol/v1/schema#mcpserverstdio)
    pub struct McpServerStdio {
        /// What to call it.
        name: String = "name",
        /// Absolute path of the program.
        command: String = "command",
        /// Its arguments.
        args: Vec<String> = "args" [default_on_null] or "[]",
        /// Variables to set in its environment.
        env: Vec<EnvVariable> = "env" [default_on_null] or "[]",
    }
    and "_meta"
}
