//! The diagnostics of a connection.
use crate::client::Diagnostic;
use alloc::borrow::ToOwned;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use jsonrpc_core::wire::{self, DecodeError, Decoded};

/// Diagnostics that wait to be polled, in order. Beyond the limit, further ones are counted.
#[derive(Debug)]
pub(crate) struct Diagnostics {
    waiting: VecDeque<Diagnostic>,
    missed: u64,
    limit: usize,
}

impl Diagnostics {
    pub(crate) fn new(limit: usize) -> Self {
        Self { waiting: VecDeque::new(), missed: 0, limit }
    }

    pub(crate) fn push(&mut self, diagnostic: Diagnostic) {
        if self.waiting.len() < self.limit {
            self.waiting.push_back(diagnostic);
        } else {
            self.missed += 1;
        }
    }

    pub(crate) fn pop(&mut self) -> Option<Diagnostic> {
        if let Some(diagnostic) = self.waiting.pop_front() {
            return Some(diagnostic);
        }
        let count = core::mem::take(&mut self.missed);
        (count > 0).then_some(Diagnostic::Missed { count })
    }

    /// Takes a decoded value, and reports the values that were left out.
    pub(crate) fn tolerate<T>(
        &mut self,
        method: &str,
        decoded: Result<Decoded<T>, DecodeError>,
    ) -> Result<T, DecodeError> {
        let Decoded { value, diagnostics, .. } = decoded?;
        self.report(method, diagnostics);
        Ok(value)
    }

    fn report(&mut self, method: &str, diagnostics: Vec<wire::Diagnostic>) {
        if !diagnostics.is_empty() {
            self.push(Diagnostic::Lenient { method: method.to_owned(), diagnostics });
        }
    }
}
