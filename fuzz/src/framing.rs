use jsonrpc_core::framing::{Body, ContentLength, FrameError, Lines, OnInvalid, TextPolicy};

/// How a stream is cut, and what may be in it.
pub(crate) struct Cuts<'a> {
    pub(crate) limit: usize,
    pub(crate) policy: TextPolicy,
    pub(crate) sizes: [u8; 3],
    pub(crate) stream: &'a [u8],
}

impl<'a> Cuts<'a> {
    /// The first byte is the limit, the second the policy, the next three say how to cut.
    pub(crate) fn read(data: &'a [u8]) -> Option<Self> {
        let (&[limit, policy, sizes @ ..], stream) = data.split_first_chunk::<5>()?;
        let choice = |of: u8| match of % 3 {
            0 => OnInvalid::Reject,
            1 => OnInvalid::Repair,
            _ => OnInvalid::Pass,
        };
        let policy = TextPolicy { utf8: choice(policy), surrogates: choice(policy / 3 + 2) };
        Some(Self { limit: usize::from(limit), policy, sizes, stream })
    }

    /// The pieces, and whether their messages are taken before the next comes.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = (&'a [u8], bool)> {
        let (mut left, mut sizes) = (self.stream, self.sizes.into_iter().cycle());
        core::iter::from_fn(move || {
            let size = sizes.next().filter(|_| !left.is_empty())?;
            let (piece, behind) = left.split_at(left.len().min(usize::from(size) + 1));
            left = behind;
            Some((piece, size.is_multiple_of(2)))
        })
    }
}

/// A message of a stream, or what came in its place.
pub(crate) type Item = Result<Vec<u8>, FrameError>;

/// What the framings have in common.
pub(crate) trait Stream {
    fn push(&mut self, bytes: &[u8]);
    fn finish(&mut self);
    fn take(&mut self) -> Option<Item>;

    fn rest(&mut self) -> Vec<Item> {
        core::iter::from_fn(|| self.take()).collect()
    }
}

macro_rules! stream {
    ($($framing:ident),*) => {$(
        impl Stream for $framing {
            fn push(&mut self, bytes: &[u8]) {
                $framing::push(self, bytes);
            }

            fn finish(&mut self) {
                $framing::finish(self);
            }

            fn take(&mut self) -> Option<Item> {
                self.next_bytes().map(|item| item.map(<[u8]>::to_vec))
            }
        }
    )*};
}

stream!(Lines, ContentLength, Body);

/// The messages of a stream that is there at once.
pub(crate) fn at_once(mut framing: impl Stream, stream: &[u8]) -> Vec<Item> {
    framing.push(stream);
    framing.finish();
    framing.rest()
}

/// However the stream comes, it gives the same, and no message is longer than the limit or against the policy.
fn check<F: Stream>(cuts: &Cuts<'_>, new: impl Fn() -> F) -> Vec<Item> {
    let expected = at_once(new(), cuts.stream);
    let (mut framing, mut found) = (new(), Vec::new());
    for (piece, is_taken) in cuts.pieces() {
        framing.push(piece);
        if is_taken {
            found.extend(framing.rest());
        }
    }
    framing.finish();
    found.extend(framing.rest());
    assert_eq!(found, expected);
    for message in found.iter().flatten() {
        // U+FFFD takes three bytes, for one that is none.
        let longest =
            if cuts.policy.utf8 == OnInvalid::Repair { 3 * cuts.limit } else { cuts.limit };
        assert!(message.len() <= longest);
        assert!(!message.iter().all(|byte| b" \t\r\n".contains(byte)));
        assert!(cuts.policy.utf8 == OnInvalid::Pass || core::str::from_utf8(message).is_ok());
    }
    found
}

/// A stream gives the same lines however it is cut.
pub fn lines(data: &[u8]) {
    let Some(cuts) = Cuts::read(data) else { return };
    let new = || Lines::new(cuts.limit).with_text(cuts.policy);
    for line in check(&cuts, new).iter().flatten() {
        assert!(!line.contains(&b'\n'));
    }
}

/// A stream gives the same messages however it is cut.
pub fn content_length(data: &[u8]) {
    let Some(cuts) = Cuts::read(data) else { return };
    check(&cuts, || ContentLength::new(cuts.limit).with_text(cuts.policy));
}

/// A body is the same however it is cut, and where it is there as a whole.
pub fn body(data: &[u8]) {
    let Some(cuts) = Cuts::read(data) else { return };
    let new = || Body::new(cuts.limit).with_text(cuts.policy);
    let found = check(&cuts, new);
    assert!(found.len() <= 1);
    let (mut pushed, whole) = (new(), new());
    pushed.push(cuts.stream);
    pushed.finish();
    let pushed = pushed.next().map(|text| text.map(str::to_owned));
    let read = whole.read(cuts.stream).map(|text| text.map(|text| text.into_owned()));
    assert_eq!(pushed, read);
}
