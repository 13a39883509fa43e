//! Several messages in one text.
use crate::decode::syntax_error;
use crate::decode_error::{DecodeError, Shape};
use crate::envelope::Recovered;
use crate::message::Message;
use crate::scan::Scanner;
use crate::{checked, encode};
use alloc::vec::Vec;
use serde_json::value::RawValue;

/// What one JSON text holds: a message, or a batch of them. For transports whose frames may be either, such as the body
/// of an HTTP request.
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
/// # Ok::<(), jsonrpc_core::DecodeError>(())
/// ```
#[derive(Clone, Debug)]
pub enum Document<'a> {
    /// One message.
    Message(Message<'a>),
    /// Several, or one in an array.
    Batch(Batch<'a>),
}

impl<'a> Document<'a> {
    /// Reads a message, or a batch of up to [`Batch::MAX_LEN`] messages.
    ///
    /// # Errors
    /// The text is not JSON; is neither an object nor an array; is an object and not a message; or is an array that is
    /// empty or too long. [`DecodeError::reply`] then is the one answer to the whole. What is wrong with a message inside
    /// a batch comes with that message.
    pub fn decode(text: &'a str) -> Result<Self, DecodeError> {
        Self::decode_within(text, Batch::MAX_LEN)
    }

    /// Reads a message, or a batch of up to `max_len` messages.
    ///
    /// # Errors
    /// As [`decode`](Self::decode).
    pub fn decode_within(text: &'a str, max_len: usize) -> Result<Self, DecodeError> {
        if text.trim_ascii_start().starts_with('[') {
            Batch::decode(text, max_len).map(Self::Batch)
        } else {
            Message::decode(text).map(Self::Message)
        }
    }
}

/// Messages in an array, each of which may be good or bad by itself.
///
/// Spec: [Batch](https://www.jsonrpc.org/specification#batch) (JSON-RPC 2.0)
///
/// Its requests are answered in one array, in any order, which [`to_line`](Self::to_line) writes; where it has none there
/// is no answer. It holds a reference for each message, and no copies.
#[derive(Clone, Debug)]
pub struct Batch<'a>(Vec<&'a RawValue>);

impl<'a> Batch<'a> {
    /// The most messages that are read from one array unless told otherwise. Two bytes of the peer's text may ask for an
    /// answer of a hundred, so that there has to be a limit.
    pub const MAX_LEN: usize = 1024;

    /// The messages in the order they came, at least one.
    pub fn messages(&self) -> impl ExactSizeIterator<Item = Result<Message<'a>, DecodeError>> {
        self.texts().map(Message::decode)
    }

    /// The JSON text of each message, for who reads them in another way.
    pub fn texts(&self) -> impl ExactSizeIterator<Item = &'a str> {
        self.0.iter().map(|text| text.get())
    }

    /// Appends `messages` as one array on a line with its line end; nothing if there are none, since an empty array may
    /// not be sent.
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

    pub(crate) fn decode(text: &'a str, max_len: usize) -> Result<Self, DecodeError> {
        let refuse = |problem| Err(DecodeError::Shape { problem, kind: None, id: None });
        match items(text, max_len) {
            None => Err(DecodeError::syntax(syntax_error(text), Recovered::default())),
            Some((_, count)) if count > max_len => refuse(Shape::TooManyMessages),
            Some((items, _)) if items.is_empty() => refuse(Shape::EmptyBatch),
            Some((items, _)) => Ok(Self(items)),
        }
    }
}

/// The first `max_len` items of an array, and the number of all; `None` where the text is not JSON.
fn items(text: &str, max_len: usize) -> Option<(Vec<&RawValue>, usize)> {
    let mut scanner = Scanner::of_any_depth(text.as_bytes());
    let (mut items, mut count) = (Vec::new(), 0);
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
