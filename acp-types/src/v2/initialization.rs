//! Initialization: versions and capabilities.
//!
//! Spec: [Initialization](https://agentclientprotocol.com/protocol/v2/initialization)
use super::authentication::AuthMethod;
pub use crate::shared::initialization::{
    AuthStatusCapabilities, ElicitationCapabilities, ElicitationFormCapabilities,
    ElicitationUrlCapabilities, Implementation, PromptSuggestionsAudioCapabilities,
    PromptSuggestionsCapabilities, PromptSuggestionsEmbeddedContextCapabilities,
    PromptSuggestionsImageCapabilities, ProtocolVersion, ProvidersCapabilities,
    SessionAdditionalDirectoriesCapabilities, SessionArchiveCapabilities,
    SessionDeleteCapabilities, SessionForkCapabilities, SessionOptionsCapabilities,
    SessionStatusCapabilities, SessionSystemPromptCapabilities,
    SessionSystemPromptModeCapabilities, SessionSystemPromptOverrideCapabilities,
    SessionTitleCapabilities,
};
use alloc::boxed::Box;
use alloc::vec::Vec;
use jsonrpc_core::object;

object! {
    /// The first request of a connection, with the client's capabilities.
    ///
    /// Method `initialize`.
    /// Spec: [`InitializeRequest`](https://agentclientprotocol.com/protocol/v2/schema#initializerequest)
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
        /// The newest version that the client supports.
        protocol_version: ProtocolVersion = "protocolVersion",
        /// Name and version of the client.
        info: Implementation = "info",
    }
    optional {
        /// Capabilities of the client; absent means only the baseline.
        capabilities: ClientCapabilities = "capabilities" [default_on_error],
    }
    and "_meta"
}

object! {
    /// The response to `initialize`, with the common version and the agent's capabilities.
    ///
    /// Method `initialize`.
    /// Spec: [`InitializeResponse`](https://agentclientprotocol.com/protocol/v2/schema#initializeresponse)
    pub struct InitializeResponse {
        /// The version of this connection. The client disconnects if it does not support it.
        protocol_version: ProtocolVersion = "protocolVersion",
        /// Name and version of the agent.
        info: Implementation = "info",
    }
    optional {
        /// Capabilities of the agent; absent means only the baseline.
        capabilities: AgentCapabilities = "capabilities" [default_on_error],
        /// Authentication methods; absent means that no login is required.
        auth_methods: Vec<AuthMethod> = "authMethods" [default_on_error, skip_invalid_items],
    }
    and "_meta"
}

object! {
    /// Capabilities of a client. In this version a capability is present or absent; its value is an
    /// object.
    ///
    /// Spec: [`ClientCapabilities`](https://agentclientprotocol.com/protocol/v2/schema#clientcapabilities)
    pub struct ClientCapabilities {}
    optional {
        /// Supported kinds of login.
        auth: ClientAuthCapabilities = "auth" [default_on_error],
        /// Supported elicitation modes.
        elicitation: ElicitationCapabilities = "elicitation" [default_on_error],
        /// **Unstable.** Display of sessions beyond the baseline. An empty object announces nothing.
        session: Box<ClientSessionCapabilities> = "session" [default_on_error],
    }
    and "_meta"
}

object! {
    /// **Unstable.** A client's display of sessions beyond the baseline.
    ///
    /// Spec: [`ClientSessionCapabilities`](https://agentclientprotocol.com/protocol/v2/draft/schema#clientsessioncapabilities)
    pub struct ClientSessionCapabilities {}
    optional {
        /// Present if the client supports `prompt_suggestions_update`.
        prompt_suggestions: PromptSuggestionsCapabilities = "promptSuggestions" [default_on_error],
        /// Kinds of commands that are supported beyond `command`. An empty object announces nothing.
        commands: CommandsCapabilities = "commands" [default_on_error],
    }
    and "_meta"
}

