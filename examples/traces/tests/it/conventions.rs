//! Profiles and policies on the command line.

use crate::proxy::acp_traces;
use crate::span_files::{lines, span};
use serde_json::{Value, json};
use std::fs;

const TURN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/two-turns.jsonl");

/// Replays a turn with a tool call and returns the lines.
fn replayed(options: &[&str]) -> Vec<Value> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("spans");
    let mut command = acp_traces(&["replay", TURN]);
    let output = command.args(options).arg("--file").arg(&file).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(&*output.stderr, &b""[..]);
    lines(&file)
}

fn attribute(line: &Value, key: &str) -> Value {
    let mut attributes = span(line)["attributes"].as_array().unwrap().iter();
    attributes.find(|it| it["key"] == key).map_or(Value::Null, |it| it["value"].clone())
}

#[test]
fn profile_determines_the_schema_url() {
    for (options, schema) in [
        (&[][..], "https://opentelemetry.io/schemas/1.41.1"),
        (&["--profile", "v1.41"], "https://opentelemetry.io/schemas/1.41.1"),
        (&["--profile", "v1.39"], "https://opentelemetry.io/schemas/1.39.0"),
        (&["--profile", "genai-dev"], "https://opentelemetry.io/schemas/gen-ai-dev/1.42.0-dev"),
    ] {
        for line in replayed(options) {
            assert_eq!(line["resourceSpans"][0]["scopeSpans"][0]["schemaUrl"], schema);
        }
    }
}

#[test]
fn environment_selects_the_development_profile() {
    let released = "1.41.1";
    let dev = "gen-ai-dev/1.42.0-dev";
    for (variable, options, expected) in [
        ("gen_ai_latest_experimental", &[][..], dev),
        ("rpc/dup, gen_ai_latest_experimental", &[], dev),
        ("rpc,gen_ai_latest", &[], released),
        ("", &[], released),
        ("gen_ai_latest_experimental", &["--profile", "v1.41"], released),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("spans");
        let mut command = acp_traces(&["replay", TURN]);
        command.env("OTEL_SEMCONV_STABILITY_OPT_IN", variable);
        assert!(command.args(options).arg("--file").arg(&file).status().unwrap().success());
        let schema = format!("https://opentelemetry.io/schemas/{expected}");
        for line in lines(&file) {
            assert_eq!(
                line["resourceSpans"][0]["scopeSpans"][0]["schemaUrl"], schema,
                "{variable}"
            );
        }
    }
}

#[test]
fn policies_are_applied() {
    let reasons = |reason| json!({ "arrayValue": { "values": [{ "stringValue": reason }] } });
    let text = |text| json!({ "stringValue": text });
    // Indexes of the tool call and of the second turn.
    let tool = 1;
    let turn = 3;
    for (choice, line, key, chosen, otherwise) in [
        (
            "finish-reason=verbatim",
            turn,
            "gen_ai.response.finish_reasons",
            reasons("end_turn"),
            reasons("stop"),
        ),
        ("provider=prefixed", turn, "gen_ai.provider.name", text("acp.agent"), text("agent")),
        ("tool-type=by-kind", tool, "gen_ai.tool.type", text("extension"), Value::Null),
        ("tool-type=by-execution", tool, "gen_ai.tool.type", text("extension"), Value::Null),
        (
            "usage=cumulative",
            turn,
            "gen_ai.usage.input_tokens",
            json!({ "intValue": "20" }),
            json!({ "intValue": "30" }),
        ),
        ("titles=always", tool, "acp.tool.title", text("List"), Value::Null),
    ] {
        assert_eq!(attribute(&replayed(&["--policy", choice])[line], key), chosen, "{choice}");
        assert_eq!(attribute(&replayed(&[])[line], key), otherwise, "{choice}");
        let (name, _) = choice.split_once('=').unwrap();
        let default = match name {
            "finish-reason" => "semconv",
            "provider" => "known",
            "tool-type" => "omit",
            "titles" => "with-content",
            _ => "per-turn",
        };
        let default = format!("{name}={default}");
        let lines = replayed(&["--policy", choice, "--policy", &default]);
        assert_eq!(attribute(&lines[line], key), otherwise, "{default}");
    }
}

/// Titles and paths have separate policies.
#[test]
fn content_comes_without_titles() {
    let lines =
        replayed(&["--record-content", "--policy", "titles=never", "--policy", "paths=never"]);
    let tool = &lines[1];
    assert_eq!(attribute(tool, "acp.tool.title"), Value::Null);
    assert_eq!(attribute(tool, "acp.tool.locations"), Value::Null);
    assert_ne!(attribute(&lines[3], "gen_ai.output.messages"), Value::Null);
}

