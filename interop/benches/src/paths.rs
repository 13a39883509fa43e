//! Paths that read a case. Each returns a number that depends on its result, so that the optimizer
//! removes nothing.
use crate::connections::runtime;
use crate::corpus::{Case, Line};
use agent_client_protocol::TransportFrame;
use agent_client_protocol_schema::rpc::{JsonRpcMessage, Notification};
use agent_client_protocol_schema::v1::SessionNotification;
use bytes::BytesMut;
use futures::StreamExt as _;
use jsonrpc_core::codec::Codec;
use jsonrpc_core::framing::{InvalidTextAction, Lines, TextPolicy};
use jsonrpc_core::{Kind, Message, PeekError, PeekedMessage, peek};
use semconv_map::{Direction, Policy, Tracker};
use serde_json::Value;
use serde_json::value::RawValue;
use std::hint::black_box;
use std::iter;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, repeat};
use tokio_util::codec::{Decoder as _, FramedRead, LinesCodec};

/// A path: one way to read the lines of a case.
pub struct Path {
    pub name: &'static str,
    pub run: fn(&Case) -> usize,
    /// Returns whether the path can read a case.
    pub fits: fn(&Case) -> bool,
}

/// Size of one read of a stream, in bytes.
const READ: usize = 4096;

/// Returns all paths from a line to its message, those of this project first.
pub fn paths() -> Vec<Path> {
    let any = |_: &Case| true;
    let updates =
        |case: &Case| case.lines.iter().all(|line| line.text.contains(r#""session/update""#));
    let path = |name, run, fits| Path { name, run, fits };
    vec![
        path("ours: Message::decode", |case| each(case, |line| Message::decode(&line.text)), any),
        path("ours: peek", |case| each(case, |line| peek(line.text.as_bytes())), any),
        path("ours: peek, session and kind", |case| each(case, observed), any),
        path(
            "serde_json::Value",
            |case| each(case, |line| serde_json::from_str::<Value>(&line.text)),
            any,
        ),
        path("jsonrpsee-types", |case| case.lines.iter().map(jsonrpsee).sum(), any),
        path(
            "lsp-server",
            |case| each(case, |line| serde_json::from_str::<lsp_server::Message>(&line.text)),
            any,
        ),
        path(
            "rmcp",
            |case| {
                each(case, |line| serde_json::from_str::<rmcp::model::JsonRpcMessage>(&line.text))
            },
            any,
        ),
        path("jsonrpc-core 18", |case| case.lines.iter().map(jsonrpc_core_18).sum(), any),
        path(
            "acp SDK frame",
            |case| each(case, |line| Ok::<_, ()>(TransportFrame::parse_json(&line.text))),
            any,
        ),
        path(
            "acp schema, typed",
            |case| {
                each(case, |line| {
                    serde_json::from_str::<JsonRpcMessage<Notification<SessionNotification>>>(
                        &line.text,
                    )
                })
            },
            updates,
        ),
        path("ours: Lines", |case| lines(case, |_| ()), any),
        path("ours: Lines, as bytes", lines_as_bytes, any),
        path("tokio-util: LinesCodec", lines_codec, any),
        path(
            "ours: Lines, decode",
            |case| lines(case, |line| drop(black_box(Message::decode(line).expect("a message")))),
            any,
        ),
        path("ours: Lines, peek, forward", |case| Forward::new(case).pass(case), any),
        path("ours: semconv-map's Tracker", tracker, any),
    ]
}

/// Returns the path with this name.
pub fn path(name: &str) -> Path {
    let all = paths().into_iter().chain(crate::acp_paths::paths());
    let mut all = all.chain(crate::translate_paths::paths());
    all.find(|path| path.name == name).expect("a path")
}

fn each<'a, T, E: std::fmt::Debug>(
    case: &'a Case,
    read: impl Fn(&'a Line) -> Result<T, E>,
) -> usize {
    for line in &case.lines {
        black_box(read(black_box(line)).expect("a message"));
    }
    case.lines.len()
}

/// Finds the members that route an update, besides method and id: the session and the kind of
/// update.
fn named<'a>(peeked: PeekedMessage<'a>) -> (PeekedMessage<'a>, [Option<&'a str>; 2]) {
    let kind = peeked.param(&["update", "sessionUpdate"]);
    (peeked, [peeked.param(&["sessionId"]), kind])
}

fn observed(line: &Line) -> Result<(PeekedMessage<'_>, [Option<&str>; 2]), PeekError> {
    peek(line.text.as_bytes()).map(named)
}

