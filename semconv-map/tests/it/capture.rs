//! Capture of content in spans, events, or nowhere; gates, redaction and limits.
use crate::content::{assert_valid_parts, session_full_of};
use crate::lines::{prompt, request, stop, text, update};
use crate::spans::{A2C, C2A, Run, Span};
use proptest::prelude::*;
use semconv_map::content::{Capture, ContentKind, Gate, Redaction};
use semconv_map::{AttributeValue, ClosedBy, Policy, Profile};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

fn run(policy: Policy) -> Run {
    let mut run = Run::new(policy);
    for (direction, line) in session_full_of("word") {
        run.line(direction, &line);
    }
    run.close(ClosedBy::Agent);
    run
}

fn policy(change: impl FnOnce(&mut Policy)) -> Policy {
    let mut policy = Policy::default();
    change(&mut policy);
    policy
}

/// Returns the content attributes of spans, and those of their events.
fn places(run: &Run) -> (BTreeSet<&'static str>, BTreeSet<&'static str>) {
    let holds = |value: &AttributeValue| format!("{value:?}").contains("word");
    let spans = run.spans.all.values();
    let on_spans = spans.clone().flat_map(Span::attributes).filter(|it| holds(&it.value));
    let events = spans.flat_map(|span| &span.events).flat_map(|event| &event.attributes);
    let in_events = events.filter(|it| holds(&it.value));
    (on_spans.map(|it| it.key).collect(), in_events.map(|it| it.key).collect())
}

const CONTENT: [&str; 5] = [
    "acp.terminal.command",
    "gen_ai.input.messages",
    "gen_ai.output.messages",
    "gen_ai.tool.call.arguments",
    "gen_ai.tool.call.result",
];
const PATHS: [&str; 2] = ["acp.fs.path", "acp.tool.locations"];
const TITLES: [&str; 1] = ["acp.tool.title"];

/// For each capture mode and gate, exactly the documented attributes are recorded.
#[test]
fn content_is_recorded_by_policy() {
    let gates = [Gate::WithContent, Gate::Always, Gate::Never];
    for (capture, on_span, in_event) in [
        (Capture::Off, false, false),
        (Capture::Span, true, false),
        (Capture::Event, false, true),
        (Capture::SpanAndEvent, true, true),
    ] {
        for (titles, paths) in gates.into_iter().flat_map(|titles| gates.map(|it| (titles, it))) {
            let expected = |place: bool, is_span: bool| {
                let mut keys = BTreeSet::new();
                keys.extend(CONTENT.into_iter().filter(|_| place));
                for (gate, gated) in [(titles, &TITLES[..]), (paths, &PATHS[..])] {
                    let is_there = match gate {
                        Gate::WithContent => place,
                        Gate::Always => is_span || place,
                        _ => false,
                    };
                    keys.extend(gated.iter().copied().filter(|_| is_there));
                }
                keys
            };
            let run = run(policy(|policy| {
                policy.content = capture;
                policy.titles = titles;
                policy.paths = paths;
            }));
            let shown = format!("{capture:?}, titles {titles:?}, paths {paths:?}");
            assert_eq!(
                places(&run),
                (expected(on_span, true), expected(in_event, false)),
                "{shown}"
            );
            let described =
                run.spans.all.values().any(|span| format!("{:?}", span.status()).contains("word"));
            assert_eq!(described, on_span, "{shown}");
        }
    }
}

/// In an event, messages and tool arguments are structured values. Each event occurs once and
/// counts against no limit.
#[test]
fn events_have_structured_values() {
    let run = run(policy(|policy| policy.content = Capture::Event));
    let turn = run.span("invoke_agent");
    let details = turn.events.last().expect("no event");
    assert_eq!(details.name, "gen_ai.client.inference.operation.details");
    assert_eq!(Some(details.time), turn.end.as_ref().map(|end| end.time));
    let keys: Vec<_> = details.attributes.iter().map(|attribute| attribute.key).collect();
    assert_eq!(
        keys,
        [
            "gen_ai.output.messages",
            "gen_ai.operation.name",
            "gen_ai.conversation.id",
            "gen_ai.response.finish_reasons",
            "gen_ai.input.messages",
            "error.type",
        ]
    );
    for at in [0, 4] {
        let AttributeValue::Json(messages) = &details.attributes[at].value else {
            panic!("no value")
        };
        assert_valid_parts(&serde_json::from_str(messages).unwrap());
    }
    let tool = run.span("execute_tool other");
    assert_eq!(tool.events.last().map(|event| event.name), Some("acp.details"));
    for span in run.spans.all.values() {
        let details = span.event_names().into_iter().filter(|name| name.ends_with("details"));
        assert!(details.count() <= 1, "{}", span.name());
    }
}

