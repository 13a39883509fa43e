//! Ends of values in text that is presumed to be JSON: nothing is validated, only strings and
//! brackets are distinguished.
use super::byte;
use super::string::plain_string;

/// Returns the end of the value at `at`; `None` if the text ends first, or no value begins there.
#[inline]
pub(crate) fn skip(bytes: &[u8], at: usize) -> Option<usize> {
    match byte(bytes, at) {
        b'"' => string_end(bytes, at + 1),
        b'{' | b'[' => nested_end(bytes, at),
        b'-' | b'0'..=b'9' | b't' | b'f' | b'n' => {
            let rest = bytes.get(at..)?;
            Some(at + rest.iter().position(|byte| matches!(byte, b',' | b'}' | b']' | 0..=b' '))?)
        }
        _ => None,
    }
}

/// Returns the end of an array or an object.
fn nested_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    let mut open = 0_usize;
    loop {
        match byte(bytes, at) {
            b'"' => {
                at = string_end(bytes, at + 1)?;
                continue;
            }
            b'{' | b'[' => open += 1,
            b'}' | b']' if open > 1 => open -= 1,
            b'}' | b']' => return Some(at + 1),
            0 => return None,
            _ => {}
        }
        at += 1;
    }
}

/// Returns the end of a string, after its last quote; `start` is after its first quote.
#[inline(always)]
pub(crate) fn string_end(bytes: &[u8], start: usize) -> Option<usize> {
    match plain_string(bytes, start) {
        Ok(end) => Some(end),
        Err(at) => escaped_string_end(bytes, start, at),
    }
}

/// Does the same for a string with an escape at `at`.
#[inline(never)]
fn escaped_string_end(bytes: &[u8], start: usize, mut at: usize) -> Option<usize> {
    loop {
        for _ in 0..BLOCK / 8 {
            let rest = bytes.get(at..)?;
            let Some(word) = rest.first_chunk() else {
                let is_end =
                    |at: &usize| byte(bytes, *at) == b'"' && !is_escaped(bytes, start, *at);
                return (at..bytes.len()).find(is_end).map(|quote| quote + 1);
            };
            if let Some(end) = end_in_word(bytes, start, at, u64::from_le_bytes(*word)) {
                return Some(end);
            }
            at += 8;
        }
        // The string is long.
        at += bytes.get(at - 2..).map_or(0, blocks_without_end);
    }
}

const BLOCK: usize = 64;

/// Returns the number of bytes, after the first two, in whole blocks without the end of a string.
fn blocks_without_end(bytes: &[u8]) -> usize {
    // The number of blocks that are presumed to have quotes.
    let mut length = 0;
    let mut quoted = 0;
    while let Some(with_two_before) = bytes.get(length..)
        && let Some([before_that, before, block]) = overlapping(with_two_before)
    {
        // Without an early exit in a block, the compiler vectorizes the loop.
        if quoted == 0 && block.iter().fold(false, |any, byte| any | (*byte == b'"')) {
            quoted = 16;
        }
        if quoted > 0 {
            quoted -= 1;
            let each = block.iter().zip(before).zip(before_that);
            // A quote after exactly one backslash is escaped; after more, they have to be counted.
            let may_end = each.fold(false, |any, ((byte, before), before_that)| {
                any | ((*byte == b'"') & ((*before != b'\\') | (*before_that == b'\\')))
            });
            if may_end {
                break;
            }
        }
        length += BLOCK;
    }
    length
}

/// Returns the blocks that begin at the first, the second and the third byte.
fn overlapping(bytes: &[u8]) -> Option<[&[u8; BLOCK]; 3]> {
    Some([bytes.first_chunk()?, bytes.get(1..)?.first_chunk()?, bytes.get(2..)?.first_chunk()?])
}

