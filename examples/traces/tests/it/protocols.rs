//! Transports of OTLP.

use crate::collector::{Collector, Trace};
use crate::editor::Editor;
use crate::proxy::{NO_COLLECTOR, Proxy, acp_traces, test_agent};
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::serve::Listener;
use flate2::read::GzDecoder;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use prost::Message;
use serde::de::DeserializeOwned;
use std::io::Read;
use std::net::{SocketAddr, TcpListener};
use std::process::Command;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;
use tokio::runtime::Runtime;

/// A collector over HTTP.
pub(crate) struct HttpCollector {
    pub(crate) address: SocketAddr,
    requests: Receiver<Request>,
    /// Stops the server when dropped.
    _runtime: Runtime,
}

pub(crate) struct Request {
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    body: Bytes,
}

impl HttpCollector {
    pub(crate) fn start() -> Self {
        Self::listen(|listener| listener)
    }

    /// `wrap` wraps the listener, for example with TLS.
    pub(crate) fn listen<L: Listener<Addr = SocketAddr>>(
        wrap: impl FnOnce(tokio::net::TcpListener) -> L,
    ) -> Self {
        let runtime = Runtime::new().unwrap();
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        let listener = wrap(listener);
        let (keep, requests) = channel();
        let server = Router::new().fallback(answer).with_state(keep);
        runtime.spawn(axum::serve(listener, server).into_future());
        Self { address, requests, _runtime: runtime }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the only request.
    pub(crate) fn request(&self) -> Request {
        let request = self.requests.try_recv().unwrap();
        assert!(self.requests.try_recv().is_err());
        request
    }

    /// Returns the only request of spans and the only one of metrics.
    pub(crate) fn spans_and_metrics(&self) -> (Request, Request) {
        let (metrics, traces): (Vec<_>, _) =
            self.requests.try_iter().partition(|request| request.path == "/v1/metrics");
        let [metrics, traces] = [metrics, traces].map(|of_one| {
            assert_eq!(of_one.len(), 1);
            of_one.into_iter().next().unwrap()
        });
        (traces, metrics)
    }
}

async fn answer(State(keep): State<Sender<Request>>, uri: Uri, headers: HeaderMap, body: Bytes) {
    keep.send(Request { path: uri.path().to_owned(), headers, body }).unwrap();
}

impl Request {
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    pub(crate) fn body(&self) -> &[u8] {
        &self.body
    }

    fn header(&self, name: &str) -> &str {
        self.headers[name].to_str().unwrap()
    }

    /// Decodes the body by its content type.
    pub(crate) fn trace(&self) -> Trace {
        let mut trace = Trace::default();
        trace.extend(self.message::<ExportTraceServiceRequest>());
        trace
    }

