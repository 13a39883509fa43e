//! Looking at what passed, on a thread of its own.

use crate::export::{Exporter, Measuring, Outcome, Seen};
use crate::line_file::LineFile;
use crate::record::{Recording, as_it_passed};
use acp_host::relay::{Chunk, Insert, Insertion, Look, Reassembly, Taken, Tap};
use acp_otlp::{Made, Tracing, complaint};
use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use jsonrpc_core::framing::{FrameError, Lines};
use jsonrpc_core::transcript::Direction;
use semconv_map::{CloseReason, Counters};
use std::io;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// How long the last spans may take to reach the collector: with everything else, less than a second.
const FLUSH: Duration = Duration::from_millis(700);

/// The thread that looks at what passes, seen from the session.
#[derive(Debug)]
pub(crate) struct Observer {
    tap: Arc<Tap>,
    /// Why the session ended, once it has.
    closed: Arc<OnceLock<CloseReason>>,
    spans: Outcome,
    metrics_error: Option<Arc<Mutex<Option<String>>>>,
    transcript: Option<LineFile>,
    /// How many bytes were taken to be looked at, and are still to be.
    in_hand: Arc<AtomicU64>,
    /// Comes when everything was looked at, and then closes when everything was sent.
    done: Receiver<Overlooked>,
}

/// What the observer could not look at.
#[derive(Clone, Copy, Debug, Default)]
struct Overlooked {
    counters: Counters,
    /// Lines that were too long.
    long_lines: u64,
}

/// Starts to look at what comes to `tap`, until that is closed.
///
/// # Errors
/// There is no thread to be had.
pub(crate) fn start(tap: Arc<Tap>, watch: SharedWatch) -> io::Result<Observer> {
    let (finished, done) = channel();
    let observer = {
        let watch = watch.lock();
        Observer {
            tap: Arc::clone(&tap),
            closed: Arc::default(),
            spans: watch.exporter.outcome(),
            metrics_error: watch.metrics.as_ref().map(Measuring::error),
            transcript: watch.reading.recording.as_ref().map(|recording| recording.file().clone()),
            in_hand: Arc::default(),
            done,
        }
    };
    let (in_hand, closed) = (Arc::clone(&observer.in_hand), Arc::clone(&observer.closed));
    thread::Builder::new().name("observer".to_owned()).spawn(move || {
        while let Taken::Chunks(chunks) = tap.take() {
            in_hand.store(chunks.bytes() as u64, Ordering::Relaxed);
            let mut watch = watch.lock();
            for chunk in chunks.iter() {
                watch.look_at(&chunk);
                in_hand.fetch_sub(chunk.bytes.len() as u64, Ordering::Relaxed);
            }
            watch.tell_how_far(tap.dropped().bytes);
            tap.give_back(chunks);
        }
        let mut watch = watch.lock();
        // The tap is closed after the reason was set.
        let reason = closed.get().copied().unwrap_or(CloseReason::ObserverStopped);
        let overlooked = watch.close(reason);
        watch.tell_how_far(tap.dropped().bytes);
        // Nobody waits for it any more only when it took too long.
        let _ = finished.send(overlooked);
        watch.shutdown();
    })?;
    Ok(observer)
}

impl Observer {
    /// Lets the observer look at what is left and send its spans, for as long as [`FLUSH`]; then says on standard error
    /// what was lost, if anything.
    pub(crate) fn finish(&self, reason: CloseReason) {
        let deadline = Instant::now() + FLUSH;
        self.closed.get_or_init(|| reason);
        self.tap.close();
        let looked_at = self.done.recv_timeout(FLUSH);
        if looked_at.is_ok() {
            // It closes when everything was sent, so there is nothing to get.
            let _ = self.done.recv_timeout(deadline.saturating_duration_since(Instant::now()));
        } else {
            let left = self.in_hand.load(Ordering::Relaxed) + self.tap.waiting_bytes();
            eprintln!("acp-traces: the last {left} bytes were not looked at in time");
        }
        let Overlooked { counters, long_lines } = looked_at.unwrap_or_default();
        let dropped = self.tap.dropped();
        if dropped.chunks > 0 {
            let missing = if self.transcript.is_some() { "messages and spans" } else { "spans" };
            eprintln!(
                "acp-traces: {} bytes in {} chunks passed faster than they could be looked at: {missing} are missing",
                dropped.bytes, dropped.chunks
            );
        }
        if long_lines > 0 {
            let limit = Lines::DEFAULT_LIMIT;
            eprintln!("acp-traces: {long_lines} messages over {limit} bytes were not looked at");
        }
        let lost = self.spans.finish(deadline);
        let unmeasured = self.metrics_error.as_deref().and_then(complaint);
        let unwritten = self.transcript.as_ref().and_then(|it| it.finish("messages", deadline));
        for complaint in too_many(counters).chain(lost).chain(unmeasured).chain(unwritten) {
            eprintln!("acp-traces: {complaint}");
        }
    }
}

/// What did not fit into the bounds of the tracker, in words.
pub(crate) fn too_many(counters: Counters) -> impl Iterator<Item = String> {
    let rows = [
        (counters.dropped_spans, "spans were too many at a time"),
        (counters.dropped_events, "events were too many for their spans"),
        (counters.dropped_metrics, "values of metrics were too many at a time"),
    ];
    rows.into_iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}"))
}

/// What looks at what passes: on a thread of its own, or, where contexts are put into requests, on those that pass it on.
#[derive(Clone, Debug)]
pub(crate) struct SharedWatch(Arc<Mutex<Watch>>);

