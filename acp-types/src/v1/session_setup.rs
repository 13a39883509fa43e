//! Session setup: new, loaded, resumed and forked sessions.
//!
//! Spec: [Session Setup](https://agentclientprotocol.com/protocol/v1/session-setup)
use super::session_config_options::{InitialSessionConfigOption, SessionConfigOption};
use super::session_modes::SessionModeState;
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
    /// Spec: [`NewSessionRequest`](https://agentclientprotocol.com/protocol/v1/schema#newsessionrequest)
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
        /// Absolute path of the working directory.
        cwd: String = "cwd",
        /// MCP servers for the agent to connect to.
        mcp_servers: Vec<McpServer> = "mcpServers" [default_on_null] or "[]",
    }
    optional {
        /// Absolute paths of additional directories.
        additional_directories: Vec<String> = "additionalDirectories" [default_on_null],
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
    /// Spec: [`NewSessionResponse`](https://agentclientprotocol.com/protocol/v1/schema#newsessionresponse)
    pub struct NewSessionResponse {
        /// Identifier of the session.
        session_id: SessionId = "sessionId",
    }
    optional {
        /// Modes, if the agent has any.
        modes: SessionModeState = "modes" [default_on_error],
        /// Configuration options, if the agent has any.
        config_options: Vec<SessionConfigOption> = "configOptions" [default_on_error, skip_invalid_items],
    }
    and "_meta"
}

object! {
    /// A request to load a session, with a replay of its history.
    ///
    /// Method `session/load`.
    /// Spec: [`LoadSessionRequest`](https://agentclientprotocol.com/protocol/v1/schema#loadsessionrequest)
    #[doc(alias = "session/load")]
    pub struct LoadSessionRequest {
        /// Identifier of the session.
        session_id: SessionId = "sessionId",
        /// Absolute path of the working directory.
        cwd: String = "cwd",
        /// MCP servers for the agent to connect to.
        mcp_servers: Vec<McpServer> = "mcpServers" [default_on_null] or "[]",
    }
    optional {
        /// Absolute paths of additional directories.
        additional_directories: Vec<String> = "additionalDirectories" [default_on_null],
        /// Instructions for the model.
        system_prompt: Box<SystemPrompt> = "systemPrompt",
        /// **Unstable.** Initial values of options, in order, each at most once. Requires the agent's
        /// `options`.
        config_options: Vec<InitialSessionConfigOption> = "configOptions" [default_on_null],
    }
    and "_meta"
}

object! {
    /// The session is loaded, and its replay is complete.
    ///
    /// Method `session/load`.
    /// Spec: [`LoadSessionResponse`](https://agentclientprotocol.com/protocol/v1/schema#loadsessionresponse)
    pub struct LoadSessionResponse {}
    optional {
        /// Modes, if the agent has any.
        modes: SessionModeState = "modes" [default_on_error],
        /// Configuration options, if the agent has any.
        config_options: Vec<SessionConfigOption> = "configOptions" [default_on_error, skip_invalid_items],
    }
    and "_meta"
}

object! {
    /// A request to resume a session without a replay of its history.
    ///
    /// Method `session/resume`.
    /// Spec: [`ResumeSessionRequest`](https://agentclientprotocol.com/protocol/v1/schema#resumesessionrequest)
    #[doc(alias = "session/resume")]
    pub struct ResumeSessionRequest {
        /// Identifier of the session.
        session_id: SessionId = "sessionId",
        /// Absolute path of the working directory.
        cwd: String = "cwd",
    }
    optional {
        /// MCP servers for the agent to connect to.
        mcp_servers: Vec<McpServer> = "mcpServers" [default_on_null],
        /// Absolute paths of additional directories.
        additional_directories: Vec<String> = "additionalDirectories" [default_on_null],
        /// Instructions for the model.
        system_prompt: Box<SystemPrompt> = "systemPrompt",
        /// **Unstable.** Initial values of options, in order, each at most once. Requires the agent's
        /// `options`.
        config_options: Vec<InitialSessionConfigOption> = "configOptions" [default_on_null],
    }
    and "_meta"
}

object! {
    /// The session is resumed.
    ///
    /// Method `session/resume`.
    /// Spec: [`ResumeSessionResponse`](https://agentclientprotocol.com/protocol/v1/schema#resumesessionresponse)
    pub struct ResumeSessionResponse {}
    optional {
        /// Modes, if the agent has any.
        modes: SessionModeState = "modes" [default_on_error],
        /// Configuration options, if the agent has any.
        config_options: Vec<SessionConfigOption> = "configOptions" [default_on_error, skip_invalid_items],
    }
    and "_meta"
}

