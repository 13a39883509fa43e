//! One tool call: its state, and the events that show it.
use super::change::Change;
use super::description::CallDescription;
use super::shown::Shown;
use super::status::{Denial, Stage, Status};
use crate::arguments::{ArgsMode, Arguments};
use crate::frame::Frame;
use crate::ids;
use crate::json::{self, Members};
use crate::limits::Limits;
use crate::outbox::{Outbox, metadata};
use crate::result::Output;
use crate::terminal::Terminals;
use crate::tool_name::Source;
use acp_types::v1::tool_calls::{ToolCallStatus, ToolKind};
use agui_types::content::Content;
use agui_types::event::{
    ToolCallArgsEvent, ToolCallEndEvent, ToolCallResultEvent, ToolCallStartEvent,
};
use agui_types::id::{SubagentRunId, ToolCallId};
use alloc::format;
use alloc::string::{String, ToString};
use core::time::Duration;
use jsonrpc_core::wire::Raw;
use serde::{Deserialize, Serialize};

mod activity;

/// Circumstances of a call's events.
#[derive(Clone, Copy, Debug)]
pub(super) struct CallFrame<'a> {
    pub(super) frame: Frame<'a>,
    pub(super) terminals: &'a Terminals,
    pub(super) pace: Pace,
}

/// The moment at which arguments are sent.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Pace {
    pub(super) mode: ArgsMode,
    /// Time after which unchanged arguments count as complete.
    pub(super) settle: Option<Duration>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Call {
    id: ToolCallId,
    name: String,
    source: Source,
    /// The subagent invocation that made it.
    owner: Option<SubagentRunId>,
    /// The call that it was made for, if the agent reports one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    parent: Option<ToolCallId>,
    lane: String,
    /// Sequence number within the thread.
    number: u64,
    /// The turn of its last announcement.
    turn: u64,
    /// Whether the agent has announced it, in addition to updates and permission requests.
    #[serde(default)]
    is_announced: bool,
    stage: Stage,
    title: Option<String>,
    kind: Option<ToolKind>,
    status: Status,
    arguments: Arguments,
    /// The time at which the arguments count as complete.
    settles: Option<Duration>,
    shown: Shown,
    content: RetainedOutput,
    /// Whether the content comes from a permission request: an intention, not a result.
    proposed: bool,
    raw_output: RetainedOutput,
    denied: Option<Denial>,
}

/// The output until the call has its result; afterwards its fingerprint.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct RetainedOutput {
    output: Output,
    print: Option<u64>,
}

impl RetainedOutput {
    /// Replaces the output, and returns whether it differs.
    fn replace(&mut self, output: Output) -> bool {
        let print = Some(output.fingerprint());
        let differs = self.print != print;
        self.output = output;
        self.print = print;
        differs
    }

    fn forget(&mut self) {
        self.output = Output::default();
    }
}

