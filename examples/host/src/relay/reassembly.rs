//! Reassembly of lines from chunks, also after gaps.
use super::Chunk;
use jsonrpc_core::framing::{FrameError, InvalidTextAction, Lines, TextPolicy};
use memchr::memchr;

/// Observer of the lines of a [`Reassembly`].
pub trait LineObserver {
    /// Takes a line without its end: the whole line, or the [decisive
    /// prefix](Self::decisive_prefix).
    fn line(&mut self, line: Result<&[u8], FrameError>);

    /// Returns the length of the prefix that decides the line, if `start` contains it. The rest is
    /// then dropped, and no line is too long. Returns `None` while the length is unknown.
    fn decisive_prefix(&self, _start: &[u8]) -> Option<usize> {
        None
    }
}

impl<F: FnMut(Result<&[u8], FrameError>)> LineObserver for F {
    fn line(&mut self, line: Result<&[u8], FrameError>) {
        self(line);
    }
}

/// The lines of one direction, reassembled from chunks.
///
/// It emits the lines of [`Lines`], but unlike `Lines` it does not copy a line that is complete in
/// a chunk, and of a decided line it keeps only the prefix. `Lines` splits the rest: the first line
/// of the stream, and lines that are still undecided after 64 KiB.
#[derive(Debug)]
pub struct Reassembly {
    place: Place,
    /// The start of an incomplete line.
    start: Vec<u8>,
    /// Length of the start at the last call of `decisive_prefix`.
    examined: usize,
    /// A line that is longer than a start, or the first.
    lines: Lines,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// After a line.
    Between,
    /// In a line with its start in `start`.
    InStart,
    /// In a line with its decisive prefix in `start`.
    Decided,
    /// In a line in `lines`; a byte order mark may precede the first.
    InFraming,
    /// In a line without its start.
    Headless,
}

/// Maximum length of a start.
const MAX_START: usize = 64 << 10;

/// Lines may contain any bytes: invalid text is observed as well.
const AS_THEY_ARE: TextPolicy =
    TextPolicy { utf8: InvalidTextAction::Pass, surrogates: InvalidTextAction::Pass };

impl Default for Reassembly {
    fn default() -> Self {
        let lines = Lines::default().with_text(AS_THEY_ARE);
        Self { place: Place::InFraming, start: Vec::new(), examined: 0, lines }
    }
}

impl Reassembly {
    /// Adds a chunk, and emits complete lines. After a gap, the incomplete line is dropped.
    pub fn push(&mut self, chunk: &Chunk<'_>, mut look: impl LineObserver) {
        if chunk.after_gap {
            *self = Self { place: Place::Headless, ..Self::default() };
        }
        let mut bytes = chunk.bytes;
        while let Some((line, rest)) = split_line(bytes) {
            self.end(line, &mut look);
            bytes = rest;
        }
        if !bytes.is_empty() {
            self.go_on(bytes, &look);
            self.take_each(&mut look);
        }
    }

    /// Emits the rest at the end of the stream.
    pub fn finish(&mut self, mut look: impl LineObserver) {
        if matches!(self.place, Place::InStart | Place::Decided) {
            emit(&self.start, &mut look);
        }
        self.place = Place::InFraming;
        self.lines.finish();
        self.take_each(&mut look);
    }

    /// Takes the last part of a line, with its end.
    fn end(&mut self, line: &[u8], look: &mut impl LineObserver) {
        match core::mem::replace(&mut self.place, Place::Between) {
            // A complete line is not copied.
            Place::Between => emit(line, look),
            Place::InStart => {
                self.start.extend_from_slice(line);
                emit(&self.start, look);
            }
            Place::Decided => emit(&self.start, look),
            Place::InFraming => {
                self.lines.push(line);
                self.take_each(look);
            }
            Place::Headless => {}
        }
    }

    /// Takes a further part of an incomplete line.
    fn go_on(&mut self, bytes: &[u8], look: &impl LineObserver) {
        match self.place {
            Place::Between => {
                self.start.clear();
                self.place = Place::InStart;
                self.examined = 0;
                self.hold(bytes, look);
            }
            Place::InStart => self.hold(bytes, look),
            Place::InFraming => self.lines.push(bytes),
            Place::Decided | Place::Headless => {}
        }
    }

