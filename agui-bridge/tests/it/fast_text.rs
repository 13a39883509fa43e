//! The fast path for text, from a line to a body.
use crate::script::events;
use agui_bridge::{FastText, Options, Translator};
use agui_types::input::RunAgentInput;
use agui_types::sse;
use serde_json::json;

fn line(update: &serde_json::Value) -> (String, String) {
    let params = json!({"sessionId": "s", "update": update}).to_string();
    let line = format!(r#"{{"jsonrpc":"2.0","method":"session/update","params":{params}}}"#);
    (line, params)
}

fn begun() -> Translator {
    let mut translator = Translator::new(Options::new());
    let input: RunAgentInput = serde_json::from_str(
        r#"{"threadId":"t","runId":"r","messages":[],"protocolVersion":"1.0"}"#,
    )
    .unwrap();
    let _ = translator.begin_run(&input, &[]).unwrap();
    translator
}

#[test]
fn only_chunks_of_the_open_text_take_the_fast_path() {
    let text = |text: &str| json!({"sessionUpdate": "agent_message_chunk", "messageId": "a", "content": {"type": "text", "text": text}});
    let (mut translator, mut fast, mut body) = (begun(), FastText::new(), Vec::new());
    let (first, params) = line(&text("a"));
    assert!(!fast.write(&mut translator, first.as_bytes(), &mut body), "nothing is open");
    translator.handle_notification(serde_json::from_str(&params).unwrap());
    let (second, _) = line(&text("b"));
    assert!(!fast.write(&mut translator, second.as_bytes(), &mut body), "events wait");
    events(&mut translator);
    assert!(fast.write(&mut translator, second.as_bytes(), &mut body));
    assert_eq!(
        body,
        b"data: {\"type\":\"TEXT_MESSAGE_CONTENT\",\"messageId\":\"msg-a\",\"delta\":\"b\"}\n\n"
    );
    let mut strange = vec![
        json!({"sessionUpdate": "agent_message_chunk", "messageId": "b", "content": {"type": "text", "text": "c"}}),
    ];
    for (name, value) in [
        ("_meta", json!({"k": 1})),
        ("messageId", json!(7)),
        ("sessionUpdate", json!("agent_thought_chunk")),
    ] {
        let mut update = text("c");
        update[name] = value;
        strange.push(update);
    }
    for (name, value) in [
        ("text", json!("")),
        ("text", json!(7)),
        ("annotations", json!({})),
        ("_meta", json!({})),
        ("type", json!("image")),
    ] {
        let mut update = text("c");
        update["content"][name] = value;
        strange.push(update);
    }
    for update in &strange {
        let (line, _) = line(update);
        assert!(!fast.write(&mut translator, line.as_bytes(), &mut body), "{line}");
    }
    let half = line(&text("c")).0.replace("\"c\"", r#""\ud83d""#);
    assert!(!fast.write(&mut translator, half.as_bytes(), &mut body));
    assert!(!fast.write(&mut translator, b"{", &mut body));
}

#[test]
fn thoughts_take_the_fast_path_while_one_is_open() {
    let thought = |text: &str| json!({"sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": text}});
    let (mut translator, mut fast, mut body) = (begun(), FastText::new(), Vec::new());
    let (first, params) = line(&thought("a"));
    assert!(!fast.write(&mut translator, first.as_bytes(), &mut body));
    translator.handle_notification(serde_json::from_str(&params).unwrap());
    events(&mut translator);
    let escaped = line(&thought("\"b\"\n"));
    assert!(fast.write(&mut translator, escaped.0.as_bytes(), &mut body));
    assert_eq!(
        String::from_utf8(body.clone()).unwrap(),
        "data: {\"type\":\"REASONING_MESSAGE_CONTENT\",\"messageId\":\"rsn-1\",\"delta\":\"\\\"b\\\"\\n\"}\n\n"
    );
    let spoken = line(
        &json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "c"}}),
    );
    assert!(!fast.write(&mut translator, spoken.0.as_bytes(), &mut body), "a thought is open");
}

/// The size of the translator does not depend on the number of chunks, on either path.
#[test]
fn memory_does_not_grow_with_chunks() {
    let text = json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "word "}});
    let (line, params) = line(&text);
    let mut sizes = Vec::new();
    for (chunks, short) in [(10, false), (20_000, false), (100_000, true)] {
        let (mut translator, mut fast, mut body) = (begun(), FastText::new(), Vec::new());
        for _ in 0..chunks {
            if !(short && fast.write(&mut translator, line.as_bytes(), &mut body)) {
                translator.handle_notification(serde_json::from_str(&params).unwrap());
                for event in events(&mut translator) {
                    sse::write_event(&mut body, &event).unwrap();
                }
            }
            body.clear();
        }
        sizes.push(serde_json::to_string(&translator).unwrap().len());
    }
    assert!(sizes.iter().all(|size| *size == sizes[0]), "{sizes:?}");
}
