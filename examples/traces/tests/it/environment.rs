//! Invalid and encoded values of environment variables.

use crate::collector::attributes;
use crate::protocols::{HttpCollector, session};
use crate::proxy::acp_traces;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;

/// Range of the queue size.
const MOST_SPANS: &str = "from 1 to 100000";
/// One day.
const MOST_MILLISECONDS: &str = "from 1 to 86400000";

/// An interval of zero would send without a pause, an excessive queue would exhaust the memory, and
/// an empty queue would drop all spans.
#[test]
fn invalid_numbers_are_reported_and_ignored() {
    for (variable, value, range) in [
        ("OTEL_BSP_SCHEDULE_DELAY", "0", MOST_MILLISECONDS),
        ("OTEL_BSP_SCHEDULE_DELAY", "often", MOST_MILLISECONDS),
        ("OTEL_BSP_MAX_QUEUE_SIZE", "0", MOST_SPANS),
        ("OTEL_BSP_MAX_QUEUE_SIZE", "99999999999", MOST_SPANS),
        ("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "-1", MOST_SPANS),
        ("OTEL_METRIC_EXPORT_INTERVAL", "0", MOST_MILLISECONDS),
        ("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "0", MOST_MILLISECONDS),
    ] {
        let collector = HttpCollector::start();
        let url = collector.url();
        let mut command = acp_traces(&["--protocol", "http/json", "--metrics"]);
        command.env("OTEL_EXPORTER_OTLP_ENDPOINT", url).env(variable, value);
        let expected =
            format!("acp-traces: {variable} is {value:?}, expected a number {range}: ignored\n");
        assert_eq!(session(command), expected);
        let (traces, _) = collector.spans_and_metrics();
        assert_eq!(traces.trace().names(), ["initialize", "session/new"], "{variable}");
    }
}

#[test]
fn invalid_compression_is_reported_and_ignored() {
    const ANY: &str = "OTEL_EXPORTER_OTLP_COMPRESSION";
    const TRACES: &str = "OTEL_EXPORTER_OTLP_TRACES_COMPRESSION";
    for (variables, encoding, told) in [
        (&[(ANY, "zstd")][..], None, &[(ANY, "zstd")][..]),
        (&[(TRACES, "lz4"), (ANY, "GZIP")], Some("gzip"), &[(TRACES, "lz4")]),
        (&[(TRACES, "none"), (ANY, "lz4")], None, &[]),
    ] {
        let collector = HttpCollector::start();
        let mut command = acp_traces(&["--protocol", "http/protobuf"]);
        command.env("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url());
        command.envs(variables.iter().copied());
        let told = told.iter().map(|(name, value)| {
            format!("acp-traces: {name} is {value:?}, expected a compression: ignored\n")
        });
        assert_eq!(session(command), told.collect::<String>());
        let request = collector.request();
        let used = request.headers.get("content-encoding").map(|it| it.to_str().unwrap());
        assert_eq!(used, encoding, "{variables:?}");
    }
}

/// Values are percent-decoded. Invalid encodings are used verbatim.
#[test]
fn attributes_of_the_service_are_decoded() {
    let collector = HttpCollector::start();
    let mut command = acp_traces(&["--protocol", "http/json"]);
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url());
    let written = "service.name=my%20editor,a=b%2Cc%3Dd,b=50%,c=two words,d=%C3%A9";
    command.env("OTEL_RESOURCE_ATTRIBUTES", written);
    assert_eq!(session(command), "");
    let message = collector.request().message::<ExportTraceServiceRequest>();
    let resource = message.resource_spans[0].resource.as_ref().unwrap();
    let told = attributes(&resource.attributes);
    for (name, value) in [
        ("service.name", "my editor"),
        ("a", "b,c=d"),
        ("b", "50%"),
        ("c", "two words"),
        ("d", "é"),
    ] {
        assert_eq!(told[name], Value::StringValue(value.to_owned()), "{name}");
    }
}

/// Values of headers may be secret, so only the number of an entry is reported.
#[test]
fn invalid_headers_and_exporters_are_reported_and_ignored() {
    for (variable, value, expected) in [
        (
            "OTEL_EXPORTER_OTLP_HEADERS",
            "secret,a=b, ,c=",
            "entry 1 of OTEL_EXPORTER_OTLP_HEADERS, expected KEY=VALUE: ignored\n\
             acp-traces: entry 4 of OTEL_EXPORTER_OTLP_HEADERS, expected KEY=VALUE: ignored",
        ),
        (
            "OTEL_TRACES_EXPORTER",
            "zipkin",
            "OTEL_TRACES_EXPORTER is \"zipkin\", expected otlp or none: ignored",
        ),
        (
            "OTEL_METRICS_EXPORTER",
            "prometheus",
            "OTEL_METRICS_EXPORTER is \"prometheus\", expected otlp or none: ignored",
        ),
        (
            "OTEL_LOGS_EXPORTER",
            "console",
            "OTEL_LOGS_EXPORTER is \"console\", expected otlp or none: ignored",
        ),
    ] {
        let collector = HttpCollector::start();
        let mut command = acp_traces(&["--protocol", "http/json"]);
        command.env("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url()).env(variable, value);
        assert_eq!(session(command), format!("acp-traces: {expected}\n"), "{variable}");
        let request = collector.request();
        assert_eq!(request.headers.get("a").is_some(), value.contains("a=b"), "{variable}");
    }
}

/// All signals read the general variables.
#[test]
fn invalid_general_variables_are_reported_once() {
    let collector = HttpCollector::start();
    let mut command = acp_traces(&["--protocol", "http/json", "--metrics", "--logs"]);
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url());
    for setting in ["COMPRESSION", "HEADERS", "TIMEOUT"] {
        command.env(format!("OTEL_EXPORTER_OTLP_{setting}"), "wrong");
    }
    let reported = session(command);
    let mut lines: Vec<_> = reported.lines().collect();
    lines.sort_unstable();
    let timeout = format!("\"wrong\", expected a number {MOST_MILLISECONDS}: ignored");
    let expected = [
        "acp-traces: OTEL_EXPORTER_OTLP_COMPRESSION is \"wrong\", expected a compression: ignored",
        &format!("acp-traces: OTEL_EXPORTER_OTLP_TIMEOUT is {timeout}"),
        "acp-traces: entry 1 of OTEL_EXPORTER_OTLP_HEADERS, expected KEY=VALUE: ignored",
    ];
    assert_eq!(lines, expected);
}
