//! A tracing proxy between an editor and its ACP agent, which records OpenTelemetry spans.
//!
//! ```console
//! $ cargo run -p mini --bin mini-proxy -- --file spans.jsonl -- claude-code-acp
//! ```
//!
//! The bytes of both directions pass unchanged. [`forward`] puts a copy into a queue before it
//! writes them, and never waits for that queue. [`observe`] splits the copies into lines for a
//! [`Tracker`], and a [`SpanAssembly`] makes spans of its records. [`export`] sends the finished
//! spans, on a thread of its own. Each arrow is a bounded queue; what does not fit is left out and counted:
//!
//! ```text
//! editor ⇄ forward ⇄ agent
//!             └→ observe (Tracker, SpanAssembly) ─→ export (stderr, file or collector)
//! ```
use clap::Parser;
use jsonrpc_core::framing::Lines;
use semconv_map::assembly::{Span, SpanAssembly};
use semconv_map::attribute::{Attribute, AttributeValue};
use semconv_map::span::{SpanKind, Status};
use semconv_map::trace_context::TraceContext;
use semconv_map::{ClosedBy, Direction, Policy, SCHEMA_URL, Tracker};
use serde::Serialize;
use serde_json::{Value, json};
use std::error::Error;
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::process::Command;
use tokio::runtime::Handle;
use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio::time::timeout;

/// Largest number of bytes that are forwarded at once.
const MAX_READ: usize = 64 * 1024;
/// Largest number of pieces that wait for the tracker.
const MAX_PIECES: usize = 256;
/// Largest number of finished spans that wait for the exporter.
const MAX_SPANS: usize = 4096;
/// Largest number of spans in one document.
const MAX_BATCH: usize = 512;
/// Time for the agent to exit after its input has ended.
const EXIT_TIME: Duration = Duration::from_secs(5);
/// Time for the last bytes and spans after the agent has exited.
const DRAIN_TIME: Duration = Duration::from_secs(2);
/// Time for a response of the collector.
const EXPORT_TIME: Duration = Duration::from_secs(10);

/// Runs an ACP agent, forwards its standard input and output, and records the session as
/// OpenTelemetry spans
///
/// Without a destination, spans are written to standard error, as lines of OTLP/JSON. Texts of
/// users and models are not recorded. The exit status is that of the agent.
#[derive(Debug, Parser)]
#[command(name = "mini-proxy", version)]
struct Args {
    /// Appends the spans to a file, as lines of OTLP/JSON
    #[arg(long, value_name = "PATH", conflicts_with = "otlp")]
    file: Option<PathBuf>,
    /// Sends the spans to a collector over HTTP, such as http://127.0.0.1:4318
    #[arg(long, value_name = "URL")]
    otlp: Option<String>,
    /// The command of the agent
    #[arg(required = true, trailing_var_arg = true, value_name = "AGENT")]
    agent: Vec<OsString>,
}

#[tokio::main]
async fn main() {
    let code = match run(Args::parse()).await {
        Ok(status) => exit_code(status),
        Err(error) => {
            let _ = writeln!(io::stderr(), "mini-proxy: {error}");
            1
        }
    };
    // A read from standard input cannot be cancelled, so the runtime would wait for the editor.
    std::process::exit(code);
}