fn jsonrpsee(line: &Line) -> usize {
    use jsonrpsee_types::{Notification, Request, Response};
    let text = &*line.text;
    match line.kind {
        Kind::Request => {
            drop(black_box(serde_json::from_str::<Request<'_>>(text).expect("a request")))
        }
        Kind::Notification => {
            drop(black_box(
                serde_json::from_str::<Notification<'_, Option<&RawValue>>>(text)
                    .expect("a notification"),
            ));
        }
        Kind::Response => drop(black_box(
            serde_json::from_str::<Response<'_, &RawValue>>(text).expect("a response"),
        )),
    }
    1
}

fn jsonrpc_core_18(line: &Line) -> usize {
    use jsonrpc_core_18::{Call, Output};
    match line.kind {
        Kind::Response => {
            drop(black_box(serde_json::from_str::<Output>(&line.text).expect("a response")))
        }
        _ => drop(black_box(serde_json::from_str::<Call>(&line.text).expect("a call"))),
    }
    1
}

fn lines(case: &Case, look: impl Fn(&str)) -> usize {
    let mut lines = Lines::default();
    let mut count = 0;
    for read in case.stream.chunks(READ) {
        lines.push(read);
        while let Some(line) = lines.next() {
            look(black_box(line.expect("a line")));
            count += 1;
        }
    }
    count
}

/// Splits lines without validation, for a reader that validates them, such as `peek`.
fn lines_as_bytes(case: &Case) -> usize {
    let mut lines = Lines::default().with_text(TextPolicy {
        utf8: InvalidTextAction::Pass,
        surrogates: InvalidTextAction::Pass,
    });
    let mut count = 0;
    for read in case.stream.chunks(READ) {
        lines.push(read);
        while let Some(line) = lines.next_bytes() {
            count += usize::from(!black_box(line.expect("a line")).is_empty());
        }
    }
    count
}

fn lines_codec(case: &Case) -> usize {
    let mut codec = LinesCodec::new();
    let mut buffer = BytesMut::new();
    let mut count = 0;
    for read in case.stream.chunks(READ) {
        buffer.extend_from_slice(read);
        while let Some(line) = codec.decode(&mut buffer).expect("lines") {
            count += usize::from(!black_box(line).is_empty());
        }
    }
    count
}

/// The work of a tracing proxy. No span is recorded, because no request is open.
fn tracker(case: &Case) -> usize {
    let mut tracker = Tracker::new(Policy::default());
    for line in &case.lines {
        let line = black_box(line).text.as_bytes();
        tracker.handle_line(Direction::Received, Duration::ZERO, line);
        while let Some(record) = tracker.poll() {
            black_box(record);
        }
    }
    case.lines.len()
}

/// The work of a proxy: it peeks each line and forwards its bytes.
pub struct Forward {
    lines: Lines,
    out: Vec<u8>,
}

impl Forward {
    /// Creates a proxy with a buffer for the whole case.
    pub fn new(case: &Case) -> Self {
        Self { lines: Lines::default(), out: Vec::with_capacity(case.stream.len()) }
    }

    /// Forwards the lines of a case.
    pub fn pass(&mut self, case: &Case) -> usize {
        self.out.clear();
        let mut count = 0;
        for read in case.stream.chunks(READ) {
            self.lines.push(read);
            while let Some(line) = self.lines.next() {
                let line = line.expect("a line").as_bytes();
                let _ = black_box(peek(line).expect("a message"));
                self.out.extend_from_slice(line);
                self.out.push(b'\n');
                count += 1;
            }
        }
        assert!(black_box(&self.out) == &case.stream, "the same bytes");
        count
    }
}

/// Length of an endless input, in bytes.
pub const ENDLESS: usize = 1024 * 1024 * 1024;

/// An input without an end.
#[derive(Clone, Copy)]
pub enum Endless {
    /// A line, read by [`Lines`].
    Line,
    /// A line, read by the codec.
    CodecLine,
}

/// Reads `size` bytes of an endless input in pieces, and then a message. Asserts one error and,
/// after it, the message.
pub fn endless(what: Endless, limit: usize, size: usize, piece: &[u8]) {
    let pieces = iter::repeat_n(black_box(piece), size / piece.len());
    let errors = match what {
        Endless::Line => {
            let mut lines = Lines::new(limit);
            let errors = pieces.filter(|piece| {
                lines.push(piece);
                lines.next().is_some_and(|line| line.is_err())
            });
            let errors = errors.count();
            lines.push(b"\n{}\n");
            assert_eq!(lines.next(), Some(Ok("{}")));
            errors
        }
        Endless::CodecLine => {
            let stream = repeat(b'a').take(size as u64).chain(&b"\n{}\n"[..]);
            let lines = FramedRead::new(stream, Codec::new(Lines::new(limit)));
            let came: Vec<_> = runtime().block_on(lines.map(|line| line.expect("no IO")).collect());
            let [Err(_), Ok(frame)] = &came[..] else { panic!("expected an error and a message") };
            assert_eq!(frame.as_bytes(), b"{}");
            1
        }
    };
    assert_eq!(errors, 1);
}
