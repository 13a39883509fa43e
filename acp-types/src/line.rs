//! Lines that are read and written in one pass, envelope and payload together.
//!
//! ```
//! use acp_types::line;
//! use acp_types::v1::prompt_turn::{ContentChunk, SessionNotification, SessionUpdate};
//!
//! let update = SessionUpdate::AgentMessageChunk(ContentChunk::new("Hi"));
//! let notification = SessionNotification::new("s-1", update);
//! let mut out = Vec::new();
//! line::write_notification(&notification, &mut out)?;
//! assert!(out.starts_with(br#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","#));
//!
//! let line = core::str::from_utf8(&out)?.trim_end();
//! assert_eq!(line::read_notification(line)?, Some(notification));
//! assert_eq!(line::read_notification::<SessionNotification>(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#)?, None);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
use crate::methods::{NotificationParams, RequestParams};
use alloc::vec::Vec;
use core::fmt;
use jsonrpc_core::wire::{self, DecodeError};
use jsonrpc_core::{
    ErrorObject, Kind, Peek, PeekError, Reader, RequestId, peek, peek_params, read_json,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A line cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LineError {
    /// It is not a message.
    Message(PeekError),
    /// Its parameters are not those of its method. The pointer begins at them.
    Params(DecodeError),
}

impl fmt::Display for LineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Message(error) => error.fmt(f),
            Self::Params(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for LineError {}

impl From<PeekError> for LineError {
    fn from(error: PeekError) -> Self {
        Self::Message(error)
    }
}

impl From<DecodeError> for LineError {
    fn from(error: DecodeError) -> Self {
        Self::Params(error)
    }
}

/// An answer: the id of the request that it is for, and what it brings.
pub type Answer<T> = (RequestId, Result<T, ErrorObject>);

/// Reads a line where it is a notification of this type; nothing where it is another message.
///
/// # Errors
/// The line is not a message, or the method is the type's and the parameters are not.
pub fn read_notification<T>(line: &str) -> Result<Option<T>, LineError>
where
    T: NotificationParams + DeserializeOwned,
{
    let (peek, params) = read(line, T::METHOD)?;
    finish(&peek, Kind::Notification, T::METHOD, params)
}

/// Reads a line where it is a request of this type, its id first; nothing where it is another message.
///
/// # Errors
/// The line is not a message, or the method is the type's and the parameters are not.
pub fn read_request<T>(line: &str) -> Result<Option<(RequestId, T)>, LineError>
where
    T: RequestParams + DeserializeOwned,
{
    let (peek, params) = read(line, T::METHOD)?;
    let params = finish(&peek, Kind::Request, T::METHOD, params)?;
    Ok(params.and_then(|params| Some((peek.request_id()?, params))))
}

/// Reads a line where it is an answer, its id first, with what it brings: the caller knows by the id which request it is for,
/// and so the type of the result. Nothing where it is another message.
///
/// ```
/// use acp_types::line;
/// use acp_types::v1::file_system::ReadTextFileResponse;
///
/// let line = r#"{"jsonrpc":"2.0","id":3,"result":{"content":"a\nb"}}"#;
/// let (id, result) = line::read_response::<ReadTextFileResponse>(line)?.ok_or("no answer")?;
/// assert_eq!((id, result?.content.as_str()), (3.into(), "a\nb"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The line is not a message, or its result is not a `T`.
pub fn read_response<T: DeserializeOwned>(line: &str) -> Result<Option<Answer<T>>, LineError> {
    if let Some((id, result)) = read_usual_response(line) {
        return Ok(Some((id, Ok(result))));
    }
    let peek = peek(line.as_bytes())?;
    let Some(id) = peek.request_id().filter(|_| peek.kind() == Kind::Response) else {
        return Ok(None);
    };
    let outcome = match peek.error() {
        Some(error) => Err(wire::decode(error)?),
        None => Ok(wire::decode(peek.result().unwrap_or("null"))?),
    };
    Ok(Some((id, outcome)))
}

/// Reads an answer with a result and nothing unusual, in one go.
fn read_usual_response<T: DeserializeOwned>(line: &str) -> Option<(RequestId, T)> {
    let (mut version, mut id, mut result, mut is_usual) = (None, None, None, true);
    read_json(line, |reader| {
        reader.object(|name, value| {
            is_usual &= match name {
                "jsonrpc" => version.replace(value.value()?).is_none(),
                "id" => id.replace(value.value()?).is_none(),
                "result" => match value.read::<T>()? {
                    Ok(read) => result.replace(read).is_none(),
                    Err(_) => false,
                },
                _ => value.value().map(|_| false)?,
            };
            Some(())
        })
    })?;
    if !is_usual || version != Some(r#""2.0""#) {
        return None;
    }
    Some((wire::decode(id?).ok()?, result?))
}

/// Appends a notification as a line, with its line end.
///
/// # Errors
/// The parameters have no JSON form; then nothing is appended.
pub fn write_notification<T>(params: &T, out: &mut Vec<u8>) -> Result<(), serde_json::Error>
where
    T: NotificationParams + Serialize,
{
    let start = out.len();
    out.extend_from_slice(br#"{"jsonrpc":"2.0""#);
    write_call(T::METHOD, params, start, out)
}

/// Appends a request as a line, with its line end.
///
/// # Errors
/// The parameters have no JSON form; then nothing is appended.
pub fn write_request<T>(
    id: &RequestId,
    params: &T,
    out: &mut Vec<u8>,
) -> Result<(), serde_json::Error>
where
    T: RequestParams + Serialize,
{
    let start = out.len();
    out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    wire::write(id, out)?;
    write_call(T::METHOD, params, start, out)
}

/// Appends the answer to a request as a line, with its line end.
///
/// # Errors
/// The result has no JSON form; then nothing is appended.
pub fn write_response<T: Serialize>(
    id: &RequestId,
    result: &T,
    out: &mut Vec<u8>,
) -> Result<(), serde_json::Error> {
    let start = out.len();
    out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    wire::write(id, out)?;
    out.extend_from_slice(br#","result":"#);
    write_end(result, start, out)
}

fn write_call<T: Serialize>(
    method: &str,
    params: &T,
    start: usize,
    out: &mut Vec<u8>,
) -> Result<(), serde_json::Error> {
    out.extend_from_slice(br#","method":"#);
    wire::write(method, out)?;
    out.extend_from_slice(br#","params":"#);
    write_end(params, start, out)
}

fn write_end<T: Serialize>(
    value: &T,
    start: usize,
    out: &mut Vec<u8>,
) -> Result<(), serde_json::Error> {
    let from = out.len();
    if let Err(error) = wire::write(value, out) {
        out.truncate(start);
        return Err(error);
    }
    keep_on_one_line(out.get_mut(from..).unwrap_or_default());
    out.extend_from_slice(b"}\n");
    Ok(())
}

/// A line break inside a raw value can only stand between tokens, where a space means the same.
fn keep_on_one_line(text: &mut [u8]) {
    // Nearly always there is none. Numbers that are all looked at are compared many at a time; a search is not.
    let breaks =
        text.iter().fold(0, |any, byte| any | u8::from(*byte == b'\n') | u8::from(*byte == b'\r'));
    if breaks != 0 {
        text.iter_mut().filter(|byte| matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
    }
}

/// What a line is, and its parameters where it begins as all lines of the method do and they can be read in one go.
fn read<'a, T: DeserializeOwned>(
    line: &'a str,
    method: &str,
) -> Result<(Peek<'a>, Option<T>), LineError> {
    let mut read = None;
    let peek = peek_params(line, |params| {
        read = if is_of(params, method) {
            params.read()?.ok()
        } else {
            params.value().map(|_| None)?
        };
        Some(())
    })?;
    Ok((peek, read))
}

/// Whether the text before the parameters ends as it does where the method stands before them. What else it may be is found
/// out when all of the line is read.
pub(crate) fn is_of(params: &Reader<'_, '_>, method: &str) -> bool {
    let before = params.before().strip_suffix(r#"","params":"#);
    before.is_some_and(|before| before.ends_with(method))
}

/// Whether a message is of this kind and method.
pub(crate) fn is_method(peek: &Peek<'_>, kind: Kind, method: &str) -> bool {
    peek.kind() == kind && peek.method().is_some_and(|name| name == method)
}

fn finish<T: DeserializeOwned>(
    peek: &Peek<'_>,
    kind: Kind,
    method: &str,
    read: Option<T>,
) -> Result<Option<T>, LineError> {
    if !is_method(peek, kind, method) {
        return Ok(None);
    }
    match read {
        Some(params) => Ok(Some(params)),
        None => Ok(Some(wire::decode(peek.params().unwrap_or("{}"))?)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::v1::file_system::ReadTextFileResponse;
    use crate::v1::prompt_turn::{PromptRequest, SessionNotification};

    /// What is read here must not be read again by the slow way: that would be right, and nobody would see it.
    #[test]
    fn parameters_behind_their_method_are_read_on_the_way() {
        let update = r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"content":{"text":"\n","type":"text"},"sessionUpdate":"agent_message_chunk"}}}"#;
        let updated = read::<SessionNotification>(update, SessionNotification::METHOD);
        assert!(updated.is_ok_and(|(_, params)| params.is_some()));
        let prompt = r#"{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}"#;
        let prompted = read::<PromptRequest>(prompt, PromptRequest::METHOD);
        assert!(prompted.is_ok_and(|(_, params)| params.is_some()));
        let file = r#"{"jsonrpc":"2.0","id":"r","result":{"content":"\n"}}"#;
        assert!(read_usual_response::<ReadTextFileResponse>(file).is_some());
    }
}
