//! Search of members. Skipped values are not validated.
use super::skip::skip;
use super::string::{escaped_string, plain_string};
use super::token::{begins_with, byte, colon, token};
use super::{Name, Scanner};
use core::ops::Range;

/// Strings up to this length are scanned again instead of remembered.
const LONG: usize = 16;

impl Scanner<'_> {
    /// Skips a value without validation, and returns its place. Brackets and strings delimit it.
    #[inline(always)]
    pub(crate) fn pass(&mut self) -> Option<Range<usize>> {
        let start = self.at;
        match skip(self.bytes, start) {
            Some(end) => {
                self.at = end;
                Some(start..end)
            }
            None => {
                self.at = self.bytes.len();
                None
            }
        }
    }

    /// Returns the end of the value at a place, without validation.
    pub(crate) fn end_of(&self, start: usize) -> Option<usize> {
        skip(self.bytes, start)
    }

    /// Within an object: goes to the value of the first member with a name, without validation.
    #[inline]
    pub(crate) fn seek_member(&mut self, name: &str) -> Option<()> {
        let bytes = self.bytes;
        let mut at = self.at;
        loop {
            let quote;
            (quote, at) = token(bytes, at);
            if quote != b'"' {
                return None;
            }
            let start = at + 1;
            let (end, is_same) = match plain_string(bytes, start) {
                Ok(end) => (end, bytes.get(start..end - 1) == Some(name.as_bytes())),
                Err(escape) => {
                    let end = escaped_string(bytes, escape).ok()?;
                    let bytes = bytes.get(start..end - 1)?;
                    (end, Name { bytes, has_escapes: true }.is(name))
                }
            };
            self.at = colon(bytes, end).ok()?;
            if is_same {
                return Some(());
            }
            let comma;
            (comma, at) = token(bytes, skip(bytes, self.at)?);
            if comma != b',' {
                return None;
            }
            at += 1;
        }
    }

    /// Moves to the value of a member, from the bracket of its object or from the comma before an earlier member. `quoted`
    /// is its name as a JSON string between a comma and a colon. Skipped text is not validated here; it has to be read
    /// later. Returns whether it is the first member after that place; `None` if there is no such member, an earlier name
    /// has escapes, or white space follows the name.
    pub(crate) fn find_member(&mut self, quoted: &str, is_at_bracket: bool) -> Option<bool> {
        let bytes = self.bytes;
        let [_, name @ ..] = quoted.as_bytes() else { return None };
        let (byte, mut at) = token(bytes, self.at);
        if byte != if is_at_bracket { b'{' } else { b',' } {
            return None;
        }
        let mut is_first = true;
        loop {
            let (quote, place) = token(bytes, at + 1);
            if begins_with(bytes.get(place..)?, name) {
                self.at = token(bytes, place + name.len()).1;
                return Some(is_first);
            }
            if quote != b'"' {
                return None;
            }
            let end = plain_string(bytes, place + 1).ok()?;
            let comma;
            (comma, at) = token(bytes, self.pass_over(colon(bytes, end).ok()?)?);
            if comma != b',' {
                return None;
            }
            is_first = false;
        }
    }

    /// Skips a value, distinguishing only strings and brackets. Returns `None` if it does not end.
    #[inline(always)]
    fn pass_over(&mut self, mut at: usize) -> Option<usize> {
        let bytes = self.bytes;
        let mut open = 0_usize;
        loop {
            let mut next = byte(bytes, at);
            if next == b'"' {
                at = self.pass_over_string(at + 1)?;
                if open == 0 {
                    return Some(at);
                }
                next = byte(bytes, at);
            }
            match next {
                b'{' | b'[' => open += 1,
                b'}' | b']' if open > 1 => open -= 1,
                // The last bracket, or the byte after a number or a word.
                b'}' | b']' => return Some(at + open),
                b',' if open == 0 => return Some(at),
                b'"' => continue,
                0 => return None,
                _ => {}
            }
            at += 1;
        }
    }

    /// Skips a string, and remembers its end if it is long, since it has to be read again.
    #[inline(always)]
    fn pass_over_string(&mut self, start: usize) -> Option<usize> {
        match self.plain_string(start) {
            Ok(end) => {
                if end - start > LONG {
                    self.passed = (start, end);
                }
                Some(end)
            }
            Err(at) => escaped_string(self.bytes, at).ok(),
        }
    }

    /// Copies the remembered string of another scanner of the same text.
    #[inline(always)]
    pub(crate) fn remember(&mut self, other: &Self) {
        self.passed = other.passed;
    }
}
