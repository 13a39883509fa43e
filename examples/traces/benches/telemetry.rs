//! Cost of tracing messages: instructions (callgrind), allocations and spans.
//!
//! `cargo bench -p acp-traces` prints a table. It requires valgrind. The counts are deterministic.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark prints its results and stops on failure"
)]

use allocation_counter::measure;
use jsonrpc_core::peek;
use opentelemetry::trace::{Span, SpanKind, Tracer, TracerProvider};
use opentelemetry::{Context, KeyValue};
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{SdkTracerProvider, Span as SdkSpan, SpanData, SpanProcessor};
use semconv_map::{Direction, Policy};
use std::hint::black_box;
use std::process::Command;
use std::time::Duration;
use traces::otlp::{ConnectionTracer, Ids, Program, TraceOutput};

const PROGRAM: Program = Program {
    name: "acp-traces",
    version: env!("CARGO_PKG_VERSION"),
    warn: |wrong| eprintln!("{wrong}"),
};

/// Drops all spans.
#[derive(Debug)]
struct Nowhere;

impl SpanProcessor for Nowhere {
    fn on_start(&self, _: &mut SdkSpan, _: &Context) {}

    fn on_end(&self, span: SpanData) {
        black_box(span);
    }

    fn force_flush(&self) -> OTelSdkResult {
        Ok(())
    }

    fn shutdown_with_timeout(&self, _: Duration) -> OTelSdkResult {
        Ok(())
    }
}

const SESSION: &str = "sess_01JD8QZ5M3Y7C9V4K2N6T8R0XW";

fn update(update: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"{SESSION}","update":{update}}}}}"#
    )
}

fn chunk(kind: &str) -> String {
    update(&format!(
        r#"{{"sessionUpdate":"{kind}","content":{{"type":"text","text":"The parser now keeps the number"}}}}"#
    ))
}

fn prompt() -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{{"sessionId":"{SESSION}","prompt":[{{"type":"text","text":"Mend the parser"}}]}}}}"#
    )
}

/// 1,000 messages of a turn, starting with number `first`: of each 200, 190 are text, 6 start or
/// end tool calls, 4 are plans.
fn turn(first: usize) -> Vec<String> {
    let line = |at: usize| match at % 200 {
        20 | 80 | 140 => update(&format!(
            r#"{{"sessionUpdate":"tool_call","toolCallId":"call_{}","title":"Run cargo test","kind":"execute","status":"pending","rawInput":{{"command":["cargo","test"]}}}}"#,
            at / 60
        )),
        60 | 120 | 180 => update(&format!(
            r#"{{"sessionUpdate":"tool_call_update","toolCallId":"call_{}","status":"completed"}}"#,
            (at - 40) / 60
        )),
        50 | 100 | 150 | 199 => update(
            r#"{"sessionUpdate":"plan","entries":[{"content":"Read","priority":"high","status":"completed"}]}"#,
        ),
        at if at % 10 == 9 => chunk("agent_thought_chunk"),
        _ => chunk("agent_message_chunk"),
    };
    (first..first + 1000).map(line).collect()
}

const REQUEST: &str =
    r#"{"jsonrpc":"2.0","id":7,"method":"session/list","params":{"cwd":"/home/user/project"}}"#;
const ANSWER: &str = r#"{"jsonrpc":"2.0","id":7,"result":{"sessions":[]}}"#;
/// The same response in a form that is decoded completely.
const SPACED_ANSWER: &str = r#"{"jsonrpc": "2.0", "id": 7, "result": {"sessions": []}}"#;

fn tracing() -> ConnectionTracer {
    let mut policy = Policy::default();
    policy.network_transport = Some("pipe".into());
    ConnectionTracer::new(PROGRAM, policy, Ids::random())
}

const NOW: Duration = Duration::from_secs(1);

/// Traces a line. Returns the number of spans.
fn look(
    tracing: &mut ConnectionTracer,
    direction: Direction,
    line: &str,
    to: &impl SpanProcessor,
) -> usize {
    tracing.handle_line(direction, NOW, line.as_bytes());
    drain(tracing, to)
}

/// Hands over the ended spans. Returns their number.
fn drain(tracing: &mut ConnectionTracer, to: &impl SpanProcessor) -> usize {
    let mut spans = 0;
    while let Some(made) = tracing.poll() {
        if let TraceOutput::Span(span) = made {
            to.on_end(span);
            spans += 1;
        }
    }
    spans
}

