//! Metrics.

use crate::collector::{Collector, by_name};
use crate::editor::Editor;
use crate::protocols::{self, HttpCollector};
use crate::proxy::{End, NO_COLLECTOR, Proxy, acp_traces};
use opentelemetry_proto::tonic::collector::metrics::v1::metrics_service_server::{
    MetricsService, MetricsServiceServer,
};
use opentelemetry_proto::tonic::collector::metrics::v1::{
    ExportMetricsServiceRequest, ExportMetricsServiceResponse,
};
use opentelemetry_proto::tonic::metrics::v1::Metric;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value;
use std::collections::BTreeMap;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::runtime::Runtime;
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;
use tonic::{Code, Request, Response, Status};
use tonic_types::{ErrorDetails, StatusExt};

/// A session with a turn.
fn session(collector: &str, options: &[&str]) -> End {
    let options = [&["--otlp-endpoint", collector], options].concat();
    let mut editor = Editor::start(Proxy::with_options(&options, &["demo"]));
    editor.prompt("tour");
    editor.proxy.finish().0
}

fn measured(options: &[&str]) -> BTreeMap<String, Metric> {
    let collector = Collector::start();
    assert_eq!(session(&collector.url(), options).stderr, "");
    collector.metrics()
}

fn sum(metric: &Metric) -> i64 {
    let Some(Data::Sum(sum)) = &metric.data else { panic!("{} is not a sum", metric.name) };
    let Some(Value::AsInt(value)) = sum.data_points[0].value else { panic!("{}", metric.name) };
    value
}

#[test]
fn turn_metrics_follow_the_conventions() {
    let metrics = measured(&["--metrics"]);
    let duration = &metrics["gen_ai.client.operation.duration"];
    assert_eq!(duration.unit, "s");
    let Some(Data::Histogram(histogram)) = &duration.data else { panic!("no histogram") };
    assert_eq!(histogram.data_points[0].count, 1);
    assert_eq!(histogram.data_points[0].explicit_bounds.first(), Some(&0.01));
    assert_eq!(histogram.data_points[0].explicit_bounds.last(), Some(&81.92));
    assert!(metrics.contains_key("acp.permission.wait.duration"), "{:?}", metrics.keys());
    assert_eq!(sum(&metrics["acp.session.active"]), 0);
    assert!(metrics.keys().all(|name| !name.starts_with("acp_traces.")));
}

/// A description makes a metric readable in backends without the conventions.
#[test]
fn every_metric_has_a_description() {
    let metrics = measured(&["--metrics", "--self-metrics"]);
    assert!(metrics.len() > 10);
    for metric in metrics.values() {
        assert!(metric.description.ends_with('.'), "{}: {:?}", metric.name, metric.description);
    }
}

/// Returns the instance id of the sender, and the value of a counter by its distinct attributes.
fn messages_of(request: &ExportMetricsServiceRequest) -> (String, i64) {
    let resource = request.resource_metrics[0].resource.as_ref().unwrap();
    let instance = resource.attributes.iter().find(|it| it.key == "service.instance.id").unwrap();
    (format!("{:?}", instance.value), sum(&by_name(request.clone())["acp_traces.messages"]))
}

/// Each proxy is a series of its own, so that a backend adds up cumulative points instead of mixing
/// them.
#[test]
fn metrics_of_concurrent_proxies_add_up() {
    let collector = Collector::start();
    let url = collector.url();
    let options = ["--otlp-endpoint", &url, "--metrics", "--self-metrics"];
    let mut editors =
        ["tour", "hello"].map(|_| Editor::start(Proxy::with_options(&options, &["demo"])));
    editors[0].prompt("tour");
    editors[1].prompt("hello");
    editors[0].prompt("tour");
    for editor in editors {
        assert_eq!(editor.proxy.finish().0.stderr, "");
    }
    let requests = collector.metric_requests();
    let series: BTreeMap<_, _> = requests.iter().map(messages_of).collect();
    assert_eq!(series.len(), 2, "{series:?}");
    let turns: u64 = requests
        .iter()
        .flat_map(|request| {
            let metrics = by_name(request.clone());
            let Some(Data::Histogram(turns)) = metrics["acp.prompt.duration"].data.clone() else {
                panic!("no histogram")
            };
            turns.data_points
        })
        .map(|point| point.count)
        .sum();
    assert_eq!(turns, 3);
}

