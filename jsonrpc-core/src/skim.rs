use crate::decode_error::Shape;
use crate::json_str::JsonStr;
use crate::peek::PeekError;
use crate::scan::{plain_string, skip, string_end, token};
use alloc::borrow::Cow;
use alloc::string::String;

/// Reads an object member by member, as far as somebody wants to know, and checks nothing.
///
/// For programs that look at a few members of very many messages, and count: what is passed over is only searched for
/// its end, and what stands behind the last member that was asked for is not looked at. Nothing may be decided by it that
/// matters to a peer: what is to be answered, routed or changed is for [`peek()`](crate::peek()).
///
/// | the text is | what comes of it |
/// |---|---|
/// | a JSON object, each name in it once | its members, in their order, each value whole |
/// | a JSON object with a name twice | the same, so both of them, as far as somebody asks |
/// | something else, or not UTF-8 | some members that may or may not be there, and an error at the latest at its end |
/// | the start of an object | what the object gives, up to where [`read`](Self::read) stands then; an error behind |
///
/// Each byte is looked at once, whatever the bytes are, and memory is taken for nothing but names with escapes.
///
/// ```
/// use jsonrpc_core::Skim;
///
/// let line = br#"{"method":"session/update","params":{"sessionId":"s-1","update":{"text":"and so"#;
/// let (mut skim, mut session) = (Skim::new(line)?, None);
/// while let Some(name) = skim.next_name()? {
///     match &*name {
///         b"params" => assert!(skim.enter()),
///         b"sessionId" => {
///             session = Some(skim.value()?);
///             break;
///         }
///         _ => {}
///     }
/// }
/// assert_eq!(session, Some(&br#""s-1""#[..]));
/// assert!(line.get(..skim.read()).is_some_and(|read| read.ends_with(br#""s-1""#)));
/// # Ok::<(), jsonrpc_core::PeekError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Skim<'a> {
    json: &'a [u8],
    at: usize,
    place: Place,
    read: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Behind the bracket that begins an object.
    Start,
    /// Behind the colon of a member.
    Value,
    /// Behind a value.
    Behind,
}

impl<'a> Skim<'a> {
    /// At the start of an object; space may stand before it.
    ///
    /// # Errors
    /// The text does not start as an object does.
    pub fn new(json: &'a [u8]) -> Result<Self, PeekError> {
        match token(json, 0) {
            (b'{', at) => Ok(Self { json, at: at + 1, place: Place::Start, read: at + 1 }),
            _ => Err(PeekError::Shape(Shape::NotAnObject)),
        }
    }

    /// The name of the next member, without its quotes; nothing at the end of the object. The members of an object that was
    /// [entered](Self::enter) come first, and then, behind the nothing at its end, those of the object around it. The value of
    /// the member before is passed over, if that was not done.
    ///
    /// # Errors
    /// The text ends, or is not JSON.
    #[inline]
    pub fn next_name(&mut self) -> Result<Option<Cow<'a, [u8]>>, PeekError> {
        if self.place == Place::Value {
            self.value()?;
        }
        let (mut next, mut at) = token(self.json, self.at);
        if next == b'}' {
            self.go(at + 1, Place::Behind);
            return Ok(None);
        }
        if self.place == Place::Behind {
            if next != b',' {
                return Err(PeekError::Syntax { at });
            }
            (next, at) = token(self.json, at + 1);
        }
        if next != b'"' {
            return Err(PeekError::Syntax { at });
        }
        let start = at + 1;
        let plain = plain_string(self.json, start);
        let end = match plain {
            Ok(end) => end,
            Err(_) => string_end(self.json, start).ok_or_else(|| self.ended())?,
        };
        let (colon, at) = token(self.json, end);
        if colon != b':' {
            return Err(PeekError::Syntax { at });
        }
        self.go(at + 1, Place::Value);
        let name = self.json.get(start..end - 1).unwrap_or_default();
        let unescaped = if plain.is_ok() { None } else { unescaped(name) };
        Ok(Some(unescaped.map_or(Cow::Borrowed(name), |name| Cow::Owned(name.into_bytes()))))
    }

    /// The value of the member whose name came last, as JSON text.
    ///
    /// # Errors
    /// The text ends, or is not JSON; or the value was passed over before.
    #[inline]
    pub fn value(&mut self) -> Result<&'a [u8], PeekError> {
        let (first, start) = token(self.json, self.at);
        if self.place != Place::Value {
            return Err(PeekError::Syntax { at: start });
        }
        let end = skip(self.json, start).ok_or_else(|| self.ended())?;
        self.go(end, Place::Behind);
        // Only what follows tells where a number or a word ends.
        self.read += usize::from(!matches!(first, b'"' | b'{' | b'['));
        Ok(self.json.get(start..end).unwrap_or_default())
    }

    /// Enters the value of the member whose name came last, if that is an object.
    #[inline]
    pub fn enter(&mut self) -> bool {
        let (first, at) = token(self.json, self.at);
        let is_object = self.place == Place::Value && first == b'{';
        if is_object {
            self.go(at + 1, Place::Start);
        }
        is_object
    }

    /// How many bytes were looked at. What stands behind them makes no difference to what was given so far.
    #[inline]
    pub fn read(&self) -> usize {
        self.read
    }

    #[inline(always)]
    fn go(&mut self, at: usize, place: Place) {
        (self.at, self.place, self.read) = (at, place, at);
    }

    fn ended(&self) -> PeekError {
        PeekError::Syntax { at: self.json.len() }
    }
}

/// The text of a name with escapes; nothing for one that cannot be text.
#[cold]
fn unescaped(name: &[u8]) -> Option<String> {
    let text = JsonStr::between_quotes(core::str::from_utf8(name).ok()?);
    text.decode().map(Cow::into_owned)
}
