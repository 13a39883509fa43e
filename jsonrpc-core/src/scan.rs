//! One pass over the bytes of JSON text, without memory of its own.
//!
//! It takes exactly the texts that serde_json takes as a raw value, up to [`MAX_DEPTH`]: the grammar is checked, numbers
//! may have any size, escapes may be halves of surrogate pairs. Whether the bytes are UTF-8 is not its business.
use core::ops::Range;

/// How deep arrays and objects may lie in each other within one member.
pub(crate) const MAX_DEPTH: usize = 1024;

/// Why the text is not JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    Syntax { at: usize },
    TooDeep,
}

#[derive(Clone, Debug)]
pub(crate) struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Scanner<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Reads an object to its end, and gives each member: the name between its quotes, and where the value is.
    /// Before the value is read, `begin` gets the name.
    pub(crate) fn object<C>(
        &mut self,
        context: &mut C,
        begin: fn(&mut C, name: &'a [u8]),
        member: fn(&mut C, name: &'a [u8], value: Range<usize>),
    ) -> Result<(), Fault> {
        self.expect(b'{')?;
        if self.take(b'}') {
            return Ok(());
        }
        loop {
            let name = self.name()?;
            begin(context, name);
            let value = self.value()?;
            member(context, name, value);
            if self.take(b'}') {
                return Ok(());
            }
            self.expect(b',')?;
        }
    }

    /// Reads a value of any kind, and says where it is.
    pub(crate) fn value(&mut self) -> Result<Range<usize>, Fault> {
        self.skip_space();
        let start = self.at;
        let mut open = Open::default();
        loop {
            match self.peek() {
                Some(b'"') => self.string()?,
                Some(b'{') => {
                    self.at += 1;
                    if !self.take(b'}') {
                        open.push(true)?;
                        self.name()?;
                        continue;
                    }
                }
                Some(b'[') => {
                    self.at += 1;
                    if !self.take(b']') {
                        open.push(false)?;
                        continue;
                    }
                }
                Some(b'-' | b'0'..=b'9') => self.number()?,
                Some(b't') => self.word(b"true")?,
                Some(b'f') => self.word(b"false")?,
                Some(b'n') => self.word(b"null")?,
                _ => return Err(self.fault()),
            }
            if !self.after_value(&mut open)? {
                return Ok(start..self.at);
            }
        }
    }

    /// Nothing but space may follow.
    pub(crate) fn end(&mut self) -> Result<(), Fault> {
        self.skip_space();
        if self.at == self.bytes.len() { Ok(()) } else { Err(self.fault()) }
    }

    /// The next byte that is not space.
    pub(crate) fn next_token(&mut self) -> Option<u8> {
        self.skip_space();
        self.peek()
    }

    /// Closes what ends after a value; whether another value follows inside what is still open.
    fn after_value(&mut self, open: &mut Open) -> Result<bool, Fault> {
        while let Some(in_object) = open.top() {
            let close = if in_object { b'}' } else { b']' };
            if !self.take(close) {
                self.expect(b',')?;
                if in_object {
                    self.name()?;
                } else {
                    self.skip_space();
                }
                return Ok(true);
            }
            open.pop();
        }
        Ok(false)
    }

    /// Reads a member's name and the colon behind it.
    fn name(&mut self) -> Result<&'a [u8], Fault> {
        self.skip_space();
        let start = self.at;
        self.string()?;
        let name = self.bytes.get(start + 1..self.at - 1).unwrap_or_default();
        self.expect(b':')?;
        self.skip_space();
        Ok(name)
    }

    fn string(&mut self) -> Result<(), Fault> {
        if self.peek() != Some(b'"') {
            return Err(self.fault());
        }
        self.at += 1;
        loop {
            self.skip_plain();
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => self.escape()?,
                _ => return Err(self.fault()),
            }
        }
    }

    /// Skips to the next byte that ends a string, starts an escape, or may not stand in a string.
    fn skip_plain(&mut self) {
        const ONES: u64 = u64::MAX / 255;
        const TOPS: u64 = ONES << 7;
        while let Some(chunk) = self.bytes.get(self.at..).and_then(|rest| rest.first_chunk()) {
            let chunk = u64::from_le_bytes(*chunk);
            let zero = |bytes: u64| bytes.wrapping_sub(ONES) & !bytes;
            let control = chunk.wrapping_sub(ONES * 0x20) & !chunk;
            let quote = zero(chunk ^ (ONES * 0x22));
            let escape = zero(chunk ^ (ONES * 0x5c));
            let found = (control | quote | escape) & TOPS;
            if found != 0 {
                // Borrows only make false hits behind the first true one.
                self.at += (found.trailing_zeros() / 8) as usize;
                return;
            }
            self.at += 8;
        }
        while self.peek().is_some_and(|byte| byte >= b' ' && byte != b'"' && byte != b'\\') {
            self.at += 1;
        }
    }

    fn escape(&mut self) -> Result<(), Fault> {
        self.at += 1;
        match self.peek() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 1,
            Some(b'u') => {
                self.at += 1;
                for _ in 0..4 {
                    if !self.peek().is_some_and(|byte| byte.is_ascii_hexdigit()) {
                        return Err(self.fault());
                    }
                    self.at += 1;
                }
            }
            _ => return Err(self.fault()),
        }
        Ok(())
    }

    fn number(&mut self) -> Result<(), Fault> {
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
        Ok(())
    }

    fn digits(&mut self) -> Result<(), Fault> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        if self.at == start { Err(self.fault()) } else { Ok(()) }
    }

    fn word(&mut self, word: &[u8]) -> Result<(), Fault> {
        if !self.bytes.get(self.at..).is_some_and(|rest| rest.starts_with(word)) {
            return Err(self.fault());
        }
        self.at += word.len();
        Ok(())
    }

    fn expect(&mut self, token: u8) -> Result<(), Fault> {
        if self.take(token) { Ok(()) } else { Err(self.fault()) }
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

    fn fault(&self) -> Fault {
        Fault::Syntax { at: self.at }
    }
}

/// Which of the open brackets are objects, as bits.
#[derive(Default)]
struct Open {
    depth: usize,
    objects: [u64; MAX_DEPTH / 64],
}

impl Open {
    fn push(&mut self, is_object: bool) -> Result<(), Fault> {
        let word = self.objects.get_mut(self.depth / 64).ok_or(Fault::TooDeep)?;
        let bit = 1 << (self.depth % 64);
        *word = if is_object { *word | bit } else { *word & !bit };
        self.depth += 1;
        Ok(())
    }

    fn top(&self) -> Option<bool> {
        let at = self.depth.checked_sub(1)?;
        self.objects.get(at / 64).map(|word| word >> (at % 64) & 1 == 1)
    }

    fn pop(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }
}
