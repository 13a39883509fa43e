//! What a line is, without reading what it carries.
use crate::decode_error::Shape;
use crate::envelope::{Envelope, Parts};
use crate::json_str::JsonStr;
use crate::member_reader::find_member;
use crate::message::Kind;
use crate::scan::Scanner;
use crate::{RequestId, checked};
use serde_json::value::RawValue;

/// A message that was looked at once: its kind, and where its parts are in the line.
///
/// [`peek`](crate::peek()) and [`peek_envelope`] make one in one pass, without memory (but a word for each 64 arrays and
/// objects inside each other, from the 65th). Routing, typing and telemetry take it, so that a line is read once; a
/// [`Message`] is made of it without a second pass.
///
/// ```
/// use jsonrpc_core::{JsonStr, Kind, peek};
///
/// let line = br#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":{}}}"#;
/// let peeked = peek(line)?;
/// assert_eq!(peeked.kind(), Kind::Notification);
/// assert!(peeked.method().is_some_and(|method| method == "session/update"));
/// let session = peeked.param(&["sessionId"]).and_then(JsonStr::new);
/// assert_eq!(session.and_then(|id| id.as_plain()), Some("s-1"));
/// # Ok::<(), jsonrpc_core::PeekError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Peeked<'a> {
    pub(crate) line: &'a str,
    pub(crate) kind: Kind,
    pub(crate) parts: Parts<'a>,
    /// Whether the version is 2.0, no member is beside the parts, and the method has no escapes.
    pub(crate) is_plain: bool,
    /// Whether the payload was checked.
    pub(crate) is_checked: bool,
}

impl<'a> Peeked<'a> {
    /// The line.
    pub fn line(&self) -> &'a str {
        self.line
    }

    /// Whether it is a request, a notification or a response.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The id, as JSON text.
    pub fn id(&self) -> Option<&'a str> {
        self.parts.id
    }

    /// The id, to be kept or compared. Allocates where the id is a string.
    #[inline]
    pub fn request_id(&self) -> Option<RequestId> {
        RequestId::from_text(self.parts.id?)
    }

    /// The method of a request or a notification.
    #[inline]
    pub fn method(&self) -> Option<JsonStr<'a>> {
        JsonStr::new(self.parts.method?)
    }

    /// The params of a request or a notification, as JSON text: an object or an array.
    pub fn params(&self) -> Option<&'a str> {
        self.parts.params
    }

    /// The result of a response that has no error, as JSON text.
    pub fn result(&self) -> Option<&'a str> {
        self.parts.result
    }

    /// The error of a response, as JSON text; whether it is an error object has not been checked.
    pub fn error(&self) -> Option<&'a str> {
        self.parts.error
    }

    /// The params of a request or a notification, to be kept or passed on. `None` where they are not JSON, which only
    /// [`peek_envelope`] lets pass.
    pub fn raw_params(&self) -> Option<&'a RawValue> {
        let params = self.parts.params?;
        if self.is_checked { checked::raw(params) } else { serde_json::from_str(params).ok() }
    }

    /// The value of the first member of the params at a path, as JSON text, as [`find_member`] finds it.
    pub fn param(&self, path: &[&str]) -> Option<&'a str> {
        find_member(self.parts.params?, path)
    }

    /// Reads a line.
    #[inline(always)]
    pub(crate) fn read<const CHECKED: bool>(line: &'a str) -> Result<Self, PeekError> {
        match Parts::read_frequent::<CHECKED>(line) {
            Some((kind, parts)) => {
                Ok(Self { line, kind, parts, is_plain: true, is_checked: CHECKED })
            }
            None => Self::read_any::<CHECKED>(line),
        }
    }

    #[inline(never)]
    fn read_any<const CHECKED: bool>(line: &'a str) -> Result<Self, PeekError> {
        let mut scanner = Scanner::of_any_depth(line.as_bytes());
        let mut envelope = Envelope::default();
        envelope
            .read::<CHECKED>(&mut scanner)
            .ok_or_else(|| PeekError::Syntax { at: scanner.fault() })?;
        let texts = envelope.texts(line);
        let mut parts = Parts::new(texts);
        let kind = match (envelope.problem, parts.kind()) {
            (None, Ok(kind)) => kind,
            (Some(shape), _) | (None, Err((shape, _))) => return Err(PeekError::Shape(shape)),
        };
        let [version, _, method, params, ..] = texts;
        let mut is_plain = envelope.unknown == 0
            && version == Some(r#""2.0""#)
            && method.and_then(JsonStr::new).is_none_or(|method| method.as_plain().is_some());
        if kind == Kind::Response {
            is_plain &= params.is_none();
            parts.params = None;
        }
        Ok(Self { line, kind, parts, is_plain, is_checked: CHECKED })
    }
}

/// A line is not a message, or a member cannot be looked for in it.
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
    /// The member that was asked for comes twice.
    #[error("expected one member of this name, got two")]
    Duplicate,
    /// It is JSON, and not a message.
    #[error("not a JSON-RPC message: {0}")]
    Shape(Shape),
}

/// Looks at a line, and checks the whole of it. Where [`Message::decode`] gives a message this gives its kind, id and
/// method.
///
/// # Errors
/// The line is not a message, as [`Message::decode`] sees it. Two things only `decode` sees: the `error` of a response that
/// is no error object, and half a surrogate pair in the method, the id or a member's name.
pub fn peek(line: &[u8]) -> Result<Peeked<'_>, PeekError> {
    Peeked::read::<true>(text(line)?)
}

/// Looks at a line, and only delimits the values of `params`, `result` and `error`: their brackets and strings decide where
/// they end. For lines whose payload is decoded, and so checked, by the caller, or is not needed.
///
/// ```
/// use jsonrpc_core::peek_envelope;
///
/// let peeked = peek_envelope(br#"{"jsonrpc":"2.0","id":1,"method":"m","params":[+]}"#)?;
/// assert_eq!((peeked.id(), peeked.params()), (Some("1"), Some("[+]")));
/// assert!(peeked.message().is_err());
/// # Ok::<(), jsonrpc_core::PeekError>(())
/// ```
///
/// # Errors
/// The envelope is not that of a message, as [`peek`](crate::peek()) sees it.
pub fn peek_envelope(line: &[u8]) -> Result<Peeked<'_>, PeekError> {
    Peeked::read::<false>(text(line)?)
}

#[inline(always)]
fn text(line: &[u8]) -> Result<&str, PeekError> {
    core::str::from_utf8(line).map_err(|error| PeekError::Utf8 { at: error.valid_up_to() })
}
