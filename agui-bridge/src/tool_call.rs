//! Tool calls: announced by any of three messages, updated in any order, ended once.
use crate::arguments::Arguments;
use crate::content::bounded_block;
use crate::ids;
use crate::json::{self, Members};
use crate::result::Output;
use crate::tool_name::{Clues, Source, tool_name};
use crate::translator::Translator;
use acp_types::v1::content::ContentBlock;
use acp_types::v1::tool_calls::{
    ToolCallContent, ToolCallId, ToolCallLocation, ToolCallStatus, ToolKind,
};
use agui_types::event::{
    ToolCallArgsEvent, ToolCallEndEvent, ToolCallResultEvent, ToolCallStartEvent,
};
use agui_types::id::ToolCallId as CallId;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use jsonrpc_core::wire::Raw;
use serde::{Deserialize, Serialize};

mod change;

pub(crate) use change::Change;

/// The tool calls of a thread, by the agent's ids.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct ToolCalls {
    calls: BTreeMap<ToolCallId, Call>,
    begun: u64,
}

impl ToolCalls {
    /// The calls that have not come so far, in the order in which they began.
    fn before(&self, stage: Stage) -> Vec<ToolCallId> {
        let calls = self.calls.iter().filter(|(_, call)| call.stage < stage);
        let mut calls: Vec<_> = calls.map(|(id, call)| (call.number, id.clone())).collect();
        calls.sort_unstable_by_key(|(number, _)| *number);
        calls.into_iter().map(|(_, id)| id).collect()
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Call {
    id: CallId,
    name: String,
    source: Source,
    /// Counts the calls of the thread.
    number: u64,
    /// The turn in which it last was announced.
    turn: u64,
    stage: Stage,
    title: Option<String>,
    kind: Option<ToolKind>,
    status: Status,
    locations: Vec<ToolCallLocation>,
    arguments: Arguments,
    /// Diffs, terminals and media, as a page shows them.
    items: Vec<Raw>,
    /// The end of the text, until there is a result.
    progress: String,
    content: Output,
    raw_output: Output,
    denied: Option<Denial>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum Stage {
    /// START is out.
    Started,
    /// ARGS and END are out.
    Ended,
    /// RESULT is out.
    Finished,
}

/// How a call stands: the agent's word, or ours for a call that the agent left open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Status {
    Agent(ToolCallStatus),
    Incomplete,
    Cancelled,
}

impl Status {
    fn as_str(&self) -> &str {
        match self {
            Self::Agent(status) => status.as_str(),
            Self::Incomplete => "incomplete",
            Self::Cancelled => "cancelled",
        }
    }

    /// Nothing lower takes its place. A status that this version does not know counts as being in progress.
    fn rank(&self) -> u8 {
        match self {
            Self::Agent(ToolCallStatus::Pending) => 0,
            Self::Agent(ToolCallStatus::Completed | ToolCallStatus::Failed) => FINAL,
            Self::Agent(_) => 1,
            Self::Incomplete | Self::Cancelled => 2,
        }
    }
}

/// Who said no.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Denial {
    User,
    Policy,
    /// Nobody said anything in time.
    Time,
}

impl Denial {
    fn as_str(self) -> &'static str {
        match self {
            Self::User => "rejected by user",
            Self::Policy => "rejected by policy",
            Self::Time => "not answered in time",
        }
    }
}

/// A call, as far as a permission depends on it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subject<'a> {
    pub(crate) id: &'a CallId,
    pub(crate) title: &'a str,
    pub(crate) tool: &'a str,
    pub(crate) kind: Option<&'a ToolKind>,
}

impl Call {
    /// Takes in what `change` shows; says whether a page would see it, and whether the output is another.
    fn merge(&mut self, change: &mut Change, translator: &Translator) -> (bool, bool) {
        let limits = &translator.options.limits;
        let title = change.title.take().filter(|title| !title.is_empty());
        let title = title.map(|title| json::cut(title, limits.message));
        let mut seen = replace(&mut self.title, title.map(Some));
        seen |= replace(&mut self.kind, change.kind.take().map(Some));
        seen |= replace(&mut self.locations, change.locations.take());
        let status = change.status.take().map(Status::Agent);
        let rises =
            |status: &Status| self.status.rank() < FINAL && status.rank() >= self.status.rank();
        if let Some(status) = status.filter(rises) {
            self.denied = self.denied.filter(|_| status.rank() == 0);
            seen |= replace(&mut self.status, Some(status));
        }
        let mut output = false;
        if let Some(content) = &change.content {
            seen |= replace(&mut self.items, Some(items(content, limits.value)));
            let progress = replace(&mut self.progress, Some(progress(content, limits.progress)));
            seen |= progress && self.shows_progress();
            output |= replace(&mut self.content, Some(Output::of_content(content, limits)));
        }
        if let Some(raw) = &change.raw_output {
            output |= replace(&mut self.raw_output, Some(Output::of_raw(raw, limits)));
        }
        (seen, output)
    }

    /// Whether the text is shown here because no result has it.
    fn shows_progress(&self) -> bool {
        self.status.rank() < FINAL && self.status != Status::Incomplete
    }

