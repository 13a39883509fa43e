//! Limits of the tracker, and the counters of what they drop.
use crate::lines::{prompt, request, result, stop, text, tool, tool_status, update};
use crate::spans::{A2C, C2A, Run};
use semconv_map::{ClosedBy, Limits, Policy, Record, Tracker};
use serde_json::json;
use std::time::Duration;

fn limited(limit: impl Fn(&mut Limits)) -> Run {
    let mut limits = Limits::default();
    limit(&mut limits);
    Run::of(Tracker::with_limits(Policy::default(), limits))
}

/// Lines that are not messages are counted and have no other effect.
#[test]
fn invalid_lines_are_counted() {
    let mut run = Run::new(Policy::default());
    let deep = "[".repeat(5000);
    let lines: [&[u8]; 13] = [
        b"hello",
        b"{",
        b"42",
        b"[]",
        br#"[{"jsonrpc":"2.0","id":1,"method":"initialize"}]"#,
        b"{}",
        b"\xff\xfe",
        br#"{"jsonrpc":"2.0","id":{},"method":"x"}"#,
        br#"{"jsonrpc":"2.0","id":1,"id":2,"method":"x"}"#,
        br#"{"method":7,"id":1}"#,
        br#"{"jsonrpc":"2.0","method":"session/update","params":{"#,
        b"{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"\xff\",\"update\":{\"sessionUpdate\":\"agent_message_chunk\"}}}",
        deep.as_bytes(),
    ];
    for line in lines {
        run.line_at(A2C, Duration::ZERO, line);
    }
    assert_eq!(run.tracker.counters().invalid_lines, 13);
    for blank in [b"".as_slice(), b"\n", b" \r\n"] {
        run.line_at(A2C, Duration::ZERO, blank);
    }
    assert_eq!(run.tracker.counters().invalid_lines, 13);
    assert!(run.spans.all.is_empty());
}

/// Messages that do not match their method are counted, and their spans exist.
#[test]
fn undecodable_messages_are_counted() {
    let mut run = Run::new(Policy::default());
    run.line(C2A, &request(1, "initialize", json!({})));
    run.line(A2C, &result(1, json!([])));
    run.line(C2A, &prompt(2, "s"));
    run.line(
        A2C,
        &update("s", json!({ "sessionUpdate": "tool_call", "toolCallId": 7, "title": "x" })),
    );
    run.line(A2C, &update("s", json!({ "sessionUpdate": "usage_update", "used": -1, "size": 1 })));
    run.line(A2C, &update("s", json!({ "kind": "tool_call" })));
    run.line(A2C, &update("s", json!("tool_call")));
    run.line(A2C, &stop(2, "end_turn"));
    run.line(A2C, &stop(3, "end_turn"));
    let counters = run.tracker.counters();
    assert_eq!(counters.undecodable, 5);
    assert_eq!(counters.unmatched_responses, 1);
    assert_eq!(run.spans.names(), ["initialize", "invoke_agent"]);
}

#[test]
fn spans_beyond_the_limit_are_counted() {
    let mut run = limited(|limits| limits.open_spans = 3);
    run.line(C2A, &prompt(1, "s"));
    for id in ["a", "b", "c", "d"] {
        run.line(A2C, &tool("s", id, "read", "pending"));
        run.line(A2C, &tool_status("s", id, "in_progress"));
    }
    assert_eq!(run.tracker.counters().dropped_spans, 2);
    run.line(A2C, &tool_status("s", "a", "completed"));
    run.line(A2C, &tool_status("s", "c", "completed"));
    run.line(A2C, &tool("s", "e", "edit", "completed"));
    run.line(A2C, &stop(1, "end_turn"));
    assert_eq!(run.spans.all.len(), 4);
    assert_eq!(run.tracker.counters().dropped_spans, 2, "each span is counted once");
}

/// A request beyond the limit has no span, and its response is unmatched.
#[test]
fn requests_beyond_the_limit_are_counted() {
    let mut run = limited(|limits| limits.open_spans = 2);
    for id in 0..5 {
        run.line(C2A, &request(id, "session/list", json!({})));
    }
    for id in 0..5 {
        run.line(A2C, &result(id, json!({})));
    }
    let counters = run.tracker.counters();
    assert_eq!(run.spans.all.len(), 2);
    assert_eq!(counters.dropped_spans, 3);
    assert_eq!(counters.unmatched_responses, 3);
}

/// Requests of ended turns are evicted, even if they are never answered.
#[test]
fn unanswered_requests_of_ended_turns_are_evicted() {
    let mut run = limited(|limits| limits.open_spans = 4);
    for id in 0..20 {
        run.line(C2A, &prompt(id, "s"));
        let wait = json!({ "sessionId": "s", "terminalId": "t" });
        run.line(A2C, &request(id, "terminal/wait_for_exit", wait));
        run.line(A2C, &stop(id, "cancelled"));
    }
    assert_eq!(run.tracker.counters().dropped_spans, 0);
    assert_eq!(run.spans.all.len(), 40);
}

