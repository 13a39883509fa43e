//! Trace and span ids.

use opentelemetry::trace::{SpanId, TraceId};
use opentelemetry_sdk::trace::{IdGenerator, RandomIdGenerator};
use sha2::{Digest, Sha256};
use std::io::{self, BufRead};

/// A source of ids.
#[derive(Debug)]
pub struct Ids(Source);

#[derive(Debug)]
enum Source {
    Random(RandomIdGenerator),
    Derived {
        /// State of the hash after the text.
        text: Sha256,
        /// Number of generated ids.
        given: u64,
    },
}

impl Ids {
    /// Creates a source of random ids.
    pub fn random() -> Self {
        Self(Source::Random(RandomIdGenerator::default()))
    }

    /// Creates a source of ids that are deterministic for a text: the n-th id is a prefix of the
    /// SHA-256 of the text followed by n as eight bytes.
    ///
    /// # Errors
    /// Returns an error if the text cannot be read.
    pub fn derived(mut text: impl BufRead) -> io::Result<Self> {
        let mut hash = Sha256::new();
        loop {
            let bytes = text.fill_buf()?;
            if bytes.is_empty() {
                return Ok(Self(Source::Derived { text: hash, given: 0 }));
            }
            hash.update(bytes);
            let length = bytes.len();
            text.consume(length);
        }
    }

    pub(crate) fn trace_id(&mut self) -> TraceId {
        match &mut self.0 {
            Source::Random(ids) => ids.new_trace_id(),
            Source::Derived { text, given } => TraceId::from_bytes(derive(text, given)),
        }
    }

    pub(crate) fn span_id(&mut self) -> SpanId {
        match &mut self.0 {
            Source::Random(ids) => ids.new_span_id(),
            Source::Derived { text, given } => SpanId::from_bytes(derive(text, given)),
        }
    }
}

fn derive<const N: usize>(text: &Sha256, given: &mut u64) -> [u8; N] {
    *given += 1;
    let hash: [u8; 32] = text.clone().chain_update(given.to_be_bytes()).finalize().into();
    hash.first_chunk().copied().unwrap_or([0; N])
}