/// Runs the agent until either side ends, and returns its exit status.
async fn run(args: Args) -> io::Result<ExitStatus> {
    let destination = Destination::open(&args)?;
    let Some((program, arguments)) = args.agent.split_first() else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let mut agent = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| io::Error::other(format!("{}: {error}", program.display())))?;
    let (Some(agent_input), Some(agent_output)) = (agent.stdin.take(), agent.stdout.take()) else {
        return Err(io::ErrorKind::BrokenPipe.into());
    };

    let losses = Arc::new(Losses::default());
    let (pieces, observed) = mpsc::channel(MAX_PIECES);
    let (finished, spans) = mpsc::channel(MAX_SPANS);
    tokio::spawn(observe(observed, finished, losses.clone()));
    let tap = Tap { pieces, losses: losses.clone() };
    let input = forward(tokio::io::stdin(), agent_input, Direction::Sent, tap.clone());
    let output = forward(agent_output, tokio::io::stdout(), Direction::Received, tap);
    let mut input = tokio::spawn(input);
    let mut output = tokio::spawn(output);
    let runtime = Handle::current();
    let exporter = tokio::task::spawn_blocking(move || {
        export(spans, destination, &losses, &runtime);
    });

    tokio::select! {
        _ = agent.wait() => {}
        _ = &mut input => {}
        _ = &mut output => {}
        () = interrupted() => {}
    }
    // This drops the agent's input, which tells the agent to exit.
    input.abort();
    let status = match timeout(EXIT_TIME, agent.wait()).await {
        Ok(status) => status?,
        Err(_) => {
            agent.start_kill()?;
            agent.wait().await?
        }
    };
    // A process that the agent has left behind may keep its output open.
    if !output.is_finished() && timeout(DRAIN_TIME, &mut output).await.is_err() {
        output.abort();
    }
    // The queues close one after the other, so the exporter ends last. A collector may not respond.
    if timeout(DRAIN_TIME, exporter).await.is_err() && args.otlp.is_some() {
        let _ =
            writeln!(io::stderr(), "mini-proxy: the collector has not received all spans in time");
    }
    Ok(status)
}

/// Waits for SIGINT or SIGTERM.
async fn interrupted() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminated) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminated.recv() => {}
            }
            return;
        }
    }
    let _ = tokio::signal::ctrl_c().await;
}

/// Returns the status as a shell reports it: 128 and the number of the signal that has ended the
/// agent.
fn exit_code(status: ExitStatus) -> i32 {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return 128 + signal;
    }
    status.code().unwrap_or(1)
}

/// Bytes of one direction. An empty piece is the end of that direction.
struct Piece {
    direction: Direction,
    /// Time of the read, since the Unix epoch.
    time: Duration,
    bytes: Vec<u8>,
}

/// Numbers of bytes and spans that were left out.
#[derive(Default)]
struct Losses {
    bytes: AtomicUsize,
    spans: AtomicUsize,
}

/// Passes copies of the bytes to [`observe`].
#[derive(Clone)]
struct Tap {
    pieces: Sender<Piece>,
    losses: Arc<Losses>,
}

impl Tap {
    /// Queues a copy, and returns whether there was room for it.
    fn offer(&self, direction: Direction, bytes: Vec<u8>) -> bool {
        let length = bytes.len();
        let is_queued = self.pieces.try_send(Piece { direction, time: now(), bytes }).is_ok();
        if !is_queued {
            self.losses.bytes.fetch_add(length, Ordering::Relaxed);
        }
        is_queued
    }
}

/// Copies one direction until it ends.
///
/// A piece is queued before it is written: the agent's response to a request cannot be observed
/// before the request.
async fn forward(
    mut reader: impl AsyncRead + Unpin,
    mut writer: impl AsyncWrite + Unpin,
    direction: Direction,
    tap: Tap,
) -> io::Result<()> {
    let mut buffer = vec![0; MAX_READ];
    let mut has_gap = false;
    loop {
        let length = reader.read(&mut buffer).await?;
        let bytes = buffer.get(..length).unwrap_or_default();
        // After a gap, a line end separates the two incomplete lines.
        let gap: &[u8] = if has_gap { b"\n" } else { b"" };
        has_gap = !tap.offer(direction, [gap, bytes].concat());
        if bytes.is_empty() {
            return Ok(());
        }
        writer.write_all(bytes).await?;
        writer.flush().await?;
    }
}

