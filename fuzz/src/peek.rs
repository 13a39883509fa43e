use jsonrpc_core::{JsonStr, Kind, Message, PeekError, peek_member};
use serde_json::Value;
use serde_json::value::RawValue;

/// Peeking finds bad syntax where serde_json does, the members that serde_json finds, and the message that decoding gives.
pub fn peek(data: &[u8]) {
    let peeked = jsonrpc_core::peek(data);
    let Ok(text) = core::str::from_utf8(data) else {
        assert!(matches!(peeked, Err(PeekError::Utf8 { .. })));
        return;
    };
    let is_json = serde_json::from_str::<&RawValue>(text).is_ok();
    match peeked {
        Ok(_) | Err(PeekError::Shape(_)) => assert!(is_json),
        Err(PeekError::TooDeep) => {}
        Err(_) => assert!(!is_json),
    }
    match (peeked, Message::decode(text)) {
        (Ok(peeked), Ok(message)) => agree(&peeked, &message),
        (Err(error), Ok(_)) => assert_eq!(error, PeekError::TooDeep),
        _ => {}
    }
    let (Ok(peeked), Ok(value)) = (peeked, serde_json::from_str::<Value>(text)) else { return };
    let method = peeked.method().and_then(|method| method.decode());
    assert_eq!(method.as_deref(), value.get("method").and_then(Value::as_str));
    for (name, found) in
        [("id", peeked.id()), ("params", peeked.params()), ("result", peeked.result())]
    {
        if let Some(found) = found {
            assert_eq!(serde_json::from_str(found).ok().as_ref(), value.get(name), "{name}");
        }
    }
    members(peeked.params().unwrap_or("{}"));
}

fn agree(peeked: &jsonrpc_core::Peek<'_>, message: &Message<'_>) {
    assert_eq!(peeked.kind(), message.kind());
    if peeked.id().is_some() || peeked.kind() != Kind::Response {
        assert_eq!(peeked.request_id().as_ref(), message.id());
    }
    let (method, params) = match message {
        Message::Request(request) => (Some(&*request.method), request.params),
        Message::Notification(notification) => (Some(&*notification.method), notification.params),
        Message::Response(_) => (None, None),
    };
    assert_eq!(peeked.params(), params.map(RawValue::get));
    assert_eq!(peeked.method().is_some(), method.is_some());
    if let (Some(peeked), Some(method)) = (peeked.method(), method) {
        assert!(peeked == method);
        assert_eq!(peeked.decode().as_deref(), Some(method));
    }
}

/// Each member that serde_json finds in `object` is found by name.
fn members(object: &str) {
    let value: Value = serde_json::from_str(object).expect("a part of JSON");
    for (name, member) in value.as_object().into_iter().flatten() {
        match peek_member(object, name) {
            Ok(found) => {
                let found = found.expect("the member is there");
                assert_eq!(serde_json::from_str::<Value>(found).ok().as_ref(), Some(member));
                let string = JsonStr::new(found).and_then(|text| text.decode());
                assert_eq!(string.as_deref(), member.as_str());
            }
            Err(error) => assert_eq!(error, PeekError::Duplicate),
        }
    }
}
