//! How calls go on and end: arguments, end, result.
use super::{Call, Change, Denial, FINAL, Stage, Status};
use crate::arguments::ArgsMode;
use crate::ids;
use crate::json::{self, Members};
use crate::produced::Produced;
use crate::translator::Translator;
use acp_types::v1::tool_calls::{ToolCallId, ToolCallStatus};
use agui_types::content::Content;
use agui_types::event::{ToolCallArgsEvent, ToolCallEndEvent, ToolCallResultEvent};
use alloc::format;
use alloc::vec::Vec;
use jsonrpc_core::wire::Raw;

impl Translator {
    pub(super) fn advance(&mut self, call: &mut Call, change: &mut Change) {
        let limits = self.options.limits;
        if let Some(input) = change.raw_input.take() {
            let late = call.arguments.update(input, limits.arguments);
            if let Some(changed) = call.arguments.changed().filter(|_| late) {
                let value = json::bounded(changed, limits.value);
                let value = Members::new().with("toolCallId", &call.id).with("arguments", &value);
                self.custom("acp.tool_call.args_changed", value.into_raw());
            }
            self.stream_arguments(call);
        }
        if call.status.rank() > 0 || change.raw_output.is_some() || change.asks {
            self.end_call(call);
        }
        // What is told again may say of a call that it is over before it says what it came to.
        let later = self.history.is_some() && call.output(self).is_empty();
        if call.status.rank() == FINAL && !later {
            self.conclude(call);
        }
    }

    /// Gives the calls their results that have ended, but this one.
    pub(crate) fn conclude_calls(&mut self, but: Option<&ToolCallId>) {
        for id in self.calls.before(Stage::Finished) {
            let ended = self.calls.calls.get(&id).is_some_and(|call| call.status.rank() == FINAL);
            if !ended || but == Some(&id) {
                continue;
            }
            let Some(mut call) = self.calls.take(&id) else { continue };
            self.own(call.owner.clone(), |t| {
                t.end_call(&mut call);
                t.conclude(&mut call);
            });
            self.calls.put(id, call);
        }
    }

    /// Gives a call that has ended its result.
    fn conclude(&mut self, call: &mut Call) {
        let why = match call.status.as_str() {
            "cancelled" => Some("cancelled"),
            "failed" => call.denied.map(Denial::as_str),
            _ => None,
        };
        let content = match why {
            Some(why) if !call.output(self).says(&self.terminals) => why.into(),
            _ => self.result_content(call, None),
        };
        self.finish_call(call, content);
    }

    /// Tells what can be told of arguments that have changed.
    fn stream_arguments(&mut self, call: &mut Call) {
        if call.stage != Stage::Started {
            return;
        }
        let settle = self.options.times.settle;
        call.settles = settle.and_then(|settle| self.now.map(|now| now.saturating_add(settle)));
        match self.options.arguments {
            ArgsMode::Hold => {}
            ArgsMode::StreamKeys => {
                if let Some(piece) = call.arguments.stream(self.options.limits.arguments) {
                    self.emit(ToolCallArgsEvent::new(call.id.clone(), piece));
                }
            }
            ArgsMode::Eager if !call.arguments.is_empty() => self.end_call(call),
            ArgsMode::Eager => {}
        }
    }

    pub(super) fn end_call(&mut self, call: &mut Call) {
        if call.stage != Stage::Started {
            return;
        }
        call.settles = None;
        if let Some(arguments) = call.arguments.close(self.options.limits.arguments) {
            self.emit(ToolCallArgsEvent::new(call.id.clone(), arguments));
        }
        let mut end = ToolCallEndEvent::new(call.id.clone());
        if call.arguments.is_frozen() {
            let input = call.arguments.changed();
            let input = input.map(|input| json::bounded(input, self.options.limits.value));
            end.metadata = self.metadata(Members::new().with_some("rawInput", input.as_ref()));
        }
        self.emit(end);
        call.stage = Stage::Ended;
    }

    fn result_content(&self, call: &Call, why: Option<&str>) -> Content {
        let limits = &self.options.limits;
        call.output(self).to_content(self.is_modern(), &self.terminals, limits, why)
    }

    fn finish_call(&mut self, call: &mut Call, content: Content) {
        let message = format!("{}{}", ids::RESULT, call.id);
        let mut result = ToolCallResultEvent::new(message, call.id.clone(), content);
        let acp = Members::new().with("status", call.status.as_str());
        let changed =
            call.arguments.changed().map(|input| json::bounded(input, self.options.limits.value));
        result.metadata = self.metadata(acp.with_some("rawInput", changed.as_ref()));
        self.emit(result);
        self.text.end_step(&call.lane);
        call.stage = Stage::Finished;
        call.arguments.forget();
        call.shown.forget();
        call.content.forget();
        call.raw_output.forget();
    }

    pub(super) fn abandon(&mut self, call: &mut Call, cancelled: bool) {
        let (status, why) = match call.denied {
            Some(Denial::Nobody) => (Status::Cancelled, "cancelled"),
            Some(denial) => (Status::Agent(ToolCallStatus::Failed), denial.as_str()),
            None if cancelled => (Status::Cancelled, "cancelled"),
            None => (Status::Incomplete, "incomplete"),
        };
        call.status = status;
        self.own(call.owner.clone(), |t| {
            t.show_call(call);
            t.end_call(call);
            // What was only proposed did not happen; what a call that was not stopped came to may have.
            let kept = call.status == Status::Incomplete
                && !call.output(t).is_empty()
                && !(call.proposed && call.raw_output.output.is_empty());
            let content = if kept { t.result_content(call, Some(why)) } else { why.into() };
            t.finish_call(call, content);
        });
    }

    pub(super) fn late(&mut self, call: &Call, change: &Change) {
        if self.is_modern() {
            let limit = self.options.limits.value;
            let shown = |content: &Vec<Produced>| -> Vec<Raw> {
                content.iter().map(|item| item.shown(limit)).collect()
            };
            let content = change.content.as_ref().map(shown);
            let content = content.map(|content| json::bounded(&content, limit));
            let raw_output = change.raw_output.as_ref().map(|output| json::bounded(output, limit));
            let value = Members::new()
                .with("toolCallId", &call.id)
                .with_some("content", content.as_ref())
                .with_some("rawOutput", raw_output.as_ref());
            self.custom("acp.tool_call.late", value.into_raw());
        }
    }
}
