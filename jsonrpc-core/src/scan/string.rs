//! Strings: their ends.
use super::{Step, byte};

/// Size of the blocks in which strings with escapes are read.
pub(super) const BLOCK: usize = 16;

/// Reads a string after its first quote.
#[inline(always)]
pub(crate) fn string(bytes: &[u8], at: usize) -> Step {
    plain_string(bytes, at).or_else(|at| escaped_string(bytes, at))
}

/// Reads a string without escapes after its first quote; an escape is an error at its place.
// Many names and values end in the first word, without a call.
#[inline(always)]
pub(crate) fn plain_string(bytes: &[u8], at: usize) -> Step {
    let Some(word) = bytes.get(at..).and_then(<[u8]>::first_chunk) else {
        return last_string(bytes, at);
    };
    let word = u64::from_le_bytes(*word);
    match special_bytes(word) {
        0 => longer_string(bytes, at + 8),
        found => plain_end(word, found, at),
    }
}

/// Continues a string without escapes after its first word.
// A separate function keeps its constants in registers.
#[inline(never)]
fn longer_string(bytes: &[u8], mut at: usize) -> Step {
    // Most strings are shorter than two pairs.
    for _ in 0..4 {
        let Some(pair) = bytes.get(at..).and_then(<[u8]>::first_chunk::<16>) else {
            return last_string(bytes, at);
        };
        let pair = u128::from_le_bytes(*pair);
        let first = pair as u64;
        let second = (pair >> 64) as u64;
        let found = special_bytes(first);
        if found != 0 {
            return plain_end(first, found, at);
        }
        let found = special_bytes(second);
        if found != 0 {
            return plain_end(second, found, at + 8);
        }
        at += 16;
    }
    long_string(bytes, at)
}

/// Continues a string without escapes near the end of the text.
#[inline(never)]
fn last_string(bytes: &[u8], at: usize) -> Step {
    let at = at + plain_start(&last_block(bytes, bytes.len().saturating_sub(at)));
    if byte(bytes, at) == b'"' { Ok(at + 1) } else { Err(at) }
}

/// Returns the end of a string in `word`, which begins at `at` and has special bytes.
#[inline(always)]
fn plain_end(word: u64, found: u64, at: usize) -> Step {
    let bit = found.trailing_zeros() & !7;
    let at = at + (bit / 8) as usize;
    if (word >> bit) as u8 == b'"' { Ok(at + 1) } else { Err(at) }
}

/// Continues a string without escapes that is long.
#[inline(never)]
fn long_string(bytes: &[u8], mut at: usize) -> Step {
    at += plain_prefix(bytes.get(at..).unwrap_or_default());
    if byte(bytes, at) == b'"' { Ok(at + 1) } else { Err(at) }
}

/// Reads a string from its first escape.
#[inline(never)]
pub(super) fn escaped_string(bytes: &[u8], mut at: usize) -> Step {
    let mut plain_words = 0_u32;
    loop {
        let rest = bytes.get(at..).unwrap_or_default();
        let found = match rest.first_chunk() {
            Some(word) => special_bytes(u64::from_le_bytes(*word)),
            None => {
                at += rest.iter().take_while(|byte| is_plain(**byte)).count();
                1
            }
        };
        if found == 0 {
            at += 8;
            plain_words += 1;
            if plain_words.is_multiple_of(8) {
                at += plain_blocks(bytes.get(at..).unwrap_or_default());
            }
            continue;
        }
        at += (found.trailing_zeros() / 8) as usize;
        match byte(bytes, at) {
            b'\\' => at = escape(bytes, at + 1)?,
            b'"' => return Ok(at + 1),
            _ => return Err(at),
        }
        plain_words = 0;
    }
}

#[inline]
fn escape(bytes: &[u8], at: usize) -> Step {
    match byte(bytes, at) {
        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Ok(at + 1),
        b'u' => {
            let is_hex = |at: &usize| byte(bytes, *at).is_ascii_hexdigit();
            (at + 1..at + 5).find(|at| !is_hex(at)).map_or(Ok(at + 5), Err)
        }
        _ => Err(at),
    }
}

/// Returns the top bits of the bytes that end a string, start an escape, or are invalid in a
/// string. The lowest is always correct.
#[inline]
fn special_bytes(word: u64) -> u64 {
    const ONES: u64 = u64::MAX / 255;
    const TOPS: u64 = ONES << 7;
    // A quote is exchanged with the space, and so is below 0x21 with the control characters.
    let control = (word ^ (ONES * 2)).wrapping_sub(ONES * 0x21);
    let escape = (word ^ (ONES * 0x5c)).wrapping_sub(ONES);
    // A top bit that was not set comes from a byte that underflowed.
    (control | escape) & !word & TOPS
}

/// Returns whether no byte ends a string, starts an escape, or is invalid in a string.
#[inline]
pub(crate) fn is_plain_text(bytes: &[u8]) -> bool {
    if let Some(last) = bytes.last_chunk::<16>() {
        if bytes.len() > 64 {
            return plain_prefix(bytes) == bytes.len();
        }
        // The last block covers the rest.
        return bytes.as_chunks::<16>().0.iter().all(is_plain_block) && is_plain_block(last);
    }
    let is_plain_word = |word: &[u8; 8]| special_bytes(u64::from_le_bytes(*word)) == 0;
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        return is_plain_word(first) && is_plain_word(last);
    }
    let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) else {
        return bytes.iter().all(|byte| is_plain(*byte));
    };
    // Two halves of a word, adjacent or overlapping.
    let half = |half: &[u8; 4]| u64::from(u32::from_le_bytes(*half));
    special_bytes(half(first) | half(last) << 32) == 0
}

