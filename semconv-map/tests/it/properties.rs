//! Invariants for any traffic. `Run` checks each record: one start and one end, children within
//! their parents, no duplicate attributes, an error type exactly for errors, and no open span after
//! `close`.
use crate::lines::{
    chose, error, notification, permission, prompt, request, result, stop, text, tool, tool_status,
    update,
};
use crate::spans::{A2C, C2A, Run};
use proptest::prelude::*;
use semconv_map::content::{Capture, Gate};
use semconv_map::metric::{self, MetricValue};
use semconv_map::policy::ToolTypePolicy;
use semconv_map::{ClosedBy, Direction, Limits, Policy, Profile, Tracker};
use serde_json::json;
use std::time::Duration;

/// Marks content. No canary may be recorded.
const CANARY: &str = "canary-77ab";

/// Any line of a session, from either side.
pub(crate) fn lines() -> impl Strategy<Value = (Direction, String)> {
    let id = 0..4_i64;
    let session = prop::sample::select(vec!["s", "r"]);
    let tool_id = prop::sample::select(vec!["t", "u", "v"]);
    let status =
        prop::sample::select(vec!["pending", "in_progress", "completed", "failed", "newer"]);
    let method = prop::sample::select(vec![
        "initialize",
        "session/new",
        "session/load",
        "session/fork",
        "session/close",
        "session/list",
        "session/set_config_option",
        "fs/read_text_file",
        "terminal/create",
        "terminal/wait_for_exit",
        "_x/y",
        "session/prompt",
    ]);
    let event = prop::sample::select(vec![
        "subagent_update",
        "plan",
        "plan_update",
        "usage_update",
        "current_mode_update",
        "notice",
        "newer",
    ]);
    let said = prop_oneof![
        (id.clone(), session.clone()).prop_map(|(id, session)| prompt(id, session)),
        (id.clone(), prop::sample::select(vec!["end_turn", "refusal", "x"])).prop_map(|(id, reason)| stop(id, reason)),
        (session.clone(), tool_id.clone(), status.clone())
            .prop_map(|(session, id, status)| tool(session, id, "read", status)),
        (session.clone(), tool_id.clone(), status).prop_map(|(session, id, status)| tool_status(session, id, status)),
        (id.clone(), session.clone(), tool_id).prop_map(|(id, session, tool)| permission(id, session, tool)),
        id.clone().prop_map(|id| chose(id, "yes")),
        id.clone().prop_map(|id| error(id, -32603, CANARY)),
        id.clone().prop_map(|id| result(id, json!({ "sessionId": "s", "protocolVersion": 1, "exitCode": 1, "x": CANARY }))),
        id.clone().prop_map(|id| result(id, json!(null))),
        session.clone().prop_map(|session| text(session, CANARY)),
        (id.clone(), method, session.clone()).prop_map(|(id, method, session)| {
            let meta = json!({ "baggage": format!("k={CANARY}") });
            request(id, method, json!({ "_meta": meta, "sessionId": session, "path": CANARY, "command": CANARY, "protocolVersion": 1 }))
        }),
        (session.clone(), event).prop_map(|(session, event)| {
            update(session, json!({
                "sessionUpdate": event, "entries": [],
                "plan": { "type": "items", "planId": "p", "entries": [{ "content": CANARY, "priority": "low", "status": "pending" }] }, "used": 1, "size": 2, "cost": { "amount": 1.5, "currency": "USD" },
                "currentModeId": "m", "severity": "info", "title": CANARY,
            }))
        }),
        (session.clone(), session.clone(), prop::sample::select(vec!["idle", "running", "unknown", "newer"])).prop_map(
            |(owner, session, state)| {
                let state = json!({ "state": state, "stopReason": "end_turn" });
                update(owner, json!({ "sessionUpdate": "subagent_update", "sessionId": session, "title": CANARY, "state": state }))
            }),
        session.prop_map(|session| notification("session/cancel", json!({ "sessionId": session }))),
        id.prop_map(|id| notification("$/cancel_request", json!({ "requestId": id }))),
    ];
    let direction = prop::sample::select(vec![C2A, A2C]);
    (direction, said)
}

fn reasons() -> impl Strategy<Value = ClosedBy> {
    prop::sample::select(vec![ClosedBy::Client, ClosedBy::Agent, ClosedBy::Observer])
}

