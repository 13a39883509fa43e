//! Initialization: versions and capabilities.
//!
//! Spec: [Initialization](https://agentclientprotocol.com/protocol/v1/initialization)
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
use alloc::vec::Vec;
use jsonrpc_core::object;

object! {
    /// The first request of a connection, with the client's capabilities.
    ///
    /// Method `initialize`.
    /// Spec: [`InitializeRequest`](https://agentclientprotocol.com/protocol/v1/schema#initializerequest)
    ///
    /// ```
    /// use acp_types::v1::initialization::{Implementation, InitializeRequest, ProtocolVersion};
    ///
    /// let mut request = InitializeRequest::new(ProtocolVersion::V1);
    /// request.client_info = Some(Implementation::new("my-editor", "1.2.0"));
    /// assert_eq!(
    ///     serde_json::to_string(&request)?,
    ///     r#"{"protocolVersion":1,"clientInfo":{"name":"my-editor","version":"1.2.0"}}"#,
    /// );
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    #[doc(alias = "initialize")]
    pub struct InitializeRequest {
        /// The newest version that the client supports.
        protocol_version: ProtocolVersion = "protocolVersion",
    }
    optional {
        /// Capabilities of the client; absent means only the baseline.
        client_capabilities: ClientCapabilities = "clientCapabilities" [default_on_error],
        /// Name and version of the client.
        client_info: Implementation = "clientInfo" [default_on_error],
    }
    and "_meta"
}

object! {
    /// The response to `initialize`, with the common version and the agent's capabilities.
    ///
    /// Method `initialize`.
    /// Spec: [`InitializeResponse`](https://agentclientprotocol.com/protocol/v1/schema#initializeresponse)
    ///
    /// ```
    /// use acp_types::v1::initialization::{AgentCapabilities, InitializeResponse, ProtocolVersion};
    ///
    /// let mut capabilities = AgentCapabilities::new();
    /// capabilities.load_session = Some(true);
    /// let mut response = InitializeResponse::new(ProtocolVersion::V1);
    /// response.agent_capabilities = Some(capabilities);
    /// assert_eq!(
    ///     serde_json::to_string(&response)?,
    ///     r#"{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}"#,
    /// );
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub struct InitializeResponse {
        /// The version of this connection. The client disconnects if it does not support it.
        protocol_version: ProtocolVersion = "protocolVersion",
    }
    optional {
        /// Capabilities of the agent; absent means only the baseline.
        agent_capabilities: AgentCapabilities = "agentCapabilities" [default_on_error],
        /// Authentication methods; absent means that no login is required.
        auth_methods: Vec<AuthMethod> = "authMethods" [default_on_error, skip_invalid_items],
        /// Name and version of the agent.
        agent_info: Implementation = "agentInfo" [default_on_error],
    }
    and "_meta"
}

object! {
    /// Capabilities of a client.
    ///
    /// Spec: [`ClientCapabilities`](https://agentclientprotocol.com/protocol/v1/schema#clientcapabilities)
    ///
    /// ```
    /// use acp_types::v1::initialization::{ClientCapabilities, FileSystemCapabilities};
    ///
    /// let mut files = FileSystemCapabilities::new();
    /// files.read_text_file = Some(true);
    /// let mut capabilities = ClientCapabilities::new();
    /// capabilities.fs = Some(files);
    /// capabilities.terminal = Some(true);
    /// assert_eq!(
    ///     serde_json::to_string(&capabilities)?,
    ///     r#"{"fs":{"readTextFile":true},"terminal":true}"#,
    /// );
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub struct ClientCapabilities {}
    optional {
        /// Support for reading and writing files.
        fs: FileSystemCapabilities = "fs" [default_on_error],
        /// Whether the client supports all five `terminal/*` methods. Absent means no.
        terminal: bool = "terminal" [default_on_error],
        /// Display of sessions beyond the baseline.
        session: ClientSessionCapabilities = "session" [default_on_error],
        /// Supported kinds of login.
        auth: AuthCapabilities = "auth" [default_on_error],
        /// Supported elicitation modes.
        elicitation: ElicitationCapabilities = "elicitation" [default_on_error],
        /// Present if the client supports subagents.
        subagents: SubagentCapabilities = "subagents" [default_on_error],
        /// Present if the client supports `plan_update` and `plan_removed`.
        plan: PlanCapabilities = "plan" [default_on_error],
    }
    and "_meta"
}

