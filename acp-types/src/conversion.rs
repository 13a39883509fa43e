//! Conversions from version 2 to version 1, for types that differ partially.
//!
//! The JSON value stays the same: a member that version 1 does not define is in `extra`, and an
//! unknown variant stays unknown.
use crate::alike::{alike, option_to_v1};
use crate::{v1, v2};
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use jsonrpc_core::wire::{Extra, Presence, Raw};
use serde::Serialize;

/// Implements `From` for objects of version 2 with the members of their version 1 counterparts.
macro_rules! objects {
    ($( $page:ident::$Type:ident { $($member:ident $(: $convert:expr)?),+ $(,)? } )+) => { $(
        impl From<v2::$page::$Type> for v1::$page::$Type {
            fn from(value: v2::$page::$Type) -> Self {
                Self { $( $member: objects!(@ value.$member $(, $convert)?), )+ }
            }
        }
    )+ };
    (@ $value:expr) => { $value };
    (@ $value:expr, $convert:expr) => { $convert($value) };
}

/// Implements `From` for unions of version 2 with the variants of their version 1 counterparts.
macro_rules! unions {
    ($( $from:path => $to:path { $($variant:ident $(: $convert:expr)?),+ $(,)? } )+) => { $(
        impl From<$from> for $to {
            fn from(value: $from) -> Self {
                use $from as From2;
                match value {
                    $( From2::$variant(value) => Self::$variant(objects!(@ value $(, $convert)?)), )+
                }
            }
        }
    )+ };
}

objects! {
    agent_plan::PlanUpdate { plan: Into::into, meta, extra }
    agent_plan::PlanItems { plan_id, entries: list, meta, extra }
    agent_plan::PlanMarkdown { plan_id, content, path: optional_text, meta, extra }
    agent_plan::PlanEntry { content, priority, status: plan_entry_status, meta, extra }
    compaction::CompactionSummaryChunk { compaction_id, content: Into::into, meta, extra }
    content::ImageContent { data, mime_type: text, uri, annotations, meta, extra }
    content::AudioContent { data, mime_type: text, annotations, meta, extra }
    content::EmbeddedResource { resource: Into::into, annotations, meta, extra }
    content::TextResourceContents { uri, text, mime_type: optional_text, meta, extra }
    content::BlobResourceContents { uri, blob, mime_type: optional_text, meta, extra }
    elicitation::CreateElicitationRequest { message, mode: Into::into, meta }
    elicitation::ElicitationFormMode { requested_schema: Into::into, scope }
    elicitation::ElicitationSchema {
        r#type: Some, title, description, properties: Some, required, meta, extra,
    }
    subagents::SubagentUpdate {
        session_id, title, description, capabilities,
        state: |state| patch(state, Into::into), cwd: |cwd| patch(cwd, text),
        additional_directories: |folders: Presence<Vec<_>>| {
            patch(folders, |folders| folders.into_iter().map(text).collect())
        },
        meta, extra,
    }
    subagents::SessionMessage {
        message_id, sender_session_id, recipient_session_id, sender_message_id,
        recipient_message_id, content: |content| patch(content, list), meta, extra,
    }
    subagents::SessionMessageChunk { message_id, content: Into::into, meta, extra }
    tool_calls::ToolCallLocation { path: text, line, meta, extra }
}

unions! {
    v2::agent_plan::PlanUpdateContent => v1::agent_plan::PlanUpdateContent {
        Items: Into::into, File, Markdown: Into::into, Unknown,
    }
    v2::content::EmbeddedResourceResource => v1::content::EmbeddedResourceResource {
        Text: Into::into, Blob: Into::into, Unknown,
    }
    v2::elicitation::ElicitationMode => v1::elicitation::ElicitationMode {
        Form: boxed, Url, Unknown,
    }
    v2::session_states::StateUpdate => v1::subagents::StateUpdate {
        Running: Into::into, Idle: boxed, RequiresAction: Into::into, UnknownState: Into::into,
        Unknown,
    }
    v2::session_states::StopReason => v1::subagents::IdleStopReason {
        EndTurn, MaxTokens, MaxTurnRequests, Refusal, Cancelled, Error, NotReported, Unknown,
    }
    v2::permissions::RequestPermissionOutcome => v1::tool_calls::RequestPermissionOutcome {
        Cancelled: cancelled, Selected, Unknown,
    }
}

/// A skill is an unknown variant in version 1.
impl From<v2::content::ContentBlock> for v1::content::ContentBlock {
    fn from(block: v2::content::ContentBlock) -> Self {
        use v2::content::ContentBlock;

        match block {
            ContentBlock::Text(text) => Self::Text(text),
            ContentBlock::Image(image) => Self::Image(boxed(image)),
            ContentBlock::Audio(audio) => Self::Audio(boxed(audio)),
            ContentBlock::ResourceLink(link) => Self::ResourceLink(boxed(link)),
            ContentBlock::Resource(resource) => Self::Resource(boxed(resource)),
            ContentBlock::Unknown(block) => Self::Unknown(block),
            ContentBlock::Skill(skill) => {
                let block = alike(&ContentBlock::Skill(skill.clone()));
                block.unwrap_or_else(|| Self::from(skill.name))
            }
        }
    }
}

/// Version 1 requires a status. `null` is the initial one, `in_progress`, and so is an absent one:
/// set it to the current status before the conversion of a later update.
impl From<v2::compaction::CompactionUpdate> for v1::compaction::CompactionUpdate {
    fn from(update: v2::compaction::CompactionUpdate) -> Self {
        let status = match update.status {
            Presence::Value(status) => status,
            Presence::Null | Presence::Absent => v1::compaction::CompactionStatus::InProgress,
        };
        Self {
            compaction_id: update.compaction_id,
            status,
            summary: patch(update.summary, list),
            error: update.error,
            meta: update.meta,
            extra: update.extra,
        }
    }
}

