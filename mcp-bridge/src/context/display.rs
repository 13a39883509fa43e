//! Text of peers in a form that is safe to display.
use super::Extraction;
use crate::mcp::capabilities::Implementation;
use alloc::string::String;
use core::iter::Peekable;
use core::str::Chars;

/// The origin and the text of an elicitation, sanitized for display.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DisplayMessage {
    /// The title of the server, or else its name, without misleading characters.
    pub asked_by: String,
    /// The message without its context and without misleading characters.
    pub text: String,
}

impl DisplayMessage {
    /// Maximum number of characters of a message.
    pub const MAX_TEXT: usize = 4096;

    /// Maximum number of characters of a name.
    pub const MAX_NAME: usize = 64;
}

impl Extraction {
    /// Returns the text to display. A model should receive the same text, so that the user and the
    /// model see the same question.
    ///
    /// ```
    /// use jsonrpc_core::wire;
    /// use mcp_bridge::context::{self, ContextLimits};
    /// use mcp_bridge::mcp::capabilities::Implementation;
    ///
    /// let question = wire::decode(
    ///     "{\"message\":\"\\u001b[2JPay \\u202e09$\\n\\n--x-model-context: application/json\\n{\\\"a\\\":1}\",\"requestedSchema\":{}}",
    /// )?;
    /// let found = context::extract(&question, &ContextLimits::default());
    /// let shown = found.display(&Implementation::new("travel", "1"));
    /// assert_eq!((shown.asked_by.as_str(), shown.text.as_str()), ("travel", "Pay 09$"));
    /// # Ok::<(), wire::DecodeError>(())
    /// ```
    pub fn display(&self, server: &Implementation) -> DisplayMessage {
        let name = server.title.as_deref().unwrap_or(&server.name);
        DisplayMessage {
            asked_by: display_text(name, DisplayMessage::MAX_NAME),
            text: display_text(
                self.request.message().unwrap_or_default(),
                DisplayMessage::MAX_TEXT,
            ),
        }
    }
}

/// Removes misleading characters from the text of a peer.
///
/// These are terminal escapes, control characters other than line feeds and tabs, bidirectional
/// formatting and invisible tags. Longer text is truncated to `limit` characters, the last of which
/// is `…`.
///
/// ```
/// use mcp_bridge::context::display_text;
///
/// assert_eq!(display_text("a\u{1b}[31mb\r\nc\u{0}\u{202e}d", 100), "ab\ncd");
/// assert_eq!(display_text("abcdef", 4), "abc…");
/// ```
pub fn display_text(text: &str, limit: usize) -> String {
    let mut out = String::new();
    let mut length = 0;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        if character == '\u{1b}' {
            skip_escape(&mut characters);
            continue;
        }
        if is_misleading(character) {
            continue;
        }
        if length == limit {
            out.pop();
            out.push('…');
            break;
        }
        out.push(character);
        length += 1;
    }
    out
}

/// Skips a terminal escape sequence as defined by
/// [ECMA-48](https://ecma-international.org/publications-and-standards/standards/ecma-48/).
fn skip_escape(characters: &mut Peekable<Chars<'_>>) {
    match characters.peek() {
        Some('[') => {
            characters.next();
            while characters.next_if(|it| matches!(it, ' '..='?')).is_some() {}
            characters.next_if(|it| matches!(it, '@'..='~'));
        }
        Some(']' | 'P' | 'X' | '^' | '_') => {
            characters.next();
            while characters.next_if(|it| !matches!(it, '\u{7}' | '\u{1b}' | '\u{9c}')).is_some() {}
            if characters.next() == Some('\u{1b}') {
                characters.next_if_eq(&'\\');
            }
        }
        Some(' '..='~') => {
            while characters.next_if(|it| matches!(it, ' '..='/')).is_some() {}
            characters.next_if(|it| matches!(it, '0'..='~'));
        }
        _ => {}
    }
}

fn is_misleading(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        // Marks, embeddings, overrides and isolates of the bidirectional algorithm.
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            true
        }
        // Zero-width characters and tags.
        '\u{200b}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}' => true,
        other => other.is_control(),
    }
}
