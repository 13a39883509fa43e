//! The types of both crates, by the names of the schema.
use acp_types::{v1, v2};
use jsonrpc_core::wire::{DiagnosticCode, Mode, decode_with};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fmt::Debug;

mod official {
    pub mod v1 {
        pub use agent_client_protocol_schema::ProtocolVersion;
        pub use agent_client_protocol_schema::v1::*;
    }

    pub mod v2 {
        pub use agent_client_protocol_schema::v2::*;
    }
}

/// A definition of the schema, as a type of the official crate and of acp-types.
pub struct Type {
    /// Name in the schema.
    pub name: &'static str,
    /// Decodes and encodes a text with the official type; `None` if it is refused.
    pub official: fn(&str) -> Option<Value>,
    /// Decodes and encodes a text with the type of acp-types.
    pub ours: fn(&str, Mode) -> Result<Ours, String>,
    /// The schema of the official type.
    pub schema: fn(&mut SchemaGenerator) -> Schema,
}

/// A text after decoding and encoding with acp-types.
#[derive(Debug)]
pub struct Ours {
    /// The value without invalid parts.
    pub value: Value,
    /// The value with invalid parts.
    pub whole: Value,
    /// Diagnostics, with their positions.
    pub diagnostics: Vec<(DiagnosticCode, String)>,
    /// Number of unknown names, variants and shapes.
    pub unknown: usize,
}

fn official<T: DeserializeOwned + Serialize>(text: &str) -> Option<Value> {
    let read: T = serde_json::from_str(text).ok()?;
    serde_json::to_value(read).ok()
}

fn ours<T: jsonrpc_core::wire::Wire + Serialize + Debug>(
    text: &str,
    mode: Mode,
) -> Result<Ours, String> {
    let read = decode_with::<T>(text, mode).map_err(|error| error.to_string())?;
    let value = serde_json::to_value(&read.value).map_err(|error| error.to_string())?;
    let whole = read.encode().and_then(|text| serde_json::from_str(&text));
    let whole = whole.map_err(|error| error.to_string())?;
    let told = read.diagnostics.into_iter().map(|told| (told.code, told.pointer)).collect();
    let unknown = format!("{:?}", read.value).matches("Unknown(").count();
    Ok(Ours { value, whole, diagnostics: told, unknown })
}

fn schema<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

macro_rules! types {
    ($version:ident { $( $module:ident { $($Type:ident),+ } )+ }) => {
        &[$($( Type {
            name: stringify!($Type),
            official: official::<official::$version::$Type>,
            ours: ours::<$version::$module::$Type>,
            schema: schema::<official::$version::$Type>,
        }, )+)+]
    };
}

