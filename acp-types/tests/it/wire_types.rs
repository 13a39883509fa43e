//! Every wire type of the crate, by name.
use crate::shapes::{self, Shapes};
use acp_types::methods::{self, Method};
use jsonrpc_core::wire::{DecodeError, Diagnostic, Mode, decode, decode_with};
use serde::Serialize;
use std::collections::BTreeSet;
use std::error::Error;
use std::fmt::Debug;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// A wire type.
pub(crate) struct WireType {
    /// Name of the type in the schema.
    pub(crate) name: &'static str,
    /// Decodes a text as the type, and encodes the value.
    pub(crate) again: fn(&str) -> Result<String, DecodeError>,
    /// Decodes a text as the type, and returns its debug representation.
    pub(crate) debug: fn(&str) -> Result<String, DecodeError>,
    /// Whether a text is read as the type in one go, by the scanner alone.
    /// Decodes a text as the type in a mode; encodes the value, then with what was kept aside.
    pub(crate) with: fn(&str, Mode) -> Result<Lenient, DecodeError>,
}

/// The result of decoding a text in a mode.
pub(crate) struct Lenient {
    /// The value alone.
    pub(crate) value: String,
    /// The value with the invalid parts that were set aside.
    pub(crate) whole: String,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

fn again<T: jsonrpc_core::wire::Wire + Serialize>(text: &str) -> Result<String, DecodeError> {
    decode::<T>(text).map(|value| serde_json::to_string(&value).expect("it has a JSON form"))
}

fn debug<T: jsonrpc_core::wire::Wire + Debug>(text: &str) -> Result<String, DecodeError> {
    decode::<T>(text).map(|value| format!("{value:?}"))
}

fn with<T: jsonrpc_core::wire::Wire + Serialize>(
    text: &str,
    mode: Mode,
) -> Result<Lenient, DecodeError> {
    let decoded = decode_with::<T>(text, mode)?;
    let value = serde_json::to_string(&decoded.value).expect("it has a JSON form");
    let whole = decoded.encode().expect("it has a JSON form");
    Ok(Lenient { value, whole, diagnostics: decoded.diagnostics })
}

macro_rules! wire_types {
    ($version:ident { $( $module:ident { $($Type:ident),+ } )+ }) => {
        &[$($( WireType {
            name: stringify!($Type),
            again: again::<acp_types::$version::$module::$Type>,
            debug: debug::<acp_types::$version::$module::$Type>,
            with: with::<acp_types::$version::$module::$Type>,
        }, )+)+]
    };
}

/// The types of version 1.
const V1: &[WireType] = wire_types! { v1 {
    agent_plan {
        Plan, PlanEntry, PlanEntryPriority, PlanEntryStatus, PlanId, PlanUpdate, PlanUpdateContent,
        PlanItems, PlanFile, PlanMarkdown, PlanRemoved
    }
    authentication {
        AuthMethodId, AuthMethod, AuthMethodTerminal, AuthMethodAgent, AuthenticateRequest,
        AuthenticateResponse, LogoutRequest, LogoutResponse, AuthStatusRequest, AuthStatusResponse,
        AuthStatusUpdateNotification, AuthState, AuthAccount
    }
    cancellation { CancelRequestNotification }
    compaction { CompactionId, CompactionUpdate, CompactionStatus, CompactionSummaryChunk }
    content {
        ContentBlock, TextContent, ImageContent, AudioContent, ResourceLink, EmbeddedResource,
        EmbeddedResourceResource, TextResourceContents, BlobResourceContents, Annotations, Role
    }
    elicitation {
        ElicitationId, CreateElicitationRequest, ElicitationMode, ElicitationFormMode,
        ElicitationUrlMode, ElicitationScope, ElicitationSessionScope, ElicitationRequestScope,
        ElicitationSchema, ElicitationSchemaType, ElicitationProperties, ElicitationPropertySchema,
        StringFormat, StringPropertySchema, EnumOption, NumberPropertySchema, IntegerPropertySchema,
        BooleanPropertySchema, MultiSelectPropertySchema, MultiSelectItems, StringMultiSelectItems,
        TitledMultiSelectItems, CreateElicitationResponse, ElicitationAction,
        ElicitationAcceptAction, ElicitationContentValue, CompleteElicitationNotification
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
        McpServerAcpId, McpRequestId, MessageMcpRequest, MessageMcpNotification, MessageMcpResponse,
        MessageMcpResult, MessageMcpError, McpError
    }
    notices { Notice, NoticeSeverity }
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
        SessionConfigKind, SessionConfigOptionCategory, SessionConfigSelect, SessionConfigBoolean,
        SessionConfigSelectOptions, SessionConfigSelectOption, SessionConfigSelectGroup,
        SetSessionConfigOptionRequest, SessionConfigOptionValue, SessionConfigOptionBoolean,
        SessionConfigOptionValueId, SetSessionConfigOptionResponse, ConfigOptionUpdate,
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
        SessionModeId, SessionModeState, SessionMode, SetSessionModeRequest, SetSessionModeResponse,
        CurrentModeUpdate
    }
    session_setup {
        SessionId, NewSessionRequest, NewSessionResponse, LoadSessionRequest, LoadSessionResponse,
        ResumeSessionRequest, ResumeSessionResponse, CloseSessionRequest, CloseSessionResponse,
        ForkSessionRequest, ForkSessionResponse, McpServer, McpServerHttp, McpServerSse,
        McpServerAcp, McpServerStdio, HttpHeader, EnvVariable, SessionOptionsRequest,
        SessionOptionsResponse
    }
    session_status { SessionStatusRequest, SessionStatusResponse, SessionStatus }
    slash_commands {
        AvailableCommandsUpdate, AvailableCommand, AvailableCommandInput, UnstructuredCommandInput
    }
    subagents {
        SubagentUpdate, SubagentSessionCapabilities, SessionCancelCapabilities, SessionMessage,
        SessionMessageChunk, StateUpdate, RunningStateUpdate, RequiresActionStateUpdate,
        UnknownStateUpdate, IdleStateUpdate, IdleStopReason, ErrorStopReason
    }
    system_prompt { SystemPrompt, SystemPromptMode }
    terminals {
        TerminalId, CreateTerminalRequest, CreateTerminalResponse, TerminalOutputRequest,
        TerminalOutputResponse, TerminalExitStatus, WaitForTerminalExitRequest,
        WaitForTerminalExitResponse, KillTerminalRequest, KillTerminalResponse,
        ReleaseTerminalRequest, ReleaseTerminalResponse
    }
    tool_calls {
        ToolCallId, PermissionOptionId, ToolCall, ToolCallUpdate, ToolKind, ToolCallStatus,
        ToolCallContent, Content, Diff, Terminal, ToolCallLocation, RequestPermissionRequest,
        PermissionOption, PermissionOptionKind, RequestPermissionResponse, RequestPermissionOutcome,
        SelectedPermissionOutcome, SessionReference
    }
} };

