//! Analysis of the messages on a dedicated thread.

use crate::export::{Exporter, ProxyTotals};
use crate::line_file::LineFile;
use crate::record::TranscriptRecorder;
use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use host::permissions::{Decision, RULE_ACTION, RULE_INDEX, Watcher};
use host::relay::{Chunk, Insert, Insertion, LineObserver, Reassembly, Tap, TapOutput, Treatment};
use jsonrpc_core::framing::{FrameError, Lines};
use jsonrpc_core::transcript::Direction;
use jsonrpc_core::{PeekedMessage, RequestId, peek};
use semconv_map::{Attribute, ClosedBy, Counters};
use std::io;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use traces::otlp::{ConnectionTracer, Exports, TraceOutput};

/// Maximum time to deliver the last spans, so that a session ends within a second.
const FLUSH: Duration = Duration::from_millis(700);

/// Handle of the analysis thread.
#[derive(Debug)]
pub(crate) struct Observer {
    tap: Arc<Tap>,
    /// Reason for the end of the session, once known.
    closed: Arc<OnceLock<ClosedBy>>,
    exports: Arc<Exports>,
    spans: Option<LineFile>,
    transcript: Option<LineFile>,
    /// Number of bytes received by the thread and not analyzed yet.
    in_hand: Arc<AtomicU64>,
    /// Receives a message when everything is analyzed, and closes when everything is sent.
    done: Receiver<Losses>,
}

/// Data that was not analyzed.
#[derive(Clone, Copy, Debug, Default)]
struct Losses {
    counters: Counters,
    /// Lines beyond the size limit.
    long_lines: u64,
}

/// Starts the analysis of the data in `tap`, until it is closed.
///
/// # Errors
/// Returns an error if no thread can be created.
pub(crate) fn start(tap: Arc<Tap>, watch: SharedWatch) -> io::Result<Observer> {
    let (finished, done) = channel();
    let observer = {
        let watch = watch.lock();
        Observer {
            tap: Arc::clone(&tap),
            closed: Arc::default(),
            exports: Arc::clone(&watch.exporter.to_collectors),
            spans: watch.exporter.file().cloned(),
            transcript: watch.outputs.recording.as_ref().map(|recording| recording.file().clone()),
            in_hand: Arc::default(),
            done,
        }
    };
    let in_hand = Arc::clone(&observer.in_hand);
    let closed = Arc::clone(&observer.closed);
    thread::Builder::new().name("observer".to_owned()).spawn(move || {
        while let TapOutput::Chunks(chunks) = tap.take() {
            in_hand.store(chunks.bytes() as u64, Ordering::Relaxed);
            let mut watch = watch.lock();
            for chunk in chunks.iter() {
                watch.handle_chunk(&chunk);
                in_hand.fetch_sub(chunk.bytes.len() as u64, Ordering::Relaxed);
            }
            watch.update_metrics(tap.dropped().bytes);
            tap.give_back(chunks);
        }
        let mut watch = watch.lock();
        // The side is set before the tap is closed.
        let by = closed.get().copied().unwrap_or(ClosedBy::Observer);
        let losses = watch.close(by);
        watch.update_metrics(tap.dropped().bytes);
        // The receiver is dropped only after its timeout.
        let _ = finished.send(losses);
        watch.exporter.to_collectors.shutdown(FLUSH);
    })?;
    Ok(observer)
}

impl Observer {
    /// Waits for at most [`FLUSH`] until the remaining data is analyzed and its spans are sent.
    /// Reports losses on standard error.
    pub(crate) fn finish(&self, by: ClosedBy) {
        let deadline = Instant::now() + FLUSH;
        self.closed.get_or_init(|| by);
        self.tap.close();
        let losses = self.done.recv_timeout(FLUSH);
        if losses.is_ok() {
            // The channel closes when everything is sent.
            let _ = self.done.recv_timeout(deadline.saturating_duration_since(Instant::now()));
        } else {
            let left = self.in_hand.load(Ordering::Relaxed) + self.tap.waiting_bytes();
            eprintln!("acp-traces: the last {left} bytes were not analyzed in time");
        }
        let Losses { counters, long_lines } = losses.unwrap_or_default();
        let dropped = self.tap.dropped();
        if dropped.chunks > 0 {
            let missing = if self.transcript.is_some() { "messages and spans" } else { "spans" };
            eprintln!(
                "acp-traces: {} bytes in {} chunks arrived too fast to be analyzed: {missing} are missing",
                dropped.bytes, dropped.chunks
            );
        }
        if long_lines > 0 {
            let limit = Lines::DEFAULT_LIMIT;
            eprintln!("acp-traces: {long_lines} messages over {limit} bytes were not analyzed");
        }
        let files = [(&self.spans, "spans"), (&self.transcript, "messages")];
        let unwritten = files.map(|(file, what)| file.as_ref()?.finish(what, deadline));
        let unwritten = unwritten.into_iter().flatten();
        for complaint in missing(counters).chain(self.exports.complaints()).chain(unwritten) {
            eprintln!("acp-traces: {complaint}");
        }
    }
}

