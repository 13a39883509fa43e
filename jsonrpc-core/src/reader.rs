use crate::envelope::{Members, Scan, Watch};
use crate::message::Kind;
use crate::peek::{Peek, PeekError};
use crate::scan::Scanner;
use crate::wire::private::read_next;
use alloc::borrow::Cow;
use core::ops::Range;
use serde::Deserialize;

/// Reads the next values of a JSON text, each byte once: for types that borrow from a line, and for params that are read
/// together with what is around them.
///
/// Every method gives nothing where the text is not JSON; then there is nothing to go on with. [`peek_params`] and
/// [`read_json`] give one.
#[derive(Debug)]
pub struct Reader<'r, 'a> {
    text: &'a str,
    scanner: &'r mut Scanner<'a>,
}

impl<'a> Reader<'_, 'a> {
    /// The text before the next value.
    #[inline]
    pub fn before(&self) -> &'a str {
        self.text.get(..self.scanner.at()).unwrap_or_default()
    }

    /// The first byte of the next value; 0 at the end of the text.
    #[inline]
    pub fn next_byte(&mut self) -> u8 {
        self.scanner.next_token()
    }

    /// Reads a value of any kind, and gives its text.
    #[inline]
    pub fn value(&mut self) -> Option<&'a str> {
        let place = self.scanner.value()?;
        self.text.get(place.start..place.end)
    }

    /// Reads a string, which is borrowed where it has no escapes. Nothing also where the value is none, or has half a
    /// surrogate pair.
    ///
    /// ```
    /// use jsonrpc_core::read_json;
    ///
    /// assert_eq!(read_json(r#""a\u0062""#, |reader| reader.string()).as_deref(), Some("ab"));
    /// assert_eq!(read_json("1", |reader| reader.string()), None);
    /// ```
    #[inline]
    pub fn string(&mut self) -> Option<Cow<'a, str>> {
        match self.scanner.text()? {
            (_, Some(text)) => Some(Cow::Owned(text)),
            (place, None) => self.text.get(place).map(Cow::Borrowed),
        }
    }

    /// Reads an object, and gives its text. `member` gets the name of each member, and has to read the value. Nothing also
    /// where the value is none.
    #[inline(always)]
    pub fn object(
        &mut self,
        mut member: impl FnMut(&str, &mut Reader<'_, 'a>) -> Option<()>,
    ) -> Option<&'a str> {
        let text = self.text;
        let place = self.scanner.object(|scanner| {
            let mut name = scanner.first_name()?;
            while let Some(found) = name {
                let known = found.plain().and_then(|plain| {
                    let start = plain.as_ptr().addr() - text.as_ptr().addr();
                    text.get(start..start + plain.len())
                });
                let known = match known {
                    Some(plain) => Cow::Borrowed(plain),
                    None => found.text()?.decode()?,
                };
                member(&known, &mut Reader { text, scanner })?;
                name = scanner.next_name()?;
            }
            Some(())
        })?;
        text.get(place.start..place.end)
    }

    /// Reads an array, and gives its text. `item` has to read each item. Nothing also where the value is none.
    #[inline]
    pub fn array(
        &mut self,
        mut item: impl FnMut(&mut Reader<'_, 'a>) -> Option<()>,
    ) -> Option<&'a str> {
        let text = self.text;
        let place = self.scanner.object(|scanner| {
            let mut is_first = true;
            while scanner.next_item(is_first)? {
                item(&mut Reader { text, scanner })?;
                is_first = false;
            }
            Some(())
        })?;
        text.get(place.start..place.end)
    }

    /// Reads a value as a `T`; gives its text where it is none that can be read in one go.
    pub fn read<T: Deserialize<'a>>(&mut self) -> Option<Result<T, &'a str>> {
        let start = self.scanner.at();
        if let Some(value) = read_next(self.text, self.scanner) {
            return Some(Ok(value));
        }
        self.scanner.go_back(start);
        self.value().map(Err)
    }
}

/// Reads a JSON text.
///
/// ```
/// let mut sum = 0;
/// let read = jsonrpc_core::read_json(r#"[{"n":1},{"n":2,"x":null}]"#, |reader| {
///     reader.array(|item| {
///         let object = item.object(|name, value| {
///             let text = value.value()?;
///             sum += if name == "n" { text.parse().unwrap_or(0) } else { 0 };
///             Some(())
///         });
///         object.map(|_| ())
///     })
/// });
/// assert_eq!((read.is_some(), sum), (true, 3));
/// ```
///
/// Nothing where the text is not JSON to its end, or where `read` gives nothing.
pub fn read_json<'a, T>(
    text: &'a str,
    read: impl FnOnce(&mut Reader<'_, 'a>) -> Option<T>,
) -> Option<T> {
    let mut scanner = Scanner::new(text.as_bytes());
    scanner.next_token();
    let value = read(&mut Reader { text, scanner: &mut scanner })?;
    scanner.end()?;
    Some(value)
}

/// Says what a line is, as [`peek`](crate::peek()) does, and reads its params on the way: the whole line in one pass.
///
/// `read` is called before it is clear what the line is, and its method may come later: what it made counts only when the
/// peek says so.
///
/// ```
/// use jsonrpc_core::peek_params;
///
/// let line = r#"{"jsonrpc":"2.0","method":"add","params":[1,2]}"#;
/// let mut numbers: Vec<u32> = Vec::new();
/// let peek = peek_params(line, |params| {
///     if let Ok(read) = params.read()? {
///         numbers = read;
///     }
///     Some(())
/// })?;
/// assert!(peek.method().is_some_and(|method| method == "add"));
/// assert_eq!(numbers, [1, 2]);
/// # Ok::<(), jsonrpc_core::PeekError>(())
/// ```
///
/// # Errors
/// As [`peek`](crate::peek()).
#[inline]
pub fn peek_params<'a>(
    line: &'a str,
    read: impl FnMut(&mut Reader<'_, 'a>) -> Option<()>,
) -> Result<Peek<'a>, PeekError> {
    let mut scanner = Scanner::new(line.as_bytes());
    let (mut scan, mut params) = (Scan::default(), Params { line, read });
    scan.read(&mut scanner, &mut params).ok_or_else(|| scanner.fault())?;
    let texts = scan.members.each_ref().map(|range| line.get(range.clone()?));
    let mut members = Members::new(texts);
    let kind = match (scan.problem, members.kind()) {
        (None, Ok(kind)) => kind,
        (Some(shape), _) | (None, Err((shape, _))) => return Err(PeekError::Shape(shape)),
    };
    if kind == Kind::Response {
        members.params = None;
    }
    Ok(Peek { kind, members })
}

struct Params<'a, F> {
    line: &'a str,
    read: F,
}

impl<'a, F: FnMut(&mut Reader<'_, 'a>) -> Option<()>> Watch<'a> for Params<'a, F> {
    #[inline]
    fn params(&mut self, scanner: &mut Scanner<'a>) -> Option<Range<usize>> {
        scanner.next_token();
        let start = scanner.at();
        (self.read)(&mut Reader { text: self.line, scanner })?;
        Some(start..scanner.at())
    }
}
