//! The fast paths for deltas agree with the general ones.
use crate::generate;
use agui_types::event::{DeltaRef, Event};
use agui_types::sse::{self, DeltaWriter, JsonString};
use jsonrpc_core::wire;
use jsonrpc_core::wire::Raw;
use proptest::prelude::*;

/// Text with many characters that need escapes.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::collection::vec(prop_oneof![9 => prop::char::range('a', 'e'), 2 => any::<char>(), 2 => prop::char::range('\0', ' '), 1 => Just('"'), 1 => Just('\\')], 0..40)
            .prop_map(String::from_iter),
        any::<String>(),
    ]
}

/// JSON with white space, escapes and members in any order: a plain delta, or nearly one.
fn written() -> impl Strategy<Value = String> {
    let event_type = prop::sample::select(vec![
        "TEXT_MESSAGE_CONTENT",
        "REASONING_MESSAGE_CONTENT",
        "TOOL_CALL_ARGS",
        "TEXT_MESSAGE_END",
        "TEXT_MESSAGE_\\u0043ONTENT",
    ]);
    let quoted = || text().prop_map(|text| serde_json::to_string(&text).expect("JSON"));
    let name =
        prop::sample::select(vec!["messageId", "toolCallId", "delta", "timestamp", "d\\u0065lta"]);
    let value = prop_oneof![9 => quoted(), 1 => prop::sample::select(vec!["1", "null", "[]", "\"\\ud800\"", "\"\u{1}\""]).prop_map(String::from)];
    let member = (name, value).prop_map(|(name, value)| format!("\"{name}\":{value}"));
    let space = || prop::sample::select(vec!["", " ", "\n", "\u{c}"]);
    (event_type, prop::collection::vec(member, 0..4), any::<bool>(), space(), space()).prop_map(
        |(event_type, mut members, last, one, other)| {
            let tag = format!("\"type\"{one}:{one}\"{event_type}\"");
            members.insert(if last { members.len() } else { 0 }, tag);
            format!("{one}{{{other}{}{one}}}{other}", members.join(&format!("{one},{other}")))
        },
    )
}

proptest! {
    /// A text that is read as a delta decodes to the same event, without further members.
    #[test]
    fn borrowed_delta_equals_the_decoded_event(text in written()) {
        if let Some(delta) = DeltaRef::read(&text) {
            let event: Event = wire::decode(&text).map_err(|error| TestCaseError::fail(error.to_string()))?;
            prop_assert_eq!(Event::from(delta), event);
        }
    }

    /// A plain delta in plain JSON is read as one, and borrows text without escapes.
    #[test]
    fn plain_delta_is_read_and_borrows(id in text(), delta in text(), kind in 0..3_usize) {
        let (event_type, name) = [
            ("TEXT_MESSAGE_CONTENT", "messageId"),
            ("REASONING_MESSAGE_CONTENT", "messageId"),
            ("TOOL_CALL_ARGS", "toolCallId"),
        ][kind];
        let written = serde_json::json!({"type": event_type, name: id, "delta": delta}).to_string();
        let read = DeltaRef::read(&written).ok_or_else(|| TestCaseError::fail("no delta"))?;
        prop_assert_eq!(&*read.id, &*id);
        prop_assert_eq!(&*read.delta, &*delta);
        let plain = serde_json::to_string(&delta).expect("JSON").len() == delta.len() + 2;
        prop_assert_eq!(matches!(read.delta, std::borrow::Cow::Borrowed(_)), plain);
    }

    /// The delta writer writes the same bytes as the event writer, for decoded and for escaped
    /// text.
    #[test]
    fn delta_writer_matches_the_event_writer(id in text(), delta in text()) {
        let mut expected = Vec::new();
        for event in [
            agui_types::event::TextMessageContentEvent::new(&*id, &*delta).into(),
            agui_types::event::ReasoningMessageContentEvent::new(&*id, &*delta).into(),
            Event::from(agui_types::event::ToolCallArgsEvent::new(&*id, &*delta)),
        ] {
            sse::write_event(&mut expected, &event).expect("JSON");
        }
        let raw = Raw::from_value(&delta).expect("JSON");
        let (escaped, parsed) = JsonString::parse(raw.as_str()).expect("a string");
        prop_assert_eq!(escaped.as_str(), raw.as_str());
        prop_assert_eq!(&*parsed, &*delta);
        let mut plain = Vec::new();
        let mut verbatim = Vec::new();
        for writer in [
            DeltaWriter::text_message(&id.as_str().into()),
            DeltaWriter::reasoning_message(&id.as_str().into()),
            DeltaWriter::tool_call_args(&id.as_str().into()),
        ] {
            writer.write(&mut plain, &delta);
            writer.write_escaped(&mut verbatim, escaped);
        }
        prop_assert_eq!(&plain[..], &expected[..]);
        prop_assert_eq!(&verbatim[..], &expected[..]);
    }

    /// A text is accepted as a JSON string exactly when `serde_json` accepts it.
    #[test]
    fn json_string_is_accepted_as_by_serde_json(pieces in prop::collection::vec(prop::sample::select(
        vec!["a", "\u{e9}", "\\n", "\\\"", "\\\\", "\\/", "\\u00e9", "\\ud83d", "\\uDE00", "\\uD7FF", "\\u12", "\\x", "\\", "\"", "\n", "uuuuuuuu"]), 0..8)) {
        let text = format!("\"{}\"", pieces.concat());
        let expected = serde_json::from_str::<String>(&text).ok().map(|value| (&*text, value));
        let read = JsonString::parse(&text).ok();
        prop_assert_eq!(read.map(|(text, value)| (text.as_str(), value.into_owned())), expected);
    }

    /// An event is written as `serde_json` writes it, on one line.
    #[test]
    fn events_are_written_as_by_serde_json(event in generate::event()) {
        let mut written = Vec::new();
        sse::write_event(&mut written, &event).expect("JSON");
        let expected = format!("data: {}\n\n", serde_json::to_string(&event).expect("JSON"));
        prop_assert_eq!(String::from_utf8(written).expect("UTF-8"), expected);
    }
}

#[test]
fn other_json_values_are_rejected() {
    for text in ["", "\"", "a", "1", "[]", "\"a\" \"b\"", "\"\n\"", "\"\\x\"", "\"\\ud800\""] {
        assert!(JsonString::parse(text).is_err(), "{text}");
    }
    let (spaced, value) = JsonString::parse(" \"a\\n\" ").expect("a string");
    assert_eq!(spaced.as_str(), "\"a\\n\"");
    assert_eq!(&*value, "a\n");
}
