//! The shape of a line: its parts around the text, which successive lines of a message have in
//! common.
use jsonrpc_core::framing::Affix;

/// Maximum number of lines that are learned for one message. Lines may differ in more than their
/// text and a number, so that no two have the same shape.
const MAX_LEARNT: u32 = 4;

/// The parts of a line before and after its text. Digits at one place of each may differ, since
/// some agents number their lines.
#[derive(Debug, Default)]
pub(super) struct Shape {
    /// Up to the quote before the text.
    head: Affix,
    /// From the quote after the text.
    tail: Affix,
    learnt: u32,
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
        if let (Some(head), Some(tail)) = (head, tail) {
            self.head.learn(head.as_bytes());
            self.tail.learn(tail.as_bytes());
        }
    }

    /// Returns the text of a line of this shape, in quotes. It may not be valid.
    pub(super) fn text<'a>(&self, line: &'a str) -> Option<&'a str> {
        let behind = self.head.strip_prefix(line.as_bytes())?;
        let text = self.tail.strip_suffix(behind)?;
        let start = line.len() - behind.len() - 1;
        line.get(start..start + text.len() + 2)
    }
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
    fn long_parts_and_many_shapes_are_not_learned() {
        let long = alloc::format!(r#"{{"n":"{}","t":"a"}}"#, "x".repeat(Affix::MAX_LEN));
        assert_eq!(text(&[&long], &long), None);
        let lines = ["k", "l", "m", "n", "o"].map(|name| alloc::format!(r#"{{"{name}":"a"}}"#));
        let learned = lines.each_ref().map(|line| &**line);
        assert_eq!(text(&learned, &lines[3]), Some(r#""a""#));
        assert_eq!(text(&learned, &lines[4]), None);
    }
}
