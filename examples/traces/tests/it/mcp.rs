//! Connections of MCP.

use crate::collector::Collector;
use crate::proxy::{End, NO_COLLECTOR, Proxy, acp_traces, test_agent};
use crate::span_files::{lines, names, span};
use jsonrpc_core::transcript;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// A client of the test server behind the proxy.
struct Client {
    proxy: Proxy,
    last_id: i64,
}

impl Client {
    fn start(options: &[&str]) -> Self {
        let mut client = Self { proxy: Proxy::with_options(options, &["mcp"]), last_id: 0 };
        let info = json!({ "name": "test", "version": "1" });
        let params =
            json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info });
        let result = client.call("initialize", &params);
        assert_eq!(result["result"]["serverInfo"]["name"], "test");
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        client
    }

    /// Sends a request and waits for its response. Declines questions.
    fn call(&mut self, method: &str, params: &Value) -> Value {
        self.last_id += 1;
        let id = self.last_id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        loop {
            let message: Value = serde_json::from_str(&self.proxy.read_line()).unwrap();
            if message["method"] == "elicitation/create" {
                let result = json!({ "action": "decline" });
                self.send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }));
            } else {
                assert_eq!(message["id"], id);
                return message;
            }
        }
    }

    fn send(&mut self, message: &Value) {
        self.proxy.write(format!("{message}\n").as_bytes());
    }
}

/// The spans of [`session`], in the order of their ends.
const SPANS: [&str; 6] = [
    "initialize",
    "tools/call add",
    "elicitation/create",
    "tools/call ask",
    "tools/call fail",
    "mcp",
];

/// Runs a session with calls that succeed, ask and fail, and a request that the server does not
/// know.
fn session(options: &[&str]) -> End {
    let mut client = Client::start(options);
    for tool in ["add", "ask", "fail"] {
        let canary = json!({ "text": "canary" });
        let answer = client.call("tools/call", &json!({ "name": tool, "arguments": canary }));
        assert!(answer["result"]["content"].is_array(), "{answer}");
    }
    let answer = client.call("vendor/thing", &json!({}));
    assert_eq!(answer["error"]["code"], -32601);
    let (end, _) = client.proxy.finish();
    assert_eq!(end.status, Some(0));
    end
}

fn written(path: &Path) -> [&str; 2] {
    ["--file", path.to_str().unwrap()]
}

fn attribute<'a>(span: &'a Value, key: &str) -> &'a Value {
    let mut attributes = span["attributes"].as_array().unwrap().iter();
    attributes.find(|attribute| attribute["key"] == key).map_or(&Value::Null, |it| &it["value"])
}

#[test]
fn requests_of_the_client_are_spans() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("spans.jsonl");
    let end = session(&[&["--mcp"], &written(&path)[..]].concat());
    assert_eq!(&*end.stderr, "");
    let lines = lines(&path);
    assert_eq!(names(&lines), SPANS);
    let spans: Vec<_> = lines.iter().map(span).collect();
    for span in &spans {
        let is_question = span["name"] == "elicitation/create";
        assert_eq!(span["kind"], if is_question { 2 } else { 3 }, "{span}");
        assert_eq!(attribute(span, "network.transport")["stringValue"], "pipe", "{span}");
        assert_eq!(attribute(span, "mcp.protocol.version")["stringValue"], "2025-11-25", "{span}");
    }
    let [_, add, question, ask, fail, other] = spans[..] else { panic!("{spans:?}") };
    assert_eq!(attribute(add, "gen_ai.tool.name")["stringValue"], "add");
    assert_eq!(attribute(add, "error.type"), &Value::Null);
    assert_eq!(question["parentSpanId"], ask["spanId"]);
    assert_eq!(attribute(fail, "error.type")["stringValue"], "tool_error");
    assert_eq!(attribute(other, "error.type")["stringValue"], "-32601");
    assert!(!fs::read_to_string(&path).unwrap().contains("canary"));
}

