//! Tool calls: announced by any of three messages, updated in any order, ended once.
use crate::arguments::Arguments;
use crate::ids;
use crate::json::{self, Members};
use crate::result::Output;
use crate::tool_name::{Clues, Source, tool_name};
use crate::translator::Translator;
use acp_types::v1::tool_calls::{ToolCallId, ToolCallStatus, ToolKind};
use agui_types::event::{ActivityDeltaEvent, ToolCallStartEvent};
use agui_types::id::{SubagentRunId, ToolCallId as CallId};
use agui_types::json_patch::{JsonPatchOperation, JsonPointer, ReplaceOperation};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::time::Duration;
use jsonrpc_core::wire::Raw;
use serde::{Deserialize, Serialize};

mod change;
mod ends;
mod shown;

pub(crate) use change::Change;
use shown::Shown;

/// The tool calls of a thread, by the agent's ids.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct ToolCalls {
    calls: BTreeMap<ToolCallId, Call>,
    begun: u64,
    /// About what is kept of them.
    bytes: usize,
}

impl ToolCalls {
    /// The name of a call of a lane: subagents may use ids that the agent itself uses.
    pub(crate) fn key(&self, lane: &str, id: &ToolCallId) -> ToolCallId {
        if lane.is_empty() { id.clone() } else { format!("\0{lane}\0{id}").into() }
    }

    /// Whether the arguments of a call are being told.
    pub(crate) fn is_one_open(&self) -> bool {
        self.calls.values().any(|call| call.stage == Stage::Started)
    }

    /// When the next call's arguments settle.
    pub(crate) fn settling(&self) -> Option<Duration> {
        self.calls.values().filter_map(|call| call.settles).min()
    }

    fn settled(&self, now: Duration) -> Vec<ToolCallId> {
        let due = |call: &Call| call.settles.is_some_and(|settles| settles <= now);
        let due = self.calls.iter().filter(|(_, call)| due(call));
        due.map(|(id, _)| id.clone()).collect()
    }

    /// The calls that have not come so far, in the order in which they began.
    fn before(&self, stage: Stage) -> Vec<ToolCallId> {
        let calls = self.calls.iter().filter(|(_, call)| call.stage < stage);
        let mut calls: Vec<_> = calls.map(|(id, call)| (call.number, id.clone())).collect();
        calls.sort_unstable_by_key(|(number, _)| *number);
        calls.into_iter().map(|(_, id)| id).collect()
    }

    fn take(&mut self, id: &ToolCallId) -> Option<Call> {
        let call = self.calls.remove(id)?;
        self.bytes = self.bytes.saturating_sub(call.bytes());
        Some(call)
    }

    fn put(&mut self, id: ToolCallId, call: Call) {
        self.bytes = self.bytes.saturating_add(call.bytes());
        self.calls.insert(id, call);
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Call {
    id: CallId,
    name: String,
    source: Source,
    /// The invocation of a subagent that made it.
    owner: Option<SubagentRunId>,
    lane: String,
    /// Counts the calls of the thread.
    number: u64,
    /// The turn in which it last was announced.
    turn: u64,
    stage: Stage,
    title: Option<String>,
    kind: Option<ToolKind>,
    status: Status,
    arguments: Arguments,
    /// When the arguments count as complete.
    settles: Option<Duration>,
    shown: Shown,
    content: Kept,
    /// Whether the content is what a permission request showed: what is to be done, not what came of it.
    proposed: bool,
    raw_output: Kept,
    denied: Option<Denial>,
}

/// An output, until the call has its result; then, how to tell it from another.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Kept {
    output: Output,
    print: Option<u64>,
}

impl Kept {
    /// Says whether it is another output.
    fn replace(&mut self, output: Output) -> bool {
        let print = Some(output.fingerprint());
        let changed = self.print != print;
        (self.output, self.print) = (output, print);
        changed
    }

    fn forget(&mut self) {
        self.output = Output::default();
    }
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

