//! Encoding of messages as one line of JSON.
use crate::json_text::{keep_on_one_line, raw, string};
use crate::message::Message;
use crate::wire::{self, Wire};
use crate::{ErrorObject, RequestId};
use alloc::vec::Vec;
use serde::Serialize;
use serde_json::value::RawValue;

/// The beginning of a message.
const BEGIN: &[u8] = br#"{"jsonrpc":"2.0""#;

/// Size of a message besides its method and its payload, in bytes, if the id is a number.
const ENVELOPE: usize = 64;

/// Appends a notification with a value of a wire type as its parameters, and the line end.
///
/// ```
/// use jsonrpc_core::wire::Extra;
///
/// let mut out = Vec::new();
/// jsonrpc_core::write_notification("m", &Extra::new(), &mut out);
/// assert_eq!(out, b"{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":{}}\n");
/// ```
pub fn write_notification(method: &str, params: &dyn Wire, out: &mut Vec<u8>) {
    out.extend_from_slice(BEGIN);
    call_of(method, None, out);
    out.extend_from_slice(br#","params":"#);
    wire::write_on_one_line(params, out);
    out.extend_from_slice(b"}\n");
}

impl Message<'_> {
    /// Appends the message as one line with its line end. Line breaks inside `params`, `result` and
    /// `data`, which occur only between tokens, become spaces.
    pub fn to_line(&self, out: &mut Vec<u8>) {
        message(self, out);
        out.push(b'\n');
    }
}

/// Appends `message` without a line end.
pub(crate) fn message(message: &Message<'_>, out: &mut Vec<u8>) {
    let begin = |size: usize, out: &mut Vec<u8>| {
        out.reserve(ENVELOPE + size);
        out.extend_from_slice(BEGIN);
    };
    let size = |payload: Option<&RawValue>| payload.map_or(0, |payload| payload.get().len());
    match message {
        Message::Request(request) => {
            begin(request.method.len() + size(request.params), out);
            id(&request.id, out);
            method(&request.method, request.params, out);
        }
        Message::Notification(notification) => {
            begin(notification.method.len() + size(notification.params), out);
            method(&notification.method, notification.params, out);
        }
        Message::Response(response) => {
            begin(size(response.outcome.as_ref().ok().copied()), out);
            id(&response.id, out);
            match &response.outcome {
                Ok(result) => {
                    out.extend_from_slice(br#","result":"#);
                    raw(result.get().as_bytes(), out);
                }
                Err(error) => error_object(error, out),
            }
        }
    }
    for (name, value) in message.extra() {
        out.push(b',');
        string(name, out);
        out.push(b':');
        raw(value.get().as_bytes(), out);
    }
    out.push(b'}');
}

fn id(id: &RequestId, out: &mut Vec<u8>) {
    out.extend_from_slice(br#","id":"#);
    id.write(out);
}

fn method(name: &str, params: Option<&RawValue>, out: &mut Vec<u8>) {
    call_of(name, params.map(|params| params.get().as_bytes()), out);
}

fn call_of(name: &str, params: Option<&[u8]>, out: &mut Vec<u8>) {
    out.extend_from_slice(br#","method":"#);
    string(name, out);
    if let Some(params) = params {
        out.extend_from_slice(br#","params":"#);
        raw(params, out);
    }
}

fn error_object(error: &ErrorObject, out: &mut Vec<u8>) {
    out.extend_from_slice(br#","error":"#);
    let start = out.len();
    json(error, out);
    keep_on_one_line(out, start);
}

fn json<T: Serialize + ?Sized>(value: &T, out: &mut Vec<u8>) {
    let written = serde_json::to_vec(value);
    debug_assert!(written.is_ok(), "strings, integers and raw text always have a JSON form");
    out.extend_from_slice(&written.unwrap_or_default());
}
