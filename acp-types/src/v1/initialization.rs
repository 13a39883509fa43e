//! What the two sides can do, and the version they speak.
//!
//! Spec: [Initialization](https://agentclientprotocol.com/protocol/v1/initialization)
use super::authentication::AuthMethod;
pub use crate::shared::initialization::{
    AuthStatusCapabilities, ElicitationCapabilities, ElicitationFormCapabilities,
    ElicitationUrlCapabilities, Implementation, ProtocolVersion, ProvidersCapabilities,
    SessionAdditionalDirectoriesCapabilities, SessionArchiveCapabilities,
    SessionDeleteCapabilities, SessionForkCapabilities, SessionStatusCapabilities,
    SessionTitleCapabilities,
};
use alloc::vec::Vec;
use jsonrpc_core::object;

object! {
    /// The client opens the connection and says what it can do.
    ///
    /// Method `initialize`. Spec: [`InitializeRequest`](https://agentclientprotocol.com/protocol/v1/schema#initializerequest)
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
        /// The newest version that the client speaks.
        protocol_version: ProtocolVersion = "protocolVersion",
    }
    optional {
        /// What the client can do; absent means nothing beyond the baseline.
        client_capabilities: ClientCapabilities = "clientCapabilities" [default_on_error],
        /// Which program the client is.
        client_info: Implementation = "clientInfo" [default_on_error],
    }
    and "_meta"
}

object! {
    /// The agent answers with the version that both speak, and what it can do.
    ///
    /// Method `initialize`. Spec: [`InitializeResponse`](https://agentclientprotocol.com/protocol/v1/schema#initializeresponse)
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
        /// The version of this connection; the client leaves if it does not speak it.
        protocol_version: ProtocolVersion = "protocolVersion",
    }
    optional {
        /// What the agent can do; absent means nothing beyond the baseline.
        agent_capabilities: AgentCapabilities = "agentCapabilities" [default_on_error],
        /// Ways to log in; absent means that there is none.
        auth_methods: Vec<AuthMethod> = "authMethods" [default_on_error, skip_invalid_items],
        /// Which program the agent is.
        agent_info: Implementation = "agentInfo" [default_on_error],
    }
    and "_meta"
}

object! {
    /// What a client can do.
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
        /// Whether it reads and writes files for the agent.
        fs: FileSystemCapabilities = "fs" [default_on_error],
        /// Whether it runs commands: all five `terminal/*` methods. Absent means no.
        terminal: bool = "terminal" [default_on_error],
        /// What it can show of a session beyond the baseline.
        session: ClientSessionCapabilities = "session" [default_on_error],
        /// Which kinds of login it supports.
        auth: AuthCapabilities = "auth" [default_on_error],
        /// Which ways of asking the user it supports.
        elicitation: ElicitationCapabilities = "elicitation" [default_on_error],
        /// **Unstable.** Present when it takes sessions that a session owns.
        subagents: SubagentCapabilities = "subagents" [default_on_error],
        /// **Unstable.** Present when it takes `plan_update` and `plan_removed`.
        plan: PlanCapabilities = "plan" [default_on_error],
    }
    and "_meta"
}

object! {
    /// Which file requests a client serves.
    ///
    /// Spec: [`FileSystemCapabilities`](https://agentclientprotocol.com/protocol/v1/schema#filesystemcapabilities)
    pub struct FileSystemCapabilities {}
    optional {
        /// Whether it serves `fs/read_text_file`. Absent means no.
        read_text_file: bool = "readTextFile" [default_on_error],
        /// Whether it serves `fs/write_text_file`. Absent means no.
        write_text_file: bool = "writeTextFile" [default_on_error],
    }
    and "_meta"
}

object! {
    /// What a client can show of a session beyond the baseline.
    ///
    /// Spec: [`ClientSessionCapabilities`](https://agentclientprotocol.com/protocol/v1/schema#clientsessioncapabilities)
    pub struct ClientSessionCapabilities {}
    optional {
        /// Present when it takes compaction updates.
        compaction: CompactionCapabilities = "compaction" [default_on_error],
        /// Which kinds of config options it can show.
        config_options: SessionConfigOptionsCapabilities = "configOptions" [default_on_error],
        /// Present when it takes notices.
        notices: NoticeCapabilities = "notices" [default_on_error],
    }
    and "_meta"
}