    /// Extends the start of a line, or cuts it to the decisive prefix.
    fn hold(&mut self, bytes: &[u8], look: &impl LineObserver) {
        let held = self.start.len();
        let length = held + bytes.len();
        // Not for each single byte.
        let is_time = length >= 2 * self.examined;
        if held == 0
            && let Some(prefix) = look.decisive_prefix(bytes).and_then(|it| bytes.get(..it))
        {
            self.start.extend_from_slice(prefix);
            self.place = Place::Decided;
        } else if length > MAX_START {
            self.lines.push(&self.start);
            self.lines.push(bytes);
            self.place = Place::InFraming;
        } else {
            self.start.extend_from_slice(bytes);
            if is_time {
                self.examined = length;
            }
            if held > 0
                && is_time
                && let Some(length) = look.decisive_prefix(&self.start)
            {
                self.start.truncate(length);
                self.place = Place::Decided;
            }
        }
    }

    fn take_each(&mut self, look: &mut impl LineObserver) {
        while let Some(line) = self.lines.next_bytes() {
            look.line(line);
        }
    }
}

/// Emits a line without its end, unless it is blank.
fn emit(line: &[u8], look: &mut impl LineObserver) {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if !line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r')) {
        look.line(Ok(line));
    }
}

/// Splits a line with its end from the bytes after it.
fn split_line(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    bytes.split_at_checked(memchr(b'\n', bytes)? + 1)
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
            let direction = Direction::Sent;
            let at = Instant::now();
            let chunk = Chunk { direction, at, bytes: text.as_bytes(), after_gap: *after_gap };
            reassembly.push(&chunk, |line: Result<&[u8], FrameError>| {
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

    /// Observes lines up to their first `.`.
    #[derive(Default)]
    struct UpToDot {
        lines: Vec<String>,
    }

    impl LineObserver for &mut UpToDot {
        fn line(&mut self, line: Result<&[u8], FrameError>) {
            self.lines.push(String::from_utf8(line.unwrap().to_vec()).unwrap());
        }

        fn decisive_prefix(&self, start: &[u8]) -> Option<usize> {
            memchr(b'.', start)
        }
    }

    /// For any split of the bytes, the observed prefix is sufficient, and the following lines are
    /// complete.
    #[test]
    fn only_the_deciding_prefix_is_kept() {
        let long = "x".repeat(Lines::DEFAULT_LIMIT);
        let text = format!("a\nb.{long}\n  cc.c\r\n\nd\n{}.yy\ne", &long[..100_000]);
        let up_to_dot = |line: &str| line.split('.').next().map(str::to_owned);
        let lines = text.lines().filter(|line| !line.is_empty());
        let expected: Vec<_> = lines.map(up_to_dot).collect();
        for size in [5, 1 << 10, (1 << 16) - 1, 1 << 16, 1 << 20, text.len()] {
            let mut reassembly = Reassembly::default();
            let mut seen = UpToDot::default();
            for bytes in text.as_bytes().chunks(size) {
                let direction = Direction::Sent;
                let at = Instant::now();
                reassembly.push(&Chunk { direction, at, bytes, after_gap: false }, &mut seen);
                assert!(reassembly.start.capacity() <= 2 * MAX_START, "{size}");
            }
            reassembly.finish(&mut seen);
            assert!(
                seen.lines.iter().map(|line| up_to_dot(line)).eq(expected.iter().cloned()),
                "{size}"
            );
        }
    }

    /// A line that arrives byte by byte is not searched at each byte.
    #[test]
    fn enough_is_not_called_for_each_byte() {
        struct Count<'a>(&'a core::cell::Cell<usize>);
        impl LineObserver for Count<'_> {
            fn line(&mut self, _: Result<&[u8], FrameError>) {}
            fn decisive_prefix(&self, start: &[u8]) -> Option<usize> {
                self.0.set(self.0.get() + start.len());
                None
            }
        }
        let examined = core::cell::Cell::new(0);
        let mut reassembly = Reassembly::default();
        let line = format!("\n{}\n", "x".repeat(MAX_START));
        for bytes in line.as_bytes().chunks(1) {
            let direction = Direction::Sent;
            let at = Instant::now();
            let chunk = Chunk { direction, at, bytes, after_gap: false };
            reassembly.push(&chunk, Count(&examined));
        }
        assert!(examined.get() <= 4 * MAX_START, "{}", examined.get());
    }

    /// For any split of the bytes, the lines equal those of `Lines`.
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
                let direction = Direction::Sent;
                let at = Instant::now();
                let chunk = Chunk { direction, at, bytes, after_gap: false };
                reassembly.push(&chunk, |line: Result<&[u8], FrameError>| {
                    lines.push(String::from_utf8(line.unwrap().to_vec()).unwrap());
                });
            }
            assert_eq!(lines, expected, "{size}");
        }
    }
}
