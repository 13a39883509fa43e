//! Looking at what passed, on a thread of its own.

use crate::export::{Exporter, Tally};
use crate::spans::Spans;
use crate::tap::{Chunk, Taken, Tap};
use core::time::Duration;
use jsonrpc_core::framing::Lines;
use semconv_map::{CloseReason, Counters, Direction, Policy, Tracker};
use std::borrow::Cow;
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
    tally: Arc<Tally>,
    /// Comes when it is done.
    done: Receiver<Counters>,
}

/// Starts to look at what comes to `tap`, until that is closed.
///
/// # Errors
/// There is no thread to be had.
pub(crate) fn start(
    tap: Arc<Tap>,
    exporter: Exporter,
    record_content: bool,
) -> io::Result<Observer> {
    let (finished, done) = channel();
    let observer = Observer { tap: Arc::clone(&tap), tally: exporter.tally(), done };
    let mut watch = Watch::new(exporter, record_content);
    thread::Builder::new().name("observer".to_owned()).spawn(move || {
        let reason = loop {
            match tap.take() {
                Taken::Chunks(chunks) => chunks.iter().for_each(|chunk| watch.look_at(chunk)),
                Taken::End(reason) => break reason,
            }
        };
        // Nobody waits for it any more only when it took too long.
        let _ = finished.send(watch.close(reason));
    })?;
    Ok(observer)
}

impl Observer {
    /// Lets the observer look at what is left and send its spans, for as long as [`FLUSH`]; then says on standard error
    /// what was lost, if anything.
    pub(crate) fn finish(&self, reason: CloseReason) {
        self.tap.close(reason);
        let counters = self.done.recv_timeout(FLUSH).unwrap_or_default();
        let dropped = self.tap.dropped();
        if dropped.chunks > 0 {
            eprintln!(
                "acp-traces: {} bytes in {} chunks passed faster than they could be looked at: spans are missing",
                dropped.bytes, dropped.chunks
            );
        }
        if counters.dropped_spans > 0 {
            eprintln!("acp-traces: {} spans were too many at a time", counters.dropped_spans);
        }
        if let Some(complaint) = self.tally.complaint() {
            eprintln!("acp-traces: {complaint}");
        }
    }
}

/// Chunks in, spans out.
#[derive(Debug)]
struct Watch {
    tracker: Tracker,
    to_agent: Reassembly,
    to_editor: Reassembly,
    spans: Spans,
    exporter: Exporter,
    /// A moment, on the clock that chunks are timed by and on the one that spans are timed by.
    start: (Instant, Duration),
}

impl Watch {
    fn new(exporter: Exporter, record_content: bool) -> Self {
        let mut policy = Policy::default();
        policy.record_content = record_content;
        policy.network_transport = Some(Cow::Borrowed("pipe"));
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self {
            spans: Spans::new(UNIX_EPOCH, policy.profile.schema_url()),
            tracker: Tracker::new(policy),
            to_agent: Reassembly::default(),
            to_editor: Reassembly::default(),
            exporter,
            start: (Instant::now(), now),
        }
    }

    fn look_at(&mut self, chunk: &Chunk) {
        let now = self.time(chunk.at);
        let lines = match chunk.direction {
            Direction::ClientToAgent => &mut self.to_agent,
            Direction::AgentToClient => &mut self.to_editor,
        };
        lines.push(chunk);
        while let Some(line) = lines.lines.next() {
            // A line that cannot be read was passed on like any other; there is nothing in it to trace.
            if let Ok(line) = line {
                self.tracker.handle_line(chunk.direction, now, line.as_bytes());
            }
        }
        self.export();
    }

    fn close(&mut self, reason: CloseReason) -> Counters {
        let now = self.time(Instant::now());
        self.tracker.close(now, reason);
        self.export();
        self.exporter.shutdown(FLUSH);
        self.tracker.counters()
    }

    fn export(&mut self) {
        while let Some(record) = self.tracker.poll() {
            if let Some(span) = self.spans.take(record) {
                self.exporter.export(span);
            }
        }
    }

    fn time(&self, at: Instant) -> Duration {
        self.start.1 + at.saturating_duration_since(self.start.0)
    }
}

/// The lines of one direction.
#[derive(Debug, Default)]
struct Reassembly {
    lines: Lines,
    /// The start of the current line is missing.
    headless: bool,
}

impl Reassembly {
    fn push(&mut self, chunk: &Chunk) {
        if chunk.after_gap {
            *self = Self { lines: Lines::default(), headless: true };
        }
        let mut bytes = &*chunk.bytes;
        if self.headless {
            let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else { return };
            bytes = bytes.get(end + 1..).unwrap_or_default();
            self.headless = false;
        }
        self.lines.push(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(chunks: &[(&str, bool)]) -> Vec<String> {
        let mut reassembly = Reassembly::default();
        let mut lines = Vec::new();
        for (text, after_gap) in chunks {
            reassembly.push(&Chunk {
                direction: Direction::ClientToAgent,
                at: Instant::now(),
                bytes: Box::from(text.as_bytes()),
                after_gap: *after_gap,
            });
            while let Some(line) = reassembly.lines.next() {
                lines.push(line.unwrap().to_owned());
            }
        }
        lines
    }

    #[test]
    fn lines_are_put_together() {
        assert_eq!(
            lines(&[("{\"a\"", false), (":1}\n{}", false), ("\n", false)]),
            [r#"{"a":1}"#, "{}"]
        );
    }

    #[test]
    fn after_a_gap_the_next_whole_line_counts() {
        let chunks = [
            ("{\"a\"", false),
            ("lost tail", true),
            ("}\n{}\n", false),
            ("{", false),
            ("}\n{}\n", true),
        ];
        assert_eq!(lines(&chunks), ["{}", "{}"]);
    }
}
