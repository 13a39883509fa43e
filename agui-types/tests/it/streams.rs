//! Streams that break each rule, streams that break none, and recordings with the verdict of the
//! first-party client 1.0.0.
use agui_types::event::Event;
use agui_types::input::RunAgentInput;
use agui_types::verify::{Rule, Verifier, Violation};
use jsonrpc_core::wire::{self, DecodeError};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/1.0/streams")
}

fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).expect("the fixture is there");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// Returns the files of a folder by name, each with its lines.
fn files(name: &str) -> BTreeMap<String, Vec<Value>> {
    let entries = fs::read_dir(folder().join(name)).expect("the folder is there");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths
        .map(|path| {
            (path.file_stem().unwrap_or_default().to_string_lossy().into_owned(), lines(&path))
        })
        .collect()
}

/// Returns the recordings of the first-party client 1.0.0.
pub(crate) fn recorded() -> Vec<Value> {
    let recorded = lines(&folder().join("first-party-client.jsonl"));
    assert!(recorded.len() > 100);
    recorded
}

#[derive(Debug)]
enum Verdict {
    Accepted,
    Malformed(DecodeError),
    Violates(Violation),
}

fn judge(mut verifier: Verifier, events: &[Value]) -> Verdict {
    for event in events {
        let event: Event = match wire::decode(&event.to_string()) {
            Ok(event) => event,
            Err(error) => return Verdict::Malformed(error),
        };
        if let Err(violation) = verifier.handle(&event) {
            return Verdict::Violates(violation);
        }
    }
    match verifier.finish() {
        Ok(()) => Verdict::Accepted,
        Err(violation) => Verdict::Violates(violation),
    }
}

fn rule(verdict: &Verdict) -> Option<Rule> {
    match verdict {
        Verdict::Violates(violation) => Some(violation.rule()),
        _ => None,
    }
}

#[test]
fn valid_streams_are_accepted() {
    let files = files("valid");
    assert!(files.len() > 15, "{}", files.len());
    for (name, events) in files {
        for verifier in [Verifier::strict(), Verifier::tolerant()] {
            let verdict = judge(verifier, &events);
            assert!(matches!(verdict, Verdict::Accepted), "{name}: {verdict:?}");
        }
    }
}

/// One file for each rule. Each line is a stream that breaks the rule in its last event (or end)
/// and nowhere before.
#[test]
fn invalid_streams_are_rejected_by_their_rule() {
    let files = files("invalid");
    for rule in Rule::ALL {
        // These two rules depend on more than a stream.
        if matches!(rule, Rule::TooMuch | Rule::RunNotRequested) {
            continue;
        }
        let streams = files.get(rule.as_str());
        let streams = streams.unwrap_or_else(|| panic!("no stream breaks {rule}"));
        for stream in streams {
            let events = stream.as_array().expect("a list");
            breaks(*rule, events);
        }
    }
    assert_eq!(files.len(), Rule::ALL.len() - 2, "a file without a rule");
}

fn breaks(broken: Rule, events: &[Value]) {
    let Verdict::Violates(violation) = judge(Verifier::strict(), events) else {
        panic!("{broken}: the strict verifier accepts {events:?}")
    };
    assert_eq!(violation.rule(), broken, "{violation}");
    let at = if broken == Rule::Truncated { events.len() } else { events.len() - 1 };
    assert_eq!(violation.index(), at as u64, "{broken}: {violation}");
    assert_eq!(violation.event_type().is_none(), broken == Rule::Truncated);
    let tolerant = judge(Verifier::tolerant(), events);
    let expected = (!broken.is_strict_only()).then_some(broken);
    assert_eq!(rule(&tolerant), expected, "{broken}: {tolerant:?} for {events:?}");
}