/// The SDK reads the preference.
///
/// Spec: [Metrics exporter,
/// OTLP](https://opentelemetry.io/docs/specs/otel/metrics/sdk_exporters/otlp/#additional-environment-variable-configuration)
#[test]
fn temporality_of_the_environment_is_used() {
    for (preference, expected) in [("delta", 1), ("cumulative", 2), ("", 2)] {
        let collector = Collector::start();
        let mut command = acp_traces(&["--otlp-endpoint", &collector.url(), "--self-metrics"]);
        command.env("OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", preference);
        assert_eq!(protocols::session(command), "", "{preference}");
        let metrics = collector.metrics();
        let Some(Data::Sum(sum)) = &metrics["acp_traces.messages"].data else { panic!("no sum") };
        assert_eq!(sum.aggregation_temporality, expected, "{preference}");
    }
}

#[test]
fn metrics_are_off_by_default() {
    assert_eq!(measured(&[]), BTreeMap::new());
}

#[test]
fn proxy_measures_itself() {
    let metrics = measured(&["--self-metrics"]);
    // `initialize`, `session/new`, the prompt, the response to the permission request, and the
    // messages of the agent.
    assert!(sum(&metrics["acp_traces.messages"]) > 8);
    assert!(sum(&metrics["acp_traces.spans"]) > 3);
    for lost in [
        "unread",
        "long_messages",
        "invalid_lines",
        "undecodable",
        "unmatched_responses",
        "dropped_records",
    ] {
        assert_eq!(sum(&metrics[&format!("acp_traces.{lost}")]), 0, "{lost}");
    }
    assert!(metrics.keys().all(|name| name.starts_with("acp_traces.")));
}

