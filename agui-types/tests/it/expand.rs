//! Expansion of chunks matches the first-party client 1.0.0.
use crate::generate;
use crate::streams::recorded;
use agui_types::enforce::{self, RemovalKind};
use agui_types::event::Event;
use agui_types::expand::Expander;
use agui_types::verify::{Rule, Verifier, Violation};
use jsonrpc_core::wire;
use proptest::prelude::*;
use serde_json::{Value, json};

fn expanded(events: impl IntoIterator<Item = Event>) -> Result<Vec<Event>, Violation> {
    let mut expander = Expander::new();
    let mut out = Vec::new();
    events.into_iter().try_for_each(|event| expander.handle(event, &mut out))?;
    Ok(out)
}

fn events(stream: &Value) -> Vec<Event> {
    let texts = stream.as_array().expect("a list").iter().map(Value::to_string);
    texts.map(|text| wire::decode(&text).expect("an event")).collect()
}

fn json(events: &[Event]) -> Value {
    serde_json::to_value(events).expect("JSON")
}

/// Enforcement and expansion deliver the client's events in order, with the client's warnings.
#[test]
fn recordings_are_delivered_as_by_the_first_party_client() {
    let mut warned = 0;
    for stream in recorded().iter().filter(|stream| stream["verdict"] == "accepted") {
        let mut kept = Vec::new();
        let mut reported = Vec::new();
        for event in stream["stream"].as_array().expect("a list") {
            let event_type = event["type"].as_str().expect("a type");
            let (event, nulls) = enforce::read_event(&event.to_string()).expect("an event");
            let (event, removals) = enforce::enforce_event(event);
            kept.extend(event);
            reported.extend(nulls.into_iter().chain(removals).map(|removal| match removal.kind {
                RemovalKind::Event => format!("Dropping unrecognised event '{}'", removal.name),
                RemovalKind::LegacyNull => {
                    format!("Converting deprecated {event_type}.{}: null", removal.name)
                }
                _ => format!(
                    "Removed unrecognised material at '{}' on {event_type}",
                    removal.pointer
                ),
            }));
        }
        let delivered = expanded(kept).expect("no violation");
        let mut expected = stream["delivered"].clone();
        if stream["name"] == "run started input echo adds" {
            // The client writes out the empty lists that the absence of these two members means;
            // wire types keep them absent. Spec: https://ag-ui.com/spec/1.0/schema#runagentinput
            let input = expected[0]["input"].as_object_mut().expect("an object");
            let written = [input.remove("tools"), input.remove("context")];
            assert_eq!(written, [Some(json!([])), Some(json!([]))]);
        }
        assert_eq!(json(&delivered), expected, "{}", stream["name"]);
        let warnings = stream["warnings"].as_array().expect("a list").iter();
        let warnings = warnings.filter_map(|warning| warning.as_str()?.strip_prefix("[ag-ui]["));
        let warnings: Vec<_> = warnings.collect();
        assert_eq!(reported.len(), warnings.len(), "{}: {reported:?}", stream["name"]);
        for (reported, warning) in reported.iter().zip(warnings) {
            assert!(warning.contains(reported), "{reported}: {warning}");
            warned += 1;
        }
    }
    assert!(warned > 6, "{warned}");
}