#[test]
fn rules_that_depend_on_the_input_are_checked() {
    let input = r#"{"threadId":"t","runId":"asked","messages":[
        {"id":"m","role":"assistant","toolCalls":[{"id":"c","type":"function","function":{"name":"f","arguments":""}}]}],
        "tools":[{"name":"page","description":"d"}]}"#;
    let input: RunAgentInput = wire::decode(input).expect("an input");
    let started = |run: &str, thread: &str| serde_json::json!({"type":"RUN_STARTED","threadId":thread,"runId":run,"protocolVersion":"1.0"});
    let finished =
        |run: &str| serde_json::json!({"type":"RUN_FINISHED","threadId":"t","runId":run});
    let result = serde_json::json!({"type":"TOOL_CALL_RESULT","messageId":"r","toolCallId":"c","content":""});
    let call = serde_json::json!({"type":"TOOL_CALL_CHUNK","toolCallId":"d","toolCallName":"page"});
    let answer = serde_json::json!({"type":"TOOL_CALL_RESULT","messageId":"r","toolCallId":"d","content":""});
    let table = [
        (vec![started("asked", "t"), result, finished("asked")], None),
        (
            vec![started("old", "t"), finished("old"), started("asked", "t"), finished("asked")],
            None,
        ),
        (vec![started("other", "t"), finished("other")], Some(Rule::RunNotRequested)),
        (vec![started("asked", "u")], Some(Rule::ThreadChanged)),
        (vec![started("asked", "t"), call, answer], Some(Rule::FrontendToolAnswered)),
    ];
    for (events, expected) in table {
        let verdict = judge(Verifier::strict_for(&input), &events);
        assert_eq!(rule(&verdict), expected, "{events:?}");
    }
}

