//! Recorded transcripts are read back unchanged, and replays repeat the recorded steps.
use core::time::Duration;
use jsonrpc_core::transcript::{self, Conductor, Direction, Entry, Recorder, Replay, ReplayStep};
use jsonrpc_core::{CancelMethod, Message, Peer, PeerMessage, RequestLimits};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::error::Error;

fn entry() -> impl Strategy<Value = Entry<'static>> {
    let bytes = prop_oneof![
        4 => crate::json::envelope().prop_map(String::into_bytes),
        1 => prop::collection::vec(any::<u8>(), 0..12),
        1 => "\\PC{0,12}".prop_map(String::into_bytes),
    ];
    (any::<u64>(), 0..1_000_000_000_u32, any::<bool>(), bytes).prop_map(
        |(seconds, nanoseconds, is_sent, bytes)| Entry {
            time: Duration::new(seconds, nanoseconds),
            direction: if is_sent { Direction::Sent } else { Direction::Received },
            bytes: bytes.into(),
        },
    )
}

proptest! {
    /// Entries round-trip for any bytes, and each is one line of JSON.
    #[test]
    fn entries_round_trip(entries in prop::collection::vec(entry(), 0..8)) {
        let mut recorder = Recorder::new();
        let mut out = Vec::new();
        for Entry { time, direction, bytes } in &entries {
            recorder.record(*time, *direction, bytes, &mut out);
        }
        let text = String::from_utf8(out).map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(text.lines().count(), entries.len());
        for line in text.lines() {
            prop_assert!(serde_json::from_str::<Value>(line).is_ok_and(|line| line.is_object()), "{}", line);
        }
        let read: Result<Vec<_>, _> = transcript::read(&text).collect();
        prop_assert_eq!(read, Ok(entries));
    }

    /// Reading any text ends in entries and errors.
    #[test]
    fn reading_does_not_panic(
        entry in entry(),
        text in crate::json::damaged(Just(r#"{"time":1.5,"direction":"sent","hex":"00ff"}"#.to_owned())),
    ) {
        let mut out = Vec::new();
        entry.to_line(&mut out);
        let whole = String::from_utf8(out).map_err(|error| TestCaseError::fail(error.to_string()))?;
        let both = format!("{text}\n{whole}");
        let last = transcript::read(&both).last();
        prop_assert_eq!(last, Some(Ok(entry)));
    }
}

#[test]
fn entries_are_human_readable() -> Result<(), Box<dyn Error>> {
    let mut recorder = Recorder::new();
    let mut out = Vec::new();
    recorder.record(
        Duration::from_micros(3822),
        Direction::Sent,
        b"{\"a\":\"\xc3\xa9\"}",
        &mut out,
    );
    recorder.record(Duration::from_secs(12), Direction::Received, b"\xff\x00", &mut out);
    let expected = concat!(
        "{\"time\":0.003822000,\"direction\":\"sent\",\"text\":\"{\\\"a\\\":\\\"\u{e9}\\\"}\"}\n",
        "{\"time\":12.000000000,\"direction\":\"received\",\"hex\":\"ff00\"}\n",
    );
    assert_eq!(String::from_utf8(out)?, expected);
    Ok(())
}

#[test]
fn times_are_read_in_any_notation() {
    let table = [
        ("0", Some(Duration::ZERO)),
        ("12", Some(Duration::from_secs(12))),
        ("0.5", Some(Duration::from_millis(500))),
        ("1.0000000019", Some(Duration::new(1, 1))),
        ("2.5e-3", Some(Duration::from_micros(2500))),
        ("18446744073709551615.999999999", Some(Duration::MAX)),
        ("-1", None),
        ("18446744073709551616", None),
        ("\"1\"", None),
        ("null", None),
    ];
    for (time, expected) in table {
        let line = format!(r#"{{"time":{time},"direction":"sent","text":""}}"#);
        assert_eq!(Entry::from_line(&line).ok().map(|entry| entry.time), expected, "{time}");
    }
}

#[test]
fn invalid_line_is_reported_by_number() {
    let table = [
        ("nonsense", "expected JSON, got expected ident at line 1 column 2"),
        (r#"{"time":1,"direction":"sent"}"#, "expected one of the members `text` and `hex`"),
        (
            r#"{"time":1,"direction":"sent","text":"","hex":""}"#,
            "expected one of the members `text` and `hex`",
        ),
        (
            r#"{"time":1,"direction":"up","text":""}"#,
            "at /direction: expected `sent` or `received`, got string",
        ),
        (
            r#"{"time":-1,"direction":"sent","text":""}"#,
            "at /time: expected a number of seconds that is not negative",
        ),
        (
            r#"{"time":1,"direction":"sent","hex":"f"}"#,
            "at /hex: expected pairs of hexadecimal digits",
        ),
        (
            r#"{"time":1,"direction":"sent","hex":"+f"}"#,
            "at /hex: expected pairs of hexadecimal digits",
        ),
        (r#"{"time":1,"direction":"sent","text":7}"#, "at /text: expected a string, got number"),
        (r#"{"direction":"sent","text":""}"#, "expected member `time`, got none"),
    ];
    for (line, expected) in table {
        let text = format!("\n{line}\n");
        let error = transcript::read(&text).next().and_then(Result::err).expect(line);
        assert_eq!(error.line, 2, "{line}");
        assert_eq!(error.source.to_string(), expected.to_owned(), "{line}");
    }
}

#[test]
fn redacted_text_is_not_written() -> Result<(), Box<dyn Error>> {
    fn keep_received(direction: Direction, bytes: &[u8]) -> Cow<'_, [u8]> {
        match direction {
            Direction::Sent => Cow::Borrowed(b"\"redacted\""),
            Direction::Received => Cow::Borrowed(bytes),
        }
    }
    let mut recorder = Recorder::redacting(keep_received);
    let mut out = Vec::new();
    for direction in [Direction::Sent, Direction::Received] {
        recorder.record(Duration::ZERO, direction, b"hunter2", &mut out);
    }
    let text = String::from_utf8(out)?;
    let bytes: Vec<_> = transcript::read(&text)
        .map(|entry| Ok(entry?.bytes))
        .collect::<Result<_, Box<dyn Error>>>()?;
    assert_eq!(bytes, [&b"\"redacted\""[..], b"hunter2"]);
    Ok(())
}

/// Returns a summary of a step.
fn shown(replayed: Option<(Duration, ReplayStep<'_, String>)>) -> Option<String> {
    let (time, replayed) = replayed?;
    let short = match replayed {
        ReplayStep::Received(PeerMessage::Request(request)) => format!("request {:?}", request.id),
        ReplayStep::Received(PeerMessage::Notification(told)) => {
            format!("notification {}", told.method)
        }
        ReplayStep::Received(PeerMessage::Response { id, token, outcome }) => {
            format!(
                "response {id:?} {token} {:?}",
                outcome.map(|result| result.get().to_owned()).map_err(|error| error.code.0)
            )
        }
        ReplayStep::Received(PeerMessage::Cancelled { id, .. }) => format!("cancelled {id:?}"),
        ReplayStep::Received(PeerMessage::Refused { request, .. }) => {
            format!("refused {:?}", request.id)
        }
        ReplayStep::Received(PeerMessage::Unmatched(response)) => {
            format!("unmatched {:?}", response.id)
        }
        ReplayStep::Received(PeerMessage::Malformed { error, ended, .. }) => {
            format!("malformed {:?} {ended:?}", error.id())
        }
        ReplayStep::Request { request, id } => format!("asked {:?} {id:?}", request.id),
        ReplayStep::Response { response, outcome } => {
            format!("answered {:?} {outcome:?}", response.id)
        }
        ReplayStep::Notification(notification) => format!("told {}", notification.method),
        ReplayStep::Sent(error) => format!("sent {error}"),
    };
    Some(format!("{} {short}", time.as_millis()))
}

fn play(entries: &[(Direction, &[u8])]) -> Vec<String> {
    let times = (0..).map(Duration::from_millis);
    let entries = entries.iter().zip(times).map(|((direction, bytes), time)| Entry {
        time,
        direction: *direction,
        bytes: Cow::Borrowed(*bytes),
    });
    let mut peer = Peer::new(CancelMethod::ACP, RequestLimits { ours: 2, theirs: 1 });
    let mut replay = Replay::new(entries);
    std::iter::from_fn(|| shown(replay.step(&mut peer, |request| request.method.to_string())))
        .collect()
}

#[test]
fn replay_matches_recorded_responses() {
    use Direction::{Received, Sent};
    let played = play(&[
        (Sent, br#"{"id":"u-1","method":"a"}"#),
        (Sent, br#"{"id":0,"method":"b"}"#),
        (Sent, br#"{"id":5,"method":"c"}"#),
        (Received, br#"{"id":1,"method":"theirs"}"#),
        (Received, br#"{"id":2,"method":"more"}"#),
        (Received, br#"{"method":"$/cancel_request","params":{"requestId":1}}"#),
        (Received, br#"{"id":1,"result":"not for id 1 of ours"}"#),
        (Received, br#"{"id":0,"result":"for b"}"#),
        (Received, br#"{"id":0,"result":"again"}"#),
        (Received, b"{\"id\":\"u-1\",\"result\":\"\xff\"}"),
        (Received, b"noise"),
        (Sent, br#"{"id":1,"result":1}"#),
        (Sent, br#"{"id":1,"result":1}"#),
        (Sent, br#"{"method":"done"}"#),
        (Sent, b"oops"),
    ]);
    let expected = [
        "0 asked \"u-1\" Ok(1)",
        "1 asked 0 Ok(2)",
        "2 asked 5 Err(Full)",
        "3 request 1",
        "4 refused 2",
        "5 cancelled 1",
        "6 unmatched 1",
        "7 response 2 b Ok(\"\\\"for b\\\"\")",
        "8 unmatched 0",
        "9 malformed Some(\"u-1\") Some((1, \"a\"))",
        "10 malformed None None",
        "11 answered 1 Ok(())",
        "12 answered 1 Err(RespondError)",
        "13 told done",
        "14 sent not valid JSON",
    ];
    assert_eq!(played, expected);
}

proptest! {
    /// A replay depends only on the transcript.
    #[test]
    fn replays_are_deterministic(
        entries in prop::collection::vec((any::<bool>(), prop_oneof![
            crate::json::envelope(),
            crate::json::damaged(crate::json::envelope()),
        ]), 0..12),
    ) {
        let entries: Vec<_> = entries
            .iter()
            .map(|(is_sent, text)| {
                let direction = if *is_sent { Direction::Sent } else { Direction::Received };
                (direction, text.as_bytes())
            })
            .collect();
        let played = play(&entries);
        prop_assert_eq!(played.len(), entries.len());
        prop_assert_eq!(played, play(&entries));
    }
}

/// The messages of one connection in a conductor's trace, with their times in milliseconds.
fn conducted(us: &str, them: &str) -> Vec<(u128, Direction, Value)> {
    let trace = include_str!("../fixtures/conductor/proxy-chain.jsons");
    let mut conductor = Conductor::new(us, them);
    let entries = trace.lines().filter_map(|line| conductor.entry(line).expect(line));
    entries
        .map(|entry| {
            let text = str::from_utf8(&entry.bytes).expect("UTF-8");
            Message::decode_strict(text).expect(text);
            (entry.time.as_millis(), entry.direction, serde_json::from_str(text).expect(text))
        })
        .collect()
}

#[test]
fn conductor_trace_has_the_messages_of_each_connection() {
    use Direction::{Received, Sent};
    let initialize = |id: &str| {
        (
            json!({"jsonrpc":"2.0","id":id,"method":"initialize","params":{"protocolVersion":1}}),
            json!({"jsonrpc":"2.0","id":id,"result":{"protocolVersion":1}}),
        )
    };
    let (request, response) = initialize("5b0f");
    assert_eq!(conducted("Client", "Proxy(0)"), [(1, Sent, request), (20, Received, response)]);
    let (request, response) = initialize("9e21");
    let update = json!({"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":
        {"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"hi"}}}});
    let close =
        json!({"jsonrpc":"2.0","id":"aa01","method":"session/close","params":{"sessionId":"s-1"}});
    let refused =
        json!({"jsonrpc":"2.0","id":"aa01","error":{"code":-32601,"message":"Method not found"}});
    let expected = [
        (2, Sent, request),
        (19, Received, response),
        (1700, Received, update),
        (1800, Sent, close),
        (1900, Received, refused),
    ];
    assert_eq!(conducted("Proxy(0)", "Agent"), expected);
    assert_eq!(conducted("Client", "Agent"), []);
}

#[test]
fn invalid_trace_is_an_error() {
    let mut conductor = Conductor::new("Client", "Agent");
    let bad = r#"{"type":"response","ts":1,"from":"Agent","to":"Client","id":1,"is_error":true,"payload":{"code":"x"}}"#;
    let error = conductor.entry(bad).expect_err("a bad error object");
    assert_eq!(error.to_string(), "at /payload/code: expected i64, got string");
    let error = conductor.entry(r#"{"type":"request"}"#).expect_err("no time");
    assert_eq!(error.to_string(), "expected member `ts`, got none");
    let negative = r#"{"type":"notification","ts":-1,"from":"Client","to":"Agent","method":"m"}"#;
    assert_eq!(conductor.entry(negative), Ok(None));
}