/// Returns the number of bytes before the first one that ends a string, starts an escape, or is
/// invalid in a string.
#[inline]
pub(crate) fn plain_prefix(bytes: &[u8]) -> usize {
    let mut rest = bytes;
    let mut length = 0;
    while let Some((word, behind)) = rest.split_first_chunk() {
        let found = special_bytes(u64::from_le_bytes(*word));
        if found != 0 {
            return length + (found.trailing_zeros() / 8) as usize;
        }
        rest = behind;
        length += 8;
        if length.is_multiple_of(64) {
            let long = plain_blocks(rest);
            rest = rest.get(long..).unwrap_or_default();
            length += long;
        }
    }
    length + rest.iter().take_while(|byte| is_plain(**byte)).count()
}

/// Returns the number of bytes in whole blocks without such a byte; blocks are fastest for long
/// strings.
#[inline(never)]
pub(super) fn plain_blocks(bytes: &[u8]) -> usize {
    let (blocks, _) = bytes.as_chunks::<64>();
    blocks.iter().take_while(|block| is_plain_block(block)).count() * 64
}

/// Without an early exit, the compiler vectorizes the loop.
#[inline(always)]
fn is_plain_block<const N: usize>(block: &[u8; N]) -> bool {
    block.iter().fold(true, |all, byte| all & is_plain(*byte))
}

#[inline]
fn is_plain(byte: u8) -> bool {
    // A quote is exchanged with the space, and so is among the control characters.
    (byte ^ 2 > b' ') & (byte != b'\\')
}

/// Returns the number of bytes before the first special one.
#[inline(always)]
pub(super) fn plain_start(block: &[u8; BLOCK]) -> usize {
    let pair = u128::from_le_bytes(*block);
    let found = special_bytes(pair as u64);
    if found != 0 {
        return (found.trailing_zeros() / 8) as usize;
    }
    8 + (special_bytes((pair >> 64) as u64).trailing_zeros() / 8) as usize
}

/// Returns the last bytes of a text, followed by zeros, which are special.
#[inline(never)]
pub(super) fn last_block(text: &[u8], left: usize) -> [u8; BLOCK] {
    match text.last_chunk() {
        Some(last) => {
            let shift = 8 * (BLOCK - left) as u32;
            u128::from_le_bytes(*last).checked_shr(shift).unwrap_or_default().to_le_bytes()
        }
        None => {
            let mut block = [0; BLOCK];
            let (_, rest) = text.split_at(text.len() - left);
            block.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
            block
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    /// The end of a string with escapes agrees with a byte-wise scan, for escapes at any place of a
    /// word.
    #[test]
    fn escaped_string_end_agrees_with_a_byte_wise_scan() {
        let ends = |text: &[u8]| {
            let mut at = 0;
            loop {
                match byte(text, at) {
                    b'"' => return Ok(at + 1),
                    b'\\' => at = escape(text, at + 1)?,
                    plain if is_plain(plain) => at += 1,
                    _ => return Err(at),
                }
            }
        };
        let pieces = [
            "\\\"", "\\\\", "\\n", "\\u00e9", "\\u00x9", "\\x", "\"", "\n", "é", "!", "]", "#",
            "\\",
        ];
        for before in 0..17 {
            for (one, other) in pieces.iter().flat_map(|one| pieces.map(|other| (one, other))) {
                for between in 0..9 {
                    let before = "a".repeat(before);
                    let between = "b".repeat(between);
                    let text = format!("{before}{one}{between}{other}{before}\"");
                    for length in 0..=text.len() {
                        let text = &text.as_bytes()[..length];
                        assert_eq!(escaped_string(text, 0), ends(text), "{text:?}");
                    }
                }
            }
        }
    }

    /// The end of a string without escapes agrees with a byte-wise scan, for any length of the
    /// text.
    #[test]
    fn plain_string_end_agrees_with_a_byte_wise_scan() {
        for length in 0..150 {
            for at in 0..=length {
                for end in [b'"', b'\\', b'\n', 0] {
                    let mut bytes = [0xc3; 150];
                    bytes.iter_mut().step_by(3).for_each(|byte| *byte = b'#');
                    bytes[at.min(149)] = end;
                    let text = &bytes[..length];
                    for start in [0, 1, 7, 20].into_iter().filter(|start| *start <= length) {
                        let found = (start..length).find(|at| !is_plain(text[*at]));
                        let expected = match found {
                            Some(at) if text[at] == b'"' => Ok(at + 1),
                            at => Err(at.unwrap_or(length)),
                        };
                        assert_eq!(plain_string(text, start), expected, "{text:?} from {start}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_text_is_plain_if_each_byte_is() {
        for length in 0..100 {
            for at in 0..=length {
                for byte in [b'"', b'\\', b'\n', 0, 0x1f, b' ', 0x7f, 0xff] {
                    let mut bytes = [b'a'; 100];
                    bytes[at.min(99)] = byte;
                    let text = &bytes[..length];
                    let plain = text.iter().all(|byte| is_plain(*byte));
                    assert_eq!(is_plain_text(text), plain, "{text:?}");
                }
            }
        }
    }
}
