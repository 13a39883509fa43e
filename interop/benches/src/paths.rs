//! The ways to read a case. Each gives a number that hangs on what it read, so that nothing is left out.
use crate::corpus::{Case, Line};
use agent_client_protocol::TransportFrame;
use agent_client_protocol_schema::rpc::{JsonRpcMessage, Notification};
use agent_client_protocol_schema::v1::SessionNotification;
use bytes::BytesMut;
use jsonrpc_core::framing::Lines;
use jsonrpc_core::{JsonStr, Kind, Message, peek, peek_member};
use serde_json::Value;
use serde_json::value::RawValue;
use std::hint::black_box;
use tokio_util::codec::{Decoder as _, LinesCodec};

/// One way to read the lines of a case.
pub struct Path {
    pub name: &'static str,
    pub run: fn(&Case) -> usize,
    /// Which cases it can read.
    pub fits: fn(&Case) -> bool,
}

/// How much of a stream is there at once.
const READ: usize = 4096;

/// All ways to get at a line's message, ours first.
pub fn paths() -> Vec<Path> {
    let any = |_: &Case| true;
    let updates = |case: &Case| case.lines.iter().all(|line| line.text.contains(r#""session/update""#));
    let path = |name, run, fits| Path { name, run, fits };
    vec![
        path("ours: Message::decode", |case| each(case, |line| Message::decode(&line.text)), any),
        path("ours: peek", |case| each(case, |line| peek(line.text.as_bytes())), any),
        path("ours: peek and three members", |case| each(case, |line| members(line)), any),
        path("serde_json::Value", |case| each(case, |line| serde_json::from_str::<Value>(&line.text)), any),
        path("jsonrpsee-types", |case| case.lines.iter().map(jsonrpsee).sum(), any),
        path("lsp-server", |case| each(case, |line| serde_json::from_str::<lsp_server::Message>(&line.text)), any),
        path("rmcp", |case| each(case, |line| serde_json::from_str::<rmcp::model::JsonRpcMessage>(&line.text)), any),
        path("jsonrpc-core 18", |case| case.lines.iter().map(jsonrpc_core_18).sum(), any),
        path("acp SDK frame", |case| each(case, |line| Ok::<_, ()>(TransportFrame::parse_json(&line.text))), any),
        path(
            "acp schema, typed",
            |case| each(case, |line| serde_json::from_str::<JsonRpcMessage<Notification<SessionNotification>>>(&line.text)),
            updates,
        ),
        path("ours: Lines", lines, any),
        path("tokio-util: LinesCodec", lines_codec, any),
        path("ours: Lines, peek, forward", forward, any),
    ]
}

fn each<'a, T, E: std::fmt::Debug>(case: &'a Case, read: impl Fn(&'a Line) -> Result<T, E>) -> usize {
    for line in &case.lines {
        black_box(read(black_box(line)).expect("a message"));
    }
    case.lines.len()
}

type Members<'a> = (jsonrpc_core::Peek<'a>, [Option<&'a str>; 3]);

fn members(line: &Line) -> Result<Members<'_>, jsonrpc_core::PeekError> {
    let peeked = peek(line.text.as_bytes())?;
    let params = peeked.params().unwrap_or_default();
    let (session, update) = (peek_member(params, "sessionId")?, peek_member(params, "update")?);
    let kind = peek_member(update.unwrap_or_default(), "sessionUpdate")?;
    Ok((peeked, [session, update, kind]))
}

fn jsonrpsee(line: &Line) -> usize {
    use jsonrpsee_types::{Notification, Request, Response};
    let text = &*line.text;
    match line.kind {
        Kind::Request => drop(black_box(serde_json::from_str::<Request<'_>>(text).expect("a request"))),
        Kind::Notification => {
            drop(black_box(serde_json::from_str::<Notification<'_, Option<&RawValue>>>(text).expect("a notification")));
        }
        Kind::Response => drop(black_box(serde_json::from_str::<Response<'_, &RawValue>>(text).expect("a response"))),
    }
    1
}

fn jsonrpc_core_18(line: &Line) -> usize {
    use jsonrpc_core_18::{Call, Output};
    match line.kind {
        Kind::Response => drop(black_box(serde_json::from_str::<Output>(&line.text).expect("a response"))),
        _ => drop(black_box(serde_json::from_str::<Call>(&line.text).expect("a call"))),
    }
    1
}

fn lines(case: &Case) -> usize {
    let mut lines = Lines::new(2 * case.stream.len());
    let mut count = 0;
    for read in case.stream.chunks(READ) {
        lines.push(read);
        while let Some(line) = lines.next() {
            count += usize::from(!black_box(line.expect("a line")).is_empty());
        }
    }
    count
}

fn lines_codec(case: &Case) -> usize {
    let (mut codec, mut buffer) = (LinesCodec::new(), BytesMut::new());
    let mut count = 0;
    for read in case.stream.chunks(READ) {
        buffer.extend_from_slice(read);
        while let Some(line) = codec.decode(&mut buffer).expect("lines") {
            count += usize::from(!black_box(line).is_empty());
        }
    }
    count
}

/// What a proxy does: looks at each line, and passes on its bytes.
fn forward(case: &Case) -> usize {
    let mut lines = Lines::new(2 * case.stream.len());
    let (mut out, mut count) = (Vec::with_capacity(case.stream.len()), 0);
    for read in case.stream.chunks(READ) {
        lines.push(read);
        while let Some(line) = lines.next() {
            let line = line.expect("a line").as_bytes();
            black_box(peek(line).expect("a message"));
            out.extend_from_slice(line);
            out.push(b'\n');
            count += 1;
        }
    }
    assert_eq!(black_box(out).len(), case.stream.len());
    count
}