/// Invalid messages are counted in each direction, because the agent echoes them.
#[test]
fn proxy_counts_invalid_messages() {
    let collector = Collector::start();
    let url = collector.url();
    let options = ["--otlp-endpoint", &url, "--self-metrics"];
    let mut proxy = Proxy::with_options(&options, &["echo"]);
    proxy.write(b"no message\n");
    proxy.write(br#"{"jsonrpc":"2.0","id":7,"result":{}}"#);
    proxy.write(b"\n");
    proxy.write(br#"{"jsonrpc":"2.0","id":8,"result":{}}"#);
    proxy.write(b"\n");
    proxy.write(br#"{"jsonrpc":"2.0","method":"session/update","params":{}}"#);
    proxy.write(b"\n");
    let expected =
        "acp-traces: 1 messages do not match their methods: spans or attributes may be missing\n";
    assert_eq!(proxy.finish().0.stderr, expected);
    let metrics = collector.metrics();
    let counted = |name: &str| sum(&metrics[&format!("acp_traces.{name}")]);
    assert_eq!(counted("messages"), 8);
    assert_eq!(counted("invalid_lines"), 2);
    assert_eq!(counted("unmatched_responses"), 4);
    // Updates are decoded only in the direction from the agent.
    assert_eq!(counted("undecodable"), 1);
}

#[test]
fn undelivered_metrics_are_reported() {
    let end = session(NO_COLLECTOR, &["--metrics"]);
    assert_eq!(end.status, Some(0));
    // The connection is refused immediately, rather than timing out.
    let told: Vec<_> = end.stderr.lines().collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[1].starts_with(&format!("acp-traces: metrics did not reach {NO_COLLECTOR}: ")));
    assert!(!end.stderr.contains("no answer in time"), "{told:?}");
}

/// Variables for metrics only.
#[test]
fn metrics_go_with_headers_and_compressed() {
    for protocol in ["grpc", "http/protobuf", "http/json"] {
        let grpc = Collector::start();
        let http = HttpCollector::start();
        let url = if protocol == "grpc" { grpc.url() } else { http.url() };
        let options = ["--protocol", protocol, "--otlp-endpoint", &url, "--metrics"];
        let mut command = acp_traces(&options);
        let headers = "x-team=editors,authorization=Bearer%20key";
        command.env("OTEL_EXPORTER_OTLP_METRICS_HEADERS", headers);
        command.env("OTEL_EXPORTER_OTLP_METRICS_COMPRESSION", "gzip");
        assert_eq!(protocols::session(command), "", "{protocol}");
        let (headers, metrics) = if protocol == "grpc" {
            let (metadata, metrics) = grpc.last_metrics().unwrap();
            (metadata.into_headers(), metrics)
        } else {
            let (_, request) = http.spans_and_metrics();
            (request.headers.clone(), by_name(request.message()))
        };
        assert_eq!(headers["x-team"], "editors", "{protocol}");
        assert_eq!(headers["authorization"], "Bearer key", "{protocol}");
        let encoding = if protocol == "grpc" { "grpc-encoding" } else { "content-encoding" };
        assert_eq!(headers[encoding], "gzip", "{protocol}");
        assert!(headers["user-agent"].to_str().unwrap().contains("OTel-OTLP-Exporter-Rust"));
        assert!(metrics.contains_key("acp.session.active"), "{protocol}");
    }
}

/// Rejects metrics and counts the attempts.
struct RefusingCollector(Status, Arc<AtomicUsize>);

#[tonic::async_trait]
impl MetricsService for RefusingCollector {
    async fn export(
        &self,
        _: Request<ExportMetricsServiceRequest>,
    ) -> Result<Response<ExportMetricsServiceResponse>, Status> {
        self.1.fetch_add(1, Ordering::Relaxed);
        Err(self.0.clone())
    }
}

/// Returns the message for metrics that `url` rejects.
fn refused(url: &str, protocol: &str, variables: &[(&str, &str)]) -> String {
    let mut command = acp_traces(&["--otlp-endpoint", url, "--protocol", protocol, "--metrics"]);
    command.env("OTEL_TRACES_EXPORTER", "none").envs(variables.iter().copied());
    protocols::session(command)
}

/// Retryable and permanent failures.
///
/// Spec: [Failures](https://opentelemetry.io/docs/specs/otlp/#failures)
#[test]
fn retryable_grpc_failures_are_retried() {
    let no_more = Code::ResourceExhausted;
    let details = ErrorDetails::with_retry_info(Some(Duration::ZERO));
    for (status, is_for_now) in [
        (Status::new(Code::Cancelled, "secret"), true),
        (Status::new(Code::DeadlineExceeded, "secret"), true),
        (Status::new(Code::Aborted, "secret"), true),
        (Status::new(Code::OutOfRange, "secret"), true),
        (Status::new(Code::Unavailable, "secret"), true),
        (Status::new(Code::DataLoss, "secret"), true),
        (Status::with_error_details(no_more, "secret", details), true),
        (Status::new(no_more, "secret"), false),
        (Status::new(Code::PermissionDenied, "secret"), false),
        (Status::new(Code::Internal, "secret"), false),
        (Status::new(Code::Unimplemented, "secret"), false),
    ] {
        let code = status.code();
        let asked = Arc::new(AtomicUsize::new(0));
        let runtime = Runtime::new().unwrap();
        let context = runtime.enter();
        let incoming = TcpIncoming::bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let url = format!("http://{}", incoming.local_addr().unwrap());
        let service = MetricsServiceServer::new(RefusingCollector(status, Arc::clone(&asked)));
        runtime.spawn(Server::builder().add_service(service).serve_with_incoming(incoming));
        drop(context);
        let said = refused(&url, "grpc", &[]);
        assert_eq!(asked.load(Ordering::Relaxed) > 1, is_for_now, "{code:?}");
        let expected = format!("acp-traces: metrics did not reach {url}: gRPC code {code:?}\n");
        assert_eq!(said, expected);
    }
}

/// The system accepts connections that are never served.
#[test]
fn timeout_of_the_environment_is_used() {
    for protocol in ["grpc", "http/protobuf"] {
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", silent.local_addr().unwrap());
        let said = refused(&url, protocol, &[("OTEL_EXPORTER_OTLP_METRICS_TIMEOUT", "50")]);
        let expected = format!("acp-traces: metrics did not reach {url}");
        assert!(said.starts_with(&expected), "{protocol}: {said:?}");
    }
}
