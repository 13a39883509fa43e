//! One tool call: its state, and the events that show it.
use super::change::Change;
use super::shown::Shown;
use super::status::{Denial, Stage, Status};
use crate::arguments::{ArgsMode, Arguments};
use crate::frame::Frame;
use crate::ids;
use crate::json::{self, Members};
use crate::limits::Limits;
use crate::outbox::{Outbox, metadata};
use crate::produced::Produced;
use crate::result::Output;
use crate::terminal::Terminals;
use crate::tool_name::Source;
use acp_types::v1::tool_calls::{ToolCallStatus, ToolKind};
use agui_types::content::Content;
use agui_types::event::{
    ActivityDeltaEvent, ToolCallArgsEvent, ToolCallEndEvent, ToolCallResultEvent,
    ToolCallStartEvent,
};
use agui_types::id::{SubagentRunId, ToolCallId};
use agui_types::json_patch::{JsonPatchOperation, JsonPointer, ReplaceOperation};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::time::Duration;
use jsonrpc_core::wire::Raw;
use serde::{Deserialize, Serialize};

/// What the events of a call depend on beside the call.
#[derive(Clone, Copy, Debug)]
pub(super) struct CallFrame<'a> {
    pub(super) frame: Frame<'a>,
    pub(super) terminals: &'a Terminals,
    pub(super) pace: Pace,
}

/// When arguments go out.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Pace {
    pub(super) mode: ArgsMode,
    /// How long arguments stay unchanged before they count as complete.
    pub(super) settle: Option<Duration>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Call {
    id: ToolCallId,
    name: String,
    source: Source,
    /// The invocation of a subagent that made it.
    owner: Option<SubagentRunId>,
    lane: String,
    /// Counts the calls of the thread.
    number: u64,
    /// The turn of its last announcement.
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
    /// Whether the content is that of a permission request: an intention, not a result.
    proposed: bool,
    raw_output: Kept,
    denied: Option<Denial>,
}

/// An output until the call has its result; afterwards only its fingerprint.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Kept {
    output: Output,
    print: Option<u64>,
}

impl Kept {
    /// Replaces the output, and returns whether it differs.
    fn replace(&mut self, output: Output) -> bool {
        let print = Some(output.fingerprint());
        let differs = self.print != print;
        (self.output, self.print) = (output, print);
        differs
    }

    fn forget(&mut self) {
        self.output = Output::default();
    }
}

/// What a message changed in a call.
pub(super) struct Changed {
    /// Whether members that a page shows differ.
    pub(super) shown: bool,
    /// Whether the output differs.
    pub(super) output: bool,
}

