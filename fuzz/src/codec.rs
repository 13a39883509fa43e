use crate::framing::{Cuts, Item, Stream, at_once};
use bytes::BytesMut;
use jsonrpc_core::codec::{Codec, Framing};
use jsonrpc_core::framing::{Body, ContentLength, Frame, Lines};
use tokio_util::codec::{Decoder, Encoder};

/// A codec gives what its framing gives, and reads what it wrote. The first byte chooses the framing; the rest is as for
/// the framings.
pub fn codec(data: &[u8]) {
    let Some((&which, data)) = data.split_first() else { return };
    let Some(cuts) = Cuts::read(data) else { return };
    let policy = cuts.policy;
    match which % 3 {
        0 => check(&cuts, |limit| Lines::new(limit).with_text(policy)),
        1 => check(&cuts, |limit| ContentLength::new(limit).with_text(policy)),
        _ => check(&cuts, |limit| Body::new(limit).with_text(policy)),
    }
}

fn check<F: Framing + Stream>(cuts: &Cuts<'_>, new: impl Fn(usize) -> F) {
    let expected = at_once(new(cuts.limit), cuts.stream);
    let mut codec = Codec::new(new(cuts.limit));
    let (mut buffer, mut found) = (BytesMut::new(), Vec::new());
    for (piece, is_taken) in cuts.pieces() {
        buffer.extend_from_slice(piece);
        while is_taken && let Some(item) = codec.decode(&mut buffer).expect("no IO") {
            found.push(item);
        }
    }
    found.extend(rest(&mut codec, &mut buffer));
    assert_eq!(found.iter().map(bytes).collect::<Vec<_>>(), expected);
    for frame in found.into_iter().flatten() {
        // First in a stream that would be no part of the message.
        if !frame.as_bytes().starts_with("\u{feff}".as_bytes()) {
            // Repaired text may be longer than the limit was.
            written(&frame, Codec::new(new(usize::MAX)));
        }
    }
}

/// What is written is one message, the same but for line breaks, which a line cannot have.
fn written<F: Framing>(frame: &Frame, mut codec: Codec<F>) {
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

fn rest<F: Framing>(
    codec: &mut Codec<F>,
    buffer: &mut BytesMut,
) -> Vec<<Codec<F> as Decoder>::Item> {
    core::iter::from_fn(|| codec.decode_eof(buffer).expect("no IO")).collect()
}

fn bytes(item: &<Codec<Lines> as Decoder>::Item) -> Item {
    item.as_ref().map(|frame| frame.as_bytes().to_vec()).map_err(Clone::clone)
}
