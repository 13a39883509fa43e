//! A session as a list of steps, to compare it with another one.

use super::RecordedSession;
use super::conversation::{Item, ItemKind};
use super::look::Privacy;
use super::talk::shown_block;
use super::text::clipped;
use acp_types::session_state::{Entry, MessageKind};

/// Maximum number of bytes of a step.
const MAX_STEP: usize = 200;

/// Returns the steps as text. Times and ids are not part of them.
pub(crate) fn steps_of(reading: &RecordedSession, privacy: &Privacy) -> Vec<String> {
    let items = reading.conversation.items.iter();
    items.filter_map(|item| step(reading, privacy, item)).collect()
}

fn step(reading: &RecordedSession, privacy: &Privacy, item: &Item) -> Option<String> {
    let talk = item.session.and_then(|at| reading.conversation.sessions.get(at));
    let text = match &item.kind {
        ItemKind::Turn(number, _) => format!("Turn {number}"),
        ItemKind::Entry(number) => match talk?.state.entry(*number)? {
            Entry::Message(message) => {
                let blocks = message.content.iter().map(shown_block).collect::<Vec<_>>();
                let name = match message.kind {
                    MessageKind::User => "User",
                    MessageKind::Thought => "Thought",
                    _ => "Agent",
                };
                format!("{name}: {}", privacy.text(&blocks.join(" ")))
            }
            Entry::ToolCall(id) => {
                let call = talk?.state.tool_call(id.as_str())?;
                let kind = call.kind_or_other().as_str();
                let status = call.status().as_str();
                let title = privacy.text(call.title().unwrap_or_default());
                format!("Tool {kind}, {status}: {title}")
            }
            _ => return None,
        },
        ItemKind::Permission(permission) => {
            let choice = permission.answer.as_ref().map(|(_, choice)| choice.as_ref());
            let decision = match choice {
                None => "no answer",
                Some(None) => "cancelled",
                Some(Some(choice)) => &choice.kind,
            };
            format!("Permission: {decision}")
        }
        ItemKind::Failure(method, error) => {
            format!("Error of {method}: {} ({})", privacy.text(&error.message), error.code)
        }
        ItemKind::Setting(name, value) => format!("{name}: {}", privacy.text(value)),
        ItemKind::Plan(entries) => format!("Plan with {} entries", entries.len()),
        ItemKind::Load => "Loading the session".to_owned(),
        ItemKind::Cancel => "Cancelled by the user".to_owned(),
        ItemKind::End(reason) => format!("End: {reason}"),
    };
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (start, more) = clipped(&text, MAX_STEP);
    Some(if more > 0 { format!("{start}…") } else { start.to_owned() })
}
