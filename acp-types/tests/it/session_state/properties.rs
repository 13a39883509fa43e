//! Properties of the session state, for any conversation.
use super::{SessionView, UpdateV2, again, chunk, contents, told_v1, told_v2, v2};
use crate::shapes;
use acp_types::session_state::{Change, Entry, SessionState, StateLimits};
use jsonrpc_core::wire;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Session updates, generated from the shapes of the types.
fn update() -> BoxedStrategy<String> {
    shapes::V2.instance("SessionUpdate").prop_map(|node| node.text()).boxed()
}

/// A conversation with few ids, so that updates interact.
fn conversation() -> impl Strategy<Value = Vec<Value>> {
    let id = prop::sample::select(vec!["a", "b"]);
    let text = prop::sample::select(vec!["x", "yy", "z "]);
    let message = (
        prop::sample::select(vec![
            "user_message_chunk",
            "agent_message_chunk",
            "agent_thought_chunk",
        ]),
        id.clone(),
        text,
    )
        .prop_map(|(kind, id, text)| chunk(kind, Some(id), text));
    let status = prop::sample::select(vec!["pending", "in_progress", "completed", "failed", "odd"]);
    let call = (id.clone(), status, any::<bool>()).prop_map(|(id, status, has_content)| {
        let mut update = json!({"sessionUpdate": "tool_call_update", "toolCallId": id, "title": status, "status": status});
        if has_content {
            update["content"] = json!([{"type": "content", "content": {"type": "text", "text": id}}, {"type": "terminal", "terminalId": id}]);
            update["rawInput"] = json!({"id": id});
        }
        update
    });
    let other = prop::sample::select(vec![
        json!({"sessionUpdate": "usage_update", "used": 1, "size": 2, "cost": {"amount": 0.5, "currency": "USD"}}),
        json!({"sessionUpdate": "session_info_update", "title": "t"}),
        json!({"sessionUpdate": "session_info_update", "title": null}),
        json!({"sessionUpdate": "plan_update", "plan": {"type": "items", "planId": "p", "entries": [{"content": "c", "priority": "low", "status": "pending"}]}}),
        json!({"sessionUpdate": "plan_removed", "planId": "p"}),
        json!({"sessionUpdate": "notice", "severity": "info", "title": "n"}),
        json!({"sessionUpdate": "compaction_update", "compactionId": "k", "status": "completed"}),
        json!({"sessionUpdate": "compaction_summary_chunk", "compactionId": "k", "content": {"type": "text", "text": "s"}}),
        json!({"sessionUpdate": "subagent_update", "sessionId": "child", "title": "c", "state": {"state": "idle", "stopReason": "end_turn"}}),
        json!({"sessionUpdate": "compaction_update", "compactionId": "k", "status": null}),
        json!({"sessionUpdate": "usage_update", "used": 3, "size": 2}),
        json!({"sessionUpdate": "usage_update", "used": 4, "size": 2, "cost": null}),
        json!({"sessionUpdate": "cursor_update", "cursorId": "x", "anchor": {"type": "agent_message", "messageId": "a", "position": "after"}, "capabilities": {"fork": {}}}),
        json!({"sessionUpdate": "cursor_update", "cursorId": "x", "capabilities": null}),
        json!({"sessionUpdate": "cursor_update", "cursorId": "y", "anchor": {"type": "tool_call", "toolCallId": "b", "position": "before"}}),
        json!({"sessionUpdate": "prompt_suggestions_update", "suggestions": [{"prompt": [{"type": "text", "text": "s"}]}]}),
        json!({"sessionUpdate": "prompt_suggestions_update", "suggestions": []}),
        json!({"sessionUpdate": "session_message", "messageId": "q", "senderSessionId": "child", "content": [{"type": "text", "text": "s"}]}),
    ]);
    prop::collection::vec(prop_oneof![3 => message, 3 => call, 1 => other], 0..30)
}

fn once_more(updates: &[Value]) -> Vec<Value> {
    updates.iter().flat_map(|update| [update.clone(), update.clone()]).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// The same conversation has the same state in either version.
    #[test]
    fn both_versions_have_the_same_state(updates in conversation()) {
        // Version 1 has no compaction without a known status.
        let is_common = |update: &Value| update.get("status").is_none_or(|status| !status.is_null());
        let updates: Vec<_> = updates.into_iter().filter(is_common).collect();
        let one = told_v1(updates.clone());
        let two = told_v2(updates);
        prop_assert_eq!(contents(&one), contents(&two));
    }

    /// The updates that a session consists of create the same session.
    #[test]
    fn replayed_session_is_equal(updates in prop::collection::vec(update(), 0..6)) {
        let mut state = SessionState::default();
        for update in &updates {
            state.handle(&wire::decode::<UpdateV2>(update).unwrap());
        }
        prop_assert_eq!(again(&state).view_v2().updates, state.view_v2().updates);
    }

    /// Repeated upserts have no effect; chunks, which append, are left out.
    #[test]
    fn upserts_are_idempotent(updates in conversation()) {
        let upserts: Vec<_> = updates
            .into_iter()
            .filter(|update| !update["sessionUpdate"].as_str().unwrap().ends_with("_chunk"))
            .collect();
        let one = told_v2(upserts.clone());
        let two = told_v2(once_more(&upserts));
        prop_assert_eq!(one.view_v2().updates, two.view_v2().updates);
    }

    /// Changes are complete: a reader of changes has the text of the state.
    #[test]
    fn changes_add_up_to_the_state(updates in conversation(), pace in 1..5_usize) {
        let mut state = SessionState::default();
        let mut shown: BTreeMap<u64, String> = BTreeMap::new();
        for (number, update) in updates.iter().enumerate() {
            state.handle(&v2(update.clone()));
            if number % pace == 0 || number + 1 == updates.len() {
                while let Some(change) = state.poll_change() {
                    let (entry, from) = match change {
                        Change::Message { entry } => (entry, 0),
                        Change::Text { entry, block: 0, from } => (entry, from),
                        _ => continue,
                    };
                    let Some(Entry::Message(message)) = state.entry(entry) else { panic!("gone") };
                    let text = shown.entry(entry).or_default();
                    text.truncate(from);
                    text.push_str(&message.text()[from..]);
                }
            }
        }
        let held: BTreeMap<_, _> = state
            .entries()
            .filter_map(|(number, entry)| match entry {
                Entry::Message(message) => Some((number, message.text())),
                _ => None,
            })
            .collect();
        prop_assert_eq!(shown, held);
    }

    /// No limit is exceeded, for any limits.
    #[test]
    fn limits_are_never_exceeded(updates in conversation(), entries in 1..4_usize) {
        let mut limits = StateLimits::default();
        limits.entries = entries;
        limits.names = 1;
        limits.blocks = 1;
        limits.changes = 3;
        let mut state = SessionState::new(limits);
        for update in updates {
            state.handle(&v2(update));
            prop_assert!(state.entries().count() <= entries);
            prop_assert!(state.tool_calls().count() <= entries);
            prop_assert!(state.tool_calls().all(|call| call.content.len() <= 1));
            prop_assert!(state.plans().count() <= 1 && state.subagents().count() <= 1);
            prop_assert!(state.cursors().count() <= 1 && state.suggestions().len() <= 1);
        }
        prop_assert!(std::iter::from_fn(|| state.poll_change()).count() <= 3);
    }
}
