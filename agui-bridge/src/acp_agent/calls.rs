//! Tool calls of an AG-UI stream as ACP tool calls.
use super::AcpAgent;
use crate::json;
use acp_types::v1::content::{AudioContent, ContentBlock, ImageContent};
use acp_types::v1::prompt_turn::SessionUpdate;
use acp_types::v1::tool_calls::{
    Content as ToolContent, ToolCall, ToolCallContent, ToolCallId, ToolCallLocation,
    ToolCallStatus, ToolCallUpdate, ToolKind,
};
use agui_types::Metadata;
use agui_types::content::{Content, ContentPart, PartSource};
use agui_types::event::{ToolCallResultEvent, ToolCallStartEvent};
use agui_types::id::ToolCallId as CallId;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::{Extra, Raw};

/// Largest number of remembered calls; the smallest ids are removed first.
const MAX_CALLS: usize = 10_000;

/// The agent's tool calls.
#[derive(Clone, Debug, Default)]
pub(super) struct Calls {
    calls: BTreeMap<CallId, StreamedCall>,
    argument_bytes: usize,
    item_bytes: usize,
}

#[derive(Clone, Debug, Default)]
struct StreamedCall {
    arguments: String,
    is_ended: bool,
    is_done: bool,
    /// Diffs and other content that the text of the result only summarizes.
    items: Vec<ToolCallContent>,
    item_bytes: usize,
}

impl Calls {
    /// Returns the calls without a result, in no particular order.
    fn open(&self) -> Vec<CallId> {
        self.calls.iter().filter(|(_, call)| !call.is_done).map(|(id, _)| id.clone()).collect()
    }

    fn insert(&mut self, id: CallId) {
        if self.calls.len() >= MAX_CALLS
            && let Some((_, oldest)) = self.calls.pop_first()
        {
            self.forget(&oldest);
        }
        if let Some(replaced) = self.calls.insert(id, StreamedCall::default()) {
            self.forget(&replaced);
        }
    }

    fn forget(&mut self, call: &StreamedCall) {
        self.argument_bytes -= call.arguments.len();
        self.item_bytes -= call.item_bytes;
    }

    /// Stores the content that a call shows, within the limit.
    fn keep_items(&mut self, id: &CallId, items: Vec<ToolCallContent>, limit: usize) {
        let Some(call) = self.calls.get_mut(id) else { return };
        self.item_bytes -= core::mem::take(&mut call.item_bytes);
        let bytes = json::raw(&items).as_str().len();
        if items.is_empty() || self.item_bytes.saturating_add(bytes) > limit {
            call.items = Vec::new();
        } else {
            call.items = items;
            call.item_bytes = bytes;
            self.item_bytes += bytes;
        }
    }
}

impl AcpAgent {
    pub(super) fn start_call(&mut self, start: &ToolCallStartEvent) {
        self.calls.insert(start.tool_call_id.clone());
        let acp = acp(start.metadata.as_ref());
        let title: Option<String> = member(&acp, "title");
        let mut call = ToolCall::new(
            start.tool_call_id.as_str(),
            title.unwrap_or_else(|| start.tool_call_name.clone()),
        );
        call.name = Some(start.tool_call_name.clone());
        call.kind = Some(member(&acp, "kind").unwrap_or(ToolKind::Other));
        call.status = Some(ToolCallStatus::Pending);
        call.locations =
            member::<Vec<ToolCallLocation>>(&acp, "locations").filter(|at| !at.is_empty());
        self.update(SessionUpdate::ToolCall(Box::new(call)));
    }

    pub(super) fn extend_call(&mut self, id: &CallId, delta: &str) {
        let limit = self.options.max_call_bytes;
        let kept = self.calls.argument_bytes.saturating_add(delta.len());
        let Some(call) = self.calls.calls.get_mut(id).filter(|call| !call.is_ended) else {
            return self.lose("TOOL_CALL_ARGS", "its call is not open");
        };
        if kept > limit {
            return self.lose("TOOL_CALL_ARGS", "the arguments are too long");
        }
        call.arguments.push_str(delta);
        self.calls.argument_bytes = kept;
    }

    pub(super) fn end_call(&mut self, id: &CallId) {
        let Some(call) = self.calls.calls.get_mut(id).filter(|call| !call.is_ended) else {
            return self.lose("TOOL_CALL_END", "its call is not open");
        };
        call.is_ended = true;
        let arguments = core::mem::take(&mut call.arguments);
        self.calls.argument_bytes -= arguments.len();
        let mut update = ToolCallUpdate::new(id.as_str());
        update.status = ToolCallStatus::InProgress.into();
        if !arguments.is_empty() {
            let input = Raw::from_text(&*arguments).unwrap_or_else(|_| json::raw(&arguments));
            update.raw_input = input.into();
        }
        self.update(SessionUpdate::ToolCallUpdate(Box::new(update)));
    }

