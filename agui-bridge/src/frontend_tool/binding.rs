//! The interface of a binding.
use super::{Action, FrontendCall, FrontendTools, Outcome};
use crate::Translator;
use agui_types::id::ToolCallId;

/// A way to give frontend tools to an agent: an MCP server of the session, an extension method, or
/// any other channel on which the agent calls and waits.
///
/// A binding lists [`FrontendTools::tools`], passes the agent's requests to
/// [`FrontendTools::handle_call`], remembers the request of each call id, and answers it.
pub trait Binding {
    /// Answers the request for `call_id`. Called once for each call.
    fn answer(&mut self, call_id: &ToolCallId, outcome: Outcome);

    /// Shows the agent that the call is alive, if its request asks for that. Does nothing by
    /// default.
    fn keep_alive(&mut self, call_id: &ToolCallId) {
        let _ = call_id;
    }

    /// Stores a text for the beginning of the next prompt.
    fn prefix_prompt(&mut self, call_id: &ToolCallId, text: &str);
}

impl FrontendTools {
    /// Executes all due actions on `binding` and on the stream of the open run.
    pub fn drive(&mut self, binding: &mut impl Binding, stream: &mut Translator) {
        while let Some(action) = self.poll_action() {
            match action {
                Action::Begin(FrontendCall { call_id, name, arguments, .. }) => {
                    let stream_id = stream.handle_frontend_call(&call_id, &name, &arguments);
                    self.handle_begun(&call_id, stream_id);
                }
                Action::Answer { call_id, outcome } => binding.answer(&call_id, outcome),
                Action::EndRun { .. } => stream.handle_parked(),
                Action::PrefixPrompt { call_id, text } => binding.prefix_prompt(&call_id, &text),
                Action::KeepAlive { call_id } => binding.keep_alive(&call_id),
                Action::Show(update) => stream.handle_notification(*update),
                Action::ShowV2(update) => stream.handle_notification_v2(*update),
            }
        }
    }
}
