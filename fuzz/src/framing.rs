//! Properties of lines.
use jsonrpc_core::framing::{FrameError, InvalidTextAction, Lines, TextPolicy};

/// How a stream is split, and its options.
pub(crate) struct Cuts<'a> {
    pub(crate) limit: usize,
    pub(crate) policy: TextPolicy,
    pub(crate) sizes: [u8; 3],
    pub(crate) stream: &'a [u8],
}

impl<'a> Cuts<'a> {
    /// The first byte is the limit, the second the policy, the next three determine the split.
    pub(crate) fn read(data: &'a [u8]) -> Option<Self> {
        let (&[limit, policy, sizes @ ..], stream) = data.split_first_chunk::<5>()?;
        let choice = |of: u8| match of % 3 {
            0 => InvalidTextAction::Reject,
            1 => InvalidTextAction::Repair,
            _ => InvalidTextAction::Pass,
        };
        let policy = TextPolicy { utf8: choice(policy), surrogates: choice(policy / 3 + 2) };
        Some(Self { limit: usize::from(limit), policy, sizes, stream })
    }

    /// Returns the pieces, and whether messages are taken before the next piece.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = (&'a [u8], bool)> {
        let mut left = self.stream;
        let mut sizes = self.sizes.into_iter().cycle();
        core::iter::from_fn(move || {
            let size = sizes.next().filter(|_| !left.is_empty())?;
            let (piece, behind) = left.split_at(left.len().min(usize::from(size) + 1));
            left = behind;
            Some((piece, size.is_multiple_of(2)))
        })
    }
}

/// A message of a stream, or its error.
pub(crate) type Item = Result<Vec<u8>, FrameError>;

/// Takes the available lines.
pub(crate) fn rest(lines: &mut Lines) -> Vec<Item> {
    core::iter::from_fn(|| lines.next_bytes().map(|item| item.map(<[u8]>::to_vec))).collect()
}

/// Returns the lines of a complete stream.
pub(crate) fn at_once(mut lines: Lines, stream: &[u8]) -> Vec<Item> {
    lines.push(stream);
    lines.finish();
    rest(&mut lines)
}

/// The lines of a stream do not depend on how it is split; no line exceeds the limit or violates
/// the policy.
pub fn lines(data: &[u8]) {
    let Some(cuts) = Cuts::read(data) else { return };
    let new = || Lines::new(cuts.limit).with_text(cuts.policy);
    let expected = at_once(new(), cuts.stream);
    let mut lines = new();
    let mut found = Vec::new();
    for (piece, is_taken) in cuts.pieces() {
        lines.push(piece);
        if is_taken {
            found.extend(rest(&mut lines));
        }
    }
    lines.finish();
    found.extend(rest(&mut lines));
    assert_eq!(found, expected);
    for line in found.iter().flatten() {
        // U+FFFD takes three bytes, for one invalid byte.
        let longest =
            if cuts.policy.utf8 == InvalidTextAction::Repair { 3 * cuts.limit } else { cuts.limit };
        assert!(line.len() <= longest);
        assert!(!line.contains(&b'\n'));
        assert!(!line.iter().all(|byte| b" \t\r\n".contains(byte)));
        assert!(cuts.policy.utf8 == InvalidTextAction::Pass || core::str::from_utf8(line).is_ok());
    }
}
