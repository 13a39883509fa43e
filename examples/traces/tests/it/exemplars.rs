//! Exemplars of metrics, each with an exported span.

use crate::collector::{Collector, by_name};
use crate::editor::Editor;
use crate::protocols::HttpCollector;
use crate::proxy::{Proxy, acp_traces, test_agent};
use opentelemetry_proto::tonic::metrics::v1::exemplar::Value;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::{Exemplar, HistogramDataPoint, Metric};
use opentelemetry_proto::tonic::trace::v1::Span;
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use std::time::Duration;

const FILTER: &str = "OTEL_METRICS_EXEMPLAR_FILTER";

/// Metrics of span durations.
const DURATIONS: [&str; 4] = [
    "acp.prompt.duration",
    "acp.tool_call.duration",
    "gen_ai.client.operation.duration",
    "rpc.client.call.duration",
];

type Metrics = BTreeMap<String, Metric>;

/// Telemetry of a session with a turn.
struct SessionTelemetry {
    metrics: Metrics,
    spans: Vec<Span>,
    /// Standard error.
    said: String,
}

impl SessionTelemetry {
    /// Runs a session over gRPC, with these variables.
    fn with(variables: &[(&str, &str)]) -> Self {
        let collector = Collector::start();
        let mut command = acp_traces(&["--otlp-endpoint", &collector.url(), "--metrics"]);
        command.envs(variables.iter().copied());
        let said = turn(command);
        Self { metrics: collector.metrics(), spans: collector.received().spans, said }
    }

    fn exemplars(&self) -> Vec<&Exemplar> {
        self.metrics.values().flat_map(of_metric).collect()
    }
}

fn turn(mut command: Command) -> String {
    command.arg("--").arg(test_agent()).arg("demo");
    let mut editor = Editor::start(Proxy::spawn(command));
    editor.prompt("tour");
    editor.proxy.finish().0.stderr
}

fn of_metric(metric: &Metric) -> Vec<&Exemplar> {
    match metric.data.as_ref().unwrap() {
        Data::Histogram(it) => it.data_points.iter().flat_map(|it| &it.exemplars).collect(),
        Data::Sum(it) => it.data_points.iter().flat_map(|it| &it.exemplars).collect(),
        Data::Gauge(it) => it.data_points.iter().flat_map(|it| &it.exemplars).collect(),
        other => panic!("{other:?}"),
    }
}

fn points(metric: &Metric) -> &[HistogramDataPoint] {
    let Some(Data::Histogram(histogram)) = &metric.data else { panic!("{metric:?}") };
    &histogram.data_points
}

fn number(exemplar: &Exemplar) -> f64 {
    match exemplar.value.unwrap() {
        Value::AsDouble(value) => value,
        Value::AsInt(count) => i32::try_from(count).unwrap().into(),
    }
}

/// Asserts that each exemplar of a duration refers to a span of that duration.
fn assert_name_spans(told: &SessionTelemetry) {
    for name in DURATIONS {
        let exemplars = of_metric(&told.metrics[name]);
        assert!(!exemplars.is_empty(), "{name}");
        for exemplar in exemplars {
            let named = |span: &&Span| {
                (&span.trace_id, &span.span_id) == (&exemplar.trace_id, &exemplar.span_id)
            };
            let span = told.spans.iter().find(named).unwrap();
            let took = Duration::from_nanos(span.end_time_unix_nano - span.start_time_unix_nano);
            assert_eq!(number(exemplar), took.as_secs_f64(), "{name} {}", span.name);
            assert_eq!(exemplar.time_unix_nano, span.end_time_unix_nano, "{name}");
        }
    }
}

#[test]
fn exemplars_name_spans_that_were_exported() {
    let told = SessionTelemetry::with(&[]);
    assert_eq!(told.said, "");
    assert_name_spans(&told);
    for protocol in ["http/protobuf", "http/json"] {
        let collector = HttpCollector::start();
        let options = ["--otlp-endpoint", &collector.url(), "--protocol", protocol, "--metrics"];
        let said = turn(acp_traces(&options));
        let (traces, metrics) = collector.spans_and_metrics();
        let metrics = by_name(metrics.message());
        assert_name_spans(&SessionTelemetry { metrics, spans: traces.trace().spans, said });
    }
}

/// The JSON body of a request.
///
/// Spec: [JSON Protobuf encoding](https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding)
#[test]
fn ids_are_hexadecimal_in_json() {
    let collector = HttpCollector::start();
    let options = ["--otlp-endpoint", &collector.url(), "--protocol", "http/json", "--metrics"];
    turn(acp_traces(&options));
    let request: Json = serde_json::from_slice(collector.spans_and_metrics().1.body()).unwrap();
    let metrics = request["resourceMetrics"][0]["scopeMetrics"][0]["metrics"].as_array().unwrap();
    let duration = metrics.iter().find(|it| it["name"] == "acp.prompt.duration").unwrap();
    let exemplar = &duration["histogram"]["dataPoints"][0]["exemplars"][0];
    for (id, length) in [("traceId", 32), ("spanId", 16)] {
        let id = exemplar[id].as_str().unwrap();
        assert!(id.len() == length && id.bytes().all(|it| it.is_ascii_hexdigit()), "{id}");
    }
    assert!(exemplar["asDouble"].is_f64(), "{exemplar}");
    assert!(exemplar["timeUnixNano"].as_str().unwrap().parse::<u64>().is_ok(), "{exemplar}");
}

