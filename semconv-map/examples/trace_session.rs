//! Traces a recorded session of an editor and an agent, and prints its spans.
//!
//! ```text
//! cargo run -p semconv-map --example trace_session [TRANSCRIPT]
//! ```
#![expect(clippy::print_stdout, reason = "an example prints its result")]

use semconv_map::jsonrpc_core::transcript;
use semconv_map::span::{Parent, SpanHandle, Status};
use semconv_map::{ClosedBy, Policy, Record, Tracker};
use std::collections::BTreeMap;
use std::error::Error;
use std::time::Duration;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let recording = match env::args_os().nth(1) {
        Some(path) => fs::read_to_string(path)?,
        None => include_str!("opencode-edit.jsonl").to_owned(),
    };

    let mut tracker = Tracker::new(Policy::default());
    let mut depths = BTreeMap::new();
    let mut now = Duration::ZERO;
    for entry in transcript::read(&recording) {
        let entry = entry?;
        now = entry.time;
        tracker.handle_line(entry.direction, now, &entry.bytes);
        print_records(&mut tracker, &mut depths);
    }
    // Ends the spans that are still open.
    tracker.close(now, ClosedBy::Client);
    print_records(&mut tracker, &mut depths);
    Ok(())
}

/// Prints the records that are available, indented by the depth of their span.
fn print_records(tracker: &mut Tracker, depths: &mut BTreeMap<SpanHandle, usize>) {
    while let Some(record) = tracker.poll() {
        match record {
            Record::Start(start) => {
                let depth = match &start.parent {
                    Parent::Span(parent) => depths.get(parent).map_or(0, |depth| depth + 1),
                    _ => 0,
                };
                depths.insert(start.span, depth);
                print_line(start.time, depth, &format!("{} ({:?})", start.name, start.kind));
            }
            Record::Event(event) => {
                let depth = depths.get(&event.span).map_or(0, |depth| depth + 1);
                print_line(event.time, depth, &format!("event {}", event.name));
            }
            Record::End(end) => {
                let depth = depths.remove(&end.span).unwrap_or(0);
                let status = match end.status {
                    Status::Error { .. } => "error",
                    _ => "ok",
                };
                print_line(end.time, depth, &format!("end: {status}"));
                for attribute in end.attributes {
                    println!("{:13}{} = {:?}", "", attribute.key, attribute.value);
                }
            }
            _ => {}
        }
    }
}

fn print_line(time: Duration, depth: usize, text: &str) {
    println!("{:9.3} s  {:indent$}{text}", time.as_secs_f64(), "", indent = depth * 2);
}
