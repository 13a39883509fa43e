//! Compaction keeps the result of a stream and breaks no rule.
use crate::generate;
use crate::streams::recorded;
use agui_types::compact::compact;
use agui_types::event::Event;
use agui_types::expand::Expander;
use agui_types::message::Message;
use agui_types::reduce::{Reducer, RunEnd};
use agui_types::verify::{Verifier, Violation};
use jsonrpc_core::wire;
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};

type Made = (Vec<Message>, Value, Option<RunEnd>);

fn expanded(events: Vec<Event>) -> Vec<Event> {
    let mut expander = Expander::new();
    let mut out = Vec::new();
    for event in events {
        expander.handle(event, &mut out).expect("no violation");
    }
    out
}

fn made(events: &[Event]) -> Made {
    let mut reducer = Reducer::new();
    for event in events {
        let _ = reducer.handle(event);
    }
    (reducer.messages().to_vec(), reducer.state().clone(), reducer.end().cloned())
}

fn judge(strict: bool, events: &[Event]) -> Result<(), Violation> {
    let mut verifier = if strict { Verifier::strict() } else { Verifier::tolerant() };
    events.iter().try_for_each(|event| verifier.handle(event))
}

fn compacted(events: &Value) -> Value {
    let events: Vec<Event> = wire::decode(&events.to_string()).expect("events");
    serde_json::to_value(compact(events).expect("no violation")).expect("JSON")
}

#[test]
fn deltas_are_joined_at_the_first_position() {
    let text = |delta: &str| json!({"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":delta});
    let args = |delta: &str| json!({"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":delta});
    let with = |mut event: Value, name: &str, value: Value| {
        event[name] = value;
        event
    };
    let custom = json!({"type":"CUSTOM","name":"x.y","value":1});
    let snapshot = json!({"type":"MESSAGES_SNAPSHOT","messages":[]});
    let end = json!({"type":"TEXT_MESSAGE_END","messageId":"m"});
    let start = json!({"type":"TEXT_MESSAGE_START","messageId":"m"});
    let table = [
        (
            json!([text("a"), args("1"), custom, text("b"), args("2"), text("c")]),
            json!([text("abc"), args("12"), custom]),
        ),
        (
            json!([
                with(
                    with(text("a"), "timestamp", json!(1)),
                    "metadata",
                    json!({"k":{"x":1},"l":1})
                ),
                with(with(text("b"), "timestamp", json!(2)), "metadata", json!({"k":2,"m":null})),
            ]),
            json!([with(
                with(text("ab"), "timestamp", json!(1)),
                "metadata",
                json!({"k":2,"l":1,"m":null})
            )]),
        ),
        (json!([text("a"), snapshot, text("b")]), json!([text("a"), snapshot, text("b")])),
        (
            json!([text("a"), {"type":"TOOL_CALL_START","toolCallId":"m","toolCallName":"f"}, text("b")]),
            json!([text("a"), {"type":"TOOL_CALL_START","toolCallId":"m","toolCallName":"f"}, text("b")]),
        ),
        (json!([text("a"), end, start, text("b")]), json!([text("a"), end, start, text("b")])),
        (
            json!([text("a"), with(text("b"), "rawEvent", json!(1)), text("c"), text("d")]),
            json!([text("a"), with(text("b"), "rawEvent", json!(1)), text("cd")]),
        ),
        (
            json!([text("a"), with(text("b"), "newer", json!(1)), text("c")]),
            json!([text("a"), with(text("b"), "newer", json!(1)), text("c")]),
        ),
        (
            json!([
                with(text("a"), "subagentRunId", json!("s")),
                text("b"),
                with(text("c"), "subagentRunId", json!("s"))
            ]),
            json!([with(text("abc"), "subagentRunId", json!("s"))]),
        ),
        (
            json!([text("a"), with(text("b"), "subagentRunId", json!("s")), text("c")]),
            json!([text("a"), with(text("bc"), "subagentRunId", json!("s"))]),
        ),
        (
            json!([
                {"type":"REASONING_MESSAGE_CONTENT","messageId":"m","delta":"a"}, text("b"),
                {"type":"REASONING_MESSAGE_CONTENT","messageId":"m","delta":"c"},
            ]),
            json!([
                {"type":"REASONING_MESSAGE_CONTENT","messageId":"m","delta":"a"}, text("b"),
                {"type":"REASONING_MESSAGE_CONTENT","messageId":"m","delta":"c"},
            ]),
        ),
    ];
    for (given, expected) in table {
        assert_eq!(compacted(&given), expected, "{given}");
    }
}

