//! A page's messages as a model's history, and the reverse.
use agui_bridge::chat_history::{
    ChatHistory, ChatMessage, ChatPart, ChatRole, ChatToolCall, HistoryRule, to_messages,
};
use agui_types::input::Context;
use agui_types::message::Message;
use agui_types::profile::Profile;
use jsonrpc_core::wire::decode;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeSet;

pub(crate) fn messages(messages: &Value) -> Vec<Message> {
    decode(&messages.to_string()).unwrap()
}

fn read(of: &Value, rule: HistoryRule) -> ChatHistory {
    ChatHistory::read(&messages(of), rule)
}

fn call(id: &str) -> Value {
    json!({"id": id, "type": "function", "function": {"name": "find", "arguments": "{}"}})
}

/// A conversation with two tool cycles.
fn two_cycles() -> Value {
    json!([
        {"id": "s", "role": "system", "content": "Be brief."},
        {"id": "1", "role": "user", "content": "a"},
        {"id": "2", "role": "assistant", "toolCalls": [call("c1")]},
        {"id": "3", "role": "tool", "toolCallId": "c1", "content": "r1"},
        {"id": "4", "role": "assistant", "content": "b", "toolCalls": [call("c2")]},
        {"id": "5", "role": "tool", "toolCallId": "c2", "content": "r2"},
        {"id": "6", "role": "assistant", "toolCalls": [call("c3"), call("c4")]},
        {"id": "7", "role": "tool", "toolCallId": "c3", "content": "r3"},
        {"id": "8", "role": "tool", "toolCallId": "c4", "content": "r4"},
    ])
}

fn brief(history: &ChatHistory) -> Vec<String> {
    let brief = |message: &ChatMessage| {
        let calls: Vec<_> = message.tool_calls.iter().map(|call| call.id.as_str()).collect();
        let answers = message.tool_call_id.as_ref().map_or("", |id| id.as_str());
        format!("{} {}{}{answers}", message.role.as_str(), message.text(), calls.join("+"))
    };
    history.messages.iter().map(brief).collect()
}

#[test]
fn messages_are_kept_in_order() {
    let history = read(&two_cycles(), HistoryRule::KeepAll);
    let expected = [
        "system Be brief.",
        "user a",
        "assistant c1",
        "tool r1c1",
        "assistant bc2",
        "tool r2c2",
        "assistant c3+c4",
        "tool r3c3",
        "tool r4c4",
    ];
    assert_eq!(brief(&history), expected);
    assert_eq!(history.dropped, []);
    assert_eq!(history.messages[4].tool_calls, [ChatToolCall::new("c2", "find", "{}")]);
}

#[test]
fn latest_tool_cycle_is_kept() {
    let history = read(&two_cycles(), HistoryRule::LatestToolCycle);
    let expected =
        ["system Be brief.", "user a", "assistant b", "assistant c3+c4", "tool r3c3", "tool r4c4"];
    assert_eq!(brief(&history), expected);
    let plain = json!([{"id": "1", "role": "user", "content": "a"}, {"id": "2", "role": "assistant", "content": "b"}]);
    assert_eq!(brief(&read(&plain, HistoryRule::LatestToolCycle)), ["user a", "assistant b"]);
}

#[test]
fn content_becomes_texts_and_images() {
    let source = |kind: &str| json!({"type": "data", "value": "AAAA", "mimeType": kind});
    let table = [
        (json!("text"), json!(["text"]), 0),
        (json!(""), json!([]), 0),
        (
            json!([{"type": "text", "text": "a"}, {"type": "binary", "mimeType": "image/png", "data": "AAAA"}]),
            json!(["a", "png AAAA"]),
            0,
        ),
        (
            json!([{"type": "binary", "mimeType": "image/jpeg", "data": "AAAA"}]),
            json!(["jpeg AAAA"]),
            0,
        ),
        (json!([{"type": "binary", "mimeType": "application/pdf", "data": "AAAA"}]), json!([]), 1),
        (
            json!([{"type": "binary", "mimeType": "image/png", "url": "https://example.org/a"}]),
            json!([]),
            1,
        ),
        (json!([{"type": "binary", "mimeType": "image/png", "id": "file"}]), json!([]), 1),
        (json!([{"type": "image", "source": source("image/webp")}]), json!(["webp AAAA"]), 0),
        (
            json!([{"type": "audio", "source": source("audio/wav")}, {"type": "text", "text": "b"}]),
            json!(["b"]),
            1,
        ),
        (json!([{"type": "hologram"}]), json!([]), 1),
    ];
    for (content, expected, dropped) in table {
        let history =
            read(&json!([{"id": "u", "role": "user", "content": content}]), HistoryRule::KeepAll);
        let parts = history.messages[0].content.iter().map(|part| match part {
            ChatPart::Text(text) => text.clone(),
            ChatPart::Image { format, data } => format!("{format} {data}"),
            other => panic!("{other:?}"),
        });
        assert_eq!(json!(parts.collect::<Vec<_>>()), expected, "{content}");
        assert_eq!(history.dropped.len(), dropped, "{content}");
    }
}