object! {
    /// The file methods that a client supports.
    ///
    /// Spec: [`FileSystemCapabilities`](https://agentclientprotocol.com/protocol/v1/schema#filesystemcapabilities)
    pub struct FileSystemCapabilities {}
    optional {
        /// Whether `fs/read_text_file` is supported. Absent means no.
        read_text_file: bool = "readTextFile" [default_on_error],
        /// Whether `fs/write_text_file` is supported. Absent means no.
        write_text_file: bool = "writeTextFile" [default_on_error],
    }
    and "_meta"
}

object! {
    /// A client's display of sessions beyond the baseline.
    ///
    /// Spec: [`ClientSessionCapabilities`](https://agentclientprotocol.com/protocol/v1/schema#clientsessioncapabilities)
    pub struct ClientSessionCapabilities {}
    optional {
        /// Present if the client supports compaction updates.
        compaction: CompactionCapabilities = "compaction" [default_on_error],
        /// Supported kinds of configuration options.
        config_options: SessionConfigOptionsCapabilities = "configOptions" [default_on_error],
        /// Present if the client supports notices.
        notices: NoticeCapabilities = "notices" [default_on_error],
        /// **Unstable.** Present if the client supports `prompt_suggestions_update`.
        prompt_suggestions: PromptSuggestionsCapabilities = "promptSuggestions" [default_on_error],
        /// **Unstable.** Present if the client supports `cursor_update`.
        cursors: SessionCursorsCapabilities = "cursors" [default_on_error],
    }
    and "_meta"
}

object! {
    /// The client supports compaction updates.
    ///
    /// Spec: [`CompactionCapabilities`](https://agentclientprotocol.com/protocol/v1/schema#compactioncapabilities)
    pub struct CompactionCapabilities {}
}

object! {
    /// The client supports notices.
    ///
    /// Spec: [`NoticeCapabilities`](https://agentclientprotocol.com/protocol/v1/schema#noticecapabilities)
    pub struct NoticeCapabilities {}
}

object! {
    /// **Unstable.** The client supports `cursor_update`.
    ///
    /// Spec: [`SessionCursorsCapabilities`](https://agentclientprotocol.com/protocol/v1/draft/schema#sessioncursorscapabilities)
    pub struct SessionCursorsCapabilities {}
}

object! {
    /// The kinds of configuration options that a client supports.
    ///
    /// Spec: [`SessionConfigOptionsCapabilities`](https://agentclientprotocol.com/protocol/v1/schema#sessionconfigoptionscapabilities)
    pub struct SessionConfigOptionsCapabilities {}
    optional {
        /// Present if boolean options are supported.
        boolean: BooleanConfigOptionCapabilities = "boolean" [default_on_error],
    }
    and "_meta"
}

object! {
    /// The client supports boolean configuration options.
    ///
    /// Spec: [`BooleanConfigOptionCapabilities`](https://agentclientprotocol.com/protocol/v1/schema#booleanconfigoptioncapabilities)
    pub struct BooleanConfigOptionCapabilities {}
    and "_meta"
}

object! {
    /// The kinds of login that a client supports.
    ///
    /// Spec: [`AuthCapabilities`](https://agentclientprotocol.com/protocol/v1/schema#authcapabilities)
    pub struct AuthCapabilities {}
    optional {
        /// Whether the client can run the agent in a terminal to log in. Absent means no.
        terminal: bool = "terminal" [default_on_error],
    }
    and "_meta"
}

object! {
    /// Capabilities of an agent.
    ///
    /// Spec: [`AgentCapabilities`](https://agentclientprotocol.com/protocol/v1/schema#agentcapabilities)
    ///
    /// ```
    /// use acp_types::v1::initialization::AgentCapabilities;
    ///
    /// let capabilities: AgentCapabilities =
    ///     serde_json::from_str(r#"{"promptCapabilities":{"image":true}}"#)?;
    /// let prompt = capabilities.prompt_capabilities.unwrap_or_default();
    /// assert_eq!(prompt.image, Some(true));
    /// assert_eq!(prompt.audio, None);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub struct AgentCapabilities {}
    optional {
        /// Whether `session/load` is supported. Absent means no.
        load_session: bool = "loadSession" [default_on_error],
        /// Prompt content that is supported beyond text and resource links.
        prompt_capabilities: PromptCapabilities = "promptCapabilities" [default_on_error],
        /// MCP transports that are supported beyond stdio.
        mcp_capabilities: McpCapabilities = "mcpCapabilities" [default_on_error],
        /// Session methods that are supported beyond the baseline.
        session_capabilities: SessionCapabilities = "sessionCapabilities" [default_on_error],
        /// Authentication methods of the protocol that are supported.
        auth: AgentAuthCapabilities = "auth" [default_on_error],
        /// **Unstable.** Present if `providers/*` is supported.
        providers: ProvidersCapabilities = "providers" [default_on_error],
    }
    and "_meta"
}