/// The types of version 2.
const V2: &[WireType] = wire_types! { v2 {
    agent_plan {
        PlanId, PlanUpdate, PlanUpdateContent, PlanItems, PlanEntry, PlanEntryPriority,
        PlanEntryStatus, PlanFile, PlanMarkdown, PlanRemoved
    }
    authentication {
        AuthMethodId, AuthMethod, AuthMethodTerminal, AuthMethodAgent, LoginAuthRequest,
        LoginAuthResponse, LogoutAuthRequest, LogoutAuthResponse, AuthStatusRequest,
        AuthStatusResponse, AuthStatusUpdateNotification, AuthState, AuthAccount
    }
    cancellation { CancelRequestNotification }
    compaction { CompactionId, CompactionUpdate, CompactionStatus, CompactionSummaryChunk }
    content {
        MediaType, ContentBlock, TextContent, ImageContent, AudioContent, ResourceLink, Icon,
        IconTheme, EmbeddedResource, EmbeddedResourceResource, TextResourceContents,
        BlobResourceContents, Annotations, Role, SkillReference
    }
    diffs {
        Diff, DiffChange, DiffOperation, DiffPathChange, DiffPathPairChange, DiffFileType,
        DiffPatch, DiffPatchFormat
    }
    elicitation {
        ElicitationId, CreateElicitationRequest, ElicitationMode, ElicitationFormMode,
        ElicitationUrlMode, ElicitationScope, ElicitationSessionScope, ElicitationRequestScope,
        ElicitationSchema, ElicitationSchemaType, ElicitationProperties, ElicitationPropertySchema,
        StringFormat, StringPropertySchema, EnumOption, NumberPropertySchema, IntegerPropertySchema,
        BooleanPropertySchema, MultiSelectPropertySchema, MultiSelectItems, StringMultiSelectItems,
        TitledMultiSelectItems, CreateElicitationResponse, ElicitationAction,
        ElicitationAcceptAction, ElicitationContentValue, CompleteElicitationNotification
    }
    error { ErrorData, UnsupportedProtocolVersionErrorData, SessionNotFoundErrorData }
    initialization {
        ProtocolVersion, InitializeRequest, InitializeResponse, Implementation, ClientCapabilities,
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
        McpServerAcpId, McpRequestId, MessageMcpRequest, MessageMcpNotification, MessageMcpResponse,
        MessageMcpResult, MessageMcpError, McpError
    }
    notices { Notice, NoticeSeverity }
    permissions {
        PermissionOptionId, RequestPermissionRequest, RequestPermissionSubject,
        ToolCallPermissionSubject, CommandPermissionSubject, PermissionOption, PermissionOptionKind,
        RequestPermissionResponse, RequestPermissionOutcome, CancelledPermissionOutcome,
        SelectedPermissionOutcome
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
        SessionConfigKind, SessionConfigOptionCategory, SessionConfigSelect, SessionConfigBoolean,
        SessionConfigSelectOptions, SessionConfigSelectOption, SessionConfigSelectGroup,
        SetSessionConfigOptionRequest, SessionConfigOptionValue, SessionConfigOptionBoolean,
        SessionConfigOptionValueId, SetSessionConfigOptionResponse, ConfigOptionUpdate,
        InitialSessionConfigOption
    }
    session_delete { DeleteSessionRequest, DeleteSessionResponse }
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
        IdleStateUpdate, StopReason, ErrorStopReason, Usage, BackgroundWork, BackgroundTerminal,
        BackgroundToolCall, BackgroundSubagent
    }
    session_status { SessionStatusRequest, SessionStatusResponse, SessionStatus }
    slash_commands {
        AvailableCommandsUpdate, AvailableCommand, Command, AvailableCommandInput, TextCommandInput,
        Skill
    }
    subagents {
        SubagentUpdate, SubagentSessionCapabilities, SessionCancelCapabilities, SessionMessage,
        SessionMessageChunk
    }
    system_prompt { SystemPrompt, SystemPromptMode }
    terminals {
        TerminalId, TerminalUpdate, TerminalOutput, TerminalOutputChunk, TerminalExitStatus,
        TerminalSize, TerminalLength, TerminalCapabilities, TerminalCancelCapabilities, CancelTerminalRequest,
        CancelTerminalResponse
    }
    tool_calls {
        ToolCallId, ToolCallUpdate, ToolCallContentChunk, ToolCallCapabilities,
        ToolCallCancelCapabilities, CancelToolCallRequest, CancelToolCallResponse, ToolKind,
        ToolCallStatus, ToolCallContent, Content, Terminal, ToolCallLocation, SessionReference
    }
} };

