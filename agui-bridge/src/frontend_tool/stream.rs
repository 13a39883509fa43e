//! The translator as the page that a frontend tool machine drives.
use super::{FrontendCall, Page};
use crate::translator::Translator;
use acp_types::v1::tool_calls::ToolCallId as AgentId;
use agui_types::id::ToolCallId;

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
