//! Metrics: definitions, and measurements derived from lines.
use crate::lines::{
    chose, error, permission, prompt, request, result, stop, text, tool, tool_status, update,
};
use crate::spans::{A2C, C2A, Run, shown};
use semconv_map::metric::{self, Instrument, Measurement, Metric, MetricValue};
use semconv_map::policy::ToolTypePolicy;
use semconv_map::{ClosedBy, Limits, Policy, Profile, Tracker};
use serde_json::json;
use std::collections::BTreeSet;
use std::time::Duration;

fn policy(profile: Profile) -> Policy {
    let mut policy = Policy::default();
    policy.profile = profile;
    policy.record_metrics = true;
    policy
}

/// Instruments, units and buckets match the conventions.
#[test]
fn metric_definitions_follow_the_conventions() {
    let powers = |first: f64, factor: f64, count: i32| -> Vec<f64> {
        (0..count).map(|n| first * factor.powi(n)).collect()
    };
    let seconds = powers(0.01, 2.0, 14);
    let turns = powers(0.1, 2.0, 13);
    let mcp = vec![0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1., 2., 5., 10., 30., 60., 120., 300.];
    let rpc = vec![0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1., 2.5, 5., 7.5, 10.];
    let expected = |metric: &Metric| -> (Instrument, &str, Vec<f64>) {
        use Instrument::{Counter, Gauge, Histogram, UpDownCounter};
        match metric.name {
            "gen_ai.client.token.usage" => (Histogram, "{token}", powers(1.0, 4.0, 14)),
            "gen_ai.invoke_agent.tool_calls" => (Histogram, "{tool_call}", powers(1.0, 2.0, 8)),
            "gen_ai.invoke_agent.duration" => (Histogram, "s", turns.clone()),
            "acp.prompt.duration" => (Histogram, "s", [&*turns, &[900.0, 1800.0]].concat()),
            "acp.session.active" => (UpDownCounter, "{session}", Vec::new()),
            "acp.session.cost" => (Counter, "{cost}", Vec::new()),
            name if name.starts_with("acp.session.context") => (Gauge, "{token}", Vec::new()),
            name if name.contains(".usage.") => (Counter, "{token}", Vec::new()),
            name if name.starts_with("gen_ai.") => (Histogram, "s", seconds.clone()),
            name if name.starts_with("rpc.") => (Histogram, "s", rpc.clone()),
            _ => (Histogram, "s", mcp.clone()),
        }
    };
    for metric in metric::ALL {
        let (instrument, unit, bounds) = expected(metric);
        assert_eq!(metric.instrument, instrument, "{}", metric.name);
        assert_eq!(metric.unit, unit, "{}", metric.name);
        assert_eq!(metric.boundaries.len(), bounds.len(), "{}", metric.name);
        for (bound, expected) in metric.boundaries.iter().zip(&bounds) {
            assert!((bound - expected).abs() < 1e-9 * expected, "{}: {bound}", metric.name);
        }
    }
    let names: BTreeSet<_> = metric::ALL.iter().map(|metric| metric.name).collect();
    assert_eq!(names.len(), metric::ALL.len());
}

fn written(measured: &Measurement) -> String {
    let attributes: Vec<_> = measured
        .attributes
        .iter()
        .map(|attribute| shown(attribute).replace(" = ", "=").replace('"', ""))
        .collect();
    let value = match measured.value {
        MetricValue::I64(value) => value.to_string(),
        MetricValue::F64(value) => format!("{value:?}"),
        other => panic!("a new kind of value: {other:?}"),
    };
    format!("{} {value} {}", measured.metric.name, attributes.join(" ")).trim_end().to_owned()
}

