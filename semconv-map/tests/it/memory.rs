//! The memory of a tracker is bounded for any input.
use crate::lines::{error, permission, prompt, request, result, stop, tool, tool_status, update};
use crate::spans::{A2C, C2A};
use proptest::prelude::*;
use semconv_map::content::Capture;
use semconv_map::rpc::Protocol;
use semconv_map::{Counters, Direction, Limits, Policy, RpcTracker, Tracker};
use serde_json::{Value, json};
use std::time::Duration;

/// A long text that differs for each number. Longer than any text that may be kept.
fn long(number: u16) -> String {
    format!("{number}-{}", "x".repeat(10_000))
}

fn lines() -> impl Strategy<Value = (Direction, String)> {
    let long = || any::<u16>().prop_map(long);
    let id = || {
        prop_oneof![
            any::<u16>().prop_map(Value::from),
            long().prop_map(|id| Value::from(&id[..2000]))
        ]
    };
    let said = prop_oneof![
        (id(), long()).prop_map(|(id, session)| prompt(id, &session)),
        (id(), long()).prop_map(|(id, reason)| stop(id, &reason)),
        (long(), long(), long()).prop_map(|(session, id, kind)| tool(&session, &id, &kind, "pending")),
        (long(), long()).prop_map(|(session, id)| tool_status(&session, &id, "completed")),
        (id(), long(), long()).prop_map(|(id, session, tool)| permission(id, &session, &tool)),
        (id(), long()).prop_map(|(id, message)| error(id, -1, &message)),
        (id(), long()).prop_map(|(id, session)| result(id, json!({ "sessionId": session, "configOptions": [{ "category": "model", "currentValue": session }] }))),
        (id(), long(), prop::sample::select(vec!["session/load", "session/fork", "session/new", "initialize", "fs/read_text_file", "_x"]))
            .prop_map(|(id, session, method)| request(id, method, json!({ "sessionId": session, "path": session, "clientInfo": { "name": session, "version": session }, "_meta": { "traceparent": session } }))),
        (long(), long()).prop_map(|(session, child)| update(&session, json!({ "sessionUpdate": "subagent_update", "sessionId": child, "title": child, "state": { "state": "running" } }))),
        (long(), long()).prop_map(|(session, text)| update(&session, json!({ "sessionUpdate": "agent_message_chunk", "messageId": text, "content": { "type": "text", "text": text } }))),
        (long(), long()).prop_map(|(session, mode)| update(&session, json!({ "sessionUpdate": "current_mode_update", "currentModeId": mode }))),
        (long(), long()).prop_map(|(session, currency)| update(&session, json!({ "sessionUpdate": "usage_update", "used": 1, "size": 2, "cost": { "amount": 1.0, "currency": currency } }))),
    ];
    (prop::sample::select(vec![C2A, A2C]), said)
}

fn limits() -> Limits {
    let mut limits = Limits::default();
    limits.sessions = 4;
    limits.open_spans = 8;
    limits.records = 32;
    limits.events_per_span = 2;
    limits
}

/// Bound of the kept data: records with some names of 256 bytes, and the surrounding state.
const KEPT: usize = 120_000;

fn dropped(counters: Counters) -> bool {
    counters.dropped_spans + counters.dropped_events + counters.dropped_metrics > 0
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    /// For names of any length and number, the kept data stays below a bound, and dropped records
    /// are counted. Records are not polled.
    #[test]
    fn memory_is_bounded(lines in prop::collection::vec(lines(), 70..90), content: bool) {
        let mut policy = Policy::default();
        policy.record_metrics = true;
        if content {
            policy.content = Capture::SpanAndEvent;
            let limits = &mut policy.content_limits;
            limits.message_bytes = 2000;
            limits.part_bytes = 1000;
            limits.parts = 8;
            limits.tool_bytes = 1000;
        }
        let mut tracker = Tracker::with_limits(policy, limits());
        for (direction, line) in &lines {
            tracker.handle_line(*direction, Duration::ZERO, line.as_bytes());
        }
        let kept = format!("{tracker:?}").len();
        prop_assert!(kept < KEPT, "{kept} bytes");
        prop_assert!(dropped(tracker.counters()));
    }

    #[test]
    fn memory_of_rpc_connections_is_bounded(lines in prop::collection::vec(lines(), 70..90)) {
        let mut policy = Policy::default();
        policy.record_metrics = true;
        policy.record_notifications = true;
        let mut tracker = RpcTracker::with_limits(policy, Protocol::McpClient, limits());
        for (direction, line) in &lines {
            tracker.handle_line(*direction, Duration::ZERO, line.as_bytes());
        }
        let kept = format!("{tracker:?}").len();
        prop_assert!(kept < KEPT, "{kept} bytes");
        prop_assert!(dropped(tracker.counters()));
    }
}
