//! A tool call becomes an `execute_tool` span.
//!
//! | property | value |
//! |---|---|
//! | name, kind | `execute_tool {gen_ai.tool.name}`, INTERNAL |
//! | parent | the oldest open turn of the session; none for a tool call outside of a turn |
//! | start | the first message about the tool call: `tool_call`, `tool_call_update` or a permission request |
//! | another span with the same id | a `tool_call`, a permission request, or an update with a status before the end and a name, title, kind or `rawInput`, after the agent has ended the call; a `tool_call` in a later turn |
//! | end | status `completed` or `failed`; otherwise the end of the turn, with `acp.tool.end` = `turn_end` |
//! | status | Error and `error.type` = `tool_error` for `failed`, else unset; `acp.tool.end` = `cancelled` for the status `cancelled` of version 2 |
//! | `gen_ai.operation.name` | `execute_tool` |
//! | `acp.method.name` | [`V1_39`](crate::Profile::V1_39) only: `session/update`. There is no request id, because updates are notifications |
//! | `gen_ai.conversation.id`, `gen_ai.agent.name` | the session, the agent |
//! | `gen_ai.tool.call.id` | `toolCallId` |
//! | `gen_ai.tool.name` | `name`, else found by an [extractor](crate::extract), else `kind`, else `other` |
//! | `acp.tool.kind` | the most recent `kind` |
//! | `gen_ai.tool.type` | by policy, see [`tool_type`](crate::tool_type) |
//! | `process.exit.code` | exit code of the command, if an [extractor](crate::extract) finds one, or with content capture, if the tool call shows a terminal |
//! | content capture | `gen_ai.tool.call.arguments` = `rawInput`; `gen_ai.tool.call.result` = `rawOutput`, else `output` and `exit_code` of the command, else `content` (in [`GENAI_DEV`](crate::Profile::GENAI_DEV), a value other than an object is wrapped in an object with the member `value`) |
//! | `acp.tool.title`, `acp.tool.locations` | subject to [`Policy::titles`](crate::Policy::titles) and [`Policy::paths`](crate::Policy::paths), see [`content`](crate::content) |
//!
//! Spec: [execute tool span,
//! v1.41.1](https://github.com/open-telemetry/semantic-conventions/blob/v1.41.1/docs/gen-ai/gen-ai-spans.md#execute-tool-span),
//! [Tool Calls](https://agentclientprotocol.com/protocol/v1/tool-calls)
use super::lifecycle::Peers;
use super::members::{Members, UPDATE};
use super::terminals::Terminals;
use crate::attribute::{Attributes, MAX_NAME_BYTES, clip, cut};
use crate::close::EndCause;
use crate::details::Details;
use crate::extract::{self, Active, FoundValue, ToolFacts};
use crate::json::string;
use crate::keys;
use crate::policy::{ClientTools, Policy, ToolContent};
use crate::span::{SpanHandle, Status};
use crate::tool_type::tool_type;
use acp_types::v1::tool_calls::ToolKind;
use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use jsonrpc_core::wire::Meta;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

mod content;

pub(crate) use content::Content;

/// Maximum number of locations recorded for a tool call.
pub const MAX_LOCATIONS: usize = 32;

/// Returns the name of a tool, an identifier of low cardinality. The title is never used, because
/// it is a sentence.
///
/// The name is the first of: `name`; the `_meta` members that name a tool for any agent, see
/// [`extract`]; `kind`; `other`. Further places depend on the agent.
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
    let name = name.filter(|name| !name.is_empty()).map(clip);
    let name = name.or_else(|| extract::name_in_meta(meta?.as_str()).as_deref().map(clip));
    name.unwrap_or_else(|| clip(kind.map_or("other", ToolKind::as_str)))
}

/// The members of a message about a tool call, borrowed. Content is decoded only with content
/// capture.
///
/// Covers `ToolCall` and `ToolCallUpdate` of both versions. Their common members have the same
/// names.
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
    /// `rawOutput` without its validation, for extractors.
    #[serde(skip)]
    skimmed_output: Option<&'a str>,
    /// Whether `rawInput` precedes the last of the members that are always read.
    #[serde(skip)]
    has_input: bool,
    #[serde(skip)]
    facts: ToolFacts,
}

