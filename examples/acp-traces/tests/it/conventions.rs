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
    assert_eq!((output.status.code(), &*output.stderr), (Some(0), &b""[..]));
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
    let (released, dev) = ("1.41.1", "gen-ai-dev/1.42.0-dev");
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
    let (tool, turn) = (1, 3);
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

/// A file of extractors adds places of values. An invalid one is reported and does not end the program.
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

#[test]
fn unknown_choice_is_an_error() {
    let output = acp_traces(&["--policy", "usage=guess", "--", "agent"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(str::from_utf8(&output.stderr).unwrap().contains("usage=cumulative"));
}
