//! A single-pass scanner of JSON text. It allocates only beyond 63 levels of nesting.
//!
//! It accepts exactly the texts that serde_json accepts as a raw value, at any depth: the grammar
//! is validated, numbers may have any size, and escapes may be lone surrogates. UTF-8 is not
//! validated.
//!
//! Readers return `None` if the text is not JSON; the scanner is then at the fault.
mod byte;
mod escape;
mod find;
mod open;
mod skip;
mod string;
mod token;

use alloc::borrow::Cow;
use alloc::string::String;
use byte::{Step, byte};
use core::ops::Range;
pub(crate) use escape::{SLACK, replace, unescape};
use open::OpenBrackets;
use string::escaped_string;
pub(crate) use string::{is_plain_text, plain_prefix, plain_string, string};
use token::{begins_with, colon, name, scalar, token};

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
            return self.decode().is_some_and(|text| text == name);
        }
        self.bytes.len() == name.len() && begins_with(self.bytes, name.as_bytes())
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

    /// Returns the name without escapes; `None` if it is not UTF-8, or has a lone surrogate.
    pub(crate) fn decode(&self) -> Option<Cow<'a, str>> {
        let text = core::str::from_utf8(self.bytes).ok()?;
        if !self.has_escapes {
            return Some(Cow::Borrowed(text));
        }
        let (end, text) = unescape(self.bytes, 0, plain_prefix(self.bytes))?;
        (end == self.bytes.len()).then_some(Cow::Owned(text))
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Scanner<'a> {
    pub(crate) fn of_any_depth(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
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
            b'"' => string(self.bytes, start + 1),
            b'{' | b'[' => self.nested(start),
            _ => scalar(self.bytes, start),
        };
        self.take(step)?;
        Some(start..self.at)
    }

    /// Reads a string without escapes, and returns its range with the quotes. Returns `None` for
    /// other values.
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
        let start = self.at;
        let mut at = self.at;
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
        // rustc 1.95 miscompiles `self.at += usize::from(is_object)` with optimizations:
        // rust-lang/rust#158206.
        if self.next_token() != b'{' {
            return false;
        }
        self.at += 1;
        true
    }

    /// Returns whether an object has members, after its opening bracket. Moves past its end
    /// otherwise.
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

    /// Skips a literal text if it follows, and returns its place.
    #[inline(always)]
    pub(crate) fn literal<const N: usize>(&mut self, text: &[u8; N]) -> Option<usize> {
        let start = self.at;
        let rest = self.bytes.get(self.at..)?;
        if rest.first_chunk() != Some(text) {
            return None;
        }
        self.at += N;
        Some(start)
    }

    /// Skips a byte, a text of at least four bytes behind it, and the white space after that.
    /// Returns whether they were there.
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

    /// Skips a string if it is one of these texts, which have to need no escapes, and returns its
    /// index.
    #[inline(always)]
    pub(crate) fn pass_one_of(&mut self, texts: &[&str]) -> Option<usize> {
        let [b'"', rest @ ..] = self.bytes.get(self.at..)? else { return None };
        // A search with `position` is a call.
        for (index, text) in texts.iter().enumerate() {
            if begins_with(rest, text.as_bytes()) && byte(rest, text.len()) == b'"' {
                self.at += text.len() + 2;
                return Some(index);
            }
        }
        None
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

    /// As [`name`](Self::name), but returns the place between the quotes, and whether the name has
    /// escapes.
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
                if open.is_empty() {
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
        if !is_first {
            self.at += 1;
        }
        if is_more {
            self.next_token();
        }
        Some(is_more)
    }

    /// At a string: reads it if it has no escapes, and returns its place between the quotes. An
    /// escape is an error at its place.
    #[inline(always)]
    pub(crate) fn plain_place(&mut self) -> Result<Range<usize>, usize> {
        let start = self.at + 1;
        self.at = plain_string(self.bytes, start)?;
        Ok(start..self.at - 1)
    }

    /// At a string with its first escape at `escape`: reads and unescapes it.
    pub(crate) fn unescaped(&mut self, escape: usize) -> Option<String> {
        let (end, text) = unescape(self.bytes, self.at + 1, escape)?;
        self.at = end;
        self.literal(b"\"").map(|_| text)
    }
}
