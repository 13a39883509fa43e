//! What a line is, without reading what it carries.
use crate::decode_error::{DecodeError, Shape};
use crate::envelope::{Envelope, NAMES, Parts, recover};
use crate::json_str::JsonStr;
use crate::member_reader::{MemberReader, find_member};
use crate::message::{Extras, Kind, Message, Notification, Request, Response, Version};
use crate::scan::Scanner;
use crate::{RequestId, checked, wire};
use alloc::borrow::Cow;
use alloc::vec::Vec;
use serde::Deserializer;
use serde::de::{Error as _, IgnoredAny};
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
    line: &'a str,
    kind: Kind,
    parts: Parts<'a>,
    /// Whether a message has nothing beside its parts.
    is_plain: bool,
    /// Whether the payload was checked.
    is_checked: bool,
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

    /// The message, with its id and method as values. What was checked is not read again.
    ///
    /// # Errors
    /// Half a surrogate pair in the id, the method or a member's name; an `error` that is no error object; or the line was
    /// peeked at by [`peek_envelope`], and the payload is not JSON.
    pub fn message(&self) -> Result<Message<'a>, DecodeError> {
        if !self.is_checked {
            return Message::decode(self.line);
        }
        self.build().unwrap_or_else(|| Err(refusal(self.line)))
    }

    /// Reads a line.
    #[inline]
    pub(crate) fn read<const CHECKED: bool>(line: &'a str) -> Result<Self, PeekError> {
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
        let [version, _, _, params, ..] = texts;
        let mut is_plain = envelope.unknown == 0 && version == Some(r#""2.0""#);
        if kind == Kind::Response {
            is_plain &= params.is_none();
            parts.params = None;
        }
        Ok(Self { line, kind, parts, is_plain, is_checked: CHECKED })
    }

    /// Makes a message of checked parts; `None` where one of them cannot be a value.
    #[inline(always)]
    fn build(&self) -> Option<Result<Message<'a>, DecodeError>> {
        let envelope = if self.is_plain { Extras::default() } else { Extras::of(self)? };
        let id = match self.parts.id {
            Some(id) => Some(RequestId::from_text(id)?),
            None => None,
        };
        let params = self.parts.params.and_then(checked::raw);
        Some(Ok(match (self.kind, id) {
            (Kind::Request, id) => {
                let method = self.method()?.decode()?;
                Message::Request(Request { id: id?, method, params, envelope })
            }
            (Kind::Notification, _) => {
                let method = self.method()?.decode()?;
                Message::Notification(Notification { method, params, envelope })
            }
            (Kind::Response, id) => {
                let id = id.unwrap_or(RequestId::NULL);
                let outcome = match self.parts.error.map(wire::decode) {
                    Some(Ok(error)) => Err(error),
                    Some(Err(source)) => return Some(Err(DecodeError::ErrorObject { source, id })),
                    None => Ok(checked::raw(self.parts.result?)?),
                };
                Message::Response(Response { id, outcome, envelope })
            }
        }))
    }
}

impl<'a> Extras<'a> {
    /// The version and the unknown members of an object that was read; `None` where a name has half a surrogate pair.
    #[cold]
    fn read(line: &'a str) -> Option<Self> {
        let mut extras = Self { version: Version::Missing, members: Vec::new() };
        let mut reader = MemberReader::new(line.as_bytes()).ok()?;
        while let Some(name) = reader.step()? {
            match NAMES.iter().position(|known| name.is(known)) {
                Some(0) => extras.version = Version::of(reader.value().ok()?),
                Some(_) => {}
                None => {
                    let name = name.text()?.decode()?;
                    if extras.members.len() < Message::MAX_EXTRA {
                        extras.members.push((name, checked::raw(reader.value().ok()?)?));
                    }
                }
            }
        }
        Some(extras)
    }

    /// The same of a message that was read: what is called `params` beside an outcome is an unknown member, the last.
    #[cold]
    fn of(peeked: &Peeked<'a>) -> Option<Self> {
        let mut extras = Self::read(peeked.line)?;
        if peeked.kind == Kind::Response {
            let stray = find_member(peeked.line, &["params"]).and_then(checked::raw);
            extras.members.extend(stray.map(|params| (Cow::Borrowed("params"), params)));
        }
        Some(extras)
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

#[inline]
fn text(line: &[u8]) -> Result<&str, PeekError> {
    core::str::from_utf8(line).map_err(|error| PeekError::Utf8 { at: error.valid_up_to() })
}

/// Why a text is no message.
#[cold]
pub(crate) fn refusal(text: &str) -> DecodeError {
    let envelope = match open(text) {
        Ok((envelope, _)) => envelope,
        Err(error) => return error,
    };
    let texts = envelope.texts(text);
    let ([_, id, ..], [_, is_id_repeated, ..]) = (texts, envelope.repeated);
    let id = id.filter(|_| !is_id_repeated).and_then(RequestId::from_text);
    let parts = Parts::new(texts);
    let (problem, kind) = match (envelope.problem, parts.kind()) {
        (Some(problem), kind) => (problem, kind.map_or_else(|(_, kind)| kind, Some)),
        (None, Err(problem)) => problem,
        // The method or the id has half a surrogate pair.
        (None, Ok(kind)) if parts.id.is_some() && id.is_none() => (Shape::Id, Some(kind)),
        (None, Ok(_)) => (Shape::Method, None),
    };
    DecodeError::Shape { problem, kind, id }
}

/// Reads the envelope of a text, and what it has beside the members of JSON-RPC.
pub(crate) fn open(text: &str) -> Result<(Envelope, Extras<'_>), DecodeError> {
    let mut envelope = Envelope::default();
    let is_read = envelope.read::<true>(&mut Scanner::of_any_depth(text.as_bytes()));
    let is_object = !matches!(envelope.problem, Some(Shape::Batch | Shape::NotAnObject));
    let extras =
        is_read.and_then(|()| if is_object { Extras::read(text) } else { Some(Extras::default()) });
    match extras {
        Some(extras) => Ok((envelope, extras)),
        None => Err(DecodeError::syntax(syntax_error(text), recover(text.as_bytes()))),
    }
}

/// What serde_json says of a text that is not JSON, or has half a surrogate pair in a member's name.
#[cold]
pub(crate) fn syntax_error(text: &str) -> serde_json::Error {
    let names = || serde_json::Deserializer::from_str(text).deserialize_map(IgnoredAny).err();
    let error = serde_json::from_str::<&RawValue>(text).err().or_else(names);
    error.unwrap_or_else(|| serde_json::Error::custom("expected JSON"))
}
