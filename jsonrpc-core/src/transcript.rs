//! Transcripts: recorded messages of a connection, with time and bytes, to be read and replayed.
//!
//! A transcript is text, one JSON object for each line. The module performs no I/O and reads no
//! clock: the caller provides bytes and times, and stores the text.
//!
//! | member | value |
//! |---|---|
//! | `time` | seconds since an epoch of the recorder's choice, with nanoseconds |
//! | `direction` | `"sent"` or `"received"`, from the recorder's point of view |
//! | `text` | the message on the wire, without its line end |
//! | `hex` | the same in hexadecimal digits, if the message is not UTF-8 |
//!
//! Other members are ignored.
//!
//! ```
//! use core::time::Duration;
//! use jsonrpc_core::transcript::{self, Direction, Recorder, Replay, ReplayStep};
//! use jsonrpc_core::{CancelMethod, Peer, PeerMessage, RequestLimits};
//!
//! let (mut recorder, mut text) = (Recorder::new(), Vec::new());
//! let asked = br#"{"jsonrpc":"2.0","id":"a-7","method":"add","params":[1,2]}"#;
//! recorder.record(Duration::ZERO, Direction::Sent, asked, &mut text);
//! recorder.record(Duration::from_millis(5), Direction::Received, b"{\"jsonrpc\":\"2.0\",\"id\":\"a-7\",\"result\":3}", &mut text);
//! let text = String::from_utf8(text)?;
//! assert!(text.starts_with(r#"{"time":0.000000000,"direction":"sent","text":"{\"jsonrpc\""#));
//!
//! // Replay the same messages.
//! let entries: Vec<_> = transcript::read(&text).collect::<Result<_, _>>()?;
//! let (mut replay, mut peer) = (Replay::new(entries), Peer::new(CancelMethod::ACP, RequestLimits::default()));
//! let mut sum = None;
//! while let Some((_, replayed)) = replay.step(&mut peer, |request| request.method.to_string()) {
//!     if let ReplayStep::Received(PeerMessage::Response { token, outcome, .. }) = replayed {
//!         sum = Some((token, outcome?.get().to_owned()));
//!     }
//! }
//! assert_eq!(sum, Some(("add".into(), "3".into())));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
mod conductor;
mod replay;
mod stored;

pub use conductor::Conductor;
pub use replay::{Replay, ReplayStep};

use crate::json_text;
use crate::wire;
use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::time::Duration;

/// Reads a transcript; blank lines are skipped. A long transcript can be read line by line with
/// [`Entry::from_line`].
///
/// # Errors
/// A line is not an entry. Later lines are still read.
pub fn read(text: &str) -> impl Iterator<Item = Result<Entry<'static>, ReadError>> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines.map(|(at, line)| {
        Entry::from_line(line).map_err(|source| ReadError { line: at + 1, source })
    })
}

/// One message of a transcript, or other bytes in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// Time of sending or receiving, as an offset from an epoch of the recorder's choice.
    pub time: Duration,
    /// Direction of the message.
    pub direction: Direction,
    /// The bytes on the wire, without the line end.
    pub bytes: Cow<'a, [u8]>,
}

/// Direction of a message, from the point of view of one side: in a transcript, of the recorder.
/// Observers of both sides of a connection use the point of view of the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a connection has two directions")]
pub enum Direction {
    /// From this side to the peer.
    Sent,
    /// From the peer to this side.
    Received,
}

impl Direction {
    fn as_str(self) -> &'static str {
        match self {
            Self::Sent => "sent",
            Self::Received => "received",
        }
    }

    /// Returns the direction from the peer's point of view.
    pub fn reversed(self) -> Self {
        match self {
            Self::Sent => Self::Received,
            Self::Received => Self::Sent,
        }
    }
}

