//! Sequential access to the members of an object.
use crate::decode_error::Shape;
use crate::peek_error::PeekError;
use crate::scan::{Name, Scanner};
use alloc::borrow::Cow;
use core::{iter, mem};

/// Reads an object member by member, on demand.
///
/// Values that are [taken](Self::value) are validated. Skipped values are only searched for their
/// end, and nothing after the last requested member is examined. Only [`value`](Self::value) checks
/// UTF-8.
///
/// | the text is | result |
/// |---|---|
/// | a JSON object with unique names | its members in order, with complete values |
/// | a JSON object with a repeated name | the same, with both members |
/// | something else | some members, and an error unless the fault is in a skipped value, or after the last requested member |
/// | the start of an object | its members up to the end of the text, then an error |
///
/// Each byte is examined once, for any input. Only names with escapes allocate.
///
/// ```
/// use jsonrpc_core::MemberReader;
///
/// let json = br#"{"sessionId":"s-1","update":{"kind":"text","content":["and so"#;
/// let (mut members, mut kind) = (MemberReader::new(json)?, None);
/// while let Some(name) = members.next_name()? {
///     match &*name {
///         b"update" => assert!(members.enter()),
///         b"kind" => {
///             kind = Some(members.value()?);
///             break;
///         }
///         _ => {}
///     }
/// }
/// assert_eq!(kind, Some(r#""text""#));
/// assert!(json.get(..members.position()).is_some_and(|read| read.ends_with(br#""text""#)));
/// # Ok::<(), jsonrpc_core::PeekError>(())
/// ```
#[derive(Clone, Debug)]
pub struct MemberReader<'a> {
    json: &'a [u8],
    scanner: Scanner<'a>,
    place: Place,
    position: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// After the opening bracket of an object.
    Start,
    /// At the value of a member.
    Value,
    /// After a value.
    Behind,
}

impl<'a> MemberReader<'a> {
    /// Creates a reader at the start of an object, with optional white space before it.
    ///
    /// # Errors
    /// The text does not start with an object.
    pub fn new(json: &'a [u8]) -> Result<Self, PeekError> {
        let scanner = Scanner::of_any_depth(json);
        let mut members = Self { json, scanner, place: Place::Value, position: 0 };
        if members.enter() { Ok(members) } else { Err(PeekError::Shape(Shape::NotAnObject)) }
    }

    /// Creates a reader at the value of a member.
    pub(crate) fn at_value(scanner: Scanner<'a>) -> Self {
        let json = scanner.bytes();
        let position = behind_token(json, scanner.at());
        Self { json, scanner, place: Place::Value, position }
    }

    /// Returns the name of the next member, without its quotes; `None` at the end of the object.
    /// The members of an [entered](Self::enter) object come first, and after the `None` at its end
    /// those of the surrounding object. An untaken value of the previous member is skipped.
    ///
    /// # Errors
    /// The text ends, or is not JSON.
    #[inline]
    pub fn next_name(&mut self) -> Result<Option<Cow<'a, [u8]>>, PeekError> {
        let Some(name) = self.step().ok_or_else(|| self.error())? else { return Ok(None) };
        Ok(Some(match name.plain() {
            Some(plain) => Cow::Borrowed(plain),
            None => unescaped(name),
        }))
    }

    #[inline(always)]
    pub(crate) fn step(&mut self) -> Option<Option<Name<'a>>> {
        if self.place == Place::Value {
            self.scanner.pass()?;
            self.place = Place::Behind;
        }
        let is_more = match self.place {
            Place::Behind => self.scanner.go_on()?,
            _ => self.scanner.begin_members(),
        };
        if !is_more {
            self.go(Place::Behind);
            return Some(None);
        }
        let name = self.scanner.name()?;
        // The scanner has skipped the white space after the colon.
        self.place = Place::Value;
        self.position = behind_token(self.json, self.scanner.at());
        Some(Some(name))
    }

    /// Returns the value of the current member, as JSON text.
    ///
    /// # Errors
    /// The text ends, or the value is not JSON or not UTF-8, or it was already taken.
    #[inline]
    pub fn value(&mut self) -> Result<&'a str, PeekError> {
        let value = self.value_bytes()?;
        core::str::from_utf8(value).map_err(|error| {
            let start = value.as_ptr().addr() - self.json.as_ptr().addr();
            PeekError::Utf8 { at: start + error.valid_up_to() }
        })
    }

    /// Returns the value of the current member, as JSON text without validation of its UTF-8. For
    /// values that are only compared.
    ///
    /// # Errors
    /// The text ends, or the value is not JSON, or it was already taken.
    #[inline]
    pub fn value_bytes(&mut self) -> Result<&'a [u8], PeekError> {
        self.scanner.next_token();
        let start = self.scanner.at();
        if self.place != Place::Value {
            return Err(PeekError::Syntax { at: start });
        }
        let place = self.scanner.value().ok_or_else(|| self.error())?;
        self.go(Place::Behind);
        let value = self.json.get(place).unwrap_or_default();
        // A number or a word ends only at the next byte.
        if !matches!(value.first(), Some(b'"' | b'{' | b'[')) {
            if self.position == self.json.len() {
                return Err(self.error());
            }
            self.position += 1;
        }
        Ok(value)
    }

    /// Enters the value of the current member, if it is an object.
    #[inline]
    pub fn enter(&mut self) -> bool {
        let is_object = self.place == Place::Value && self.scanner.open_object();
        if is_object {
            self.go(Place::Start);
        }
        is_object
    }

    /// Checks that only white space follows the object.
    ///
    /// # Errors
    /// Other text follows.
    pub fn end(mut self) -> Result<(), PeekError> {
        self.scanner.end().ok_or_else(|| self.error())
    }

    /// Returns the number of examined bytes. Later bytes do not affect the results so far.
    #[inline]
    pub fn position(&self) -> usize {
        self.position
    }

    #[inline(always)]
    fn go(&mut self, place: Place) {
        self.place = place;
        self.position = self.scanner.at();
    }

    fn error(&self) -> PeekError {
        PeekError::Syntax { at: self.scanner.at() }
    }
}

