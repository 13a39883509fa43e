//! A tool call becomes an `execute_tool` span.
//!
//! | property | value |
//! |---|---|
//! | name, kind | `execute_tool {gen_ai.tool.name}`, INTERNAL |
//! | parent | the oldest open turn of the session; none for a tool call outside of a turn |
//! | start | the first message about the tool call: `tool_call`, `tool_call_update` or a permission request |
//! | end | status `completed` or `failed`; otherwise the end of the turn, with `acp.tool.end` = `turn_end` |
//! | status | Error and `error.type` = `tool_error` for `failed`, else unset; `acp.tool.end` = `cancelled` for the status `cancelled` of version 2 |
//! | `gen_ai.operation.name` | `execute_tool` |
//! | `gen_ai.conversation.id`, `gen_ai.agent.name` | the session, the agent |
//! | `gen_ai.tool.call.id` | `toolCallId` |
//! | `gen_ai.tool.name` | see [`tool_name`] |
//! | `acp.tool.kind` | the most recent `kind` |
//! | `gen_ai.tool.type` | by policy, see [`tool_type`](crate::tool_type) |
//! | content capture | `gen_ai.tool.call.arguments` = `rawInput`; `gen_ai.tool.call.result` = `rawOutput`, else `content` (in [`GENAI_DEV`](crate::Profile::GENAI_DEV), a value other than an object is wrapped in an object with the member `value`) |
//! | `acp.tool.title`, `acp.tool.locations` | subject to [`Policy::titles`](crate::Policy::titles) and [`Policy::paths`](crate::Policy::paths), see [`content`](crate::content) |
//!
//! Spec: [execute tool span, v1.41.1](https://github.com/open-telemetry/semantic-conventions/blob/v1.41.1/docs/gen-ai/gen-ai-spans.md#execute-tool-span),
//! [Tool Calls](https://agentclientprotocol.com/protocol/v1/tool-calls)
use super::lifecycle::Peers;
use crate::attribute::{Attributes, MAX_NAME_BYTES, clip, cut};
use crate::content::{ContentKind, Details, redacted_list};
use crate::keys;
use crate::messages::{MAX_PATH_BYTES, location, tool_content};
use crate::policy::{Policy, ToolContent};
use crate::span::{SpanHandle, Status};
use crate::tool_type::tool_type;
use crate::tracker::{Members, Over, string};
use acp_types::v1::tool_calls::{ToolCallLocation, ToolKind};
use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::{self, Meta};
use jsonrpc_core::{array_items, find_member};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// Maximum number of locations recorded for a tool call.
pub const MAX_LOCATIONS: usize = 32;

/// Returns the name of a tool, an identifier of low cardinality. The title is never used, because it is a sentence.
///
/// The name is the first of: `name`; `_meta` members `claudeCode.toolName`, `toolName` or `tool_name`, which some
/// agents set; `kind`; `other`.
///
/// ```
/// use acp_types::v1::tool_calls::ToolKind;
/// use jsonrpc_core::wire::Meta;
/// use semconv_map::acp::tool_call::tool_name;
///
/// let meta: Meta = serde_json::from_str(r#"{"claudeCode":{"toolName":"Bash"}}"#)?;
/// assert_eq!(tool_name(Some("bash"), Some(&meta), Some(&ToolKind::Execute)), "bash");
/// assert_eq!(tool_name(None, Some(&meta), Some(&ToolKind::Execute)), "Bash");
/// assert_eq!(tool_name(None, None, Some(&ToolKind::Execute)), "execute");
/// assert_eq!(tool_name(None, None, None), "other");
/// # Ok::<(), serde_json::Error>(())
/// ```
pub fn tool_name(name: Option<&str>, meta: Option<&Meta>, kind: Option<&ToolKind>) -> String {
    given_name(name, meta.map(Meta::as_str))
        .unwrap_or_else(|| clip(kind.map_or("other", ToolKind::as_str)))
}

fn given_name(name: Option<&str>, meta: Option<&str>) -> Option<String> {
    let name = name.filter(|name| !name.is_empty()).map(clip);
    name.or_else(|| meta.and_then(meta_name)).filter(|name| !name.is_empty())
}

