//! One pass over the bytes of JSON text. It takes no memory of its own, but for a word for each 64 arrays and objects
//! inside each other.
//!
//! It takes exactly the texts that serde_json takes as a raw value, however deep they are: the grammar is checked, numbers may have any size, escapes may be halves of surrogate pairs. Whether the bytes are UTF-8
//! is not its business.
//!
//! What reads gives nothing where the text is not JSON, and the scanner is then at the [fault](Scanner::fault).
mod open;
mod skip;
mod string;

use skip::skip;
pub(crate) use string::{is_plain_text, plain_prefix, plain_string, string};

use crate::json_str::JsonStr;
use alloc::string::String;
use core::ops::Range;
use open::Open;
use string::{escaped_string, unescape};

/// Up to this many bytes a string is read again as fast as it is remembered.
const LONG: usize = 16;

/// The name of a member, as it stands between its quotes.
#[derive(Clone, Copy)]
pub(crate) struct Name<'a> {
    bytes: &'a [u8],
    has_escapes: bool,
}

impl<'a> Name<'a> {
    #[inline]
    pub(crate) fn is(&self, name: &str) -> bool {
        if self.has_escapes {
            return self.text().is_some_and(|text| text == name);
        }
        self.bytes == name.as_bytes()
    }

    /// What stands between the quotes, where that is the name itself.
    #[inline(always)]
    pub(crate) fn plain(&self) -> Option<&'a [u8]> {
        (!self.has_escapes).then_some(self.bytes)
    }

    /// What stands between the quotes.
    pub(crate) fn escaped(&self) -> &'a [u8] {
        self.bytes
    }

    /// Nothing where the bytes are not UTF-8.
    pub(crate) fn text(&self) -> Option<JsonStr<'a>> {
        core::str::from_utf8(self.bytes).ok().map(JsonStr::between_quotes)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Where a string without escapes that was passed over begins and ends: behind its first quote, and behind its last.
    passed: (usize, usize),
}

