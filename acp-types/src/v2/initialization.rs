//! What the two sides can do, and the version they speak.
//!
//! Spec: [Initialization](https://agentclientprotocol.com/protocol/v2/initialization)
use super::authentication::AuthMethod;
pub use crate::shared::initialization::{
    AuthStatusCapabilities, ElicitationCapabilities, ElicitationFormCapabilities,
    ElicitationUrlCapabilities, Implementation, ProtocolVersion, ProvidersCapabilities,
    SessionAdditionalDirectoriesCapabilities, SessionArchiveCapabilities,
    SessionDeleteCapabilities, SessionForkCapabilities, SessionStatusCapabilities,
    SessionTitleCapabilities,
};
use alloc::boxed::Box;
use alloc::vec::Vec;
use jsonrpc_core::object;

object! {
    /// The client opens the connection and says what it can do.
    ///
    /// Method `initialize`. Spec: [`InitializeRequest`](https://agentclientprotocol.com/protocol/v2/schema#initializerequest)
    ///
    /// ```
    /// use acp_types::v2::initialization::{Implementation, InitializeRequest, ProtocolVersion};
    ///
    /// let info = Implementation::new("my-editor", "1.2.0");
    /// assert_eq!(
    ///     serde_json::to_string(&InitializeRequest::new(ProtocolVersion::V2, info))?,
    ///     r#"{"protocolVersion":2,"info":{"name":"my-editor","version":"1.2.0"}}"#,
    /// );
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    #[doc(alias = "initialize")]
    pub struct InitializeRequest {
        /// The newest version that the client speaks.
        protocol_version: ProtocolVersion = "protocolVersion",
        /// Which program the client is.
        info: Implementation = "info",
    }
    optional {
        /// What the client can do; absent means nothing beyond the baseline.
        capabilities: ClientCapabilities = "capabilities" [default_on_error],
    }
    and "_meta"
}

object! {
    /// The agent answers with the version that both speak, and what it can do.
    ///
    /// Method `initialize`. Spec: [`InitializeResponse`](https://agentclientprotocol.com/protocol/v2/schema#initializeresponse)
    pub struct InitializeResponse {
        /// The version of this connection; the client leaves if it does not speak it.
        protocol_version: ProtocolVersion = "protocolVersion",
        /// Which program the agent is.
        info: Implementation = "info",
    }
    optional {
        /// What the agent can do; absent means nothing beyond the baseline.
        capabilities: AgentCapabilities = "capabilities" [default_on_error],
        /// Ways to log in; absent means that there is none.
        auth_methods: Vec<AuthMethod> = "authMethods" [default_on_error, skip_invalid_items],
    }
    and "_meta"
}

object! {
    /// What a client can do. In this version a capability is there or not; its value is an object.
    ///
    /// Spec: [`ClientCapabilities`](https://agentclientprotocol.com/protocol/v2/schema#clientcapabilities)
    pub struct ClientCapabilities {}
    optional {
        /// Which kinds of login it supports.
        auth: ClientAuthCapabilities = "auth" [default_on_error],
        /// Which ways of asking the user it supports.
        elicitation: ElicitationCapabilities = "elicitation" [default_on_error],
    }
    and "_meta"
}

object! {
    /// Which kinds of login a client supports.
    ///
    /// Spec: [`ClientAuthCapabilities`](https://agentclientprotocol.com/protocol/v2/schema#clientauthcapabilities)
    pub struct ClientAuthCapabilities {}
    optional {
        /// Present when it can run the agent in a terminal to log in.
        terminal: TerminalAuthCapabilities = "terminal" [default_on_error],
    }
    and "_meta"
}

object! {
    /// A client can run the agent in a terminal to log in.
    ///
    /// Spec: [`TerminalAuthCapabilities`](https://agentclientprotocol.com/protocol/v2/schema#terminalauthcapabilities)
    pub struct TerminalAuthCapabilities {}
    and "_meta"
}

object! {
    /// What an agent can do. In this version a capability is there or not; its value is an object.
    ///
    /// Spec: [`AgentCapabilities`](https://agentclientprotocol.com/protocol/v2/schema#agentcapabilities)
    pub struct AgentCapabilities {}
    optional {
        /// Present when it has sessions: then it serves the whole baseline of `session/*`.
        session: Box<SessionCapabilities> = "session" [default_on_error],
        /// What it offers around logging in, beyond `auth/login` and `auth/logout`.
        auth: AgentAuthCapabilities = "auth" [default_on_error],
        /// **Unstable.** Present when it serves `providers/*`.
        providers: ProvidersCapabilities = "providers" [default_on_error],
    }
    and "_meta"
}

object! {
    /// What an agent can do with a session beyond the baseline.
    ///
    /// Spec: [`SessionCapabilities`](https://agentclientprotocol.com/protocol/v2/schema#sessioncapabilities)
    pub struct SessionCapabilities {}
    optional {
        /// Which content it takes in a prompt beyond text and resource links.
        prompt: PromptCapabilities = "prompt" [default_on_error],
        /// Which MCP transports it has.
        mcp: McpCapabilities = "mcp" [default_on_error],
        /// Present when it serves `session/delete`.
        delete: SessionDeleteCapabilities = "delete" [default_on_error],
        /// Present when it takes `additionalDirectories`.
        additional_directories: SessionAdditionalDirectoriesCapabilities = "additionalDirectories" [default_on_error],
        /// **Unstable.** Present when it takes a `systemPrompt`.
        system_prompt: SessionSystemPromptCapabilities = "systemPrompt" [default_on_error],
        /// **Unstable.** Present when it serves `session/fork`.
        fork: SessionForkCapabilities = "fork" [default_on_error],
        /// **Unstable.** Present when it serves `session/archive` and `session/unarchive`.
        archive: SessionArchiveCapabilities = "archive" [default_on_error],
        /// **Unstable.** Present when it serves `session/status`.
        status: SessionStatusCapabilities = "status" [default_on_error],
        /// **Unstable.** Present when it serves `session/set_title`.
        title: SessionTitleCapabilities = "title" [default_on_error],
    }
    and "_meta"
}

