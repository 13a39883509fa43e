//! Policies for text that no Rust string can represent.
use super::FrameError;
use alloc::string::String;
use alloc::vec::Vec;
use memchr::memchr;

/// The handling of text that no Rust string can represent.
///
/// Both defects affect one message. No choice ends the connection, or loses another message.
///
/// ```
/// use jsonrpc_core::framing::{InvalidTextAction, Lines, TextPolicy};
///
/// let repair = TextPolicy { utf8: InvalidTextAction::Repair, surrogates: InvalidTextAction::Repair };
/// let mut lines = Lines::default().with_text(repair);
/// lines.push(b"{\"method\":\"m\",\"params\":[\"\xff\",\"\\ud83d\"]}\n");
/// assert_eq!(lines.next(), Some(Ok("{\"method\":\"m\",\"params\":[\"\u{fffd}\",\"\\ufffd\"]}")));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextPolicy {
    /// For bytes that are not UTF-8; [`InvalidTextAction::Reject`] by default.
    pub utf8: InvalidTextAction,
    /// For lone surrogates in escapes, such as `"\ud83d"`, from peers that split a string between
    /// UTF-16 units. They are valid JSON, but not valid in a Rust string.
    /// [`InvalidTextAction::Pass`] by default, so that only readers of the string are affected.
    pub surrogates: InvalidTextAction,
}

impl Default for TextPolicy {
    fn default() -> Self {
        Self { utf8: InvalidTextAction::Reject, surrogates: InvalidTextAction::Pass }
    }
}

/// The handling of invalid text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidTextAction {
    /// The message is an error: [`FrameError::Utf8`] or [`FrameError::Surrogate`].
    Reject,
    /// The invalid part is replaced by U+FFFD. The message may grow up to three times.
    Repair,
    /// The message is passed on unchanged. Invalid UTF-8 is available as bytes only, and is an
    /// error where text is required.
    Pass,
}

const REPLACEMENT: &[u8] = b"fffd";

impl TextPolicy {
    /// Returns whether all text passes.
    #[inline]
    pub(crate) fn passes_all(self) -> bool {
        self.utf8 == InvalidTextAction::Pass && self.surrogates == InvalidTextAction::Pass
    }

    /// Applies the policy to a message: in place, or with a replacement text.
    pub(crate) fn apply(self, message: &mut [u8]) -> Result<Option<Vec<u8>>, FrameError> {
        let mut repaired = None;
        if self.utf8 != InvalidTextAction::Pass
            && let Err(error) = core::str::from_utf8(message)
        {
            if self.utf8 == InvalidTextAction::Reject {
                return Err(FrameError::utf8(error.valid_up_to(), message));
            }
            repaired = Some(String::from_utf8_lossy(message).into_owned().into_bytes());
        }
        let text = repaired.as_deref_mut().unwrap_or(message);
        match self.surrogates {
            InvalidTextAction::Pass => {}
            InvalidTextAction::Reject => {
                if let Some(at) = find_half_pair(text, 0) {
                    return Err(FrameError::surrogate(at, text));
                }
            }
            InvalidTextAction::Repair => {
                let mut from = 0;
                while let Some(at) = find_half_pair(text, from) {
                    if let Some(digits) = text.get_mut(at + 2..at + 6) {
                        digits.copy_from_slice(REPLACEMENT);
                    }
                    from = at + 6;
                }
            }
        }
        Ok(repaired)
    }

    /// Returns the policy for a caller that creates a string from the message, which validates
    /// UTF-8.
    #[inline]
    pub(crate) fn before_text(self) -> Self {
        match self.utf8 {
            InvalidTextAction::Reject => Self { utf8: InvalidTextAction::Pass, ..self },
            InvalidTextAction::Repair | InvalidTextAction::Pass => self,
        }
    }
}

/// Returns the place of the next lone surrogate escape.
fn find_half_pair(text: &[u8], mut at: usize) -> Option<usize> {
    loop {
        at += memchr(b'\\', text.get(at..)?)?;
        match unit(text, at) {
            Some(0xd800..0xdc00) if matches!(unit(text, at + 6), Some(0xdc00..0xe000)) => at += 12,
            Some(0xd800..0xe000) => return Some(at),
            _ => at += 2,
        }
    }
}

/// Returns the UTF-16 unit of an escape.
fn unit(text: &[u8], at: usize) -> Option<u16> {
    let digits = text.get(at..at + 6)?.strip_prefix(b"\\u")?;
    digits.iter().try_fold(0, |unit, digit| {
        let digit = char::from(*digit).to_digit(16)?;
        Some(unit << 4 | u16::try_from(digit).ok()?)
    })
}
