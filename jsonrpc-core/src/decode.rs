//! Messages of lines, and errors of invalid lines.
use crate::decode_error::{MessageError, Shape};
use crate::envelope::{Envelope, MessageFragment, NAMES, Parts, recover};
use crate::member_reader::{MemberReader, find_member};
use crate::message::{Extras, Kind, Message, Notification, Request, Response, Version};
use crate::peek::PeekedMessage;
use crate::scan::Scanner;
use crate::{RequestId, checked, wire};
use alloc::borrow::Cow;
use alloc::vec::Vec;
use serde::Deserializer;
use serde::de::{Error as _, IgnoredAny};
use serde_json::value::RawValue;

impl<'a> Message<'a> {
    /// Decodes one message, in one pass.
    ///
    /// # Errors
    /// The text is not JSON, or not a message. The error has the id of the message, if it could be
    /// read.
    pub fn decode(text: &'a str) -> Result<Self, MessageError> {
        match PeekedMessage::read(text) {
            Ok(peeked) => peeked.message(),
            Err(_) => Err(refusal(text)),
        }
    }

    /// Decodes one message exactly as JSON-RPC 2.0 defines it, for tests of peers and for peers
    /// that require it. The [crate documentation](crate#odd-input) lists the differences from
    /// [`decode`](Self::decode).
    ///
    /// ```
    /// use jsonrpc_core::Message;
    ///
    /// let error = Message::decode_strict(r#"{"jsonrpc":"2.0","id":1,"method":"m","params":null}"#).unwrap_err();
    /// assert_eq!(error.to_string(), "not a JSON-RPC message: expected `params` to be an object or an array");
    /// ```
    ///
    /// # Errors
    /// As for [`decode`](Self::decode), and for violations of a "must" of JSON-RPC 2.0.
    pub fn decode_strict(text: &'a str) -> Result<Self, MessageError> {
        let message = Self::decode(text)?;
        match refused(open(text)?.texts(text)) {
            None => Ok(message),
            Some(problem) => Err(MessageError::Shape {
                problem,
                kind: Some(message.kind()),
                id: message.id().cloned(),
            }),
        }
    }
}

/// Returns the violation that [`Message::decode`] accepts and JSON-RPC 2.0 does not.
fn refused([version, id, method, params, result, error]: [Option<&str>; 6]) -> Option<Shape> {
    let is_call = method.is_some();
    if !matches!(version.map(Version::of), Some(Version::V2)) {
        return Some(Shape::Version);
    }
    if is_call && params == Some("null") {
        return Some(Shape::Params);
    }
    if usize::from(is_call) + usize::from(result.is_some()) + usize::from(error.is_some()) > 1 {
        return Some(Shape::Ambiguous);
    }
    (!is_call && id.is_none()).then_some(Shape::ErrorWithoutId)
}

impl<'a> PeekedMessage<'a> {
    /// Returns the message, with id and method as values. Validated parts are not validated again.
    ///
    /// # Errors
    /// A lone surrogate in the id, the method or a member's name; or an `error` that is not an
    /// error object.
    #[inline]
    pub fn message(&self) -> Result<Message<'a>, MessageError> {
        let refused = || refusal(self.line);
        let envelope = match self.is_plain {
            true => Extras::default(),
            false => Extras::of(self.line, self.kind).ok_or_else(refused)?,
        };
        let params = self.parts.params.and_then(checked::raw);
        Ok(match (self.kind, self.parts.id) {
            (Kind::Request, id) => {
                let id = id.and_then(RequestId::from_text).ok_or_else(refused)?;
                let method = self.name().ok_or_else(refused)?;
                Message::Request(Request { id, method, params, envelope })
            }
            (Kind::Notification, _) => {
                let method = self.name().ok_or_else(refused)?;
                Message::Notification(Notification { method, params, envelope })
            }
            (Kind::Response, id) => {
                let id = id.map_or(Some(RequestId::NULL), RequestId::from_text);
                let id = id.ok_or_else(refused)?;
                let outcome = match self.parts.error {
                    None => Ok(self.parts.result.and_then(checked::raw).ok_or_else(refused)?),
                    Some(error) => match wire::decode(error) {
                        Ok(error) => Err(error),
                        Err(source) => return Err(MessageError::ErrorObject { source, id }),
                    },
                };
                Message::Response(Response { id, outcome, envelope })
            }
        })
    }

    /// Returns the method as a string; `None` if it has a lone surrogate.
    #[inline(always)]
    fn name(&self) -> Option<Cow<'a, str>> {
        let method = self.method()?;
        if self.is_plain { Some(Cow::Borrowed(method.as_escaped())) } else { method.decode() }
    }
}