/// Prepares a case by name. The returned function is measured.
fn prepared(name: &str) -> Box<dyn FnMut() -> usize> {
    let mut ours = tracing();
    match name {
        "request" | "request, answer with spaces" => {
            let answer = if name == "request" { ANSWER } else { SPACED_ANSWER };
            Box::new(move || {
                look(&mut ours, Direction::Sent, REQUEST, &Nowhere)
                    + look(&mut ours, Direction::Received, answer, &Nowhere)
            })
        }
        "request, peeked at" => Box::new(|| {
            let kinds = [REQUEST, ANSWER].map(|line| peek(line.as_bytes()).map(|it| it.kind()));
            usize::from(black_box(kinds).is_empty())
        }),
        "request, peeked before" => {
            let lines = [(Direction::Sent, REQUEST), (Direction::Received, ANSWER)];
            let lines = lines.map(|(direction, line)| (direction, peek(line.as_bytes()).unwrap()));
            Box::new(move || {
                let each = lines.iter().map(|(direction, line)| {
                    ours.handle_peeked(*direction, NOW, black_box(line));
                    drain(&mut ours, &Nowhere)
                });
                each.sum()
            })
        }
        "span of the SDK" => {
            let provider = SdkTracerProvider::builder().with_span_processor(Nowhere).build();
            let tracer = provider.tracer("acp-traces");
            Box::new(move || {
                let attributes = [
                    KeyValue::new("rpc.system.name", "jsonrpc"),
                    KeyValue::new("rpc.method", "session/list"),
                    KeyValue::new("jsonrpc.protocol.version", "2.0"),
                    KeyValue::new("acp.method.name", "session/list"),
                    KeyValue::new("jsonrpc.request.id", String::from(black_box("7"))),
                    KeyValue::new("acp.protocol.version", 1),
                    KeyValue::new("network.transport", "pipe"),
                    KeyValue::new("gen_ai.operation.name", "none"),
                ];
                let span = tracer.span_builder("session/list").with_kind(SpanKind::Client);
                tracer.build(span.with_attributes(attributes)).end();
                // Keeps the provider alive as long as its tracer.
                black_box(&provider);
                1
            })
        }
        "turn" | "turn, peeked at" => {
            look(&mut ours, Direction::Sent, &prompt(), &Nowhere);
            // The second run has different tool calls.
            let runs = [turn(0), turn(1000)];
            let is_ours = name == "turn";
            let mut next = 0;
            Box::new(move || {
                let lines = &runs[next % 2];
                next += 1;
                let each = lines.iter().map(|line| {
                    if is_ours {
                        look(&mut ours, Direction::Received, line, &Nowhere)
                    } else {
                        usize::from(black_box(peek(line.as_bytes())).is_err())
                    }
                });
                each.sum()
            })
        }
        "chunk" => {
            look(&mut ours, Direction::Sent, &prompt(), &Nowhere);
            let line = chunk("agent_message_chunk");
            Box::new(move || look(&mut ours, Direction::Received, &line, &Nowhere))
        }
        _ => unreachable!("unknown case {name}"),
    }
}

/// The function that callgrind measures.
#[inline(never)]
fn measured(run: &mut dyn FnMut() -> usize) -> usize {
    black_box(run())
}

/// Returns the instructions, allocations and spans of the second run.
fn cost(name: &str) -> (u64, u64, usize) {
    let us = std::env::current_exe().unwrap();
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--collect-atstart=no"]);
    let output =
        valgrind.arg("--toggle-collect=*measured*").arg(us).args(["--once", name]).output();
    let output = output.expect("valgrind");
    let said = String::from_utf8_lossy(&output.stderr);
    let count = said.lines().find_map(|line| line.split_once("Collected : ")).expect("a count");
    let mut run = prepared(name);
    run();
    let mut spans = 0;
    let info = measure(|| spans = measured(&mut run));
    (count.1.trim().parse().expect("a count"), info.count_total, spans)
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(at) = arguments.iter().position(|it| it == "--once") {
        let mut run = prepared(&arguments[at + 1]);
        run();
        measured(&mut run);
        return;
    }
    println!("| | instructions | allocations | spans |\n|---|---|---|---|");
    let names = [
        "span of the SDK",
        "request",
        "request, answer with spaces",
        "request, peeked at",
        "request, peeked before",
        "chunk",
        "turn",
        "turn, peeked at",
    ];
    let [sdk, request, _, peeked, _, chunk, turn, turn_peeked] = names.map(|name| {
        let cost = cost(name);
        println!("| {name} | {} | {} | {} |", cost.0, cost.1, cost.2);
        cost
    });
    println!("\n| | measured | must | target |\n|---|---|---|---|");
    println!("| O1 spans a message of a turn | {:.4} | ≤ 0.05 | ≤ 0.05 |", turn.2 as f64 / 1000.0);
    println!("| O1 allocations a chunk | {} | 0 | 0 |", chunk.1);
    let over = |one: u64, other: u64| one as f64 / other as f64;
    println!(
        "| O3 request, over a peek at both lines and a span of the SDK | {:.2} | ≤ 1.3 | ≤ 1.15 |",
        over(request.0, peeked.0 + sdk.0)
    );
    println!("| O3 allocations more | {} | ≤ 1 | ≤ 1 |", request.1 as i64 - sdk.1 as i64);
    println!(
        "| O4 a turn, over a peek at it | {:.2} | ≤ 1.2 | ≤ 1.05 |",
        over(turn.0, turn_peeked.0)
    );
}
