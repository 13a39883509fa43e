//! Writes messages as one line of JSON.
use crate::message::Message;
use crate::{ErrorObject, RequestId, scan};
use alloc::vec::Vec;
use core::fmt::{self, Write};
use memchr::memchr2;
use serde::Serialize;
use serde_json::value::RawValue;

/// Appends `message` without a line end.
pub(crate) fn message(message: &Message<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(br#"{"jsonrpc":"2.0""#);
    match message {
        Message::Request(request) => {
            id(&request.id, out);
            call(&request.method, request.params, out);
        }
        Message::Notification(notification) => call(&notification.method, notification.params, out),
        Message::Response(response) => {
            id(&response.id, out);
            match &response.outcome {
                Ok(result) => member("result", result, out),
                Err(error) => error_object(error, out),
            }
        }
    }
    for (name, value) in message.extra() {
        out.push(b',');
        string(name, out);
        out.push(b':');
        raw(value, out);
    }
    out.push(b'}');
}

fn id(id: &RequestId, out: &mut Vec<u8>) {
    out.extend_from_slice(br#","id":"#);
    id.write(out);
}

fn call(method: &str, params: Option<&RawValue>, out: &mut Vec<u8>) {
    out.extend_from_slice(br#","method":"#);
    string(method, out);
    if let Some(params) = params {
        member("params", params, out);
    }
}

fn error_object(error: &ErrorObject, out: &mut Vec<u8>) {
    out.extend_from_slice(br#","error":"#);
    let start = out.len();
    json(error, out);
    keep_on_one_line(out, start);
}

fn member(name: &str, value: &RawValue, out: &mut Vec<u8>) {
    out.extend_from_slice(b",\"");
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\":");
    raw(value, out);
}

fn raw(value: &RawValue, out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(value.get().as_bytes());
    keep_on_one_line(out, start);
}

/// A line break inside JSON can only stand between tokens, where a space means the same.
pub(crate) fn keep_on_one_line(out: &mut [u8], start: usize) {
    let mut rest = out.get_mut(start..).unwrap_or_default();
    while let Some((byte, behind)) =
        memchr2(b'\n', b'\r', rest).and_then(|at| rest.get_mut(at..)?.split_first_mut())
    {
        *byte = b' ';
        rest = behind;
    }
}

/// Appends a JSON string.
pub(crate) fn string(text: &str, out: &mut Vec<u8>) {
    if scan::plain_prefix(text.as_bytes()) == text.len() {
        out.push(b'"');
        out.extend_from_slice(text.as_bytes());
        out.push(b'"');
    } else {
        escaped(text, out);
    }
}

/// Appends a JSON string that has something to escape.
fn escaped(text: &str, out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    out.reserve(text.len() + text.len() / 8 + 2);
    out.push(b'"');
    let mut rest = text.as_bytes();
    loop {
        let (plain, behind) = rest.split_at(scan::plain_prefix(rest));
        out.extend_from_slice(plain);
        let Some((byte, behind)) = behind.split_first() else { break };
        rest = behind;
        let short = match byte {
            b'"' | b'\\' => *byte,
            b'\n' => b'n',
            b'\t' => b't',
            b'\r' => b'r',
            8 => b'b',
            12 => b'f',
            control => {
                let digit = |at: u8| DIGITS.get(usize::from(at & 15)).copied().unwrap_or_default();
                let (high, low) = (digit(control >> 4), digit(*control));
                out.extend_from_slice(&[b'\\', b'u', b'0', b'0', high, low]);
                continue;
            }
        };
        out.extend_from_slice(&[b'\\', short]);
    }
    out.push(b'"');
}

/// Appends what `value` displays as.
pub(crate) fn display(value: impl fmt::Display, out: &mut Vec<u8>) {
    struct Out<'a>(&'a mut Vec<u8>);

    impl fmt::Write for Out<'_> {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            self.0.extend_from_slice(text.as_bytes());
            Ok(())
        }
    }

    let written = write!(Out(out), "{value}");
    debug_assert!(written.is_ok(), "writing to a vector does not fail");
}

fn json<T: Serialize + ?Sized>(value: &T, out: &mut Vec<u8>) {
    let written = serde_json::to_vec(value);
    debug_assert!(written.is_ok(), "strings, integers and raw text always have a JSON form");
    out.extend_from_slice(&written.unwrap_or_default());
}
