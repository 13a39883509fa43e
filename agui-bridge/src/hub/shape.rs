//! The shape of a line: its parts around the text, which successive lines of a message have in
//! common.
use alloc::vec::Vec;
use core::ops::Range;

/// Maximum size of the parts, in bytes.
const MAX_SHAPE: usize = 4096;

/// Maximum number of lines that are learned for one message. Lines may differ in more than their
/// text and a number, so that no two have the same shape.
const MAX_LEARNT: u32 = 4;

/// The parts of a line before and after its text. Digits at one place of each may differ, since
/// some agents number their lines.
#[derive(Debug, Default)]
pub(super) struct Shape {
    /// Up to the quote before the text.
    head: Part,
    /// From the quote after the text.
    tail: Part,
    learnt: u32,
}

/// A part of the last line, and the place of the digits that may differ.
#[derive(Debug, Default)]
struct Part {
    bytes: Vec<u8>,
    digits: Option<Range<usize>>,
}

impl Shape {
    /// Learns the shape of a line. `text` is its text in quotes, a part of the line.
    pub(super) fn learn(&mut self, line: &str, text: &str) {
        if self.learnt >= MAX_LEARNT {
            return;
        }
        self.learnt += 1;
        let start = text.as_ptr().addr().wrapping_sub(line.as_ptr().addr());
        let head = line.get(..=start);
        let tail = line.get(start + text.len() - 1..);
        match (head, tail) {
            (Some(head), Some(tail)) if head.len() + tail.len() <= MAX_SHAPE => {
                self.head.learn(head.as_bytes());
                self.tail.learn(tail.as_bytes());
            }
            _ => (self.head, self.tail) = Default::default(),
        }
    }

    /// Returns the text of a line of this shape, in quotes. It may not be valid.
    pub(super) fn text<'a>(&self, line: &'a str) -> Option<&'a str> {
        if self.head.bytes.is_empty() {
            return None;
        }
        let behind = self.head.strip_prefix(line.as_bytes())?;
        let text = self.tail.strip_suffix(behind)?;
        let start = line.len() - behind.len() - 1;
        line.get(start..start + text.len() + 2)
    }
}

impl Part {
    fn learn(&mut self, bytes: &[u8]) {
        if self.bytes != bytes {
            self.digits = changed_digits(&self.bytes, bytes);
            self.bytes.clear();
            self.bytes.extend_from_slice(bytes);
        }
    }

    /// Returns the bytes before and after the digits that may differ.
    fn around(&self) -> Option<(&[u8], &[u8])> {
        let Range { start, end } = self.digits.clone()?;
        Some((self.bytes.get(..start)?, self.bytes.get(end..)?))
    }

    fn strip_prefix<'a>(&self, line: &'a [u8]) -> Option<&'a [u8]> {
        let Some((before, behind)) = self.around() else { return line.strip_prefix(&*self.bytes) };
        let rest = line.strip_prefix(before)?;
        let (number, rest) = rest.split_at(digits(rest.iter()));
        rest.strip_prefix(behind).filter(|_| is_number(number))
    }

    fn strip_suffix<'a>(&self, line: &'a [u8]) -> Option<&'a [u8]> {
        let Some((before, behind)) = self.around() else { return line.strip_suffix(&*self.bytes) };
        let rest = line.strip_suffix(behind)?;
        let (rest, number) = rest.split_at(rest.len() - digits(rest.iter().rev()));
        rest.strip_suffix(before).filter(|_| is_number(number))
    }
}

/// Returns the place of the digits in `bytes` if another text differs only in them, and any number
/// may replace them.
fn changed_digits(other: &[u8], bytes: &[u8]) -> Option<Range<usize>> {
    let same = other.iter().zip(bytes).take_while(|(one, other)| one == other).count();
    let start = same - digits(bytes.get(..same)?.iter().rev());
    let end = |bytes: &[u8]| Some(start + digits(bytes.get(start..)?.iter()));
    let (end, other_end) = (end(bytes)?, end(other)?);
    // Other digits may belong to an escape, such as `\u12ab34`.
    let is_number = match start.checked_sub(1).and_then(|before| bytes.get(before)) {
        Some(before) => !before.is_ascii_alphanumeric() && *before != b'\\',
        None => false,
    };
    let is_rest_same = bytes.get(end..) == other.get(other_end..);
    (start < end && start < other_end && is_number && is_rest_same).then_some(start..end)
}

