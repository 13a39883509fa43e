//! Every wire type of the crate, by name.
use jsonrpc_core::wire::{DecodeError, decode};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeSet;
use std::error::Error;
use std::fs;
use std::path::Path;

/// A wire type.
pub(crate) struct WireType {
    /// Its name in the schema.
    pub(crate) name: &'static str,
    /// Decodes a text as the type, then encodes that.
    pub(crate) again: fn(&str) -> Result<String, DecodeError>,
}

fn again<T: DeserializeOwned + Serialize>(text: &str) -> Result<String, DecodeError> {
    decode::<T>(text).map(|value| serde_json::to_string(&value).expect("it has a JSON form"))
}

macro_rules! wire_types {
    ($version:ident { $( $module:ident { $($Type:ident),+ } )+ }) => {
        &[$($( WireType {
            name: stringify!($Type),
            again: again::<acp_types::$version::$module::$Type>,
        }, )+)+]
    };
}

/// The types of version 1.
pub(crate) const V1: &[WireType] = wire_types! { v1 {
    initialization {
        ProtocolVersion, InitializeRequest, InitializeResponse, Implementation,
        ClientCapabilities, FileSystemCapabilities, ClientSessionCapabilities,
        CompactionCapabilities, NoticeCapabilities, SessionConfigOptionsCapabilities,
        BooleanConfigOptionCapabilities, AuthCapabilities, ElicitationCapabilities,
        ElicitationFormCapabilities, ElicitationUrlCapabilities, AgentCapabilities,
        PromptCapabilities, McpCapabilities, SessionCapabilities, SessionListCapabilities,
        SessionDeleteCapabilities, SessionAdditionalDirectoriesCapabilities,
        SessionResumeCapabilities, SessionCloseCapabilities, AgentAuthCapabilities,
        LogoutCapabilities
    }
    authentication {
        AuthMethodId, AuthMethod, AuthMethodTerminal, AuthMethodAgent, AuthenticateRequest,
        AuthenticateResponse, LogoutRequest, LogoutResponse
    }
    session_setup {
        SessionId, NewSessionRequest, NewSessionResponse, LoadSessionRequest,
        LoadSessionResponse, ResumeSessionRequest, ResumeSessionResponse,
        CloseSessionRequest, CloseSessionResponse, McpServer, McpServerHttp, McpServerSse,
        McpServerStdio, HttpHeader, EnvVariable
    }
    session_list {
        ListSessionsRequest, ListSessionsResponse, SessionInfo, DeleteSessionRequest,
        DeleteSessionResponse, SessionInfoUpdate
    }
    session_modes {
        SessionModeId, SessionModeState, SessionMode, SetSessionModeRequest,
        SetSessionModeResponse, CurrentModeUpdate
    }
    session_config_options {
        SessionConfigId, SessionConfigValueId, SessionConfigGroupId, SessionConfigOption,
        SessionConfigKind, SessionConfigOptionCategory, SessionConfigSelect,
        SessionConfigBoolean, SessionConfigSelectOptions, SessionConfigSelectOption,
        SessionConfigSelectGroup, SetSessionConfigOptionRequest, SessionConfigOptionValue,
        SessionConfigOptionBoolean, SessionConfigOptionValueId,
        SetSessionConfigOptionResponse, ConfigOptionUpdate
    }
    prompt_turn {
        MessageId, PromptRequest, PromptResponse, StopReason, Usage, CancelNotification,
        SessionNotification, SessionUpdate, ContentChunk, UsageUpdate, Cost
    }
    content {
        ContentBlock, TextContent, ImageContent, AudioContent, ResourceLink,
        EmbeddedResource, EmbeddedResourceResource, TextResourceContents,
        BlobResourceContents, Annotations, Role
    }
    tool_calls {
        ToolCallId, PermissionOptionId, ToolCall, ToolCallUpdate, ToolKind, ToolCallStatus,
        ToolCallContent, Content, Diff, Terminal, ToolCallLocation,
        RequestPermissionRequest, PermissionOption, PermissionOptionKind,
        RequestPermissionResponse, RequestPermissionOutcome, SelectedPermissionOutcome
    }
    file_system {
        ReadTextFileRequest, ReadTextFileResponse, WriteTextFileRequest,
        WriteTextFileResponse
    }
    terminals {
        TerminalId, CreateTerminalRequest, CreateTerminalResponse, TerminalOutputRequest,
        TerminalOutputResponse, TerminalExitStatus, WaitForTerminalExitRequest,
        WaitForTerminalExitResponse, KillTerminalRequest, KillTerminalResponse,
        ReleaseTerminalRequest, ReleaseTerminalResponse
    }
    agent_plan { Plan, PlanEntry, PlanEntryPriority, PlanEntryStatus }
    slash_commands {
        AvailableCommandsUpdate, AvailableCommand, AvailableCommandInput,
        UnstructuredCommandInput
    }
    elicitation {
        ElicitationId, CreateElicitationRequest, ElicitationMode, ElicitationFormMode,
        ElicitationUrlMode, ElicitationScope, ElicitationSessionScope,
        ElicitationRequestScope, ElicitationSchema, ElicitationSchemaType,
        ElicitationProperties, ElicitationPropertySchema, StringFormat,
        StringPropertySchema, EnumOption, NumberPropertySchema, IntegerPropertySchema,
        BooleanPropertySchema, MultiSelectPropertySchema, MultiSelectItems,
        StringMultiSelectItems, TitledMultiSelectItems, CreateElicitationResponse,
        ElicitationAction, ElicitationAcceptAction, ElicitationContentValue,
        CompleteElicitationNotification
    }
    notices { Notice, NoticeSeverity }
    compaction { CompactionId, CompactionUpdate, CompactionStatus, CompactionSummaryChunk }
    cancellation { CancelRequestNotification }
} };

/// The type of a name.
pub(crate) fn find(name: &str) -> &'static WireType {
    V1.iter().find(|wire_type| wire_type.name == name).unwrap_or_else(|| panic!("no type {name}"))
}

/// The list has every type of the sources, and no other.
#[test]
fn the_list_is_complete() -> Result<(), Box<dyn Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/v1");
    let mut defined = BTreeSet::new();
    for file in fs::read_dir(folder)? {
        let path = file?.path();
        // These are read by method, not from one text.
        if path.file_name().is_some_and(|name| name == "dispatch.rs") {
            continue;
        }
        for line in fs::read_to_string(&path)?.lines().map(str::trim) {
            let item = line.strip_prefix("pub struct ").or_else(|| line.strip_prefix("pub enum "));
            let name = item.and_then(|item| item.split(|c: char| !c.is_alphanumeric()).next());
            defined.extend(name.map(str::to_owned));
        }
    }
    let listed: BTreeSet<_> = V1.iter().map(|wire_type| wire_type.name.to_owned()).collect();
    assert_eq!(listed, defined);
    assert_eq!(listed.len(), V1.len(), "a type is listed twice");
    Ok(())
}