fn meta_name(meta: &str) -> Option<String> {
    let member = |object, name| find_member(object, &[name]);
    let text = |name| member(meta, name).and_then(string);
    let claude_code = || string(member(member(meta, "claudeCode")?, "toolName")?);
    let name = claude_code().or_else(|| text("toolName")).or_else(|| text("tool_name"));
    name.as_deref().map(clip)
}

/// The members of a message about a tool call, borrowed. Content is decoded only with content capture.
///
/// Covers `ToolCall` and `ToolCallUpdate` of both versions. Their common members have the same names.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ToolReport<'a> {
    #[serde(borrow, rename = "toolCallId")]
    pub(crate) id: Cow<'a, str>,
    #[serde(borrow, rename = "sessionUpdate")]
    update: Option<Cow<'a, str>>,
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    title: Option<Cow<'a, str>>,
    #[serde(borrow)]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow)]
    status: Option<Cow<'a, str>>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    locations: Option<&'a RawValue>,
    #[serde(borrow)]
    raw_input: Option<&'a RawValue>,
    #[serde(borrow)]
    raw_output: Option<&'a RawValue>,
    #[serde(borrow, rename = "_meta", default, deserialize_with = "json_text")]
    meta: Option<&'a str>,
}

fn json_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de str>, D::Error> {
    Ok(Option::<&RawValue>::deserialize(deserializer)?.map(RawValue::get))
}

impl<'a> ToolReport<'a> {
    /// Decodes the members found in an update. Returns `None` if one is invalid. Sufficient without content capture.
    pub(crate) fn of_members(members: &Members<'a>) -> Option<Self> {
        let text = |member: Option<&'a str>| match member {
            None | Some("null") => Some(None),
            Some(member) => string(member).map(Some),
        };
        Some(Self {
            id: string(members.tool_call_id?)?,
            update: text(members.session_update)?,
            name: text(members.name)?,
            title: None,
            kind: text(members.kind)?,
            status: text(members.status)?,
            content: None,
            locations: None,
            raw_input: None,
            raw_output: None,
            meta: members.update_meta,
        })
    }
}

impl ToolReport<'_> {
    /// Returns whether the agent announces a new tool call rather than updating one.
    pub(crate) fn announces(&self) -> bool {
        self.update.as_deref() == Some("tool_call")
    }

    /// Returns how the tool call ended, if it has.
    pub(crate) fn end(&self) -> Option<ToolEnd> {
        match self.status.as_deref()? {
            "completed" => Some(ToolEnd::Completed),
            "failed" => Some(ToolEnd::Failed),
            "cancelled" => Some(ToolEnd::Cancelled),
            _ => None,
        }
    }

    fn given_name(&self) -> Option<String> {
        given_name(self.name.as_deref(), self.meta)
    }

    fn kind(&self) -> Option<ToolKind> {
        self.kind.as_deref().map(|kind| ToolKind::from(cut(kind, MAX_NAME_BYTES)))
    }

    /// Returns the span name and the attributes that are known at the start and never change.
    pub(crate) fn start(
        &self,
        policy: &Policy,
        peers: &Peers,
        session: &str,
    ) -> (Started, Attributes) {
        let given = self.given_name();
        let named = given.is_some();
        let name = given.unwrap_or_else(|| tool_name(None, None, self.kind().as_ref()));
        let mut attributes = Attributes::of_span();
        peers.set_gen_ai("execute_tool", Some(session), &mut attributes);
        attributes.set(keys::GEN_AI_TOOL_CALL_ID, clip(&self.id));
        attributes.set_some(keys::GEN_AI_TOOL_NAME, named.then(|| name.clone()));
        peers.set_protocol_version(&mut attributes);
        attributes.set_some(keys::NETWORK_TRANSPORT, policy.network_transport.clone());
        (Started { name, named }, attributes)
    }
}