fn digits<'a>(bytes: impl Iterator<Item = &'a u8>) -> usize {
    bytes.take_while(|byte| byte.is_ascii_digit()).count()
}

/// Returns whether digits are a JSON number, and so valid as a part of a string as well.
fn is_number(digits: &[u8]) -> bool {
    !digits.is_empty() && (digits.len() == 1 || digits.first() != Some(&b'0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the text of `line` after other lines with the text `"a"` were learned.
    fn text<'a>(learned: &[&str], line: &'a str) -> Option<&'a str> {
        let mut shape = Shape::default();
        for line in learned {
            let text = line.find(r#""a""#).and_then(|at| line.get(at..at + 3)).unwrap();
            shape.learn(line, text);
        }
        shape.text(line)
    }

    #[test]
    fn numbers_may_differ_at_one_place() {
        let numbered = [r#"{"n":98,"t":"a"}"#, r#"{"n":99,"t":"a"}"#];
        assert_eq!(text(&numbered, r#"{"n":100,"t":"b\"c"}"#), Some(r#""b\"c""#));
        assert_eq!(text(&numbered, r#"{"n":0,"t":"b"}"#), Some(r#""b""#));
        assert_eq!(text(&numbered[..1], r#"{"n":99,"t":"b"}"#), None);
        for other in [
            r#"{"n":,"t":"b"}"#,
            r#"{"n":01,"t":"b"}"#,
            r#"{"n":1e5,"t":"b"}"#,
            r#"{"n":1,"u":"b"}"#,
        ] {
            assert_eq!(text(&numbered, other), None, "{other}");
        }
        let behind = [r#"{"t":"a","n":"e-1"}"#, r#"{"t":"a","n":"e-25"}"#];
        assert_eq!(text(&behind, r#"{"t":"7","n":"e-9"}"#), Some(r#""7""#));
        assert_eq!(text(&behind, r#"{"t":"7","n":"e-"}"#), None);
        let both = [r#"{"n":1,"t":"a","m":1}"#, r#"{"n":2,"t":"a","m":2}"#];
        assert_eq!(text(&both, r#"{"n":3,"t":"b","m":40}"#), Some(r#""b""#));
        let two = [r#"{"n":1,"m":1,"t":"a"}"#, r#"{"n":2,"m":2,"t":"a"}"#];
        assert_eq!(text(&two, r#"{"n":3,"m":3,"t":"b"}"#), None);
    }

    #[test]
    fn digits_of_escapes_do_not_differ() {
        for (one, other) in [(r"\u1234", r"\u1235"), (r"\uab12", r"\uab13"), ("x1", "x2")] {
            let learned = [one, other].map(|text| alloc::format!(r#"{{"n":"{text}","t":"a"}}"#));
            let learned = learned.each_ref().map(|line| &**line);
            assert_eq!(text(&learned, r#"{"n":"\u1","t":"b"}"#), None, "{one}");
            assert_eq!(
                text(&learned, &alloc::format!(r#"{{"n":"{other}","t":"b"}}"#)),
                Some(r#""b""#)
            );
        }
    }

    #[test]
    fn long_parts_and_many_shapes_are_not_learned() {
        let long = alloc::format!(r#"{{"n":"{}","t":"a"}}"#, "x".repeat(MAX_SHAPE));
        assert_eq!(text(&[&long], &long), None);
        let lines = ["k", "l", "m", "n", "o"].map(|name| alloc::format!(r#"{{"{name}":"a"}}"#));
        let learned = lines.each_ref().map(|line| &**line);
        assert_eq!(text(&learned, &lines[3]), Some(r#""a""#));
        assert_eq!(text(&learned, &lines[4]), None);
    }
}