impl<'a> Scanner<'a> {
    pub(crate) fn of_any_depth(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, passed: (0, 0) }
    }

    /// Where reading ended, after it gave nothing.
    pub(crate) fn fault(&self) -> usize {
        self.at
    }

    /// Enters an object; whether it has members.
    #[inline(always)]
    pub(crate) fn enter(&mut self) -> Option<bool> {
        self.open_object().then(|| self.begin_members())
    }

    /// Goes on behind the value of a member; whether there is another member.
    #[inline(always)]
    pub(crate) fn go_on(&mut self) -> Option<bool> {
        let is_more = match self.next_token() {
            b',' => true,
            b'}' => false,
            _ => return None,
        };
        self.at += 1;
        Some(is_more)
    }

    /// Reads a value of any kind, and says where it is.
    #[inline(always)]
    pub(crate) fn value(&mut self) -> Option<Range<usize>> {
        let start = self.at;
        let step = match byte(self.bytes, start) {
            b'"' => self.plain_string(start + 1).or_else(|at| escaped_string(self.bytes, at)),
            b'{' | b'[' => self.nested(start),
            _ => scalar(self.bytes, start),
        };
        self.take(step)?;
        Some(start..self.at)
    }

    /// Passes over a value that is not checked, and says where it is: its brackets and strings decide where it ends.
    #[inline(always)]
    pub(crate) fn pass(&mut self) -> Option<Range<usize>> {
        let start = self.at;
        match skip(self.bytes, start) {
            Some(end) => {
                self.at = end;
                Some(start..end)
            }
            None => {
                self.at = self.bytes.len();
                None
            }
        }
    }

    /// Behind the bracket that begins an object: goes to the value of the first member of a name. Nothing is checked.
    #[inline]
    pub(crate) fn seek_member(&mut self, name: &str) -> Option<()> {
        let bytes = self.bytes;
        let mut at = self.at;
        loop {
            let quote;
            (quote, at) = token(bytes, at);
            if quote != b'"' {
                return None;
            }
            let start = at + 1;
            let (end, is_same) = match plain_string(bytes, start) {
                Ok(end) => (end, bytes.get(start..end - 1) == Some(name.as_bytes())),
                Err(escape) => {
                    let end = escaped_string(bytes, escape).ok()?;
                    let bytes = bytes.get(start..end - 1)?;
                    (end, Name { bytes, has_escapes: true }.is(name))
                }
            };
            self.at = colon(bytes, end).ok()?;
            if is_same {
                return Some(());
            }
            let comma;
            (comma, at) = token(bytes, skip(bytes, self.at)?);
            if comma != b',' {
                return None;
            }
            at += 1;
        }
    }

    /// Reads a string without escapes, and says where it is with its quotes. Returns `None` for any other value.
    #[inline(always)]
    pub(crate) fn plain_text(&mut self) -> Option<Range<usize>> {
        let start = self.literal(b"\"")?;
        self.at = plain_string(self.bytes, self.at).ok()?;
        Some(start..self.at)
    }

    /// Reads a whole number of few digits that the end of a member follows at once. Returns `None` for any other value.
    #[inline(always)]
    pub(crate) fn small_number(&mut self) -> Option<Range<usize>> {
        // As many as any number of 64 bits may have.
        const DIGITS: usize = 18;
        let (start, mut at) = (self.at, self.at);
        // A number that starts with a zero has to be looked at more closely.
        if byte(self.bytes, at) == b'0' {
            return None;
        }
        loop {
            match byte(self.bytes, at) {
                b'0'..=b'9' if at - start < DIGITS => at += 1,
                b',' | b'}' if at > start => break,
                _ => return None,
            }
        }
        self.at = at;
        Some(start..at)
    }

    /// Goes into an object, if one begins here.
    #[inline(always)]
    pub(crate) fn open_object(&mut self) -> bool {
        let is_object = self.next_token() == b'{';
        self.at += usize::from(is_object);
        is_object
    }

    /// Behind the bracket that begins an object: whether it has members. Goes behind its end otherwise.
    #[inline(always)]
    pub(crate) fn begin_members(&mut self) -> bool {
        let has_members = self.next_token() != b'}';
        self.at += usize::from(!has_members);
        has_members
    }

    /// The text that is read.
    pub(crate) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Goes to the value of the member `name` of the object whose members are read: from the value of another one that is
    /// before it. What is passed over has to be read later, and is checked then: here only strings are told from brackets.
    /// Nothing where there is no such member, or a name has escapes.
    pub(crate) fn find_member(&mut self, name: &str) -> Option<()> {
        let bytes = self.bytes;
        let (_, mut at) = token(bytes, self.at);
        loop {
            at = self.pass_over(at)?;
            let (comma, place) = token(bytes, at);
            let (quote, place) = token(bytes, place + 1);
            if comma != b',' || quote != b'"' {
                return None;
            }
            let end = plain_string(bytes, place + 1).ok()?;
            at = colon(bytes, end).ok()?;
            if bytes.get(place + 1..end - 1) == Some(name.as_bytes()) {
                self.at = at;
                return Some(());
            }
        }
    }

    /// Passes over a value, and tells only strings from brackets. Nothing where it has no end.
    #[inline(always)]
    fn pass_over(&mut self, mut at: usize) -> Option<usize> {
        let bytes = self.bytes;
        let mut open = 0_usize;
        loop {
            let mut next = byte(bytes, at);
            if next == b'"' {
                at = self.pass_over_string(at + 1)?;
                if open == 0 {
                    return Some(at);
                }
                next = byte(bytes, at);
            }
            match next {
                b'{' | b'[' => open += 1,
                b'}' | b']' if open > 1 => open -= 1,
                // The last bracket, or what is behind a number or a word.
                b'}' | b']' => return Some(at + open),
                b',' if open == 0 => return Some(at),
                b'"' => continue,
                0 => return None,
                _ => {}
            }
            at += 1;
        }
    }

    /// Passes over a string, and remembers where it ends if it is a long one: it has to be read again.
    #[inline(always)]
    fn pass_over_string(&mut self, start: usize) -> Option<usize> {
        match self.plain_string(start) {
            Ok(end) => {
                if end - start > LONG {
                    self.passed = (start, end);
                }
                Some(end)
            }
            Err(at) => escaped_string(self.bytes, at).ok(),
        }
    }

    /// Reads a string without escapes behind its first quote, which may have been passed over.
    #[inline(always)]
    fn plain_string(&self, start: usize) -> Step {
        if start == self.passed.0 {
            return Ok(self.passed.1);
        }
        plain_string(self.bytes, start)
    }

    /// What another scanner of the same text has passed over needs not be looked through again.
    #[inline(always)]
    pub(crate) fn remember(&mut self, other: &Self) {
        self.passed = other.passed;
    }

    /// Passes over a text if that is what comes next, and says where it is.
    #[inline(always)]
    pub(crate) fn literal<const N: usize>(&mut self, text: &[u8; N]) -> Option<usize> {
        let (start, rest) = (self.at, self.bytes.get(self.at..)?);
        if rest.first_chunk() != Some(text) {
            return None;
        }
        self.at += N;
        Some(start)
    }

    /// Skips a text at an offset, and the white space after it. Returns whether it was there.
    #[inline(always)]
    pub(crate) fn pass_text(&mut self, distance: usize, text: &str) -> bool {
        let start = self.at + distance;
        let is_next = self.bytes.get(start..).is_some_and(|rest| rest.starts_with(text.as_bytes()));
        if is_next {
            self.at = token(self.bytes, start + text.len()).1;
        }
        is_next
    }

    /// Nothing but space may follow.
    pub(crate) fn end(&mut self) -> Option<()> {
        self.next_token();
        if self.at == self.bytes.len() { Some(()) } else { None }
    }

    /// The next byte that is not space; 0, which no token starts with, at the end.
    #[inline(always)]
    pub(crate) fn next_token(&mut self) -> u8 {
        let (token, at) = token(self.bytes, self.at);
        self.at = at;
        token
    }

    /// The byte so many places on; 0 at the end.
    #[inline(always)]
    pub(crate) fn byte_ahead(&self, distance: usize) -> u8 {
        byte(self.bytes, self.at + distance)
    }

    /// Reads a member's name and the colon behind it.
    #[inline(always)]
    pub(crate) fn name(&mut self) -> Option<Name<'a>> {
        let (place, has_escapes) = self.name_place()?;
        let bytes = self.bytes.get(place).unwrap_or_default();
        Some(Name { bytes, has_escapes })
    }

    /// The same, but where it stands between its quotes, and whether it has escapes.
    #[inline(always)]
    pub(crate) fn name_place(&mut self) -> Option<(Range<usize>, bool)> {
        if self.next_token() != b'"' {
            return None;
        }
        let start = self.at + 1;
        let plain = plain_string(self.bytes, start);
        let has_escapes = plain.is_err();
        self.take(plain.or_else(|at| escaped_string(self.bytes, at)))?;
        let place = start..self.at - 1;
        self.take(colon(self.bytes, self.at))?;
        Some((place, has_escapes))
    }

    #[inline(always)]
    fn take(&mut self, step: Step) -> Option<()> {
        let (Ok(at) | Err(at)) = step;
        self.at = at;
        step.is_ok().then_some(())
    }

    /// Reads an array or an object.
    fn nested(&mut self, mut at: usize) -> Step {
        let bytes = self.bytes;
        let mut open = Open::new();
        loop {
            match byte(bytes, at) {
                b'"' => at = string(bytes, at + 1)?,
                bracket @ (b'{' | b'[') => {
                    let is_object = bracket == b'{';
                    let first;
                    (first, at) = token(bytes, at + 1);
                    // A closing bracket stands two places behind its opening one.
                    if first != bracket + 2 {
                        open.push(is_object);
                        if is_object {
                            at = name(bytes, first, at)?;
                        }
                        continue;
                    }
                    at += 1;
                }
                _ => at = scalar(bytes, at)?,
            }
            // Closes what ends here.
            loop {
                if open.depth == 0 {
                    return Ok(at);
                }
                let (next, place) = token(bytes, at);
                at = place;
                match next {
                    b',' => break,
                    b'}' if open.top() => {}
                    b']' if !open.top() => {}
                    _ => return Err(at),
                }
                at += 1;
                open.pop();
            }
            let first;
            (first, at) = token(bytes, at + 1);
            if open.top() {
                at = name(bytes, first, at)?;
            }
        }
    }
}

