//! Documents and batches: several messages in one text.
use crate::decode::syntax_error;
use crate::decode_error::{MessageError, Shape};
use crate::message::Message;
use crate::scan::Scanner;
use crate::{checked, encode};
use alloc::vec::Vec;
use serde_json::value::RawValue;

/// The content of one JSON text: a message, or a batch. For transports with frames of either kind,
/// such as the bodies of HTTP requests.
///
/// ```
/// use jsonrpc_core::{Batch, Document, Message};
///
/// let text = r#"[{"jsonrpc":"2.0","id":1,"method":"sum"}, 7]"#;
/// let Document::Batch(batch) = Document::decode(text)? else { panic!("not a batch") };
/// let replies: Vec<_> = batch.messages().filter_map(|message| message.err()?.reply()).map(Message::from).collect();
/// let mut out = Vec::new();
/// Batch::to_line(&replies, &mut out);
/// let expected = br#"[{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"not a JSON-RPC message: expected an object"}}]"#;
/// assert_eq!(out.trim_ascii_end(), expected);
/// # Ok::<(), jsonrpc_core::MessageError>(())
/// ```
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_enums, reason = "JSON-RPC has single messages and batches")]
pub enum Document<'a> {
    /// One message.
    Message(Message<'a>),
    /// Several messages, or one in an array.
    Batch(Batch<'a>),
}

impl<'a> Document<'a> {
    /// Decodes a message, or a batch of up to [`Batch::MAX_LEN`] messages.
    ///
    /// # Errors
    /// The text is not JSON, is neither an object nor an array, is an object but not a message, or
    /// is an empty or oversized array. [`MessageError::reply`] is then the single response. Defects
    /// of a message within a batch are reported for that message.
    pub fn decode(text: &'a str) -> Result<Self, MessageError> {
        Self::decode_within(text, Batch::MAX_LEN)
    }

    /// Decodes a message, or a batch of up to `max_len` messages.
    ///
    /// # Errors
    /// As for [`decode`](Self::decode).
    pub fn decode_within(text: &'a str, max_len: usize) -> Result<Self, MessageError> {
        if text.trim_ascii_start().starts_with('[') {
            Batch::decode(text, max_len).map(Self::Batch)
        } else {
            Message::decode(text).map(Self::Message)
        }
    }
}

/// Messages in an array, each decoded individually.
///
/// Spec: [Batch](https://www.jsonrpc.org/specification#batch) (JSON-RPC 2.0)
///
/// Its requests are answered in one array, in any order, written by [`to_line`](Self::to_line);
/// without requests there is no response. The batch holds a reference for each message, without
/// copies.
#[derive(Clone, Debug)]
pub struct Batch<'a>(Vec<&'a RawValue>);

impl<'a> Batch<'a> {
    /// The default largest number of messages in a batch. It is limited since two bytes of input
    /// may require a response of a hundred bytes.
    pub const MAX_LEN: usize = 1024;

    /// Returns the messages in order; at least one.
    pub fn messages(&self) -> impl ExactSizeIterator<Item = Result<Message<'a>, MessageError>> {
        self.texts().map(Message::decode)
    }

    /// Returns the JSON text of each message.
    pub fn texts(&self) -> impl ExactSizeIterator<Item = &'a str> {
        self.0.iter().map(|text| text.get())
    }

    /// Appends `messages` as one array on a line with its line end. Appends nothing without
    /// messages, since an empty array must not be sent.
    pub fn to_line<'m, 'b: 'm>(
        messages: impl IntoIterator<Item = &'m Message<'b>>,
        out: &mut Vec<u8>,
    ) {
        let mut open = b'[';
        for message in messages {
            out.push(core::mem::replace(&mut open, b','));
            encode::message(message, out);
        }
        if open == b',' {
            out.extend_from_slice(b"]\n");
        }
    }

    pub(crate) fn decode(text: &'a str, max_len: usize) -> Result<Self, MessageError> {
        let refuse = |problem| Err(MessageError::Shape { problem, kind: None, id: None });
        match items(text, max_len) {
            None => Err(MessageError::Syntax { source: syntax_error(text), kind: None, id: None }),
            Some((_, count)) if count > max_len => refuse(Shape::TooManyMessages),
            Some((items, _)) if items.is_empty() => refuse(Shape::EmptyBatch),
            Some((items, _)) => Ok(Self(items)),
        }
    }
}

/// Returns the first `max_len` items of an array, and the number of all items; `None` if the text
/// is not JSON.
fn items(text: &str, max_len: usize) -> Option<(Vec<&RawValue>, usize)> {
    let mut scanner = Scanner::of_any_depth(text.as_bytes());
    let mut items = Vec::new();
    let mut count = 0;
    while scanner.next_item(count == 0)? {
        let item = scanner.value()?;
        if count < max_len {
            items.push(checked::raw(text.get(item)?)?);
        }
        count += 1;
    }
    scanner.end()?;
    Some((items, count))
}
