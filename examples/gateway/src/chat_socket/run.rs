//! AG-UI events of a run as messages of the chat.
use crate::chat_socket::error;
use crate::chat_socket::messages::{
    ServerCompleteMessage, ServerCompleteMessageMembers, ServerMessage, ServerTokenMessage,
};
use crate::chat_socket::tool_calls::ToolCalls;
use agui_types::content::Content;
use agui_types::event::{Event, RunFinishedOutcome};
use agui_types::interrupt::Interrupt;
use jsonrpc_core::wire::Raw;
use mcp_bridge::registry::Registry;
use std::collections::HashMap;
use std::time::SystemTime;

/// The code of a run that has a message while questions of the agent are open.
const INTERRUPTS_OPEN: &str = "INTERRUPTS_OPEN";

/// Returns whether a run was refused because of questions that it does not answer.
pub(crate) fn is_refused_for_questions(event: &Event) -> bool {
    matches!(event, Event::RunError(failed) if failed.code.as_deref() == Some(INTERRUPTS_OPEN))
}

/// Returns the questions that a run ended with.
pub(crate) fn asked(event: &Event) -> Option<&[Interrupt]> {
    let Event::RunFinished(finished) = event else { return None };
    match &finished.outcome {
        Some(RunFinishedOutcome::Interrupt(outcome)) => Some(&outcome.interrupts),
        _ => None,
    }
}

/// The state of a run.
pub(crate) struct Run<'a> {
    conversation_id: String,
    /// The calls of the conversation.
    tools: &'a mut ToolCalls,
    /// The calls' names and arguments, as far as they came.
    calls: HashMap<String, (String, String)>,
    message_id: String,
    /// Questions that the run ended with.
    pub(crate) asked: Vec<String>,
    /// Whether the last message was sent.
    pub(crate) has_ended: bool,
}

impl<'a> Run<'a> {
    pub(crate) fn new(conversation_id: &str, tools: &'a mut ToolCalls) -> Self {
        Self {
            conversation_id: conversation_id.to_owned(),
            tools,
            calls: HashMap::new(),
            message_id: String::new(),
            asked: Vec::new(),
            has_ended: false,
        }
    }

    /// Returns the messages for an event.
    pub(crate) fn handle(&mut self, event: &Event, registry: &Registry) -> Vec<ServerMessage> {
        self.has_ended |= matches!(event, Event::RunError(_) | Event::RunFinished(_));
        match event {
            Event::TextMessageContent(content) => {
                self.message_id = content.message_id.to_string();
                vec![ServerMessage::Token(ServerTokenMessage::new(content.delta.as_str()))]
            }
            Event::ToolCallStart(start) => {
                let call = (start.tool_call_name.clone(), String::new());
                self.calls.insert(start.tool_call_id.to_string(), call);
                Vec::new()
            }
            Event::ToolCallArgs(args) => {
                if let Some((_, arguments)) = self.calls.get_mut(args.tool_call_id.as_str()) {
                    arguments.push_str(&args.delta);
                }
                Vec::new()
            }
            Event::ToolCallEnd(end) => {
                let id = end.tool_call_id.as_str();
                let Some((name, arguments)) = self.calls.remove(id) else { return Vec::new() };
                let arguments = Raw::from_text(&arguments).ok();
                let arguments = arguments.as_ref().map(Raw::as_str);
                self.tools.start(id, &name, arguments, registry, now()).into_iter().collect()
            }
            Event::ToolCallResult(result) => {
                let text = match &result.content {
                    Content::Text(text) => text.clone(),
                    parts => serde_json::to_string(parts).unwrap_or_default(),
                };
                let id = result.tool_call_id.as_str();
                self.tools.complete(id, text, now()).into_iter().collect()
            }
            Event::RunError(failed) => {
                vec![error(failed.code.as_deref().unwrap_or("FAILED"), &*failed.message)]
            }
            Event::RunFinished(finished) => match &finished.outcome {
                Some(RunFinishedOutcome::Interrupt(outcome)) => {
                    self.asked = outcome.interrupts.iter().map(|it| it.id.to_string()).collect();
                    let asked = outcome.interrupts.iter().filter_map(|it| it.message.clone());
                    let asked = asked.collect::<Vec<_>>().join("; ");
                    vec![error(
                        "ASKED",
                        format!("The agent asks, and this chat cannot answer: {asked}"),
                    )]
                }
                Some(RunFinishedOutcome::Cancelled(_)) => {
                    vec![error("CANCELLED", "The run was stopped.")]
                }
                _ => vec![ServerMessage::Complete(ServerCompleteMessage::from(
                    ServerCompleteMessageMembers {
                        message_id: self.message_id.to_string(),
                        conversation_id: self.conversation_id.to_string(),
                    },
                ))],
            },
            _ => Vec::new(),
        }
    }
}

fn now() -> String {
    humantime::format_rfc3339_millis(SystemTime::now()).to_string()
}
