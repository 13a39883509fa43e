//! Properties of messages.
use jsonrpc_core::{Message, Response};
use serde_json::value::RawValue;

/// A decodable message round-trips, and half of it does not decode as another. An undecodable one
/// has a response that is a message.
pub fn message(data: &[u8]) {
    let Ok(text) = core::str::from_utf8(data) else { return };
    match Message::decode(text) {
        Ok(message) => {
            broken_off(text, &message);
            let written = line(&message);
            let again = Message::decode(&written).expect("what was written is a message");
            assert_eq!(parts(&again), parts(&message));
        }
        Err(error) => {
            if let Some(reply) = error.reply() {
                let written = line(&Message::from(reply));
                let Ok(Message::Response(Response { id, outcome: Err(answer), .. })) =
                    Message::decode(&written)
                else {
                    panic!("the answer is an error response: {written}");
                };
                assert_eq!(answer.code, error.code());
                assert_eq!(id, error.id().cloned().unwrap_or(jsonrpc_core::RequestId::NULL));
            }
        }
    }
}

/// The properties of the first half of a message hold for the whole.
fn broken_off(text: &str, message: &Message<'_>) {
    let Some(Err(error)) = text.get(..text.len() / 2).map(Message::decode) else { return };
    assert!(error.kind().is_none_or(|kind| kind == message.kind()));
    assert!(error.id().is_none_or(|id| Some(id) == message.id()));
}

pub(crate) fn line(message: &Message<'_>) -> String {
    let mut out = Vec::new();
    message.to_line(&mut out);
    assert_eq!(out.pop(), Some(b'\n'));
    assert!(!out.contains(&b'\n') && !out.contains(&b'\r'), "one line");
    String::from_utf8(out).expect("UTF-8")
}

/// Returns all parts of a message. Line breaks between tokens are written as spaces.
pub(crate) fn parts(message: &Message<'_>) -> Vec<String> {
    let raw = |raw: &RawValue| raw.get().replace(['\n', '\r'], " ");
    let mut parts = vec![format!("{:?} {:?}", message.kind(), message.id())];
    match message {
        Message::Request(request) => {
            parts.extend([request.method.to_string(), format!("{:?}", request.params.map(raw))]);
        }
        Message::Notification(notification) => {
            let params = notification.params.map(raw);
            parts.extend([notification.method.to_string(), format!("{params:?}")]);
        }
        Message::Response(response) => match &response.outcome {
            Ok(result) => parts.push(raw(result)),
            Err(error) => {
                let text = serde_json::to_string(error).expect("an error object is JSON");
                parts.push(text.replace(['\n', '\r'], " "));
            }
        },
    }
    parts.extend(message.extra().map(|(name, value)| format!("{name}: {}", raw(value))));
    parts
}