/// The types of version 1.
pub const V1: &[Type] = types! { v1 {
    agent_plan {
        Plan, PlanEntry, PlanEntryPriority, PlanEntryStatus, PlanId, PlanUpdate, PlanUpdateContent,
        PlanItems, PlanMarkdown, PlanRemoved
    }
    authentication {
        AuthMethodId, AuthMethod, AuthMethodTerminal, AuthMethodAgent, AuthenticateRequest,
        AuthenticateResponse, LogoutRequest, LogoutResponse, AuthStatusRequest, AuthStatusResponse,
        AuthStatusUpdateNotification, AuthState, AuthAccount
    }
    cancellation {
        CancelRequestNotification
    }
    compaction {
        CompactionId, CompactionUpdate, CompactionStatus, CompactionSummaryChunk
    }
    content {
        ContentBlock, TextContent, ImageContent, AudioContent, ResourceLink, EmbeddedResource,
        EmbeddedResourceResource, TextResourceContents, BlobResourceContents, Annotations, Role
    }
    elicitation {
        ElicitationId, CreateElicitationRequest, ElicitationFormMode, ElicitationUrlMode,
        ElicitationSessionScope, ElicitationRequestScope, ElicitationSchema, ElicitationSchemaType,
        ElicitationPropertySchema, StringFormat, StringPropertySchema, EnumOption,
        NumberPropertySchema, IntegerPropertySchema, BooleanPropertySchema,
        MultiSelectPropertySchema, MultiSelectItems, StringMultiSelectItems,
        TitledMultiSelectItems, CreateElicitationResponse, ElicitationAcceptAction,
        ElicitationContentValue, CompleteElicitationNotification
    }
    file_system {
        ReadTextFileRequest, ReadTextFileResponse, WriteTextFileRequest, WriteTextFileResponse
    }
    initialization {
        ProtocolVersion, InitializeRequest, InitializeResponse, Implementation, ClientCapabilities,
        FileSystemCapabilities, ClientSessionCapabilities, CompactionCapabilities,
        NoticeCapabilities, SessionConfigOptionsCapabilities, BooleanConfigOptionCapabilities,
        AuthCapabilities, ElicitationCapabilities, ElicitationFormCapabilities,
        ElicitationUrlCapabilities, AgentCapabilities, PromptCapabilities, McpCapabilities,
        SessionCapabilities, SessionListCapabilities, SessionDeleteCapabilities,
        SessionAdditionalDirectoriesCapabilities, SessionResumeCapabilities,
        SessionCloseCapabilities, AgentAuthCapabilities, LogoutCapabilities, ProvidersCapabilities,
        AuthStatusCapabilities, SessionForkCapabilities, SessionArchiveCapabilities,
        SessionStatusCapabilities, SessionTitleCapabilities, SessionSystemPromptCapabilities,
        SessionSystemPromptModeCapabilities, SessionSystemPromptOverrideCapabilities,
        SubagentCapabilities, PlanCapabilities, SessionOptionsCapabilities,
        PromptSuggestionsCapabilities, PromptSuggestionsImageCapabilities,
        PromptSuggestionsAudioCapabilities, PromptSuggestionsEmbeddedContextCapabilities,
        SessionCursorsCapabilities
    }
    mcp_over_acp {
        McpServerAcpId, McpRequestId, MessageMcpRequest, MessageMcpNotification,
        MessageMcpResponse, McpError
    }
    notices {
        Notice, NoticeSeverity
    }
    prompt_turn {
        MessageId, PromptRequest, PromptResponse, StopReason, Usage, CancelNotification,
        SessionNotification, SessionUpdate, ContentChunk, UsageUpdate, Cost
    }
    providers {
        ProviderId, LlmProtocol, ListProvidersRequest, ListProvidersResponse, ProviderInfo,
        ProviderCurrentConfig, SetProviderRequest, SetProviderResponse, DisableProviderRequest,
        DisableProviderResponse
    }
    prompt_suggestions { PromptSuggestionsUpdate, PromptSuggestion }
    proxy_chains {
        InitializeProxyRequest, InitializeProxyResponse, ProxySuccessorRequest,
        ProxySuccessorNotification, ProxySuccessorResponse
    }
    session_config_options {
        SessionConfigId, SessionConfigValueId, SessionConfigGroupId, SessionConfigOption,
        SessionConfigOptionCategory, SessionConfigSelect, SessionConfigBoolean,
        SessionConfigSelectOptions, SessionConfigSelectOption, SessionConfigSelectGroup,
        SetSessionConfigOptionRequest, SetSessionConfigOptionResponse, ConfigOptionUpdate,
        InitialSessionConfigOption
    }
    session_cursors {
        CursorId, CursorUpdate, CursorCapabilities, CursorForkCapabilities, CursorAnchor,
        CursorAnchorPosition, CursorMessageAnchor, CursorToolCallAnchor, CursorCompactionAnchor
    }
    session_list {
        ListSessionsRequest, ListSessionsResponse, SessionInfo, DeleteSessionRequest,
        DeleteSessionResponse, SessionInfoUpdate, ArchiveSessionRequest, ArchiveSessionResponse,
        UnarchiveSessionRequest, UnarchiveSessionResponse, SessionArchiveFilter,
        SetSessionTitleRequest, SetSessionTitleResponse
    }
    session_modes {
        SessionModeId, SessionModeState, SessionMode, SetSessionModeRequest,
        SetSessionModeResponse, CurrentModeUpdate
    }
    session_setup {
        SessionId, NewSessionRequest, NewSessionResponse, LoadSessionRequest, LoadSessionResponse,
        ResumeSessionRequest, ResumeSessionResponse, CloseSessionRequest, CloseSessionResponse,
        ForkSessionRequest, ForkSessionResponse, McpServer, McpServerHttp, McpServerSse,
        McpServerAcp, McpServerStdio, HttpHeader, EnvVariable, SessionOptionsRequest,
        SessionOptionsResponse
    }
    session_status {
        SessionStatusRequest, SessionStatusResponse, SessionStatus
    }
    slash_commands {
        AvailableCommandsUpdate, AvailableCommand, AvailableCommandInput, UnstructuredCommandInput
    }
    subagents {
        SubagentUpdate, SubagentSessionCapabilities, SessionCancelCapabilities, SessionMessage,
        SessionMessageChunk, StateUpdate, RunningStateUpdate, RequiresActionStateUpdate,
        UnknownStateUpdate, IdleStateUpdate, ErrorStopReason
    }
    system_prompt {
        SystemPrompt, SystemPromptMode
    }
    terminals {
        TerminalId, CreateTerminalRequest, CreateTerminalResponse, TerminalOutputRequest,
        TerminalOutputResponse, TerminalExitStatus, WaitForTerminalExitRequest,
        WaitForTerminalExitResponse, KillTerminalRequest, KillTerminalResponse,
        ReleaseTerminalRequest, ReleaseTerminalResponse
    }
    tool_calls {
        ToolCallId, PermissionOptionId, ToolCall, ToolCallUpdate, ToolKind, ToolCallStatus,
        ToolCallContent, Content, Diff, Terminal, ToolCallLocation, RequestPermissionRequest,
        PermissionOption, PermissionOptionKind, RequestPermissionResponse,
        RequestPermissionOutcome, SelectedPermissionOutcome, SessionReference
    }
} };