object! {
    /// Which content an agent takes in a prompt beyond text and resource links.
    ///
    /// Spec: [`PromptCapabilities`](https://agentclientprotocol.com/protocol/v2/schema#promptcapabilities)
    pub struct PromptCapabilities {}
    optional {
        /// Present when it takes images.
        image: PromptImageCapabilities = "image" [default_on_error],
        /// Present when it takes audio.
        audio: PromptAudioCapabilities = "audio" [default_on_error],
        /// Present when it takes embedded resources.
        embedded_context: PromptEmbeddedContextCapabilities = "embeddedContext" [default_on_error],
    }
    and "_meta"
}

object! {
    /// An agent takes images.
    ///
    /// Spec: [`PromptImageCapabilities`](https://agentclientprotocol.com/protocol/v2/schema#promptimagecapabilities)
    pub struct PromptImageCapabilities {}
    and "_meta"
}

object! {
    /// An agent takes audio.
    ///
    /// Spec: [`PromptAudioCapabilities`](https://agentclientprotocol.com/protocol/v2/schema#promptaudiocapabilities)
    pub struct PromptAudioCapabilities {}
    and "_meta"
}

object! {
    /// An agent takes embedded resources.
    ///
    /// Spec: [`PromptEmbeddedContextCapabilities`](https://agentclientprotocol.com/protocol/v2/schema#promptembeddedcontextcapabilities)
    pub struct PromptEmbeddedContextCapabilities {}
    and "_meta"
}

object! {
    /// Which MCP transports an agent has.
    ///
    /// Spec: [`McpCapabilities`](https://agentclientprotocol.com/protocol/v2/schema#mcpcapabilities)
    pub struct McpCapabilities {}
    optional {
        /// Present when it runs servers as programs.
        stdio: McpStdioCapabilities = "stdio" [default_on_error],
        /// Present when it connects over HTTP.
        http: McpHttpCapabilities = "http" [default_on_error],
        /// **Unstable.** Present when it reaches servers of the client over the connection itself.
        acp: McpAcpCapabilities = "acp" [default_on_error],
    }
    and "_meta"
}

object! {
    /// An agent runs MCP servers as programs.
    ///
    /// Spec: [`McpStdioCapabilities`](https://agentclientprotocol.com/protocol/v2/schema#mcpstdiocapabilities)
    pub struct McpStdioCapabilities {}
    and "_meta"
}

object! {
    /// An agent connects to MCP servers over HTTP.
    ///
    /// Spec: [`McpHttpCapabilities`](https://agentclientprotocol.com/protocol/v2/schema#mcphttpcapabilities)
    pub struct McpHttpCapabilities {}
    and "_meta"
}

object! {
    /// **Unstable.** An agent reaches MCP servers of the client over the connection itself.
    ///
    /// Spec: [`McpAcpCapabilities`](https://agentclientprotocol.com/protocol/v2/draft/schema#mcpacpcapabilities)
    pub struct McpAcpCapabilities {}
    and "_meta"
}

object! {
    /// What an agent offers around logging in, beyond `auth/login` and `auth/logout`.
    ///
    /// Spec: [`AgentAuthCapabilities`](https://agentclientprotocol.com/protocol/v2/schema#agentauthcapabilities)
    pub struct AgentAuthCapabilities {}
    optional {
        /// **Unstable.** Present when it serves `auth/status`, and reports changes.
        status: AuthStatusCapabilities = "status" [default_on_error],
    }
    and "_meta"
}

object! {
    /// **Unstable.** An agent takes a `systemPrompt` where a session begins.
    ///
    /// Spec: [`SessionSystemPromptCapabilities`](https://agentclientprotocol.com/protocol/v2/draft/schema#sessionsystempromptcapabilities)
    pub struct SessionSystemPromptCapabilities {}
    optional {
        /// Which modes it has beyond `append`.
        mode: SessionSystemPromptModeCapabilities = "mode" [default_on_error],
    }
    and "_meta"
}

object! {
    /// **Unstable.** Which modes of a `systemPrompt` an agent has beyond `append`.
    ///
    /// Spec: [`SessionSystemPromptModeCapabilities`](https://agentclientprotocol.com/protocol/v2/draft/schema#sessionsystempromptmodecapabilities)
    pub struct SessionSystemPromptModeCapabilities {}
    optional {
        /// Present when it has `override`.
        r#override: SessionSystemPromptOverrideCapabilities = "override" [default_on_error],
    }
    and "_meta"
}

object! {
    /// **Unstable.** An agent has the mode `override` of a `systemPrompt`.
    ///
    /// Spec: [`SessionSystemPromptOverrideCapabilities`](https://agentclientprotocol.com/protocol/v2/draft/schema#sessionsystempromptoverridecapabilities)
    pub struct SessionSystemPromptOverrideCapabilities {}
    and "_meta"
}
