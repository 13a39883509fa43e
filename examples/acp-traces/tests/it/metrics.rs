//! What is measured.

use crate::collector::Collector;
use crate::editor::Editor;
use crate::proxy::{End, NO_COLLECTOR, Proxy};
use opentelemetry_proto::tonic::metrics::v1::Metric;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value;
use std::collections::BTreeMap;

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
    let Some(Data::Sum(sum)) = &metric.data else { panic!("{} is no sum", metric.name) };
    let Some(Value::AsInt(value)) = sum.data_points[0].value else { panic!("{}", metric.name) };
    value
}

#[test]
fn a_turn_is_measured_with_the_units_and_buckets_of_the_conventions() {
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

#[test]
fn nothing_is_measured_unasked() {
    assert_eq!(measured(&[]), BTreeMap::new());
}

#[test]
fn the_proxy_measures_itself() {
    let metrics = measured(&["--self-metrics"]);
    // `initialize`, `session/new`, the prompt and the answer to the permission request, and what the agent said.
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

/// What is wrong with messages is counted, each in both directions: the agent says what it hears.
#[test]
fn the_proxy_counts_what_is_wrong() {
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
    assert_eq!(proxy.finish().0.stderr, "");
    let metrics = collector.metrics();
    let counted = |name: &str| sum(&metrics[&format!("acp_traces.{name}")]);
    assert_eq!(counted("messages"), 8);
    assert_eq!(counted("invalid_lines"), 2);
    assert_eq!(counted("unmatched_responses"), 4);
    // The editor does not send updates, so nobody reads its own.
    assert_eq!(counted("undecodable"), 1);
}

#[test]
fn metrics_that_nobody_takes_are_told() {
    let end = session(NO_COLLECTOR, &["--metrics"]);
    assert_eq!(end.status, Some(0));
    // Refused at once, and not as if it were slow.
    let told: Vec<_> = end.stderr.lines().collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[1].starts_with(&format!("acp-traces: metrics did not reach {NO_COLLECTOR}: ")));
    assert!(!end.stderr.contains("no answer in time"), "{told:?}");
}
