//! Propagation of trace context.

use crate::collector::Collector;
use crate::editor::Editor;
use crate::proxy::{NO_COLLECTOR, Proxy, acp_traces, test_agent};
use crate::span_files::{lines, span};
use opentelemetry_proto::tonic::trace::v1::Span;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::io::Write;
use std::thread;

const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

fn injecting(agent: &[&str]) -> Proxy {
    Proxy::with_options(&["--file", "/dev/null", "--inject-context"], agent)
}

/// Returns the output of an echoing agent.
fn echoed(mut proxy: Proxy, chunks: Vec<Vec<u8>>) -> Vec<u8> {
    let mut stdin = proxy.child.stdin.take().unwrap();
    let writer = thread::spawn(move || chunks.iter().try_for_each(|chunk| stdin.write_all(chunk)));
    let end = proxy.wait();
    writer.join().unwrap().unwrap();
    assert_eq!(end.status, Some(0));
    end.stdout
}

fn context_of(span: &Value) -> String {
    let id = |name: &str| span[name].as_str().unwrap().to_owned();
    format!("00-{}-{}-01", id("traceId"), id("spanId"))
}

fn traceparent(line: &str) -> Value {
    let message: Value = serde_json::from_str(line).unwrap();
    message["params"]["_meta"]["traceparent"].clone()
}

/// In both directions: the agent's request is a child of the turn and belongs to its trace.
#[test]
fn request_carries_the_context_of_its_span() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("spans.jsonl");
    let options = ["--file", path.to_str().unwrap(), "--inject-context"];
    let mut proxy = Proxy::with_options(&options, &["echo"]);
    let asked = r#"{"jsonrpc":"2.0","id":1, "method":"session/list","params":{ "cwd":"/é" }}"#;
    proxy.write(format!("{asked}\r\n").as_bytes());
    let heard = proxy.read_line();
    proxy.finish();
    let spans = lines(&path);
    let client = spans.iter().map(span).find(|span| span["kind"] == 3).unwrap();
    let inserted = format!(r#","_meta":{{"traceparent":"{}"}}"#, context_of(client));
    assert_eq!(heard, asked.replace(" }}", &format!(" {inserted}}}}}\r\n")));

    let path = folder.path().join("turn.jsonl");
    let options = ["--file", path.to_str().unwrap(), "--inject-context"];
    let mut editor = Editor::start(Proxy::with_options(&options, &["demo"]));
    editor.begin("tour");
    let permission = loop {
        let line = editor.proxy.read_line();
        if line.contains("session/request_permission") {
            break line;
        }
    };
    let message: Value = serde_json::from_str(&permission).unwrap();
    let answer = json!({ "outcome": { "outcome": "selected", "optionId": "allow-once" } });
    let answer = json!({ "jsonrpc": "2.0", "id": message["id"], "result": answer });
    editor.proxy.write(format!("{answer}\n").as_bytes());
    while !editor.proxy.read_line().contains("stopReason") {}
    let (end, _) = editor.proxy.finish();
    assert_eq!(end.status, Some(0));
    assert_eq!(&*end.stderr, "");
    let spans = lines(&path);
    let named = |name: &str| spans.iter().map(span).find(|span| span["name"] == name).unwrap();
    let of_permission = named("session/request_permission");
    assert_eq!(traceparent(&permission), context_of(of_permission));
    assert_eq!(of_permission["traceId"], named("invoke_agent demo-agent")["traceId"]);
    assert_eq!(spans.len(), 7);
}

