//! Escapes of strings: their texts, and texts with them.
use super::string::{BLOCK, last_block, plain_blocks, plain_start};
use alloc::string::String;
use alloc::vec::Vec;

/// The longest replacement of [`replace`], in bytes.
const ROOM: usize = 8;

/// The bytes that [`replace`] needs after its result for a moment.
pub(crate) const SLACK: usize = 2 * BLOCK;

/// Unescapes the text from `start`, with its first escape at `at`, up to the next byte that ends a
/// string or is invalid in one. Returns the place of that byte, and the text. Returns `None` if it
/// is not UTF-8, or has an invalid escape or a lone surrogate.
#[inline(never)]
pub(crate) fn unescape(bytes: &[u8], start: usize, at: usize) -> Option<(usize, String)> {
    let rest = bytes.len() - start;
    // The rest of the text is an upper bound, which small texts reach quickly.
    let mut text = Vec::with_capacity(rest.min(2 * (at - start) + 256) + SLACK);
    text.extend_from_slice(bytes.get(start..at)?);
    let rest = replace(bytes.get(at..)?, &mut text, undo_escape);
    if rest.first() == Some(&b'\\') {
        return None;
    }
    Some((bytes.len() - rest.len(), String::from_utf8(text).ok()?))
}

/// Appends a text up to the first special byte that `special` does not replace, and returns the
/// rest of the text. Special bytes end a string, start an escape, or are invalid in a string.
/// `special` gets the text that begins with one. It writes the replacement, and returns the number
/// of replaced bytes and the length of the replacement.
#[inline(always)]
pub(crate) fn replace<'a>(
    bytes: &'a [u8],
    out: &mut Vec<u8>,
    special: impl Fn(&[u8], &mut [u8; ROOM]) -> Option<(usize, usize)>,
) -> &'a [u8] {
    let mut rest = bytes;
    let mut length = out.len();
    loop {
        out.resize(length + rest.len().min(length + 128) + SLACK, 0);
        let size = out.len();
        let mut room = out.get_mut(length..).unwrap_or_default();
        let mut blocks = 0_u32;
        let end = loop {
            let Some(place) = room.first_chunk_mut::<{ BLOCK + ROOM }>() else { break None };
            let mut copy = |block: &[u8; BLOCK]| {
                place.split_at_mut(BLOCK).0.copy_from_slice(block);
                plain_start(block)
            };
            let plain = match rest.first_chunk() {
                Some(block) => copy(block),
                None => copy(&last_block(bytes, rest.len())),
            };
            let (used, written) = if plain == BLOCK {
                blocks += 1;
                let plain = if blocks.is_multiple_of(4) { copy_blocks(rest, room) } else { plain };
                (plain, plain)
            } else {
                blocks = 0;
                let slot = place.get_mut(plain..).and_then(<[u8]>::first_chunk_mut);
                let text = rest.get(plain..).unwrap_or_default();
                match slot.and_then(|slot| special(text, slot)) {
                    Some((used, written)) => (plain + used, plain + written),
                    None => break Some(plain),
                }
            };
            rest = rest.get(used..).unwrap_or_default();
            room = core::mem::take(&mut room).get_mut(written..).unwrap_or_default();
        };
        length = size - room.len();
        if let Some(plain) = end {
            out.truncate(length + plain);
            return rest.get(plain..).unwrap_or_default();
        }
    }
}

/// Copies a block without a special byte, and the long blocks from there on, as far as there is
/// room. Returns the number of bytes.
#[inline(never)]
fn copy_blocks(text: &[u8], out: &mut [u8]) -> usize {
    let with_room = text.get(..out.len()).unwrap_or(text);
    let length = plain_blocks(with_room).max(BLOCK);
    if let (Some(blocks), Some(out)) = (text.get(..length), out.get_mut(..length)) {
        out.copy_from_slice(blocks);
    }
    length
}

/// Resolves the escape at the beginning of a text. Returns its length, and the length of its text.
#[inline]
fn undo_escape(text: &[u8], out: &mut [u8; ROOM]) -> Option<(usize, usize)> {
    let [b'\\', letter, ..] = text else { return None };
    let [first, ..] = out;
    *first = match letter {
        b'"' | b'\\' | b'/' => *letter,
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'b' => 8,
        b'f' => 12,
        b'u' => {
            let (character, end) = undo_unit(text, 2)?;
            return Some((end, character.encode_utf8(out).len()));
        }
        _ => return None,
    };
    Some((2, 1))
}

/// Resolves one `\u` escape, or two that form a surrogate pair, and returns the end.
fn undo_unit(bytes: &[u8], at: usize) -> Option<(char, usize)> {
    let unit = |at: usize| {
        let digits = bytes.get(at..at + 4)?;
        digits.iter().try_fold(0, |unit, byte| Some(unit << 4 | char::from(*byte).to_digit(16)?))
    };
    let first = unit(at)?;
    let end = at + 4;
    if !(0xd800..0xdc00).contains(&first) {
        return char::from_u32(first).map(|character| (character, end));
    }
    if bytes.get(end..end + 2) != Some(b"\\u") {
        return None;
    }
    let low = unit(end + 2)?.checked_sub(0xdc00).filter(|low| *low < 0x400)?;
    char::from_u32(0x10000 + ((first - 0xd800) << 10) + low).map(|character| (character, end + 6))
}

#[cfg(test)]
mod tests {
    use super::super::plain_prefix;
    use super::*;
    use alloc::format;

    /// Strings of any length, with escapes at any place of a block, are written and read as by
    /// serde_json.
    #[test]
    fn escapes_agree_with_serde_json() {
        let pieces = ["\"", "\\", "\n\r\t", "\u{8}\u{c}", "\0\u{1f}", "é\n", "\u{1f600}\"", "€"];
        for (number, piece) in pieces.iter().enumerate() {
            for before in (0..36).chain([63, 64, 65, 130, 700]) {
                for between in (0..20).chain([64, 81, 300]) {
                    let next = pieces[(number + between) % pieces.len()];
                    let before = "a".repeat(before);
                    let between = "b".repeat(between);
                    let text = format!("{before}{piece}{between}{next}{before}");
                    let json = serde_json::to_string(&text).unwrap();
                    let mut written = Vec::new();
                    crate::write_str(&text, &mut written);
                    assert_eq!(written, json.as_bytes(), "{text:?}");
                    let spelled = format!("{json}{}", "]".repeat(before.len() % 20));
                    let spelled = spelled.replace("\\n", "\\u000a").replace('😀', "\\ud83d\\ude00");
                    let first = 1 + plain_prefix(&spelled.as_bytes()[1..]);
                    let end = spelled.rfind('"').unwrap();
                    let read = unescape(spelled.as_bytes(), 1, first);
                    assert_eq!(read, Some((end, text)), "{spelled}");
                }
            }
        }
    }
}
