//! Properties of documents and batches.
use crate::message::{line, parts};
use jsonrpc_core::{Batch, Document, Message, MessageError, Shape};
use serde_json::value::RawValue;

/// A document is what serde_json finds in the text: a message, or an array of texts, each decoded
/// as a message. The first byte is the largest number of messages.
pub fn document(data: &[u8]) {
    let Some((&max_len, data)) = data.split_first() else { return };
    let (max_len, Ok(text)) = (usize::from(max_len), core::str::from_utf8(data)) else { return };
    let array = serde_json::from_str::<Vec<&RawValue>>(text);
    match Document::decode_within(text, max_len) {
        Ok(Document::Message(message)) => {
            let alone = Message::decode(text).expect("the same message");
            assert_eq!(parts(&message), parts(&alone));
        }
        Ok(Document::Batch(batch)) => {
            let items = array.expect("an array");
            assert!(!items.is_empty() && items.len() <= max_len);
            assert!(batch.texts().eq(items.iter().map(|item| item.get())));
            messages(&batch);
        }
        Err(error) => {
            match &error {
                MessageError::Shape { problem: Shape::EmptyBatch, .. } => {
                    assert_eq!(max_len.min(1), max_len.min(1));
                    assert_eq!(array.ok().map(|items| items.len()), Some(0));
                }
                MessageError::Shape { problem: Shape::TooManyMessages, .. } => {
                    assert!(array.is_ok_and(|items| items.len() > max_len));
                }
                // A lone surrogate in a member's name is not a syntax error for a raw value.
                MessageError::Syntax { .. } => assert!(array.is_err()),
                _ => assert!(Message::decode(text).is_err()),
            }
            if let Some(reply) = error.reply() {
                assert!(Message::decode(&line(&Message::from(reply))).is_ok());
            }
        }
    }
}

/// The decodable messages are encoded as one array, and decode to the same.
fn messages(batch: &Batch<'_>) {
    let messages: Vec<_> = batch.messages().flatten().collect();
    let mut out = Vec::new();
    Batch::to_line(&messages, &mut out);
    let out = String::from_utf8(out).expect("UTF-8");
    if messages.is_empty() {
        assert_eq!(out, "");
        return;
    }
    assert!(out.ends_with('\n') && out.matches(['\n', '\r']).count() == 1, "one line");
    let Ok(Document::Batch(again)) = Document::decode(&out) else { panic!("a batch: {out}") };
    assert_eq!(again.messages().len(), messages.len());
    for (again, message) in again.messages().zip(&messages) {
        assert_eq!(parts(&again.expect("what was written is a message")), parts(message));
    }
}
