//! Attributes that backends read beyond those of the conventions.

use crate::collector::Collector;
use crate::protocols::{HttpCollector, session};
use crate::proxy::acp_traces;
use crate::span_files::{lines, span};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Attributes of a span by key, with the value of its only member.
fn flat(line: &Value) -> BTreeMap<&str, &Value> {
    let attributes = span(line)["attributes"].as_array().unwrap().iter();
    let pairs = attributes.map(|it| {
        (it["key"].as_str().unwrap(), it["value"].as_object().unwrap().values().next().unwrap())
    });
    pairs.collect()
}

/// Replays a turn with a tool call, tokens and a cost, with content. Returns the lines of the turn
/// and the tool call.
fn spans_in(currency: &str, options: &[&str]) -> (Value, Value) {
    let folder = tempfile::tempdir().unwrap();
    let transcript = folder.path().join("turn.jsonl");
    let lines = [
        ("sent", json!({ "jsonrpc": "2.0", "id": 1, "method": "session/new", "params": {} })),
        (
            "received",
            json!({ "jsonrpc": "2.0", "id": 1, "result": { "sessionId": "s", "models": { "currentModelId": "claude-x" } } }),
        ),
        (
            "sent",
            json!({ "jsonrpc": "2.0", "id": 2, "method": "session/prompt", "params": { "sessionId": "s", "prompt": [{ "type": "text", "text": "List" }, { "type": "text", "text": "all" }] } }),
        ),
        (
            "received",
            json!({ "jsonrpc": "2.0", "method": "session/update", "params": { "sessionId": "s", "update": { "sessionUpdate": "tool_call", "toolCallId": "t", "name": "ls", "title": "ls", "kind": "execute", "status": "completed", "rawInput": { "path": "." }, "rawOutput": { "files": 2 } } } }),
        ),
        (
            "received",
            json!({ "jsonrpc": "2.0", "method": "session/update", "params": { "sessionId": "s", "update": { "sessionUpdate": "usage_update", "used": 1, "size": 9, "cost": { "amount": 0.5, "currency": currency } } } }),
        ),
        (
            "received",
            json!({ "jsonrpc": "2.0", "method": "session/update", "params": { "sessionId": "s", "update": { "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": "Two" } } } }),
        ),
        (
            "received",
            json!({ "jsonrpc": "2.0", "id": 2, "result": { "stopReason": "end_turn", "usage": { "inputTokens": 10, "outputTokens": 5, "totalTokens": 15, "cachedReadTokens": 3, "cachedWriteTokens": 2 } } }),
        ),
    ];
    let entries = lines.iter().zip(1..).map(|((direction, line), time)| {
        json!({ "time": time, "direction": direction, "text": line.to_string() }).to_string()
    });
    fs::write(&transcript, entries.collect::<Vec<_>>().join("\n")).unwrap();
    let file = folder.path().join("spans");
    let mut command = acp_traces(&["replay", transcript.to_str().unwrap(), "--record-content"]);
    let output = command.args(options).arg("--file").arg(&file).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(&*output.stderr, &b""[..]);
    lines_of_turn(lines_by_name(&file))
}

fn spans(options: &[&str]) -> (Value, Value) {
    spans_in("USD", options)
}

