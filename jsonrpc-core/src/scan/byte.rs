//! Access to the bytes of a text.

/// The next place, or the place of an error.
pub(super) type Step = Result<usize, usize>;

/// Returns a byte; 0 at the end.
#[inline(always)]
pub(super) fn byte(bytes: &[u8], at: usize) -> u8 {
    bytes.get(at).copied().unwrap_or_default()
}