object! {
    /// A client takes compaction updates.
    ///
    /// Spec: [`CompactionCapabilities`](https://agentclientprotocol.com/protocol/v1/schema#compactioncapabilities)
    pub struct CompactionCapabilities {}
}

object! {
    /// A client takes notices.
    ///
    /// Spec: [`NoticeCapabilities`](https://agentclientprotocol.com/protocol/v1/schema#noticecapabilities)
    pub struct NoticeCapabilities {}
}

object! {
    /// Which kinds of config options a client can show.
    ///
    /// Spec: [`SessionConfigOptionsCapabilities`](https://agentclientprotocol.com/protocol/v1/schema#sessionconfigoptionscapabilities)
    pub struct SessionConfigOptionsCapabilities {}
    optional {
        /// Present when it can show switches.
        boolean: BooleanConfigOptionCapabilities = "boolean" [default_on_error],
    }
    and "_meta"
}

object! {
    /// A client can show config options that are switches.
    ///
    /// Spec: [`BooleanConfigOptionCapabilities`](https://agentclientprotocol.com/protocol/v1/schema#booleanconfigoptioncapabilities)
    pub struct BooleanConfigOptionCapabilities {}
    and "_meta"
}

object! {
    /// Which kinds of login a client supports.
    ///
    /// Spec: [`AuthCapabilities`](https://agentclientprotocol.com/protocol/v1/schema#authcapabilities)
    pub struct AuthCapabilities {}
    optional {
        /// Whether it can run the agent in a terminal to log in. Absent means no.
        terminal: bool = "terminal" [default_on_error],
    }
    and "_meta"
}

object! {
    /// What an agent can do.
    ///
    /// Spec: [`AgentCapabilities`](https://agentclientprotocol.com/protocol/v1/schema#agentcapabilities)
    ///
    /// ```
    /// use acp_types::v1::initialization::AgentCapabilities;
    ///
    /// let capabilities: AgentCapabilities =
    ///     serde_json::from_str(r#"{"promptCapabilities":{"image":true}}"#)?;
    /// let prompt = capabilities.prompt_capabilities.unwrap_or_default();
    /// assert_eq!((prompt.image, prompt.audio), (Some(true), None));
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub struct AgentCapabilities {}
    optional {
        /// Whether it serves `session/load`. Absent means no.
        load_session: bool = "loadSession" [default_on_error],
        /// Which content it takes in a prompt beyond text and resource links.
        prompt_capabilities: PromptCapabilities = "promptCapabilities" [default_on_error],
        /// Which MCP transports it has beyond stdio.
        mcp_capabilities: McpCapabilities = "mcpCapabilities" [default_on_error],
        /// Which session methods it has beyond the baseline.
        session_capabilities: SessionCapabilities = "sessionCapabilities" [default_on_error],
        /// What it offers around logging in.
        auth: AgentAuthCapabilities = "auth" [default_on_error],
        /// **Unstable.** Present when it serves `providers/*`.
        providers: ProvidersCapabilities = "providers" [default_on_error],
    }
    and "_meta"
}

object! {
    /// Which content an agent takes in a prompt beyond text and resource links.
    ///
    /// Spec: [`PromptCapabilities`](https://agentclientprotocol.com/protocol/v1/schema#promptcapabilities)
    pub struct PromptCapabilities {}
    optional {
        /// Whether it takes images. Absent means no.
        image: bool = "image" [default_on_error],
        /// Whether it takes audio. Absent means no.
        audio: bool = "audio" [default_on_error],
        /// Whether it takes embedded resources. Absent means no.
        embedded_context: bool = "embeddedContext" [default_on_error],
    }
    and "_meta"
}

