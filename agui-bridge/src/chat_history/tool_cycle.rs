//! Calls and results in the order that model APIs accept.
use super::{ChatMessage, ChatRole};
use agui_types::id::ToolCallId;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// The result of a call without an answer.
const NO_RESULT: &str = "There is no result of this call.";

/// Removes the calls and results of all tool cycles but the last.
pub(super) fn keep_latest(messages: &mut Vec<ChatMessage>) {
    let calls = |message: &ChatMessage| !message.tool_calls.is_empty();
    let latest = messages.iter().rposition(calls).unwrap_or_default();
    let mut index = 0;
    messages.retain_mut(|message| {
        let earlier = index < latest;
        index += 1;
        if !earlier {
            return true;
        }
        let called = !message.tool_calls.is_empty();
        message.tool_calls.clear();
        message.role != ChatRole::Tool && !(called && message.content.is_empty())
    });
}

/// Inserts one result after each call, and removes all others.
pub(super) fn repair(messages: &mut Vec<ChatMessage>) -> Vec<String> {
    let mut done = Vec::new();
    let mut kept: Vec<(ChatMessage, Vec<Option<ChatMessage>>)> = Vec::new();
    for message in messages.drain(..) {
        if message.role != ChatRole::Tool {
            let calls = message.tool_calls.len();
            kept.push((message, core::iter::repeat_with(|| None).take(calls).collect()));
        } else if let Err(why) = place(message, &mut kept) {
            done.push(why);
        }
    }
    for (message, results) in kept {
        let calls: Vec<ToolCallId> =
            message.tool_calls.iter().map(|call| call.id.clone()).collect();
        messages.push(message);
        for (id, result) in calls.into_iter().zip(results) {
            messages.push(result.unwrap_or_else(|| {
                done.push(format!("added a result of {id}, which has none"));
                ChatMessage {
                    error: Some(NO_RESULT.into()),
                    ..ChatMessage::tool_result(id, NO_RESULT)
                }
            }));
        }
    }
    done
}

/// Assigns a result to the latest matching call, or returns why no call matches.
fn place(
    message: ChatMessage,
    kept: &mut [(ChatMessage, Vec<Option<ChatMessage>>)],
) -> Result<(), String> {
    let Some(id) = message.tool_call_id.clone() else {
        return Err("removed a result of no call".into());
    };
    let mut called = false;
    for (caller, results) in kept.iter_mut().rev() {
        for (call, result) in caller.tool_calls.iter().zip(results) {
            if call.id == id && result.is_none() {
                *result = Some(message);
                return Ok(());
            }
            called |= call.id == id;
        }
    }
    Err(if called {
        format!("removed another result of {id}")
    } else {
        format!("removed a result of {id}, which was not called")
    })
}