object! {
    /// **Unstable.** The kinds of commands that a client supports beyond `command`.
    ///
    /// Spec: [`CommandsCapabilities`](https://agentclientprotocol.com/protocol/v2/draft/schema#commandscapabilities)
    pub struct CommandsCapabilities {}
    optional {
        /// Present if skills are supported.
        skill: CommandsSkillCapabilities = "skill" [default_on_error],
    }
    and "_meta"
}

object! {
    /// **Unstable.** The client supports skills in lists of commands.
    ///
    /// Spec: [`CommandsSkillCapabilities`](https://agentclientprotocol.com/protocol/v2/draft/schema#commandsskillcapabilities)
    pub struct CommandsSkillCapabilities {}
    and "_meta"
}

object! {
    /// The kinds of login that a client supports.
    ///
    /// Spec: [`ClientAuthCapabilities`](https://agentclientprotocol.com/protocol/v2/schema#clientauthcapabilities)
    pub struct ClientAuthCapabilities {}
    optional {
        /// Present if the client can run the agent in a terminal to log in.
        terminal: TerminalAuthCapabilities = "terminal" [default_on_error],
    }
    and "_meta"
}

object! {
    /// The client can run the agent in a terminal to log in.
    ///
    /// Spec: [`TerminalAuthCapabilities`](https://agentclientprotocol.com/protocol/v2/schema#terminalauthcapabilities)
    pub struct TerminalAuthCapabilities {}
    and "_meta"
}

object! {
    /// Capabilities of an agent. In this version a capability is present or absent; its value is an
    /// object.
    ///
    /// Spec: [`AgentCapabilities`](https://agentclientprotocol.com/protocol/v2/schema#agentcapabilities)
    pub struct AgentCapabilities {}
    optional {
        /// Present if the agent supports sessions, with the whole baseline of `session/*`.
        session: Box<SessionCapabilities> = "session" [default_on_error],
        /// Authentication methods of the protocol beyond `auth/login` and `auth/logout`.
        auth: AgentAuthCapabilities = "auth" [default_on_error],
        /// **Unstable.** Present if `providers/*` is supported.
        providers: ProvidersCapabilities = "providers" [default_on_error],
    }
    and "_meta"
}

object! {
    /// Session capabilities of an agent beyond the baseline.
    ///
    /// Spec: [`SessionCapabilities`](https://agentclientprotocol.com/protocol/v2/schema#sessioncapabilities)
    pub struct SessionCapabilities {}
    optional {
        /// Prompt content that is supported beyond text and resource links.
        prompt: PromptCapabilities = "prompt" [default_on_error],
        /// Supported MCP transports.
        mcp: McpCapabilities = "mcp" [default_on_error],
        /// Present if `session/delete` is supported.
        delete: SessionDeleteCapabilities = "delete" [default_on_error],
        /// Present if `additionalDirectories` is supported.
        additional_directories: SessionAdditionalDirectoriesCapabilities = "additionalDirectories" [default_on_error],
        /// Present if `systemPrompt` is supported.
        system_prompt: SessionSystemPromptCapabilities = "systemPrompt" [default_on_error],
        /// **Unstable.** Present if `session/fork` is supported.
        fork: SessionForkCapabilities = "fork" [default_on_error],
        /// **Unstable.** Present if `session/archive` and `session/unarchive` are supported.
        archive: SessionArchiveCapabilities = "archive" [default_on_error],
        /// **Unstable.** Present if `session/status` is supported.
        status: SessionStatusCapabilities = "status" [default_on_error],
        /// **Unstable.** Present if `session/options`, and `configOptions` of session setup, are
        /// supported.
        options: SessionOptionsCapabilities = "options" [default_on_error],
        /// **Unstable.** Present if `session/set_title` is supported.
        title: SessionTitleCapabilities = "title" [default_on_error],
    }
    and "_meta"
}

