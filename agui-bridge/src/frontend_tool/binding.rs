use super::{Action, FrontendCall, FrontendTools, Outcome};
use acp_types::v1::tool_calls::ToolCallId as AgentId;
use agui_types::id::ToolCallId;

/// How frontend tools are given to an agent: an MCP server of the session, an extension method, or anything else that
/// the agent calls and waits for.
///
/// A binding lists [`FrontendTools::tools`], hands the agent's requests to [`FrontendTools::handle_call`], remembers
/// which request a call's id stands for, and answers it when it is told to.
pub trait Binding {
    /// Answers the request that `call_id` stands for. It comes once for each call.
    fn answer(&mut self, call_id: &ToolCallId, outcome: Outcome);

    /// Shows the agent that the call goes on, where its request asked for that; does nothing unless told otherwise.
    fn keep_alive(&mut self, call_id: &ToolCallId) {
        let _ = call_id;
    }

    /// Keeps a text for the begin of the next prompt.
    fn tell(&mut self, call_id: &ToolCallId, text: &str);
}

/// What the page reads: the stream of the open run, as a [`Translator`](crate::Translator) writes it.
pub trait Page {
    /// Shows a call. Gives the id that the stream has it under.
    fn begin(&mut self, call: &FrontendCall) -> ToolCallId;

    /// Ends the run; its frontend calls are pending.
    fn end_run(&mut self);

    /// Shows that the agent announced a frontend call and did not make it.
    fn not_made(&mut self, tool_call_id: &AgentId, name: &str, status: &str);
}

impl FrontendTools {
    /// Does all that is due, by way of `binding` and `page`.
    pub fn drive(&mut self, binding: &mut impl Binding, page: &mut impl Page) {
        while let Some(action) = self.poll_action() {
            match action {
                Action::Begin(call) => {
                    let stream_id = page.begin(&call);
                    self.handle_begun(&call.call_id, stream_id);
                }
                Action::Answer { call_id, outcome } => binding.answer(&call_id, outcome),
                Action::EndRun { .. } => page.end_run(),
                Action::Tell { call_id, text } => binding.tell(&call_id, &text),
                Action::KeepAlive { call_id } => binding.keep_alive(&call_id),
                Action::NotMade { tool_call_id, name, status } => {
                    page.not_made(&tool_call_id, &name, &status);
                }
            }
        }
    }
}