/// Tracks the session until both directions have ended, and queues finished spans.
async fn observe(mut pieces: Receiver<Piece>, finished: Sender<OtlpSpan>, losses: Arc<Losses>) {
    let mut tracker = Tracker::new(Policy::default());
    let mut assembly = SpanAssembly::default();
    let mut sent = Lines::default();
    let mut received = Lines::default();
    let mut closed_by = None;
    while let Some(piece) = pieces.recv().await {
        let (lines, side) = match piece.direction {
            Direction::Sent => (&mut sent, ClosedBy::Client),
            Direction::Received => (&mut received, ClosedBy::Agent),
        };
        lines.push(&piece.bytes);
        if piece.bytes.is_empty() {
            lines.finish();
            closed_by.get_or_insert(side);
        }
        while let Some(line) = lines.next_bytes() {
            // A line that is too long or no text has no effect on the spans.
            let Ok(line) = line else { continue };
            tracker.handle_line(piece.direction, piece.time, line);
            drain(&mut tracker, &mut assembly, &finished, &losses);
        }
    }
    // Ends the open spans.
    tracker.close(now(), closed_by.unwrap_or(ClosedBy::Observer));
    drain(&mut tracker, &mut assembly, &finished, &losses);
}

/// A span as OTLP/JSON writes it: names in camel case, identifiers in hexadecimal, times as strings
/// of nanoseconds.
///
/// Spec: [JSON Protobuf Encoding](https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding)
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct OtlpSpan {
    trace_id: String,
    span_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_span_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace_state: Option<String>,
    name: String,
    kind: u8,
    start_time_unix_nano: String,
    end_time_unix_nano: String,
    attributes: Vec<Value>,
    events: Vec<Value>,
    dropped_events_count: u32,
    links: Vec<Value>,
    status: Value,
}

impl From<Span> for OtlpSpan {
    fn from(span: Span) -> Self {
        let Span { context, parent, name, kind, start, end, events, links, status, .. } = span;
        let events = events.iter().map(|event| {
            json!({
                "timeUnixNano": nanoseconds(event.time),
                "name": event.name,
                "attributes": attributes(&event.attributes),
            })
        });
        let links = links.iter().map(|link| {
            json!({
                "traceId": hexadecimal(&link.context.trace_id),
                "spanId": hexadecimal(&link.context.span_id),
                "attributes": attributes(&link.attributes),
            })
        });
        Self {
            trace_id: hexadecimal(&context.trace_id),
            span_id: hexadecimal(&context.span_id),
            parent_span_id: parent.map(|parent| hexadecimal(&parent.span_id)),
            trace_state: context.tracestate,
            name: name.into_owned(),
            kind: match kind {
                SpanKind::Server => 2,
                SpanKind::Client => 3,
                _ => 1,
            },
            start_time_unix_nano: nanoseconds(start),
            end_time_unix_nano: nanoseconds(end),
            attributes: attributes(&span.attributes),
            events: events.collect(),
            dropped_events_count: span.dropped_events,
            links: links.collect(),
            status: match status {
                Status::Error { description } => {
                    json!({ "code": 2, "message": description.unwrap_or_default() })
                }
                _ => json!({}),
            },
        }
    }
}

/// Queues the spans that the tracker's records have ended.
fn drain(
    tracker: &mut Tracker,
    assembly: &mut SpanAssembly,
    finished: &Sender<OtlpSpan>,
    losses: &Losses,
) {
    while let Some(record) = tracker.poll() {
        let span = assembly
            .handle_record(record, |_, parent| TraceContext::of_span(parent, random(), random()));
        if let Some(span) = span
            && finished.try_send(span.into()).is_err()
        {
            losses.spans.fetch_add(1, Ordering::Relaxed);
        }
    }
}