/// Runs a turn with a context of the editor. Returns the context that the agent receives, and the
/// span of the turn.
fn turn_of_a_caller(options: &[&str]) -> (Value, Span) {
    let collector = Collector::start();
    let url = collector.url();
    let options = [&["--otlp-endpoint", &url, "--inject-context"], options].concat();
    let mut proxy = Proxy::with_options(&options, &["echo"]);
    let meta = json!({ "traceparent": PARENT, "tracestate": "vendor=1", "x": 1 });
    let params = json!({ "sessionId": "s", "prompt": [], "_meta": meta });
    let prompt = json!({ "jsonrpc": "2.0", "id": 1, "method": "session/prompt", "params": params });
    proxy.write(format!("{prompt}\n").as_bytes());
    let heard: Value = serde_json::from_str(&proxy.read_line()).unwrap();
    proxy.finish();
    let mut spans = collector.received().spans.into_iter();
    let turn = spans.find(|span| span.name == "invoke_agent" && span.kind == 3).unwrap();
    assert_eq!(heard["params"]["_meta"]["x"], 1);
    (heard["params"]["_meta"].clone(), turn)
}

fn hex(id: &[u8]) -> String {
    id.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The agent receives the context of the turn, which is a child of the editor's span or links to
/// it.
#[test]
fn agent_continues_the_turn_of_a_caller() {
    let trace = &PARENT[3..35];
    let caller = &PARENT[36..52];
    let (meta, turn) = turn_of_a_caller(&[]);
    assert_eq!(meta["traceparent"], format!("00-{trace}-{}-01", hex(&turn.span_id)));
    assert_eq!(meta["tracestate"], "vendor=1");
    assert_eq!(hex(&turn.trace_id), trace);
    assert_eq!(hex(&turn.parent_span_id), caller);
    assert_eq!(&*turn.trace_state, "vendor=1");
    assert_eq!(turn.links.len(), 0);

    let (meta, turn) = turn_of_a_caller(&["--caller", "link"]);
    let own = hex(&turn.trace_id);
    assert_ne!(own, trace);
    assert_eq!(meta["traceparent"], format!("00-{own}-{}-01", hex(&turn.span_id)));
    assert_eq!(&meta["tracestate"], &json!(""));
    assert_eq!(&*turn.trace_state, "");
    assert!(turn.parent_span_id.is_empty());
    let [link] = &turn.links[..] else { panic!("{:?}", turn.links) };
    assert_eq!(hex(&link.trace_id), trace);
    assert_eq!(hex(&link.span_id), caller);
    assert_eq!(link.attributes[0].key, "acp.link.reason");
}

#[test]
fn lines_without_a_place_pass_as_they_are() {
    let rows = [
        r#"{"jsonrpc":"2.0","id":1,"method":"x","params":[1]}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":1,"method":"x","params":null}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":1,"method":"x","params":{"_meta":"no"}}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":1,"method":"x","params":{"_meta":{},"_meta":{}}}"#.to_owned(),
        r#"{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#.to_owned(),
        r#"[{"jsonrpc":"2.0","id":1,"method":"x"}]"#.to_owned(),
        "\u{feff}{}".to_owned(),
        format!(r#"{{"id":1,"method":"x","params":{{"x":"{}"}}}}"#, "x".repeat(17 << 20)),
    ];
    for row in rows {
        let given = format!("{row}\n").into_bytes();
        let heard = echoed(injecting(&["echo"]), vec![given.clone()]);
        assert!(heard == given, "{}", row.get(..200).unwrap_or(&row));
    }
}

#[test]
fn span_without_a_destination_is_not_propagated() {
    let line = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\"}\n".to_vec();
    let mut command = acp_traces(&["--inject-context"]);
    command.env("OTEL_TRACES_EXPORTER", "none").arg("--").arg(test_agent()).arg("echo");
    assert_eq!(echoed(Proxy::spawn(command), vec![line.clone()]), line);
}

#[test]
fn transcript_contains_the_original_messages() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.jsonl");
    let options = ["--otlp-endpoint", NO_COLLECTOR, "--inject-context", "--record"];
    let mut options = options.to_vec();
    options.push(path.to_str().unwrap());
    let mut editor = Editor::start(Proxy::with_options(&options, &["demo"]));
    editor.prompt("hello");
    editor.proxy.finish();
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.contains("session/prompt") && !text.contains("traceparent"));
}