impl SharedWatch {
    pub(crate) fn new(
        exporter: Exporter,
        metrics: Option<Measuring>,
        tracing: Tracing,
        transcript: Option<LineFile>,
    ) -> Self {
        let watch = Watch::new(exporter, metrics, tracing, transcript.map(Recording::new));
        Self(Arc::new(Mutex::new(watch)))
    }

    fn lock(&self) -> MutexGuard<'_, Watch> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The context of its span, for each request.
impl Insert for SharedWatch {
    fn insert(&self, direction: Direction, at: Instant, line: &[u8]) -> Option<Insertion> {
        let mut watch = self.lock();
        if watch.is_closed {
            return None;
        }
        let time = watch.time(at);
        watch.reading.take(direction, time, line);
        watch.export();
        let injected = watch.reading.tracing.inject(as_it_passed(direction), line)?;
        watch.tell_how_far(0);
        let at = injected.before.len()..line.len() - injected.after.len();
        Some(Insertion { at, text: injected.inserted })
    }

    fn too_long(&self) {
        self.lock().reading.long_lines += 1;
    }
}

/// Lines in, spans out.
#[derive(Debug)]
struct Watch {
    to_agent: Reassembly,
    to_editor: Reassembly,
    reading: Reading,
    exporter: Exporter,
    metrics: Option<Measuring>,
    /// Nothing is looked at any more.
    is_closed: bool,
    /// A moment, on the clock that chunks are timed by and on the one that spans are timed by.
    start: (Instant, Duration),
}

/// What is made of a message.
#[derive(Debug)]
struct Reading {
    messages: u64,
    long_lines: u64,
    recording: Option<Recording>,
    tracing: Tracing,
}

impl Reading {
    fn take(&mut self, direction: Direction, time: Duration, line: &[u8]) {
        self.messages += 1;
        self.tracing.handle_line(as_it_passed(direction), time, line);
        if let Some(recording) = &mut self.recording {
            recording.record(direction, time, line);
        }
    }
}

/// A chunk of lines, as it is looked at.
struct Looking<'a> {
    reading: &'a mut Reading,
    direction: Direction,
    time: Duration,
}

impl Look for Looking<'_> {
    /// A line that is too long was passed on like any other.
    fn line(&mut self, line: Result<&[u8], FrameError>) {
        match line {
            Ok(line) => self.reading.take(self.direction, self.time, line),
            Err(_) => self.reading.long_lines += 1,
        }
    }

    /// Messages are recorded whole.
    fn enough(&self, start: &[u8]) -> Option<usize> {
        let is_recorded = self.reading.recording.is_some();
        if is_recorded { None } else { self.reading.tracing.enough(start) }
    }
}

impl Watch {
    fn new(
        exporter: Exporter,
        metrics: Option<Measuring>,
        tracing: Tracing,
        recording: Option<Recording>,
    ) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self {
            to_agent: Reassembly::default(),
            to_editor: Reassembly::default(),
            reading: Reading { messages: 0, long_lines: 0, recording, tracing },
            exporter,
            metrics,
            is_closed: false,
            start: (Instant::now(), now),
        }
    }

    fn look_at(&mut self, chunk: &Chunk<'_>) {
        let (time, direction) = (self.time(chunk.at), chunk.direction);
        let (lines, reading) = self.parts(direction);
        lines.push(chunk, Looking { reading, direction, time });
        self.export();
    }

    fn close(&mut self, reason: CloseReason) -> Overlooked {
        let now = self.time(Instant::now());
        for direction in [Direction::Sent, Direction::Received] {
            let (lines, reading) = self.parts(direction);
            lines.finish(Looking { reading, direction, time: now });
        }
        self.reading.tracing.close(now, reason);
        self.export();
        self.is_closed = true;
        Overlooked {
            counters: self.reading.tracing.counters(),
            long_lines: self.reading.long_lines,
        }
    }

    /// Sends what is left, spans and metrics at the same time.
    fn shutdown(&self) {
        thread::scope(|scope| {
            if let Some(metrics) = &self.metrics {
                scope.spawn(|| metrics.shutdown());
            }
            self.exporter.shutdown(FLUSH);
        });
    }

    /// Counts what was done so far among the metrics of the proxy; `unread_bytes` were dropped before they came here.
    fn tell_how_far(&mut self, unread_bytes: u64) {
        let Some(metrics) = &mut self.metrics else { return };
        let counters = self.reading.tracing.counters();
        let (spans, delivered_spans) = self.exporter.counts();
        metrics.see(Seen {
            messages: self.reading.messages,
            unread_bytes,
            long_messages: self.reading.long_lines,
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

    fn parts(&mut self, direction: Direction) -> (&mut Reassembly, &mut Reading) {
        let lines = match direction {
            Direction::Sent => &mut self.to_agent,
            Direction::Received => &mut self.to_editor,
        };
        (lines, &mut self.reading)
    }

    fn export(&mut self) {
        while let Some(made) = self.reading.tracing.poll() {
            match made {
                Made::Started(_) => {}
                Made::Span(span) if span.span_context.is_sampled() => self.exporter.export(span),
                Made::Span(_) => {}
                Made::Measurement(measured) => {
                    let span = self.reading.tracing.measured_on(&measured);
                    let span = span.filter(|_| self.exporter.has_destination());
                    if let Some(metrics) = &mut self.metrics {
                        metrics.record(measured, span);
                    }
                }
            }
        }
    }

    fn time(&self, at: Instant) -> Duration {
        self.start.1 + at.saturating_duration_since(self.start.0)
    }
}