fn session(profile: Profile) -> Vec<String> {
    let mut policy = policy(profile);
    policy.tool_type = ToolTypePolicy::ByExecution;
    let mut run = Run::new(policy);
    let agent = json!({ "name": "coder", "version": "1" });
    run.line(C2A, &request(0, "initialize", json!({ "protocolVersion": 1 })));
    run.line(A2C, &result(0, json!({ "protocolVersion": 1, "agentInfo": agent })));
    run.line(C2A, &prompt(1, "s"));
    run.line(A2C, &text("s", "Hi"));
    run.line(A2C, &tool("s", "t", "edit", "in_progress"));
    run.line(A2C, &permission(7, "s", "t"));
    run.line(C2A, &chose(7, "yes"));
    run.line(A2C, &request(8, "fs/read_text_file", json!({ "sessionId": "s", "path": "/a" })));
    run.line(C2A, &error(8, -32002, "no"));
    run.line(A2C, &tool_status("s", "t", "failed"));
    let usage = json!({ "totalTokens": 15, "inputTokens": 4, "outputTokens": 5, "thoughtTokens": 2, "cachedReadTokens": 3, "cachedWriteTokens": 1 });
    run.line(A2C, &result(1, json!({ "stopReason": "end_turn", "usage": usage })));
    run.spans.metrics.iter().map(written).collect()
}

/// Measurements of every profile for the same traffic. Lines are one second apart.
const ACP: [&str; 8] = [
    "rpc.client.call.duration 1.0 rpc.system.name=jsonrpc rpc.method=initialize",
    "rpc.server.call.duration 1.0 rpc.system.name=jsonrpc rpc.method=session/request_permission",
    "acp.permission.wait.duration 1.0 acp.permission.outcome=selected acp.permission.option.kind=allow_once",
    "rpc.server.call.duration 1.0 rpc.system.name=jsonrpc rpc.method=fs/read_text_file error.type=-32002 rpc.response.status_code=-32002",
    "acp.tool_call.duration 5.0 gen_ai.agent.name=coder gen_ai.tool.name=edit acp.tool.kind=edit error.type=tool_error",
    "acp.prompt.duration 8.0 gen_ai.agent.name=coder",
    "acp.prompt.time_to_first_update 1.0 gen_ai.agent.name=coder",
    "gen_ai.client.operation.duration 8.0 gen_ai.operation.name=invoke_agent gen_ai.provider.name=coder",
];

#[test]
fn metrics_depend_on_the_profile() {
    const OF: &str = "gen_ai.operation.name=invoke_agent gen_ai.provider.name=coder";
    let usage = |name: &str, tokens: i64| {
        format!("gen_ai.client.inference.usage.{name} {tokens} {OF} gen_ai.token.modality=unknown")
    };
    let token_usage = |kind: &str, tokens: i64| {
        format!("gen_ai.client.token.usage {tokens} {OF} gen_ai.token.type={kind}")
    };
    let v1_39 = vec![token_usage("input", 8), token_usage("output", 7)];
    let chunk = format!("gen_ai.client.operation.time_to_first_chunk 1.0 {OF}");
    let v1_41 = [&*v1_39, &[chunk]].concat();
    let dev = vec![
        "gen_ai.invoke_agent.duration 8.0 gen_ai.agent.name=coder".to_owned(),
        "gen_ai.invoke_agent.tool_calls 1 gen_ai.agent.name=coder".to_owned(),
        "gen_ai.execute_tool.duration 5.0 gen_ai.agent.name=coder gen_ai.tool.name=edit gen_ai.tool.type=function error.type=tool_error".to_owned(),
        usage("input_tokens", 8),
        usage("output_tokens", 7),
        usage("cache_read.input_tokens", 3),
        usage("cache_write.input_tokens", 1),
        usage("reasoning.output_tokens", 2),
    ];
    for (profile, more) in
        [(Profile::V1_39, v1_39), (Profile::V1_41, v1_41), (Profile::GENAI_DEV, dev)]
    {
        let mut expected: Vec<_> = ACP.into_iter().map(str::to_owned).chain(more).collect();
        if profile == Profile::V1_39 {
            expected.retain(|metric| !metric.contains("fs/read_text_file"));
        }
        let mut actual = session(profile);
        expected.sort_unstable();
        actual.sort_unstable();
        assert_eq!(actual, expected, "{}", profile.schema_url());
    }
}

#[test]
fn metrics_are_off_by_default() {
    let mut run = Run::new(Policy::default());
    run.line(C2A, &request(0, "session/new", json!({})));
    run.line(A2C, &result(0, json!({ "sessionId": "s" })));
    run.line(C2A, &prompt(1, "s"));
    run.line(A2C, &stop(1, "end_turn"));
    assert_eq!(run.spans.metrics, []);
}

fn usage(used: u64, amount: f64, currency: &str) -> String {
    let cost = json!({ "amount": amount, "currency": currency });
    update("s", json!({ "sessionUpdate": "usage_update", "used": used, "size": 100, "cost": cost }))
}

