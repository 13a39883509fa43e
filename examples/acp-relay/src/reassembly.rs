use crate::Chunk;
use jsonrpc_core::framing::{FrameError, Lines, OnInvalid, TextPolicy};
use memchr::memchr;

/// The lines of one direction, put together from chunks.
#[derive(Debug)]
pub struct Reassembly {
    /// What is held of lines whose end has not come.
    lines: Lines,
    /// The start of the current line is missing.
    is_headless: bool,
    /// Nothing is held.
    is_between: bool,
}

/// Lines pass whatever they hold: what is no text is looked at as well.
const AS_THEY_ARE: TextPolicy = TextPolicy { utf8: OnInvalid::Pass, surrogates: OnInvalid::Pass };

impl Default for Reassembly {
    fn default() -> Self {
        let lines = Lines::default().with_text(AS_THEY_ARE);
        // A byte order mark may come.
        Self { lines, is_headless: false, is_between: false }
    }
}

impl Reassembly {
    /// Adds a chunk, and hands on the lines that are whole then. After a gap, the next whole line counts.
    pub fn push(&mut self, chunk: &Chunk<'_>, mut take: impl FnMut(Result<&[u8], FrameError>)) {
        if chunk.after_gap {
            *self = Self { is_headless: true, ..Self::default() };
        }
        let mut bytes = chunk.bytes;
        if self.is_headless {
            let Some((_, rest)) = cut(bytes) else { return };
            bytes = rest;
            (self.is_headless, self.is_between) = (false, true);
        }
        // Whole lines are looked at where they are.
        while self.is_between
            && let Some((line, rest)) = cut(bytes)
        {
            bytes = rest;
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if !line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r')) {
                take(Ok(line));
            }
        }
        if !bytes.is_empty() {
            self.lines.push(bytes);
            self.is_between = bytes.ends_with(b"\n");
            self.take_each(take);
        }
    }

    /// Hands on what is left when nothing more comes.
    pub fn finish(&mut self, take: impl FnMut(Result<&[u8], FrameError>)) {
        self.lines.finish();
        self.take_each(take);
    }

    fn take_each(&mut self, mut take: impl FnMut(Result<&[u8], FrameError>)) {
        while let Some(line) = self.lines.next_bytes() {
            take(line);
        }
    }
}

/// A line without its end, and what follows it.
fn cut(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = memchr(b'\n', bytes)?;
    Some((bytes.get(..end)?, bytes.get(end + 1..)?))
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
            let (direction, at) = (Direction::Sent, Instant::now());
            let chunk = Chunk { direction, at, bytes: text.as_bytes(), after_gap: *after_gap };
            reassembly.push(&chunk, |line| {
                lines.push(String::from_utf8(line.unwrap().to_vec()).unwrap());
            });
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

    /// However the bytes come, the lines are those of `Lines`.
    #[test]
    fn lines_are_those_of_the_framing() {
        let text = "\u{feff}{}\r\n \t\n[1]\n\n\r\n{\"a\":\"é\"}\n\r\r\n x \n";
        let mut whole = Lines::default();
        whole.push(text.as_bytes());
        let mut expected = Vec::new();
        while let Some(line) = whole.next() {
            expected.push(line.unwrap().to_owned());
        }
        for size in 1..=text.len() {
            let mut reassembly = Reassembly::default();
            let mut lines = Vec::new();
            for bytes in text.as_bytes().chunks(size) {
                let (direction, at) = (Direction::Sent, Instant::now());
                reassembly.push(&Chunk { direction, at, bytes, after_gap: false }, |line| {
                    lines.push(String::from_utf8(line.unwrap().to_vec()).unwrap());
                });
            }
            assert_eq!(lines, expected, "{size}");
        }
    }
}
