//! A single-pass scanner of JSON text. It allocates only beyond 64 levels of nesting.
//!
//! It accepts exactly the texts that serde_json accepts as a raw value, at any depth: the grammar is validated, numbers
//! may have any size, and escapes may be lone surrogates. UTF-8 is not validated.
//!
//! Readers return `None` if the text is not JSON; the scanner is then at the [fault](Scanner::fault).
mod open;
mod skip;
mod string;

use skip::skip;
pub(crate) use string::{is_plain_text, plain_prefix, plain_string, string, unescape};

use crate::json_str::JsonStr;
use alloc::string::String;
use core::ops::Range;
use open::OpenBrackets;
use string::escaped_string;

/// Strings up to this length are scanned again instead of remembered.
const LONG: usize = 16;

/// A member's name, between its quotes.
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

    /// Returns the text between the quotes if it has no escapes.
    #[inline(always)]
    pub(crate) fn plain(&self) -> Option<&'a [u8]> {
        (!self.has_escapes).then_some(self.bytes)
    }

    /// Returns the text between the quotes.
    pub(crate) fn escaped(&self) -> &'a [u8] {
        self.bytes
    }

    /// Returns the name; `None` if it is not UTF-8.
    pub(crate) fn text(&self) -> Option<JsonStr<'a>> {
        core::str::from_utf8(self.bytes).ok().map(JsonStr::between_quotes)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Begin and end of a skipped string without escapes: after its first quote, and after its last.
    passed: (usize, usize),
}