/// Describes what the spans lack: data beyond the limits of the tracker, of a protocol version that
/// it does not know, or in another form than its method has.
pub(crate) fn missing(counters: Counters) -> impl Iterator<Item = String> {
    let rows = [
        (counters.dropped_spans, "spans exceeded the limit of open spans"),
        (counters.dropped_events, "events exceeded the limit per span"),
        (counters.dropped_metrics, "measurements exceeded the limit of queued records"),
        (
            counters.unknown_versions,
            "answers to `initialize` have an unknown version of ACP: spans may be missing",
        ),
        (
            counters.undecodable,
            "messages do not match their methods: spans or attributes may be missing",
        ),
    ];
    rows.into_iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}"))
}

/// The analysis, either on its own thread or, with context propagation, on the threads that relay
/// the messages.
#[derive(Clone, Debug)]
pub(crate) struct SharedWatch(Arc<Mutex<Watch>>);

impl SharedWatch {
    pub(crate) fn new(
        exporter: Exporter,
        tracing: ConnectionTracer,
        recording: Option<TranscriptRecorder>,
    ) -> Self {
        Self(Arc::new(Mutex::new(Watch::new(exporter, tracing, recording))))
    }

    fn lock(&self) -> MutexGuard<'_, Watch> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The analysis of lines before they are forwarded.
#[derive(Debug)]
pub(crate) struct Interception {
    pub(crate) watch: SharedWatch,
    /// Whether the context of its span is injected into each request.
    pub(crate) injects: bool,
    /// Rules that answer permission requests.
    pub(crate) rules: Mutex<Watcher>,
}

/// The decision of a rule on a request of the agent.
struct DecidedRequest {
    id: RequestId,
    decision: Decision,
    /// The response, unless the user decides.
    response: Option<String>,
}

impl Insert for Interception {
    /// Rules, spans, the transcript and the injection share one peek at the line.
    fn treat(&self, direction: Direction, at: Instant, line: &[u8]) -> Treatment {
        let mut rules = self.rules();
        let mut watch = self.watch.lock();
        let time = watch.time(at);
        if rules.is_idle() && watch.outputs.is_quiet(direction, line) {
            watch.handle_line(direction, time, line, None);
            return Treatment::Forward;
        }
        let message = peek(line).ok();
        let request = match &message {
            Some(message) => decide(&mut rules, direction, message),
            None => {
                rules.handle_lost_line();
                None
            }
        };
        drop(rules);
        watch.handle_line(direction, time, line, message.as_ref());
        if let Some(request) = request {
            watch.annotate(&request);
            if let Some(response) = request.response {
                watch.handle_line(direction.reversed(), time, response.as_bytes(), None);
                return Treatment::Answer(response);
            }
        }
        if !self.injects || watch.is_closed {
            return Treatment::Forward;
        }
        let Some(injected) =
            message.and_then(|message| watch.outputs.tracing.inject(direction, &message))
        else {
            return Treatment::Forward;
        };
        watch.update_metrics(0);
        let at = injected.before.len()..line.len() - injected.after.len();
        Treatment::Insert(Insertion { at, text: injected.inserted })
    }

    fn too_long(&self) {
        self.rules().handle_lost_line();
        self.watch.lock().outputs.long_lines += 1;
    }
}

impl Interception {
    fn rules(&self) -> MutexGuard<'_, Watcher> {
        self.rules.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Applies the rules to a message. Returns their decision, if it is a request that they decide.
fn decide(
    rules: &mut Watcher,
    direction: Direction,
    message: &PeekedMessage<'_>,
) -> Option<DecidedRequest> {
    let decision = rules.handle_line(direction, message)?;
    eprintln!("acp-traces: {decision}");
    let response = decision.response(message.id()?);
    Some(DecidedRequest { id: message.request_id()?, decision, response })
}

/// Converts lines into spans.
#[derive(Debug)]
struct Watch {
    to_agent: Reassembly,
    to_editor: Reassembly,
    outputs: Outputs,
    exporter: Exporter,
    /// Whether the analysis has ended.
    is_closed: bool,
    /// The same instant on the clock of the chunks and on the clock of the spans.
    start: (Instant, Duration),
}

/// The destinations of a line.
#[derive(Debug)]
struct Outputs {
    messages: u64,
    long_lines: u64,
    recording: Option<TranscriptRecorder>,
    tracing: ConnectionTracer,
}

impl Outputs {
    /// Handles a line that has not been peeked. Most spans need only its first members.
    fn handle_line(&mut self, direction: Direction, time: Duration, line: &[u8]) {
        let needs_parts = self.recording.as_ref().is_some_and(TranscriptRecorder::needs_session);
        let message = needs_parts.then(|| peek(line).ok()).flatten();
        self.handle_message(direction, time, line, message.as_ref());
    }

