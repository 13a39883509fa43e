//! The events of a run, numbered, kept within bounds and read by number.
//!
//! A [`RunLog`] connects a run with any number of HTTP responses. A reader has no queue: it passes
//! the number of the last event that it has received to [`RunLog::read`], so neither a slow page
//! nor a closed one delays the agent. The log performs no I/O and wakes no reader; the program does
//! so after [`push`](RunLog::push), [`end`](RunLog::end) and [`apply`](RunLog::apply).
//!
//! The newest events are kept as they were sent. Older ones are [compacted](crate::compact) and
//! lose their numbers. A reader that has received some of those gets [`LogRead::Restart`]: frames
//! that restore the conversation to its state before the run and repeat the compacted events.
//!
//! ```
//! use agui_types::event::{Event, RunFinishedEvent, RunStartedEvent};
//! use agui_types::input::RunAgentInput;
//! use agui_types::run_log::{LogRead, RunLog, RunLogLimits, RunOutcome};
//! use agui_types::jsonrpc_core::wire;
//!
//! let input: RunAgentInput = wire::decode(r#"{"threadId":"t","runId":"r","messages":[]}"#)?;
//! let mut log = RunLog::new(&input, RunLogLimits { events: 1000, bytes: 1024 * 1024 });
//! log.push(&RunStartedEvent::new("t", "r").into())?;
//! let LogRead::Frames(frames) = log.read(0, 64 * 1024) else { panic!("one event is unread") };
//! assert_eq!(frames.last, 1);
//! assert!(frames.bytes.starts_with(b"id: r:1\ndata: {\"type\":\"RUN_STARTED\""));
//! assert_eq!(log.read(1, 64 * 1024), LogRead::Pending);
//!
//! log.push(&RunFinishedEvent::new("t", "r").into())?;
//! log.end();
//! assert_eq!(log.outcome(), Some(&RunOutcome::Success));
//! // A client that reconnects sends the last event id that it received.
//! let seen = log.number("r:2").unwrap_or(0);
//! assert_eq!(log.read(seen, 64 * 1024), LogRead::Ended);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
use crate::event::{Event, MessagesSnapshotEvent};
use crate::id::RunId;
use crate::input::RunAgentInput;
use crate::message::{Message, ReasoningMessage};
use crate::sse;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use bytes::Bytes;
use jsonrpc_core::wire::Raw;
use memchr::memchr;
use recent::{FrameRange, RecentFrames};

mod delta;
mod fold;
mod joiner;
mod outcome;
mod part;
mod recent;

pub use joiner::FrameJoiner;
pub use outcome::{CANCEL_REASON, RunOutcome};
pub use part::{LogBase, LogPart};

/// The events of one run, numbered from 1.
///
/// See the [module](self) for an example.
///
/// ```
/// use agui_types::event::RunStartedEvent;
/// use agui_types::input::RunAgentInput;
/// use agui_types::jsonrpc_core::wire;
/// use agui_types::run_log::{LogRead, RunLog, RunLogLimits};
///
/// let input: RunAgentInput = wire::decode(r#"{"threadId":"t","runId":"r","messages":[]}"#)?;
/// let mut log = RunLog::new(&input, RunLogLimits { events: 1000, bytes: 1024 * 1024 });
/// log.push(&RunStartedEvent::new("t", "r").into())?;
/// let LogRead::Frames(frames) = log.read(0, 64 * 1024) else { panic!("no frames") };
/// assert_eq!(frames.last, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct RunLog {
    run_id: RunId,
    /// The run's part of an event id: the run id in printable ASCII.
    printable_id: String,
    /// The line of an event id up to its number.
    id_start: String,
    limits: RunLogLimits,
    /// The conversation before the run, as a JSON array. Decoded messages need several times its
    /// memory.
    messages: Raw,
    /// The state before the run; `None` means `{}`.
    state: Option<Raw>,
    /// Number of events in `old`.
    folded: u64,
    /// The oldest events, compacted, a frame each.
    old: Vec<Bytes>,
    old_bytes: usize,
    /// The events after the compacted ones, a frame each.
    recent: RecentFrames,
    outcome: Option<RunOutcome>,
    ended: bool,
}

/// Bounds of a [`RunLog`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunLogLimits {
    /// The largest number of events that are kept as they were sent.
    pub events: usize,
    /// The largest size of those events in bytes. If the compacted events exceed it as well, the
    /// log [is full](RunLog::is_full).
    pub bytes: usize,
}

