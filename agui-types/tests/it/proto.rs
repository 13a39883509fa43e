//! The binary form, compared with the bytes of the first-party encoder 1.0.0.
use crate::{fixtures, generate};
use agui_types::enforce;
use agui_types::event::Event;
use agui_types::proto::{self, DecodeError, Decoder, EncodeError, Frame, FrameError};
use agui_types::transport::BodyEncoding;
use jsonrpc_core::wire;
use proptest::prelude::*;
use serde_json::{Value, json};

fn bytes(hex: &str) -> Vec<u8> {
    let digit = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).expect("hex");
    (0..hex.len()).step_by(2).map(digit).collect()
}

fn event(json: &Value) -> Event {
    wire::decode(&json.to_string()).expect("an event")
}

/// Each event of the corpus has the first-party encoder's bytes, and decodes from them unchanged.
#[test]
fn vectors_have_the_same_bytes() {
    let vectors = fixtures::vectors();
    assert_eq!(vectors.len(), 65);
    for vector in vectors {
        let member = |name| vector.get(name).expect("a member");
        let name = member("name").as_str();
        // Decoded from text, since the order of members counts.
        let event: Event = member("event").decode().expect("an event");
        let given: Value = member("event").decode().expect("JSON");
        let expected = bytes(&member("proto_hex").decode::<String>().expect("hex"));
        let written = proto::encode_event(&event).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(written, expected, "{name}");
        let read = proto::decode_event(&expected).unwrap_or_else(|error| panic!("{name}: {error}"));
        let Frame::Event(read) = read else { panic!("{name}: unknown") };
        assert_eq!(serde_json::to_value(read).expect("JSON"), given, "{name}");
    }
}

/// Removes empty lists, which equal absent ones in the binary form.
fn without_empty_lists(value: Value) -> Value {
    match value {
        Value::Object(members) => members
            .into_iter()
            .filter(|(name, value)| {
                let optional = matches!(
                    &**name,
                    "toolCalls"
                        | "tools"
                        | "context"
                        | "resume"
                        | "usage"
                        | "pendingToolCallIds"
                        | "interruptIds"
                );
                !(optional && value.as_array().is_some_and(Vec::is_empty))
            })
            .map(|(name, value)| (name, without_empty_lists(value)))
            .collect(),
        Value::Array(elements) => elements.into_iter().map(without_empty_lists).collect(),
        other => other,
    }
}

proptest! {
    /// An event that the binary form can express round-trips, however the body is split.
    #[test]
    fn events_round_trip(events in prop::collection::vec(generate::event(), 1..8), cut in 1..40_usize) {
        let mut body = Vec::new();
        let mut said = Vec::new();
        for event in events {
            let (event, removals) = enforce::enforce_event(event);
            prop_assert_eq!(removals, Vec::new());
            let event = event.expect("a known event");
            proto::write_event(&mut body, &event).map_err(|error| TestCaseError::fail(error.to_string()))?;
            said.push(event);
        }
        let mut decoder = Decoder::default();
        let mut read = Vec::new();
        for piece in body.chunks(cut) {
            decoder.push(piece);
            while let Some(frame) = decoder.next_frame() {
                read.push(frame.map_err(|error| TestCaseError::fail(error.to_string()))?);
            }
        }
        prop_assert_eq!(decoder.finish(), Ok(()));
        prop_assert_eq!(read.len(), said.len());
        for (read, said) in read.into_iter().zip(said) {
            let Frame::Event(read) = read else { return Err(TestCaseError::fail("unknown")) };
            let value = |event: &Event| without_empty_lists(serde_json::to_value(event).expect("JSON"));
            prop_assert_eq!(value(&read), value(&said));
        }
    }

    /// Any bytes give frames or an error, and no frame follows an error.
    #[test]
    fn any_bytes_are_frames_or_an_error(pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..20), 0..20)) {
        let mut decoder = Decoder::with_limit(64);
        let mut failed = false;
        for piece in pieces {
            decoder.push(&piece);
            while let Some(frame) = decoder.next_frame() {
                prop_assert!(!failed);
                failed = frame.is_err();
            }
        }
    }
}