#[test]
fn chunk_members_are_copied_to_the_expanded_events() {
    let table = [
        (
            json!([{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","metadata":{"a":1},"rawEvent":{"r":1},"timestamp":5,
                "name":"n","newer":1}]),
            json!([
                {"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant","name":"n","metadata":{"a":1}},
                {"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"","metadata":{"a":1},"rawEvent":{"r":1}},
            ]),
        ),
        (
            json!([{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","metadata":{"a":1}},{"type":"TEXT_MESSAGE_CHUNK"}]),
            json!([{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant","metadata":{"a":1}}]),
        ),
        (
            json!([
                {"type":"TOOL_CALL_CHUNK","toolCallId":"c","toolCallName":"f","subagentRunId":"s"},
                {"type":"TOOL_CALL_CHUNK","delta":"","toolCallName":"f"},
                {"type":"STATE_SNAPSHOT","snapshot":1},
                {"type":"TOOL_CALL_CHUNK","metadata":{"b":2}},
                {"type":"TOOL_CALL_RESULT","messageId":"r","toolCallId":"c","content":"","subagentRunId":"s"},
            ]),
            json!([
                {"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f","subagentRunId":"s"},
                {"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"","subagentRunId":"s"},
                {"type":"STATE_SNAPSHOT","snapshot":1},
                {"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"","subagentRunId":"s","metadata":{"b":2}},
                {"type":"TOOL_CALL_END","toolCallId":"c","subagentRunId":"s"},
                {"type":"TOOL_CALL_RESULT","messageId":"r","toolCallId":"c","content":"","subagentRunId":"s"},
            ]),
        ),
        (
            json!([
                {"type":"REASONING_MESSAGE_CHUNK","messageId":"b","delta":"1","subagentRunId":"z"},
                {"type":"REASONING_MESSAGE_CHUNK","messageId":"a","delta":"2","subagentRunId":"s"},
                {"type":"REASONING_MESSAGE_CHUNK","messageId":"p","delta":"3"},
                {"type":"REASONING_MESSAGE_CHUNK","delta":"4"},
                {"type":"RUN_ERROR","message":"m"},
            ]),
            json!([
                {"type":"REASONING_MESSAGE_START","messageId":"b","role":"reasoning","subagentRunId":"z"},
                {"type":"REASONING_MESSAGE_CONTENT","messageId":"b","delta":"1","subagentRunId":"z"},
                {"type":"REASONING_MESSAGE_START","messageId":"a","role":"reasoning","subagentRunId":"s"},
                {"type":"REASONING_MESSAGE_CONTENT","messageId":"a","delta":"2","subagentRunId":"s"},
                {"type":"REASONING_MESSAGE_START","messageId":"p","role":"reasoning"},
                {"type":"REASONING_MESSAGE_CONTENT","messageId":"p","delta":"3"},
                {"type":"REASONING_MESSAGE_CONTENT","messageId":"p","delta":"4"},
                {"type":"REASONING_MESSAGE_END","messageId":"b","subagentRunId":"z"},
                {"type":"REASONING_MESSAGE_END","messageId":"a","subagentRunId":"s"},
                {"type":"REASONING_MESSAGE_END","messageId":"p"},
                {"type":"RUN_ERROR","message":"m"},
            ]),
        ),
    ];
    for (given, expected) in table {
        assert_eq!(json(&expanded(events(&given)).expect("no violation")), expected, "{given}");
    }
}

#[test]
fn open_streams_have_a_limit() {
    let mut expander = Expander::new();
    let mut out = Vec::new();
    let mut open = |number: usize| {
        let id = number.to_string();
        let chunk = json!([{"type":"TEXT_MESSAGE_CHUNK","messageId":id,"subagentRunId":id}]);
        expander.handle(events(&chunk).remove(0), &mut out).map_err(|violation| violation.rule())
    };
    for number in 0..Expander::MAX_STREAMS {
        assert_eq!(open(number), Ok(()));
    }
    assert_eq!(open(Expander::MAX_STREAMS), Err(Rule::TooMuch));
    assert_eq!(open(0), Ok(()), "what is open goes on");
}

proptest! {
    #![proptest_config(generate::cases(128))]

    /// A stream with chunks is valid exactly when its expansion is.
    #[test]
    fn expansion_keeps_the_verdict(events in generate::events(), stream in generate::stream(false)) {
        let first = stream.first().cloned();
        for events in [stream, first.into_iter().chain(events).collect()] {
            let judge = |events: &[Event]| {
                let mut verifier = Verifier::tolerant();
                events.iter().try_for_each(|event| verifier.handle(event)).map_err(|it| it.rule())
            };
            let verdict = judge(&events);
            let mut expander = Expander::new();
            let mut out = Vec::new();
            let expansion: Result<(), Violation> = events
                .into_iter()
                .try_for_each(|event| expander.handle(event, &mut out));
            let staged = judge(&out).and(expansion.map_err(|violation| violation.rule()));
            prop_assert_eq!(verdict.is_ok(), staged.is_ok(), "{:?}, {:?}", verdict, staged);
            let again = expanded(out.clone()).expect("no chunks, no violation");
            prop_assert_eq!(again, out);
        }
    }
}