    pub(super) fn finish_call(&mut self, result: &ToolCallResultEvent) {
        if !self.calls.calls.contains_key(&result.tool_call_id) {
            // A call of an earlier run.
            self.calls.insert(result.tool_call_id.clone());
        }
        let Some(call) = self.calls.calls.get_mut(&result.tool_call_id) else { return };
        if core::mem::replace(&mut call.is_done, true) {
            return self.lose("TOOL_CALL_RESULT", "its call has a result");
        }
        let text = flatten(&result.content);
        let items = core::mem::take(&mut call.items);
        self.calls.item_bytes -= core::mem::take(&mut call.item_bytes);
        let content = if items.is_empty() { tool_content(&result.content) } else { items };
        let status: Option<String> = member(&acp(result.metadata.as_ref()), "status");
        let mut update = ToolCallUpdate::new(result.tool_call_id.as_str());
        update.status = match status.as_deref() {
            None | Some("completed") => ToolCallStatus::Completed.into(),
            Some(_) => ToolCallStatus::Failed.into(),
        };
        update.content = content.into();
        update.raw_output = json::raw(&text).into();
        self.update(SessionUpdate::ToolCallUpdate(Box::new(update)));
    }

    /// Shows an `acp.tool` activity, and returns whether it concerns a call. The result determines
    /// the final status.
    pub(super) fn show_call(&mut self, activity: &Extra) -> bool {
        let Some(id) = activity.get("toolCallId").and_then(|id| id.decode::<CallId>().ok()) else {
            return false;
        };
        let Some(call) = self.calls.calls.get(&id) else { return false };
        let read = Some(activity.clone());
        let content: Vec<ToolCallContent> = member(&read, "content").unwrap_or_default();
        let is_item = |item: &ToolCallContent| match item {
            ToolCallContent::Diff(_) => true,
            ToolCallContent::Content(content) => !matches!(content.content, ContentBlock::Text(_)),
            // The editor does not have the agent's terminals.
            _ => false,
        };
        let items: Vec<_> = content.iter().filter(|item| is_item(item)).cloned().collect();
        let is_done = call.is_done;
        let mut update = ToolCallUpdate::new(ToolCallId::from(id.as_str()));
        update.title = member::<String>(&read, "title").map(Into::into).unwrap_or_default();
        update.kind = member::<ToolKind>(&read, "kind").map(Into::into).unwrap_or_default();
        update.locations = member::<Vec<_>>(&read, "locations").map(Into::into).unwrap_or_default();
        if !is_done {
            self.calls.keep_items(&id, items, self.options.max_call_bytes);
            let shown: Vec<_> = content
                .into_iter()
                .filter(|item| !matches!(item, ToolCallContent::Terminal(_)) && item.is_known())
                .collect();
            update.content = shown.into();
        } else if !items.is_empty() {
            update.content = items.into();
        }
        self.update(SessionUpdate::ToolCallUpdate(Box::new(update)));
        true
    }

    /// Fails the calls that have no result.
    pub(super) fn fail_open_calls(&mut self, why: &str) {
        for id in self.calls.open() {
            self.fail_call(&id, why);
        }
    }

    pub(super) fn fail_call(&mut self, id: &CallId, why: &str) {
        if let Some(call) = self.calls.calls.get_mut(id) {
            let failed = StreamedCall { is_ended: true, is_done: true, ..StreamedCall::default() };
            let call = core::mem::replace(call, failed);
            self.calls.forget(&call);
        }
        let mut update = ToolCallUpdate::new(id.as_str());
        update.status = ToolCallStatus::Failed.into();
        update.content = Vec::from([text_content(why)]).into();
        self.update(SessionUpdate::ToolCallUpdate(Box::new(update)));
    }
}

/// Returns the member `acp` of metadata.
fn acp(metadata: Option<&Metadata>) -> Option<Extra> {
    metadata?.get("acp")?.decode().ok()
}

fn member<T: jsonrpc_core::wire::Wire>(members: &Option<Extra>, name: &str) -> Option<T> {
    members.as_ref()?.get(name)?.decode().ok()
}

fn text_content(text: &str) -> ToolCallContent {
    ToolCallContent::Content(ToolContent::new(ContentBlock::from(text)))
}

/// Returns a result's content for the editor.
fn tool_content(content: &Content) -> Vec<ToolCallContent> {
    let parts = match content {
        Content::Text(text) if text.is_empty() => return Vec::new(),
        Content::Text(text) => return Vec::from([text_content(text)]),
        Content::Parts(parts) => parts,
    };
    let block = |part: &ContentPart| match part {
        ContentPart::Text(text) => ContentBlock::from(&*text.text),
        ContentPart::Image(image) => match &image.source {
            PartSource::Data(data) => {
                ContentBlock::Image(Box::new(ImageContent::new(&*data.value, &*data.mime_type)))
            }
            other => ContentBlock::from(named(part, other)),
        },
        ContentPart::Audio(audio) => match &audio.source {
            PartSource::Data(data) => {
                ContentBlock::Audio(Box::new(AudioContent::new(&*data.value, &*data.mime_type)))
            }
            other => ContentBlock::from(named(part, other)),
        },
        other => ContentBlock::from(format!("[{}]", other.tag())),
    };
    parts.iter().map(|part| ToolCallContent::Content(ToolContent::new(block(part)))).collect()
}

/// Returns the same content as one text.
fn flatten(content: &Content) -> String {
    let parts = match content {
        Content::Text(text) => return text.clone(),
        Content::Parts(parts) => parts,
    };
    let lines: Vec<String> = parts
        .iter()
        .map(|part| part.as_text().map_or_else(|| format!("[{}]", part.tag()), String::from))
        .collect();
    lines.join("\n")
}

fn named(part: &ContentPart, source: &PartSource) -> String {
    match source {
        PartSource::Url(url) => format!("[{}]({})", part.tag(), url.value),
        _ => format!("[{}]", part.tag()),
    }
}
