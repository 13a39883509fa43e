//! One pass over the bytes of JSON text, without memory of its own.
//!
//! It takes exactly the texts that serde_json takes as a raw value, up to [`MAX_DEPTH`]: the grammar is checked, numbers
//! may have any size, escapes may be halves of surrogate pairs. Whether the bytes are UTF-8 is not its business.
//!
//! What reads gives nothing where the text is not JSON, and the scanner then has the [`Fault`].
use crate::json_str::JsonStr;
use core::ops::Range;

/// How deep arrays and objects may lie in each other within one member.
pub(crate) const MAX_DEPTH: usize = 1024;

/// Why the text is not JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    Syntax { at: usize },
    TooDeep,
}

/// The name of a member, as it stands between its quotes.
#[derive(Clone, Copy)]
pub(crate) struct Name<'a> {
    bytes: &'a [u8],
    has_escapes: bool,
}

impl Name<'_> {
    pub(crate) fn is(&self, name: &str) -> bool {
        if self.has_escapes {
            let text = core::str::from_utf8(self.bytes);
            return text.is_ok_and(|text| JsonStr::between_quotes(text) == name);
        }
        self.bytes == name.as_bytes()
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
    is_too_deep: bool,
}

impl<'a> Scanner<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, is_too_deep: false }
    }

    /// Why reading ended, after it gave nothing.
    pub(crate) fn fault(&self) -> Fault {
        if self.is_too_deep { Fault::TooDeep } else { Fault::Syntax { at: self.at } }
    }

    /// Enters an object, and reads the name of its first member: what stands between the quotes.
    pub(crate) fn first_name(&mut self) -> Option<Option<Name<'a>>> {
        self.expect(b'{')?;
        if self.take(b'}') { Some(None) } else { self.name().map(Some) }
    }

    /// Reads the name of the next member, after the value of the one before.
    pub(crate) fn next_name(&mut self) -> Option<Option<Name<'a>>> {
        if self.take(b'}') {
            return Some(None);
        }
        self.expect(b',')?;
        self.name().map(Some)
    }

    /// Reads a value of any kind, and says where it is.
    pub(crate) fn value(&mut self) -> Option<Range<usize>> {
        let start = self.at;
        match self.peek() {
            Some(b'{' | b'[') => self.nested()?,
            _ => self.scalar()?,
        }
        Some(start..self.at)
    }

    fn nested(&mut self) -> Option<()> {
        let mut open = Open::default();
        loop {
            match self.peek() {
                Some(b'{') => {
                    self.at += 1;
                    if !self.take(b'}') {
                        self.push(&mut open, true)?;
                        self.name()?;
                        continue;
                    }
                }
                Some(b'[') => {
                    self.at += 1;
                    if !self.take(b']') {
                        self.push(&mut open, false)?;
                        continue;
                    }
                }
                _ => self.scalar()?,
            }
            if !self.after_value(&mut open)? {
                return Some(());
            }
        }
    }

    fn scalar(&mut self) -> Option<()> {
        match self.peek() {
            Some(b'"') => {
                self.at += 1;
                self.string().map(|_| ())
            }
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word(b"true"),
            Some(b'f') => self.word(b"false"),
            Some(b'n') => self.word(b"null"),
            _ => None,
        }
    }

    /// Nothing but space may follow.
    pub(crate) fn end(&mut self) -> Option<()> {
        self.skip_space();
        if self.at == self.bytes.len() { Some(()) } else { None }
    }

    /// The next byte that is not space.
    pub(crate) fn next_token(&mut self) -> Option<u8> {
        self.skip_space();
        self.peek()
    }

    fn push(&mut self, open: &mut Open, is_object: bool) -> Option<()> {
        self.is_too_deep = !open.push(is_object);
        (!self.is_too_deep).then_some(())
    }

    /// Closes what ends after a value; whether another value follows inside what is still open.
    fn after_value(&mut self, open: &mut Open) -> Option<bool> {
        while let Some(in_object) = open.top() {
            let close = if in_object { b'}' } else { b']' };
            if !self.take(close) {
                self.expect(b',')?;
                if in_object {
                    self.name()?;
                } else {
                    self.skip_space();
                }
                return Some(true);
            }
            open.pop();
        }
        Some(false)
    }

    /// Reads a member's name and the colon behind it.
    fn name(&mut self) -> Option<Name<'a>> {
        self.expect(b'"')?;
        let start = self.at;
        let has_escapes = self.string()?;
        let bytes = self.bytes.get(start..self.at - 1).unwrap_or_default();
        self.expect(b':')?;
        self.skip_space();
        Some(Name { bytes, has_escapes })
    }

    /// Reads a string behind its first quote; whether it has escapes.
    #[inline]
    fn string(&mut self) -> Option<bool> {
        self.skip_plain();
        if self.peek() == Some(b'"') {
            self.at += 1;
            return Some(false);
        }
        self.escaped_string().map(|()| true)
    }

    /// Reads a string from its first escape.
    #[cold]
    fn escaped_string(&mut self) -> Option<()> {
        while self.peek() != Some(b'"') {
            if self.peek() != Some(b'\\') {
                return None;
            }
            self.escape()?;
            self.skip_plain();
        }
        self.at += 1;
        Some(())
    }

    fn skip_plain(&mut self) {
        self.at += self.bytes.get(self.at..).map_or(0, plain_prefix);
    }

    fn escape(&mut self) -> Option<()> {
        self.at += 1;
        match self.peek() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 1,
            Some(b'u') => {
                self.at += 1;
                for _ in 0..4 {
                    if !self.peek().is_some_and(|byte| byte.is_ascii_hexdigit()) {
                        return None;
                    }
                    self.at += 1;
                }
            }
            _ => return None,
        }
        Some(())
    }

    fn number(&mut self) -> Option<()> {
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        // A digit behind a leading zero is left over, and fails where the number should have ended.
        Some(())
    }

    fn digits(&mut self) -> Option<()> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        if self.at == start { None } else { Some(()) }
    }

    fn word(&mut self, word: &[u8]) -> Option<()> {
        if !self.bytes.get(self.at..).is_some_and(|rest| rest.starts_with(word)) {
            return None;
        }
        self.at += word.len();
        Some(())
    }

    fn expect(&mut self, token: u8) -> Option<()> {
        if self.take(token) { Some(()) } else { None }
    }

    fn take(&mut self, token: u8) -> bool {
        let found = self.next_token() == Some(token);
        if found {
            self.at += 1;
        }
        found
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\t' | b'\r')) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }
}