/// For readers that look into values.
impl<'a> Scanner<'a> {
    /// Where the next byte is.
    #[inline(always)]
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// Goes to another place.
    #[inline(always)]
    pub(crate) fn go_to(&mut self, at: usize) {
        self.at = at;
    }

    /// Enters an array, or goes on behind an item; whether there is another item.
    #[inline(always)]
    pub(crate) fn next_item(&mut self, is_first: bool) -> Option<bool> {
        let is_more = match (self.next_token(), is_first) {
            (b'[', true) => {
                self.at += 1;
                if self.next_token() == b']' {
                    self.at += 1;
                    return Some(false);
                }
                true
            }
            (b',', false) => true,
            (b']', false) => false,
            _ => return None,
        };
        self.at += usize::from(!is_first);
        if is_more {
            self.next_token();
        }
        Some(is_more)
    }

    /// Reads a string: what stands between its quotes, and the string itself where that is another.
    #[inline(always)]
    pub(crate) fn text(&mut self) -> Option<(Range<usize>, Option<String>)> {
        if self.next_token() != b'"' {
            return None;
        }
        let start = self.at + 1;
        let (step, text) = match self.plain_string(start) {
            Ok(end) => (Ok(end), None),
            Err(at) => unescape(self.bytes, start, at)?,
        };
        self.take(step)?;
        Some((start..self.at - 1, text))
    }
}

