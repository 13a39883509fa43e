//! Peeking: the kind of a line and the places of its parts, without decoding the payload.
use crate::envelope::{Envelope, Parts};
use crate::json_str::JsonStr;
use crate::member_reader::find_member;
use crate::message::Kind;
use crate::peek_error::PeekError;
use crate::scan::Scanner;
use crate::{RequestId, checked};
use serde_json::value::RawValue;

/// A peeked message: its kind, and the places of its parts in the line.
///
/// [`peek`](crate::peek()) creates it in one pass, without allocation up to 64 levels of nesting.
/// Routing, typing and telemetry share it, so that a line is scanned once; a
/// [`Message`](crate::Message) is created from it without a second pass.
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
pub struct PeekedMessage<'a> {
    pub(crate) line: &'a str,
    pub(crate) kind: Kind,
    pub(crate) parts: Parts<'a>,
    /// Whether the version is 2.0, there are no unknown members, and the method has no escapes.
    pub(crate) is_plain: bool,
}

impl<'a> PeekedMessage<'a> {
    /// Returns the line.
    pub fn line(&self) -> &'a str {
        self.line
    }

    /// Returns the kind of message.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns the id, as JSON text.
    pub fn id(&self) -> Option<&'a str> {
        self.parts.id
    }

    /// Returns the id as an owned value. Allocates for strings.
    #[inline]
    pub fn request_id(&self) -> Option<RequestId> {
        RequestId::from_text(self.parts.id?)
    }

    /// Returns the method of a request or a notification.
    #[inline]
    pub fn method(&self) -> Option<JsonStr<'a>> {
        JsonStr::new(self.parts.method?)
    }

    /// Returns the parameters of a request or a notification, as JSON text: an object or an array.
    pub fn params(&self) -> Option<&'a str> {
        self.parts.params
    }

    /// Returns the result of a successful response, as JSON text.
    pub fn result(&self) -> Option<&'a str> {
        self.parts.result
    }

    /// Returns the error of a response, as JSON text, not validated as an error object.
    pub fn error(&self) -> Option<&'a str> {
        self.parts.error
    }

    /// Returns the parameters of a request or a notification as a raw value.
    pub fn raw_params(&self) -> Option<&'a RawValue> {
        checked::raw(self.parts.params?)
    }

    /// Returns the value of the first member of the parameters at a path, as JSON text; see
    /// [`find_member`].
    pub fn param(&self, path: &[&str]) -> Option<&'a str> {
        find_member(self.parts.params?, path)
    }

    /// Reads a line.
    #[inline(always)]
    pub(crate) fn read(line: &'a str) -> Result<Self, PeekError> {
        match Parts::read_frequent(line) {
            Some((kind, parts)) => Ok(Self { line, kind, parts, is_plain: true }),
            None => Self::read_any(line),
        }
    }

    #[inline(never)]
    fn read_any(line: &'a str) -> Result<Self, PeekError> {
        let mut scanner = Scanner::of_any_depth(line.as_bytes());
        let mut envelope = Envelope::default();
        envelope.read(&mut scanner).ok_or_else(|| PeekError::Syntax { at: scanner.at() })?;
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
        Ok(Self { line, kind, parts, is_plain })
    }
}

/// Peeks at a line, and validates all of it. Kind, id and method are those of
/// [`Message::decode`](crate::Message::decode).
///
/// # Errors
/// The line is not a message. Two defects are detected only by
/// [`Message::decode`](crate::Message::decode): an `error` that is not an error object, and a lone
/// surrogate in the method, the id or a member's name.
pub fn peek(line: &[u8]) -> Result<PeekedMessage<'_>, PeekError> {
    PeekedMessage::read(text(line)?)
}

#[inline(always)]
fn text(line: &[u8]) -> Result<&str, PeekError> {
    core::str::from_utf8(line).map_err(|error| PeekError::Utf8 { at: error.valid_up_to() })
}
