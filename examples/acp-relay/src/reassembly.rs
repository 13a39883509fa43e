use crate::Chunk;
use jsonrpc_core::framing::{Lines, OnInvalid, TextPolicy};

/// The lines of one direction, put together from chunks.
#[derive(Debug)]
pub struct Reassembly {
    /// What is whole so far.
    pub lines: Lines,
    /// The start of the current line is missing.
    headless: bool,
}

/// Lines pass whatever they hold: what is no text is looked at as well.
const AS_THEY_ARE: TextPolicy = TextPolicy { utf8: OnInvalid::Pass, surrogates: OnInvalid::Pass };

impl Default for Reassembly {
    fn default() -> Self {
        Self { lines: Lines::default().with_text(AS_THEY_ARE), headless: false }
    }
}

impl Reassembly {
    /// Adds a chunk. After a gap, the next whole line counts.
    pub fn push(&mut self, chunk: &Chunk) {
        if chunk.after_gap {
            *self = Self { headless: true, ..Self::default() };
        }
        let mut bytes = &*chunk.bytes;
        if self.headless {
            let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else { return };
            bytes = bytes.get(end + 1..).unwrap_or_default();
            self.headless = false;
        }
        self.lines.push(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jsonrpc_core::transcript::Direction;
    use std::time::Instant;

    fn lines(chunks: &[(&str, bool)]) -> Vec<String> {
        let mut reassembly = Reassembly::default();
        let mut lines = Vec::new();
        for (text, after_gap) in chunks {
            reassembly.push(&Chunk {
                direction: Direction::Sent,
                at: Instant::now(),
                bytes: Box::from(text.as_bytes()),
                after_gap: *after_gap,
            });
            while let Some(line) = reassembly.lines.next() {
                lines.push(line.unwrap().to_owned());
            }
        }
        lines
    }

    #[test]
    fn lines_are_put_together() {
        assert_eq!(
            lines(&[("{\"a\"", false), (":1}\n{}", false), ("\n", false)]),
            [r#"{"a":1}"#, "{}"]
        );
    }

    #[test]
    fn after_a_gap_the_next_whole_line_counts() {
        let chunks = [
            ("{\"a\"", false),
            ("lost tail", true),
            ("}\n{}\n", false),
            ("{", false),
            ("}\n{}\n", true),
        ];
        assert_eq!(lines(&chunks), ["{}", "{}"]);
    }
}