    /// Nothing lower takes its place. A status that no version knows counts as being in progress.
    fn rank(&self) -> u8 {
        match self {
            Self::Agent(ToolCallStatus::Pending) => 0,
            Self::Agent(ToolCallStatus::Completed | ToolCallStatus::Failed) => FINAL,
            // Only v2 has it.
            Self::Agent(status) if status.as_str() == "cancelled" => FINAL,
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
    /// The person did not answer, and said so.
    Nobody,
}

impl Denial {
    fn as_str(self) -> &'static str {
        match self {
            Self::User => "rejected by user",
            Self::Policy => "rejected by policy",
            Self::Time => "not answered in time",
            Self::Nobody => "cancelled",
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
        if let Some(locations) = &change.locations {
            seen |= self.shown.set_locations(json::bounded(locations, limits.value));
        }
        let status = change.status.take().map(Status::Agent);
        let rises =
            |status: &Status| self.status.rank() < FINAL && status.rank() >= self.status.rank();
        if let Some(status) = status.filter(rises) {
            let runs =
                !matches!(&status, Status::Agent(ToolCallStatus::Pending | ToolCallStatus::Failed));
            self.denied = self.denied.filter(|_| !runs);
            seen |= replace(&mut self.status, Some(status));
        }
        let mut output = false;
        if let Some(content) = &change.content {
            let (items, progress) = self.shown.set_content(content, change.appends, limits);
            seen |= items || (progress && self.shows_progress());
            let mut said = Output::default();
            if change.appends {
                said = self.content.output.clone();
            }
            said.append(content, limits);
            output |= self.content.replace(said);
            self.proposed = change.asks;
        }
        if let Some(raw) = &change.raw_output {
            output |= self.raw_output.replace(Output::of_raw(raw, limits));
        }
        (seen, output)
    }

    /// Whether the text is shown here because no result has it.
    fn shows_progress(&self) -> bool {
        self.status.rank() < FINAL && self.status != Status::Incomplete
    }

    fn output<'a>(&'a self, translator: &Translator) -> &'a Output {
        let (content, raw) = (&self.content.output, &self.raw_output.output);
        let says = raw.is_empty() || (!self.proposed && content.says(&translator.terminals));
        if says && !content.is_empty() { content } else { raw }
    }

    fn title(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }

    fn kind(&self) -> &str {
        self.kind.as_ref().unwrap_or(&ToolKind::Other).as_str()
    }

