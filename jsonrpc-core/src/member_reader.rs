//! Members of an object, one by one.
use crate::decode_error::Shape;
use crate::peek::PeekError;
use crate::scan::{Name, Scanner};
use alloc::borrow::Cow;
use core::{iter, mem};

/// Reads an object member by member, as far as its caller asks.
///
/// Values that are [taken](Self::value) are checked. A value that is passed over is only searched for its end, and nothing
/// behind the last member that was asked for is looked at.
///
/// | the text is | result |
/// |---|---|
/// | a JSON object, each name in it once | its members, in their order, each value whole |
/// | a JSON object with a name twice | the same, both of them |
/// | something else, or not UTF-8 | some members, and an error at the latest at its end |
/// | the start of an object | what the object gives, up to its end; an error behind |
///
/// Each byte is looked at once, whatever the bytes are. Only names with escapes take memory.
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
    /// Behind the bracket that begins an object.
    Start,
    /// At the value of a member.
    Value,
    /// Behind a value.
    Behind,
}

impl<'a> MemberReader<'a> {
    /// At the start of an object; space may stand before it.
    ///
    /// # Errors
    /// The text does not start as an object does.
    pub fn new(json: &'a [u8]) -> Result<Self, PeekError> {
        let scanner = Scanner::of_any_depth(json);
        let mut members = Self { json, scanner, place: Place::Value, position: 0 };
        if members.enter() { Ok(members) } else { Err(PeekError::Shape(Shape::NotAnObject)) }
    }

    /// At the value of a member.
    pub(crate) fn at_value(scanner: Scanner<'a>) -> Self {
        let json = scanner.bytes();
        let position = behind_token(json, scanner.at());
        Self { json, scanner, place: Place::Value, position }
    }

    /// The name of the next member, without its quotes; `None` at the end of the object. The members of an object that was
    /// [entered](Self::enter) come first, and then, behind the `None` at its end, those of the object around it. The value
    /// of the member before is passed over, if it was not taken.
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
        // The scanner has passed over the space behind the colon.
        (self.place, self.position) = (Place::Value, behind_token(self.json, self.scanner.at()));
        Some(Some(name))
    }

    /// The value of the member whose name came last, as JSON text.
    ///
    /// # Errors
    /// The text ends, or the value is not JSON or not UTF-8; or it was passed over before.
    #[inline]
    pub fn value(&mut self) -> Result<&'a str, PeekError> {
        self.scanner.next_token();
        let start = self.scanner.at();
        if self.place != Place::Value {
            return Err(PeekError::Syntax { at: start });
        }
        let place = self.scanner.value().ok_or_else(|| self.error())?;
        self.go(Place::Behind);
        let value = self.json.get(place).unwrap_or_default();
        // Only the next byte ends a number or a word.
        if !matches!(value.first(), Some(b'"' | b'{' | b'[')) {
            if self.position == self.json.len() {
                return Err(self.error());
            }
            self.position += 1;
        }
        core::str::from_utf8(value)
            .map_err(|error| PeekError::Utf8 { at: start + error.valid_up_to() })
    }

    /// Enters the value of the member whose name came last, if it is an object.
    #[inline]
    pub fn enter(&mut self) -> bool {
        let is_object = self.place == Place::Value && self.scanner.open_object();
        if is_object {
            self.go(Place::Start);
        }
        is_object
    }

    /// Checks that nothing but space follows the object, at the end of which [`next_name`](Self::next_name) gave `None`.
    ///
    /// # Errors
    /// Something follows.
    pub fn end(mut self) -> Result<(), PeekError> {
        self.scanner.end().ok_or_else(|| self.error())
    }

    /// Number of bytes that were looked at. The bytes behind them make no difference to what was given so far.
    #[inline]
    pub fn position(&self) -> usize {
        self.position
    }

    #[inline(always)]
    fn go(&mut self, place: Place) {
        (self.place, self.position) = (place, self.scanner.at());
    }

    fn error(&self) -> PeekError {
        PeekError::Syntax { at: self.scanner.fault() }
    }
}

/// Where the token ends that stands before `at`.
#[inline(always)]
fn behind_token(json: &[u8], at: usize) -> usize {
    let before = json.get(..at).unwrap_or_default();
    let space = before.iter().rev().take_while(|byte| **byte <= b' ');
    at - space.count()
}

/// The text of a name with escapes; its bytes as they are where it cannot be text.
#[cold]
fn unescaped(name: Name<'_>) -> Cow<'_, [u8]> {
    let text = name.text().and_then(|text| text.decode());
    text.map_or(Cow::Borrowed(name.escaped()), |text| Cow::Owned(text.into_owned().into_bytes()))
}

/// The value of the first member at a path, as JSON text: the names of the members around it, the outermost first. For
/// objects that were checked before; nothing behind the member is looked at. Returns `None` where there is none, and where
/// a value on the way is not an object.
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

/// The items of a JSON array, as JSON text, in their order. For arrays that were checked before: each item is only searched
/// for its end. Other values have no items.
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

/// The value of a member of a JSON object, as JSON text. The whole of `object` is checked. An array, string, number, boolean
/// or `null` has no members.
///
/// # Errors
/// `object` is not JSON, or has the member twice.
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
