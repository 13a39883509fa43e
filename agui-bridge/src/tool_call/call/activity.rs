//! The activity that shows a call.
use super::{Call, CallFrame};
use crate::ids;
use crate::json::{self, Members};
use crate::outbox::Outbox;
use crate::produced::ProducedContent;
use crate::tool_call::change::Change;
use crate::tool_call::status::{Stage, Status};
use acp_types::v1::tool_calls::ToolKind;
use agui_types::event::ActivityDeltaEvent;
use agui_types::json_patch::{JsonPatchOperation, JsonPointer, ReplaceOperation};
use alloc::format;
use alloc::vec::Vec;
use jsonrpc_core::wire::Raw;

impl Call {
    /// Shows the call as an activity, complete or by its changes.
    pub(in crate::tool_call) fn show(&mut self, at: &CallFrame<'_>, out: &mut Outbox) {
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
                // An update of a finished call does not end the open text.
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

    /// Shows output that arrived after the result.
    pub(in crate::tool_call) fn show_late(
        &self,
        at: &CallFrame<'_>,
        out: &mut Outbox,
        change: &Change,
    ) {
        if !at.frame.is_modern {
            return;
        }
        let limit = at.frame.limits.value;
        let shown = |content: &Vec<ProducedContent>| -> Vec<Raw> {
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

    /// Returns whether the activity has the text, since no result has it.
    pub(super) fn shows_progress(&self) -> bool {
        !self.status.is_final() && self.status != Status::Incomplete
    }

    pub(super) fn described(&self) -> Members {
        Members::new()
            .with("title", self.title())
            .with("kind", self.kind.as_ref().unwrap_or(&ToolKind::Other).as_str())
            .with("status", self.status.as_str())
            .with("locations", &self.shown.locations())
    }
}