#[test]
fn state_events_of_a_run_are_joined() {
    let snapshot = |value: Value| json!({"type":"STATE_SNAPSHOT","snapshot":value});
    let add =
        |path: &str| json!({"type":"STATE_DELTA","delta":[{"op":"add","path":path,"value":1}]});
    let custom = json!({"type":"CUSTOM","name":"x.y","value":1});
    let run = json!({"type":"RUN_STARTED","threadId":"t","runId":"r"});
    let with = |mut event: Value, name: &str, value: Value| {
        event[name] = value;
        event
    };
    let table = [
        (
            json!([
                add("/a"),
                snapshot(json!({})),
                snapshot(json!({"z":0})),
                add("/b"),
                custom,
                add("/no/way"),
                add("/c")
            ]),
            json!([custom, snapshot(json!({"z":0,"b":1,"c":1}))]),
        ),
        (json!([add("/a"), add("/b")]), json!([add("/a"), add("/b")])),
        (
            json!([add("/a"), snapshot(json!({})), run, add("/b"), snapshot(json!({"c":1e2}))]),
            json!([snapshot(json!({})), run, snapshot(json!({"c":1e2}))]),
        ),
        (
            json!([
                snapshot(json!({})),
                add("/a"),
                with(add("/b"), "metadata", json!({"k":1})),
                add("/c")
            ]),
            json!([
                snapshot(json!({"a":1})),
                with(add("/b"), "metadata", json!({"k":1})),
                add("/c")
            ]),
        ),
        (
            json!([
                snapshot(json!({})),
                with(add("/b"), "subagentRunId", json!("s")),
                add("/c"),
                snapshot(json!(1))
            ]),
            json!([snapshot(json!(1))]),
        ),
        (
            json!([
                with(snapshot(json!({})), "timestamp", json!(1)),
                with(add("/a"), "timestamp", json!(2)),
                add("/b")
            ]),
            json!([with(snapshot(json!({"a":1,"b":1})), "timestamp", json!(2))]),
        ),
    ];
    for (given, expected) in table {
        assert_eq!(compacted(&given), expected, "{given}");
    }
}