/// The keys and the URL in the variables of a backend's own libraries are used. `Basic` was
/// computed with `base64`.
#[test]
fn keys_and_urls_of_backends_are_read() {
    let phoenix = ("PHOENIX_API_KEY", "phoenix key");
    let langfuse = [("LANGFUSE_PUBLIC_KEY", "pk-lf-1"), ("LANGFUSE_SECRET_KEY", "sk-lf-2")];
    let basic = "Basic cGstbGYtMTpzay1sZi0y";
    for (backend, variables, url, path, headers) in [
        (
            "phoenix",
            &[phoenix][..],
            None,
            "/v1/traces",
            &[("authorization", "Bearer phoenix key")][..],
        ),
        (
            "phoenix",
            &[phoenix],
            Some(("PHOENIX_COLLECTOR_ENDPOINT", "/at/v1/traces")),
            "/at/v1/traces",
            &[],
        ),
        (
            "langfuse",
            &langfuse,
            Some(("LANGFUSE_HOST", "/")),
            "/api/public/otel/v1/traces",
            &[("authorization", basic)],
        ),
        (
            "langfuse",
            &langfuse,
            Some(("LANGFUSE_BASE_URL", "")),
            "/api/public/otel/v1/traces",
            &[("authorization", basic)],
        ),
        (
            "datadog",
            &[("DD_API_KEY", "dd")],
            None,
            "/v1/traces",
            &[("dd-api-key", "dd"), ("dd-otlp-source", "llmobs")],
        ),
    ] {
        let collector = HttpCollector::start();
        let mut command = acp_traces(&["--backend", backend]);
        command.envs(variables.iter().copied());
        match url {
            Some((name, path)) => command.env(name, collector.url() + path),
            None => command.env("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url()),
        };
        assert_eq!(session(command), "", "{backend}");
        let request = collector.request();
        assert_eq!(request.path, path, "{backend}");
        for (name, expected) in headers {
            assert_eq!(request.headers[*name], expected, "{backend}");
        }
    }
    let collector = HttpCollector::start();
    let mut command = acp_traces(&["--backend", "langfuse", "--otlp-endpoint", &collector.url()]);
    command.envs(langfuse).env("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20own");
    assert_eq!(session(command), "");
    assert_eq!(collector.request().headers["authorization"], "Bearer own");
}

/// Each backend receives the attributes of its table, with the values of the conventions.
#[test]
fn each_backend_receives_its_attributes() {
    let (turn, tool) = spans(&["--backend", "phoenix", "--user", "ann", "--attribute", "team=a=b"]);
    for (key, expected) in [
        ("openinference.span.kind", json!("LLM")),
        ("input.value", json!("List\nall")),
        ("input.mime_type", json!("text/plain")),
        ("output.value", json!("Two")),
        ("llm.model_name", json!("claude-x")),
        ("llm.provider", json!("anthropic")),
        ("llm.token_count.prompt", json!("10")),
        ("llm.token_count.completion", json!("5")),
        ("llm.token_count.total", json!("15")),
        ("llm.cost.total", json!(0.5)),
        ("session.id", json!("s")),
        ("user.id", json!("ann")),
        ("team", json!("a=b")),
        ("gen_ai.conversation.id", json!("s")),
    ] {
        assert_eq!(flat(&turn).get(key), Some(&&expected), "{key}");
    }
    for (key, expected) in [
        ("openinference.span.kind", json!("TOOL")),
        ("input.value", json!(r#"{"path":"."}"#)),
        ("input.mime_type", json!("application/json")),
        ("output.value", json!(r#"{"files":2}"#)),
        ("tool.name", json!("ls")),
        ("session.id", json!("s")),
        ("user.id", json!("ann")),
    ] {
        assert_eq!(flat(&tool).get(key), Some(&&expected), "{key}");
    }
    let (turn, tool) = spans(&["--backend", "langfuse"]);
    for (line, key, expected) in [
        (&turn, "langfuse.observation.type", json!("agent")),
        (&turn, "langfuse.observation.input", json!("List\nall")),
        (&turn, "langfuse.observation.output", json!("Two")),
        (&turn, "langfuse.observation.model.name", json!("claude-x")),
        (&turn, "gen_ai.usage.cost", json!(0.5)),
        (&turn, "session.id", json!("s")),
        (&tool, "langfuse.observation.type", json!("tool")),
        (&tool, "langfuse.observation.output", json!(r#"{"files":2}"#)),
    ] {
        assert_eq!(flat(line).get(key), Some(&&expected), "{key}");
    }
    let (plain, _) = spans(&[]);
    let (jaeger, _) = spans(&["--backend", "jaeger"]);
    assert_eq!(flat(&plain), flat(&jaeger));
    assert!(flat(&plain).keys().all(|key| !key.starts_with("llm.") && *key != "session.id"));
    let (datadog, _) = spans(&["--backend", "datadog"]);
    assert_eq!(flat(&datadog).len(), flat(&plain).len() + 1);
}

/// Attributes of OpenInference with their types, and the values of the span kind.
///
/// Spec: [Reserved
/// Attributes](https://github.com/Arize-ai/openinference/blob/main/spec/semantic_conventions.md#reserved-attributes)
const OPENINFERENCE: [(&str, &str); 20] = [
    ("openinference.span.kind", "stringValue"),
    ("input.value", "stringValue"),
    ("input.mime_type", "stringValue"),
    ("output.value", "stringValue"),
    ("output.mime_type", "stringValue"),
    ("llm.model_name", "stringValue"),
    ("llm.request.model_name", "stringValue"),
    ("llm.response.model_name", "stringValue"),
    ("llm.provider", "stringValue"),
    ("llm.finish_reason", "stringValue"),
    ("llm.token_count.prompt", "intValue"),
    ("llm.token_count.completion", "intValue"),
    ("llm.token_count.total", "intValue"),
    ("llm.token_count.prompt_details.cache_read", "intValue"),
    ("llm.token_count.prompt_details.cache_write", "intValue"),
    ("llm.token_count.completion_details.reasoning", "intValue"),
    ("llm.cost.total", "doubleValue"),
    ("tool.name", "stringValue"),
    ("session.id", "stringValue"),
    ("user.id", "stringValue"),
];

/// Each additional attribute for Phoenix is one of OpenInference with its type, and each span has a
/// kind.
#[test]
fn attributes_for_phoenix_follow_openinference() {
    let folder = tempfile::tempdir().unwrap();
    for profile in ["v1.41", "genai-dev"] {
        let file = folder.path().join(profile);
        let recorded = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/two-turns.jsonl");
        let options = ["--backend", "phoenix", "--record-content", "--profile", profile];
        let mut command = acp_traces(&["replay", recorded]);
        command.args(options).arg("--user").arg("ann").arg("--file").arg(&file);
        assert!(command.status().unwrap().success());
        let (turn, tool) = spans(&["--backend", "phoenix", "--user", "ann", "--profile", profile]);
        for line in lines(&file).iter().chain([&turn, &tool]) {
            let attributes = span(line)["attributes"].as_array().unwrap();
            let namespaces =
                ["gen_ai.", "acp.", "rpc.", "jsonrpc.", "network.", "error.", "process."];
            let mut kinds = 0;
            for attribute in attributes {
                let key = attribute["key"].as_str().unwrap();
                if namespaces.iter().any(|namespace| key.starts_with(namespace)) {
                    continue;
                }
                let known = OPENINFERENCE.iter().find(|(name, _)| *name == key);
                let (_, kind) = known.unwrap_or_else(|| panic!("OpenInference has no {key}"));
                assert!(attribute["value"].get(kind).is_some(), "{key} is no {kind}: {attribute}");
                if key == "openinference.span.kind" {
                    kinds += 1;
                    let kind = attribute["value"]["stringValue"].as_str().unwrap();
                    assert!(["LLM", "AGENT", "TOOL", "CHAIN"].contains(&kind), "{kind}");
                }
            }
            assert_eq!(kinds, 1, "{}", span(line)["name"]);
        }
        let written = flat(&turn)["llm.token_count.prompt_details.cache_write"].clone();
        assert_eq!(written, json!("2"), "{profile}");
    }
}

/// The attributes from which Langfuse takes a property, in their order of precedence.
///
/// Spec: [Property
/// mapping](https://langfuse.com/integrations/native/opentelemetry#property-mapping)
const LANGFUSE: [(&str, &[&str]); 10] = [
    ("type", &["langfuse.observation.type", "openinference.span.kind"]),
    ("input", &["langfuse.observation.input", "gen_ai.prompt", "input.value"]),
    ("output", &["langfuse.observation.output", "gen_ai.completion", "output.value"]),
    (
        "model",
        &["langfuse.observation.model.name", "gen_ai.request.model", "gen_ai.response.model"],
    ),
    ("usageDetails.input", &["gen_ai.usage.input_tokens", "llm.token_count.prompt"]),
    ("usageDetails.output", &["gen_ai.usage.output_tokens", "llm.token_count.completion"]),
    ("costDetails.total", &["gen_ai.usage.cost"]),
    ("sessionId", &["langfuse.session.id", "session.id"]),
    ("userId", &["langfuse.user.id", "user.id"]),
    ("metadata.team", &["team"]),
];

/// Langfuse finds each property by its rules.
#[test]
fn attributes_for_langfuse_follow_its_mapping() {
    let options = ["--backend", "langfuse", "--user", "ann", "--attribute", "team=x"];
    let (turn, tool) = spans(&options);
    let property = |line: &Value, name: &str| {
        let (_, keys) = LANGFUSE.iter().find(|(property, _)| *property == name).unwrap();
        let attributes = flat(line);
        keys.iter().find_map(|key| attributes.get(key).map(|it| (*it).clone()))
    };
    let expected = [
        json!("agent"),
        json!("List\nall"),
        json!("Two"),
        json!("claude-x"),
        json!("10"),
        json!("5"),
        json!(0.5),
        json!("s"),
        json!("ann"),
        json!("x"),
    ];
    for ((name, _), expected) in LANGFUSE.iter().zip(expected) {
        assert_eq!(property(&turn, name), Some(expected), "{name}");
    }
    for (name, expected) in [
        ("type", Some(json!("tool"))),
        ("input", Some(json!(r#"{"path":"."}"#))),
        ("output", Some(json!(r#"{"files":2}"#))),
        ("model", None),
        ("costDetails.total", None),
        ("sessionId", Some(json!("s"))),
        ("userId", Some(json!("ann"))),
    ] {
        assert_eq!(property(&tool, name), expected, "{name}");
    }
}

/// Both backends define costs in US dollars.
#[test]
fn cost_in_another_currency_is_left_out() {
    for (backend, key) in [("phoenix", "llm.cost.total"), ("langfuse", "gen_ai.usage.cost")] {
        for (currency, expected) in [("USD", Some(json!(0.5))), ("EUR", None)] {
            let (turn, _) = spans_in(currency, &["--backend", backend]);
            let cost = flat(&turn).get(key).map(|it| (*it).clone());
            assert_eq!(cost, expected, "{backend}, {currency}");
            assert_eq!(flat(&turn)["acp.cost.turn_amount"], &json!(0.5));
        }
    }
}

/// The transport of a backend also applies to a given URL, unless an option or the environment sets
/// another one.
#[test]
fn transport_of_a_backend_applies_to_any_url() {
    for (backend, variable, is_http) in [
        ("phoenix", "", true),
        ("langfuse", "", true),
        ("datadog", "", true),
        ("otel", "", false),
        ("phoenix", "grpc", false),
    ] {
        let grpc = Collector::start();
        let http = HttpCollector::start();
        let url = if is_http { http.url() } else { grpc.url() };
        let options = ["--backend", backend, "--otlp-endpoint", &url, "--metrics"];
        let mut command = acp_traces(&options);
        command.env("OTEL_EXPORTER_OTLP_PROTOCOL", variable);
        assert_eq!(session(command), "", "{backend} {variable}");
        if is_http {
            http.spans_and_metrics();
        } else {
            assert!(!grpc.received().spans.is_empty() && !grpc.metrics().is_empty());
        }
    }
}

/// Returns the lines of a file by the names of their spans.
fn lines_by_name(file: &Path) -> BTreeMap<String, Value> {
    let named = lines(file).into_iter();
    named.map(|line| (span(&line)["name"].as_str().unwrap().to_owned(), line)).collect()
}

fn lines_of_turn(mut lines: BTreeMap<String, Value>) -> (Value, Value) {
    (lines.remove("invoke_agent").unwrap(), lines.remove("execute_tool ls").unwrap())
}
