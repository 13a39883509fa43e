//! Characters that hide or reorder text.
use std::borrow::Cow;

/// Returns a text with its control characters and changes of direction shown, since they could make
/// a change or code look like another one. Line feeds and tabs stay.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match u32::from(character) {
            _ if !is_hidden(character) => shown.push(character),
            // Unicode has a picture of each ASCII control character.
            code @ 0..0x20 => shown.extend(char::from_u32(0x2400 + code)),
            0x7f => shown.push('\u{2421}'),
            code => shown.push_str(&format!("[U+{code:04X}]")),
        }
    }
    Cow::Owned(shown)
}

fn is_hidden(character: char) -> bool {
    let is_control = character.is_control() && !matches!(character, '\n' | '\t');
    is_control
        || matches!(character,
            '\u{ad}' | '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}