object! {
    /// **Unstable.** A request for a new session with the history of another.
    ///
    /// Method `session/fork`.
    /// Spec: [`ForkSessionRequest`](https://agentclientprotocol.com/protocol/v1/draft/schema#forksessionrequest)
    #[doc(alias = "session/fork")]
    pub struct ForkSessionRequest {
        /// Identifier of the session to fork.
        session_id: SessionId = "sessionId",
        /// Absolute path of the new session's working directory.
        cwd: String = "cwd",
    }
    optional {
        /// The cursor to fork at, which `capabilities.fork` permits; absent for the whole session.
        cursor_id: CursorId = "cursorId",
        /// MCP servers for the agent to connect to.
        mcp_servers: Vec<McpServer> = "mcpServers" [default_on_null],
        /// Absolute paths of the new session's additional directories.
        additional_directories: Vec<String> = "additionalDirectories" [default_on_null],
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
    /// Spec: [`ForkSessionResponse`](https://agentclientprotocol.com/protocol/v1/draft/schema#forksessionresponse)
    pub struct ForkSessionResponse {
        /// Identifier of the session.
        session_id: SessionId = "sessionId",
    }
    optional {
        /// Modes, if the agent has any.
        modes: SessionModeState = "modes" [default_on_error],
        /// Configuration options, if the agent has any.
        config_options: Vec<SessionConfigOption> = "configOptions" [default_on_error, skip_invalid_items],
    }
    and "_meta"
}

object! {
    /// **Unstable.** A request for the options that a session would begin with, without effects.
    ///
    /// Method `session/options`.
    /// Spec: [`SessionOptionsRequest`](https://agentclientprotocol.com/protocol/v1/draft/schema#sessionoptionsrequest)
    #[doc(alias = "session/options")]
    pub struct SessionOptionsRequest {
        /// Absolute path of the working directory.
        cwd: String = "cwd",
    }
    optional {
        /// Absolute paths of additional directories.
        additional_directories: Vec<String> = "additionalDirectories" [default_on_null],
        /// A session to resume; absent for a new one.
        session_id: SessionId = "sessionId",
    }
    and "_meta"
}

object! {
    /// **Unstable.** The options that a session would begin with at present.
    ///
    /// Method `session/options`.
    /// Spec: [`SessionOptionsResponse`](https://agentclientprotocol.com/protocol/v1/draft/schema#sessionoptionsresponse)
    pub struct SessionOptionsResponse {}
    optional {
        /// Modes, if the agent has any.
        modes: SessionModeState = "modes" [default_on_error],
        /// Configuration options, if the agent has any.
        config_options: Vec<SessionConfigOption> = "configOptions" [default_on_error, skip_invalid_items],
    }
    and "_meta"
}

open_union! {
    /// An MCP server, by transport.
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
        /// HTTP. Requires the agent's `mcpCapabilities.http`.
        Http(McpServerHttp) = "http",
        /// Server-sent events. Requires the agent's `mcpCapabilities.sse`.
        Sse(McpServerSse) = "sse",
        /// **Unstable.** The ACP connection. Requires the agent's `mcpCapabilities.acp`.
        Acp(McpServerAcp) = "acp",
    }
    untagged {
        /// Standard input and output of a program; the variant without a tag.
        Stdio(McpServerStdio) = "stdio",
    }
}

object! {
    /// An MCP server over HTTP.
    ///
    /// Spec: [`McpServerHttp`](https://agentclientprotocol.com/protocol/v1/schema#mcpserverhttp)
    pub struct McpServerHttp {
        /// Human-readable name.
        name: String = "name",
        /// URL of the server.
        url: String = "url",
        /// Headers of each request.
        headers: Vec<HttpHeader> = "headers" [default_on_null] or "[]",
    }
    and "_meta"
}

object! {
    /// An MCP server over server-sent events.
    ///
    /// Spec: [`McpServerSse`](https://agentclientprotocol.com/protocol/v1/schema#mcpserversse)
    pub struct McpServerSse {
        /// Human-readable name.
        name: String = "name",
        /// URL of the server.
        url: String = "url",
        /// Headers of each request.
        headers: Vec<HttpHeader> = "headers" [default_on_null] or "[]",
    }
    and "_meta"
}

object! {
    /// An MCP server that runs as a program.
    ///
    /// Spec: [`McpServerStdio`](https://agentclientprotocol.com/protocol/v1/schema#mcpserverstdio)
    pub struct McpServerStdio {
        /// Human-readable name.
        name: String = "name",
        /// Absolute path of the program.
        command: String = "command",
        /// Arguments of the program.
        args: Vec<String> = "args" [default_on_null] or "[]",
        /// Additional environment variables.
        env: Vec<EnvVariable> = "env" [default_on_null] or "[]",
    }
    and "_meta"
}