#[inline(always)]
fn end_in_word(bytes: &[u8], start: usize, at: usize, word: u64) -> Option<usize> {
    let mut quotes = quotes(word);
    while quotes != 0 {
        let quote = at + (quotes.trailing_zeros() / 8) as usize;
        if !is_escaped(bytes, start, quote) {
            return Some(quote + 1);
        }
        quotes &= quotes - 1;
    }
    None
}

/// Returns the top bits of the bytes that are quotes.
#[inline(always)]
fn quotes(word: u64) -> u64 {
    const ONES: u64 = u64::MAX / 255;
    const TOPS: u64 = ONES << 7;
    let word = word ^ (ONES * 0x22);
    // No carry crosses a byte.
    !(((word & !TOPS) + !TOPS) | word | !TOPS)
}

/// Returns whether an odd number of backslashes precedes a quote of the string that begins at
/// `start`.
#[inline(always)]
fn is_escaped(bytes: &[u8], start: usize, quote: usize) -> bool {
    byte(bytes, quote.wrapping_sub(1)) == b'\\' && is_run_odd(bytes, start, quote)
}

#[inline]
fn is_run_odd(bytes: &[u8], start: usize, end: usize) -> bool {
    let before = bytes.get(start..end).unwrap_or_default();
    before.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1
}

#[cfg(test)]
mod tests {
    use super::super::string;
    use super::*;
    use alloc::format;
    use alloc::vec::Vec;

    /// The end of a string agrees with the validating scanner, for escapes at any place of a word
    /// or a block.
    #[test]
    fn string_end_agrees_with_the_validating_scanner() {
        let pieces = [r#"\""#, r"\\", r"\n", r"\u00e9", "é", "#", "]", r#"\\\""#, r"\\\\", "x"];
        for before in (0..9).chain(56..140).chain([1086, 1087, 1088, 1100]) {
            for (one, other) in pieces.iter().flat_map(|one| pieces.map(|other| (one, other))) {
                for behind in [0, 1, 7, 70] {
                    let before = "a".repeat(before);
                    let behind = "b".repeat(behind);
                    let text = format!("\"{before}{one}{other}\"{behind}\"");
                    assert_eq!(
                        string_end(text.as_bytes(), 1),
                        string(text.as_bytes(), 1).ok(),
                        "{text}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_value_without_an_end_has_none() {
        let long = "a".repeat(200);
        for text in [
            "",
            " ",
            "\"",
            "\"a\\\"",
            "{",
            "[1,2",
            "{\"a\":[}",
            "17",
            "true",
            "}",
            ",",
            ":",
            "\0",
            "x",
            &format!("\"{long}"),
            &format!("\"{long}\\\""),
            &format!("[\"{long}\""),
        ] {
            assert_eq!(skip(text.as_bytes(), 0), None, "{text}");
        }
        assert_eq!(skip(b"", 7), None);
    }

    #[test]
    fn values_end_where_they_do() {
        let values = [
            "0",
            "-1.5e3",
            "true",
            "false",
            "null",
            r#""a\"b""#,
            "[]",
            "{}",
            r#"{"a]":["}",{}],"b":"{"}"#,
        ];
        for value in values {
            for behind in [",", "}", "]", " ", "\n"] {
                let text = format!("  {value}{behind}");
                assert_eq!(skip(text.as_bytes(), 2), Some(2 + value.len()), "{text}");
            }
        }
    }

    #[test]
    fn each_quote_of_a_word_is_found() {
        for others in [b'#', b'!', 0xa2, 0x21, 0xff, 0] {
            for places in 0..=u8::MAX {
                let at = |place: usize| places >> place & 1 == 1;
                let bytes: Vec<u8> =
                    (0..8).map(|place| if at(place) { b'"' } else { others }).collect();
                let found = quotes(u64::from_le_bytes(*bytes.first_chunk().unwrap()));
                let expected = (0..8)
                    .filter(|place| at(*place))
                    .fold(0, |all, place| all | 0x80 << (8 * place));
                assert_eq!(found, expected, "{bytes:?}");
            }
        }
    }
}
