//! A stack of open brackets.
use alloc::vec::Vec;

/// The kinds of open brackets, as bits: the innermost 63 directly, outer ones in a vector.
pub(super) struct OpenBrackets {
    /// A one above a bit for each bracket; the innermost is the lowest.
    bits: u64,
    put_by: Vec<u64>,
}

impl OpenBrackets {
    const EMPTY: u64 = 1;

    #[inline(always)]
    pub(super) fn new() -> Self {
        Self { bits: Self::EMPTY, put_by: Vec::new() }
    }

    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.bits == Self::EMPTY
    }

    #[inline(always)]
    pub(super) fn push(&mut self, is_object: bool) {
        if self.bits.leading_zeros() == 0 {
            self.put_by();
        }
        self.bits = self.bits << 1 | u64::from(is_object);
    }

    /// Returns whether the innermost bracket is an object's.
    #[inline(always)]
    pub(super) fn top(&self) -> bool {
        self.bits & 1 == 1
    }

    #[inline(always)]
    pub(super) fn pop(&mut self) {
        self.bits >>= 1;
        if self.is_empty() {
            self.take_back();
        }
    }

    #[cold]
    fn put_by(&mut self) {
        self.put_by.push(self.bits);
        self.bits = Self::EMPTY;
    }

    #[cold]
    fn take_back(&mut self) {
        if let Some(bits) = self.put_by.pop() {
            self.bits = bits;
        }
    }
}
