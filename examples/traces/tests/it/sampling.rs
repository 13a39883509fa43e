//! Sampling by the environment and by remote parents.

use crate::proxy::{NO_COLLECTOR, Proxy, acp_traces, test_agent};
use crate::span_files::{lines, span};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

const SAMPLER: &str = "OTEL_TRACES_SAMPLER";
const RATIO: &str = "OTEL_TRACES_SAMPLER_ARG";

/// Writes three turns with a tool call each: in a sampled trace, in an unsampled trace, and without
/// a parent.
fn write(path: &Path) {
    let parents = [
        Some("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"),
        Some("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"),
        None,
    ];
    let mut text = String::new();
    for (id, (parent, session)) in parents.into_iter().zip(["told", "quiet", "new"]).enumerate() {
        let meta = json!({ "traceparent": parent });
        let params = json!({ "sessionId": session, "prompt": [], "_meta": meta });
        let tool = json!({ "sessionUpdate": "tool_call", "toolCallId": "t", "title": "x", "status": "completed" });
        for (direction, message) in [
            (
                "sent",
                json!({ "jsonrpc": "2.0", "id": id, "method": "session/prompt", "params": params }),
            ),
            (
                "received",
                json!({ "jsonrpc": "2.0", "method": "session/update", "params": { "sessionId": session, "update": tool } }),
            ),
            (
                "received",
                json!({ "jsonrpc": "2.0", "id": id, "result": { "stopReason": "end_turn" } }),
            ),
        ] {
            let text_of = message.to_string();
            text +=
                &format!("{}\n", json!({ "time": 1.0, "direction": direction, "text": text_of }));
        }
    }
    fs::write(path, text).unwrap();
}

/// Returns the sessions with exported spans, in order, and standard error.
fn sampled(variables: &[(&str, &str)]) -> (Vec<String>, String) {
    let folder = tempfile::tempdir().unwrap();
    let transcript = folder.path().join("transcript");
    let file = folder.path().join("spans");
    write(&transcript);
    let mut command = acp_traces(&["replay"]);
    command.arg(&transcript).arg("--file").arg(&file).envs(variables.iter().copied());
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let session = |line: &Value| {
        let mut attributes = span(line)["attributes"].as_array().unwrap().iter();
        let id = attributes.find(|it| it["key"] == "gen_ai.conversation.id").unwrap();
        id["value"]["stringValue"].as_str().unwrap().to_owned()
    };
    let sessions = lines(&file).iter().map(session).collect();
    (sessions, String::from_utf8(output.stderr).unwrap())
}

#[test]
fn samplers_of_the_environment_are_applied() {
    let told = &["told"; 2][..];
    let new = &["new"; 2][..];
    let quiet = &["quiet"; 2][..];
    for (variables, expected) in [
        (&[][..], [told, new].concat()),
        (&[(SAMPLER, "")], [told, new].concat()),
        (&[(SAMPLER, "parentbased_always_on")], [told, new].concat()),
        (&[(SAMPLER, "parentbased_always_off")], told.to_vec()),
        (&[(SAMPLER, "always_on")], [told, quiet, new].concat()),
        (&[(SAMPLER, "always_off")], vec![]),
        (&[(SAMPLER, "traceidratio")], [told, quiet, new].concat()),
        (&[(SAMPLER, "traceidratio"), (RATIO, "0")], vec![]),
        (&[(SAMPLER, "parentbased_traceidratio"), (RATIO, "0.0")], told.to_vec()),
        (&[(SAMPLER, "parentbased_traceidratio"), (RATIO, "1")], [told, new].concat()),
    ] {
        assert_eq!(
            sampled(variables),
            (expected.into_iter().map(str::to_owned).collect(), String::new()),
            "{variables:?}"
        );
    }
}

#[test]
fn invalid_sampler_is_reported() {
    for name in ["sometimes", "parentbased_parentbased_always_off", "jaeger_remote"] {
        let (sessions, said) = sampled(&[(SAMPLER, name)]);
        assert_eq!(sessions, ["told", "told", "new", "new"]);
        let expected =
            format!("acp-traces: OTEL_TRACES_SAMPLER is \"{name}\", expected a sampler: ignored\n");
        assert_eq!(said, expected);
    }
    let (sessions, said) = sampled(&[(SAMPLER, "traceidratio"), (RATIO, "half")]);
    assert_eq!(sessions.len(), 6);
    let expected =
        "acp-traces: OTEL_TRACES_SAMPLER_ARG is \"half\", expected a number from 0 to 1: ignored\n";
    assert_eq!(said, expected);
}

/// Trace ids are derived from the transcript, and so is the sampled fraction: the same complete
/// traces each time.
#[test]
fn fraction_of_traces_is_sampled() {
    let folder = tempfile::tempdir().unwrap();
    let transcript = folder.path().join("transcript");
    let file = folder.path().join("spans");
    let mut text = String::new();
    for id in 0..200 {
        for (direction, message) in [
            (
                "sent",
                json!({ "jsonrpc": "2.0", "id": id, "method": "session/prompt", "params": { "sessionId": "s", "prompt": [] } }),
            ),
            (
                "received",
                json!({ "jsonrpc": "2.0", "method": "session/update", "params": { "sessionId": "s", "update": { "sessionUpdate": "tool_call", "toolCallId": id.to_string(), "title": "x", "status": "completed" } } }),
            ),
            (
                "received",
                json!({ "jsonrpc": "2.0", "id": id, "result": { "stopReason": "end_turn" } }),
            ),
        ] {
            text += &format!(
                "{}\n",
                json!({ "time": 1.0, "direction": direction, "text": message.to_string() })
            );
        }
    }
    fs::write(&transcript, text).unwrap();
    let mut command = acp_traces(&["replay"]);
    command.arg(&transcript).arg("--file").arg(&file);
    command.envs([(SAMPLER, "traceidratio"), (RATIO, "0.25")]);
    assert!(command.status().unwrap().success());
    let mut traces: BTreeMap<String, usize> = BTreeMap::new();
    for line in lines(&file) {
        *traces.entry(span(&line)["traceId"].as_str().unwrap().to_owned()).or_default() += 1;
    }
    assert!((25..75).contains(&traces.len()), "{}", traces.len());
    assert!(traces.values().all(|spans| *spans == 2), "{traces:?}");
}

/// The unsampled decision is propagated, and metrics are unaffected.
#[test]
fn unsampled_decision_is_propagated() {
    let options = ["--otlp-endpoint", NO_COLLECTOR, "--inject-context"];
    let mut command = acp_traces(&options);
    command.env(SAMPLER, "always_off").arg("--").arg(test_agent()).arg("echo");
    let mut proxy = Proxy::spawn(command);
    proxy.write(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session/list\",\"params\":{}}\n");
    let heard: Value = serde_json::from_str(&proxy.read_line()).unwrap();
    let context = heard["params"]["_meta"]["traceparent"].as_str().unwrap();
    assert!(context.ends_with("-00"), "{context}");
    let (end, _) = proxy.finish();
    assert_eq!(end.status, Some(0));
    assert_eq!(&*end.stderr, "");
}