fn json_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de str>, D::Error> {
    Ok(Option::<&RawValue>::deserialize(deserializer)?.map(RawValue::get))
}

impl<'a> ToolReport<'a> {
    /// Decodes the members found in an update. Returns `None` if one is invalid. Sufficient without
    /// content capture.
    pub(crate) fn of_members(members: &Members<'a>) -> Option<Self> {
        let text = |member: Option<&'a str>| match member {
            None | Some("null") => Some(None),
            Some(member) => string(member).map(Some),
        };
        let update = members.session_update.map(core::str::from_utf8).transpose().ok()?;
        Some(Self {
            id: string(members.tool_call_id?)?,
            update: text(update)?,
            name: text(members.name)?,
            // An invalid title has no influence.
            title: members.title.and_then(string),
            kind: text(members.kind)?,
            status: text(members.status)?,
            content: None,
            locations: None,
            raw_input: None,
            raw_output: None,
            meta: members.update_meta,
            skimmed_output: members.raw_output,
            has_input: members.has_input,
            facts: ToolFacts::default(),
        })
    }

    /// Applies the extractors of the agent.
    pub(crate) fn extract(mut self, active: &Active) -> Self {
        let output = self.raw_output.map(RawValue::get).or(self.skimmed_output);
        if self.meta.is_none() && output.is_none() && !active.reads_other {
            return self;
        }
        let lookup = |path: &str| {
            let path = path.strip_prefix('/')?;
            let (name, rest) = path.find('/').map_or((path, ""), |at| path.split_at(at));
            match name {
                "toolCallId" => Some(FoundValue::Text(self.id.clone())),
                "title" => self.title.clone().map(FoundValue::Text),
                "_meta" => FoundValue::at(self.meta?, rest),
                "rawOutput" => FoundValue::at(output?, rest),
                _ => None,
            }
        };
        self.facts = ToolFacts::read(active, self.announces(), lookup);
        self
    }
}

impl ToolReport<'_> {
    /// Returns whether the agent announces a new tool call rather than updating one.
    pub(crate) fn announces(&self) -> bool {
        self.update.as_deref() == Some("tool_call")
    }

    /// Returns whether the report begins a call if the agent has ended the call with its id: an
    /// announcement, a permission request, or an update that describes a call with a status before
    /// the end. ACP v2 has no other form of an announcement.
    pub(crate) fn begins_another(&self) -> bool {
        let describes = self.name.is_some()
            || self.title.is_some()
            || self.kind.is_some()
            || self.has_input
            || self.raw_input.is_some();
        let is_before_end = self.status.is_some() && self.end().is_none();
        self.announces() || self.update.is_none() || describes && is_before_end
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
        let name = self.name.as_deref().filter(|name| !name.is_empty());
        name.map(clip).or_else(|| self.facts.name.clone())
    }

    pub(crate) fn kind(&self) -> Option<ToolKind> {
        self.kind.as_deref().map(|kind| ToolKind::from(cut(kind, MAX_NAME_BYTES)))
    }

    /// Returns the span name and the attributes that are known at the start and never change.
    pub(crate) fn start(
        &self,
        policy: &Policy,
        peers: &Peers,
        session: &str,
    ) -> (ToolSpanName, Attributes) {
        let given = self.given_name();
        let named = given.is_some();
        let name = given.unwrap_or_else(|| tool_name(None, None, self.kind().as_ref()));
        let mut attributes = Attributes::of_span();
        peers.set_gen_ai("execute_tool", Some(session), &mut attributes);
        attributes.set(keys::GEN_AI_TOOL_CALL_ID, clip(&self.id));
        attributes.set_some(keys::GEN_AI_TOOL_NAME, named.then(|| name.clone()));
        if policy.profile.client_tools == ClientTools::ExecuteTool {
            attributes.set(keys::ACP_METHOD_NAME, UPDATE);
        }
        peers.set_protocol_version(&mut attributes);
        attributes.set_some(keys::NETWORK_TRANSPORT, policy.network_transport.clone());
        (ToolSpanName { name, named }, attributes)
    }
}

