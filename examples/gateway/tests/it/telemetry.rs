//! Telemetry of runs: spans from the request to the question, and metrics.
use crate::collector::{Collector, Trace, attributes};
use crate::doors::Chat;
use crate::gateway::{Gateway, command, http, input, soon};
use crate::hybrid::{Endpoint, chunks, delta};
use crate::interrupts::OpenQuestion;
use crate::run::Run;
use axum::http::StatusCode;
use nix::sys::signal::Signal::SIGTERM;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Attribute;
use opentelemetry_proto::tonic::metrics::v1::Metric;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::Stdio;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::runtime::Runtime;

/// A span of the caller.
const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER: &str = "00f067aa0ba902b7";

/// An address without a listener.
const NO_COLLECTOR: &str = "http://127.0.0.1:9";

/// The variables for spans and metrics to a collector.
fn exporting(endpoint: &str) -> [(&str, &str); 3] {
    [
        ("OTEL_TRACES_EXPORTER", "otlp"),
        ("OTEL_METRICS_EXPORTER", "otlp"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint),
    ]
}

/// The demo agent, with a file of its input.
fn overheard(folder: &TempDir) -> (String, String) {
    let heard = folder.path().join("heard").to_str().unwrap().to_owned();
    let agent = format!("sh -c 'tee {heard} | {} demo-agent'", env!("CARGO_BIN_EXE_gateway"));
    (agent, heard)
}

/// The agent's received messages of `method`.
fn told(heard: impl AsRef<Path>, method: &str) -> Value {
    let text = fs::read_to_string(heard).unwrap();
    let messages = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut of_method = messages.filter(|message| message["method"] == method);
    of_method.next().unwrap()["params"].clone()
}

/// Runs a gateway with one run, which has a tool call, a permission and a calling span, to its end;
/// `flags` are those of the caller's trace.
async fn edit(variables: &[(&str, &str)], agent: &str, flags: &str) {
    let gateway =
        Gateway::start(&["--permission", "ask-in-stream", "--agent", agent], variables).await;
    let input = input("t", "r", "edit");
    let request = gateway.client.post(gateway.url("/api/ai/chat")).json(&input);
    let request = request.header("traceparent", format!("00-{TRACE}-{CALLER}-{flags}"));
    let response = soon(request.header("tracestate", "vendor=1").send()).await.unwrap();
    let mut run = crate::run::Run::new(&input, response);
    let asked = run.until_asked().await;
    let allow = json!({ "optionId": "allow-once" });
    assert_eq!(gateway.post(&format!("interrupts/{asked}"), &allow).await.0, 202);
    assert_eq!(run.rest().await.end(), "success");
    gateway.signal(SIGTERM);
    assert!(gateway.ended().await.success());
}

fn hex(id: &[u8]) -> String {
    id.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The only span with this start of its name.
fn span<'a>(trace: &'a Trace, name: &str) -> &'a Span {
    let named: Vec<_> = trace.spans.iter().filter(|span| span.name.starts_with(name)).collect();
    assert_eq!(named.len(), 1, "{name} in {:?}", trace.names());
    named[0]
}

fn text(value: &str) -> Attribute {
    Attribute::StringValue(value.to_owned())
}