impl<'a> Extras<'a> {
    /// Returns the version and the unknown members of an object; `None` if a name has a lone
    /// surrogate.
    #[cold]
    fn read(line: &'a str) -> Option<Self> {
        let mut extras = Self { version: Version::Missing, members: Vec::new() };
        let mut reader = MemberReader::new(line.as_bytes()).ok()?;
        while let Some(name) = reader.step()? {
            match NAMES.iter().position(|known| name.is(known)) {
                Some(0) => extras.version = Version::of(reader.value().ok()?),
                Some(_) => {}
                None => {
                    let name = name.decode()?;
                    if extras.members.len() < Message::MAX_EXTRA {
                        extras.members.push((name, checked::raw(reader.value().ok()?)?));
                    }
                }
            }
        }
        Some(extras)
    }

    /// Returns those of a message: `params` in a response is the last unknown member.
    #[cold]
    fn of(line: &'a str, kind: Kind) -> Option<Self> {
        let mut extras = Self::read(line)?;
        if kind == Kind::Response {
            let stray = find_member(line, &["params"]).and_then(checked::raw);
            extras.members.extend(stray.map(|params| (Cow::Borrowed("params"), params)));
        }
        Some(extras)
    }
}

/// Returns the error of a text that is not a message.
#[cold]
pub(crate) fn refusal(text: &str) -> MessageError {
    let envelope = match open(text) {
        Ok(envelope) => envelope,
        Err(error) => return error,
    };
    let texts = envelope.texts(text);
    let ([_, id, ..], [_, is_id_repeated, ..]) = (texts, envelope.repeated);
    let id = id.filter(|_| !is_id_repeated).and_then(RequestId::from_text);
    let parts = Parts::new(texts);
    let (problem, kind) = match (envelope.problem, parts.kind()) {
        (Some(problem), kind) => (problem, kind.map_or_else(|(_, kind)| kind, Some)),
        (None, Err(problem)) => problem,
        // The method or the id has a lone surrogate.
        (None, Ok(kind)) if parts.id.is_some() && id.is_none() => (Shape::Id, Some(kind)),
        (None, Ok(_)) => (Shape::Method, None),
    };
    MessageError::Shape { problem, kind, id }
}

/// Reads the envelope of a text.
fn open(text: &str) -> Result<Envelope, MessageError> {
    let mut envelope = Envelope::default();
    let is_read = envelope.read(&mut Scanner::of_any_depth(text.as_bytes())).is_some();
    let is_object = !matches!(envelope.problem, Some(Shape::Batch | Shape::NotAnObject));
    if is_read && (!is_object || Extras::read(text).is_some()) {
        Ok(envelope)
    } else {
        let MessageFragment { kind, id } = recover(text.as_bytes());
        Err(MessageError::Syntax { source: syntax_error(text), kind, id })
    }
}

/// Returns serde_json's error for a text that is not JSON, or has a lone surrogate in a member's
/// name.
#[cold]
pub(crate) fn syntax_error(text: &str) -> serde_json::Error {
    let names = || serde_json::Deserializer::from_str(text).deserialize_map(IgnoredAny).err();
    let error = serde_json::from_str::<&RawValue>(text).err().or_else(names);
    error.unwrap_or_else(|| serde_json::Error::custom("expected JSON"))
}