    fn output(&self) -> &Output {
        if self.content.is_empty() { &self.raw_output } else { &self.content }
    }

    fn title(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }

    fn kind(&self) -> &str {
        self.kind.as_ref().unwrap_or(&ToolKind::Other).as_str()
    }
}

/// The rank of a status that nothing takes the place of.
const FINAL: u8 = 3;

fn replace<T: PartialEq>(place: &mut T, value: Option<T>) -> bool {
    match value {
        Some(value) if value != *place => {
            *place = value;
            true
        }
        _ => false,
    }
}

/// What of a call's content is not text.
fn items(content: &[ToolCallContent], limit: usize) -> Vec<Raw> {
    let mut room = limit;
    let mut items = Vec::new();
    for item in content {
        let shown = match item {
            ToolCallContent::Content(text) if matches!(text.content, ContentBlock::Text(_)) => {
                continue;
            }
            ToolCallContent::Content(other) => {
                let block = bounded_block(&other.content, room);
                Members::new().with("type", "content").with("content", &block).into_raw()
            }
            other => json::raw(other),
        };
        let bytes = shown.as_str().len();
        let shown = if bytes <= room { shown } else { stand_in(item, bytes) };
        room = room.saturating_sub(bytes);
        items.push(shown);
    }
    items
}

fn stand_in(item: &ToolCallContent, bytes: usize) -> Raw {
    let path = match item {
        ToolCallContent::Diff(diff) => Some(json::head(&diff.path, PATH_BYTES)),
        _ => None,
    };
    let stand_in = Members::new().with("type", json::head(item.tag(), PATH_BYTES));
    stand_in.with_some("path", path.as_ref()).with("omittedBytes", &bytes).into_raw()
}

/// Longest path of a diff that is left out.
const PATH_BYTES: usize = 4096;

fn progress(content: &[ToolCallContent], limit: usize) -> String {
    let mut text = String::new();
    for item in content {
        if let ToolCallContent::Content(content) = item
            && let ContentBlock::Text(block) = &content.content
        {
            text.push_str(json::tail(&block.text, limit));
        }
    }
    String::from(json::tail(&text, limit))
}

impl Translator {
    /// Takes in one message about a tool call, whichever it is.
    pub(crate) fn tool_call(&mut self, mut change: Change) {
        let turn = self.arriving_in;
        let known = self.calls.calls.remove(&change.id);
        let known = known.filter(|call| {
            !(change.announces && call.stage == Stage::Finished && call.turn < turn)
        });
        let begins = known.is_none();
        let mut call = known.unwrap_or_else(|| self.new_call(&change));
        if change.announces {
            call.turn = call.turn.max(turn);
        }
        let (seen, output) = call.merge(&mut change, self);
        if begins {
            self.start_call(&call);
        }
        if begins || seen {
            self.show_call(&call);
        }
        if call.stage == Stage::Finished {
            if output {
                self.late(&call, &change);
            }
        } else {
            self.advance(&mut call, &mut change);
        }
        self.calls.calls.insert(change.id, call);
    }

    /// Notes who did not allow a call, if anyone; its result says so unless the agent gives one.
    pub(crate) fn set_denial(&mut self, id: &ToolCallId, denial: Option<Denial>) {
        if let Some(call) = self.calls.calls.get_mut(id) {
            call.denied = denial;
        }
    }

    /// Gives each call that the agent left open its end and its result.
    pub(crate) fn close_calls(&mut self, cancelled: bool) {
        for id in self.calls.before(Stage::Finished) {
            let Some(mut call) = self.calls.calls.remove(&id) else { continue };
            self.abandon(&mut call, cancelled);
            self.calls.calls.insert(id, call);
        }
    }

    /// Gives each call its end, and leaves its result to come.
    pub(crate) fn end_calls(&mut self) {
        for id in self.calls.before(Stage::Ended) {
            self.close_arguments(&id);
        }
    }

    /// Gives a call its end.
    pub(crate) fn close_arguments(&mut self, id: &ToolCallId) {
        let Some(mut call) = self.calls.calls.remove(id) else { return };
        self.end_call(&mut call);
        self.calls.calls.insert(id.clone(), call);
    }