#[test]
fn bucket_has_at_most_one_exemplar() {
    let told = SessionTelemetry::with(&[]);
    let histograms = told.metrics.values().filter(|it| matches!(it.data, Some(Data::Histogram(_))));
    for (metric, point) in histograms.flat_map(|it| points(it).iter().map(move |point| (it, point)))
    {
        let mut places = BTreeSet::new();
        for exemplar in &point.exemplars {
            let value = number(exemplar);
            let bounds = &point.explicit_bounds;
            // Spec: "(explicit_bounds[i-1], explicit_bounds[i]]"
            let is_within = |i: &usize| {
                (*i == 0 || value > bounds[i - 1]) && (*i == bounds.len() || value <= bounds[*i])
            };
            let place = (0..=bounds.len()).find(is_within).unwrap();
            assert!(point.bucket_counts[place] > 0, "{}: {value}", metric.name);
            assert!(places.insert(place), "{}: {value}", metric.name);
            assert!(exemplar.filtered_attributes.is_empty());
        }
        let counting = point.bucket_counts.iter().filter(|count| **count > 0).count();
        assert_eq!(places.len(), counting, "{}: each was of a span", metric.name);
    }
}

/// Metrics are otherwise the same with and without exemplars.
#[test]
fn exemplars_do_not_change_sums_and_counts() {
    let counted = |filter| {
        let metrics = SessionTelemetry::with(&[(FILTER, filter)]).metrics;
        let count = |metric: &Metric| match metric.data.as_ref().unwrap() {
            Data::Histogram(it) => it.data_points.iter().map(|it| it.count).collect(),
            Data::Sum(it) => vec![it.data_points.len() as u64],
            Data::Gauge(it) => vec![it.data_points.len() as u64],
            other => panic!("{other:?}"),
        };
        let mut counts: Vec<_> =
            metrics.iter().map(|(name, metric)| (name.clone(), count(metric))).collect();
        counts.iter_mut().for_each(|(_, counts)| counts.sort_unstable());
        counts
    };
    assert_eq!(counted("trace_based"), counted("always_off"));
}

#[test]
fn environment_selects_the_exemplars() {
    const UNSAMPLED: (&str, &str) = ("OTEL_TRACES_SAMPLER", "always_off");
    const NO_SPANS: (&str, &str) = ("OTEL_TRACES_EXPORTER", "none");
    for (variables, has_exemplars, names_spans) in [
        (&[(FILTER, "trace_based")][..], true, true),
        (&[(FILTER, "")], true, true),
        (&[(FILTER, "always_off")], false, false),
        (&[UNSAMPLED], false, false),
        (&[NO_SPANS], false, false),
        (&[UNSAMPLED, (FILTER, "always_on")], true, false),
        (&[NO_SPANS, (FILTER, "always_on")], true, false),
    ] {
        let told = SessionTelemetry::with(variables);
        assert_eq!(told.said, "", "{variables:?}");
        assert!(told.metrics.contains_key("acp.prompt.duration"), "{variables:?}");
        let exemplars = told.exemplars();
        assert_eq!(!exemplars.is_empty(), has_exemplars, "{variables:?}");
        for exemplar in exemplars {
            assert_eq!(exemplar.span_id.len(), if names_spans { 8 } else { 0 }, "{variables:?}");
            assert_eq!(exemplar.trace_id.len(), if names_spans { 16 } else { 0 }, "{variables:?}");
        }
    }
}

/// Measurements without a span are not exemplars of `trace_based`.
#[test]
fn open_sessions_are_exemplars_only_of_always_on() {
    for (filter, expected) in [("trace_based", 0), ("always_on", 1)] {
        let told = SessionTelemetry::with(&[(FILTER, filter)]);
        let exemplars = of_metric(&told.metrics["acp.session.active"]);
        assert_eq!(exemplars.len(), expected, "{filter}");
        assert!(exemplars.iter().all(|it| matches!(it.value, Some(Value::AsInt(_)))));
    }
}

#[test]
fn invalid_filter_is_reported() {
    let told = SessionTelemetry::with(&[(FILTER, "now_and_then")]);
    let expected = "acp-traces: OTEL_METRICS_EXEMPLAR_FILTER is \"now_and_then\", expected an exemplar filter: ignored\n";
    assert_eq!(told.said, expected);
    assert_name_spans(&told);
}
