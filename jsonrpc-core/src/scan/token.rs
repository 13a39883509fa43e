//! White space, punctuation, numbers and words.
use super::byte::{Step, byte};
use super::string::string;

/// Returns whether a text begins with another one. Most names have up to 16 bytes, and are compared
/// without a call.
#[inline(always)]
pub(super) fn begins_with(text: &[u8], start: &[u8]) -> bool {
    let Some(text) = text.get(..start.len()) else { return false };
    match (start.first_chunk(), start.last_chunk()) {
        (Some(first), Some(last)) => {
            let [first, last] = [first, last].map(|word| u64::from_le_bytes(*word));
            let word = |word: Option<&[u8; 8]>| word.map(|word| u64::from_le_bytes(*word));
            let are_ends_equal =
                word(text.first_chunk()) == Some(first) && word(text.last_chunk()) == Some(last);
            are_ends_equal && (start.len() <= 16 || text == start)
        }
        _ => match (start.first_chunk::<4>(), start.last_chunk::<4>()) {
            (Some(first), Some(last)) => {
                text.first_chunk() == Some(first) && text.last_chunk() == Some(last)
            }
            _ => text == start,
        },
    }
}

/// Returns the next byte that is not white space, and its place.
#[inline(always)]
pub(super) fn token(bytes: &[u8], at: usize) -> (u8, usize) {
    match byte(bytes, at) {
        0..=b' ' => token_behind_space(bytes, at),
        byte => (byte, at),
    }
}

#[cold]
fn token_behind_space(bytes: &[u8], mut at: usize) -> (u8, usize) {
    while matches!(byte(bytes, at), b' ' | b'\n' | b'\t' | b'\r') {
        at += 1;
    }
    (byte(bytes, at), at)
}

/// Reads a member's name, up to its value.
#[inline(always)]
pub(super) fn name(bytes: &[u8], first: u8, at: usize) -> Step {
    if first != b'"' {
        return Err(at);
    }
    colon(bytes, string(bytes, at + 1)?)
}

#[inline(always)]
pub(super) fn colon(bytes: &[u8], at: usize) -> Step {
    match token(bytes, at) {
        (b':', at) => Ok(token(bytes, at + 1).1),
        (_, at) => Err(at),
    }
}

/// Reads a number or a word.
pub(super) fn scalar(bytes: &[u8], at: usize) -> Step {
    match byte(bytes, at) {
        b'-' | b'0'..=b'9' => number(bytes, at),
        b't' => word(bytes, at, b"true"),
        b'f' => word(bytes, at, b"false"),
        b'n' => word(bytes, at, b"null"),
        _ => Err(at),
    }
}

fn number(bytes: &[u8], start: usize) -> Step {
    let mut at = start;
    if byte(bytes, at) == b'-' {
        at += 1;
    }
    at = if byte(bytes, at) == b'0' { at + 1 } else { digits(bytes, at)? };
    if byte(bytes, at) == b'.' {
        at = digits(bytes, at + 1)?;
    }
    if matches!(byte(bytes, at), b'e' | b'E') {
        at += 1;
        if matches!(byte(bytes, at), b'+' | b'-') {
            at += 1;
        }
        at = digits(bytes, at)?;
    }
    // A digit after a leading zero is left over, and fails as the end of the number.
    Ok(at)
}

fn digits(bytes: &[u8], start: usize) -> Step {
    let mut at = start;
    while byte(bytes, at).is_ascii_digit() {
        at += 1;
    }
    if at == start { Err(at) } else { Ok(at) }
}

fn word(bytes: &[u8], at: usize, word: &[u8]) -> Step {
    let is_there = bytes.get(at..).is_some_and(|rest| rest.starts_with(word));
    if is_there { Ok(at + word.len()) } else { Err(at) }
}