object! {
    /// Which MCP transports an agent has beyond stdio.
    ///
    /// Spec: [`McpCapabilities`](https://agentclientprotocol.com/protocol/v1/schema#mcpcapabilities)
    pub struct McpCapabilities {}
    optional {
        /// Whether it connects over HTTP. Absent means no.
        http: bool = "http" [default_on_error],
        /// Whether it connects over server-sent events. Absent means no.
        sse: bool = "sse" [default_on_error],
        /// **Unstable.** Whether it reaches servers of the client over the connection itself. Absent means no.
        acp: bool = "acp" [default_on_error],
    }
    and "_meta"
}

object! {
    /// Which session methods an agent has beyond the baseline.
    ///
    /// Spec: [`SessionCapabilities`](https://agentclientprotocol.com/protocol/v1/schema#sessioncapabilities)
    pub struct SessionCapabilities {}
    optional {
        /// Present when it serves `session/list`.
        list: SessionListCapabilities = "list" [default_on_error],
        /// Present when it serves `session/delete`.
        delete: SessionDeleteCapabilities = "delete" [default_on_error],
        /// Present when it takes `additionalDirectories`.
        additional_directories: SessionAdditionalDirectoriesCapabilities = "additionalDirectories" [default_on_error],
        /// Present when it serves `session/resume`.
        resume: SessionResumeCapabilities = "resume" [default_on_error],
        /// Present when it serves `session/close`.
        close: SessionCloseCapabilities = "close" [default_on_error],
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
    /// An agent serves `session/list`.
    ///
    /// Spec: [`SessionListCapabilities`](https://agentclientprotocol.com/protocol/v1/schema#sessionlistcapabilities)
    pub struct SessionListCapabilities {}
    and "_meta"
}

object! {
    /// An agent serves `session/resume`.
    ///
    /// Spec: [`SessionResumeCapabilities`](https://agentclientprotocol.com/protocol/v1/schema#sessionresumecapabilities)
    pub struct SessionResumeCapabilities {}
    and "_meta"
}

object! {
    /// An agent serves `session/close`.
    ///
    /// Spec: [`SessionCloseCapabilities`](https://agentclientprotocol.com/protocol/v1/schema#sessionclosecapabilities)
    pub struct SessionCloseCapabilities {}
    and "_meta"
}

object! {
    /// What an agent offers around logging in.
    ///
    /// Spec: [`AgentAuthCapabilities`](https://agentclientprotocol.com/protocol/v1/schema#agentauthcapabilities)
    pub struct AgentAuthCapabilities {}
    optional {
        /// Present when it serves `logout`.
        logout: LogoutCapabilities = "logout" [default_on_error],
        /// **Unstable.** Present when it serves `auth/status`, and reports changes.
        status: AuthStatusCapabilities = "status" [default_on_error],
    }
    and "_meta"
}

object! {
    /// An agent serves `logout`.
    ///
    /// Spec: [`LogoutCapabilities`](https://agentclientprotocol.com/protocol/v1/schema#logoutcapabilities)
    pub struct LogoutCapabilities {}
    and "_meta"
}

object! {
    /// **Unstable.** An agent takes a `systemPrompt` where a session begins.
    ///
    /// Spec: [`SessionSystemPromptCapabilities`](https://agentclientprotocol.com/protocol/v1/draft/schema#sessionsystempromptcapabilities)
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
    /// Spec: [`SessionSystemPromptModeCapabilities`](https://agentclientprotocol.com/protocol/v1/draft/schema#sessionsystempromptmodecapabilities)
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
    /// Spec: [`SessionSystemPromptOverrideCapabilities`](https://agentclientprotocol.com/protocol/v1/draft/schema#sessionsystempromptoverridecapabilities)
    pub struct SessionSystemPromptOverrideCapabilities {}
    and "_meta"
}

object! {
    /// **Unstable.** A client takes sessions that a session owns.
    ///
    /// Spec: [`SubagentCapabilities`](https://agentclientprotocol.com/protocol/v1/draft/schema#subagentcapabilities)
    pub struct SubagentCapabilities {}
    and "_meta"
}

object! {
    /// **Unstable.** A client takes `plan_update` and `plan_removed`.
    ///
    /// Spec: [`PlanCapabilities`](https://agentclientprotocol.com/protocol/v1/draft/schema#plancapabilities)
    pub struct PlanCapabilities {}
    and "_meta"
}