/// The result of [`RunLog::read`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LogRead {
    /// The next events.
    Frames(Frames),
    /// The events up to [`Frames::last`], compacted, for a reader that has received some of them.
    ///
    /// They start with `RUN_STARTED` and a `MESSAGES_SNAPSHOT` of the conversation before the run,
    /// and so are valid only at the beginning of a response. A reader in the middle of a response
    /// closes it; its client reconnects.
    Restart(Frames),
    /// No event follows yet.
    Pending,
    /// No event follows, and the run has ended.
    Ended,
}

/// Events as server-sent events.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Frames {
    /// The number of the last event; the next read continues from it.
    pub last: u64,
    /// One or more whole frames. Compacted events have no `id`.
    pub bytes: Bytes,
}

/// An event was not added to the log.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PushError {
    /// The run has ended.
    #[error("the run has ended")]
    Ended,
    /// The log is at twice its bound, and the event does not end the run.
    #[error("the log of the run is full")]
    Full,
    /// The event has no JSON form.
    #[error("the event cannot be written as JSON")]
    Unwritable(#[source] serde_json::Error),
}

impl RunLog {
    /// Creates an empty log of the run that `input` starts.
    pub fn new(input: &RunAgentInput, limits: RunLogLimits) -> Self {
        let printable = |c: char| if c.is_ascii_graphic() { c } else { '_' };
        let printable_id: String = input.run_id.as_str().chars().map(printable).collect();
        Self {
            run_id: input.run_id.clone(),
            id_start: format!("id: {printable_id}:"),
            printable_id,
            limits,
            messages: Raw::of(&input.messages),
            state: input.state.clone(),
            folded: 0,
            old: Vec::new(),
            old_bytes: 0,
            recent: RecentFrames::default(),
            outcome: None,
            ended: false,
        }
    }

    /// Numbers the events from `last + 1` on, for a run that continues an earlier one under the
    /// same id.
    ///
    /// Call it before adding the first event.
    #[must_use]
    pub fn with_last(mut self, last: u64) -> Self {
        self.folded = last;
        self
    }

    /// Adds an event and returns its number.
    ///
    /// # Errors
    /// The run has ended, the log is at twice its bound, or the event has no JSON form. The event
    /// is not added. An event that ends the run is added even to a full log, so that readers learn
    /// of the end.
    pub fn push(&mut self, event: &Event) -> Result<u64, PushError> {
        let outcome = RunOutcome::of(event);
        if self.ended {
            return Err(PushError::Ended);
        }
        if self.old_bytes / 2 > self.limits.bytes && (outcome.is_none() || self.outcome.is_some()) {
            return Err(PushError::Full);
        }
        let frame = self.next_frame(event).map_err(PushError::Unwritable)?;
        self.outcome = outcome.or(self.outcome.take());
        self.recent.push(&[&frame]);
        self.fold_if_over();
        Ok(self.last())
    }

    /// Adds events that a [`DeltaWriter`](sse::DeltaWriter) has written, and returns the number of
    /// the last one.
    ///
    /// `frames` are one or more whole server-sent events without ids, each with one line of data.
    ///
    /// # Errors
    /// The run has ended, or the log is at twice its bound. Further events are not added then.
    pub fn push_written(&mut self, frames: &[u8]) -> Result<u64, PushError> {
        if self.ended {
            return Err(PushError::Ended);
        }
        let mut left = frames;
        while let Some(line) = memchr(b'\n', left) {
            if self.old_bytes / 2 > self.limits.bytes {
                return Err(PushError::Full);
            }
            // An empty line ends the event.
            let (frame, rest) = left.split_at(left.len().min(line + 2));
            let mut digits = [0; NUMBER_LINE];
            let number = number_line(self.last() + 1, &mut digits);
            self.recent.push(&[self.id_start.as_bytes(), number, frame]);
            self.fold_if_over();
            left = rest;
        }
        Ok(self.last())
    }

    /// Ends the run: no event follows.
    pub fn end(&mut self) {
        self.ended = true;
        self.recent.shrink();
    }

