use super::{FrontendCall, Page};
use crate::json::Members;
use crate::translator::Translator;
use acp_types::v1::tool_calls::ToolCallId as AgentId;
use agui_types::event::{ToolCallArgsEvent, ToolCallEndEvent, ToolCallStartEvent};
use agui_types::id::ToolCallId;
use jsonrpc_core::wire::Raw;

impl Translator {
    /// Shows a frontend call: `TOOL_CALL_START` with source `frontend`, `TOOL_CALL_ARGS`, `TOOL_CALL_END`. It gets no
    /// result in the stream, because the page has it: at the run's end it is in `pendingToolCallIds`. Gives the id that
    /// the stream has it under, which is `id` unless the thread used that before.
    ///
    /// While no run is open nothing is shown.
    pub fn handle_frontend_call(
        &mut self,
        id: &ToolCallId,
        name: &str,
        arguments: &Raw,
    ) -> ToolCallId {
        if !self.is_running() {
            return id.clone();
        }
        self.close_text();
        let stream_id = ToolCallId::from(self.ids.tool_call(id.as_str()));
        let mut start = ToolCallStartEvent::new(stream_id.clone(), name);
        start.parent_message_id = Some(self.parent_message());
        start.metadata = self.metadata(Members::new().with("source", "frontend"));
        self.emit(start);
        self.emit(ToolCallArgsEvent::new(stream_id.clone(), arguments.as_str()));
        self.emit(ToolCallEndEvent::new(stream_id.clone()));
        if let Some(run) = &mut self.run {
            run.pending.push(stream_id.clone());
        }
        stream_id
    }

    /// Ends the run as a success whose frontend calls are pending, while the agent's turn goes on: what it says meanwhile
    /// is in the next run, [which goes on with it](Self::begin_run). Does nothing while no run is open.
    pub fn handle_parked(&mut self) {
        self.park();
    }

    /// Tells that the agent announced a frontend call and did not make it, as `CUSTOM` `acp.tool_call.not_made`. Does nothing
    /// while no run is open.
    pub fn handle_not_made(&mut self, id: &AgentId, name: &str, status: &str) {
        if self.is_running() {
            let value =
                Members::new().with("toolCallId", id).with("name", name).with("status", status);
            self.custom("acp.tool_call.not_made", value.into_raw());
        }
    }
}

impl Page for Translator {
    fn begin(&mut self, call: &FrontendCall) -> ToolCallId {
        self.handle_frontend_call(&call.call_id, &call.name, &call.arguments)
    }

    fn end_run(&mut self) {
        self.handle_parked();
    }

    fn not_made(&mut self, tool_call_id: &AgentId, name: &str, status: &str) {
        self.handle_not_made(tool_call_id, name, status);
    }
}
