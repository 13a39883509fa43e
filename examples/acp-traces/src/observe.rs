//! Looking at what passed, on a thread of its own.

use crate::export::{self, Exporter, Metrics, Outcome, Seen};
use crate::ids::Ids;
use crate::line_file::LineFile;
use crate::record::{Recording, as_it_passed};
use crate::tracing::{Made, Tracing};
use acp_relay::{self as relay, Chunk, Reassembly, Taken, Tap};
use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use jsonrpc_core::framing::Lines;
use jsonrpc_core::transcript::Direction;
use opentelemetry_sdk::trace::RandomIdGenerator;
use semconv_map::{CloseReason, Counters, Policy};
use std::io;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// How long the last spans may take to reach the collector: with everything else, less than a second.
const FLUSH: Duration = Duration::from_millis(700);

/// The thread that looks at what passes, seen from the session.
#[derive(Debug)]
pub(crate) struct Observer {
    tap: Arc<Tap>,
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

/// Starts to look at what comes to `tap`, until that is closed, and writes it down in `transcript`.
///
/// # Errors
/// There is no thread to be had.
pub(crate) fn start(
    tap: Arc<Tap>,
    exporter: Exporter,
    metrics: Option<Metrics>,
    policy: Policy,
    transcript: Option<LineFile>,
) -> io::Result<Observer> {
    let (finished, done) = channel();
    let observer = Observer {
        tap: Arc::clone(&tap),
        spans: exporter.outcome(),
        metrics_error: metrics.as_ref().map(Metrics::error),
        transcript: transcript.clone(),
        in_hand: Arc::default(),
        done,
    };
    let in_hand = Arc::clone(&observer.in_hand);
    let mut watch = Watch::new(exporter, metrics, policy, transcript.map(Recording::new));
    thread::Builder::new().name("observer".to_owned()).spawn(move || {
        let reason = loop {
            let chunks = match tap.take() {
                Taken::Chunks(chunks) => chunks,
                Taken::End(reason) => break reason,
            };
            let taken = chunks.iter().map(|chunk| chunk.bytes.len() as u64).sum();
            in_hand.store(taken, Ordering::Relaxed);
            for chunk in &chunks {
                watch.look_at(chunk);
                in_hand.fetch_sub(chunk.bytes.len() as u64, Ordering::Relaxed);
            }
            watch.tell_how_far(tap.dropped().bytes);
        };
        let overlooked = watch.close(as_the_tracker_says(reason));
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
    pub(crate) fn finish(&self, reason: relay::CloseReason) {
        let deadline = Instant::now() + FLUSH;
        self.tap.close(reason);
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
        if counters.dropped_spans > 0 {
            eprintln!("acp-traces: {} spans were too many at a time", counters.dropped_spans);
        }
        let lost = self.spans.finish(deadline);
        let unmeasured = self.metrics_error.as_deref().and_then(export::complaint);
        let unwritten = self.transcript.as_ref().and_then(|it| it.finish("messages", deadline));
        for complaint in lost.chain(unmeasured).chain(unwritten) {
            eprintln!("acp-traces: {complaint}");
        }
    }
}

fn as_the_tracker_says(reason: relay::CloseReason) -> CloseReason {
    match reason {
        relay::CloseReason::ClientClosed => CloseReason::ClientClosed,
        relay::CloseReason::AgentExited => CloseReason::AgentExited,
    }
}

/// Chunks in, spans out.
#[derive(Debug)]
struct Watch {
    to_agent: Reassembly,
    to_editor: Reassembly,
    long_lines: u64,
    recording: Option<Recording>,
    tracing: Tracing,
    exporter: Exporter,
    metrics: Option<Metrics>,
    messages: u64,
    /// A moment, on the clock that chunks are timed by and on the one that spans are timed by.
    start: (Instant, Duration),
}

impl Watch {
    fn new(
        exporter: Exporter,
        metrics: Option<Metrics>,
        policy: Policy,
        recording: Option<Recording>,
    ) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self {
            to_agent: Reassembly::default(),
            to_editor: Reassembly::default(),
            long_lines: 0,
            recording,
            tracing: Tracing::new(policy, Ids::Random(RandomIdGenerator::default())),
            exporter,
            metrics,
            messages: 0,
            start: (Instant::now(), now),
        }
    }

    fn look_at(&mut self, chunk: &Chunk) {
        self.lines(chunk.direction).push(chunk);
        self.take_lines(chunk.direction, self.time(chunk.at));
        self.export();
    }

    fn close(&mut self, reason: CloseReason) -> Overlooked {
        let now = self.time(Instant::now());
        for direction in [Direction::Sent, Direction::Received] {
            self.lines(direction).lines.finish();
            self.take_lines(direction, now);
        }
        self.tracing.close(now, reason);
        self.export();
        Overlooked { counters: self.tracing.counters(), long_lines: self.long_lines }
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
        let counters = self.tracing.counters();
        let (spans, delivered_spans) = self.exporter.counts();
        metrics.see(Seen {
            messages: self.messages,
            unread_bytes,
            long_messages: self.long_lines,
            invalid_lines: counters.invalid_lines,
            dropped_records: counters.dropped_spans
                + counters.dropped_events
                + counters.dropped_metrics,
            spans,
            delivered_spans,
        });
    }

    fn lines(&mut self, direction: Direction) -> &mut Reassembly {
        match direction {
            Direction::Sent => &mut self.to_agent,
            Direction::Received => &mut self.to_editor,
        }
    }

    fn take_lines(&mut self, direction: Direction, time: Duration) {
        let lines = match direction {
            Direction::Sent => &mut self.to_agent.lines,
            Direction::Received => &mut self.to_editor.lines,
        };
        while let Some(line) = lines.next_bytes() {
            // A line that is too long was passed on like any other.
            let Ok(line) = line else {
                self.long_lines += 1;
                continue;
            };
            self.messages += 1;
            self.tracing.handle_line(as_it_passed(direction), time, line);
            if let Some(recording) = &mut self.recording {
                recording.record(direction, time, line);
            }
        }
    }

    fn export(&mut self) {
        while let Some(made) = self.tracing.poll() {
            match made {
                Made::Span(span) => self.exporter.export(*span),
                Made::Measurement(measured) => {
                    if let Some(metrics) = &mut self.metrics {
                        metrics.record(measured);
                    }
                }
            }
        }
    }

    fn time(&self, at: Instant) -> Duration {
        self.start.1 + at.saturating_duration_since(self.start.0)
    }
}