/// A redaction receives every recorded text with its kind, and its replacement is recorded.
#[test]
fn redaction_receives_every_text() {
    let seen: Arc<Mutex<BTreeMap<String, BTreeSet<String>>>> = Arc::default();
    let noted = Arc::clone(&seen);
    let redaction = Redaction::new(move |kind, text| {
        noted.lock().unwrap().entry(format!("{kind:?}")).or_default().insert(text.to_owned());
        Some(text.replace("word", "***"))
    });
    for content in [Capture::Span, Capture::Event] {
        for profile in [Profile::V1_41, Profile::GENAI_DEV] {
            let run = run(policy(|policy| {
                policy.content = content;
                policy.profile = profile;
                policy.redaction = Some(redaction.clone());
            }));
            let shown: String = run
                .spans
                .all
                .values()
                .map(|span| format!("{:?}{:?}{:?}", span.start, span.events, span.end))
                .collect();
            assert!(!shown.contains("word"), "{shown}");
            assert!(shown.contains("***"));
        }
    }
    let seen = seen.lock().unwrap();
    let expected = [
        ("Answer", &["word"][..]),
        ("Command", &["word word"]),
        ("Data", &["word"]),
        ("ErrorMessage", &["word"]),
        ("Path", &["/home/word/a.rs", "/home/word/a.rs:3"]),
        ("Prompt", &["word"]),
        ("Thought", &["word"]),
        ("Title", &["word"]),
        ("ToolArguments", &["command", "word"]),
        ("ToolResult", &["word"]),
        ("Uri", &["/home/word/a.rs"]),
    ];
    let expected: BTreeMap<_, BTreeSet<_>> = expected
        .into_iter()
        .map(|(kind, texts)| {
            (kind.to_owned(), texts.iter().map(|text| (*text).to_owned()).collect())
        })
        .collect();
    assert_eq!(*seen, expected);
}

/// A text that arrived in chunks is redacted as a whole.
#[test]
fn redaction_receives_whole_messages() {
    let mut run = Run::new(policy(|policy| {
        policy.content = Capture::Span;
        policy.redaction = Some(Redaction::new(|kind, text| {
            (kind == ContentKind::Answer && text == "the password").then(|| "-".to_owned())
        }));
    }));
    run.line(C2A, &prompt(1, "s"));
    for piece in ["the pa", "ssw", "ord"] {
        run.line(A2C, &text("s", piece));
    }
    run.line(A2C, &stop(1, "end_turn"));
    let output: Value =
        serde_json::from_str(run.span("invoke_agent").str("gen_ai.output.messages").unwrap())
            .unwrap();
    assert_eq!(output[0]["parts"], json!([{ "type": "text", "content": "-" }]));
}

/// Tool arguments are truncated after redaction. Before, the JSON text would contain escaped line
/// breaks.
#[test]
fn strings_are_redacted_before_truncation() {
    for limit in [10, 20, 1000] {
        let mut run = Run::new(policy(|policy| {
            policy.content = Capture::Span;
            policy.content_limits.tool_bytes = limit;
            policy.redaction =
                Some(Redaction::new(|_, text| Some(text.replace("\nkey=word\n", "\n-\n"))));
        }));
        let file = "a=1\nkey=word\nb=2";
        run.line(
            A2C,
            &update(
                "s",
                json!({ "sessionUpdate": "tool_call", "toolCallId": "t", "title": "x", "status": "completed", "rawInput": { "to": file }, "rawOutput": file }),
            ),
        );
        let tool = run.span("execute_tool other");
        for (key, whole) in [
            ("gen_ai.tool.call.arguments", json!({ "to": "a=1\n-\nb=2" })),
            ("gen_ai.tool.call.result", json!("a=1\n-\nb=2")),
        ] {
            let recorded: Value = serde_json::from_str(tool.str(key).unwrap()).unwrap();
            let start = whole.to_string();
            let expected = if limit < start.len() { start[..limit].into() } else { whole };
            assert_eq!(recorded.get("truncated").unwrap_or(&recorded), &expected, "{limit}");
        }
    }
}