/// A line, and whether a context is injected.
fn line() -> impl Strategy<Value = (Vec<u8>, bool)> {
    let text = "[ -~é]{0,30}";
    let request = (any::<u8>(), text, prop::option::of(text), any::<bool>()).prop_map(
        |(id, text, meta, blanks)| {
            let mut params = json!({ "text": text });
            if let Some(meta) = meta {
                params["_meta"] = json!({ "x": meta });
            }
            let line = json!({ "jsonrpc": "2.0", "id": id, "method": "x/y", "params": params });
            let line = line.to_string();
            (if blanks {
                line.replace("},", "} ,").replace("\"params\":{", "\"params\" : { ")
            } else {
                line
            })
            .into_bytes()
        },
    );
    let no_request = prop_oneof![
        Just(br#"{"jsonrpc":"2.0","method":"a","params":{}}"#.to_vec()),
        Just(br#"{"jsonrpc":"2.0","id":1,"result":{}}"#.to_vec()),
        Just(b" \t".to_vec()),
        Just(Vec::new()),
        prop::collection::vec(any::<u8>().prop_filter("no line end", |it| *it != b'\n'), 0..300),
        (0..200_000_usize).prop_map(|length| vec![b'x'; length]),
    ];
    prop_oneof![request.prop_map(|line| (line, true)), no_request.prop_map(|line| (line, false))]
}

/// Returns the length of the common prefix.
fn common<'a>(one: impl Iterator<Item = &'a u8>, other: impl Iterator<Item = &'a u8>) -> usize {
    one.zip(other).take_while(|(one, other)| one == other).count()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Each request receives a context as a single insertion, and all other bytes are preserved,
    /// for any chunks.
    #[test]
    fn other_bytes_are_preserved(
        given in prop::collection::vec((line(), any::<bool>()), 0..40),
        ends in any::<bool>(),
        sizes in prop::collection::vec(1..70_000_usize, 1..20),
    ) {
        let mut bytes = Vec::new();
        let mut expected = Vec::new();
        for (at, ((line, is_request), has_return)) in given.iter().enumerate() {
            let mut line = line.clone();
            let is_last = at + 1 == given.len();
            if !is_last || ends {
                line.extend_from_slice(if *has_return { b"\r\n" } else { b"\n" });
            }
            bytes.extend_from_slice(&line);
            expected.push((line, *is_request));
        }
        let mut chunks = Vec::new();
        let mut rest = &*bytes;
        let mut sizes = sizes.iter().cycle();
        while !rest.is_empty() {
            let (chunk, after) = rest.split_at(rest.len().min(*sizes.next().unwrap()));
            chunks.push(chunk.to_vec());
            rest = after;
        }
        let heard = echoed(injecting(&["echo"]), chunks);
        let mut heard = heard.split_inclusive(|byte| *byte == b'\n');
        for (line, is_request) in expected.iter().filter(|(line, _)| !line.is_empty()) {
            let after = heard.next().unwrap();
            if !is_request {
                prop_assert!(after == line);
                continue;
            }
            let before = common(line.iter(), after.iter());
            let behind = common(line.iter().rev(), after.iter().rev());
            prop_assert!(before + behind >= line.len() && after.len() > line.len());
            let mut value: Value = serde_json::from_slice(after).unwrap();
            let meta = value["params"]["_meta"].as_object_mut().unwrap();
            prop_assert_eq!(meta.remove("traceparent").unwrap().as_str().unwrap().len(), PARENT.len());
            let said: Value = serde_json::from_slice(line).unwrap();
            if said["params"].get("_meta").is_none() {
                value["params"].as_object_mut().unwrap().remove("_meta");
            }
            prop_assert_eq!(value, said);
        }
        prop_assert!(heard.next().is_none());
    }
}
