//! An owned message has all parts of the borrowed one.
use jsonrpc_core::{Message, MessageBuf, RequestId};
use proptest::prelude::*;
use std::error::Error;

#[test]
fn owned_message_outlives_its_line() -> Result<(), Box<dyn Error>> {
    let text = r#"{"jsonrpc":"1.0","trace":1.50,"id":"a\u0062","error":{"code":3,"message":"no","data":1e2}}"#;
    let line = String::from(text);
    let kept = Message::decode(&line)?.into_owned();
    drop(line);
    assert_eq!(kept.id(), Some(&RequestId::from("ab")));
    assert_eq!(kept.method(), None);
    let mut out = Vec::new();
    kept.as_message().to_line(&mut out);
    let expected = r#"{"jsonrpc":"2.0","id":"a\u0062","error":{"code":3,"message":"no","data":1e2},"trace":1.50}"#;
    assert_eq!(String::from_utf8(out)?.trim_end(), expected);
    Ok(())
}

proptest! {
    /// Owning a message and borrowing it again changes neither its content nor its encoding.
    #[test]
    fn owned_messages_round_trip(text in crate::json::envelope()) {
        let Ok(message) = Message::decode(&text) else { return Ok(()) };
        let line = |message: &Message<'_>| {
            let mut out = Vec::new();
            message.to_line(&mut out);
            out
        };
        let kept = MessageBuf::from(message.clone());
        let again = kept.as_message();
        prop_assert_eq!(kept.kind(), message.kind());
        prop_assert_eq!(kept.id(), message.id());
        prop_assert_eq!(line(&again), line(&message));
        prop_assert_eq!(format!("{again:?}"), format!("{message:?}"));
        prop_assert_eq!(again.into_owned(), kept);
    }
}