#[test]
fn inexpressible_values_are_refused() {
    let table = [
        (json!({"type":"NEWER"}), EncodeError::Unknown("NEWER".into())),
        (
            json!({"type":"TEXT_MESSAGE_END","messageId":"m","mood":1}),
            EncodeError::Member("mood".into()),
        ),
        (
            json!({"type":"TEXT_MESSAGE_START","messageId":"m","role":"narrator"}),
            EncodeError::Unknown("narrator".into()),
        ),
        (
            json!({"type":"STATE_DELTA","delta":[{"op":"remove","path":"/a","why":"x"}]}),
            EncodeError::Member("why".into()),
        ),
        (
            json!({"type":"REASONING_ENCRYPTED_VALUE","subtype":"message","entityId":"m","encryptedValue":"x","encryptedValueType":"y"}),
            EncodeError::Member("encryptedValueType".into()),
        ),
        (
            json!({"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":[{"type":"binary","mimeType":"a/b"}]}),
            EncodeError::Unknown("binary".into()),
        ),
        (
            json!({"type":"MESSAGES_SNAPSHOT","messages":[{"id":"m","role":"narrator"}]}),
            EncodeError::Unknown("narrator".into()),
        ),
        (
            json!({"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"postponed"}}),
            EncodeError::Unknown("postponed".into()),
        ),
    ];
    for (json, expected) in table {
        let mut out = vec![1];
        assert_eq!(proto::write_event(&mut out, &event(&json)), Err(expected), "{json}");
        assert_eq!(out, [1], "{json}");
    }
}

#[test]
fn malformed_messages_are_errors() {
    let finished = proto::encode_event(&event(&json!({"type":"STEP_FINISHED","stepName":"s"})));
    let finished = finished.expect("bytes");
    let twice = [finished.clone(), finished.clone()].concat();
    let mut mistyped = finished.clone();
    // The type in the base: envelope key (two bytes), its length, base key, its length, type key,
    // type.
    mistyped[6] = 14;
    let table = [
        (Vec::new(), DecodeError::Empty),
        (twice, DecodeError::Several),
        (mistyped, DecodeError::Type { expected: 15, found: 14 }),
        (vec![0x02, 0x00], DecodeError::Protobuf("a field without a number".into())),
        (vec![0x0a, 0x05], DecodeError::Protobuf("a truncated field".into())),
        (vec![0x0b], DecodeError::Protobuf("an unsupported wire type".into())),
    ];
    for (message, expected) in table {
        assert_eq!(proto::decode_event(&message), Err(expected), "{message:?}");
    }
    // Field 40, with two bytes; then field 41, a number.
    let newer = [0xc2, 0x02, 0x02, 0x01, 0x02];
    assert_eq!(proto::decode_event(&newer), Ok(Frame::Unknown { field: 40 }));
    assert_eq!(proto::decode_event(&[0xc8, 0x02, 0x07]), Ok(Frame::Unknown { field: 41 }));
    let beside = [finished, newer.to_vec()].concat();
    assert!(matches!(proto::decode_event(&beside), Ok(Frame::Event(_))));
}

#[test]
fn frames_have_a_limit_and_an_end() {
    let mut decoder = Decoder::with_limit(3);
    decoder.push(&[0, 0, 0, 4, 1]);
    assert_eq!(decoder.next_frame(), Some(Err(FrameError::TooLong { limit: 3 })));
    decoder.push(&[0, 0, 0, 0]);
    assert_eq!(decoder.next_frame(), None);
    let mut decoder = Decoder::default();
    decoder.push(&[0, 0, 0]);
    assert_eq!(decoder.next_frame(), None);
    assert_eq!(decoder.finish(), Err(FrameError::BrokenOff));
}

#[test]
fn protobuf_is_negotiated_by_accept() {
    let table = [
        (Some("application/vnd.ag-ui.event+proto"), true),
        (Some("Application/VND.AG-UI.event+proto;v=1"), true),
        (Some("text/event-stream, application/vnd.ag-ui.event+proto;q=0.1"), true),
        (Some("*/*"), true),
        (Some("application/*"), true),
        (Some("text/event-stream"), false),
        (Some("text/*"), false),
        (Some("application/json"), false),
        (Some(""), false),
        (None, false),
        (Some("application/vnd.ag-ui.event+proto;q=0"), false),
        (Some("*/*, application/vnd.ag-ui.event+proto; q=0.0"), false),
        (Some("*/*;q=0"), false),
        (Some("*/*;q=0, application/*"), true),
    ];
    for (accept, admitted) in table {
        let expected = if admitted { BodyEncoding::Protobuf } else { BodyEncoding::Sse };
        assert_eq!(BodyEncoding::negotiate(accept), expected, "{accept:?}");
    }
    for (content_type, expected) in [
        (Some("application/vnd.ag-ui.event+proto"), BodyEncoding::Protobuf),
        (Some("application/vnd.ag-ui.event+proto; charset=x"), BodyEncoding::Protobuf),
        (Some("text/event-stream; charset=utf-8"), BodyEncoding::Sse),
        (Some("text/html"), BodyEncoding::Sse),
        (None, BodyEncoding::Sse),
    ] {
        assert_eq!(BodyEncoding::of_content_type(content_type), expected, "{content_type:?}");
    }
}

/// A map has each key once: of a repeated key the last value counts.
#[test]
fn repeated_keys_keep_the_last_value() {
    // CUSTOM "n" with the value {"a": true, "a": false}.
    let entry = |value| [0x0a, 0x07, 0x0a, 0x01, b'a', 0x12, 0x02, 0x20, value];
    let object = [entry(1), entry(0)].concat();
    let mut message = vec![0x5a, 0x1f, 0x0a, 0x02, 0x08, 0x0a, 0x12, 0x01, b'n', 0x1a, 0x16];
    message.extend([&[0x2a, 0x12][..], &object].concat());
    message[1] = u8::try_from(message.len() - 2).expect("short");
    message[10] = u8::try_from(message.len() - 11).expect("short");
    let Ok(Frame::Event(event)) = proto::decode_event(&message) else { panic!("no event") };
    let expected = json!({"type":"CUSTOM","name":"n","value":{"a":false}});
    assert_eq!(serde_json::to_string(&event).expect("JSON").matches("\"a\"").count(), 1);
    assert_eq!(serde_json::to_value(event).expect("JSON"), expected);
}

/// The order of JavaScript, on which the first-party encoder relies: array indices first; of equal
/// names the last value.
#[test]
fn members_are_in_the_order_of_javascript() {
    let written = |value: &str| {
        let text = format!(r#"{{"type":"CUSTOM","name":"n","value":{value}}}"#);
        proto::encode_event(&wire::decode(&text).expect("an event")).expect("bytes")
    };
    let given = written(r#"{"b":1,"10":2,"a":3,"2":4,"02":5,"-1":6,"b":7}"#);
    assert_eq!(given, written(r#"{"2":4,"10":2,"b":7,"a":3,"02":5,"-1":6}"#));
}