#[test]
fn dropped_content_is_reported() {
    let odd = json!([
        {"id": "1", "role": "reasoning", "content": "hm"},
        {"id": "2", "role": "activity", "activityType": "PLAN", "content": {}},
        {"id": "3", "role": "narrator", "content": "x"},
        {"id": "4", "role": "assistant", "toolCalls": [call(""), call("c")]},
        {"id": "5", "role": "user", "content": [{"type": "text", "text": "a"}, {"type": "hologram"}]},
    ]);
    let history = read(&odd, HistoryRule::KeepAll);
    assert_eq!(brief(&history), ["assistant c", "user a"]);
    let dropped: Vec<_> = history.dropped.iter().map(ToString::to_string).collect();
    let expected = [
        "at /messages/0: messages of the role `reasoning` are not sent to a model",
        "at /messages/1: messages of the role `activity` are not sent to a model",
        "at /messages/2: messages of the role `narrator` are not sent to a model",
        "at /messages/3/toolCalls/0: expected a tool call with an id and a name",
        "at /messages/4/content/1: expected text or an image with its data, got `hologram`",
    ];
    assert_eq!(dropped, expected);
}

#[test]
fn context_precedes_the_last_text_of_the_newest_user_message() {
    let context = [
        Context::new("Location", "San Francisco"),
        Context::new("", "no description"),
        Context::new("no value", " "),
        Context::new("Page", "Map"),
    ];
    let said = json!([
        {"id": "1", "role": "user", "content": "old"},
        {"id": "2", "role": "user", "content": [{"type": "text", "text": "first"}, {"type": "text", "text": "Where am I?"},
            {"type": "binary", "mimeType": "image/png", "data": "AAAA"}]},
        {"id": "3", "role": "assistant", "content": "Hm."},
    ]);
    let mut history = read(&said, HistoryRule::KeepAll);
    history.add_context(&context);
    assert_eq!(history.messages[0].text(), "old");
    let expected = "Context:\n- Location: San Francisco\n- Page: Map\n\nWhere am I?";
    assert_eq!(history.messages[1].content[1], ChatPart::Text(expected.into()));

    let nothing: [&[Context]; 2] = [&[], &context[1..3]];
    for context in nothing {
        let before = history.clone();
        let mut after = history.clone();
        after.add_context(context);
        assert_eq!(after, before);
    }
    let mut empty = ChatHistory::default();
    empty.add_context(&context);
    assert_eq!(empty, ChatHistory::default());
}

#[test]
fn restated_history_has_stable_ids() {
    assert_eq!(to_messages(&[], "h-", Profile::V1), []);
    let mut user = ChatMessage::new(ChatRole::User, "look");
    user.content.push(ChatPart::Image { format: "png".into(), data: "AAAA".into() });
    let mut assistant = ChatMessage::new(ChatRole::Assistant, "");
    assistant.tool_calls.push(ChatToolCall::new("c", "find", "{}"));
    let history = [
        ChatMessage::new(ChatRole::System, "Be brief."),
        user,
        assistant,
        ChatMessage::tool_result("c", "r"),
    ];
    let restated = |profile| serde_json::to_value(to_messages(&history, "h-", profile)).unwrap();
    let call =
        json!({"id": "c", "type": "function", "function": {"name": "find", "arguments": "{}"}});
    let image = json!({"type": "image", "source": {"type": "data", "value": "AAAA", "mimeType": "image/png"}});
    let expected = json!([
        {"role": "system", "id": "h-1", "content": "Be brief."},
        {"role": "user", "id": "h-2", "content": [{"type": "text", "text": "look"}, image]},
        {"role": "assistant", "id": "h-3", "toolCalls": [call]},
        {"role": "tool", "id": "h-4", "content": "r", "toolCallId": "c"},
    ]);
    assert_eq!(restated(Profile::V1), expected);
    let binary = json!({"type": "binary", "mimeType": "image/png", "data": "AAAA"});
    assert_eq!(restated(Profile::Legacy)[1]["content"][1], binary);
    for profile in [Profile::V1, Profile::Legacy] {
        let back = read(&restated(profile), HistoryRule::KeepAll);
        assert_eq!(back.messages, history.to_vec());
        assert_eq!(back.dropped, vec![]);
    }
}

