//! Peeking agrees with decoding, and with serde_json.
use crate::json;
use jsonrpc_core::{
    ErrorObject, Head, JsonStr, Kind, Message, MessageError, Payload, PeekError, PeekedMessage,
    Shape, peek, peek_member, wire,
};
use proptest::prelude::*;
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

#[test]
fn members_of_params_are_found() -> Result<(), Box<dyn std::error::Error>> {
    let line = br#" { "jsonrpc":"2.0" , "method" : "session\/update" ,
        "params" : {"update":{"content":{"sessionUpdate":"no"},"s\u0065ssionUpdate":"agent_message_chunk"},"sessionId":"s\n1"}}"#;
    let peek = peek(line)?;
    assert_eq!(peek.kind(), Kind::Notification);
    assert_eq!(peek.id(), None);
    assert_eq!(peek.request_id(), None);
    let method = peek.method().ok_or("no method")?;
    assert_eq!(method.as_plain(), None);
    assert_eq!(method, "session/update");
    let params = peek.params().ok_or("no params")?;
    let session = peek_member(params, "sessionId")?.and_then(JsonStr::new).ok_or("no session")?;
    assert_eq!(session.decode().as_deref(), Some("s\n1"));
    let update = peek_member(params, "update")?.ok_or("no update")?;
    let kind = peek_member(update, "sessionUpdate")?.and_then(JsonStr::new).ok_or("no kind")?;
    assert_eq!(kind.decode().as_deref(), Some("agent_message_chunk"));
    assert_eq!(peek_member(params, "sessionid")?, None);
    assert_eq!(peek_member("[1]", "a")?, None);
    assert_eq!(peek_member(r#"{"a":1,"\u0061":2}"#, "a"), Err(PeekError::Duplicate));
    Ok(())
}

#[test]
fn responses_have_a_result_or_an_error() -> Result<(), Box<dyn std::error::Error>> {
    let peeked = peek(br#"{"id":"q","result":{"stopReason":"end_turn"}}"#)?;
    assert_eq!(peeked.kind(), Kind::Response);
    assert_eq!(peeked.id(), Some("\"q\""));
    assert_eq!(peeked.error(), None);
    assert_eq!(peeked.result(), Some(r#"{"stopReason":"end_turn"}"#));
    let failed = peek(br#"{"id":1,"result":null,"error":{"code":1,"message":"m"}}"#)?;
    assert_eq!(failed.result(), None);
    assert_eq!(failed.error(), Some(r#"{"code":1,"message":"m"}"#));
    Ok(())
}

#[test]
fn what_is_not_a_message_is_an_error() {
    assert_eq!(peek(b"{\"method\":\"\xff\"}").err(), Some(PeekError::Utf8 { at: 11 }));
    assert_eq!(peek(b"{\"method\":\"m\"").err(), Some(PeekError::Syntax { at: 13 }));
    assert_eq!(peek(b"").err(), Some(PeekError::Syntax { at: 0 }));
    assert_eq!(peek(b"{\"method\":\"a\nb\"}").err(), Some(PeekError::Syntax { at: 12 }));
    assert_eq!(peek(b"[1]").err(), Some(PeekError::Shape(Shape::Batch)));
}

/// Reads a string between quotes in `text`, as serde_json does.
fn read(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}

/// Returns whether decoding rejects for this reason what peeking accepts: only decoding reads error
/// objects, and reads the method, the id and names as strings, which cannot contain lone
/// surrogates.
fn only_decode_minds(error: &MessageError, peek: &PeekedMessage<'_>, text: &str) -> bool {
    let is_string_without_value =
        |string: Option<JsonStr<'_>>| string.is_some_and(|string| string.decode().is_none());
    match error {
        MessageError::ErrorObject { .. } => {
            peek.error().is_some_and(|error| wire::decode::<ErrorObject>(error).is_err())
        }
        MessageError::Shape { problem: Shape::Method, .. } => {
            is_string_without_value(peek.method())
        }
        MessageError::Shape { problem: Shape::Id, .. } => {
            is_string_without_value(peek.id().and_then(JsonStr::new))
        }
        MessageError::Syntax { .. } => {
            serde_json::from_str::<BTreeMap<String, IgnoredAny>>(text).is_err()
        }
        _ => false,
    }
}

proptest! {
    /// Peeking detects syntax errors at the places of serde_json.
    #[test]
    fn syntax_is_checked(text in prop_oneof![
        json::value(), json::envelope(), json::damaged(json::value()), json::damaged(json::envelope()),
        json::damaged(json::damaged(json::number())), "\\PC{0,12}",
    ]) {
        let is_json = serde_json::from_str::<&RawValue>(&text).is_ok();
        let has_syntax_error = matches!(peek(text.as_bytes()), Err(PeekError::Syntax { .. }));
        prop_assert_eq!(is_json, !has_syntax_error, "{}", text);
    }

    /// The members of an object agree with serde_json.
    #[test]
    fn members_are_those_of_serde_json(text in json::envelope()) {
        let value: Value = serde_json::from_str(&text).map_err(|error| TestCaseError::fail(error.to_string()))?;
        let Ok(peek) = peek(text.as_bytes()) else { return Ok(()) };
        let found = [
            ("id", peek.id()), ("params", peek.params()), ("result", peek.result()), ("error", peek.error()),
        ];
        let is_response = peek.kind() == Kind::Response;
        for (name, text) in found {
            let expected = value.get(name).filter(|value| text.is_some() || !value.is_null())
                .filter(|_| name != "params" || !is_response);
            prop_assert_eq!(text.map(read), expected.cloned(), "{}", name);
        }
        let method = peek.method().and_then(|method| method.decode()).map(|method| Value::from(&*method));
        prop_assert_eq!(method.as_ref(), value.get("method"));
    }

    /// Peeking agrees with decoding on messages and errors.
    #[test]
    fn peek_agrees_with_decode(text in prop_oneof![json::envelope(), json::damaged(json::envelope())]) {
        match (peek(text.as_bytes()), Message::decode(&text)) {
            (Ok(peek), Ok(message)) => {
                prop_assert_eq!(peek.kind(), message.kind());
                if peek.kind() != Kind::Response || peek.id().is_some() {
                    prop_assert_eq!(peek.request_id(), message.id().cloned());
                }
                let (method, params) = match &message {
                    Message::Request(request) => (Some(&*request.method), request.params),
                    Message::Notification(notification) => (Some(&*notification.method), notification.params),
                    Message::Response(_) => (None, None),
                };
                let peeked = peek.method().and_then(|method| method.decode());
                prop_assert_eq!(peeked.as_deref(), method);
                prop_assert!(method.is_none_or(|method| peek.method().is_some_and(|peeked| peeked == method)));
                prop_assert_eq!(peek.params(), params.map(RawValue::get));
            }
            (Ok(peek), Err(error)) => {
                prop_assert!(only_decode_minds(&error, &peek, &text), "{}: {:?}", text, error);
            }
            (Err(error), Ok(_)) => prop_assert!(false, "{}: {}", text, error),
            (Err(_), Err(_)) => {}
        }
    }

    /// The message of a peeked line equals the decoded one, and so does the error.
    #[test]
    fn message_of_a_peek_is_the_decoded_one(text in prop_oneof![json::envelope(), json::damaged(json::envelope())]) {
        let decoded = Message::decode(&text).map_err(|error| format!("{error:?}"));
        if let Ok(peeked) = peek(text.as_bytes()) {
            let message = peeked.message().map_err(|error| format!("{error:?}"));
            prop_assert_eq!(format!("{:?}", message), format!("{:?}", decoded));
        }
    }

    /// The head agrees with the message for the members before the payload, for any prefix of the
    /// line after the payload's start.
    #[test]
    fn head_depends_only_on_its_bytes(text in prop_oneof![json::envelope(), json::damaged(json::envelope())], cut in any::<prop::sample::Index>()) {
        let Some(head) = Head::read(text.as_bytes()) else { return Ok(()) };
        let seen = |head: &Head<'_>| format!("{:?}", (head.id, head.method, head.payload, head.members.position()));
        let start = head.members.position();
        let cut = start + cut.index(text.len() - start + 1);
        let again = Head::read(&text.as_bytes()[..cut]);
        prop_assert_eq!(again.as_ref().map(seen), Some(seen(&head)));
        if let Ok(peeked) = peek(text.as_bytes()) {
            prop_assert!(head.id.is_none() || head.id == peeked.id().map(str::as_bytes));
            prop_assert!(head.method.is_none_or(|method| str::from_utf8(method).ok().and_then(JsonStr::new).zip(peeked.method()).is_some_and(|(one, other)| one.as_escaped() == other.as_escaped())));
            let payload = match head.payload {
                Payload::Params => peeked.params(),
                Payload::Result => peeked.result(),
                Payload::Error => peeked.error(),
            };
            if let Some(payload) = payload {
                prop_assert!(text[start..].trim_start().starts_with(payload));
            }
        }
    }

    /// A member that peeking finds is the one of serde_json.
    #[test]
    fn named_members_are_found(text in json::value(), which in any::<prop::sample::Index>()) {
        let value = read(&text);
        let names: Vec<&str> = value.as_object().into_iter().flatten().map(|(name, _)| &**name).collect();
        let name = if names.is_empty() { "a" } else { names[which.index(names.len())] };
        match peek_member(&text, name) {
            Ok(found) => prop_assert_eq!(found.map(read), value.get(name).cloned()),
            Err(error) => prop_assert_eq!(error, PeekError::Duplicate),
        }
    }

    /// A string equals exactly the value that serde_json reads.
    #[test]
    fn strings_are_compared_by_value(text in json::string(), other in json::string()) {
        let value = read(&text);
        let other_value = read(&other);
        let string = JsonStr::new(&text).ok_or_else(|| TestCaseError::fail("not a string"))?;
        let decoded = string.decode();
        prop_assert_eq!(decoded.as_deref(), value.as_str());
        prop_assert!(value.as_str().is_some_and(|value| string == value));
        prop_assert_eq!(other_value.as_str().is_some_and(|other| string == other), value == other_value);
    }
}