impl<'a> Entry<'a> {
    /// Appends the entry as one line with its line end.
    pub fn to_line(&self, out: &mut Vec<u8>) {
        let Self { time, direction, bytes } = self;
        out.extend_from_slice(br#"{"time":"#);
        json_text::display(format_args!("{}.{:09}", time.as_secs(), time.subsec_nanos()), out);
        json_text::display(format_args!(r#","direction":"{}","#, direction.as_str()), out);
        match core::str::from_utf8(bytes) {
            Ok(text) => {
                out.extend_from_slice(br#""text":"#);
                json_text::string(text, out);
            }
            Err(_) => {
                out.extend_from_slice(br#""hex":""#);
                bytes.iter().for_each(|byte| json_text::display(format_args!("{byte:02x}"), out));
                out.push(b'"');
            }
        }
        out.extend_from_slice(b"}\n");
    }
}

impl Entry<'static> {
    /// Decodes an entry from its line.
    ///
    /// # Errors
    /// The line is not an entry.
    pub fn from_line(line: &str) -> Result<Self, EntryError> {
        let line: stored::Line = wire::decode(line)?;
        let time = time(line.time.as_str()).ok_or(EntryError::Time)?;
        let bytes = match (line.text, line.hex) {
            (Some(text), None) => text.into_bytes(),
            (None, Some(hex)) => bytes(&hex).ok_or(EntryError::Hex)?,
            _ => return Err(EntryError::Content),
        };
        Ok(Self { time, direction: line.direction, bytes: bytes.into() })
    }
}

/// Returns the time for a number of seconds: with nanoseconds if the number is written without an
/// exponent.
fn time(text: &str) -> Option<Duration> {
    let (seconds, fraction) = text.split_once('.').unwrap_or((text, ""));
    match (seconds.parse(), fraction.get(..fraction.len().min(9))) {
        (Ok(seconds), Some(digits)) if fraction.bytes().all(|digit| digit.is_ascii_digit()) => {
            let nanoseconds =
                digits.bytes().fold(0, |sum, digit| sum * 10 + u32::from(digit - b'0'));
            let missing = 9_u32.saturating_sub(u32::try_from(digits.len()).ok()?);
            Some(Duration::new(seconds, nanoseconds * 10_u32.pow(missing)))
        }
        _ => Duration::try_from_secs_f64(text.parse().ok()?).ok(),
    }
}

fn bytes(hex: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = hex.as_bytes().as_chunks();
    let digit = |digit: u8| char::from(digit).to_digit(16);
    let pair = |[high, low]: &[u8; 2]| u8::try_from(digit(*high)? << 4 | digit(*low)?).ok();
    rest.is_empty().then(|| pairs.iter().map(pair).collect()).flatten()
}

/// An error decoding an entry of a transcript.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EntryError {
    /// The line is not JSON, or not an object with the members of an entry.
    #[error(transparent)]
    Decode(#[from] wire::DecodeError),
    /// The time is not a number of seconds.
    #[error("at /time: expected a number of seconds that is not negative")]
    Time,
    /// The entry has neither `text` nor `hex`, or both.
    #[error("expected one of the members `text` and `hex`")]
    Content,
    /// The bytes are not hexadecimal digits.
    #[error("at /hex: expected pairs of hexadecimal digits")]
    Hex,
}

/// An error reading a line of a transcript.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of the transcript is not an entry")]
pub struct ReadError {
    /// Number of the line, counted from one.
    pub line: usize,
    /// The reason.
    pub source: EntryError,
}

/// Writes entries, optionally redacted.
///
/// ```
/// use core::time::Duration;
/// use jsonrpc_core::transcript::{Direction, Recorder};
/// use std::borrow::Cow;
///
/// fn redact(_: Direction, bytes: &[u8]) -> Cow<'_, [u8]> {
///     match String::from_utf8_lossy(bytes) {
///         text if text.contains("hunter2") => text.replace("hunter2", "…").into_bytes().into(),
///         _ => bytes.into(),
///     }
/// }
/// let (mut recorder, mut out) = (Recorder::redacting(redact), Vec::new());
/// recorder.record(Duration::from_secs(2), Direction::Sent, br#"{"password":"hunter2"}"#, &mut out);
/// let expected = "{\"time\":2.000000000,\"direction\":\"sent\",\"text\":\"{\\\"password\\\":\\\"…\\\"}\"}\n";
/// assert_eq!(String::from_utf8_lossy(&out), expected);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Recorder<R = ()> {
    redact: R,
}

impl Recorder {
    /// Creates a recorder that writes everything unchanged.
    pub fn new() -> Self {
        Self { redact: () }
    }
}

impl<R: Redact> Recorder<R> {
    /// Creates a recorder that writes the result of `redact`.
    pub fn redacting(redact: R) -> Self {
        Self { redact }
    }

    /// Appends a sent or received message to the transcript `out`, as one line.
    pub fn record(
        &mut self,
        time: Duration,
        direction: Direction,
        bytes: &[u8],
        out: &mut Vec<u8>,
    ) {
        let bytes = self.redact.redact(direction, bytes);
        Entry { time, direction, bytes }.to_line(out);
    }
}

/// Removes confidential parts of a message: keys, paths, text of people.
///
/// Functions of this signature implement it; `()` removes nothing. Any result is recorded, but a
/// transcript for replay needs valid messages with the original ids.
pub trait Redact {
    /// Returns the redacted bytes.
    fn redact<'a>(&mut self, direction: Direction, bytes: &'a [u8]) -> Cow<'a, [u8]>;
}

impl Redact for () {
    fn redact<'a>(&mut self, _: Direction, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        Cow::Borrowed(bytes)
    }
}

impl<F: for<'a> FnMut(Direction, &'a [u8]) -> Cow<'a, [u8]>> Redact for F {
    fn redact<'a>(&mut self, direction: Direction, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        self(direction, bytes)
    }
}