    /// About how much of it is kept, beside what is bounded by itself.
    fn bytes(&self) -> usize {
        let outputs = self.content.output.bytes() + self.raw_output.output.bytes();
        outputs + self.arguments.bytes() + self.shown.bytes()
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

impl Translator {
    /// Takes in one message about a tool call, whichever it is.
    pub(crate) fn tool_call(&mut self, mut change: Change) {
        if let Some(meta) = &change.meta {
            self.terminal_meta(&meta.clone());
        }
        let turn = self.arriving_in;
        let key = self.calls.key(&self.lane, &change.id);
        if self.history.is_some() {
            self.conclude_calls(Some(&key));
        }
        let known = self.calls.take(&key);
        let known = known.filter(|call| {
            !(change.announces && call.stage == Stage::Finished && call.turn < turn)
        });
        let begins = known.is_none();
        let mut call = known.unwrap_or_else(|| self.new_call(&change));
        if change.announces {
            call.turn = call.turn.max(turn);
        }
        let (seen, output) = call.merge(&mut change, self);
        self.own(call.owner.clone(), |t| {
            if begins {
                t.start_call(&call);
            }
            if begins || seen {
                t.show_call(&mut call);
            }
            if call.stage == Stage::Finished {
                if output {
                    t.late(&call, &change);
                }
                call.shown.forget();
                call.content.forget();
                call.raw_output.forget();
            } else {
                t.advance(&mut call, &mut change);
            }
        });
        self.calls.put(key, call);
        self.keep_within_bytes();
    }

    /// Notes who did not allow a call, if anyone; its result says so unless the agent gives one.
    pub(crate) fn set_denial(&mut self, id: &ToolCallId, denial: Option<Denial>) {
        if let Some(call) = self.calls.calls.get_mut(id) {
            call.denied = denial;
        }
    }

    /// Gives each call that the agent left open its end and its result.
    pub(crate) fn close_calls(&mut self, cancelled: bool) {
        self.conclude_calls(None);
        for id in self.calls.before(Stage::Finished) {
            let Some(mut call) = self.calls.take(&id) else { continue };
            self.abandon(&mut call, cancelled);
            self.calls.put(id, call);
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
        let Some(mut call) = self.calls.take(id) else { return };
        self.own(call.owner.clone(), |t| t.end_call(&mut call));
        self.calls.put(id.clone(), call);
    }

    /// Gives the calls their ends whose arguments have not changed for long enough.
    pub(crate) fn settle_arguments(&mut self, now: Duration) {
        for id in self.calls.settled(now) {
            self.close_arguments(&id);
        }
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
            owner: self.owner.clone(),
            lane: self.lane.clone(),
            number: self.calls.begun,
            turn: self.turns,
            stage: Stage::Started,
            title: None,
            kind: None,
            status: Status::Agent(ToolCallStatus::Pending),
            arguments: Arguments::default(),
            settles: None,
            shown: Shown::default(),
            content: Kept::default(),
            proposed: false,
            raw_output: Kept::default(),
            denied: None,
        }
    }

    /// Forgets the oldest call that has its result; where none has, the oldest gets it first.
    fn make_room(&mut self) {
        while self.calls.calls.len() >= self.options.limits.tool_calls.max(1) {
            let age = |call: &Call| (call.stage != Stage::Finished, call.number);
            let oldest =
                self.calls.calls.iter().min_by_key(|(_, call)| age(call)).map(|(id, _)| id.clone());
            let Some(mut call) = oldest.and_then(|id| self.calls.take(&id)) else { return };
            if call.stage != Stage::Finished {
                self.abandon(&mut call, false);
            }
        }
    }

    /// Gives the oldest calls their results while all calls together take too much.
    fn keep_within_bytes(&mut self) {
        while self.calls.bytes > self.options.limits.tool_call_bytes {
            let Some(id) = self.calls.before(Stage::Finished).into_iter().next() else { return };
            let Some(mut call) = self.calls.take(&id) else { return };
            self.abandon(&mut call, false);
            self.calls.put(id, call);
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
            .with("locations", &call.shown.locations())
            .with("source", &*call.source.to_string());
        start.metadata = self.metadata(acp);
        self.emit(start);
    }

    fn show_call(&mut self, call: &mut Call) {
        if !self.is_modern() {
            return;
        }
        let status = call.status.as_str().to_string();
        let progress = call.shows_progress();
        let told = Members::new()
            .with("title", call.title())
            .with("kind", call.kind())
            .with("status", &*status)
            .with("locations", &call.shown.locations())
            .with("content", &call.shown.content(progress));
        let id = format!("{}tool-{}", ids::ACTIVITY, call.id);
        let is_new = call.shown.run != Some(self.runs);
        let gone = call.stage == Stage::Finished;
        let changed = call.shown.changes(&told, gone);
        if is_new && gone {
            let late = changed
                .into_iter()
                .fold(Members::new().with("toolCallId", &call.id), |late, (name, value)| {
                    late.with(name, &value)
                });
            return self.custom("acp.tool_call.late", late.into_raw());
        }
        if !is_new && (gone || call.shown.is_large(&changed)) {
            let replace = |(name, value): (&'static str, Raw)| {
                let path = JsonPointer::try_from(&*format!("/{name}")).ok()?;
                Some(JsonPatchOperation::Replace(ReplaceOperation::new(path, value)))
            };
            let patch: Vec<_> = changed.into_iter().filter_map(replace).collect();
            if !patch.is_empty() {
                // What is said of a call that is over is no part of what comes now, in whatever run it is said.
                if !gone {
                    self.close_text();
                }
                self.emit(ActivityDeltaEvent::new(id, "acp.tool", patch));
            }
            return;
        }
        call.shown.run = Some(self.runs);
        let shown = Members::new().with("toolCallId", &call.id);
        self.activity(id, "acp.tool", shown.and(told));
    }
}
