//! A stack of open brackets.
use alloc::vec::Vec;

/// The kinds of open brackets, as bits: the innermost 64 directly, outer ones in a vector.
pub(super) struct OpenBrackets {
    pub(super) depth: usize,
    bits: u64,
    at_hand: u32,
    put_by: Vec<u64>,
}

impl OpenBrackets {
    #[inline(always)]
    pub(super) fn new() -> Self {
        Self { depth: 0, bits: 0, at_hand: 0, put_by: Vec::new() }
    }

    #[inline(always)]
    pub(super) fn push(&mut self, is_object: bool) {
        if self.at_hand == u64::BITS {
            self.put_by();
        }
        self.bits = self.bits << 1 | u64::from(is_object);
        self.at_hand += 1;
        self.depth += 1;
    }

    /// Returns whether the innermost bracket is an object's.
    #[inline(always)]
    pub(super) fn top(&self) -> bool {
        self.bits & 1 == 1
    }

    #[inline(always)]
    pub(super) fn pop(&mut self) {
        self.bits >>= 1;
        self.at_hand -= 1;
        self.depth -= 1;
        if self.at_hand == 0 {
            self.take_back();
        }
    }

    #[cold]
    fn put_by(&mut self) {
        self.put_by.push(self.bits);
        self.at_hand = 0;
    }

    #[cold]
    fn take_back(&mut self) {
        if let Some(bits) = self.put_by.pop() {
            (self.bits, self.at_hand) = (bits, u64::BITS);
        }
    }
}