/// In the development version of the conventions, an unknown method is no error of the server.
#[test]
fn spans_may_have_the_view_of_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("spans.jsonl");
    session(&[&["--mcp=server", "--profile", "genai-dev"], &written(&path)[..]].concat());
    let lines = lines(&path);
    assert_eq!(names(&lines), SPANS);
    let spans: Vec<_> = lines.iter().map(span).collect();
    for span in &spans {
        let is_question = span["name"] == "elicitation/create";
        assert_eq!(span["kind"], if is_question { 3 } else { 2 }, "{span}");
    }
    let [_, _, question, ask, fail, other] = spans[..] else { panic!("{spans:?}") };
    assert_eq!(question["parentSpanId"], ask["spanId"]);
    assert_eq!(attribute(fail, "error.type")["stringValue"], "tool_error");
    assert_eq!(attribute(other, "error.type"), &Value::Null);
    assert_eq!(attribute(other, "rpc.response.status_code")["stringValue"], "-32601");
}

#[test]
fn collector_receives_spans_and_metrics() {
    let collector = Collector::start();
    let end = session(&["--mcp", "--metrics", "--otlp-endpoint", &collector.url()]);
    assert_eq!(&*end.stderr, "");
    let mut names = SPANS;
    names.sort_unstable();
    assert_eq!(collector.received().names(), names);
    let metrics = collector.metrics();
    let metrics: Vec<_> = metrics.keys().map(String::as_str).collect();
    assert_eq!(
        metrics,
        [
            "mcp.client.operation.duration",
            "mcp.client.session.duration",
            "mcp.server.operation.duration"
        ]
    );
}

#[test]
fn content_is_recorded_on_request() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("spans.jsonl");
    session(&[&["--mcp", "--record-content"], &written(&path)[..]].concat());
    let lines = lines(&path);
    let add = span(&lines[1]);
    let arguments = &attribute(add, "gen_ai.tool.call.arguments")["stringValue"];
    assert_eq!(arguments, r#"{"text":"canary"}"#);
}

/// In both views, the server gets the context of the span of the client's request.
#[test]
fn context_is_injected_into_requests() {
    for (mcp, kind) in [("--mcp", 3), ("--mcp=server", 2)] {
        let folder = tempfile::tempdir().unwrap();
        let [path, transcript] = ["spans.jsonl", "session.jsonl"].map(|it| folder.path().join(it));
        let record = ["--inject-context", "--record", transcript.to_str().unwrap()];
        let options = [&[mcp], &record[..], &written(&path)].concat();
        let mut proxy = Proxy::with_options(&options, &["echo"]);
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping", "params": {} });
        proxy.write(format!("{request}\n").as_bytes());
        proxy.read_line();
        proxy.finish();
        // The echo, as the server has sent it.
        let text = fs::read_to_string(&transcript).unwrap();
        let echo = transcript::read(&text).last().unwrap().unwrap();
        let echo: Value = serde_json::from_slice(&echo.bytes).unwrap();
        let context = echo["params"]["_meta"]["traceparent"].as_str().unwrap();
        let lines = lines(&path);
        let mut of_client = lines.iter().map(span).filter(|span| span["kind"] == kind);
        let id = of_client.next().unwrap()["spanId"].as_str().unwrap();
        assert!(context.contains(id), "{mcp}: {context}");
    }
}

#[test]
fn recorded_connection_is_replayed() {
    let folder = tempfile::tempdir().unwrap();
    let [transcript, path] = ["session.jsonl", "spans.jsonl"].map(|name| folder.path().join(name));
    let record = ["--mcp", "--otlp-endpoint", NO_COLLECTOR, "--record"];
    session(&[&record, &[transcript.to_str().unwrap()][..]].concat());
    let mut command = acp_traces(&["replay", "--mcp"]);
    let status = command.args(written(&path)).arg(&transcript).status().unwrap();
    assert_eq!(status.code(), Some(0));
    assert_eq!(names(&lines(&path)), SPANS);
}

/// A server may have the name of an agent.
#[test]
fn server_is_a_command() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = acp_traces(&["--mcp", "--otlp-endpoint", NO_COLLECTOR, "--", "gemini"]);
    let ended = command.env("PATH", folder.path()).output().unwrap();
    let stderr = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(127), "{stderr}");
    assert!(!stderr.contains("npx"), "{stderr}");
}

#[test]
fn options_of_agents_are_refused() {
    for option in ["--permissions", "--agents"] {
        let mut command = acp_traces(&["--mcp", option, "rules.toml", "--"]);
        let ended = command.arg(test_agent()).arg("mcp").output().unwrap();
        let stderr = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(ended.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains("'--mcp[=<SIDE>]' cannot be used with"), "{stderr}");
    }
}