    pub(crate) fn message<M: Message + Default + DeserializeOwned>(&self) -> M {
        let mut body = self.body.to_vec();
        if self.headers.contains_key("content-encoding") {
            body.clear();
            GzDecoder::new(&*self.body).read_to_end(&mut body).unwrap();
        }
        match self.header("content-type") {
            "application/x-protobuf" => M::decode(&*body).unwrap(),
            "application/json" => serde_json::from_slice(&body).unwrap(),
            other => panic!("{other}"),
        }
    }
}

/// Starts and ends a session. Returns standard error.
pub(crate) fn session(mut command: Command) -> String {
    command.arg("--").arg(test_agent()).arg("demo");
    let (end, _) = Editor::start(Proxy::spawn(command)).proxy.finish();
    assert_eq!(end.status, Some(0));
    end.stderr
}

const SESSION: [&str; 2] = ["initialize", "session/new"];

#[test]
fn spans_go_over_http() {
    for (protocol, content_type) in
        [("http/protobuf", "application/x-protobuf"), ("http/json", "application/json")]
    {
        let collector = HttpCollector::start();
        let url = collector.url();
        let told = session(acp_traces(&["--protocol", protocol, "--otlp-endpoint", &url]));
        assert_eq!(told, "", "{protocol}");
        let request = collector.request();
        assert_eq!(&*request.path, "/v1/traces");
        assert_eq!(request.header("content-type"), content_type);
        assert_eq!(request.trace().names(), SESSION, "{protocol}");
    }
}

#[test]
fn environment_sets_the_protocol() {
    const ANY: &str = "OTEL_EXPORTER_OTLP_PROTOCOL";
    const TRACES: &str = "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL";
    for (options, variables, expected) in [
        (&[][..], &[(ANY, "http/json")][..], "application/json"),
        (&[], &[(ANY, "grpc"), (TRACES, "http/protobuf")], "application/x-protobuf"),
        (&["--protocol", "http/json"], &[(TRACES, "grpc")], "application/json"),
    ] {
        let collector = HttpCollector::start();
        let mut command = acp_traces(options);
        command.envs(variables.iter().copied());
        command.env("OTEL_EXPORTER_OTLP_ENDPOINT", format!("{}/", collector.url()));
        assert_eq!(session(command), "");
        let request = collector.request();
        assert_eq!(&*request.path, "/v1/traces");
        assert_eq!(request.header("content-type"), expected);
    }
}

#[test]
fn invalid_protocol_is_reported() {
    let collector = Collector::start();
    let mut command = acp_traces(&["--otlp-endpoint", &collector.url()]);
    command.env("OTEL_EXPORTER_OTLP_PROTOCOL", "pigeon");
    let expected =
        "acp-traces: OTEL_EXPORTER_OTLP_PROTOCOL is \"pigeon\", expected a protocol: ignored\n";
    assert_eq!(session(command), expected);
    assert_eq!(collector.received().names(), SESSION);
    let output = acp_traces(&["--protocol", "pigeon", "--", "agent"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(str::from_utf8(&output.stderr).unwrap().contains("grpc, http/protobuf, http/json"));
}

#[test]
fn traces_url_is_used_verbatim() {
    let collector = HttpCollector::start();
    let mut command = acp_traces(&["--protocol", "http/protobuf"]);
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", NO_COLLECTOR);
    command.env("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", format!("{}/to/traces", collector.url()));
    assert_eq!(session(command), "");
    assert_eq!(collector.request().path, "/to/traces");
}

#[test]
fn headers_and_attributes_of_the_environment_are_sent() {
    let grpc = Collector::start();
    let http = HttpCollector::start();
    for (protocol, url) in [("grpc", grpc.url()), ("http/protobuf", http.url())] {
        let mut command = acp_traces(&["--protocol", protocol, "--otlp-endpoint", &url]);
        command.env("OTEL_EXPORTER_OTLP_HEADERS", "x-team=editors,authorization=Bearer%20key");
        command.env("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test,host.name=here");
        assert_eq!(session(command), "", "{protocol}");
    }
    let over_grpc = grpc.received();
    let request = http.request();
    for (name, expected) in [("x-team", "editors"), ("authorization", "Bearer key")] {
        assert_eq!(over_grpc.metadata.get(name).unwrap(), expected);
        assert_eq!(request.header(name), expected);
    }
    for trace in [over_grpc, request.trace()] {
        for (name, expected) in [("deployment.environment.name", "test"), ("host.name", "here")] {
            assert_eq!(trace.resource[name], Value::StringValue(expected.to_owned()));
        }
        assert_eq!(trace.resource["service.name"], Value::StringValue("acp-traces".to_owned()));
    }
}

#[test]
fn environment_enables_compression() {
    const GZIP: [u8; 2] = [0x1f, 0x8b];
    for (variable, is_compressed) in [
        (("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip"), true),
        (("OTEL_EXPORTER_OTLP_TRACES_COMPRESSION", "gzip"), true),
        (("OTEL_EXPORTER_OTLP_COMPRESSION", "none"), false),
    ] {
        let grpc = Collector::start();
        let http = HttpCollector::start();
        for (protocol, url) in [("grpc", grpc.url()), ("http/json", http.url())] {
            let mut command = acp_traces(&["--protocol", protocol, "--otlp-endpoint", &url]);
            command.envs([variable]);
            assert_eq!(session(command), "", "{protocol} {variable:?}");
        }
        let over_grpc = grpc.received();
        let over_http = http.request();
        assert_eq!(over_grpc.names(), SESSION);
        let encoding = is_compressed.then_some("gzip");
        let of_grpc = over_grpc.metadata.get("grpc-encoding").map(|it| it.to_str().unwrap());
        let of_http = over_http.headers.get("content-encoding").map(|it| it.to_str().unwrap());
        assert_eq!(of_grpc, encoding, "{variable:?}");
        assert_eq!(of_http, encoding, "{variable:?}");
        assert_eq!(over_http.body.starts_with(&GZIP), is_compressed);
    }
}

#[test]
fn transcript_is_replayed_over_http() {
    let collector = HttpCollector::start();
    let transcript = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/turn.jsonl");
    let url = collector.url();
    let options = ["replay", transcript, "--protocol", "http/json", "--otlp-endpoint", &url];
    assert_eq!(acp_traces(&options).status().unwrap().code(), Some(0));
    assert_eq!(collector.request().trace().names(), ["execute_tool execute", "invoke_agent"]);
}

#[test]
fn missing_http_collector_does_not_affect_the_session() {
    // The system accepts connections that are never served.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = format!("http://{}", silent.local_addr().unwrap());
    for url in [NO_COLLECTOR, &silent] {
        let options = ["--protocol", "http/protobuf", "--otlp-endpoint", url];
        let mut editor = Editor::start(Proxy::with_options(&options, &["demo"]));
        editor.prompt("hello");
        let (end, took) = editor.proxy.finish();
        assert_eq!(end.status, Some(0));
        assert!(took < Duration::from_secs(3), "{took:?}");
        let told = format!("acp-traces: 3 of 3 spans did not reach {url}/v1/traces: ");
        assert!(end.stderr.starts_with(&told), "{}", end.stderr);
    }
}

/// Permanent and retryable rejections: the session continues, and losses are reported.
#[test]
fn rejecting_collector_does_not_affect_the_session() {
    for refusal in [StatusCode::FORBIDDEN, StatusCode::SERVICE_UNAVAILABLE] {
        let runtime = Runtime::new().unwrap();
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let server = Router::new().fallback(move || async move { refusal });
        runtime.spawn(axum::serve(listener, server).into_future());
        let options = ["--protocol", "http/protobuf", "--otlp-endpoint", &url];
        let mut editor = Editor::start(Proxy::with_options(&options, &["demo"]));
        assert_eq!(editor.prompt("hello")["result"]["stopReason"], "end_turn");
        let (end, took) = editor.proxy.finish();
        assert_eq!(end.status, Some(0));
        assert!(took < Duration::from_secs(3), "{took:?}");
        let told = format!("acp-traces: 3 of 3 spans did not reach {url}/v1/traces: ");
        assert!(end.stderr.starts_with(&told), "{}", end.stderr);
    }
}