    /// Handles a line. `message` is the line, peeked, unless it is not a message.
    fn handle_message(
        &mut self,
        direction: Direction,
        time: Duration,
        line: &[u8],
        message: Option<&PeekedMessage<'_>>,
    ) {
        self.messages += 1;
        match message {
            Some(message) => self.tracing.handle_peeked(direction, time, message),
            None => self.tracing.handle_line(direction, time, line),
        }
        if let Some(recording) = &mut self.recording {
            recording.record(direction, time, line, message);
        }
    }

    /// Returns whether no destination needs the parts of a line.
    fn is_quiet(&self, direction: Direction, line: &[u8]) -> bool {
        direction == Direction::Received
            && self.tracing.is_quiet(line)
            && !self.recording.as_ref().is_some_and(TranscriptRecorder::needs_session)
    }
}

/// The lines of a chunk.
struct ChunkLines<'a> {
    outputs: &'a mut Outputs,
    direction: Direction,
    time: Duration,
}

impl LineObserver for ChunkLines<'_> {
    /// A line beyond the size limit was passed through unchanged.
    fn line(&mut self, line: Result<&[u8], FrameError>) {
        match line {
            Ok(line) => self.outputs.handle_line(self.direction, self.time, line),
            Err(_) => self.outputs.long_lines += 1,
        }
    }

    /// Recorded messages have to be complete.
    fn decisive_prefix(&self, start: &[u8]) -> Option<usize> {
        let is_recorded = self.outputs.recording.is_some();
        if is_recorded { None } else { self.outputs.tracing.decisive_prefix(start) }
    }
}

impl Watch {
    fn new(
        exporter: Exporter,
        tracing: ConnectionTracer,
        recording: Option<TranscriptRecorder>,
    ) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self {
            to_agent: Reassembly::default(),
            to_editor: Reassembly::default(),
            outputs: Outputs { messages: 0, long_lines: 0, recording, tracing },
            exporter,
            is_closed: false,
            start: (Instant::now(), now),
        }
    }

    fn handle_chunk(&mut self, chunk: &Chunk<'_>) {
        let time = self.time(chunk.at);
        let direction = chunk.direction;
        let (lines, outputs) = self.parts(direction);
        lines.push(chunk, ChunkLines { outputs, direction, time });
        self.export();
    }

    /// Handles a line before it is forwarded; see [`Outputs::handle_message`].
    fn handle_line(
        &mut self,
        direction: Direction,
        time: Duration,
        line: &[u8],
        message: Option<&PeekedMessage<'_>>,
    ) {
        if !self.is_closed {
            self.outputs.handle_message(direction, time, line, message);
            self.export();
        }
    }

    fn close(&mut self, by: ClosedBy) -> Losses {
        let now = self.time(Instant::now());
        for direction in [Direction::Sent, Direction::Received] {
            let (lines, outputs) = self.parts(direction);
            lines.finish(ChunkLines { outputs, direction, time: now });
        }
        self.outputs.tracing.close(now, by);
        self.export();
        self.is_closed = true;
        Losses { counters: self.outputs.tracing.counters(), long_lines: self.outputs.long_lines }
    }

    /// Records the decision of a rule on the span of its request.
    fn annotate(&mut self, request: &DecidedRequest) {
        let rule = i64::try_from(request.decision.rule()).unwrap_or(i64::MAX);
        let action = request.decision.action().as_str();
        for attribute in [Attribute::new(RULE_INDEX, rule), Attribute::new(RULE_ACTION, action)] {
            self.outputs.tracing.annotate(Direction::Received, &request.id, attribute);
        }
    }

    /// Updates the metrics of the proxy. `unread_bytes` were dropped before they arrived here.
    fn update_metrics(&mut self, unread_bytes: u64) {
        let Some(own) = &mut self.exporter.own else { return };
        let counters = self.outputs.tracing.counters();
        let (spans, delivered_spans) = self.exporter.to_collectors.span_counts();
        own.add(ProxyTotals {
            messages: self.outputs.messages,
            unread_bytes,
            long_messages: self.outputs.long_lines,
            invalid_lines: counters.invalid_lines,
            undecodable: counters.undecodable,
            unmatched_responses: counters.unmatched_responses,
            dropped_records: counters.dropped_spans
                + counters.dropped_events
                + counters.dropped_metrics,
            spans,
            delivered_spans,
        });
    }

    fn parts(&mut self, direction: Direction) -> (&mut Reassembly, &mut Outputs) {
        let lines = match direction {
            Direction::Sent => &mut self.to_agent,
            Direction::Received => &mut self.to_editor,
        };
        (lines, &mut self.outputs)
    }

    fn export(&mut self) {
        while let Some(made) = self.outputs.tracing.poll() {
            match made {
                TraceOutput::Started(_) => {}
                TraceOutput::Span(span) => self.exporter.export(span),
                TraceOutput::Log(event) => self.exporter.to_collectors.log(event),
                TraceOutput::Measurement(measured) => {
                    let span = self.outputs.tracing.measured_on(&measured);
                    let span = span.filter(|_| self.exporter.has_destination());
                    self.exporter.to_collectors.measure(measured, span);
                }
            }
        }
    }

    fn time(&self, at: Instant) -> Duration {
        self.start.1 + at.saturating_duration_since(self.start.0)
    }
}