/// A secret in several words of a command is redacted, and other lists keep their items.
#[test]
fn words_of_a_list_are_redacted_together() {
    let redaction = Redaction::new(|_, text| {
        let text = text.replace("--token abc", "[redacted]");
        Some(text.replace("hunter2", "***"))
    });
    for (given, expected) in [
        (json!(["curl", "--token", "abc", "/"]), json!(["curl [redacted] /"])),
        (json!(["curl", "--token abc", "/"]), json!(["curl", "[redacted]", "/"])),
        (json!(["a", "hunter2"]), json!(["a", "***"])),
        (json!(["--token", 1, "abc"]), json!(["--token", 1, "abc"])),
        (json!([["--token", "abc"]]), json!([["[redacted]"]])),
        (json!([]), json!([])),
    ] {
        let mut run = Run::new(policy(|policy| {
            policy.content = Capture::Span;
            policy.redaction = Some(redaction.clone());
        }));
        let call = json!({ "sessionUpdate": "tool_call", "toolCallId": "t", "title": "x", "status": "completed", "rawInput": { "argv": given } });
        run.line(A2C, &update("s", call));
        let recorded = run.span("execute_tool other").str("gen_ai.tool.call.arguments");
        let recorded: Value = serde_json::from_str(recorded.unwrap()).unwrap();
        assert_eq!(recorded, json!({ "argv": expected }), "{given}");
    }
}

/// Text that cannot be redacted is not recorded.
#[test]
fn unredactable_content_is_not_recorded() {
    let deep = format!("{}\"word\"{}", "[".repeat(200), "]".repeat(200));
    for (redacts, expected) in [(false, &*deep), (true, "null")] {
        let mut run = Run::new(policy(|policy| {
            policy.content = Capture::Span;
            policy.redaction = redacts.then(|| Redaction::new(|_, _| None));
        }));
        let line = update(
            "s",
            json!({ "sessionUpdate": "tool_call", "toolCallId": "t", "title": "x", "status": "completed", "rawInput": 7 }),
        );
        run.line(A2C, &line.replace("\"rawInput\":7", &format!("\"rawInput\":{deep}")));
        assert_eq!(
            run.span("execute_tool other").str("gen_ai.tool.call.arguments"),
            Some(expected)
        );
    }
}

proptest! {
    /// For any limits, recorded content is valid JSON, each part conforms to its type, and the
    /// limits hold.
    #[test]
    fn content_within_any_limits_is_valid(
        limits in (0..300_usize, 0..100_usize, 0..9_usize, 0..60_usize),
        words in prop::collection::vec("[a-z€\"\\\\\\n😀]{0,30}", 1..6),
        (content, profile) in (
            prop::sample::select(vec![Capture::Span, Capture::Event]),
            prop::sample::select(vec![Profile::V1_41, Profile::GENAI_DEV]),
        ),
        redacts: bool,
    ) {
        let policy = policy(|policy| {
            let kept = &mut policy.content_limits;
            (kept.message_bytes, kept.part_bytes, kept.parts, kept.tool_bytes) = limits;
            policy.content = content;
            policy.profile = profile;
            policy.redaction = redacts.then(|| Redaction::new(|_, _| None));
        });
        let mut run = Run::new(policy);
        let block = |word: &String| json!({ "type": "text", "text": word });
        let blocks: Vec<_> = words.iter().map(block).collect();
        let image = json!({ "type": "image", "data": words[0], "mimeType": "image/png" });
        run.line(C2A, &request(1, "session/prompt", json!({ "sessionId": "s", "prompt": [blocks[0], image, blocks.last()] })));
        for (at, word) in words.iter().enumerate() {
            run.line(A2C, &update("s", json!({ "sessionUpdate": "agent_message_chunk", "messageId": (at / 2).to_string(), "content": block(word) })));
            run.line(A2C, &update("s", json!({ "sessionUpdate": "tool_call", "toolCallId": at.to_string(), "title": word, "rawInput": { "a": word }, "rawOutput": word })));
        }
        run.line(A2C, &stop(1, "end_turn"));
        let spans = run.spans.all.values();
        let events = spans.clone().flat_map(|span| &span.events).flat_map(|event| &event.attributes);
        let mut seen = 0;
        for attribute in spans.flat_map(Span::attributes).chain(events) {
            let text = match &attribute.value {
                AttributeValue::String(text) => &**text,
                AttributeValue::Json(text) => text,
                _ => continue,
            };
            let is_object = match attribute.key {
                "gen_ai.input.messages" | "gen_ai.output.messages" => false,
                "gen_ai.tool.call.arguments" | "gen_ai.tool.call.result" => profile == Profile::GENAI_DEV,
                _ => continue,
            };
            seen += 1;
            let value: Value = serde_json::from_str(text).expect("JSON");
            prop_assert!(!is_object || value.is_object(), "{}", text);
            if attribute.key.ends_with("messages") {
                assert_valid_parts(&value);
                let parts = value[0]["parts"].as_array().unwrap();
                prop_assert!(parts.len() <= limits.2);
                let sizes = parts.iter().filter_map(|part| part["content"].as_str()).map(str::len);
                prop_assert!(sizes.clone().all(|size| size <= limits.1));
                prop_assert!(sizes.sum::<usize>() <= limits.0);
            }
        }
        prop_assert_eq!(seen, 2 + 2 * words.len());
    }
}