/// A size beyond the range of version 1 is in `extra`, as are the icons.
impl From<v2::content::ResourceLink> for v1::content::ResourceLink {
    fn from(link: v2::content::ResourceLink) -> Self {
        let mut extra = link.extra;
        keep(&mut extra, "icons", link.icons);
        let size = link.size.map(i64::try_from);
        keep(&mut extra, "size", link.size.filter(|_| matches!(size, Some(Err(_)))));
        Self {
            name: link.name,
            uri: link.uri,
            title: link.title,
            description: link.description,
            mime_type: optional_text(link.mime_type),
            size: size.and_then(Result::ok),
            annotations: link.annotations,
            meta: link.meta,
            extra,
        }
    }
}

/// Implements `From` for states with a member `background`, which version 1 does not define.
macro_rules! states {
    ($($Type:ident)+) => { $(
        impl From<v2::session_states::$Type> for v1::subagents::$Type {
            fn from(state: v2::session_states::$Type) -> Self {
                let mut extra = state.extra;
                keep(&mut extra, "background", state.background);
                Self { meta: state.meta, extra }
            }
        }
    )+ };
}

states! { RunningStateUpdate RequiresActionStateUpdate UnknownStateUpdate }

/// The background of a state with an unknown stop reason is dropped.
impl From<v2::session_states::IdleStateUpdate> for v1::subagents::IdleStateUpdate {
    fn from(idle: v2::session_states::IdleStateUpdate) -> Self {
        use v2::session_states::StopReason;

        let mut stop_reason = idle.stop_reason;
        match &mut stop_reason {
            StopReason::EndTurn(extra)
            | StopReason::MaxTokens(extra)
            | StopReason::MaxTurnRequests(extra)
            | StopReason::Refusal(extra)
            | StopReason::Cancelled(extra)
            | StopReason::NotReported(extra) => keep(extra, "background", idle.background),
            StopReason::Error(error) => keep(&mut error.extra, "background", idle.background),
            StopReason::Unknown(_) => {}
        }
        Self { usage: idle.usage, stop_reason: stop_reason.into(), meta: idle.meta }
    }
}

impl v1::session_config_options::SessionConfigOption {
    /// Converts an option of version 2; `None` if version 1 cannot express it.
    pub fn from_v2(option: &v2::session_config_options::SessionConfigOption) -> Option<Self> {
        option_to_v1(option)
    }
}

/// `type` and `properties` are required in version 2. Absent ones become their meaning, an object
/// without fields.
impl From<v1::elicitation::ElicitationSchema> for v2::elicitation::ElicitationSchema {
    fn from(schema: v1::elicitation::ElicitationSchema) -> Self {
        Self {
            r#type: schema.r#type.unwrap_or(v1::elicitation::ElicitationSchemaType::Object),
            properties: schema.properties.unwrap_or_default(),
            title: schema.title,
            description: schema.description,
            required: schema.required,
            meta: schema.meta,
            extra: schema.extra,
        }
    }
}

impl From<v1::elicitation::ElicitationFormMode> for v2::elicitation::ElicitationFormMode {
    fn from(form: v1::elicitation::ElicitationFormMode) -> Self {
        Self { requested_schema: form.requested_schema.into(), scope: form.scope }
    }
}

impl From<v1::elicitation::CreateElicitationRequest> for v2::elicitation::CreateElicitationRequest {
    fn from(request: v1::elicitation::CreateElicitationRequest) -> Self {
        use v1::elicitation::ElicitationMode;

        let mode = match request.mode {
            ElicitationMode::Form(form) => v2::elicitation::ElicitationMode::Form(boxed(form)),
            ElicitationMode::Url(url) => v2::elicitation::ElicitationMode::Url(url),
            ElicitationMode::Unknown(mode) => v2::elicitation::ElicitationMode::Unknown(mode),
        };
        Self { message: request.message, mode, meta: request.meta }
    }
}

fn plan_entry_status(status: v2::agent_plan::PlanEntryStatus) -> v1::agent_plan::PlanEntryStatus {
    status.as_str().into()
}

fn cancelled(outcome: v2::permissions::CancelledPermissionOutcome) -> Extra {
    let mut extra = outcome.extra;
    keep(&mut extra, "_meta", outcome.meta);
    extra
}

fn text(value: impl AsRef<str>) -> String {
    value.as_ref().to_string()
}

fn optional_text(value: Option<impl AsRef<str>>) -> Option<String> {
    value.map(text)
}

fn list<T, U: From<T>>(values: Vec<T>) -> Vec<U> {
    values.into_iter().map(U::from).collect()
}

#[expect(clippy::boxed_local, reason = "stands for `From` between boxes")]
fn boxed<T, U: From<T>>(value: Box<T>) -> Box<U> {
    Box::new(U::from(*value))
}

fn patch<T, U>(value: Presence<T>, convert: impl FnOnce(T) -> U) -> Presence<U> {
    match value {
        Presence::Absent => Presence::Absent,
        Presence::Null => Presence::Null,
        Presence::Value(value) => Presence::Value(convert(value)),
    }
}

/// Adds a member that version 1 does not define to the unknown members.
fn keep<T: Serialize>(extra: &mut Extra, name: &'static str, value: Option<T>) {
    if let Some(value) = value.and_then(|value| Raw::from_value(&value).ok()) {
        extra.insert(name, value);
    }
}
