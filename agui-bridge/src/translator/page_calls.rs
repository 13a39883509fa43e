//! Calls of page tools.
use super::Translator;
use crate::json::Members;
use crate::outbox::metadata;
use agui_types::event::{ToolCallArgsEvent, ToolCallEndEvent, ToolCallStartEvent};
use agui_types::id::ToolCallId;
use jsonrpc_core::wire::Raw;

impl Translator {
    /// Shows a call of a page tool: `TOOL_CALL_START` with source `frontend`, `TOOL_CALL_ARGS`,
    /// `TOOL_CALL_END`. The page produces the result, so the stream has none, and the call is in
    /// `pendingToolCallIds` at the run's end. Returns the id of the call in the stream: `id`,
    /// unless the thread has used that.
    ///
    /// Does nothing while no run is open.
    pub fn handle_frontend_call(
        &mut self,
        id: &ToolCallId,
        name: &str,
        arguments: &Raw,
    ) -> ToolCallId {
        if !self.is_running() {
            return id.clone();
        }
        let frame = self.basis.root();
        let out = &mut self.outbox;
        out.close_text(frame.lane);
        let stream_id = out.tool_call_id(id.as_str());
        let mut start = ToolCallStartEvent::new(stream_id.clone(), name);
        start.parent_message_id = Some(out.parent_message(&frame));
        start.metadata = metadata(&frame, Members::new().with("source", "frontend"));
        out.emit(&frame, start);
        out.emit(&frame, ToolCallArgsEvent::new(stream_id.clone(), arguments.as_str()));
        out.emit(&frame, ToolCallEndEvent::new(stream_id.clone()));
        self.runs.add_pending(stream_id.clone());
        stream_id
    }

    /// Ends the run as a success with pending calls of page tools, while the agent's turn
    /// continues. Further updates are part of the next run, [which continues the
    /// turn](Self::begin_run). Does nothing while no run is open.
    pub fn handle_parked(&mut self) {
        self.park();
    }
}