/// A version of the protocol, for tests.
pub(crate) struct Version {
    /// Name of its module.
    pub(crate) name: &'static str,
    pub(crate) types: &'static [WireType],
    pub(crate) shapes: &'static LazyLock<Shapes>,
    pub(crate) methods: &'static [Method],
}

pub(crate) const VERSIONS: [Version; 2] = [
    Version { name: "v1", types: V1, shapes: &shapes::V1, methods: methods::V1 },
    Version { name: "v2", types: V2, shapes: &shapes::V2, methods: methods::V2 },
];

impl Version {
    /// Returns the type with this name.
    pub(crate) fn find(&self, name: &str) -> &'static WireType {
        let find = || self.types.iter().find(|wire_type| wire_type.name == name);
        find().unwrap_or_else(|| panic!("no type {name} in {}", self.name))
    }

    /// Returns the folder with the fixtures of its types.
    pub(crate) fn fixtures(&self) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(self.name)
    }
}

/// The list of each version has exactly its own types and the shared ones.
#[test]
fn lists_are_complete() -> Result<(), Box<dyn Error>> {
    for version in VERSIONS {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let mut defined = BTreeSet::new();
        let pages = fs::read_dir(sources.join(version.name))?;
        for file in pages.chain(fs::read_dir(sources.join("shared"))?) {
            let path = file?.path();
            // Types in this file are decoded by method; the law does not apply to them.
            if path.file_name().is_some_and(|name| name == "dispatch.rs") {
                continue;
            }
            for line in fs::read_to_string(&path)?.lines().map(str::trim) {
                let item =
                    line.strip_prefix("pub struct ").or_else(|| line.strip_prefix("pub enum "));
                let name = item.and_then(|item| item.split(|c: char| !c.is_alphanumeric()).next());
                defined.extend(name.map(str::to_owned));
            }
        }
        let listed: BTreeSet<_> = version.types.iter().map(|one| one.name.to_owned()).collect();
        assert_eq!(listed, defined, "{}", version.name);
        assert_eq!(listed.len(), version.types.len(), "a type is listed twice");
    }
    Ok(())
}
