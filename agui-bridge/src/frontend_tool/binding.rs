//! The interfaces of a binding and of a page.
use super::{Action, FrontendCall, FrontendTools, Outcome};
use acp_types::v1::tool_calls::ToolCallId as AgentId;
use agui_types::id::ToolCallId;

/// A way to give frontend tools to an agent: an MCP server of the session, an extension method, or any other channel on
/// which the agent calls and waits.
///
/// A binding lists [`FrontendTools::tools`], passes the agent's requests to [`FrontendTools::handle_call`], remembers
/// the request of each call id, and answers it.
pub trait Binding {
    /// Answers the request for `call_id`. Called once for each call.
    fn answer(&mut self, call_id: &ToolCallId, outcome: Outcome);

    /// Shows the agent that the call is alive, if its request asks for that. Does nothing by default.
    fn keep_alive(&mut self, call_id: &ToolCallId) {
        let _ = call_id;
    }

    /// Stores a text for the beginning of the next prompt.
    fn prefix_prompt(&mut self, call_id: &ToolCallId, text: &str);
}

/// The stream of the open run, as a [`Translator`](crate::Translator) writes it.
pub trait Page {
    /// Shows a call, and returns its id in the stream.
    fn begin(&mut self, call: &FrontendCall) -> ToolCallId;

    /// Ends the run with its frontend calls pending.
    fn end_run(&mut self);

    /// Shows that the agent announced a frontend call and did not make it.
    fn not_made(&mut self, tool_call_id: &AgentId, name: &str, status: &str);
}

impl FrontendTools {
    /// Executes all due actions on `binding` and `page`.
    pub fn drive(&mut self, binding: &mut impl Binding, page: &mut impl Page) {
        while let Some(action) = self.poll_action() {
            match action {
                Action::Begin(call) => {
                    let stream_id = page.begin(&call);
                    self.handle_begun(&call.call_id, stream_id);
                }
                Action::Answer { call_id, outcome } => binding.answer(&call_id, outcome),
                Action::EndRun { .. } => page.end_run(),
                Action::PrefixPrompt { call_id, text } => binding.prefix_prompt(&call_id, &text),
                Action::KeepAlive { call_id } => binding.keep_alive(&call_id),
                Action::NotMade { tool_call_id, name, status } => {
                    page.not_made(&tool_call_id, &name, &status);
                }
            }
        }
    }
}
