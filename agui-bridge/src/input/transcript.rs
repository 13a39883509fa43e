//! A conversation as text, for an agent that does not have it.
use crate::json;
use agui_types::content::Content;
use agui_types::message::Message;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Largest size of a single entry, in bytes.
const MAX_ENTRY_BYTES: usize = 4096;

/// Returns the text of these messages, the latest in at most `limit` bytes, or `None` if they have
/// none.
///
/// | message | text |
/// |---|---|
/// | user | `User: …`; parts other than text by their kind |
/// | assistant | `Assistant: …`, `Assistant called NAME(ARGUMENTS)` |
/// | tool | `Tool result: …`, `Tool failed: …` |
/// | system, developer, reasoning, activity, unknown | left out |
pub(super) fn transcript(messages: &[Message], limit: usize) -> Option<String> {
    let lines: Vec<String> = messages.iter().flat_map(lines).collect();
    if lines.is_empty() || limit == 0 {
        return None;
    }
    let mut kept = Vec::new();
    let mut bytes = 0_usize;
    for line in lines.iter().rev() {
        bytes = bytes.saturating_add(line.len() + 2);
        if bytes > limit && !kept.is_empty() {
            break;
        }
        kept.push(json::head(line, limit));
    }
    let left_out = lines.len() - kept.len();
    kept.reverse();
    let mut text = String::from("The conversation so far, which this session has not seen:\n\n");
    if left_out > 0 {
        text.push_str(&format!("[{left_out} earlier entries are left out]\n\n"));
    }
    text.push_str(&kept.join("\n\n"));
    Some(text)
}

/// Returns the last entry of these messages.
pub(super) fn last_entry(messages: &[Message]) -> Option<String> {
    let line = messages.iter().rev().find_map(|message| lines(message).pop())?;
    Some(json::head(&line, MAX_ENTRY_BYTES).to_owned())
}

fn lines(message: &Message) -> Vec<String> {
    match message {
        Message::User(user) => Vec::from([format!("User: {}", shown(&user.content))]),
        Message::Assistant(assistant) => {
            let said = assistant.content.iter().filter(|text| !text.trim().is_empty());
            let said = said.map(|text| format!("Assistant: {text}"));
            let called = assistant.tool_calls.iter().flatten().map(|call| {
                format!("Assistant called {}({})", call.function.name, call.function.arguments)
            });
            said.chain(called).collect()
        }
        Message::Tool(tool) => Vec::from([match &tool.error {
            Some(error) => format!("Tool failed: {error}"),
            None => format!("Tool result: {}", shown(&tool.content)),
        }]),
        _ => Vec::new(),
    }
}

/// Returns the text; parts other than text by their kind.
fn shown(content: &Content) -> String {
    match content {
        Content::Text(text) => text.clone(),
        Content::Parts(parts) => {
            let shown = parts.iter().map(|part| match part.as_text() {
                Some(text) => text.to_owned(),
                None => format!("[{}]", part.tag()),
            });
            shown.collect::<Vec<_>>().join("\n")
        }
    }
}
