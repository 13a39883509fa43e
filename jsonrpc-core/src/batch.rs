use crate::decode_error::{DecodeError, Shape};
use crate::encode;
use crate::message::Message;
use crate::peek::Recovered;
use alloc::vec::Vec;
use core::fmt;
use serde::Deserializer;
use serde::de::{DeserializeSeed, IgnoredAny, SeqAccess, Visitor};
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
        let mut json = serde_json::Deserializer::from_str(text);
        let items = Items { max_len }.deserialize(&mut json);
        let items = items.and_then(|items| json.end().map(|()| items));
        let items = items.map_err(|source| DecodeError::syntax(source, Recovered::default()))?;
        let refuse = |problem| Err(DecodeError::Shape { problem, kind: None, id: None });
        match items {
            Some(items) if items.is_empty() => refuse(Shape::EmptyBatch),
            Some(items) => Ok(Self(items)),
            None => refuse(Shape::TooManyMessages),
        }
    }
}

/// Reads the items of an array; nothing if there are too many.
struct Items {
    max_len: usize,
}

impl<'de> DeserializeSeed<'de> for Items {
    type Value = Option<Vec<&'de RawValue>>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Items {
    type Value = Option<Vec<&'de RawValue>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut found = Vec::new();
        while found.len() < self.max_len {
            match items.next_element()? {
                Some(item) => found.push(item),
                None => return Ok(Some(found)),
            }
        }
        let mut is_whole = true;
        while items.next_element::<IgnoredAny>()?.is_some() {
            is_whole = false;
        }
        Ok(is_whole.then_some(found))
    }
}