/// Properties with which the span of a tool call was started.
#[derive(Clone, Debug)]
pub(crate) struct Started {
    name: String,
    /// Whether the agent provided the name. Such a name is final.
    named: bool,
}

impl Started {
    pub(crate) fn tool_name(&self) -> &str {
        &self.name
    }

    pub(crate) fn span_name(&self) -> Cow<'static, str> {
        span_name(&self.name)
    }
}

fn span_name(tool: &str) -> Cow<'static, str> {
    format!("execute_tool {tool}").into()
}

/// A tool call with an open span.
#[derive(Clone, Debug)]
pub(crate) struct OpenToolCall {
    pub(crate) span: SpanHandle,
    /// The turn that the tool call belongs to.
    pub(crate) turn: Option<SpanHandle>,
    /// Whether the agent requested files or terminals of the client while this was the only running tool call.
    pub(crate) is_by_client: bool,
    started: Started,
    name: Option<String>,
    kind: Option<ToolKind>,
    content: Option<Box<Content>>,
}

/// Attributes that are subject to content capture or to a gate.
#[derive(Clone, Debug, Default)]
pub(crate) struct Content {
    title: Option<String>,
    locations: Option<Vec<String>>,
    arguments: Option<String>,
    result: Option<String>,
    produced: Option<String>,
}

/// How a tool call ended.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ToolEnd {
    Completed,
    Failed,
    Cancelled,
    TurnEnd,
    Over(Over),
}

impl OpenToolCall {
    pub(crate) fn new(
        policy: &Policy,
        span: SpanHandle,
        turn: Option<SpanHandle>,
        started: Started,
    ) -> Self {
        let content = Content::is_wanted(policy).then(Box::default);
        let is_by_client = false;
        Self { span, turn, is_by_client, started, name: None, kind: None, content }
    }

    /// Merges an update.
    pub(crate) fn update(&mut self, policy: &Policy, report: &ToolReport<'_>) {
        if !self.started.named && self.name.is_none() {
            self.name = report.given_name();
        }
        if let Some(kind) = report.kind() {
            self.kind = Some(kind);
        }
        if let Some(content) = &mut self.content {
            content.update(policy, report);
        }
    }

    /// Returns the new span name if it changed, the status, the attributes learned since the start, and those of the
    /// content event.
    pub(crate) fn end(
        self,
        policy: &Policy,
        how: ToolEnd,
    ) -> (Option<Cow<'static, str>>, Status, Attributes, Attributes) {
        let mut attributes = Attributes::default();
        let mut renamed = None;
        if !self.started.named {
            let name = self.name.unwrap_or_else(|| tool_name(None, None, self.kind.as_ref()));
            renamed = (name != self.started.name).then(|| span_name(&name));
            attributes.set(keys::GEN_AI_TOOL_NAME, name);
        }
        let kind = self.kind.as_ref().unwrap_or(&ToolKind::Other);
        let tool_type = tool_type(kind, self.is_by_client, policy.tool_type);
        attributes.set_some(keys::GEN_AI_TOOL_TYPE, tool_type);
        attributes.set_some(keys::ACP_TOOL_KIND, self.kind.map(|kind| clip(kind.as_str())));
        let details = self.content.map(|content| content.details(policy)).unwrap_or_default();
        attributes.extend(details.span);
        (renamed, how.set(&mut attributes), attributes, details.event)
    }
}

impl Content {
    /// Returns whether the policy records any of it.
    pub(crate) fn is_wanted(policy: &Policy) -> bool {
        policy.records_content() || policy.records(policy.titles) || policy.records(policy.paths)
    }

    fn update(&mut self, policy: &Policy, report: &ToolReport<'_>) {
        if let Some(title) = report.title.as_ref().filter(|_| policy.records(policy.titles)) {
            self.title = Some(cut(title, MAX_TITLE_BYTES).into());
        }
        let locations = report.locations.filter(|_| policy.records(policy.paths));
        if let Some(locations) = locations.and_then(|json| places(json.get())) {
            self.locations = Some(locations);
        }
        if !policy.records_content() {
            return;
        }
        let read =
            |kind, json: Option<&RawValue>| json.map(|json| tool_content(policy, kind, json.get()));
        let arguments = read(ContentKind::ToolArguments, report.raw_input);
        self.arguments = arguments.or(self.arguments.take());
        let result = read(ContentKind::ToolResult, report.raw_output);
        self.result = result.or(self.result.take());
        if self.result.is_none() {
            let produced = report.content.filter(|content| content.get() != "[]");
            let produced = read(ContentKind::ToolResult, produced);
            self.produced = produced.or(self.produced.take());
        }
    }