/// How many bytes come before the first that ends a string, starts an escape, or may not stand in a string.
fn plain_prefix(bytes: &[u8]) -> usize {
    const ONES: u64 = u64::MAX / 255;
    const TOPS: u64 = ONES << 7;
    let (mut rest, mut length) = (bytes, 0);
    while let Some((chunk, behind)) = rest.split_first_chunk() {
        let chunk = u64::from_le_bytes(*chunk);
        let control = chunk.wrapping_sub(ONES * 0x20);
        let quote = (chunk ^ (ONES * 0x22)).wrapping_sub(ONES);
        let escape = (chunk ^ (ONES * 0x5c)).wrapping_sub(ONES);
        // A top bit that was not there came from a byte that went below zero; the first is always a true one.
        let found = (control | quote | escape) & !chunk & TOPS;
        if found != 0 {
            return length + (found.trailing_zeros() / 8) as usize;
        }
        (rest, length) = (behind, length + 8);
    }
    let is_plain = |byte: &u8| *byte >= b' ' && *byte != b'"' && *byte != b'\\';
    length + rest.iter().take_while(|byte| is_plain(byte)).count()
}

/// Which of the open brackets are objects, as bits.
#[derive(Default)]
struct Open {
    depth: usize,
    objects: [u64; MAX_DEPTH / 64],
}

impl Open {
    /// Whether there was room.
    fn push(&mut self, is_object: bool) -> bool {
        let Some(word) = self.objects.get_mut(self.depth / 64) else { return false };
        let bit = 1 << (self.depth % 64);
        *word = if is_object { *word | bit } else { *word & !bit };
        self.depth += 1;
        true
    }

    fn top(&self) -> Option<bool> {
        let at = self.depth.checked_sub(1)?;
        self.objects.get(at / 64).map(|word| word >> (at % 64) & 1 == 1)
    }

    fn pop(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }
}
