//! The codec agrees with [`Lines`], and borrows from its read buffer.
use bytes::{Bytes, BytesMut};
use futures::{SinkExt, StreamExt, executor::block_on};
use jsonrpc_core::codec::Codec;
use jsonrpc_core::framing::{Frame, FrameError, InvalidTextAction, Lines, TextPolicy};
use jsonrpc_core::{Message, Notification, Request};
use proptest::prelude::*;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::{io, iter};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_util::codec::{Decoder, Encoder, FramedRead, FramedWrite};

/// Yields a stream in pieces of these sizes, cyclically, then ends.
struct Pieces {
    stream: Bytes,
    sizes: Vec<usize>,
    turn: usize,
}

impl AsyncRead for Pieces {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let size = self.sizes[self.turn % self.sizes.len()];
        self.turn += 1;
        let size = size.min(self.stream.len()).min(buffer.remaining());
        buffer.put_slice(&self.stream.split_to(size));
        Poll::Ready(Ok(()))
    }
}

/// Records each write.
#[derive(Default)]
struct Writes(Vec<Vec<u8>>);

impl AsyncWrite for Writes {
    fn poll_write(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.0.push(bytes.to_vec());
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

type Found = Vec<Result<Vec<u8>, FrameError>>;

fn read(lines: Lines, stream: &[u8], sizes: &[usize]) -> Found {
    let stream = Bytes::copy_from_slice(stream);
    let pieces = Pieces { stream, sizes: sizes.to_vec(), turn: 0 };
    let mut frames = FramedRead::new(pieces, Codec::new(lines));
    let mut found = Vec::new();
    while let Some(item) = block_on(frames.next()) {
        found.push(item.expect("it does not fail").map(|frame| frame.into_bytes().to_vec()));
    }
    found
}

/// Returns the result of the framing for the whole stream.
fn expected(mut lines: Lines, stream: &[u8]) -> Found {
    lines.push(stream);
    lines.finish();
    iter::from_fn(|| lines.next_bytes().map(|found| found.map(<[u8]>::to_vec))).collect()
}

fn stream() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop::sample::select(vec![
        &b"{}"[..],
        b"\n",
        b"\r\n",
        b" ",
        b"\xff",
        b"\xef\xbb\xbf",
        b"\\ud83d",
        b"aaaaaaaaaaaaaaaaaaaa",
    ]);
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

fn policy() -> impl Strategy<Value = TextPolicy> {
    let choice = prop::sample::select(vec![
        InvalidTextAction::Reject,
        InvalidTextAction::Repair,
        InvalidTextAction::Pass,
    ]);
    (choice.clone(), choice).prop_map(|(utf8, surrogates)| TextPolicy { utf8, surrogates })
}

proptest! {
    /// A codec returns the lines of its framing for any split of the stream.
    #[test]
    fn codec_agrees_with_lines(
        stream in stream(),
        sizes in prop::collection::vec(1..20_usize, 1..5),
        limit in 1..25_usize,
        text in policy(),
    ) {
        let lines = || Lines::new(limit).with_text(text);
        prop_assert_eq!(read(lines(), &stream, &sizes), expected(lines(), &stream));
    }
}

#[test]
fn frames_borrow_from_the_buffer() {
    let stream = b"{\"a\":1}\n\xff\r\n{\"b\":2}\n{\"c\"";
    let mut buffer = BytesMut::from(&stream[..]);
    let range = buffer.as_ptr_range();
    let mut codec = Codec::new(Lines::default());
    let mut frames = Vec::new();
    while let Some(item) = codec.decode(&mut buffer).expect("it does not fail") {
        frames.extend(item);
    }
    assert_eq!(frames, [Frame::from("{\"a\":1}"), Frame::from("{\"b\":2}")]);
    for frame in &frames {
        assert!(range.contains(&frame.as_bytes().as_ptr()));
    }
    assert_eq!(&buffer[..], b"{\"c\"");
}

#[test]
fn message_is_written_in_one_call() {
    let ping = || Message::from(Notification::new("ping", None));
    let mut lines = FramedWrite::new(Writes::default(), Codec::new(Lines::default()));
    block_on(lines.send(ping())).expect("it takes all");
    // Forwarded text may have line breaks, which a line may not contain.
    block_on(lines.send(Frame::from("{\r\n\"a\": 1\n}"))).expect("it takes all");
    let text = b"{\"jsonrpc\":\"2.0\",\"method\":\"ping\"}\n";
    assert_eq!(lines.get_ref().0, [&text[..], b"{  \"a\": 1 }\n"]);
}

#[test]
fn written_messages_round_trip() {
    let mut out = BytesMut::new();
    for id in 0..3 {
        let request = Request::new(id, "m", None);
        let mut codec = Codec::new(Lines::default());
        codec.encode(Message::from(request), &mut out).expect("it takes all");
    }
    let found = read(Lines::default(), &out, &[7]);
    let expected =
        (0..3).map(|id| Ok(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m"}}"#).into_bytes()));
    assert_eq!(found, Vec::from_iter(expected));
}

/// Each read fills the available room, as with `tokio-util`.
#[test]
fn buffer_growth_is_limited_to_the_longest_line() {
    let limit = 1024 * 1024;
    let mut codec = Codec::new(Lines::new(limit));
    let mut buffer = BytesMut::new();
    let mut came = 0;
    let mut most = 0;
    let mut errors = 0;
    while came < 4 * limit {
        while codec.decode(&mut buffer).expect("it does not fail").is_some() {
            errors += 1;
        }
        let length = buffer.len();
        let capacity = buffer.capacity();
        assert!(length < capacity, "there is room to read");
        buffer.resize(capacity, b'a');
        came = came + capacity - length;
        most = most.max(capacity);
    }
    assert_eq!(errors, 1);
    assert!((limit..=limit + 128 * 1024).contains(&most), "{most}");
    buffer.extend_from_slice(b"\n{}\n");
    let next = codec.decode(&mut buffer).expect("it does not fail").expect("a line");
    assert_eq!(next.expect("it is short").as_bytes(), b"{}");
}
