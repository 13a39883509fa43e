//! Search of members. Skipped values are not validated.
use super::Scanner;
use super::skip::skip;
use core::ops::Range;

impl Scanner<'_> {
    /// Skips a value without validation, and returns its place. Brackets and strings delimit it.
    #[inline(always)]
    pub(crate) fn pass(&mut self) -> Option<Range<usize>> {
        let start = self.at;
        let end = skip(self.bytes, self.at);
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
        while !self.name()?.is(name) {
            self.pass()?;
            self.go_on()?.then_some(())?;
        }
        Some(())
    }
}