/// A file of extractors adds places of values. An invalid one is reported and does not end the
/// program.
#[test]
fn extractors_are_read_from_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("extract.json");
    let key = "gen_ai.response.model";
    let options = ["--extract", file.to_str().unwrap()];
    let row = r#"[{"agent":"*","message":"answer","path":"/stopReason","value":"model"}]"#;
    fs::write(&file, row).unwrap();
    assert_eq!(attribute(&replayed(&options)[3], key), json!({ "stringValue": "end_turn" }));
    fs::write(&file, r#"[{"agent":"*"}]"#).unwrap();
    let spans = folder.path().join("spans");
    let mut command = acp_traces(&["replay", TURN, "--file", spans.to_str().unwrap()]);
    let output = command.args(options).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(str::from_utf8(&output.stderr).unwrap().contains("missing field `message`"));
    assert_eq!(attribute(&lines(&spans)[3], key), Value::Null);
}

/// Attributes that the conventions define cannot be replaced.
#[test]
fn attributes_of_the_conventions_are_not_options() {
    for wrong in ["gen_ai.agent.name=x", "acp.stop_reason=x", "no value", "=x"] {
        let output = acp_traces(&["--attribute", wrong, "--", "agent"]).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{wrong}");
    }
}

/// Requests that set up the connection join the next turn, are left out, or have traces of their
/// own.
#[test]
fn setup_has_the_chosen_traces() {
    let traces = |choice: &str| {
        let lines = replayed(&["--setup", choice]);
        let named = |it: &Value| (span(it)["name"].clone(), span(it)["traceId"].clone());
        lines.iter().map(named).collect::<Vec<_>>()
    };
    let own = traces("own");
    assert_eq!(own.len(), 4);
    assert_ne!(own[0].1, own[2].1);
    let joined = traces("join");
    assert_eq!(&joined[0].0, &json!("initialize"));
    assert_eq!(&joined[2].0, &json!("invoke_agent agent"));
    assert_eq!(joined[0].1, joined[2].1);
    // The tool call belongs to the turn, and a later turn is a trace of its own.
    assert_eq!(joined[1].1, joined[2].1);
    assert_ne!(joined[3].1, joined[2].1);
    let omitted = traces("omit");
    assert_eq!(omitted.len(), 3);
    assert!(omitted.iter().all(|(name, _)| *name != "initialize"));
}

/// A failed request is not left out.
#[test]
fn failed_setup_is_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let transcript = folder.path().join("failed.jsonl");
    let entries = [
        r#"{"time":1,"direction":"sent","text":"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session/new\",\"params\":{}}"}"#,
        r#"{"time":2,"direction":"received","text":"{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32000,\"message\":\"no\"}}"}"#,
    ];
    fs::write(&transcript, entries.join("\n")).unwrap();
    let file = folder.path().join("spans");
    let mut command = acp_traces(&["replay", "--setup", "omit", transcript.to_str().unwrap()]);
    assert!(command.arg("--file").arg(&file).status().unwrap().success());
    assert_eq!(span(&lines(&file)[0])["name"], "session/new");
}

/// The variable of other instrumentations selects content. The option takes precedence.
#[test]
fn content_is_selected_by_the_environment() {
    const VARIABLE: &str = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT";
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("spans");
    let run = |value: &str, more: &[&str]| {
        let _ = fs::remove_file(&file);
        let mut command = acp_traces(&["replay", TURN, "--file", file.to_str().unwrap()]);
        let output = command.args(more).env(VARIABLE, value).output().unwrap();
        let turn = lines(&file).remove(3);
        let on_span = attribute(&turn, "gen_ai.output.messages") != Value::Null;
        let events = span(&turn)["events"].as_array().map_or(0, Vec::len);
        (on_span, events, String::from_utf8(output.stderr).unwrap())
    };
    for (value, on_span, events) in [
        ("SPAN_ONLY", true, 0),
        ("true", true, 0),
        ("EVENT_ONLY", false, 1),
        ("span_and_event", true, 1),
        ("NO_CONTENT", false, 0),
        ("", false, 0),
    ] {
        assert_eq!(run(value, &[]), (on_span, events, String::new()), "{value}");
    }
    let (on_span, events, told) = run("everything", &[]);
    assert!(!on_span);
    assert_eq!(events, 0);
    assert!(told.contains("expected NO_CONTENT, SPAN_ONLY"), "{told}");
    assert_eq!(run("SPAN_ONLY", &["--record-content=event"]), (false, 1, String::new()));
}

#[test]
fn unknown_choice_is_an_error() {
    let output = acp_traces(&["--policy", "usage=guess", "--", "agent"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(str::from_utf8(&output.stderr).unwrap().contains("usage=cumulative"));
}