#[test]
fn run_is_traced_from_request_to_question() {
    let collector = Collector::start();
    let folder = TempDir::new().unwrap();
    let (agent, heard) = overheard(&folder);
    let endpoint = collector.url();
    Runtime::new().unwrap().block_on(edit(&exporting(&endpoint), &agent, "01"));
    let trace = collector.received();
    assert_eq!(trace.resource["service.name"], text("spanwire-gateway"));
    assert_eq!(trace.schema_url, "https://opentelemetry.io/schemas/1.41.1");

    let mut parent = CALLER.to_owned();
    for (name, kind) in [
        ("POST /api/ai/chat", SpanKind::Server),
        ("run agent", SpanKind::Internal),
        ("invoke_agent", SpanKind::Client),
        ("execute_tool", SpanKind::Internal),
        ("session/request_permission", SpanKind::Server),
    ] {
        let span = match name {
            "POST /api/ai/chat" => trace.span(name),
            _ => span(&trace, name),
        };
        assert_eq!(hex(&span.trace_id), TRACE, "{name}");
        assert_eq!(hex(&span.parent_span_id), parent, "{name}");
        assert_eq!(span.kind, kind as i32, "{name}");
        assert_eq!(span.trace_state, "vendor=1", "{name}");
        assert!(span.start_time_unix_nano <= span.end_time_unix_nano, "{name}");
        parent = hex(&span.span_id);
    }
    let request = attributes(&trace.span("POST /api/ai/chat").attributes);
    assert_eq!(request["http.request.method"], text("POST"));
    assert_eq!(request["http.route"], text("/api/ai/chat"));
    assert_eq!(request["http.response.status_code"], Attribute::IntValue(200));
    let run = attributes(&trace.span("run agent").attributes);
    assert_eq!(run["agui.thread.id"], text("t"));
    assert_eq!(run["agui.run.id"], text("r"));
    assert_eq!(run["agui.run.outcome"], text("success"));

    // The agent's own spans are below the turn.
    let turn = hex(&span(&trace, "invoke_agent").span_id);
    let meta = &told(&heard, "session/prompt")["_meta"];
    assert_eq!(meta["traceparent"], format!("00-{TRACE}-{turn}-01"));
    assert_eq!(meta["tracestate"], "vendor=1");

    let metrics = collector.metrics();
    for name in ["gen_ai.client.operation.duration", "acp.permission.wait.duration"] {
        assert!(metrics.contains_key(name), "{name} in {:?}", metrics.keys());
    }
    let asked = &span(&trace, "session/request_permission").span_id;
    let named = of_spans(&metrics["acp.permission.wait.duration"]);
    assert_eq!(named, [(hex(asked), TRACE.to_owned())]);
}

/// The spans and traces that the exemplars of a histogram name.
fn of_spans(metric: &Metric) -> Vec<(String, String)> {
    let Some(Data::Histogram(histogram)) = &metric.data else { panic!("{metric:?}") };
    let exemplars = histogram.data_points.iter().flat_map(|point| &point.exemplars);
    exemplars.map(|it| (hex(&it.span_id), hex(&it.trace_id))).collect()
}

/// The caller's trace is sampled, but nothing is exported here.
#[test]
fn metrics_without_traces_name_no_spans() {
    let collector = Collector::start();
    let folder = TempDir::new().unwrap();
    let (agent, _) = overheard(&folder);
    let endpoint = collector.url();
    let variables =
        [("OTEL_METRICS_EXPORTER", "otlp"), ("OTEL_EXPORTER_OTLP_ENDPOINT", &*endpoint)];
    Runtime::new().unwrap().block_on(edit(&variables, &agent, "01"));
    assert_eq!(of_spans(&collector.metrics()["acp.permission.wait.duration"]), []);
}

/// The turn is below the run that started it, so a resuming run links to that run; under the same
/// id as well.
#[test]
fn resumed_run_links_to_interrupted_run() {
    let collector = Collector::start();
    let endpoint = collector.url();
    let variables = [("OTEL_TRACES_EXPORTER", "otlp"), ("OTEL_EXPORTER_OTLP_ENDPOINT", &*endpoint)];
    Runtime::new().unwrap().block_on(async {
        let gateway = Gateway::with_environment(&variables).await;
        for (thread, resumed) in [("t", "2"), ("u", "1")] {
            // A later run of another thread.
            let asked = OpenQuestion::for_word(&gateway, thread, "edit").await;
            OpenQuestion::for_word(&gateway, &format!("{thread}-other"), "edit").await;
            let answer = json!({ "optionId": "allow-once" });
            let answer = asked.answered(resumed, "resolved", &answer);
            assert_eq!(gateway.run(&answer).await.rest().await.end(), "success");
        }
        gateway.signal(SIGTERM);
        assert!(gateway.ended().await.success());
    });
    let trace = collector.received();
    let runs = |thread: &str| {
        let of_thread = |span: &&Span| {
            attributes(&span.attributes).get("agui.thread.id") == Some(&text(thread))
        };
        let mut runs: Vec<_> = trace.spans.iter().filter(of_thread).collect();
        runs.sort_by_key(|run| run.start_time_unix_nano);
        runs
    };
    for thread in ["t", "u"] {
        let [interrupted, resumed] = &*runs(thread) else { panic!("{:?}", trace.names()) };
        assert_eq!(interrupted.links, []);
        let [link] = &*resumed.links else { panic!("{resumed:?}") };
        assert_eq!(link.span_id, interrupted.span_id);
        assert_eq!(link.trace_id, interrupted.trace_id);
        assert_eq!(attributes(&link.attributes)["acp.link.reason"], text("resume"));
        let [alone] = &*runs(&format!("{thread}-other")) else { panic!("{:?}", trace.names()) };
        assert_eq!(alone.links, []);
    }
}