/// Properties with which the span of a tool call was started.
#[derive(Clone, Debug)]
pub(crate) struct ToolSpanName {
    name: String,
    /// Whether the agent provided the name. Such a name is final.
    named: bool,
}

impl ToolSpanName {
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
    /// Whether the agent requested files or terminals of the client while this was the only running
    /// tool call.
    pub(crate) is_by_client: bool,
    span_name: ToolSpanName,
    /// Whether the agent has announced it, in addition to updates and permission requests.
    is_announced: bool,
    name: Option<String>,
    kind: Option<ToolKind>,
    exit_code: Option<i64>,
    content: Option<Box<Content>>,
}

/// How a tool call ended.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ToolEnd {
    Completed,
    Failed,
    Cancelled,
    TurnEnd,
    Connection(EndCause),
}

impl OpenToolCall {
    pub(crate) fn new(
        policy: &Policy,
        span: SpanHandle,
        turn: Option<SpanHandle>,
        span_name: ToolSpanName,
    ) -> Self {
        let content = Content::is_wanted(policy).then(Box::default);
        Self {
            span,
            turn,
            is_by_client: false,
            span_name,
            is_announced: false,
            name: None,
            kind: None,
            exit_code: None,
            content,
        }
    }

    /// Returns the kind, if the agent has not announced the call.
    pub(crate) fn unannounced(&self) -> Option<Option<ToolKind>> {
        (!self.is_announced).then(|| self.kind.clone())
    }

    /// Merges an update.
    pub(crate) fn update(&mut self, policy: &Policy, report: &ToolReport<'_>) {
        self.is_announced |= report.announces();
        if !self.span_name.named && self.name.is_none() {
            self.name = report.given_name();
        }
        if let Some(kind) = report.kind() {
            self.kind = Some(kind);
        }
        self.exit_code = report.facts.exit_code.or(self.exit_code);
        if let Some(content) = &mut self.content {
            content.update(policy, report);
        }
    }

    /// Adds the output and the exit code of the terminals that the tool call shows.
    pub(crate) fn add_terminals(&mut self, terminals: &Terminals) {
        let Some(content) = &mut self.content else { return };
        for terminal in content.terminals.iter().filter_map(|id| terminals.get(id)) {
            content.output.get_or_insert_default().push_str(&terminal.output);
            self.exit_code = terminal.exit_code.or(self.exit_code);
        }
    }

    /// Returns the new span name if it changed, the status, the attributes learned since the start,
    /// and those of the content event.
    pub(crate) fn end(
        self,
        policy: &Policy,
        how: ToolEnd,
    ) -> (Option<Cow<'static, str>>, Status, Attributes, Attributes) {
        let mut attributes = Attributes::default();
        let mut renamed = None;
        if !self.span_name.named {
            let name = self.name.unwrap_or_else(|| tool_name(None, None, self.kind.as_ref()));
            renamed = (name != self.span_name.name).then(|| span_name(&name));
            attributes.set(keys::GEN_AI_TOOL_NAME, name);
        }
        let kind = self.kind.as_ref().unwrap_or(&ToolKind::Other);
        let tool_type = tool_type(kind, self.is_by_client, policy.tool_type);
        attributes.set_some(keys::GEN_AI_TOOL_TYPE, tool_type);
        attributes.set_some(keys::ACP_TOOL_KIND, self.kind.map(|kind| clip(kind.as_str())));
        attributes.set_some(keys::PROCESS_EXIT_CODE, self.exit_code);
        let code = self.exit_code;
        let details = self.content.map(|content| content.details(policy, code)).unwrap_or_default();
        attributes.extend(details.span);
        (renamed, how.set(&mut attributes), attributes, details.event)
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

impl ToolEnd {
    /// Returns whether the agent reported the end.
    pub(crate) fn is_reported(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }

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
            Self::Connection(cause) => cause.set(keys::ACP_TOOL_END, attributes),
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