impl Call {
    pub(super) fn new(
        frame: &Frame<'_>,
        id: ToolCallId,
        name: String,
        source: Source,
        number: u64,
    ) -> Self {
        Self {
            id,
            name,
            source,
            owner: frame.owner.cloned(),
            lane: frame.lane.into(),
            number,
            turn: frame.turn,
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

    pub(super) fn id(&self) -> &ToolCallId {
        &self.id
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn title(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }

    pub(super) fn kind(&self) -> Option<&ToolKind> {
        self.kind.as_ref()
    }

    pub(super) fn owner(&self) -> Option<&SubagentRunId> {
        self.owner.as_ref()
    }

    pub(super) fn number(&self) -> u64 {
        self.number
    }

    pub(super) fn stage(&self) -> Stage {
        self.stage
    }

    /// Whether the agent has ended the call.
    pub(super) fn is_over(&self) -> bool {
        self.status.is_final()
    }

    /// Whether the call was announced last in an earlier turn.
    pub(super) fn is_of_earlier_turn(&self, turn: u64) -> bool {
        self.turn < turn
    }

    pub(super) fn announce(&mut self, turn: u64) {
        self.turn = self.turn.max(turn);
    }

    pub(super) fn settles(&self) -> Option<Duration> {
        self.settles
    }

    pub(super) fn set_denial(&mut self, denial: Option<Denial>) {
        self.denied = denial;
    }

    /// About how many bytes are kept, beside members that are bounded by themselves.
    pub(super) fn bytes(&self) -> usize {
        let outputs = self.content.output.bytes() + self.raw_output.output.bytes();
        outputs + self.arguments.bytes() + self.shown.bytes()
    }

    /// Takes the members of a message, except for the arguments.
    pub(super) fn merge(&mut self, change: &mut Change, limits: &Limits) -> Changed {
        let title = change.title.take().filter(|title| !title.is_empty());
        let title = title.map(|title| json::cut(title, limits.message));
        let mut shown = replace(&mut self.title, title.map(Some));
        shown |= replace(&mut self.kind, change.kind.take().map(Some));
        if let Some(locations) = &change.locations {
            shown |= self.shown.set_locations(json::bounded(locations, limits.value));
        }
        let status = change.status.take().map(Status::Agent);
        if let Some(status) = status.filter(|status| self.status.may_become(status)) {
            let runs =
                !matches!(&status, Status::Agent(ToolCallStatus::Pending | ToolCallStatus::Failed));
            self.denied = self.denied.filter(|_| !runs);
            shown |= replace(&mut self.status, Some(status));
        }
        let mut output = false;
        if let Some(content) = &change.content {
            let (items, progress) = self.shown.set_content(content, change.appends, limits);
            shown |= items || (progress && self.shows_progress());
            let mut sum = Output::default();
            if change.appends {
                sum = self.content.output.clone();
            }
            sum.append(content, limits);
            output |= self.content.replace(sum);
            self.proposed = change.asks;
        }
        if let Some(raw) = &change.raw_output {
            output |= self.raw_output.replace(Output::of_raw(raw, limits));
        }
        Changed { shown, output }
    }

    pub(super) fn start(&self, at: &CallFrame<'_>, out: &mut Outbox) {
        let frame = &at.frame;
        out.close_text(frame.lane);
        let mut start = ToolCallStartEvent::new(self.id.clone(), self.name.as_str());
        start.parent_message_id = Some(out.parent_message(frame));
        let acp = self.described().with("source", &*self.source.to_string());
        start.metadata = metadata(frame, acp);
        out.emit(frame, start);
    }

    /// Shows the call as an activity, whole or by its changes.
    pub(super) fn show(&mut self, at: &CallFrame<'_>, out: &mut Outbox) {
        let frame = &at.frame;
        if !frame.is_modern {
            return;
        }
        let content = self.shown.content(self.shows_progress());
        let members = self.described().with("content", &content);
        let id = format!("{}tool-{}", ids::ACTIVITY, self.id);
        let is_new = self.shown.run != Some(frame.run);
        let is_finished = self.stage == Stage::Finished;
        let changed = self.shown.changes(&members, is_finished);
        if is_new && is_finished {
            let late = Members::new().with("toolCallId", &self.id);
            let late =
                changed.into_iter().fold(late, |late, (name, value)| late.with(name, &value));
            return out.custom(frame, "acp.tool_call.late", late.into_raw());
        }
        if is_finished || (!is_new && self.shown.is_large(&changed)) {
            let replace = |(name, value): (&'static str, Raw)| {
                let path = JsonPointer::try_from(&*format!("/{name}")).ok()?;
                Some(JsonPatchOperation::Replace(ReplaceOperation::new(path, value)))
            };
            let patch: Vec<_> = changed.into_iter().filter_map(replace).collect();
            if !patch.is_empty() {
                // News of a finished call are no part of the text that goes on meanwhile.
                if !is_finished {
                    out.close_text(frame.lane);
                }
                out.emit(frame, ActivityDeltaEvent::new(id, "acp.tool", patch));
            }
            return;
        }
        self.shown.run = Some(frame.run);
        let shown = Members::new().with("toolCallId", &self.id);
        out.activity(frame, id, "acp.tool", shown.and(members));
    }

    /// Takes the arguments of a message, and sends what is due after it.
    pub(super) fn advance(&mut self, at: &CallFrame<'_>, out: &mut Outbox, change: &mut Change) {
        let limits = at.frame.limits;
        if let Some(input) = change.raw_input.take() {
            let is_late = self.arguments.update(input, limits.arguments);
            if let Some(changed) = self.arguments.changed().filter(|_| is_late) {
                let value = json::bounded(changed, limits.value);
                let value = Members::new().with("toolCallId", &self.id).with("arguments", &value);
                out.custom(&at.frame, "acp.tool_call.args_changed", value.into_raw());
            }
            self.stream_arguments(at, out);
        }
        if self.is_over() {
            self.end(at, out);
        } else if self.status.has_begun() || change.raw_output.is_some() || change.asks {
            self.end_if_known(at, out);
        }
        // A repeated conversation may end a call before it has the output.
        let is_awaited = out.history().is_some() && self.output(at.terminals).is_empty();
        if self.is_over() && !is_awaited {
            self.conclude(at, out);
        }
    }

    /// Sends the arguments that are due after a change.
    fn stream_arguments(&mut self, at: &CallFrame<'_>, out: &mut Outbox) {
        if self.stage != Stage::Started {
            return;
        }
        self.settles = at.pace.settle.and_then(|settle| at.frame.after(settle));
        match at.pace.mode {
            ArgsMode::Hold => {}
            ArgsMode::StreamKeys => {
                if let Some(piece) = self.arguments.stream(at.frame.limits.arguments) {
                    out.emit(&at.frame, ToolCallArgsEvent::new(self.id.clone(), piece));
                }
            }
            ArgsMode::Eager if !self.arguments.is_empty() => self.end(at, out),
            ArgsMode::Eager => {}
        }
    }

    /// Sends the rest of the arguments, and `TOOL_CALL_END`, unless the arguments are still to come.
    pub(super) fn end_if_known(&mut self, at: &CallFrame<'_>, out: &mut Outbox) {
        if self.arguments.is_known() {
            self.end(at, out);
        }
    }

    /// Sends the rest of the arguments, and `TOOL_CALL_END`. Arguments that never came are sent as `{}`.
    pub(super) fn end(&mut self, at: &CallFrame<'_>, out: &mut Outbox) {
        if self.stage != Stage::Started {
            return;
        }
        let frame = &at.frame;
        self.settles = None;
        if let Some(arguments) = self.arguments.close(frame.limits.arguments) {
            out.emit(frame, ToolCallArgsEvent::new(self.id.clone(), arguments));
        }
        let mut end = ToolCallEndEvent::new(self.id.clone());
        if self.arguments.is_frozen() {
            let input = self.changed_arguments(frame.limits);
            end.metadata = metadata(frame, Members::new().with_some("rawInput", input.as_ref()));
        }
        out.emit(frame, end);
        self.stage = Stage::Ended;
    }

    /// Sends the result of a call that the agent has ended.
    pub(super) fn conclude(&mut self, at: &CallFrame<'_>, out: &mut Outbox) {
        let why = match self.status.as_str() {
            "cancelled" => Some("cancelled"),
            "failed" => self.denied.map(Denial::as_str),
            _ => None,
        };
        let content = match why {
            Some(why) if !self.output(at.terminals).has_text(at.terminals) => why.into(),
            _ => self.result(at, None),
        };
        self.finish(at, out, content);
    }

    /// Sends all that is missing of a call that the agent left open.
    pub(super) fn abandon(&mut self, at: &CallFrame<'_>, out: &mut Outbox, is_cancelled: bool) {
        let (status, why) = match self.denied {
            Some(Denial::Cancelled) => (Status::Cancelled, "cancelled"),
            Some(denial) => (Status::Agent(ToolCallStatus::Failed), denial.as_str()),
            None if is_cancelled => (Status::Cancelled, "cancelled"),
            None => (Status::Incomplete, "incomplete"),
        };
        self.status = status;
        self.show(at, out);
        self.end(at, out);
        // A proposal was not carried out; output of a call that was not stopped may be its result.
        let is_kept = self.status == Status::Incomplete
            && !self.output(at.terminals).is_empty()
            && !(self.proposed && self.raw_output.output.is_empty());
        let content = if is_kept { self.result(at, Some(why)) } else { why.into() };
        self.finish(at, out, content);
    }

    /// Shows the output of a message that came after the result.
    pub(super) fn show_late(&self, at: &CallFrame<'_>, out: &mut Outbox, change: &Change) {
        if !at.frame.is_modern {
            return;
        }
        let limit = at.frame.limits.value;
        let shown = |content: &Vec<Produced>| -> Vec<Raw> {
            content.iter().map(|item| item.shown(limit)).collect()
        };
        let content = change.content.as_ref().map(shown);
        let content = content.map(|content| json::bounded(&content, limit));
        let raw_output = change.raw_output.as_ref().map(|output| json::bounded(output, limit));
        let value = Members::new()
            .with("toolCallId", &self.id)
            .with_some("content", content.as_ref())
            .with_some("rawOutput", raw_output.as_ref());
        out.custom(&at.frame, "acp.tool_call.late", value.into_raw());
    }

    fn finish(&mut self, at: &CallFrame<'_>, out: &mut Outbox, content: Content) {
        let frame = &at.frame;
        let message = format!("{}{}", ids::RESULT, self.id);
        let mut result = ToolCallResultEvent::new(message, self.id.clone(), content);
        let changed = self.changed_arguments(frame.limits);
        let acp = Members::new().with("status", self.status.as_str());
        result.metadata = metadata(frame, acp.with_some("rawInput", changed.as_ref()));
        out.emit(frame, result);
        out.end_step(&self.lane);
        self.stage = Stage::Finished;
        self.arguments.forget();
        self.forget_output();
    }

    /// Releases what was shown and said.
    pub(super) fn forget_output(&mut self) {
        self.shown.forget();
        self.content.forget();
        self.raw_output.forget();
    }

    fn result(&self, at: &CallFrame<'_>, why: Option<&str>) -> Content {
        let output = self.output(at.terminals);
        output.to_content(at.frame.is_modern, at.terminals, at.frame.limits, why)
    }

    /// The content, or `rawOutput` where the content says nothing.
    fn output<'a>(&'a self, terminals: &Terminals) -> &'a Output {
        let (content, raw) = (&self.content.output, &self.raw_output.output);
        let is_content = raw.is_empty() || (!self.proposed && content.has_text(terminals));
        if is_content && !content.is_empty() { content } else { raw }
    }

    fn changed_arguments(&self, limits: &Limits) -> Option<Raw> {
        self.arguments.changed().map(|input| json::bounded(input, limits.value))
    }

    /// Whether the activity has the text, because no result does.
    fn shows_progress(&self) -> bool {
        !self.status.is_final() && self.status != Status::Incomplete
    }

    fn described(&self) -> Members {
        Members::new()
            .with("title", self.title())
            .with("kind", self.kind.as_ref().unwrap_or(&ToolKind::Other).as_str())
            .with("status", self.status.as_str())
            .with("locations", &self.shown.locations())
    }
}

fn replace<T: PartialEq>(place: &mut T, value: Option<T>) -> bool {
    match value {
        Some(value) if value != *place => {
            *place = value;
            true
        }
        _ => false,
    }
}