fn of(run: &Run, name: &str) -> Vec<String> {
    let named = run.spans.metrics.iter().filter(|measured| measured.metric.name == name);
    named.map(written).collect()
}

/// The cost of a session is counted once, in its currency, and never decreases.
#[test]
fn cost_is_counted_once() {
    let mut run = Run::new(policy(Profile::V1_41));
    run.line(C2A, &request(0, "session/new", json!({})));
    run.line(A2C, &result(0, json!({ "sessionId": "s" })));
    for (used, amount, currency) in [
        (10, 0.5, "USD"),
        (20, 0.75, "USD"),
        (5, 0.25, "USD"),
        (6, 1.25, "USD"),
        (7, 9.0, "EUR"),
        (8, 9.5, "EUR"),
    ] {
        run.line(A2C, &usage(used, amount, currency));
    }
    assert_eq!(
        of(&run, "acp.session.cost"),
        [
            "acp.session.cost 0.5 acp.cost.currency=USD",
            "acp.session.cost 0.25 acp.cost.currency=USD",
            "acp.session.cost 1.0 acp.cost.currency=USD",
            "acp.session.cost 0.5 acp.cost.currency=EUR",
        ]
    );
    assert_eq!(
        of(&run, "acp.session.context.used").first().unwrap(),
        "acp.session.context.used 10"
    );
    assert_eq!(of(&run, "acp.session.context.size").len(), 6);
    let mut run = Run::new(policy(Profile::V1_41));
    run.line(A2C, &usage(1, 5.0, "USD"));
    run.line(A2C, &usage(1, 6.0, "USD"));
    assert_eq!(
        of(&run, "acp.session.cost"),
        ["acp.session.cost 1.0 acp.cost.currency=USD"],
        "without an observed start, counting begins with the first observation"
    );
}

#[test]
fn sessions_are_active_until_closed_or_evicted() {
    let mut limits = Limits::default();
    limits.sessions = 3;
    let mut run = Run::of(Tracker::with_limits(policy(Profile::V1_41), limits));
    let mut answered = |method: &str, session: &str, answer: serde_json::Value| {
        let before = run.spans.metrics.len();
        run.line(C2A, &request(1, method, json!({ "sessionId": session })));
        run.line(A2C, &result(1, answer));
        let changes = run.spans.metrics.iter().skip(before).map(written);
        let changes: Vec<_> = changes.filter(|metric| metric.starts_with("acp.")).collect();
        changes.join(", ").replace("acp.session.active ", "")
    };
    let new = |session: &str| json!({ "sessionId": session });
    assert_eq!(answered("session/new", "", new("a")), "1");
    assert_eq!(answered("session/load", "b", json!({})), "1");
    assert_eq!(answered("session/load", "b", json!({})), "", "already active");
    assert_eq!(answered("session/fork", "a", new("c")), "1");
    assert_eq!(answered("session/resume", "d", json!({})), "-1, 1", "one is evicted, one is added");
    assert_eq!(answered("session/close", "d", json!({})), "-1");
    assert_eq!(answered("session/delete", "d", json!({})), "", "already closed");
    run.close(ClosedBy::Client);
    assert_eq!(of(&run, "acp.session.active").last().unwrap(), "acp.session.active -2");
}

/// Measurements beyond the limit are counted and take no room from spans.
#[test]
fn metrics_beyond_the_limit_are_counted() {
    let mut limits = Limits::default();
    limits.records = 4;
    let mut tracker = Tracker::with_limits(policy(Profile::V1_41), limits);
    for (direction, line) in [(C2A, prompt(1, "s")), (A2C, stop(1, "end_turn"))] {
        tracker.handle_line(direction, Duration::ZERO, line.as_bytes());
    }
    assert_eq!(std::iter::from_fn(|| tracker.poll()).count(), 4);
    let counters = tracker.counters();
    assert_eq!(counters.dropped_spans, 0);
    assert_eq!(counters.dropped_metrics, 0);
    for _ in 0..3 {
        let line = usage(1, 1.0, "USD");
        tracker.handle_line(A2C, Duration::ZERO, line.as_bytes());
    }
    assert_eq!(tracker.counters().dropped_metrics, 2);
}