fn policies() -> impl Strategy<Value = Policy> {
    let profiles = prop::sample::select(vec![Profile::V1_39, Profile::V1_41, Profile::GENAI_DEV]);
    let captures = prop::sample::select(vec![
        Capture::Off,
        Capture::Off,
        Capture::Span,
        Capture::Event,
        Capture::SpanAndEvent,
    ]);
    (profiles, captures, gates(), gates(), any::<bool>()).prop_map(
        |(profile, content, titles, paths, record_metrics)| {
            let mut policy = Policy::default();
            policy.profile = profile;
            policy.content = content;
            policy.titles = titles;
            policy.paths = paths;
            policy.record_metrics = record_metrics;
            policy.tool_type = ToolTypePolicy::ByExecution;
            policy
        },
    )
}

fn gates() -> impl Strategy<Value = Gate> {
    prop::sample::select(vec![Gate::WithContent, Gate::WithContent, Gate::Never, Gate::Always])
}

proptest! {
    /// For any sequence of events, every span ends once, within its parent, and no content is
    /// recorded with capture off.
    #[test]
    fn every_span_ends_once(
        policy in policies(),
        lines in prop::collection::vec((lines(), 0..9_u64), 0..80),
        reason in reasons(),
    ) {
        let record_metrics = policy.record_metrics;
        let record_content = policy.content != Capture::Off || [policy.titles, policy.paths].contains(&Gate::Always);
        let mut run = Run::new(policy);
        for ((direction, line), now) in lines {
            run.line_at(direction, Duration::from_secs(now), line.as_bytes());
        }
        run.close_at(Duration::ZERO, reason);
        let counters = run.tracker.counters();
        prop_assert_eq!(counters.invalid_lines, 0);
        prop_assert_eq!(counters.dropped_spans, 0);
        prop_assert_eq!(counters.dropped_events, 0);
        for span in run.spans.all.values() {
            let attributes: Vec<_> = span.attributes().collect();
            let shown = format!("{} {attributes:?} {:?} {:?}", span.start.name, span.events, span.end);
            prop_assert!(record_content || !shown.contains(CANARY), "{}", shown);
        }
        let metrics = format!("{:?}", run.spans.metrics);
        prop_assert!(!metrics.contains(CANARY), "{}", metrics);
        prop_assert!(record_metrics || run.spans.metrics.is_empty());
        prop_assert_eq!(counters.dropped_metrics, 0);
        let active = run.spans.metrics.iter().filter(|measured| *measured.metric == metric::ACP_SESSION_ACTIVE);
        let active = active.map(|measured| if let MetricValue::I64(change) = measured.value { change } else { 99 });
        prop_assert_eq!(active.sum::<i64>(), 0, "sessions stay active");
    }

    /// With limits that are too small for the traffic, dropped records are counted and the other
    /// invariants hold.
    #[test]
    fn limits_hold_for_any_traffic(
        lines in prop::collection::vec((lines(), any::<bool>()), 0..80),
        sizes in (1..4_usize, 1..6_usize, 2..12_usize, 0..3_usize),
        reason in reasons(),
    ) {
        let mut limits = Limits::default();
        (limits.sessions, limits.open_spans, limits.records, limits.events_per_span) = sizes;
        let mut policy = Policy::default();
        policy.record_metrics = true;
        let mut run = Run::of(Tracker::with_limits(policy, limits));
        for ((direction, line), polls) in lines {
            run.tracker.handle_line(direction, Duration::ZERO, line.as_bytes());
            if polls {
                let waiting = run.drain();
                prop_assert!(waiting <= limits.records, "{} records waited", waiting);
            }
        }
        run.close_at(Duration::ZERO, reason);
    }

    /// For any bytes there is no panic, and every span ends.
    #[test]
    fn any_bytes_are_handled(lines in prop::collection::vec((any::<bool>(), prop::collection::vec(any::<u8>(), 0..200)), 0..20)) {
        let mut run = Run::new(Policy::default());
        for (to_agent, line) in lines {
            run.line_at(if to_agent { C2A } else { A2C }, Duration::ZERO, &line);
        }
        run.close_at(Duration::ZERO, ClosedBy::Agent);
    }

    /// Nearly valid lines, with a changed byte or a missing part.
    #[test]
    fn broken_lines_are_handled(
        record_content: bool,
        lines in prop::collection::vec((lines(), any::<prop::sample::Index>(), any::<u8>(), any::<bool>()), 0..40),
    ) {
        let mut policy = Policy::default();
        policy.content = if record_content { Capture::Span } else { Capture::Off };
        let mut run = Run::new(policy);
        for ((direction, line), at, byte, cut) in lines {
            let mut line = line.into_bytes();
            let at = at.index(line.len());
            if cut {
                line.truncate(at);
            } else {
                line[at] = byte;
            }
            run.line_at(direction, Duration::ZERO, &line);
        }
        run.close_at(Duration::ZERO, ClosedBy::Client);
    }
}