    /// What a permission request is about.
    pub(crate) fn subject(&self, id: &ToolCallId) -> Option<Subject<'_>> {
        let call = self.calls.calls.get(id)?;
        Some(Subject {
            id: &call.id,
            title: call.title(),
            tool: &call.name,
            kind: call.kind.as_ref(),
        })
    }

    fn new_call(&mut self, change: &Change) -> Call {
        self.make_room();
        let (name, source) = tool_name(Clues {
            name: change.name.as_deref(),
            meta: change.meta.as_ref(),
            kind: change.kind.as_ref(),
            title: change.title.as_deref(),
        });
        let name = source.unlike(name, &self.offered);
        self.calls.begun += 1;
        Call {
            id: self.ids.tool_call(change.id.as_str()).into(),
            name,
            source,
            number: self.calls.begun,
            turn: self.turns,
            stage: Stage::Started,
            title: None,
            kind: None,
            status: Status::Agent(ToolCallStatus::Pending),
            locations: Vec::new(),
            arguments: Arguments::default(),
            items: Vec::new(),
            progress: String::new(),
            content: Output::default(),
            raw_output: Output::default(),
            denied: None,
        }
    }

    /// Forgets the oldest call that has its result; where none has, the oldest gets it first.
    fn make_room(&mut self) {
        while self.calls.calls.len() >= self.options.limits.tool_calls.max(1) {
            let age = |call: &Call| (call.stage != Stage::Finished, call.number);
            let oldest =
                self.calls.calls.iter().min_by_key(|(_, call)| age(call)).map(|(id, _)| id.clone());
            let Some(mut call) = oldest.and_then(|id| self.calls.calls.remove(&id)) else { return };
            if call.stage != Stage::Finished {
                self.abandon(&mut call, false);
            }
        }
    }

    fn start_call(&mut self, call: &Call) {
        self.close_text();
        let mut start = ToolCallStartEvent::new(call.id.clone(), call.name.as_str());
        start.parent_message_id = Some(self.parent_message());
        let acp = Members::new()
            .with("title", call.title())
            .with("kind", call.kind())
            .with("status", call.status.as_str())
            .with("locations", &json::bounded(&call.locations, self.options.limits.value))
            .with("source", &*call.source.to_string());
        start.metadata = self.metadata(acp);
        self.emit(start);
    }

    fn show_call(&mut self, call: &Call) {
        if !self.is_modern() {
            return;
        }
        let mut content = call.items.clone();
        if call.shows_progress() && !call.progress.is_empty() {
            let text = ContentBlock::from(call.progress.as_str());
            content.push(Members::new().with("type", "content").with("content", &text).into_raw());
        }
        let shown = Members::new()
            .with("toolCallId", &call.id)
            .with("title", call.title())
            .with("kind", call.kind())
            .with("status", call.status.as_str())
            .with("locations", &json::bounded(&call.locations, self.options.limits.value))
            .with("content", &content);
        self.activity(format!("{}tool-{}", ids::ACTIVITY, call.id), "acp.tool", shown);
    }

    fn advance(&mut self, call: &mut Call, change: &mut Change) {
        if let Some(input) = change.raw_input.take()
            && call.arguments.update(input)
            && let Some(changed) = call.arguments.changed()
        {
            let value = json::bounded(changed, self.options.limits.value);
            let value = Members::new().with("toolCallId", &call.id).with("arguments", &value);
            self.custom("acp.tool_call.args_changed", value.into_raw());
        }
        if call.status.rank() > 0 || change.raw_output.is_some() || change.asks {
            self.end_call(call);
        }
        if call.status.rank() == FINAL {
            let content = call.output().to_content(self.is_modern());
            self.finish_call(call, content);
        }
    }

    fn end_call(&mut self, call: &mut Call) {
        if call.stage != Stage::Started {
            return;
        }
        if let Some(arguments) = call.arguments.close(self.options.limits.arguments) {
            self.emit(ToolCallArgsEvent::new(call.id.clone(), arguments));
        }
        self.emit(ToolCallEndEvent::new(call.id.clone()));
        call.stage = Stage::Ended;
    }

    fn finish_call(&mut self, call: &mut Call, content: agui_types::content::Content) {
        let message = format!("{}{}", ids::RESULT, call.id);
        let mut result = ToolCallResultEvent::new(message, call.id.clone(), content);
        let acp = Members::new().with("status", call.status.as_str());
        let changed =
            call.arguments.changed().map(|input| json::bounded(input, self.options.limits.value));
        result.metadata = self.metadata(acp.with_some("rawInput", changed.as_ref()));
        self.emit(result);
        self.text.end_step();
        call.stage = Stage::Finished;
        call.arguments.forget();
        if !call.shows_progress() {
            call.progress.clear();
        }
    }

    fn abandon(&mut self, call: &mut Call, cancelled: bool) {
        let (status, why) = match call.denied {
            Some(denial) => (Status::Agent(ToolCallStatus::Failed), denial.as_str()),
            None if cancelled => (Status::Cancelled, "cancelled"),
            None => (Status::Incomplete, "incomplete"),
        };
        call.status = status;
        self.show_call(call);
        self.end_call(call);
        // What was only proposed did not happen; what a call that was not stopped came to may have.
        let kept = call.status == Status::Incomplete && !call.output().is_empty();
        let content = if kept {
            call.output().clone().ending(why).to_content(self.is_modern())
        } else {
            why.into()
        };
        self.finish_call(call, content);
    }

    fn late(&mut self, call: &Call, change: &Change) {
        if self.is_modern() {
            let limit = self.options.limits.value;
            let content = change.content.as_ref().map(|content| json::bounded(content, limit));
            let raw_output = change.raw_output.as_ref().map(|output| json::bounded(output, limit));
            let value = Members::new()
                .with("toolCallId", &call.id)
                .with_some("content", content.as_ref())
                .with_some("rawOutput", raw_output.as_ref());
            self.custom("acp.tool_call.late", value.into_raw());
        }
    }
}