/// Returns the end of the token before `at`.
#[inline(always)]
fn behind_token(json: &[u8], at: usize) -> usize {
    let before = json.get(..at).unwrap_or_default();
    let space = before.iter().rev().take_while(|byte| **byte <= b' ');
    at - space.count()
}

/// Returns a name without escapes; its bytes unchanged if it cannot be unescaped.
#[cold]
fn unescaped(name: Name<'_>) -> Cow<'_, [u8]> {
    name.decode()
        .map_or(Cow::Borrowed(name.escaped()), |text| Cow::Owned(text.into_owned().into_bytes()))
}

/// Returns the value of the first member at a path of names, outermost first, as JSON text. For
/// validated objects; nothing after the member is examined. Returns `None` if there is no such
/// member, or if a value on the path is not an object.
///
/// ```
/// use jsonrpc_core::find_member;
///
/// let params = r#"{"sessionId":"s-1","update":{"sessionUpdate":"plan","entries":[]}}"#;
/// assert_eq!(find_member(params, &["update", "sessionUpdate"]), Some(r#""plan""#));
/// assert_eq!(find_member(params, &["sessionId", "text"]), None);
/// ```
pub fn find_member<'a>(object: &'a str, path: &[&str]) -> Option<&'a str> {
    let mut scanner = Scanner::of_any_depth(object.as_bytes());
    for name in path {
        if !scanner.open_object() {
            return None;
        }
        scanner.seek_member(name)?;
    }
    object.get(scanner.pass()?)
}

/// Returns the items of a JSON array as JSON text, in order. The array has to be valid: only the
/// ends of items are searched. Other values have no items.
///
/// ```
/// use jsonrpc_core::array_items;
///
/// let items: Vec<_> = array_items(r#"[1.50, {"a":[]}, "]"]"#).collect();
/// assert_eq!(items, ["1.50", r#"{"a":[]}"#, r#""]""#]);
/// assert_eq!(array_items("7").next(), None);
/// ```
pub fn array_items(array: &str) -> impl Iterator<Item = &str> {
    let mut scanner = Scanner::of_any_depth(array.as_bytes());
    let mut is_first = true;
    let items = iter::from_fn(move || {
        let is_item = scanner.next_item(mem::take(&mut is_first))?;
        array.get(is_item.then(|| scanner.pass())??)
    });
    items.fuse()
}

/// Returns the value of a member of a JSON object, as JSON text. The whole `object` is validated.
/// Other JSON values have no members.
///
/// # Errors
/// `object` is not JSON, or repeats the member.
pub fn peek_member<'a>(object: &'a str, name: &str) -> Result<Option<&'a str>, PeekError> {
    let mut members = match MemberReader::new(object.as_bytes()) {
        Ok(members) => members,
        Err(_) => return Ok(None),
    };
    let mut found = None;
    while let Some(text) = members.step().ok_or_else(|| members.error())? {
        let value = members.value()?;
        if text.is(name) && found.replace(value).is_some() {
            return Err(PeekError::Duplicate);
        }
    }
    Ok(found)
}
