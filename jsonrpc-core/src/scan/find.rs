//! Search of members. Skipped values are not validated.
use super::skip::skip;
use super::string::{escaped_string, plain_string};
use super::token::{begins_with, colon, token};
use super::{Name, Scanner};
use core::ops::Range;

impl Scanner<'_> {
    /// Skips a value without validation, and returns its place. Brackets and strings delimit it.
    #[inline(always)]
    pub(crate) fn pass(&mut self) -> Option<Range<usize>> {
        let (start, end) = (self.at, skip(self.bytes, self.at));
        self.at = end.unwrap_or(self.bytes.len());
        end.map(|end| start..end)
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
                Ok(end) => (
                    end,
                    end - 1 - start == name.len()
                        && begins_with(bytes.get(start..)?, name.as_bytes()),
                ),
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
}