object! {
    /// Prompt content that an agent supports beyond text and resource links.
    ///
    /// Spec: [`PromptCapabilities`](https://agentclientprotocol.com/protocol/v2/schema#promptcapabilities)
    pub struct PromptCapabilities {}
    optional {
        /// Present if images are supported.
        image: PromptImageCapabilities = "image" [default_on_error],
        /// Present if audio is supported.
        audio: PromptAudioCapabilities = "audio" [default_on_error],
        /// Present if embedded resources are supported.
        embedded_context: PromptEmbeddedContextCapabilities = "embeddedContext" [default_on_error],
        /// **Unstable.** Present if a skill is supported as the first block.
        skill: PromptSkillCapabilities = "skill" [default_on_error],
    }
    and "_meta"
}

object! {
    /// The agent supports images.
    ///
    /// Spec: [`PromptImageCapabilities`](https://agentclientprotocol.com/protocol/v2/schema#promptimagecapabilities)
    pub struct PromptImageCapabilities {}
    and "_meta"
}

object! {
    /// The agent supports audio.
    ///
    /// Spec: [`PromptAudioCapabilities`](https://agentclientprotocol.com/protocol/v2/schema#promptaudiocapabilities)
    pub struct PromptAudioCapabilities {}
    and "_meta"
}

object! {
    /// The agent supports embedded resources.
    ///
    /// Spec: [`PromptEmbeddedContextCapabilities`](https://agentclientprotocol.com/protocol/v2/schema#promptembeddedcontextcapabilities)
    pub struct PromptEmbeddedContextCapabilities {}
    and "_meta"
}

object! {
    /// **Unstable.** The agent supports a skill as the first block of a prompt.
    ///
    /// Spec: [`PromptSkillCapabilities`](https://agentclientprotocol.com/protocol/v2/draft/schema#promptskillcapabilities)
    pub struct PromptSkillCapabilities {}
    optional {
        /// Present if skills are supported in any number and at any position.
        inline: PromptSkillInlineCapabilities = "inline" [default_on_error],
    }
    and "_meta"
}

object! {
    /// **Unstable.** The agent supports skills at any position of a prompt.
    ///
    /// Spec: [`PromptSkillInlineCapabilities`](https://agentclientprotocol.com/protocol/v2/draft/schema#promptskillinlinecapabilities)
    pub struct PromptSkillInlineCapabilities {}
    and "_meta"
}

object! {
    /// MCP transports that an agent supports.
    ///
    /// Spec: [`McpCapabilities`](https://agentclientprotocol.com/protocol/v2/schema#mcpcapabilities)
    pub struct McpCapabilities {}
    optional {
        /// Present if stdio is supported.
        stdio: McpStdioCapabilities = "stdio" [default_on_error],
        /// Present if HTTP is supported.
        http: McpHttpCapabilities = "http" [default_on_error],
        /// **Unstable.** Present if servers of the client over the ACP connection are supported.
        acp: McpAcpCapabilities = "acp" [default_on_error],
    }
    and "_meta"
}

object! {
    /// The agent supports MCP servers over stdio.
    ///
    /// Spec: [`McpStdioCapabilities`](https://agentclientprotocol.com/protocol/v2/schema#mcpstdiocapabilities)
    pub struct McpStdioCapabilities {}
    and "_meta"
}

object! {
    /// The agent supports MCP servers over HTTP.
    ///
    /// Spec: [`McpHttpCapabilities`](https://agentclientprotocol.com/protocol/v2/schema#mcphttpcapabilities)
    pub struct McpHttpCapabilities {}
    and "_meta"
}

object! {
    /// **Unstable.** The agent supports MCP servers of the client over the ACP connection.
    ///
    /// Spec: [`McpAcpCapabilities`](https://agentclientprotocol.com/protocol/v2/draft/schema#mcpacpcapabilities)
    pub struct McpAcpCapabilities {}
    and "_meta"
}

object! {
    /// Authentication methods of an agent beyond `auth/login` and `auth/logout`.
    ///
    /// Spec: [`AgentAuthCapabilities`](https://agentclientprotocol.com/protocol/v2/schema#agentauthcapabilities)
    pub struct AgentAuthCapabilities {}
    optional {
        /// **Unstable.** Present if `auth/status` is supported, with reports of changes.
        status: AuthStatusCapabilities = "status" [default_on_error],
    }
    and "_meta"
}
