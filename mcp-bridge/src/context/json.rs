//! Inspects and edits JSON text without parsing it into values.
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::{Extra, Raw};

/// Returns the nesting depth of objects and arrays.
pub(super) fn depth(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut deepest = 0;
    let mut strings = Strings::default();
    for byte in text.bytes() {
        if strings.is_outside(byte) {
            match byte {
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth = depth.saturating_sub(1),
                _ => {}
            }
            deepest = deepest.max(depth);
        }
    }
    deepest
}

/// Removes white space between tokens, which leaves one line.
pub(super) fn compact(text: &str) -> String {
    let mut strings = Strings::default();
    let is_kept = |character: &char| {
        let byte = u8::try_from(*character).ok().filter(u8::is_ascii).unwrap_or(b'x');
        !strings.is_outside(byte) || !byte.is_ascii_whitespace()
    };
    text.chars().filter(is_kept).collect()
}

/// Tracks which bytes of a JSON text are inside strings.
#[derive(Default)]
struct Strings {
    is_inside: bool,
    is_escaped: bool,
}

impl Strings {
    /// Returns whether the next byte is outside a string. Quotes count as inside.
    fn is_outside(&mut self, byte: u8) -> bool {
        let was_inside = self.is_inside;
        match byte {
            _ if self.is_escaped => self.is_escaped = false,
            b'\\' if self.is_inside => self.is_escaped = true,
            b'"' => self.is_inside = !self.is_inside,
            _ => {}
        }
        !was_inside && !self.is_inside
    }
}

/// Returns the object `text` without the members `without` and with `with` appended. All other
/// bytes are preserved. Returns `None` if `text` is not an object.
pub(super) fn edit(text: &str, without: &[&str], with: &[(&str, &Raw)]) -> Option<Raw> {
    let members: Extra = serde_json::from_str(text).ok()?;
    let kept: Vec<_> = members.iter().filter(|(name, _)| !without.contains(name)).collect();
    if with.is_empty() && kept.len() == members.len() {
        return Raw::from_text(text).ok();
    }
    let mut out = String::with_capacity(text.len());
    for (name, value) in kept.into_iter().chain(with.iter().copied()) {
        out.push(if out.is_empty() { '{' } else { ',' });
        out.push_str(&serde_json::to_string(name).ok()?);
        out.push(':');
        out.push_str(value.as_str());
    }
    if out.is_empty() {
        out.push('{');
    }
    out.push('}');
    Raw::from_text(out).ok()
}