/// The agent's context is unsampled, unless a local sampler overrides the caller.
#[test]
fn unsampled_requests_are_not_exported() {
    for (sampler, flags) in [("parentbased_always_on", "00"), ("always_on", "01")] {
        let collector = Collector::start();
        let folder = TempDir::new().unwrap();
        let (agent, heard) = overheard(&folder);
        let endpoint = collector.url();
        let variables = [&exporting(&endpoint)[..], &[("OTEL_TRACES_SAMPLER", sampler)]].concat();
        Runtime::new().unwrap().block_on(edit(&variables, &agent, "00"));
        let trace = collector.received();
        let is_told_of = trace.spans.iter().any(|span| hex(&span.trace_id) == TRACE);
        assert_eq!(is_told_of, flags == "01", "{sampler}: {:?}", trace.names());
        assert!(collector.metrics().contains_key("gen_ai.client.operation.duration"));
        let parent = told(&heard, "session/prompt")["_meta"]["traceparent"].clone();
        let parent = parent.as_str().unwrap();
        assert!(parent.starts_with(&format!("00-{TRACE}-")), "{sampler}: {parent}");
        assert!(parent.ends_with(&format!("-{flags}")), "{sampler}: {parent}");
    }
}

/// A run over HTTP, one over a WebSocket, and one that the endpoint refuses.
async fn ask_a_model(endpoint: &str) {
    let call =
        json!({ "index": 0, "id": "c1", "function": { "name": "clock", "arguments": "{}" } });
    let ends =
        |why: &str| json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": why }] });
    let calls = chunks(&[
        delta(json!({ "tool_calls": [call] })),
        ends("tool_calls"),
        json!({ "choices": [], "usage": { "prompt_tokens": 7, "completion_tokens": 5 } }),
    ]);
    let says = chunks(&[delta(json!({ "content": "It is late." })), ends("stop")]);
    let refuses = (StatusCode::UNAUTHORIZED, "who?");
    let answers =
        [(StatusCode::OK, &*calls), (StatusCode::OK, &*says), (StatusCode::OK, &*says), refuses];
    let (_endpoint, settings) = Endpoint::listen(&answers).await;
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), settings).unwrap();
    let variables = [("OTEL_TRACES_EXPORTER", "otlp"), ("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)];
    let gateway = Gateway::start(&["--config", file.path().to_str().unwrap()], &variables).await;
    assert_eq!(gateway.ask("t", "1", "How late is it?").await.rest().await.end(), "success");
    let told = Chat::open(&gateway, "hybrid").await.say("c", "How late is it?").await;
    assert_eq!(told.last().unwrap()["type"], "complete");
    assert_eq!(gateway.ask("t", "2", "And now?").await.rest().await.end(), "MODEL_REFUSED");
    gateway.signal(SIGTERM);
    assert!(gateway.ended().await.success());
}

#[test]
fn model_requests_are_children_of_run() {
    let collector = Collector::start();
    Runtime::new().unwrap().block_on(ask_a_model(&collector.url()));
    let trace = collector.received();
    let named =
        |name: &str| trace.spans.iter().filter(|span| span.name == name).collect::<Vec<_>>();
    let below = |span: &Span| -> Vec<&Span> {
        trace.spans.iter().filter(|other| other.parent_span_id == span.span_id).collect()
    };
    let below_named =
        |span: &Span| below(span).iter().map(|it| it.name.clone()).collect::<Vec<_>>();
    let mut made = Vec::new();
    for request in ["POST /api/ai/chat", "GET /api/ai/ws"].into_iter().flat_map(named) {
        let [run] = below(request)[..] else { panic!("{request:?}") };
        assert_eq!(run.name, "run hybrid");
        let outcome = attributes(&run.attributes)["agui.run.outcome"].clone();
        made.push((request.name.clone(), outcome, below_named(run)));
    }
    made.sort_by_key(|(name, _, below)| (name.clone(), below.len()));
    let chat = || "chat small".to_owned();
    assert_eq!(
        made,
        [
            ("GET /api/ai/ws".to_owned(), text("success"), vec![chat()]),
            ("POST /api/ai/chat".to_owned(), text("MODEL_REFUSED"), vec![chat()]),
            (
                "POST /api/ai/chat".to_owned(),
                text("success"),
                vec![chat(), "execute_tool clock".to_owned(), chat()],
            ),
        ]
    );
    let chats: Vec<_> = named("chat small").iter().map(|it| attributes(&it.attributes)).collect();
    let tokens =
        |chat: &BTreeMap<String, Attribute>| chat.get("gen_ai.usage.input_tokens").cloned();
    assert_eq!(tokens(&chats[0]), Some(Attribute::IntValue(7)));
    assert_eq!(chats[0]["gen_ai.request.model"], text("small"));
    assert_eq!(chats[0]["gen_ai.operation.name"], text("chat"));
    assert_eq!(chats[3]["error.type"], text("MODEL_REFUSED"));
    let tool = attributes(&named("execute_tool clock")[0].attributes);
    assert_eq!(tool["gen_ai.tool.name"], text("clock"));
    assert_eq!(tool["gen_ai.tool.call.id"], text("c1"));
}

#[test]
fn nothing_is_exported_by_default() {
    let collector = Collector::start();
    let folder = TempDir::new().unwrap();
    let (agent, heard) = overheard(&folder);
    let endpoint = collector.url();
    let variables = [("OTEL_EXPORTER_OTLP_ENDPOINT", &*endpoint)];
    Runtime::new().unwrap().block_on(edit(&variables, &agent, "01"));
    assert!(collector.received().spans.is_empty());
    assert!(collector.metrics().is_empty());
    assert_eq!(told(&heard, "session/prompt").get("_meta"), None);
}

/// The gateway logs it as its other messages.
#[test]
fn invalid_variable_is_logged() {
    const RATIO: [(&str, &str); 2] =
        [("OTEL_TRACES_SAMPLER", "traceidratio"), ("OTEL_TRACES_SAMPLER_ARG", "half")];
    for (variables, level, expected) in [
        (
            &[("OTEL_TRACES_SAMPLER", "sometimes")][..],
            "warn",
            Some(r#"OTEL_TRACES_SAMPLER is "sometimes", expected a sampler: ignored"#),
        ),
        (
            &RATIO,
            "warn",
            Some(r#"OTEL_TRACES_SAMPLER_ARG is "half", expected a number from 0 to 1: ignored"#),
        ),
        (
            &[("OTEL_METRICS_EXEMPLAR_FILTER", "now_and_then")],
            "warn",
            Some(
                r#"OTEL_METRICS_EXEMPLAR_FILTER is "now_and_then", expected an exemplar filter: ignored"#,
            ),
        ),
        (
            &[("OTEL_EXPORTER_OTLP_METRICS_PROTOCOL", "pigeon")],
            "warn",
            Some(
                r#"OTEL_EXPORTER_OTLP_METRICS_PROTOCOL is "pigeon", expected a protocol: ignored"#,
            ),
        ),
        (
            &[("OTEL_EXPORTER_OTLP_METRICS_COMPRESSION", "pigeon")],
            "warn",
            Some(
                r#"OTEL_EXPORTER_OTLP_METRICS_COMPRESSION is "pigeon", expected a compression: ignored"#,
            ),
        ),
        (
            &[("OTEL_BSP_SCHEDULE_DELAY", "soon")],
            "warn",
            Some(
                r#"OTEL_BSP_SCHEDULE_DELAY is "soon", expected a number from 1 to 86400000: ignored"#,
            ),
        ),
        (&RATIO, "error", None),
        (&[("OTEL_METRICS_EXEMPLAR_FILTER", "now_and_then")], "error", None),
        (&[("OTEL_EXPORTER_OTLP_METRICS_PROTOCOL", "pigeon")], "error", None),
        (&[("OTEL_TRACES_SAMPLER", "always_off")], "warn", None),
    ] {
        // The gateway cannot listen, and ends.
        let taken = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = taken.local_addr().unwrap().to_string();
        let mut gateway = command(&["--no-auth", "--listen", &address]);
        gateway.envs(exporting(NO_COLLECTOR)).envs(variables.iter().copied());
        gateway.env("RUST_LOG", level);
        let output = Runtime::new().unwrap().block_on(async { soon(gateway.output()).await });
        let said = String::from_utf8(output.unwrap().stderr).unwrap();
        let told: Vec<_> = said.lines().filter(|line| line.contains("OTEL_")).collect();
        match (expected, &told[..]) {
            (Some(expected), [told]) => {
                assert!(told.contains(" WARN ") && told.ends_with(expected), "{said}");
            }
            (None, []) => {}
            _ => panic!("{variables:?} {level}: {said}"),
        }
    }
}

#[tokio::test]
async fn unusable_collector_does_not_stop_gateway() {
    for (name, value, why) in [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4317", "invalid collector URL"),
        ("OTEL_EXPORTER_OTLP_CERTIFICATE", "/nowhere/ca.pem", "OTEL_EXPORTER_OTLP_CERTIFICATE"),
    ] {
        let https = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "https://127.0.0.1:9");
        let both = [("OTEL_TRACES_EXPORTER", "otlp"), ("OTEL_METRICS_EXPORTER", "otlp")];
        let mut command = command(&[]);
        command.envs(both).env(name, value).stderr(Stdio::piped());
        if name.ends_with("CERTIFICATE") {
            command.envs([https]);
        }
        let mut child = command.args(["--no-auth", "--listen", "127.0.0.1:0"]).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut log = Vec::new();
        let address = loop {
            let line = soon(lines.next_line()).await.unwrap().expect("it has ended");
            if let Some(address) = line.strip_prefix("listening on ") {
                break address.to_owned();
            }
            log.push(line);
        };
        let told: Vec<_> = log.iter().filter(|line| line.contains("telemetry")).collect();
        let [told] = told[..] else { panic!("{log:?}") };
        assert!(told.contains(why) && told.ends_with("no spans and no metrics are sent"), "{told}");
        let input = input("t", "1", "hello");
        let chat = http().build().unwrap().post(format!("{address}/api/ai/chat")).json(&input);
        let run = Run::new(&input, soon(chat.send()).await.unwrap()).rest().await;
        assert_eq!(run.end(), "success");
        child.start_kill().unwrap();
    }
}

/// The environment selects content, and events with content are log records. Without it nothing is
/// recorded.
#[test]
fn content_is_sent_as_log_records() {
    const CONTENT: &str = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT";
    for (content, has_records) in [("EVENT_ONLY", true), ("", false)] {
        let collector = Collector::start();
        let folder = TempDir::new().unwrap();
        let (agent, _) = overheard(&folder);
        let endpoint = collector.url();
        let logs = [("OTEL_LOGS_EXPORTER", "otlp"), (CONTENT, content)];
        let variables = [&exporting(&endpoint)[..], &logs].concat();
        Runtime::new().unwrap().block_on(edit(&variables, &agent, "01"));
        let trace = collector.received();
        let logs = collector.logs();
        let scopes = logs.iter().flat_map(|it| &it.scope_logs);
        let mut records = scopes.flat_map(|it| &it.log_records);
        let turn = span(&trace, "invoke_agent");
        let of_turn =
            records.find(|it| it.event_name == "gen_ai.client.inference.operation.details");
        assert_eq!(of_turn.map(|it| &it.span_id), has_records.then_some(&turn.span_id));
        assert!(turn.events.iter().all(|event| !event.name.ends_with("details")));
    }
}

#[test]
fn errors_have_status_without_content() {
    let collector = Collector::start();
    let endpoint = collector.url();
    let variables =
        [("GATEWAY_TELEMETRY_TRACES", "true"), ("GATEWAY_TELEMETRY_ENDPOINT", &*endpoint)];
    Runtime::new().unwrap().block_on(async {
        let gateway = Gateway::start(&["--agent", "false"], &variables).await;
        let told = gateway.ask("t", "r", "a secret").await.rest().await;
        assert_eq!(told.end(), "AGENT_UNAVAILABLE");
        gateway.signal(SIGTERM);
        assert!(gateway.ended().await.success());
    });
    let trace = collector.received();
    let run = trace.span("run agent");
    assert_eq!(attributes(&run.attributes)["error.type"], text("AGENT_UNAVAILABLE"));
    assert_eq!(attributes(&run.attributes)["agui.run.outcome"], text("AGENT_UNAVAILABLE"));
    assert_eq!(run.status.as_ref().unwrap().code, 2);
    assert!(!format!("{:?}", trace.spans).contains("secret"));
    assert!(collector.metrics().is_empty());
}

#[test]
fn missing_collector_delays_nothing() {
    let variables =
        [("OTEL_TRACES_EXPORTER", "otlp"), ("OTEL_EXPORTER_OTLP_ENDPOINT", NO_COLLECTOR)];
    Runtime::new().unwrap().block_on(async {
        let mut gateway = Gateway::with_environment(&variables).await;
        let told = gateway.ask("t", "r", "hello").await.rest().await;
        assert_eq!(told.end(), "success");
        gateway.signal(SIGTERM);
        let said = gateway.says("spans did not reach").await;
        assert!(said.contains(NO_COLLECTOR), "{said}");
        assert!(gateway.ended().await.success());
    });
}