fn attributes(attributes: &[Attribute]) -> Vec<Value> {
    let pairs = attributes.iter().map(|attribute| {
        let value = match &attribute.value {
            AttributeValue::String(text) => json!({ "stringValue": text }),
            AttributeValue::Bool(flag) => json!({ "boolValue": flag }),
            // OTLP/JSON has 64-bit integers as strings.
            AttributeValue::I64(number) => json!({ "intValue": number.to_string() }),
            AttributeValue::F64(number) => json!({ "doubleValue": number }),
            AttributeValue::StringArray(texts) => {
                let values = texts.iter().map(|text| json!({ "stringValue": text }));
                json!({ "arrayValue": { "values": values.collect::<Vec<_>>() } })
            }
            AttributeValue::Json(text) => json!({ "stringValue": text }),
            _ => json!({}),
        };
        json!({ "key": attribute.key, "value": value })
    });
    pairs.collect()
}

fn nanoseconds(time: Duration) -> String {
    time.as_nanos().to_string()
}

fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// Returns random bytes for an identifier.
fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    // Without random numbers, the identifier is invalid, and the collector refuses the span.
    let _ = getrandom::fill(&mut bytes);
    bytes
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Destination of the spans.
enum Destination {
    StandardError,
    File(File),
    Collector { client: reqwest::Client, url: String },
}

impl Destination {
    fn open(args: &Args) -> io::Result<Self> {
        if let Some(path) = &args.file {
            let file = OpenOptions::new().append(true).create(true).open(path);
            let file =
                file.map_err(|error| io::Error::other(format!("{}: {error}", path.display())))?;
            return Ok(Self::File(file));
        }
        let Some(url) = &args.otlp else { return Ok(Self::StandardError) };
        // The client needs a provider of cryptography for `https` URLs.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder().timeout(EXPORT_TIME).build();
        let client = client.map_err(io::Error::other)?;
        Ok(Self::Collector { client, url: format!("{}/v1/traces", url.trim_end_matches('/')) })
    }

    fn write(&mut self, document: &Value, runtime: &Handle) -> io::Result<()> {
        match self {
            // One write, so that lines of the agent are not in between.
            Self::StandardError => io::stderr().write_all(format!("{document}\n").as_bytes()),
            Self::File(file) => file.write_all(format!("{document}\n").as_bytes()),
            Self::Collector { client, url } => {
                let response = runtime.block_on(client.post(url.as_str()).json(document).send());
                let response = response.and_then(reqwest::Response::error_for_status);
                response.map(drop).map_err(|error| explain(&error))
            }
        }
    }
}

/// Returns an error with its causes. Alone, an error of the client says only that a request has
/// failed.
fn explain(error: &reqwest::Error) -> io::Error {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    io::Error::other(text)
}

/// Exports spans until their queue closes, and reports what was lost. It may block, so it has a
/// thread of its own.
fn export(
    mut spans: Receiver<OtlpSpan>,
    mut destination: Destination,
    losses: &Losses,
    runtime: &Handle,
) {
    let mut batch = Vec::new();
    let mut last_error = None;
    while spans.blocking_recv_many(&mut batch, MAX_BATCH) > 0 {
        let service = json!({ "key": "service.name", "value": { "stringValue": "mini-proxy" } });
        let document = json!({ "resourceSpans": [{
            "resource": { "attributes": [service] },
            "scopeSpans": [{
                "scope": { "name": "mini-proxy", "version": env!("CARGO_PKG_VERSION") },
                "schemaUrl": SCHEMA_URL,
                "spans": batch,
            }],
        }] });
        if let Err(error) = destination.write(&document, runtime) {
            losses.spans.fetch_add(batch.len(), Ordering::Relaxed);
            last_error = Some(error);
        }
        batch.clear();
    }
    let lost_bytes = losses.bytes.load(Ordering::Relaxed);
    if lost_bytes > 0 {
        let _ = writeln!(io::stderr(), "mini-proxy: {lost_bytes} bytes were not observed");
    }
    let lost_spans = losses.spans.load(Ordering::Relaxed);
    if lost_spans > 0 {
        let reason = last_error.map_or("the queue was full".to_owned(), |error| error.to_string());
        let _ = writeln!(io::stderr(), "mini-proxy: {lost_spans} spans are lost: {reason}");
    }
}
