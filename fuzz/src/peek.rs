//! Properties of the envelope reader.
use jsonrpc_core::{
    Head, JsonStr, Kind, MemberReader, Message, Payload, PeekError, PeekedMessage, find_member,
    peek_member,
};
use serde_json::Value;
use serde_json::value::RawValue;

/// The envelope reader agrees with serde_json for any line and any prefix: syntax errors, members,
/// the kind of message, and the head as far as its bytes go.
pub fn peek(data: &[u8]) {
    let peeked = jsonrpc_core::peek(data);
    head(data, peeked.as_ref().ok());
    any_object(data);
    let Ok(text) = core::str::from_utf8(data) else {
        assert!(matches!(peeked, Err(PeekError::Utf8 { .. })));
        return;
    };
    let is_json = serde_json::from_str::<&RawValue>(text).is_ok();
    match peeked {
        Ok(_) | Err(PeekError::Shape(_)) => assert!(is_json),
        Err(_) => assert!(!is_json),
    }
    let decoded = Message::decode(text);
    let Ok(peeked) = peeked else { return assert!(decoded.is_err()) };
    assert_eq!(format!("{:?}", peeked.message()), format!("{decoded:?}"));
    if let Ok(message) = decoded {
        agree(&peeked, &message);
    }
    let Ok(value) = serde_json::from_str::<Value>(text) else { return };
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

fn agree(peeked: &PeekedMessage<'_>, message: &Message<'_>) {
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

/// The head does not depend on the bytes after it, and agrees with the message.
fn head(data: &[u8], peeked: Option<&PeekedMessage<'_>>) {
    let Some(head) = Head::read(data) else { return };
    let seen = |head: &Head<'_>| format!("{head:?}");
    let position = head.members.position();
    let cut = Head::read(&data[..position]).expect("no other byte was looked at");
    assert_eq!(cut.id, head.id, "{}", seen(&head));
    assert_eq!(cut.method, head.method, "{}", seen(&head));
    assert_eq!(cut.payload, head.payload, "{}", seen(&head));
    let Some(peeked) = peeked else { return };
    assert!(head.id.is_none() || head.id == peeked.id().map(str::as_bytes));
    let payload = match head.payload {
        Payload::Params => peeked.params(),
        Payload::Result => peeked.result(),
        Payload::Error => peeked.error(),
    };
    if let Some(payload) = payload {
        assert!(data[position..].trim_ascii_start().starts_with(payload.as_bytes()));
    }
}

/// Members end for any bytes; returned members do not depend on later bytes.
fn any_object(data: &[u8]) {
    let Ok(mut members) = MemberReader::new(data) else { return };
    let mut count = 0;
    while let Ok(Some(name)) = members.next_name() {
        let at = members.position();
        assert!(at <= data.len());
        count += 1;
        let mut again = MemberReader::new(&data[..at]).expect("the start of an object");
        let mut last = None;
        for _ in 0..count {
            last = again.next_name().expect("the same names");
        }
        assert_eq!(last, Some(name));
        if count > 16 {
            break;
        }
    }
}

/// Each member that serde_json finds in `object` is found by name.
fn members(object: &str) {
    let value: Value = serde_json::from_str(object).expect("a part of JSON");
    for (name, member) in value.as_object().into_iter().flatten() {
        let first = find_member(object, &[name]).expect("the member is there");
        match peek_member(object, name) {
            Ok(found) => {
                let found = found.expect("the member is there");
                assert_eq!(found, first);
                assert_eq!(serde_json::from_str::<Value>(found).ok().as_ref(), Some(member));
                let string = JsonStr::new(found).and_then(|text| text.decode());
                assert_eq!(string.as_deref(), member.as_str());
            }
            Err(error) => assert_eq!(error, PeekError::Duplicate),
        }
        for (inner, _) in member.as_object().into_iter().flatten() {
            assert_eq!(find_member(object, &[name, inner]), find_member(first, &[inner]));
        }
    }
}