#[test]
fn events_beyond_the_limit_are_counted() {
    let mut run = limited(|limits| limits.events_per_span = 2);
    run.line(C2A, &prompt(1, "s"));
    for _ in 0..5 {
        run.line(
            A2C,
            &update("s", json!({ "sessionUpdate": "current_mode_update", "currentModeId": "x" })),
        );
    }
    run.line(A2C, &stop(1, "end_turn"));
    let turn = run.span("invoke_agent");
    assert_eq!(turn.events.len(), 2);
    assert_eq!(turn.end.as_ref().unwrap().dropped_events, 3);
    assert_eq!(run.tracker.counters().dropped_events, 3);
}

/// Without polling, the waiting records stay bounded, and each span that starts also ends.
#[test]
fn unpolled_records_stay_bounded() {
    let mut limits = Limits::default();
    limits.records = 10;
    let mut tracker = Tracker::with_limits(Policy::default(), limits);
    for id in 0..50 {
        let lines = [
            (C2A, prompt(id, "s")),
            (A2C, tool("s", &id.to_string(), "read", "completed")),
            (A2C, stop(id, "end_turn")),
        ];
        for (direction, line) in lines {
            tracker.handle_line(direction, Duration::ZERO, line.as_bytes());
        }
    }
    tracker.close(Duration::ZERO, ClosedBy::Client);
    let records: Vec<_> = std::iter::from_fn(|| tracker.poll()).collect();
    let starts = records.iter().filter(|record| matches!(record, Record::Start(_))).count();
    let ends = records.iter().filter(|record| matches!(record, Record::End(_))).count();
    assert_eq!(records.len(), 10);
    assert_eq!(starts, 5);
    assert_eq!(ends, 5);
    assert_eq!(tracker.counters().dropped_spans, 95);
}

/// Sessions without open spans are evicted for new ones. Busy sessions are kept.
#[test]
fn least_recent_session_is_evicted() {
    let mut run = limited(|limits| limits.sessions = 2);
    run.line(C2A, &prompt(1, "busy"));
    for session in 0..10 {
        let session = session.to_string();
        run.line(C2A, &prompt(2, &session));
        run.line(A2C, &text(&session, "x"));
        run.line(A2C, &stop(2, "end_turn"));
    }
    run.line(A2C, &stop(1, "end_turn"));
    assert!(run.spans.all.values().all(|span| span.end.is_some()));
    assert_eq!(run.tracker.counters().dropped_spans, 0);
    for id in 3..6 {
        run.line(C2A, &prompt(id, &id.to_string()));
    }
    assert_eq!(run.tracker.counters().dropped_spans, 1, "both are busy");
}

/// Names chosen by a peer are truncated everywhere.
#[test]
fn long_names_are_truncated() {
    let long = "n".repeat(100_000);
    let mut run = Run::new(Policy::default());
    run.line(
        C2A,
        &request(
            0,
            "initialize",
            json!({ "protocolVersion": 1, "clientInfo": { "name": long, "version": long } }),
        ),
    );
    run.line(A2C, &result(0, json!({ "protocolVersion": 1, "agentInfo": { "name": long, "title": long, "version": long } })));
    run.line(C2A, &request("i".repeat(4000), &long, json!({ "sessionId": long })));
    run.line(C2A, &prompt(1, &long));
    run.line(A2C, &tool(&long, &long, &long, "pending"));
    run.line(
        A2C,
        &update(
            &long,
            json!({ "sessionUpdate": "tool_call_update", "toolCallId": long, "name": long }),
        ),
    );
    run.line(
        A2C,
        &update(&long, json!({ "sessionUpdate": "current_mode_update", "currentModeId": long })),
    );
    run.line(A2C, &crate::lines::permission(3, &long, &long));
    run.line(C2A, &crate::lines::chose(3, &long));
    run.line(A2C, &stop(1, &long));
    run.close(ClosedBy::Observer);
    for span in run.spans.all.values() {
        let size = format!("{:?} {:?} {:?}", span.start, span.events, span.end).len();
        assert!(size < 8000, "{} takes {size} bytes", &span.name()[..20]);
    }
}

/// A span does not end before its start, even if the clock is set back.
#[test]
fn time_never_goes_backwards() {
    let mut run = Run::new(Policy::default());
    run.line_at(C2A, Duration::from_secs(10), prompt(1, "s").as_bytes());
    run.line_at(A2C, Duration::from_secs(5), stop(1, "end_turn").as_bytes());
    let turn = run.span("invoke_agent");
    assert_eq!(turn.end.as_ref().map(|end| end.time), Some(Duration::from_secs(10)));
}
