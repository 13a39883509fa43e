//! Looking at what passed, on a thread of its own.

use crate::export::{Exporter, Outcome};
use crate::ids::Ids;
use crate::line_file::LineFile;
use crate::record::{Recording, as_it_passed};
use crate::tracing::Tracing;
use acp_relay::{self as relay, Chunk, Reassembly, Taken, Tap};
use core::time::Duration;
use jsonrpc_core::framing::Lines;
use jsonrpc_core::transcript::Direction;
use opentelemetry_sdk::trace::RandomIdGenerator;
use semconv_map::{CloseReason, Counters, Policy};
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// How long the last spans may take to reach the collector: with everything else, less than a second.
const FLUSH: Duration = Duration::from_millis(700);

/// The thread that looks at what passes, seen from the session.
#[derive(Debug)]
pub(crate) struct Observer {
    tap: Arc<Tap>,
    spans: Outcome,
    transcript: Option<LineFile>,
    /// Comes when it is done.
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
    policy: Policy,
    transcript: Option<LineFile>,
) -> io::Result<Observer> {
    let (finished, done) = channel();
    let (spans, recording) = (exporter.outcome(), transcript.clone().map(Recording::new));
    let observer = Observer { tap: Arc::clone(&tap), spans, transcript, done };
    let mut watch = Watch::new(exporter, policy, recording);
    thread::Builder::new().name("observer".to_owned()).spawn(move || {
        let reason = loop {
            match tap.take() {
                Taken::Chunks(chunks) => chunks.iter().for_each(|chunk| watch.look_at(chunk)),
                Taken::End(reason) => break reason,
            }
        };
        // Nobody waits for it any more only when it took too long.
        let _ = finished.send(watch.close(as_the_tracker_says(reason)));
    })?;
    Ok(observer)
}

impl Observer {
    /// Lets the observer look at what is left and send its spans, for as long as [`FLUSH`]; then says on standard error
    /// what was lost, if anything.
    pub(crate) fn finish(&self, reason: relay::CloseReason) {
        let deadline = Instant::now() + FLUSH;
        self.tap.close(reason);
        let Overlooked { counters, long_lines } = self.done.recv_timeout(FLUSH).unwrap_or_default();
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
        let unwritten = self.transcript.as_ref().and_then(|it| it.finish("messages", deadline));
        for complaint in lost.chain(unwritten) {
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
    /// A moment, on the clock that chunks are timed by and on the one that spans are timed by.
    start: (Instant, Duration),
}

impl Watch {
    fn new(exporter: Exporter, policy: Policy, recording: Option<Recording>) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self {
            to_agent: Reassembly::default(),
            to_editor: Reassembly::default(),
            long_lines: 0,
            recording,
            tracing: Tracing::new(policy, Ids::Random(RandomIdGenerator::default())),
            exporter,
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
        self.exporter.shutdown(FLUSH);
        Overlooked { counters: self.tracing.counters(), long_lines: self.long_lines }
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
            self.tracing.handle_line(as_it_passed(direction), time, line);
            if let Some(recording) = &mut self.recording {
                recording.record(direction, time, line);
            }
        }
    }

    fn export(&mut self) {
        while let Some(span) = self.tracing.poll() {
            self.exporter.export(span);
        }
    }

    fn time(&self, at: Instant) -> Duration {
        self.start.1 + at.saturating_duration_since(self.start.0)
    }
}