impl<'a> Scanner<'a> {
    pub(crate) fn of_any_depth(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, passed: (0, 0) }
    }

    /// Returns where reading ended after a failure.
    pub(crate) fn fault(&self) -> usize {
        self.at
    }

    /// Enters an object, and returns whether it has members.
    #[inline(always)]
    pub(crate) fn enter(&mut self) -> Option<bool> {
        self.open_object().then(|| self.begin_members())
    }

    /// Continues after the value of a member, and returns whether another member follows.
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

    /// Reads a value of any kind, and returns its place.
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

    /// Skips a value without validation, and returns its place. Brackets and strings delimit it.
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

    /// Within an object: goes to the value of the first member with a name, without validation.
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

    /// Reads a string without escapes, and returns its range with the quotes. Returns `None` for other values.
    #[inline(always)]
    pub(crate) fn plain_text(&mut self) -> Option<Range<usize>> {
        let start = self.literal(b"\"")?;
        self.at = plain_string(self.bytes, self.at).ok()?;
        Some(start..self.at)
    }

    /// Reads a short integer directly before the end of a member. Returns `None` for other values.
    #[inline(always)]
    pub(crate) fn small_number(&mut self) -> Option<Range<usize>> {
        // The digits of any 64-bit number.
        const DIGITS: usize = 18;
        let (start, mut at) = (self.at, self.at);
        // A number with a leading zero requires a closer look.
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

    /// Enters an object, if one begins here.
    #[inline(always)]
    pub(crate) fn open_object(&mut self) -> bool {
        // rustc 1.95 miscompiles `self.at += usize::from(is_object)` with optimizations: rust-lang/rust#158206.
        if self.next_token() != b'{' {
            return false;
        }
        self.at += 1;
        true
    }

    /// Returns whether an object has members, after its opening bracket. Moves past its end otherwise.
    #[inline(always)]
    pub(crate) fn begin_members(&mut self) -> bool {
        if self.next_token() == b'}' {
            self.at += 1;
            return false;
        }
        true
    }

    /// Returns the scanned text.
    pub(crate) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Moves to the value of a member, from the bracket of its object or from the comma before an earlier member. `quoted`
    /// is its name as a JSON string between a comma and a colon. Skipped text is not validated here; it has to be read
    /// later. Returns whether it is the first member after that place; `None` if there is no such member, an earlier name
    /// has escapes, or white space follows the name.
    pub(crate) fn find_member(&mut self, quoted: &str, is_at_bracket: bool) -> Option<bool> {
        let bytes = self.bytes;
        let [_, name @ ..] = quoted.as_bytes() else { return None };
        let (byte, mut at) = token(bytes, self.at);
        if byte != if is_at_bracket { b'{' } else { b',' } {
            return None;
        }
        let mut is_first = true;
        loop {
            let (quote, place) = token(bytes, at + 1);
            if begins_with(bytes.get(place..)?, name) {
                self.at = token(bytes, place + name.len()).1;
                return Some(is_first);
            }
            if quote != b'"' {
                return None;
            }
            let end = plain_string(bytes, place + 1).ok()?;
            let comma;
            (comma, at) = token(bytes, self.pass_over(colon(bytes, end).ok()?)?);
            if comma != b',' {
                return None;
            }
            is_first = false;
        }
    }

    /// Skips a value, distinguishing only strings and brackets. Returns `None` if it does not end.
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
                // The last bracket, or the byte after a number or a word.
                b'}' | b']' => return Some(at + open),
                b',' if open == 0 => return Some(at),
                b'"' => continue,
                0 => return None,
                _ => {}
            }
            at += 1;
        }
    }

    /// Skips a string, and remembers its end if it is long, since it has to be read again.
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

    /// Reads a string without escapes after its first quote; it may have been skipped before.
    #[inline(always)]
    fn plain_string(&self, start: usize) -> Step {
        if start == self.passed.0 {
            return Ok(self.passed.1);
        }
        plain_string(self.bytes, start)
    }

    /// Copies the remembered string of another scanner of the same text.
    #[inline(always)]
    pub(crate) fn remember(&mut self, other: &Self) {
        self.passed = other.passed;
    }

    /// Skips a literal text if it follows, and returns its place.
    #[inline(always)]
    pub(crate) fn literal<const N: usize>(&mut self, text: &[u8; N]) -> Option<usize> {
        let (start, rest) = (self.at, self.bytes.get(self.at..)?);
        if rest.first_chunk() != Some(text) {
            return None;
        }
        self.at += N;
        Some(start)
    }

    /// Skips a byte, a text of at least four bytes behind it, and the white space after that. Returns whether they were
    /// there.
    #[inline(always)]
    pub(crate) fn pass_text(&mut self, first: u8, text: &[u8]) -> bool {
        let is_next = match self.bytes.get(self.at..) {
            Some([byte, rest @ ..]) => *byte == first && begins_with(rest, text),
            _ => false,
        };
        if is_next {
            self.at = token(self.bytes, self.at + 1 + text.len()).1;
        }
        is_next
    }

    /// Checks that only white space follows.
    pub(crate) fn end(&mut self) -> Option<()> {
        self.next_token();
        if self.at == self.bytes.len() { Some(()) } else { None }
    }

    /// Returns the next byte that is not white space; 0, which starts no token, at the end.
    #[inline(always)]
    pub(crate) fn next_token(&mut self) -> u8 {
        let (token, at) = token(self.bytes, self.at);
        self.at = at;
        token
    }

    /// Returns the byte at a distance; 0 at the end.
    #[inline(always)]
    pub(crate) fn byte_ahead(&self, distance: usize) -> u8 {
        byte(self.bytes, self.at + distance)
    }

    /// Reads a member's name and its colon.
    #[inline(always)]
    pub(crate) fn name(&mut self) -> Option<Name<'a>> {
        let (place, has_escapes) = self.name_place()?;
        let bytes = self.bytes.get(place).unwrap_or_default();
        Some(Name { bytes, has_escapes })
    }

    /// As [`name`](Self::name), but returns the place between the quotes, and whether the name has escapes.
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
        let mut open = OpenBrackets::new();
        loop {
            match byte(bytes, at) {
                b'"' => at = string(bytes, at + 1)?,
                bracket @ (b'{' | b'[') => {
                    let is_object = bracket == b'{';
                    let first;
                    (first, at) = token(bytes, at + 1);
                    // A closing bracket is two places after its opening one.
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
            // Closes the brackets that end here.
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

/// Access for readers of values.
impl<'a> Scanner<'a> {
    /// Returns the place of the next byte.
    #[inline(always)]
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// Returns the end of the value at a place, without validation.
    pub(crate) fn end_of(&self, start: usize) -> Option<usize> {
        skip(self.bytes, start)
    }

    /// Moves to another place.
    #[inline(always)]
    pub(crate) fn go_to(&mut self, at: usize) {
        self.at = at;
    }

    /// Enters an array, or continues after an item, and returns whether another item follows.
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

    /// At a string: reads it if it has no escapes, and returns its place between the quotes. An escape is an error at its
    /// place.
    #[inline(always)]
    pub(crate) fn plain_place(&mut self) -> Result<Range<usize>, usize> {
        let start = self.at + 1;
        self.at = self.plain_string(start)?;
        Ok(start..self.at - 1)
    }

    /// At a string with its first escape at `escape`: reads and unescapes it.
    pub(crate) fn unescaped(&mut self, escape: usize) -> Option<String> {
        let (step, text) = unescape(self.bytes, self.at + 1, escape)?;
        self.take(step)?;
        text
    }
}

/// The next place, or the place of an error.
type Step = Result<usize, usize>;

/// Returns a byte; 0 at the end.
#[inline(always)]
fn byte(bytes: &[u8], at: usize) -> u8 {
    bytes.get(at).copied().unwrap_or_default()
}

/// Returns whether a text begins with another one. Most names have up to 16 bytes, and are compared without a call.
#[inline(always)]
fn begins_with(text: &[u8], start: &[u8]) -> bool {
    let Some(text) = text.get(..start.len()) else { return false };
    if start.len() > 16 {
        return text == start;
    }
    match (start.first_chunk(), start.last_chunk()) {
        (Some(first), Some(last)) => {
            let [first, last] = [first, last].map(|word| u64::from_le_bytes(*word));
            let word = |word: Option<&[u8; 8]>| word.map(|word| u64::from_le_bytes(*word));
            word(text.first_chunk()) == Some(first) && word(text.last_chunk()) == Some(last)
        }
        _ => match (start.first_chunk::<4>(), start.last_chunk::<4>()) {
            (Some(first), Some(last)) => {
                text.first_chunk() == Some(first) && text.last_chunk() == Some(last)
            }
            _ => text == start,
        },
    }
}

/// Returns the next byte that is not white space, and its place.
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

/// Reads a member's name, up to its value.
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
    // A digit after a leading zero is left over, and fails as the end of the number.
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
