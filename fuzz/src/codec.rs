//! Properties of the codec.
use crate::framing::{Cuts, Item, at_once};
use bytes::BytesMut;
use jsonrpc_core::codec::Codec;
use jsonrpc_core::framing::{Frame, Lines};
use tokio_util::codec::{Decoder, Encoder};

/// The codec returns what `Lines` returns, and decodes what it encodes.
pub fn codec(data: &[u8]) {
    let Some(cuts) = Cuts::read(data) else { return };
    let new = |limit| Lines::new(limit).with_text(cuts.policy);
    let expected = at_once(new(cuts.limit), cuts.stream);
    let mut codec = Codec::new(new(cuts.limit));
    let mut buffer = BytesMut::new();
    let mut found = Vec::new();
    for (piece, is_taken) in cuts.pieces() {
        buffer.extend_from_slice(piece);
        while is_taken && let Some(item) = codec.decode(&mut buffer).expect("no IO") {
            found.push(item);
        }
    }
    found.extend(rest(&mut codec, &mut buffer));
    assert_eq!(found.iter().map(bytes).collect::<Vec<_>>(), expected);
    for frame in found.into_iter().flatten() {
        // At the beginning of a stream this would not be part of the message.
        if !frame.as_bytes().starts_with("\u{feff}".as_bytes()) {
            // Repaired text may be longer than the limit.
            written(&frame, Codec::new(new(usize::MAX)));
        }
    }
}

/// The output is one message, equal except for line breaks, which a line cannot contain.
fn written(frame: &Frame, mut codec: Codec) {
    let mut buffer = BytesMut::new();
    codec.encode(frame.clone(), &mut buffer).expect("no IO");
    let items = rest(&mut codec, &mut buffer);
    let [Ok(again)] = &*items else { panic!("one message: {items:?}") };
    assert_eq!(on_one_line(again), on_one_line(frame));
}

fn on_one_line(frame: &Frame) -> Vec<u8> {
    let spaced = frame.as_bytes().iter().map(|byte| match byte {
        b'\r' | b'\n' => b' ',
        other => *other,
    });
    spaced.collect()
}

fn rest(codec: &mut Codec, buffer: &mut BytesMut) -> Vec<<Codec as Decoder>::Item> {
    core::iter::from_fn(|| codec.decode_eof(buffer).expect("no IO")).collect()
}

fn bytes(item: &<Codec as Decoder>::Item) -> Item {
    item.as_ref().map(|frame| frame.as_bytes().to_vec()).map_err(Clone::clone)
}