    /// Returns the events after number `after`: as many as fit into `max_bytes`, but at least one.
    ///
    /// `after` is [`Frames::last`] of the reader's previous frames, 0 at the beginning. Compacted
    /// events are returned together, regardless of their size.
    pub fn read(&self, after: u64, max_bytes: usize) -> LogRead {
        if after < self.folded && !self.old.is_empty() {
            return self.read_old(after);
        }
        let skipped = after.saturating_sub(self.folded);
        let skipped = usize::try_from(skipped).unwrap_or(usize::MAX);
        let batch = self.recent.batch(skipped, max_bytes);
        let count: usize = batch.iter().map(|frames| frames.len()).sum();
        if count == 0 {
            return if self.ended { LogRead::Ended } else { LogRead::Pending };
        }
        let last = after.max(self.folded) + count as u64;
        let bytes: Vec<&[u8]> = batch.into_iter().map(FrameRange::bytes).collect();
        LogRead::Frames(Frames { last, bytes: bytes.concat().into() })
    }

    /// Returns the number in an event id of this run, if an event of that number exists.
    pub fn number(&self, event_id: &str) -> Option<u64> {
        let (run_id, number) = event_id.rsplit_once(':')?;
        let number = number.parse().ok().filter(|number| *number <= self.last())?;
        (run_id == self.printable_id).then_some(number)
    }

    /// Returns the frame that an event would become if it were added next.
    ///
    /// # Errors
    /// The event has no JSON form, which does not happen for events that were decoded.
    pub fn next_frame(&self, event: &Event) -> Result<Bytes, serde_json::Error> {
        let id = format!("{}:{}", self.printable_id, self.last() + 1);
        let mut bytes = Vec::new();
        sse::write_id(&mut bytes, &id);
        sse::write_event(&mut bytes, event)?;
        Ok(bytes.into())
    }

    /// Returns the run's identifier.
    pub fn run_id(&self) -> &RunId {
        &self.run_id
    }

    /// Returns the conversation before the run, a JSON array of messages.
    pub fn messages(&self) -> &Raw {
        &self.messages
    }

    /// Returns the state before the run, if its input has one.
    pub fn state(&self) -> Option<&Raw> {
        self.state.as_ref()
    }

    /// Returns the number of the last event; 0 before the first.
    pub fn last(&self) -> u64 {
        self.folded + self.recent.len() as u64
    }

    /// Returns the memory that the events use, and the conversation before them, in bytes.
    pub fn bytes(&self) -> usize {
        self.old_bytes + self.recent.bytes() + self.messages.as_str().len()
    }

    /// Returns whether compaction no longer keeps the log within its bounds. Stop the run then: at
    /// twice the bound the log accepts only the end of the run.
    pub fn is_full(&self) -> bool {
        self.old_bytes > self.limits.bytes
    }

    /// Returns whether the run has ended.
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// Returns the outcome of the run, if an event has announced it. A [copy](Self::apply) derives
    /// it from the last event.
    pub fn outcome(&self) -> Option<&RunOutcome> {
        self.outcome.as_ref()
    }

    /// Returns the compacted events, for a reader that has received those up to `after`.
    fn read_old(&self, after: u64) -> LogRead {
        let restated = if after > 0 { self.restated() } else { None };
        let (start, rest) = self.old.split_at(self.old.len().min(1));
        let bytes = [start, restated.as_slice(), rest].concat().concat().into();
        let frames = Frames { last: self.folded, bytes };
        if after > 0 { LogRead::Restart(frames) } else { LogRead::Frames(frames) }
    }

    /// Returns the conversation before the run, as a frame.
    fn restated(&self) -> Option<Bytes> {
        let mut messages: Vec<Message> = self.messages.decode().ok()?;
        for event in self.old.iter().filter_map(|frame| fold::decode(frame)) {
            // A snapshot keeps reasoning messages that it does not list. The repeated deltas would
            // be appended to those.
            if let Event::ReasoningMessageStart(start) = event {
                messages.push(Message::Reasoning(ReasoningMessage::new(start.message_id, "")));
            }
        }
        fold::encode(&MessagesSnapshotEvent::new(messages).into())
    }
}

/// Largest length of a number in decimal digits with a line feed.
const NUMBER_LINE: usize = 21;

/// Writes a number in decimal digits and a line feed. Each piece of text has a number, and a
/// formatter would cost more than the rest.
fn number_line(mut number: u64, line: &mut [u8; NUMBER_LINE]) -> &[u8] {
    *line = [b'\n'; NUMBER_LINE];
    let mut begin = line.len();
    for (place, digit) in line.iter_mut().enumerate().rev().skip(1) {
        begin = place;
        *digit = b'0' + u8::try_from(number % 10).unwrap_or_default();
        number /= 10;
        if number == 0 {
            break;
        }
    }
    line.get(begin..).unwrap_or_default()
}