#[test]
fn activity_snapshots_are_replaced_by_the_last() {
    let picture = |id: &str, n: u64| json!({"type":"ACTIVITY_SNAPSHOT","messageId":id,"activityType":"PLAN","content":{"n":n}});
    let with = |mut event: Value, name: &str, value: Value| {
        event[name] = value;
        event
    };
    let delta = json!({"type":"ACTIVITY_DELTA","messageId":"a","activityType":"PLAN","patch":[]});
    let text = json!({"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"x"});
    let snapshot = json!({"type":"MESSAGES_SNAPSHOT","messages":[]});
    let table = [
        (
            json!([picture("a", 1), picture("b", 1), text, picture("a", 2), picture("a", 3)]),
            json!([picture("a", 3), picture("b", 1), text]),
        ),
        (
            json!([picture("a", 1), delta, picture("a", 2), picture("a", 3)]),
            json!([picture("a", 1), delta, picture("a", 3)]),
        ),
    ];
    for (events, expected) in table {
        assert_eq!(compacted(&events), expected);
    }
    for kept in [
        json!([picture("a", 1), snapshot, picture("a", 2)]),
        json!([picture("a", 1), with(picture("a", 2), "replace", json!(false))]),
        json!([with(picture("a", 1), "metadata", json!({"k":1})), picture("a", 2)]),
        json!([picture("a", 1), with(picture("a", 2), "subagentRunId", json!("s"))]),
    ] {
        assert_eq!(compacted(&kept), kept);
    }
}

#[test]
fn compacted_recordings_have_the_same_result() {
    let mut shorter = 0;
    for stream in recorded().iter().filter(|stream| stream["verdict"] == "accepted") {
        let events: Vec<Event> = wire::decode(&stream["delivered"].to_string()).expect("events");
        let compacted = compact(events.clone()).expect("no violation");
        assert_eq!(judge(false, &compacted), Ok(()), "{}", stream["name"]);
        assert_eq!(made(&compacted), made(&events), "{}", stream["name"]);
        shorter += events.len() - compacted.len();
    }
    assert!(shorter > 5, "{shorter}");
}

/// Splits every delta at `cuts`.
fn rechunked(events: &[Event], cuts: &[Index]) -> Vec<Event> {
    let mut cuts = cuts.iter().cycle();
    let mut out = Vec::new();
    for event in events {
        let mut rest = event.clone();
        let pieces = match &mut rest {
            Event::TextMessageContent(e) => cut(&e.delta, &mut cuts),
            Event::ReasoningMessageContent(e) => cut(&e.delta, &mut cuts),
            Event::ToolCallArgs(e) => cut(&e.delta, &mut cuts),
            _ => vec![String::new()],
        };
        for piece in pieces {
            let mut part = event.clone();
            match &mut part {
                Event::TextMessageContent(e) => e.delta = piece,
                Event::ReasoningMessageContent(e) => e.delta = piece,
                Event::ToolCallArgs(e) => e.delta = piece,
                _ => {}
            }
            out.push(part);
        }
    }
    out
}

fn cut<'a>(delta: &str, cuts: &mut impl Iterator<Item = &'a Index>) -> Vec<String> {
    let mut pieces = vec![String::new()];
    for character in delta.chars() {
        if cuts.next().is_some_and(|index| index.index(2) == 0) {
            pieces.push(String::new());
        }
        pieces.last_mut().expect("one").push(character);
    }
    pieces
}

proptest! {
    #![proptest_config(generate::cases(128))]

    /// A compacted stream breaks no rule that the stream keeps, has the same result, and cannot be
    /// compacted further.
    #[test]
    fn compaction_keeps_the_result(
        (strict, events) in any::<bool>().prop_flat_map(|strict| (Just(strict), generate::stream(strict))),
    ) {
        let whole = expanded(events.clone());
        let shorter = compact(events).expect("no violation");
        prop_assert_eq!(judge(strict, &shorter), Ok(()), "{:#?}", shorter);
        prop_assert_eq!(made(&shorter), made(&whole));
        prop_assert!(shorter.len() <= whole.len());
        prop_assert_eq!(compact(shorter.clone()), Ok(shorter));
    }

    /// The result of a stream does not depend on how its deltas are split, whether they are joined
    /// again or not.
    #[test]
    fn split_deltas_keep_the_result(
        (strict, events) in any::<bool>().prop_flat_map(|strict| (Just(strict), generate::stream(strict))),
        cuts in prop::collection::vec(any::<Index>(), 1..20),
    ) {
        let whole = expanded(events);
        let pieces = rechunked(&whole, &cuts);
        prop_assert_eq!(judge(strict, &pieces), Ok(()));
        prop_assert_eq!(made(&pieces), made(&whole));
        let joined = compact(pieces).expect("no violation");
        prop_assert_eq!(judge(strict, &joined), Ok(()));
        prop_assert_eq!(made(&joined), made(&whole));
    }
}
