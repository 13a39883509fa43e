//! Measures the calls of an MCP connection, as a client sees them, and prints the metrics.
//!
//! ```text
//! cargo run -p semconv-map --example measure_mcp
//! ```
#![expect(clippy::print_stdout, reason = "an example prints its result")]

use semconv_map::rpc::{ConnectionEnd, Protocol, RpcTracker};
use semconv_map::{Direction, Policy, Record};
use std::time::Duration;

fn main() {
    let lines = [
        (
            Direction::Sent,
            0,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"weather"}}"#,
        ),
        (Direction::Received, 120, r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#),
        (
            Direction::Sent,
            200,
            r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"news"}}"#,
        ),
        (
            Direction::Received,
            950,
            r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"unavailable"}}"#,
        ),
    ];

    let mut policy = Policy::default();
    policy.record_metrics = true;
    let mut tracker = RpcTracker::new(policy, Protocol::McpClient);
    for (sender, milliseconds, line) in lines {
        tracker.handle_line(sender, Duration::from_millis(milliseconds), line.as_bytes());
    }
    tracker.close(Duration::from_secs(1), ConnectionEnd::Closed);

    while let Some(record) = tracker.poll() {
        match record {
            Record::Start(start) => println!("span {}", start.name),
            Record::End(end) => println!("  ended after {:?}", end.time),
            Record::Metric(measurement) => {
                let metric = measurement.metric;
                println!("  {} = {:?} {}", metric.name, measurement.value, metric.unit);
                for attribute in measurement.attributes {
                    println!("    {} = {:?}", attribute.key, attribute.value);
                }
            }
            _ => {}
        }
    }
}
