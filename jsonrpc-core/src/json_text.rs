//! Writing of JSON strings, numbers and received text.
use crate::scan;
use alloc::vec::Vec;
use core::fmt::{self, Write};
use memchr::memchr2;

/// Appends JSON text, without its line breaks.
pub(crate) fn raw(text: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(text);
    keep_on_one_line(out, start);
}

/// Replaces each line break in the JSON text after `start` by a space. Line breaks of JSON are
/// between tokens, where both are equivalent.
pub(crate) fn keep_on_one_line(out: &mut [u8], start: usize) {
    let mut rest = out.get_mut(start..).unwrap_or_default();
    while let Some((byte, behind)) =
        memchr2(b'\n', b'\r', rest).and_then(|at| rest.get_mut(at..)?.split_first_mut())
    {
        *byte = b' ';
        rest = behind;
    }
}

/// Appends a JSON string, with its quotes.
///
/// ```
/// let mut out = Vec::new();
/// jsonrpc_core::write_str("a \"b\"\n", &mut out);
/// assert_eq!(out, br#""a \"b\"\n""#);
/// ```
pub fn write_str(text: &str, out: &mut Vec<u8>) {
    string(text, out);
}

/// Appends a JSON string.
pub(crate) fn string(text: &str, out: &mut Vec<u8>) {
    if scan::is_plain_text(text.as_bytes()) {
        out.push(b'"');
        out.extend_from_slice(text.as_bytes());
        out.push(b'"');
    } else {
        escaped(text, out);
    }
}

/// Appends a JSON string that needs escapes.
#[inline(never)]
fn escaped(text: &str, out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    out.reserve(text.len() + text.len() / 8 + 2 + scan::SLACK);
    out.push(b'"');
    scan::replace(text.as_bytes(), out, |text, out| {
        let (byte, _) = text.split_first()?;
        let short = match byte {
            b'"' | b'\\' => *byte,
            b'\n' => b'n',
            b'\t' => b't',
            b'\r' => b'r',
            8 => b'b',
            12 => b'f',
            control => {
                let digit = |at: u8| DIGITS.get(usize::from(at & 15)).copied().unwrap_or_default();
                *out = [b'\\', b'u', b'0', b'0', digit(control >> 4), digit(*control), 0, 0];
                return Some((1, 6));
            }
        };
        let [backslash, letter, ..] = out;
        (*backslash, *letter) = (b'\\', short);
        Some((1, 2))
    });
    out.push(b'"');
}

/// Appends an integer with this sign and magnitude.
pub(crate) fn integer(is_negative: bool, mut size: u64, out: &mut Vec<u8>) {
    // The number of digits of the largest value.
    let mut digits = [0; 20];
    let mut unused = digits.len();
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (size % 10) as u8;
        size /= 10;
        unused -= 1;
        if size == 0 {
            break;
        }
    }
    if is_negative {
        out.push(b'-');
    }
    out.extend_from_slice(digits.get(unused..).unwrap_or_default());
}

/// Appends the display form of `value`.
pub(crate) fn display(value: impl fmt::Display, out: &mut Vec<u8>) {
    struct TextSink<'a>(&'a mut Vec<u8>);

    impl fmt::Write for TextSink<'_> {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            self.0.extend_from_slice(text.as_bytes());
            Ok(())
        }
    }

    let written = write!(TextSink(out), "{value}");
    debug_assert!(written.is_ok(), "writing to a vector does not fail");
}