    fn details(self, policy: &Policy) -> Details {
        let mut details = Details::default();
        if let Some(title) = self.title {
            let title = policy.redacted(ContentKind::Title, title);
            details.set(policy, policy.titles, keys::ACP_TOOL_TITLE, title);
        }
        if let Some(locations) = self.locations {
            let locations = redacted_list(policy, ContentKind::Path, locations.into_iter());
            details.set(policy, policy.paths, keys::ACP_TOOL_LOCATIONS, locations);
        }
        let result = self.result.or(self.produced);
        set_tool_content(policy, &mut details, self.arguments, result);
        details
    }
}

/// Sets the arguments and the result of a tool call, each as returned by [`tool_content`].
pub(crate) fn set_tool_content(
    policy: &Policy,
    details: &mut Details,
    arguments: Option<String>,
    result: Option<String>,
) {
    for (key, json) in
        [(keys::GEN_AI_TOOL_CALL_ARGUMENTS, arguments), (keys::GEN_AI_TOOL_CALL_RESULT, result)]
    {
        let Some(json) = json else { continue };
        let json = match policy.profile.tool_content {
            ToolContent::Object if !json.starts_with('{') => format!("{{\"value\":{json}}}"),
            _ => json,
        };
        details.set_json(policy, key, json);
    }
}

fn places(json: &str) -> Option<Vec<String>> {
    if !json.starts_with('[') {
        return None;
    }
    let mut places = Vec::new();
    for place in array_items(json) {
        let place: ToolCallLocation = wire::decode(place).ok()?;
        if places.len() < MAX_LOCATIONS {
            places.push(location(&place.path, place.line));
        }
    }
    Some(places)
}

/// Maximum length of a title in bytes.
const MAX_TITLE_BYTES: usize = MAX_PATH_BYTES;

impl ToolEnd {
    fn set(self, attributes: &mut Attributes) -> Status {
        match self {
            Self::Completed => Status::Unset,
            Self::Failed => {
                attributes.set(keys::ERROR_TYPE, keys::error_type::TOOL_ERROR);
                Status::Error { description: None }
            }
            Self::Cancelled => {
                attributes.set(keys::ACP_TOOL_END, keys::end::CANCELLED);
                Status::Unset
            }
            Self::TurnEnd => {
                attributes.set(keys::ACP_TOOL_END, keys::end::TURN_END);
                Status::Unset
            }
            Self::Over(over) => over.set(keys::ACP_TOOL_END, attributes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_names_a_tool_without_a_name() {
        for kind in ToolKind::NAMES.iter().copied().chain(["newer"]) {
            assert_eq!(tool_name(None, None, Some(&ToolKind::from(kind))), kind);
        }
    }

    #[test]
    fn each_known_place_in_meta_names_a_tool() {
        let table = [
            (r#"{"claudeCode":{"toolName":"Bash"}}"#, "Bash"),
            (r#"{"toolName":"bash"}"#, "bash"),
            (r#"{"tool_name":"bash"}"#, "bash"),
            (r#"{"claudeCode":{},"tool_name":"bash"}"#, "bash"),
            (r#"{"tool_name":""}"#, "read"),
            (r#"{"tool_name":7}"#, "read"),
            (r#"{"name":"bash"}"#, "read"),
            ("[]", "read"),
        ];
        for (meta, expected) in table {
            let given: Meta = serde_json::from_str(meta).unwrap();
            assert_eq!(tool_name(None, Some(&given), Some(&ToolKind::Read)), expected, "{meta}");
        }
    }
}
