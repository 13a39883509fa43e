//! Every wire type of the crate, by name.
use jsonrpc_core::wire::{DecodeError, decode};
use mcp_bridge::mcp::*;
use mcp_bridge::registry;
use serde::Serialize;
use std::fmt::Debug;

/// A wire type by name.
pub(crate) struct WireType {
    pub(crate) name: &'static str,
    /// Decodes a text as the type and encodes the value.
    pub(crate) again: fn(&str) -> Result<String, DecodeError>,
    /// Decodes a text as the type and returns the debug output.
    pub(crate) debug: fn(&str) -> Result<String, DecodeError>,
}

/// Finds the type of this name.
pub(crate) fn find(name: &str) -> &'static WireType {
    TYPES.iter().find(|wire_type| wire_type.name == name).expect(name)
}

fn again<T: jsonrpc_core::wire::Wire + Serialize>(text: &str) -> Result<String, DecodeError> {
    decode::<T>(text).map(|value| serde_json::to_string(&value).expect("JSON"))
}

fn debug<T: jsonrpc_core::wire::Wire + Debug>(text: &str) -> Result<String, DecodeError> {
    decode::<T>(text).map(|value| format!("{value:?}"))
}

macro_rules! wire_types {
    ($( $module:ident { $($Type:ident),+ $(,)? } )+) => {
        &[$($( WireType {
            name: stringify!($Type),
            again: again::<$module::$Type>,
            debug: debug::<$module::$Type>,
        }, )+)+]
    };
}

/// All wire types.
pub(crate) const TYPES: &[WireType] = wire_types! {
    base { ProtocolVersion, ResultType, CacheScope, RequestMetaObject, ResultMetaObject, NotificationMetaObject, RequestParams, PaginatedRequestParams, EmptyResult }
    cancellation { CancelledNotificationParams }
    capabilities { Implementation, Icon, IconTheme, ClientCapabilities, ElicitationCapability, SamplingCapability, ListChangedCapability, ResourcesCapability, ServerCapabilities }
    completion { CompleteRequestParams, CompletionReference, PromptReference, ResourceTemplateReference, CompletionArgument, CompletionContext, CompleteResult, Completion }
    content { ContentBlock, TextContent, MediaContent, EmbeddedResource, ResourceContents, Annotations, Role }
    discover { DiscoverResult }
    elicitation { ElicitRequestParams, ElicitRequestFormParams, ElicitRequestURLParams, RequestedSchema, SchemaType, PrimitiveSchemaDefinition, StringFormat, StringSchema, EnumOption, NumberSchema, BooleanSchema, MultiSelectEnumSchema, MultiSelectItems, ElicitResult, ElicitAction, ElicitationCompleteNotificationParams }
    error { UnsupportedProtocolVersionData, MissingRequiredClientCapabilityData, URLElicitationRequiredData }
    lifecycle { InitializeRequestParams, InitializeResult }
    logging { LoggingLevel, SetLevelRequestParams, LoggingMessageNotificationParams }
    mrtr { InputRequiredResult, InputRequest }
    progress { ProgressNotificationParams }
    prompts { ListPromptsResult, Prompt, PromptArgument, GetPromptRequestParams, GetPromptOutcome, GetPromptResult, PromptMessage }
    resources { ListResourcesResult, Resource, ListResourceTemplatesResult, ResourceTemplate, ReadResourceRequestParams, ReadResourceOutcome, ReadResourceResult, ResourceRequestParams }
    roots { ListRootsResult, Root }
    sampling { CreateMessageRequestParams, SamplingMessage, SamplingMessageContentBlock, ToolUseContent, ToolResultContent, ModelPreferences, ModelHint, IncludeContext, ToolChoice, ToolChoiceMode, CreateMessageResult, StopReason, SamplingContent }
    skills { SkillsCapability, Skill, SkillFrontmatter, SkillResources, SkillResource, ListSkillsResult, GetSkillResult, ReadResourceDirectoryRequestParams }
    subscriptions { SubscriptionsListenRequestParams, SubscriptionFilter }
    tasks { TaskMetadata, Task, TaskStatus, CreateTaskResult, TaskRequestParams, UpdateTaskRequestParams, ListTasksResult, CancelTaskResult }
    tools { Tool, ToolExecution, TaskSupport, ToolAnnotations, ListToolsResult, CallToolRequestParams, CallToolOutcome, CallToolResult }
    registry { ToolSourceName, ToolList, ToolMetadata, ToolParameter }
};
