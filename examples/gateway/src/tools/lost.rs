//! Calls that waited for their user when the program ended. Their model has to know, to go on.
use agui_types::id::ToolCallId;
use agui_types::input::RunAgentInput;
use agui_types::message::Message;

/// The result of a call that was lost in a restart.
pub(crate) const LOST: &str = "the call was lost while it waited for the user, because the server restarted; call the tool again";

/// Returns the calls in the history of a run that have no result. Only calls of tools that `is_own`
/// selects by name count.
pub(crate) fn open_calls(input: &RunAgentInput, is_own: impl Fn(&str) -> bool) -> Vec<ToolCallId> {
    let mut open = Vec::new();
    for message in &input.messages {
        match message {
            Message::Assistant(message) => {
                let calls = message.tool_calls.iter().flatten();
                let own = calls.filter(|call| is_own(&call.function.name));
                open.extend(own.map(|call| call.id.clone()));
            }
            Message::Tool(result) => open.retain(|id| *id != result.tool_call_id),
            _ => {}
        }
    }
    open
}