/// The types of version 2.
pub const V2: &[Type] = types! { v2 {
    agent_plan {
        PlanId, PlanUpdate, PlanUpdateContent, PlanItems, PlanEntry, PlanEntryPriority,
        PlanEntryStatus, PlanMarkdown, PlanRemoved
    }
    authentication {
        AuthMethodId, AuthMethod, AuthMethodTerminal, AuthMethodAgent, LoginAuthRequest,
        LoginAuthResponse, LogoutAuthRequest, LogoutAuthResponse, AuthStatusRequest,
        AuthStatusResponse, AuthStatusUpdateNotification, AuthState, AuthAccount
    }
    cancellation {
        CancelRequestNotification
    }
    compaction {
        CompactionId, CompactionUpdate, CompactionStatus, CompactionSummaryChunk
    }
    content {
        MediaType, ContentBlock, TextContent, ImageContent, AudioContent, ResourceLink, Icon,
        IconTheme, EmbeddedResource, EmbeddedResourceResource, TextResourceContents,
        BlobResourceContents, Annotations, Role, SkillReference
    }
    diffs {
        Diff, DiffChange, DiffPathChange, DiffPathPairChange, DiffFileType, DiffPatch,
        DiffPatchFormat
    }
    elicitation {
        ElicitationId, CreateElicitationRequest, ElicitationFormMode, ElicitationUrlMode,
        ElicitationSessionScope, ElicitationRequestScope, ElicitationSchema, ElicitationSchemaType,
        ElicitationPropertySchema, StringFormat, StringPropertySchema, EnumOption,
        NumberPropertySchema, IntegerPropertySchema, BooleanPropertySchema,
        MultiSelectPropertySchema, MultiSelectItems, StringMultiSelectItems,
        TitledMultiSelectItems, CreateElicitationResponse, ElicitationAcceptAction,
        ElicitationContentValue, CompleteElicitationNotification
    }
    error {
        UnsupportedProtocolVersionErrorData, SessionNotFoundErrorData
    }
    initialization {
        InitializeRequest, InitializeResponse, Implementation, ClientCapabilities,
        ClientAuthCapabilities, TerminalAuthCapabilities, ElicitationCapabilities,
        ElicitationFormCapabilities, ElicitationUrlCapabilities, AgentCapabilities,
        SessionCapabilities, PromptCapabilities, PromptImageCapabilities, PromptAudioCapabilities,
        PromptEmbeddedContextCapabilities, McpCapabilities, McpStdioCapabilities,
        McpHttpCapabilities, McpAcpCapabilities, SessionDeleteCapabilities,
        SessionAdditionalDirectoriesCapabilities, AgentAuthCapabilities, ProvidersCapabilities,
        AuthStatusCapabilities, SessionForkCapabilities, SessionArchiveCapabilities,
        SessionStatusCapabilities, SessionTitleCapabilities, SessionSystemPromptCapabilities,
        SessionSystemPromptModeCapabilities, SessionSystemPromptOverrideCapabilities,
        SessionOptionsCapabilities, PromptSuggestionsCapabilities,
        PromptSuggestionsImageCapabilities, PromptSuggestionsAudioCapabilities,
        PromptSuggestionsEmbeddedContextCapabilities, ClientSessionCapabilities,
        CommandsCapabilities, CommandsSkillCapabilities, PromptSkillCapabilities,
        PromptSkillInlineCapabilities
    }
    mcp_over_acp {
        McpServerAcpId, McpRequestId, MessageMcpRequest, MessageMcpNotification,
        MessageMcpResponse, McpError
    }
    notices {
        Notice, NoticeSeverity
    }
    permissions {
        PermissionOptionId, RequestPermissionRequest, RequestPermissionSubject,
        ToolCallPermissionSubject, CommandPermissionSubject, PermissionOption,
        PermissionOptionKind, RequestPermissionResponse, RequestPermissionOutcome,
        CancelledPermissionOutcome, SelectedPermissionOutcome
    }
    prompt_lifecycle {
        MessageId, PromptRequest, PromptResponse, CancelSessionNotification,
        UpdateSessionNotification, SessionUpdate, ContentChunk, UserMessage, AgentMessage,
        AgentThought, UsageUpdate, Cost, IdempotencyKey
    }
    providers {
        ProviderId, LlmProtocol, ListProvidersRequest, ListProvidersResponse, ProviderInfo,
        ProviderCurrentConfig, SetProviderRequest, SetProviderResponse, DisableProviderRequest,
        DisableProviderResponse
    }
    prompt_suggestions { PromptSuggestionsUpdate, PromptSuggestion }
    proxy_chains {
        InitializeProxyRequest, InitializeProxyResponse, ProxySuccessorRequest,
        ProxySuccessorNotification, ProxySuccessorResponse
    }
    session_config_options {
        SessionConfigId, SessionConfigValueId, SessionConfigGroupId, SessionConfigOption,
        SessionConfigOptionCategory, SessionConfigSelect, SessionConfigBoolean,
        SessionConfigSelectOptions, SessionConfigSelectOption, SessionConfigSelectGroup,
        SetSessionConfigOptionRequest, SetSessionConfigOptionResponse, ConfigOptionUpdate,
        InitialSessionConfigOption
    }
    session_delete {
        DeleteSessionRequest, DeleteSessionResponse
    }
    session_cursors {
        CursorId, CursorUpdate, CursorCapabilities, CursorForkCapabilities, CursorAnchor,
        CursorAnchorPosition, CursorMessageAnchor, CursorToolCallAnchor, CursorCompactionAnchor
    }
    session_list {
        SessionListCursor, ListSessionsRequest, ListSessionsResponse, SessionInfo,
        SessionInfoUpdate, ArchiveSessionRequest, ArchiveSessionResponse, UnarchiveSessionRequest,
        UnarchiveSessionResponse, SessionArchiveFilter, SetSessionTitleRequest,
        SetSessionTitleResponse
    }
    session_setup {
        SessionId, AbsolutePath, NewSessionRequest, NewSessionResponse, ResumeSessionRequest,
        ReplayFrom, ReplayFromStart, ResumeSessionResponse, CloseSessionRequest,
        CloseSessionResponse, ForkSessionRequest, ForkSessionResponse, McpServer, McpServerHttp,
        McpServerAcp, McpServerStdio, HttpHeader, EnvVariable, SessionOptionsRequest,
        SessionOptionsResponse, ReplayComplete
    }
    session_states {
        StateUpdate, RunningStateUpdate, RequiresActionStateUpdate, UnknownStateUpdate,
        IdleStateUpdate, ErrorStopReason, Usage, BackgroundWork, BackgroundTerminal,
        BackgroundToolCall, BackgroundSubagent
    }
    session_status {
        SessionStatusRequest, SessionStatusResponse, SessionStatus
    }
    slash_commands {
        AvailableCommandsUpdate, AvailableCommand, Command, AvailableCommandInput,
        TextCommandInput, Skill
    }
    subagents {
        SubagentUpdate, SubagentSessionCapabilities, SessionCancelCapabilities, SessionMessage,
        SessionMessageChunk
    }
    system_prompt {
        SystemPrompt, SystemPromptMode
    }
    terminals {
        TerminalId, TerminalUpdate, TerminalOutput, TerminalOutputChunk, TerminalExitStatus,
        TerminalSize, TerminalCapabilities, TerminalCancelCapabilities, CancelTerminalRequest,
        CancelTerminalResponse
    }
    tool_calls {
        ToolCallId, ToolCallUpdate, ToolCallContentChunk, ToolCallCapabilities,
        ToolCallCancelCapabilities, CancelToolCallRequest, CancelToolCallResponse, ToolKind,
        ToolCallStatus, ToolCallContent, Content, Terminal, ToolCallLocation, SessionReference
    }
} };
