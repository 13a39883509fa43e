//! Puts lines together from chunks, after gaps too.
use super::Chunk;
use jsonrpc_core::framing::{FrameError, Lines, OnInvalid, TextPolicy};
use memchr::memchr;

/// Receiver of the lines of a [`Reassembly`].
pub trait Look {
    /// Handles a line without its end, or the prefix that is [`enough`](Self::enough).
    fn line(&mut self, line: Result<&[u8], FrameError>);

    /// Length of the prefix that decides a line, if `start` has all of it: the rest of the line is not kept then, and no
    /// line is too long. `None` while the length is unknown.
    fn enough(&self, _start: &[u8]) -> Option<usize> {
        None
    }
}

impl<F: FnMut(Result<&[u8], FrameError>)> Look for F {
    fn line(&mut self, line: Result<&[u8], FrameError>) {
        self(line);
    }
}

/// The lines of one direction, put together from chunks.
#[derive(Debug)]
pub struct Reassembly {
    place: Place,
    /// The start of an unfinished line.
    start: Vec<u8>,
    /// Length of `start` at the last call of [`Look::enough`].
    asked: usize,
    /// A line that is longer than a start, or the first line.
    lines: Lines,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Behind a line.
    Between,
    /// In a line; its start is held.
    InStart,
    /// In a line; its decisive prefix is held.
    Enough,
    /// In a line that the framing holds; a byte order mark may come before the first.
    InFraming,
    /// In a line without its start, behind a gap.
    Headless,
}

/// Maximum size of a start.
const MAX_START: usize = 64 << 10;

/// Lines pass with any bytes, invalid text included.
const AS_THEY_ARE: TextPolicy = TextPolicy { utf8: OnInvalid::Pass, surrogates: OnInvalid::Pass };

impl Default for Reassembly {
    fn default() -> Self {
        let lines = Lines::default().with_text(AS_THEY_ARE);
        Self { place: Place::InFraming, start: Vec::new(), asked: 0, lines }
    }
}

impl Reassembly {
    /// Adds a chunk, and hands on the lines that are whole then. After a gap, the next whole line counts.
    pub fn push(&mut self, chunk: &Chunk<'_>, mut look: impl Look) {
        if chunk.after_gap {
            *self = Self { place: Place::Headless, ..Self::default() };
        }
        let mut bytes = chunk.bytes;
        while let Some((line, rest)) = cut(bytes) {
            self.end(line, &mut look);
            bytes = rest;
        }
        if !bytes.is_empty() {
            self.go_on(bytes, &look);
            self.take_each(&mut look);
        }
    }

    /// Hands on what is left when nothing more comes.
    pub fn finish(&mut self, mut look: impl Look) {
        if matches!(self.place, Place::InStart | Place::Enough) {
            tell(&self.start, &mut look);
        }
        self.place = Place::InFraming;
        self.lines.finish();
        self.take_each(&mut look);
    }

    /// Takes the last of a line, with its end.
    fn end(&mut self, line: &[u8], look: &mut impl Look) {
        match core::mem::replace(&mut self.place, Place::Between) {
            // Whole lines are looked at where they are.
            Place::Between => tell(line, look),
            Place::InStart => {
                self.start.extend_from_slice(line);
                tell(&self.start, look);
            }
            Place::Enough => tell(&self.start, look),
            Place::InFraming => {
                self.lines.push(line);
                self.take_each(look);
            }
            Place::Headless => {}
        }
    }

    /// Takes more of a line that does not end yet.
    fn go_on(&mut self, bytes: &[u8], look: &impl Look) {
        match self.place {
            Place::Between => {
                self.start.clear();
                (self.place, self.asked) = (Place::InStart, 0);
                self.hold(bytes, look);
            }
            Place::InStart => self.hold(bytes, look),
            Place::InFraming => self.lines.push(bytes),
            Place::Enough | Place::Headless => {}
        }
    }