#[test]
fn repaired_history_has_one_result_after_each_call() {
    let broken = json!([
        {"id": "0", "role": "tool", "toolCallId": "c1", "content": "too early"},
        {"id": "1", "role": "assistant", "toolCalls": [call("c1"), call("c2")]},
        {"id": "2", "role": "tool", "toolCallId": "c2", "content": "r2"},
        {"id": "3", "role": "user", "content": "meanwhile"},
        {"id": "4", "role": "tool", "toolCallId": "c2", "content": "again"},
        {"id": "5", "role": "tool", "toolCallId": "no", "content": "?"},
        {"id": "6", "role": "assistant", "toolCalls": [call("c3")]},
        {"id": "7", "role": "user", "content": "and"},
        {"id": "8", "role": "tool", "toolCallId": "c3", "content": "late"},
    ]);
    let mut history = read(&broken, HistoryRule::KeepAll);
    let done = history.repair();
    let expected = [
        "assistant c1+c2",
        "tool There is no result of this call.c1",
        "tool r2c2",
        "user meanwhile",
        "assistant c3",
        "tool latec3",
        "user and",
    ];
    assert_eq!(brief(&history), expected);
    let expected = [
        "removed a result of c1, which was not called",
        "removed another result of c2",
        "removed a result of no, which was not called",
        "added a result of c1, which has none",
    ];
    assert_eq!(done, expected);
    assert_eq!(history.repair(), [""; 0]);

    // Of two calls with one id, a result belongs to the newer one.
    let twice = json!([
        {"id": "1", "role": "assistant", "toolCalls": [call("c")]},
        {"id": "2", "role": "assistant", "toolCalls": [call("c")]},
        {"id": "3", "role": "tool", "toolCallId": "c", "content": "r"},
    ]);
    let mut history = read(&twice, HistoryRule::KeepAll);
    history.repair();
    let expected =
        ["assistant c", "tool There is no result of this call.c", "assistant c", "tool rc"];
    assert_eq!(brief(&history), expected);
}

fn message() -> impl Strategy<Value = Value> {
    let ids = || prop::sample::select(vec!["c1", "c2", "c3", ""]);
    prop_oneof![
        "[a-c]{0,3}".prop_map(|text| json!({"role": "user", "content": text})),
        ("[a-c]{0,3}", prop::collection::vec(ids(), 0..3)).prop_map(|(text, ids)| {
            json!({"role": "assistant", "content": text, "toolCalls": ids.into_iter().map(call).collect::<Vec<_>>()})
        }),
        (ids(), "[a-c]{0,3}").prop_map(|(id, text)| json!({"role": "tool", "toolCallId": id, "content": text})),
        Just(json!({"role": "reasoning", "content": "hm"})),
    ]
}

fn conversation() -> impl Strategy<Value = Value> {
    prop::collection::vec(message(), 0..12).prop_map(|mut messages| {
        for (number, message) in messages.iter_mut().enumerate() {
            message["id"] = json!(number.to_string());
        }
        Value::from(messages)
    })
}

proptest! {
    /// In a repaired history each call has exactly one result, directly after its message, and
    /// there are no other results.
    #[test]
    fn repaired_histories_are_complete(said in conversation(), latest in any::<bool>()) {
        let rule = if latest { HistoryRule::LatestToolCycle } else { HistoryRule::KeepAll };
        let mut history = read(&said, rule);
        history.repair();
        let mut due: Vec<String> = Vec::new();
        for message in &history.messages {
            if message.role == ChatRole::Tool {
                let id = message.tool_call_id.as_ref().unwrap().as_str();
                prop_assert_eq!(due.first().map(String::as_str), Some(id));
                due.remove(0);
            } else {
                prop_assert!(due.is_empty());
                due.extend(message.tool_calls.iter().map(|call| call.id.as_str().to_owned()));
            }
        }
        prop_assert!(due.is_empty());
        let repaired = history.clone();
        prop_assert!(history.repair().is_empty());
        prop_assert_eq!(history, repaired);
    }

    /// A restated history reads as itself, with unique ids.
    #[test]
    fn restated_histories_round_trip(said in conversation(), legacy in any::<bool>()) {
        let profile = if legacy { Profile::Legacy } else { Profile::V1 };
        let history = read(&said, HistoryRule::KeepAll).messages;
        let restated = to_messages(&history, "h-", profile);
        let ids: BTreeSet<_> = restated.iter().filter_map(Message::id).collect();
        prop_assert_eq!(ids.len(), restated.len());
        prop_assert_eq!(ChatHistory::read(&restated, HistoryRule::KeepAll).messages, history);
    }
}
