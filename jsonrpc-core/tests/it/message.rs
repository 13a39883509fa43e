//! Messages are decoded and encoded without loss.
use jsonrpc_core::{
    ErrorCode, ErrorObject, Message, Notification, Request, RequestId, Response, Version,
};
use proptest::prelude::*;
use serde_json::value::RawValue;
use std::error::Error;

fn line(message: impl Into<Message<'static>>) -> String {
    let mut out = Vec::new();
    message.into().to_line(&mut out);
    String::from_utf8(out).expect("UTF-8")
}

#[test]
fn messages_are_encoded_on_one_line() -> Result<(), Box<dyn Error>> {
    let params: &RawValue = serde_json::from_str("{\n  \"a\": [1.50,\r\n  \"x\\ny\"]\n}")?;
    let mut out = Vec::new();
    Message::from(Request::new(RequestId::from("q"), "a\"b", params)).to_line(&mut out);
    Message::from(Notification::new("n", None)).to_line(&mut out);
    Message::from(Response::new(-1, Ok(params))).to_line(&mut out);
    let expected = [
        r#"{"jsonrpc":"2.0","id":"q","method":"a\"b","params":{   "a": [1.50,    "x\ny"] }}"#,
        r#"{"jsonrpc":"2.0","method":"n"}"#,
        r#"{"jsonrpc":"2.0","id":-1,"result":{   "a": [1.50,    "x\ny"] }}"#,
        "",
    ];
    assert_eq!(String::from_utf8(out)?.split('\n').collect::<Vec<_>>(), expected);
    let error = ErrorObject::new(ErrorCode::METHOD_NOT_FOUND, "no \"such\" thing");
    assert_eq!(
        line(Response::new(RequestId::NULL, Err(error))),
        "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32601,\"message\":\"no \\\"such\\\" thing\"}}\n"
    );
    Ok(())
}

#[test]
fn unknown_members_of_the_envelope_are_kept() -> Result<(), Box<dyn Error>> {
    let text =
        r#"{"z":1.0,"method":"m","trace":{"b":1,"a":2},"z":[],"jsonrpc":"1.1","params":null}"#;
    let message = Message::decode(text)?;
    let extra: Vec<_> = message.extra().map(|(name, value)| (name, value.get())).collect();
    assert_eq!(extra, [("z", "1.0"), ("trace", r#"{"b":1,"a":2}"#), ("z", "[]")]);
    assert!(matches!(message.version(), Version::Other(version) if version.get() == r#""1.1""#));
    let mut out = Vec::new();
    message.to_line(&mut out);
    let expected = r#"{"jsonrpc":"2.0","method":"m","z":1.0,"trace":{"b":1,"a":2},"z":[]}"#;
    assert_eq!(String::from_utf8(out)?.trim_end(), expected);
    let stray = Message::decode(r#"{"id":1,"result":2,"params":7,"a":8}"#)?;
    let extra: Vec<_> = stray.extra().map(|(name, value)| (name, value.get())).collect();
    assert_eq!(extra, [("a", "8"), ("params", "7")]);
    assert!(matches!(Message::decode(r#"{"method":"m"}"#)?.version(), Version::Missing));
    assert!(matches!(Message::decode(r#"{"method":"m","jsonrpc":"2.0"}"#)?.version(), Version::V2));
    Ok(())
}

#[test]
fn params_are_borrowed_from_the_line() -> Result<(), Box<dyn Error>> {
    let text = r#"{"jsonrpc":"2.0","method":"m","params":{"big":"x"}}"#;
    let Message::Notification(notification) = Message::decode(text)? else {
        panic!("not a notification")
    };
    let params = notification.params.ok_or("no params")?.get();
    assert!(text.as_bytes().as_ptr_range().contains(&params.as_ptr()));
    assert!(matches!(notification.method, std::borrow::Cow::Borrowed("m")));
    Ok(())
}

proptest! {
    /// A message round-trips: raw parts byte for byte, unknown members in order.
    #[test]
    fn messages_round_trip(text in crate::json::envelope()) {
        let Ok(message) = Message::decode(&text) else { return Ok(()) };
        let mut out = Vec::new();
        message.to_line(&mut out);
        let written = String::from_utf8(out).map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(written.find(['\n', '\r']), Some(written.len() - 1), "{}", written);
        let again = Message::decode(written.trim_end()).map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(parts(&again), parts(&message));
        prop_assert!(matches!(again.version(), Version::V2));
    }

    /// The recovered parts of a truncated message are correct.
    #[test]
    fn recovered_parts_are_correct(text in crate::json::envelope()) {
        let Ok(message) = Message::decode(&text) else { return Ok(()) };
        for (at, _) in text.char_indices() {
            let Err(error) = Message::decode(&text[..at]) else { continue };
            prop_assert!(error.kind().is_none_or(|kind| kind == message.kind()), "{}", &text[..at]);
            prop_assert!(error.id().is_none_or(|id| Some(id) == message.id()), "{}", &text[..at]);
        }
    }

    /// Decoding any text returns a message or an error, and the error contains nothing of the text.
    #[test]
    fn decoding_does_not_panic(text in crate::json::damaged(crate::json::envelope())) {
        let secret = text.replace(['a', 'é'], "\u{1f511}");
        if let Err(error) = Message::decode(&secret) {
            let source = error.source().map(|source| source.to_string()).unwrap_or_default();
            let shown = format!("{error}{source}");
            prop_assert!(!shown.contains('\u{1f511}'), "{}", shown);
        }
    }
}

/// Returns all parts of a message, with line breaks between tokens as written.
fn parts(message: &Message<'_>) -> Vec<String> {
    let raw = |raw: &RawValue| raw.get().replace(['\n', '\r'], " ");
    let mut parts = vec![format!("{:?} {:?}", message.kind(), message.id())];
    match message {
        Message::Request(Request { method, params, .. })
        | Message::Notification(Notification { method, params, .. }) => {
            parts.extend([method.to_string(), format!("{:?}", params.map(raw))]);
        }
        Message::Response(response) => match &response.outcome {
            Ok(result) => parts.push(raw(result)),
            Err(error) => parts
                .push(serde_json::to_string(error).unwrap_or_default().replace(['\n', '\r'], " ")),
        },
    }
    parts.extend(message.extra().map(|(name, value)| format!("{name}: {}", raw(value))));
    parts
}