    /// Holds more of the start of a line, or what is enough of it.
    fn hold(&mut self, bytes: &[u8], look: &impl Look) {
        let held = self.start.len();
        let length = held + bytes.len();
        // Not of each byte that comes alone.
        let is_time = length >= 2 * self.asked;
        if held == 0
            && let Some(enough) = look.enough(bytes).and_then(|it| bytes.get(..it))
        {
            self.start.extend_from_slice(enough);
            self.place = Place::Enough;
        } else if length > MAX_START {
            self.lines.push(&self.start);
            self.lines.push(bytes);
            self.place = Place::InFraming;
        } else {
            self.start.extend_from_slice(bytes);
            if is_time {
                self.asked = length;
            }
            if held > 0
                && is_time
                && let Some(enough) = look.enough(&self.start)
            {
                self.start.truncate(enough);
                self.place = Place::Enough;
            }
        }
    }

    fn take_each(&mut self, look: &mut impl Look) {
        while let Some(line) = self.lines.next_bytes() {
            look.line(line);
        }
    }
}

/// Hands on a line, without its end, unless it is blank.
fn tell(line: &[u8], look: &mut impl Look) {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if !line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r')) {
        look.line(Ok(line));
    }
}

/// A line with its end, and what follows it.
fn cut(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
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
            let (direction, at) = (Direction::Sent, Instant::now());
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

    /// Looks at lines up to their first `.`.
    #[derive(Default)]
    struct UpToDot {
        lines: Vec<String>,
    }

    impl Look for &mut UpToDot {
        fn line(&mut self, line: Result<&[u8], FrameError>) {
            self.lines.push(String::from_utf8(line.unwrap().to_vec()).unwrap());
        }

        fn enough(&self, start: &[u8]) -> Option<usize> {
            memchr(b'.', start)
        }
    }

    /// However the bytes come: what is looked at starts with what is enough, and the lines behind are whole.
    #[test]
    fn of_a_line_whose_start_is_enough_no_more_is_kept() {
        let long = "x".repeat(Lines::DEFAULT_LIMIT);
        let text = format!("a\nb.{long}\n  cc.c\r\n\nd\n{}.yy\ne", &long[..100_000]);
        let up_to_dot = |line: &str| line.split('.').next().map(str::to_owned);
        let lines = text.lines().filter(|line| !line.is_empty());
        let expected: Vec<_> = lines.map(up_to_dot).collect();
        for size in [5, 1 << 10, (1 << 16) - 1, 1 << 16, 1 << 20, text.len()] {
            let (mut reassembly, mut seen) = (Reassembly::default(), UpToDot::default());
            for bytes in text.as_bytes().chunks(size) {
                let (direction, at) = (Direction::Sent, Instant::now());
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

    /// A line that comes byte by byte is not looked through at each of them.
    #[test]
    fn it_is_not_asked_of_each_byte() {
        struct Count<'a>(&'a core::cell::Cell<usize>);
        impl Look for Count<'_> {
            fn line(&mut self, _: Result<&[u8], FrameError>) {}
            fn enough(&self, start: &[u8]) -> Option<usize> {
                self.0.set(self.0.get() + start.len());
                None
            }
        }
        let (asked, mut reassembly) = (core::cell::Cell::new(0), Reassembly::default());
        let line = format!("\n{}\n", "x".repeat(MAX_START));
        for bytes in line.as_bytes().chunks(1) {
            let (direction, at) = (Direction::Sent, Instant::now());
            let chunk = Chunk { direction, at, bytes, after_gap: false };
            reassembly.push(&chunk, Count(&asked));
        }
        assert!(asked.get() <= 4 * MAX_START, "{}", asked.get());
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
                let chunk = Chunk { direction, at, bytes, after_gap: false };
                reassembly.push(&chunk, |line: Result<&[u8], FrameError>| {
                    lines.push(String::from_utf8(line.unwrap().to_vec()).unwrap());
                });
            }
            assert_eq!(lines, expected, "{size}");
        }
    }
}