/// The effect of a message on a call.
pub(super) struct CallChanges {
    /// Whether members that a page shows have changed.
    pub(super) shown: bool,
    /// Whether the output has changed.
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
            parent: None,
            lane: frame.lane.into(),
            number,
            turn: frame.turn,
            is_announced: false,
            stage: Stage::Started,
            title: None,
            kind: None,
            status: Status::Agent(ToolCallStatus::Pending),
            arguments: Arguments::default(),
            settles: None,
            shown: Shown::default(),
            content: RetainedOutput::default(),
            proposed: false,
            raw_output: RetainedOutput::default(),
            denied: None,
        }
    }

    pub(super) fn with_parent(mut self, parent: Option<ToolCallId>) -> Self {
        self.parent = parent;
        self
    }

    pub(super) fn id(&self) -> &ToolCallId {
        &self.id
    }

    pub(super) fn title(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }

    /// Returns the members that a user decides on, as far as they are still stored.
    pub(super) fn describe(&self) -> CallDescription {
        CallDescription {
            title: Some(self.title().into()),
            name: Some(self.name.clone()),
            kind: self.kind.clone(),
            raw_input: self.arguments.latest().cloned(),
            content: Some(self.shown.content(true)).filter(|content| !content.is_empty()),
            locations: self.shown.known_locations().cloned(),
        }
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

    /// Returns whether the agent has ended the call.
    pub(super) fn is_over(&self) -> bool {
        self.status.is_final()
    }

    /// Returns whether a message with the id of this call is about another call, which follows.
    ///
    /// Some agents number their calls anew in each turn, or in each response of the model. Of a
    /// call that the end of a run has completed, the agent may still report.
    pub(super) fn precedes(&self, frame: &Frame<'_>, change: &Change) -> bool {
        if self.is_over() {
            let announces = change.announces && !self.is_announced_by(frame, change);
            return announces || change.describes_open_call() && !change.announces;
        }
        change.announces && self.stage == Stage::Finished && self.turn < frame.turn
    }

    /// Returns whether a message announces a call that only updates and permission requests have
    /// described so far. Cline does so after the end of a rejected call.
    fn is_announced_by(&self, frame: &Frame<'_>, change: &Change) -> bool {
        let is_title =
            |title: &String| self.title == Some(json::cut(title.clone(), frame.limits.message));
        change.announces
            && !change.asks
            && !self.is_announced
            && change.title.as_ref().is_none_or(is_title)
            && change.kind.as_ref().is_none_or(|kind| self.kind() == Some(kind))
            && change.raw_input.as_ref().is_none_or(|input| self.arguments.is_latest(input))
    }

    pub(super) fn announce(&mut self, turn: u64, asks: bool) {
        self.turn = self.turn.max(turn);
        self.is_announced |= !asks;
    }

    pub(super) fn settles(&self) -> Option<Duration> {
        self.settles
    }

    pub(super) fn set_denial(&mut self, denial: Option<Denial>) {
        self.denied = denial;
    }

    /// Returns the approximate size in bytes of members without a limit of their own.
    pub(super) fn bytes(&self) -> usize {
        let outputs = self.content.output.bytes() + self.raw_output.output.bytes();
        outputs + self.arguments.bytes() + self.shown.bytes()
    }

    /// Applies the members of a message, except for the arguments.
    pub(super) fn merge(&mut self, change: &mut Change, limits: &Limits) -> CallChanges {
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
        CallChanges { shown, output }
    }

    pub(super) fn start(&self, at: &CallFrame<'_>, out: &mut Outbox) {
        let frame = &at.frame;
        out.close_text(frame.lane);
        let mut start = ToolCallStartEvent::new(self.id.clone(), self.name.as_str());
        start.parent_message_id = Some(out.parent_message(frame));
        let acp = self.described().with("source", &*self.source.to_string());
        let acp = acp.with_some("parentToolCallId", self.parent.as_ref());
        start.metadata = metadata(frame, acp);
        out.emit(frame, start);
    }

    /// Applies the arguments of a message, and sends due events.
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
        // A repeated conversation may end a call before its output.
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

    /// Sends the rest of the arguments and `TOOL_CALL_END`, unless more arguments are expected.
    pub(super) fn end_if_known(&mut self, at: &CallFrame<'_>, out: &mut Outbox) {
        if self.arguments.is_known() {
            self.end(at, out);
        }
    }

    /// Sends the rest of the arguments and `TOOL_CALL_END`. Missing arguments are sent as `{}`.
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

    /// Sends all missing events of a call that the agent left open.
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
        // A proposal was not carried out. Output of a call that was not stopped may be its result.
        let is_kept = self.status == Status::Incomplete
            && !self.output(at.terminals).is_empty()
            && !(self.proposed && self.raw_output.output.is_empty());
        let content = if is_kept { self.result(at, Some(why)) } else { why.into() };
        self.finish(at, out, content);
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

    /// Releases the content and output.
    pub(super) fn forget_output(&mut self) {
        self.shown.forget();
        self.content.forget();
        self.raw_output.forget();
    }

    fn result(&self, at: &CallFrame<'_>, why: Option<&str>) -> Content {
        let output = self.output(at.terminals);
        output.to_content(at.frame.is_modern, at.terminals, at.frame.limits, why)
    }

    /// Returns the content, or `rawOutput` if the content is empty.
    fn output<'a>(&'a self, terminals: &Terminals) -> &'a Output {
        let content = &self.content.output;
        let raw = &self.raw_output.output;
        let is_content = raw.is_empty() || (!self.proposed && content.has_text(terminals));
        if is_content && !content.is_empty() { content } else { raw }
    }

    fn changed_arguments(&self, limits: &Limits) -> Option<Raw> {
        self.arguments.changed().map(|input| json::bounded(input, limits.value))
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