object! {
    /// Prompt content that an agent supports beyond text and resource links.
    ///
    /// Spec: [`PromptCapabilities`](https://agentclientprotocol.com/protocol/v1/schema#promptcapabilities)
    pub struct PromptCapabilities {}
    optional {
        /// Whether images are supported. Absent means no.
        image: bool = "image" [default_on_error],
        /// Whether audio is supported. Absent means no.
        audio: bool = "audio" [default_on_error],
        /// Whether embedded resources are supported. Absent means no.
        embedded_context: bool = "embeddedContext" [default_on_error],
    }
    and "_meta"
}

object! {
    /// MCP transports that an agent supports beyond stdio.
    ///
    /// Spec: [`McpCapabilities`](https://agentclientprotocol.com/protocol/v1/schema#mcpcapabilities)
    pub struct McpCapabilities {}
    optional {
        /// Whether HTTP is supported. Absent means no.
        http: bool = "http" [default_on_error],
        /// Whether server-sent events are supported. Absent means no.
        sse: bool = "sse" [default_on_error],
        /// **Unstable.** Whether servers of the client over the ACP connection are supported.
        /// Absent means no.
        acp: bool = "acp" [default_on_error],
    }
    and "_meta"
}

object! {
    /// Session methods that an agent supports beyond the baseline.
    ///
    /// Spec: [`SessionCapabilities`](https://agentclientprotocol.com/protocol/v1/schema#sessioncapabilities)
    pub struct SessionCapabilities {}
    optional {
        /// Present if `session/list` is supported.
        list: SessionListCapabilities = "list" [default_on_error],
        /// Present if `session/delete` is supported.
        delete: SessionDeleteCapabilities = "delete" [default_on_error],
        /// Present if `additionalDirectories` is supported.
        additional_directories: SessionAdditionalDirectoriesCapabilities = "additionalDirectories" [default_on_error],
        /// Present if `session/resume` is supported.
        resume: SessionResumeCapabilities = "resume" [default_on_error],
        /// Present if `session/close` is supported.
        close: SessionCloseCapabilities = "close" [default_on_error],
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
    /// The agent supports `session/list`.
    ///
    /// Spec: [`SessionListCapabilities`](https://agentclientprotocol.com/protocol/v1/schema#sessionlistcapabilities)
    pub struct SessionListCapabilities {}
    and "_meta"
}

object! {
    /// The agent supports `session/resume`.
    ///
    /// Spec: [`SessionResumeCapabilities`](https://agentclientprotocol.com/protocol/v1/schema#sessionresumecapabilities)
    pub struct SessionResumeCapabilities {}
    and "_meta"
}

object! {
    /// The agent supports `session/close`.
    ///
    /// Spec: [`SessionCloseCapabilities`](https://agentclientprotocol.com/protocol/v1/schema#sessionclosecapabilities)
    pub struct SessionCloseCapabilities {}
    and "_meta"
}

object! {
    /// Authentication methods of the protocol that an agent supports.
    ///
    /// Spec: [`AgentAuthCapabilities`](https://agentclientprotocol.com/protocol/v1/schema#agentauthcapabilities)
    pub struct AgentAuthCapabilities {}
    optional {
        /// Present if `logout` is supported.
        logout: LogoutCapabilities = "logout" [default_on_error],
        /// **Unstable.** Present if `auth/status` is supported, with reports of changes.
        status: AuthStatusCapabilities = "status" [default_on_error],
    }
    and "_meta"
}

object! {
    /// The agent supports `logout`.
    ///
    /// Spec: [`LogoutCapabilities`](https://agentclientprotocol.com/protocol/v1/schema#logoutcapabilities)
    pub struct LogoutCapabilities {}
    and "_meta"
}

object! {
    /// The client supports subagents.
    ///
    /// Spec: [`SubagentCapabilities`](https://agentclientprotocol.com/protocol/v1/schema#subagentcapabilities)
    pub struct SubagentCapabilities {}
    and "_meta"
}

object! {
    /// The client supports `plan_update` and `plan_removed`.
    ///
    /// Spec: [`PlanCapabilities`](https://agentclientprotocol.com/protocol/v1/schema#plancapabilities)
    pub struct PlanCapabilities {}
    and "_meta"
}
