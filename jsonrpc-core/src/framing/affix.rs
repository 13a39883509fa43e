//! Starts and ends that successive lines have in common.
use alloc::vec::Vec;
use core::ops::Range;

/// The start or the end that successive lines have in common, except for a number at one place.
///
/// Most lines of an agent continue one text: they differ from the previous line in a piece of text,
/// and with some agents in the number of the line. [`learn`](Self::learn) takes the part before the
/// text, or behind it, of a line that was read. Later lines with that part need not be read.
///
/// Digits in which two learned parts differ may be any number in a later line. The rest of a later
/// line is not examined, and may be invalid.
///
/// ```
/// use jsonrpc_core::framing::Affix;
///
/// let mut start = Affix::default();
/// start.learn(br#"{"n":98,"kind":"text","text":""#);
/// assert_eq!(start.strip_prefix(br#"{"n":98,"kind":"text","text":"Hi"}"#), Some(&br#"Hi"}"#[..]));
/// assert_eq!(start.strip_prefix(br#"{"n":99,"kind":"text","text":"Hi"}"#), None);
///
/// start.learn(br#"{"n":99,"kind":"text","text":""#);
/// assert_eq!(start.strip_prefix(br#"{"n":100,"kind":"text","text":"Hi"}"#), Some(&br#"Hi"}"#[..]));
/// assert_eq!(start.strip_prefix(br#"{"n":100,"kind":"tool","text":"Hi"}"#), None);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Affix {
    /// The part that was learned last. Empty if none is known.
    bytes: Vec<u8>,
    /// The place of the digits that may differ.
    digits: Option<Range<usize>>,
}

impl Affix {
    /// Maximum length of a learned part in bytes.
    pub const MAX_LEN: usize = 4096;

    /// Creates an affix with memory for parts up to a length, so that learning them does not
    /// allocate.
    pub fn with_capacity(length: usize) -> Self {
        Self { bytes: Vec::with_capacity(length), digits: None }
    }

    /// Learns the part of a line. A part that is empty or longer than [`MAX_LEN`](Self::MAX_LEN) is
    /// not learned, and the previous one is forgotten.
    pub fn learn(&mut self, part: &[u8]) {
        if part.len() > Self::MAX_LEN {
            self.forget();
        } else if self.bytes != part {
            self.digits = changed_digits(&self.bytes, part);
            self.bytes.clear();
            self.bytes.extend_from_slice(part);
        }
    }

    /// Forgets the learned part, and keeps its memory for the next.
    pub fn forget(&mut self) {
        self.bytes.clear();
        self.digits = None;
    }

    /// Returns the line without the learned part at its start, or `None` if it starts otherwise.
    #[inline]
    pub fn strip_prefix<'a>(&self, line: &'a [u8]) -> Option<&'a [u8]> {
        let Some((before, behind)) = self.around_digits() else {
            return line.strip_prefix(&*self.bytes).filter(|_| !self.bytes.is_empty());
        };
        let rest = line.strip_prefix(before)?;
        let (number, rest) = rest.split_at(count_digits(rest.iter()));
        rest.strip_prefix(behind).filter(|_| is_number(number))
    }

    /// Returns the line without the learned part at its end, or `None` if it ends otherwise.
    #[inline]
    pub fn strip_suffix<'a>(&self, line: &'a [u8]) -> Option<&'a [u8]> {
        let Some((before, behind)) = self.around_digits() else {
            return line.strip_suffix(&*self.bytes).filter(|_| !self.bytes.is_empty());
        };
        let rest = line.strip_suffix(behind)?;
        let (rest, number) = rest.split_at(rest.len() - count_digits(rest.iter().rev()));
        rest.strip_suffix(before).filter(|_| is_number(number))
    }

    /// Returns the bytes before and behind the digits that may differ.
    #[inline]
    fn around_digits(&self) -> Option<(&[u8], &[u8])> {
        let Range { start, end } = self.digits.clone()?;
        Some((self.bytes.get(..start)?, self.bytes.get(end..)?))
    }
}

/// Returns the place of the digits in `bytes` if `previous` differs from it in these digits only,
/// and any number may replace them.
fn changed_digits(previous: &[u8], bytes: &[u8]) -> Option<Range<usize>> {
    let common = previous.iter().zip(bytes).take_while(|(one, other)| one == other).count();
    let start = common - count_digits(bytes.get(..common)?.iter().rev());
    // Digits behind a letter or a backslash may belong to an escape, such as `\u12ab34`.
    let last = start.checked_sub(1).and_then(|last| bytes.get(last))?;
    if last.is_ascii_alphanumeric() || *last == b'\\' {
        return None;
    }
    let end = start + count_digits(bytes.get(start..)?.iter());
    let previous_end = start + count_digits(previous.get(start..)?.iter());
    let has_same_rest = bytes.get(end..) == previous.get(previous_end..);
    (start < end && start < previous_end && has_same_rest).then_some(start..end)
}

fn count_digits<'a>(bytes: impl Iterator<Item = &'a u8>) -> usize {
    bytes.take_while(|byte| byte.is_ascii_digit()).count()
}

/// Returns whether digits are a JSON number, and so valid as a part of a string as well.
fn is_number(digits: &[u8]) -> bool {
    digits.len() == 1 || digits.first().is_some_and(|first| *first != b'0')
}