#[test]
fn verifier_memory_is_limited() {
    let opened = |id: usize| format!(r#"{{"type":"TEXT_MESSAGE_START","messageId":"m{id}"}}"#);
    let mut verifier = Verifier::tolerant().with_limit(3);
    let start = r#"{"type":"RUN_STARTED","threadId":"t","runId":"r"}"#.to_owned();
    let events: Vec<String> = [start].into_iter().chain((0..10).map(opened)).collect();
    let reported: Vec<Option<Rule>> = events
        .iter()
        .map(|text| {
            verifier.handle(&wire::decode(text).expect("an event")).err().map(|it| it.rule())
        })
        .collect();
    assert_eq!(
        reported[..5],
        [None; 5],
        "the fourth message is over the limit, the fifth is reported"
    );
    assert_eq!(reported[5..], [Some(Rule::TooMuch); 6]);
}

#[test]
fn long_subjects_are_truncated() {
    let id = "é".repeat(100);
    let mut verifier = Verifier::tolerant();
    let start = r#"{"type":"RUN_STARTED","threadId":"t","runId":"r"}"#;
    verifier.handle(&wire::decode(start).expect("an event")).expect("no violation");
    let end = format!(r#"{{"type":"TEXT_MESSAGE_END","messageId":"{id}"}}"#);
    let violation = verifier.handle(&wire::decode(&end).expect("an event")).expect_err("not open");
    assert_eq!(violation.subject(), Some("é".repeat(64).as_str()));
}

/// The meaning of the client's messages.
const WORDS: &[(&str, Rule)] = &[
    ("First event must be", Rule::FirstEvent),
    ("The run has already errored", Rule::AfterError),
    ("The run has already finished", Rule::AfterFinish),
    ("while a run is still active", Rule::RunActive),
    ("No active text message found", Rule::TextMessageNotOpen),
    ("A text message with ID", Rule::TextMessageOpen),
    ("No active tool call found", Rule::ToolCallNotOpen),
    ("A tool call with ID", Rule::ToolCallOpen),
    ("while tool calls are still active", Rule::ToolCallsOpen),
    ("Too small: expected array to have >=1 items", Rule::NoInterrupts),
    ("Cannot continue text message 'a': chunk subagentRunId", Rule::OwnerMismatch),
    ("Cannot continue", Rule::ChunkConflict),
    ("must have a messageId", Rule::ChunkWithoutId),
    ("Ambiguous TEXT_MESSAGE_CHUNK", Rule::ChunkAmbiguous),
    ("No active reasoning message found", Rule::ReasoningMessageNotOpen),
    ("while reasoning spans are still active", Rule::ReasoningSpansOpen),
    ("while reasoning messages are still active", Rule::ReasoningMessagesOpen),
    ("that was not started", Rule::StepNotOpen),
    ("while steps are still active", Rule::StepsOpen),
    ("A step must be finished by whoever started it", Rule::StepOwner),
    ("while subagents are still active", Rule::SubagentsOpen),
    ("no active subagent found", Rule::SubagentNotActive),
    ("has not been started in this run", Rule::SubagentParent),
    ("opener's subagent", Rule::OwnerMismatch),
];

/// Cases in which the strict verifier rejects what the client accepts. The rule's link has the
/// clause.
const STRICTER: &[(&str, Rule)] = &[
    ("first unknown then started", Rule::UnknownEvent),
    ("finished by wrong run id", Rule::RunChanged),
    ("truncated", Rule::Truncated),
    ("reopen tool renames", Rule::ReopenDisagrees),
    ("result before end", Rule::ResultBeforeEnd),
    ("result of unknown call", Rule::ToolCallUnknown),
    ("interrupt duplicate ids", Rule::InterruptReused),
    ("unknown event dropped", Rule::UnknownEvent),
    ("activity delta missing target", Rule::ActivityUnknown),
    ("text into activity id", Rule::MessageIdTaken),
    ("subagent unknown outcome", Rule::UnknownOutcome),
    ("uninterpretable version", Rule::ProtocolVersion),
];

/// The tolerant verifier rejects exactly the streams that the client rejects, for the same reason.
#[test]
fn recorded_verdicts_are_reproduced() {
    for stream in &recorded() {
        let name = &stream["name"];
        let events = stream["stream"].as_array().expect("a list");
        let error = stream["error"].as_str();
        assert_eq!(stream["verdict"] == "rejected", error.is_some(), "{name}");
        match (judge(Verifier::tolerant(), events), error) {
            (Verdict::Accepted, None) => {}
            (Verdict::Malformed(ours), Some(error)) => {
                let place = format!("schema: {}", ours.pointer());
                assert!(error.starts_with(&place), "{name}: {ours}: {error}");
            }
            (Verdict::Violates(violation), Some(error)) => {
                let meant = WORDS.iter().find(|(words, _)| error.contains(words));
                assert_eq!(Some(violation.rule()), meant.map(|(_, rule)| *rule), "{name}: {error}");
                if error.starts_with("Cannot send") {
                    let event_type = format!("'{}'", violation.event_type().unwrap_or_default());
                    assert!(error.contains(&event_type), "{name}: {violation}: {error}");
                }
            }
            (verdict, error) => panic!("{name}: {verdict:?}, but {error:?}"),
        }
    }
}

/// The strict verifier rejects everything that the tolerant one rejects, and the listed cases.
#[test]
fn strict_differs_where_the_specification_is_stricter() {
    let mut stricter = Vec::new();
    for stream in recorded() {
        let name = stream["name"].as_str().expect("a name").to_owned();
        let events = stream["stream"].as_array().expect("a list");
        let strict = judge(Verifier::strict(), events);
        let tolerant = judge(Verifier::tolerant(), events);
        match (&strict, &tolerant) {
            (Verdict::Accepted, Verdict::Accepted)
            | (Verdict::Malformed(_), Verdict::Malformed(_)) => {}
            (Verdict::Violates(violation), Verdict::Accepted) => {
                assert!(violation.rule().is_strict_only(), "{name}");
                stricter.push((name, violation.rule()));
            }
            (Verdict::Violates(one), Verdict::Violates(other)) => assert_eq!(one, other, "{name}"),
            other => panic!("{name}: {other:?}"),
        }
    }
    let stricter: Vec<_> = stricter.iter().map(|(name, rule)| (name.as_str(), *rule)).collect();
    assert_eq!(stricter, STRICTER);
}

#[test]
fn rules_have_distinct_codes() {
    let mut codes: Vec<_> = Rule::ALL.iter().map(|rule| rule.as_str()).collect();
    codes.sort_unstable();
    codes.dedup();
    assert_eq!(codes.len(), Rule::ALL.len());
    let snake = |code: &str| code.bytes().all(|byte| byte == b'_' || byte.is_ascii_lowercase());
    assert!(codes.iter().all(|code| snake(code)));
}
