//! Updates are skimmed if the method precedes the params, and decoded completely otherwise.
//! Responses that only need to succeed are read up to the result if it comes last. Both paths have
//! the same outcome.
use crate::lines::{prompt, stop};
use crate::spans::{A2C, C2A};
use jsonrpc_core::peek;
use proptest::prelude::*;
use semconv_map::content::Capture;
use semconv_map::{ClosedBy, Direction, Policy, Record, Tracker};
use serde_json::Value;
use std::time::Duration;

/// Params of an update with members in any order, and similar members elsewhere.
fn params() -> impl Strategy<Value = String> {
    let kind = prop::sample::select(vec![
        r#""agent_message_chunk""#,
        r#""agent_message_chunk""#,
        r#""agent_thought\u005fchunk""#,
        r#""agent_thought_chunk""#,
        r#""tool_call""#,
        r#""tool_call_update""#,
        r#""tool_call_update""#,
        r#""usage_update""#,
        r#""plan""#,
        r#""state_update""#,
        r#""newer""#,
        "7",
    ]);
    let tool_call = prop::sample::select(vec![r#""t""#, r#""u""#, r#""\u0074""#, "7"]);
    let status =
        prop::sample::select(vec![r#""pending""#, r#""completed""#, r#""failed""#, "null", "{}"]);
    let tool = prop::sample::select(vec![r#""read""#, r#""newer""#, "null"]);
    let meta = prop::sample::select(vec![r#"{"toolName":"Bash"}"#, "{}", "null", r#"{"a":[{}]}"#]);
    let text = "[a-z]{0,3}([a-z]{0,70}(\\\\\"|\\\\\\\\|\\\\n|\\]|\\}|,)){0,12}";
    let content = prop_oneof![
        4 => text.prop_map(|text| format!(r#"{{"type":"text","text":"{text}"}}"#)),
        1 => Just(r#"[{"type":"content","status":"failed","sessionUpdate":"plan","toolCallId":"v"}]"#.to_owned()),
        1 => Just(r#""\"status\":\"failed\",\"sessionId\":\"r\"""#.to_owned()),
        1 => Just("-1.5e3".to_owned()),
    ];
    let update = (
        prop::option::weighted(0.95, kind),
        prop::option::weighted(0.7, tool_call),
        prop::option::of(status),
        prop::option::of(tool.clone()),
        prop::option::weighted(0.2, tool),
        prop::option::weighted(0.3, meta.clone()),
        prop::option::weighted(0.7, content),
        prop::option::weighted(0.3, prop::sample::select(vec![r#"{"used":1,"size":2}"#, "[]"])),
    );
    let update =
        update.prop_map(|(kind, tool_call, status, kind_of_tool, name, meta, content, more)| {
            let some = |name: &str, value: Option<&str>| {
                value.map(|value| (format!("\"{name}\""), value.to_owned()))
            };
            let members = [
                some("sessionUpdate", kind),
                some("toolCallId", tool_call),
                some("status", status),
                some("kind", kind_of_tool),
                some("name", name),
                some("_meta", meta),
                some("content", content.as_deref()),
                some("rawInput", more),
                some("used", more.map(|_| "1")),
                some("size", more.map(|_| "2")),
                some("entries", more.map(|_| "[]")),
            ];
            members.into_iter().flatten().collect::<Vec<_>>()
        });
    let update = update.prop_shuffle().prop_flat_map(object);
    let session = prop::sample::select(vec![r#""s""#, r#""s""#, r#""\u0073""#, r#""r""#, "7"]);
    let params = (
        prop::option::weighted(0.95, session),
        prop::option::weighted(0.95, update),
        prop::option::weighted(0.3, meta),
    );
    let params = params.prop_map(|(session, update, meta)| {
        let members = [
            session.map(|it| (r#""sessionId""#.to_owned(), it.to_owned())),
            update.map(|it| (r#""update""#.to_owned(), it)),
            meta.map(|it| (r#""_meta""#.to_owned(), it.to_owned())),
        ];
        members.into_iter().flatten().collect::<Vec<_>>()
    });
    params.prop_shuffle().prop_flat_map(object)
}

/// An object with these members and any white space.
fn object(members: Vec<(String, String)>) -> impl Strategy<Value = String> {
    prop::sample::select(vec!["", "", " ", "\t\r"]).prop_map(move |space| {
        let members: Vec<_> = members
            .iter()
            .map(|(name, value)| format!("{space}{name}{space}:{space}{value}"))
            .collect();
        format!("{{{}{space}}}", members.join(","))
    })
}

fn policies() -> impl Strategy<Value = Policy> {
    prop::sample::select(vec![Capture::Off, Capture::Off, Capture::SpanAndEvent]).prop_map(
        |content| {
            let mut policy = Policy::default();
            policy.content = content;
            policy
        },
    )
}

const METHOD: &str = r#""method":"session/update""#;

/// Returns all records for these lines of the agent, within a turn.
fn records_of(policy: &Policy, lines: impl Iterator<Item = Vec<u8>>) -> String {
    let first = (C2A, prompt(1, "s").into_bytes());
    let last = (A2C, stop(1, "end_turn").into_bytes());
    records_of_lines(policy, [first].into_iter().chain(lines.map(|line| (A2C, line))).chain([last]))
}

/// Returns all records for these lines.
fn records_of_lines(policy: &Policy, lines: impl Iterator<Item = (Direction, Vec<u8>)>) -> String {
    let mut tracker = Tracker::new(policy.clone());
    let now = Duration::from_secs(1);
    for (direction, line) in lines {
        tracker.handle_line(direction, now, &line);
    }
    tracker.close(now, ClosedBy::Client);
    let records: Vec<_> = std::iter::from_fn(|| tracker.poll()).collect();
    format!("{records:#?}\n{:#?}", tracker.counters())
}

/// Records of these lines in a program that peeks lines that are not quiet.
fn peeked(policy: &Policy, lines: impl Iterator<Item = (Direction, Vec<u8>)>) -> String {
    let mut tracker = Tracker::new(policy.clone());
    let now = Duration::from_secs(1);
    for (direction, line) in lines {
        match peek(&line) {
            _ if direction == A2C && tracker.is_quiet(&line) => {}
            Ok(peeked) => tracker.handle_peeked(direction, now, &peeked),
            Err(_) => tracker.handle_line(direction, now, &line),
        }
    }
    tracker.close(now, ClosedBy::Client);
    let records: Vec<_> = std::iter::from_fn(|| tracker.poll()).collect();
    format!("{records:#?}\n{:#?}", tracker.counters())
}

/// A request, a response, or both, with the same id.
#[derive(Clone, Debug)]
struct Exchange {
    asker: Direction,
    id: &'static str,
    method: Option<&'static str>,
    /// The member `result` or `error`.
    answer: Option<&'static str>,
}

fn said() -> impl Strategy<Value = Exchange> {
    let asker = prop::sample::select(vec![C2A, A2C]);
    let id = prop::sample::select(vec![
        "7",
        "7",
        "0",
        "-1",
        "7.0",
        "70e-1",
        "07",
        "+7",
        r#""7""#,
        r#""a,b""#,
        r#""\u0037""#,
        r#""a\",\"result\":{""#,
        r#""a\"b""#,
        r#""a"b""#,
        "null",
        "[7]",
    ]);
    let methods = prop::sample::select(vec![
        "initialize",
        "authenticate",
        "session/new",
        "session/load",
        "session/fork",
        "session/list",
        "session/close",
        "session/set_model",
        "session/set_config_option",
        "session/prompt",
        "session/request_permission",
        "fs/read_text_file",
        "terminal/wait_for_exit",
        "_newer/method",
    ]);
    let answers = prop::sample::select(vec![
        r#""result":{}"#,
        r#""result":{"content":"a,\"id\":1"}"#,
        r#""result":{"protocolVersion":1,"agentInfo":{"name":"a","version":"1"}}"#,
        r#""result":{"sessionId":"n","models":{"currentModelId":"m","availableModels":[]}}"#,
        r#""result":{"configOptions":[]}"#,
        r#""result":{"stopReason":"refusal"}"#,
        r#""result":{"outcome":{"outcome":"cancelled"}}"#,
        r#""result":{"exitCode":3}"#,
        r#""result":null"#,
        r#""result":[{}]"#,
        r#""error":{"code":-32000,"message":"no"}"#,
    ]);
    let method = prop::option::weighted(0.8, methods);
    let answer = prop::option::weighted(0.8, answers);
    (asker, id, method, answer).prop_map(|(asker, id, method, answer)| Exchange {
        asker,
        id,
        method,
        answer,
    })
}

/// The lines of a connection, followed by a turn that shows what was learned. Responses contain
/// `space`.
fn lines<'a>(
    said: &'a [Exchange],
    space: &'a str,
) -> impl Iterator<Item = (Direction, Vec<u8>)> + 'a {
    let params =
        r#"{"sessionId":"s","modelId":"m","path":"/p","toolCall":{"toolCallId":"t"},"options":[]}"#;
    let said = said.iter().flat_map(move |Exchange { asker, id, method, answer }| {
        let answerer = if *asker == A2C { C2A } else { A2C };
        let request = method.map(|method| {
            let line =
                format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#);
            (*asker, line.into_bytes())
        });
        let answer = answer.map(|answer| {
            (answerer, format!(r#"{{"jsonrpc":{space}"2.0","id":{id},{answer}}}"#).into_bytes())
        });
        request.into_iter().chain(answer)
    });
    said.chain([(C2A, prompt("last", "s").into_bytes())])
}

proptest! {
    /// For any order and content of members.
    #[test]
    fn skimmed_updates_equal_decoded_updates(
        policy in policies(),
        params in prop::collection::vec(params(), 1..8),
        repeated in any::<bool>(),
    ) {
        let params: Vec<_> = params.iter().flat_map(|it| vec![it; 1 + 2 * usize::from(repeated)]).collect();
        for params in &params {
            prop_assert!(serde_json::from_str::<Value>(params).is_ok(), "{}", params);
        }
        let first = |params: &String| format!(r#"{{"jsonrpc":"2.0",{METHOD},"params":{params}}}"#).into_bytes();
        let last = |params: &String| format!(r#"{{"jsonrpc":"2.0","params":{params},{METHOD}}}"#).into_bytes();
        let expected = records_of(&policy, params.iter().copied().map(last));
        prop_assert_eq!(&records_of(&policy, params.iter().copied().map(first)), &expected);
        let turn = |line: fn(&String) -> Vec<u8>| {
            let lines = params.iter().map(move |params: &&String| (A2C, line(params)));
            let first = (C2A, prompt(1, "s").into_bytes());
            [first].into_iter().chain(lines).chain([(A2C, stop(1, "end_turn").into_bytes())])
        };
        prop_assert_eq!(&peeked(&policy, turn(first)), &expected);
        prop_assert_eq!(&peeked(&policy, turn(last)), &expected);
        let otherwise = |params| format!(r#" {{{METHOD}, "jsonrpc":"2.0","params" :{params}}}"#).into_bytes();
        prop_assert_eq!(&records_of(&policy, params.iter().map(otherwise)), &expected);
        // The decisive prefix of a line is equivalent to the line.
        let tracker = Tracker::new(policy.clone());
        let enough = params.iter().map(|params| {
            let line = first(params);
            let all = tracker.decisive_prefix(&line).unwrap_or(line.len());
            for length in [0, all / 2, all.saturating_sub(1)] {
                assert_eq!(tracker.decisive_prefix(&line[..length]), None);
            }
            if all < line.len() {
                assert_eq!(tracker.decisive_prefix(&line[..all]), Some(all));
            }
            line[..all].to_vec()
        });
        prop_assert_eq!(&records_of(&policy, enough), &expected);
    }

    /// For any request, id and response that is a message.
    #[test]
    fn skimmed_responses_equal_decoded_responses(said in prop::collection::vec(said(), 1..24), policy in policies()) {
        let expected = records_of_lines(&policy, lines(&said, " "));
        prop_assert_eq!(&records_of_lines(&policy, lines(&said, "")), &expected);
        prop_assert_eq!(&peeked(&policy, lines(&said, "")), &expected);
    }

    /// For lines that an agent numbers, of two sessions with ids that differ in a digit. The effect of
    /// a text is the time of the first one in a turn.
    #[test]
    fn numbered_texts_equal_decoded_texts(texts in prop::collection::vec(numbered_text(), 1..24)) {
        let line = |params: &String, is_skimmed: bool| match is_skimmed {
            true => format!(r#"{{"jsonrpc":"2.0",{METHOD},"params":{params}}}"#).into_bytes(),
            false => format!(r#"{{"jsonrpc":"2.0","params":{params},{METHOD}}}"#).into_bytes(),
        };
        let lines = |is_skimmed| {
            let prompts = [prompt(1, "s-1"), prompt(2, "s-2")].map(|prompt| (C2A, prompt.into_bytes()));
            prompts.into_iter().chain(texts.iter().map(move |params| (A2C, line(params, is_skimmed))))
        };
        let policy = Policy::default();
        let expected = records_of_lines(&policy, lines(false));
        prop_assert_eq!(&records_of_lines(&policy, lines(true)), &expected);
        prop_assert_eq!(&peeked(&policy, lines(true)), &expected);
    }

    /// For any bytes there is no panic.
    #[test]
    fn any_bytes_are_skimmed(params in params(), at: prop::sample::Index, noise in prop::collection::vec(any::<u8>(), 0..6)) {
        let mut line = format!(r#"{{"jsonrpc":"2.0",{METHOD},"params":{params}}}"#).into_bytes();
        let at = at.index(line.len() + 1);
        line.splice(at..(at + noise.len()).min(line.len()), noise);
        let text = records_of(&Policy::default(), [line.clone(), line].into_iter());
        prop_assert!(!text.is_empty());
    }
}

fn numbered_text() -> impl Strategy<Value = String> {
    let kind = prop::sample::select(vec![
        "agent_message_chunk",
        "agent_message_chunk",
        "agent_thought_chunk",
        "plan",
    ]);
    (0..200_u8, 1..3_u8, kind).prop_map(|(number, session, kind)| {
        format!(
            r#"{{"n":{number},"sessionId":"s-{session}","update":{{"sessionUpdate":"{kind}","content":{{"type":"text","text":"x"}}}}}}"#
        )
    })
}

/// Text of one kind in one session is quiet after three lines, also if the agent numbers them.
#[test]
fn numbered_text_is_quiet() {
    let line = |number: u8, session: &str, kind: &str| {
        format!(
            r#"{{"jsonrpc":"2.0",{METHOD},"params":{{"n":{number},"sessionId":"{session}","update":{{"sessionUpdate":"{kind}","content":{{"type":"text","text":"{number}"}}}}}}}}"#
        )
    };
    let message = |number| line(number, "s-1", "agent_message_chunk");
    let mut tracker = Tracker::new(Policy::default());
    tracker.handle_line(C2A, Duration::ZERO, prompt(1, "s-1").as_bytes());
    for number in 8..11 {
        assert!(!tracker.is_quiet(message(number).as_bytes()), "{number}");
        tracker.handle_line(A2C, Duration::ZERO, message(number).as_bytes());
    }
    assert!(tracker.is_quiet(message(11).as_bytes()));
    assert!(!tracker.is_quiet(line(12, "s-2", "agent_message_chunk").as_bytes()), "a session");
    assert!(!tracker.is_quiet(line(12, "s-1", "agent_thought_chunk").as_bytes()), "a kind");
    tracker.handle_line(A2C, Duration::ZERO, line(12, "s-2", "agent_message_chunk").as_bytes());
    assert!(!tracker.is_quiet(message(13).as_bytes()), "after another session");
}

/// Only the start of the response to a file request is read. The response that creates a session is
/// read completely.
#[test]
fn successful_response_is_not_decoded() {
    let asked = |method: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":"r-1","method":"{method}","params":{{"sessionId":"s"}}}}"#
        )
    };
    let answer = br#"{"jsonrpc":"2.0","id":"r-1","result":{"content":"and then it brea"#;
    for (asker, method, is_read) in [(A2C, "fs/read_text_file", false), (C2A, "session/new", true)]
    {
        let mut tracker = Tracker::new(Policy::default());
        let now = Duration::from_secs(1);
        tracker.handle_line(asker, now, asked(method).as_bytes());
        let answerer = if asker == A2C { C2A } else { A2C };
        tracker.handle_line(answerer, now, answer);
        let ends = std::iter::from_fn(|| tracker.poll()).filter(|it| matches!(it, Record::End(_)));
        assert_eq!(ends.count(), usize::from(!is_read), "{method}");
        assert_eq!(tracker.counters().invalid_lines, u64::from(is_read), "{method}");
    }
}
