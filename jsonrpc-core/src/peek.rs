use crate::decode_error::Shape;
use crate::envelope::{Members, Scan};
use crate::json_str::JsonStr;
use crate::message::Kind;
use crate::peek_members::peek_members;
use crate::scan::{Fault, MAX_DEPTH, Scanner};
use crate::{RequestId, checked};
use serde_json::value::RawValue;

/// What a line is, without reading what it carries.
///
/// One pass over the bytes, and no memory (but a word for each 64 arrays and objects inside each other, from the 65th):
/// for programs that route, count or pass lines on. Where [`Message::decode`](crate::Message::decode) gives a message this
/// gives its kind, id and method; the whole line is checked, so a duplicate member at its end is seen.
///
/// ```
/// use jsonrpc_core::{JsonStr, Kind, peek, peek_member};
///
/// let line = br#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":{}}}"#;
/// let peek = peek(line)?;
/// assert_eq!(peek.kind(), Kind::Notification);
/// assert!(peek.method().is_some_and(|method| method == "session/update"));
/// let session = peek_member(peek.params().unwrap_or_default(), "sessionId")?;
/// assert_eq!(session.and_then(JsonStr::new).and_then(|id| id.as_plain()), Some("s-1"));
/// # Ok::<(), jsonrpc_core::PeekError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Peek<'a> {
    pub(crate) kind: Kind,
    pub(crate) members: Members<'a>,
}

impl<'a> Peek<'a> {
    /// Whether it is a request, a notification or a response.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The id, as JSON text.
    pub fn id(&self) -> Option<&'a str> {
        self.members.id
    }

    /// The id, to be kept or compared. Allocates where the id is a string.
    #[inline]
    pub fn request_id(&self) -> Option<RequestId> {
        RequestId::from_text(self.members.id?)
    }

    /// The method of a request or a notification.
    #[inline]
    pub fn method(&self) -> Option<JsonStr<'a>> {
        JsonStr::new(self.members.method?)
    }

    /// The params of a request or a notification, as JSON text: an object or an array.
    pub fn params(&self) -> Option<&'a str> {
        self.members.params
    }

    /// The params of a request or a notification, to be kept or passed on without a second check.
    pub fn raw_params(&self) -> Option<&'a RawValue> {
        checked::raw(self.members.params?)
    }

    /// The result of a response that has no error, as JSON text.
    pub fn result(&self) -> Option<&'a str> {
        self.members.result
    }

    /// The error of a response, as JSON text; whether it is an error object has not been looked at.
    pub fn error(&self) -> Option<&'a str> {
        self.members.error
    }
}

/// A line is not a message, or cannot be looked into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PeekError {
    /// It is not UTF-8.
    #[error("not valid UTF-8 from byte {at}")]
    Utf8 {
        /// Where the first wrong byte is.
        at: usize,
    },
    /// It is not JSON.
    #[error("not valid JSON at byte {at}")]
    Syntax {
        /// Where reading ended.
        at: usize,
    },
    /// A member has more than 1024 arrays and objects inside each other.
    #[error("nested deeper than {MAX_DEPTH} levels")]
    TooDeep,
    /// The member that was asked for comes twice.
    #[error("expected one member of this name, got two")]
    Duplicate,
    /// It is JSON, and not a message.
    #[error("not a JSON-RPC message: {0}")]
    Shape(Shape),
}

impl From<Fault> for PeekError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Syntax { at } => Self::Syntax { at },
            Fault::TooDeep => Self::TooDeep,
        }
    }
}

/// Says what a line is; see [`Peek`].
///
/// # Errors
/// The line is not a message, as [`Message::decode`](crate::Message::decode) sees it, or is nested too deep. Two things
/// only `decode` sees: the `error` of a response that is no error object, and half a surrogate pair in the method, the id
/// or a member's name.
pub fn peek(line: &[u8]) -> Result<Peek<'_>, PeekError> {
    peek_members(line, []).map(|(peek, [])| peek)
}

/// The value of a member of a JSON object, as JSON text; `object` is one that was read before, such as
/// [`Peek::params`]. An array, string, number, boolean or `null` has no members.
///
/// # Errors
/// `object` is not JSON, or has the member twice.
pub fn peek_member<'a>(object: &'a str, name: &str) -> Result<Option<&'a str>, PeekError> {
    let mut scanner = Scanner::new(object.as_bytes());
    if scanner.next_token() != b'{' {
        return Ok(None);
    }
    let mut found = None;
    let mut member = scanner.first_name().ok_or_else(|| scanner.fault())?;
    while let Some(text) = member {
        let value = scanner.value().ok_or_else(|| scanner.fault())?;
        if text.is(name) {
            if found.is_some() {
                return Err(PeekError::Duplicate);
            }
            found = object.get(value);
        }
        member = scanner.next_name().ok_or_else(|| scanner.fault())?;
    }
    Ok(found)
}

/// What is known of a message from the part of it that could be read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recovered {
    pub(crate) kind: Option<Kind>,
    pub(crate) id: Option<RequestId>,
}

/// Finds out what can be told of a message that broke off, or broke.
///
/// The id counts only where it is clear whose it is: both peers number their requests, often alike.
pub(crate) fn recover(bytes: &[u8]) -> Recovered {
    let mut scan = Scan::default();
    let is_whole = scan.run(&mut Scanner::new(bytes), &mut ()).is_some();
    let ([_, id, ..], [_, is_id_repeated, ..]) = (scan.members, scan.repeated);
    let id = id
        .filter(|_| !is_id_repeated)
        .and_then(|range| core::str::from_utf8(bytes.get(range)?).ok())
        .and_then(RequestId::from_text);
    let [_, has_id, is_call, _, has_result, has_error] = scan.is_begun;
    let kind = match (is_call, has_result || has_error) {
        (false, true) => Some(Kind::Response),
        (true, false) if id.is_some() => Some(Kind::Request),
        (true, false) if is_whole && !has_id => Some(Kind::Notification),
        _ => None,
    };
    Recovered { id: id.filter(|_| kind.is_some()), kind }
}