/// Where reading goes on, or where the text is wrong.
type Step = Result<usize, usize>;

/// 0 at the end.
#[inline(always)]
fn byte(bytes: &[u8], at: usize) -> u8 {
    bytes.get(at).copied().unwrap_or_default()
}

/// The next byte that is not space, and where it is.
#[inline(always)]
pub(crate) fn token(bytes: &[u8], at: usize) -> (u8, usize) {
    match byte(bytes, at) {
        0..=b' ' => token_behind_space(bytes, at),
        byte => (byte, at),
    }
}

#[cold]
fn token_behind_space(bytes: &[u8], mut at: usize) -> (u8, usize) {
    while matches!(byte(bytes, at), b' ' | b'\n' | b'\t' | b'\r') {
        at += 1;
    }
    (byte(bytes, at), at)
}

/// Reads a member's name, and up to its value.
#[inline(always)]
fn name(bytes: &[u8], first: u8, at: usize) -> Step {
    if first != b'"' {
        return Err(at);
    }
    colon(bytes, string(bytes, at + 1)?)
}

#[inline(always)]
fn colon(bytes: &[u8], at: usize) -> Step {
    match token(bytes, at) {
        (b':', at) => Ok(token(bytes, at + 1).1),
        (_, at) => Err(at),
    }
}

/// Reads a number or a word.
fn scalar(bytes: &[u8], at: usize) -> Step {
    match byte(bytes, at) {
        b'-' | b'0'..=b'9' => number(bytes, at),
        b't' => word(bytes, at, b"true"),
        b'f' => word(bytes, at, b"false"),
        b'n' => word(bytes, at, b"null"),
        _ => Err(at),
    }
}

fn number(bytes: &[u8], start: usize) -> Step {
    let mut at = start;
    if byte(bytes, at) == b'-' {
        at += 1;
    }
    at = if byte(bytes, at) == b'0' { at + 1 } else { digits(bytes, at)? };
    if byte(bytes, at) == b'.' {
        at = digits(bytes, at + 1)?;
    }
    if matches!(byte(bytes, at), b'e' | b'E') {
        at += 1;
        if matches!(byte(bytes, at), b'+' | b'-') {
            at += 1;
        }
        at = digits(bytes, at)?;
    }
    // A digit behind a leading zero is left over, and fails where the number should have ended.
    Ok(at)
}

fn digits(bytes: &[u8], start: usize) -> Step {
    let mut at = start;
    while byte(bytes, at).is_ascii_digit() {
        at += 1;
    }
    if at == start { Err(at) } else { Ok(at) }
}

fn word(bytes: &[u8], at: usize, word: &[u8]) -> Step {
    let is_there = bytes.get(at..).is_some_and(|rest| rest.starts_with(word));
    if is_there { Ok(at + word.len()) } else { Err(at) }
}
