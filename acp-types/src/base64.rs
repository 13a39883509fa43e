//! Base64 encoding of terminal output (RFC 4648, section 4).
use alloc::string::String;
use alloc::vec::Vec;

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Decodes base64 text; `None` if it is invalid.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=').as_bytes();
    if !text.len().is_multiple_of(4) || text.len() - digits.len() > 2 {
        return None;
    }
    let mut bytes = Vec::with_capacity(digits.len() / 4 * 3 + 2);
    let (mut bits, mut held) = (0_u32, 0);
    for digit in digits {
        let value = DIGITS.iter().position(|it| it == digit)?;
        bits = bits << 6 | u32::try_from(value).ok()?;
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push(u8::try_from(bits >> held & 0xff).ok()?);
        }
    }
    Some(bytes)
}

/// Encodes bytes.
pub(crate) fn encode(bytes: &[u8]) -> String {
    let digit = |value: u32| {
        let index = usize::try_from(value & 63).unwrap_or_default();
        char::from(DIGITS.get(index).copied().unwrap_or(b'A'))
    };
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| chunk.get(at).copied().map_or(0, u32::from);
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        text.push(digit(bits >> 18));
        text.push(digit(bits >> 12));
        text.push(if chunk.len() > 1 { digit(bits >> 6) } else { '=' });
        text.push(if chunk.len() > 2 { digit(bits) } else { '=' });
    }
    text
}
