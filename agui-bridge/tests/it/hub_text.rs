//! The fast path for text: its lines, and its events and state compared with the decoding path.
use crate::generated::{cases, chunk, options as translator_options, update};
use crate::thread::{frames as frames_of, input, options, user};
use acp_types::client;
use acp_types::v1::initialization::{InitializeRequest, ProtocolVersion};
use acp_types::v1::prompt_turn::SessionNotification;
use agui_bridge::Translator;
use agui_bridge::conversation::{Conversation, ConversationOptions};
use agui_bridge::hub::{Hub, HubOptions};
use agui_types::event::Event;
use agui_types::sse;
use jsonrpc_core::wire::{Mode, decode_with};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};
use std::time::Duration;

const NOW: Duration = Duration::ZERO;

/// A hub with a run and a sent prompt, for a session `session`.
fn prompted(conversation: ConversationOptions) -> Hub {
    let mut hub = Hub::new(HubOptions::new(options()));
    hub.connect(client::Options::v1(InitializeRequest::new(ProtocolVersion::V1)), NOW);
    let initialized = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}"#;
    hub.handle_line(Ok(initialized), NOW);
    hub.insert_thread("t", Conversation::new(conversation), NOW).unwrap();
    hub.handle_run("t", input("r", &[user("u", "Hi")], &json!({})), NOW).unwrap();
    hub.handle_line(Ok(r#"{"jsonrpc":"2.0","id":2,"result":{"sessionId":"session"}}"#), NOW);
    assert_eq!(std::iter::from_fn(|| hub.poll_transmit()).count(), 3);
    hub
}

fn line(update: &Value) -> String {
    let params = json!({"sessionId": "session", "update": update});
    json!({"jsonrpc": "2.0", "method": "session/update", "params": params}).to_string()
}

fn text(text: &str) -> Value {
    json!({"sessionUpdate": "agent_message_chunk", "messageId": "a", "content": {"type": "text", "text": text}})
}

/// Returns the frames of a line as text. The fast path keeps the escapes of a text.
fn frames(hub: &mut Hub, line: &str) -> String {
    hub.handle_line(Ok(line), NOW);
    let events = std::iter::from_fn(|| hub.poll_run());
    events.map(|event| String::from_utf8(frames_of(&event)).unwrap()).collect()
}

/// Returns the line with its text in another notation.
fn spelt(update: &Value) -> String {
    line(update).replace("\"A\"", r#""\u0041""#)
}

#[test]
fn piece_of_an_open_text_is_not_decoded() {
    let mut hub = prompted(options());
    let first = frames(&mut hub, &spelt(&text("A")));
    assert!(first.contains("TEXT_MESSAGE_START") && first.contains(r#""delta":"A""#), "{first}");
    let second = frames(&mut hub, &spelt(&text("A")));
    assert_eq!(
        second,
        "data: {\"type\":\"TEXT_MESSAGE_CONTENT\",\"messageId\":\"msg-a\",\"delta\":\"\\u0041\"}\n\n"
    );
    let mut strange = Vec::new();
    for (name, value) in [("_meta", json!({"k": 1})), ("messageId", json!(7))] {
        let mut update = text("A");
        update[name] = value;
        strange.push(update);
    }
    for (name, value) in
        [("annotations", json!({})), ("_meta", json!({})), ("type", json!("image"))]
    {
        let mut update = text("A");
        update["content"][name] = value;
        strange.push(update);
    }
    for update in &strange {
        let frames = frames(&mut hub, &spelt(update));
        assert!(!frames.contains("u0041"), "{frames}");
    }
    // A line with a repeated member is decoded.
    let twice = spelt(&text("A")).replace("\"text\":\"\\", "\"text\":\"B\",\"text\":\"\\");
    assert_eq!(twice.matches("\"text\":").count(), 2, "{twice}");
    for _ in 0..2 {
        let frames = frames(&mut hub, &twice);
        assert!(!frames.contains("u0041"), "{frames}");
    }
    let half = line(&text("A")).replace("\"A\"", r#""\ud83d""#);
    let broken = frames(&mut hub, &half);
    assert!(!broken.contains("ud83d"), "{broken}");
    assert_eq!(frames(&mut hub, "{"), "");
}

#[test]
fn piece_in_a_line_of_another_shape_is_not_decoded() {
    let mut hub = prompted(options());
    for number in 0..10 {
        let piece = spelt(&text("A")) + &" ".repeat(number);
        let frames = frames(&mut hub, &piece);
        assert_eq!(frames.contains("u0041"), number > 0, "{frames}");
    }
}

#[test]
fn numbered_pieces_have_one_shape() {
    let mut hub = prompted(options());
    let line = |params: &str, text: &str| {
        let params = params.replace("TEXT", &format!(r#"{{"sessionUpdate":"agent_message_chunk","content":{{"type":"text","text":"{text}"}}}}"#));
        format!(
            r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"session",{params}}}}}"#
        )
    };
    for number in 1..20 {
        let params = format!(r#""_meta":{{"number":{number}}},"update":TEXT,"at":"t-{number}""#);
        frames(&mut hub, &line(&params, "A"));
    }
    // Neither line is JSON.
    for (params, text) in [
        (r#""_meta":{"number":020},"update":TEXT,"at":"t-20""#, "A"),
        (r#""_meta":{"number":20},"update":TEXT,"at":"t-20""#, "A\","),
    ] {
        assert_eq!(frames(&mut hub, &line(params, text)), "", "{params}");
    }
    let without = line(r#""_meta":{"number":20},"update":TEXT,"at":"t-""#, "A");
    assert!(frames(&mut hub, &without).contains(r#""delta":"A""#));
    let good = line(r#""_meta":{"number":20},"update":TEXT,"at":"t-20""#, r"\u0041");
    assert!(frames(&mut hub, &good).contains("u0041"));
}

#[test]
fn piece_of_an_open_thought_is_not_decoded() {
    let mut hub = prompted(options());
    let mut thought = text("A");
    thought["sessionUpdate"] = json!("agent_thought_chunk");
    frames(&mut hub, &spelt(&thought));
    let more = frames(&mut hub, &spelt(&thought));
    assert!(more.contains("REASONING_MESSAGE_CONTENT") && more.contains("u0041"), "{more}");
    let said = frames(&mut hub, &spelt(&text("A")));
    assert!(said.contains("REASONING_END") && !said.contains("u0041"), "{said}");
}

#[test]
fn line_of_an_ended_run_is_decoded_in_the_next() {
    let mut hub = prompted(options());
    let piece = spelt(&text("A"));
    frames(&mut hub, &piece);
    frames(&mut hub, &piece);
    hub.handle_line(Ok(r#"{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}"#), NOW);
    while hub.poll_run().is_some() {}
    assert_eq!(frames(&mut hub, &piece), "", "no run is open");
    hub.handle_run("t", input("r2", &[user("u2", "Go on")], &json!({})), NOW).unwrap();
    let next = frames(&mut hub, &piece);
    assert!(next.contains("TEXT_MESSAGE_START") && !next.contains("u0041"), "{next}");
}

#[test]
fn conversation_does_not_grow_with_pieces() {
    let piece = line(&text("word "));
    let mut sizes = Vec::new();
    for pieces in [10, 20_000] {
        let mut hub = prompted(options());
        (0..pieces).for_each(|_| hub.handle_line(Ok(&piece), NOW));
        let mut thread = serde_json::to_value(hub.conversation("t").unwrap()).unwrap();
        // The fingerprint of a message and its length depend on the text.
        thread["memory"] = Value::Null;
        sizes.push(thread.to_string().len());
    }
    assert_eq!(sizes[0], sizes[1]);
}

#[test]
fn members_without_an_effect_do_not_cost_decoding() {
    let mut hub = prompted(options());
    frames(&mut hub, &spelt(&text("A")));
    for number in 0..10 {
        let meta = format!(r#""params":{{"_meta":{{"number":{number}}},"#);
        let numbered = spelt(&text("A")).replacen("\"params\":{", &meta, 1);
        let mut update = text("A");
        (update["more"], update["content"]["more"]) = (json!([number]), json!({"a": number}));
        for line in [numbered, spelt(&update)] {
            let frames = frames(&mut hub, &line);
            assert!(frames.contains("u0041"), "{line}: {frames}");
        }
    }
    // The slow path reports a repeated `_meta`.
    let twice = spelt(&text("A")).replacen("\"params\":{", r#""params":{"_meta":1,"_meta":1,"#, 1);
    assert_eq!(frames(&mut hub, &twice), "");
}

/// A member as text, for a place in a line: in `params`, the update or its content, at the
/// beginning or the end.
fn member() -> impl Strategy<Value = (usize, String)> {
    let names = vec!["_meta", "annotations", "more", r"mo\u0072e", r"\ud800", "text"];
    let values = vec![
        "NUMBER",
        "-NUMBER",
        r#""v-NUMBER""#,
        r#""\uNUMBER""#,
        "1.50",
        "null",
        "{}",
        r#"{"a":[7]}"#,
        r#""t\n\ud800""#,
    ];
    let name = select(names);
    let value = select(values);
    (0..6_usize, (name, value).prop_map(|(name, value)| format!(r#""{name}":{value}"#)))
}

/// Returns the line of an update with further members.
fn line_with(update: &Value, members: &[(usize, String)]) -> String {
    let mut line = line(update);
    for (place, member) in members {
        let (start, member) = match place {
            0 | 3 => ("\"params\":{", member),
            1 | 4 => ("\"update\":{", member),
            _ => ("\"content\":{", member),
        };
        let Some(start) = line.find(start).map(|at| at + start.len()) else { continue };
        if *place < 3 {
            line.insert_str(start, &format!("{member},"));
        } else {
            let end = start + end_of_object(&line[start..]);
            line.insert_str(end, &format!(",{member}"));
        }
    }
    line
}

/// Returns a line with its number in the places for it.
fn numbered(line: String, number: usize) -> String {
    line.replace("NUMBER", &(997 * number).to_string())
}

/// Returns the place of the bracket that ends an object, in the text behind its first bracket.
fn end_of_object(text: &str) -> usize {
    let mut depth = 1;
    let mut is_string = false;
    let mut is_escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = is_string,
            b'"' => is_string = !is_string,
            b'{' if !is_string => depth += 1,
            b'}' if !is_string => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    panic!("no end: {text}")
}

proptest! {
    #![proptest_config(cases())]

    /// Compared, peeked and decoded lines give the events of a translator, and the same state.
    #[test]
    fn fast_path_equals_the_decoding_path(
        translator in translator_options(),
        updates in proptest::collection::vec(prop_oneof![
            update(),
            chunk("[ab\"\n]{1,3}".prop_map(|text| json!({"type": "text", "text": text}))),
        ].prop_flat_map(|update| {
            let own = prop_oneof![
                4 => Just(None),
                1 => Just(Some(Vec::new())),
                1 => proptest::collection::vec(member(), 1..4).prop_map(Some),
            ];
            (Just(update), own)
        }), 0..40),
        // The members of most lines, which often differ in nothing but a number.
        usual in prop_oneof![Just(Vec::new()), proptest::collection::vec(member(), 1..3)],
    ) {
        let lines: Vec<String> = (updates.iter().enumerate())
            .map(|(number, (update, own))| {
                numbered(line_with(update, own.as_ref().unwrap_or(&usual)), number)
            })
            .collect();
        let mut conversation = options();
        let mut translator = translator;
        translator.times.idle = None;
        conversation.translator = translator.clone();
        let mut hubs: [Hub; 3] = std::array::from_fn(|_| prompted(conversation.clone()));
        for (number, line) in lines.iter().enumerate() {
            // A line with another spelling of the session than the previous one is decoded.
            let session = [r#""\u0073ession""#, r#""s\u0065ssion""#][number % 2];
            let decoded = line.replace("\"session\"", session);
            let lines = [line.clone(), line.clone() + &" ".repeat(number), decoded];
            for (hub, line) in hubs.iter_mut().zip(&lines) {
                hub.handle_line(Ok(line), NOW);
            }
        }
        // The last line may be one that cannot be decoded, which does not count as an input.
        hubs.iter_mut().for_each(|hub| hub.handle_timeout(NOW));
        let states = hubs.each_ref().map(|hub| serde_json::to_string(hub.conversation("t").unwrap()).unwrap());
        let read = hubs.each_mut().map(|hub| {
            let mut decoder = sse::Decoder::default();
            while let Some(event) = hub.poll_run() {
                decoder.push(&frames_of(&event));
            }
            let frames = std::iter::from_fn(|| decoder.next_frame());
            frames.map(|it| it.unwrap().decode().unwrap()).collect::<Vec<Event>>()
        });
        let mut by_hand = Translator::new(translator);
        let _ = by_hand.handle_timeout(NOW);
        let input = input("r", &[user("u", "Hi")], &json!({}));
        let _ = by_hand.begin_run(&input, &["Hi".into()]);
        for line in &lines {
            let params = jsonrpc_core::find_member(line, &["params"]).unwrap();
            let _ = by_hand.handle_timeout(NOW);
            if let Ok(decoded) = decode_with::<SessionNotification>(params, Mode::SpecLenient) {
                by_hand.handle_notification(decoded.value);
            }
        }
        let _ = by_hand.handle_timeout(NOW);
        let expected: Vec<Event> = std::iter::from_fn(|| by_hand.poll_event()).collect();
        for (state, read) in states.iter().zip(&read) {
            prop_assert_eq!(read, &expected);
            prop_assert_eq!(state, &states[2]);
        }
    }
}
