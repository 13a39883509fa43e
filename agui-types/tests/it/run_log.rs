//! A run log: each reader ends with the conversation of the run, within the bounds.
use agui_types::event::{
    Event, MessagesSnapshotEvent, ReasoningMessageContentEvent, ReasoningMessageEndEvent,
    ReasoningMessageStartEvent, RunFinishedEvent, RunStartedEvent, TextMessageContentEvent,
    TextMessageEndEvent, TextMessageStartEvent,
};
use agui_types::input::RunAgentInput;
use agui_types::reduce::Reducer;
use agui_types::run_log::{
    FrameJoiner, Frames, LogPart, LogRead, PushError, RunLog, RunLogLimits, RunOutcome,
};
use agui_types::sse::{Decoder, DeltaWriter};
use agui_types::verify::Verifier;
use jsonrpc_core::wire;
use proptest::prelude::*;

mod laws;

const LIMITS: RunLogLimits = RunLogLimits { events: 64, bytes: 16 * 1024 };

const BATCH: usize = 256 * 1024;

fn input() -> RunAgentInput {
    wire::decode(
        r#"{"protocolVersion":"1.0","threadId":"t","runId":"r 1","state":{"counted":[]},"tools":[],"context":[],
            "messages":[{"id":"u","role":"user","content":"Hi"}]}"#,
    )
    .expect("an input")
}

fn started() -> Event {
    let mut started = RunStartedEvent::new("t", "r 1");
    started.protocol_version = Some("1.0".to_owned());
    started.into()
}

fn finished() -> Event {
    RunFinishedEvent::new("t", "r 1").into()
}

fn counted(n: usize) -> Event {
    let patch = format!(r#"[{{"op":"add","path":"/counted/-","value":{n}}}]"#);
    wire::decode(&format!(r#"{{"type":"STATE_DELTA","delta":{patch}}}"#)).expect("an event")
}

/// A run that thinks, counts and says `words` words.
fn run(words: usize) -> Vec<Event> {
    let mut events: Vec<Event> = vec![
        started(),
        ReasoningMessageStartEvent::new("thought", "reasoning").into(),
        ReasoningMessageContentEvent::new("thought", "Hm").into(),
        ReasoningMessageEndEvent::new("thought").into(),
        TextMessageStartEvent::new("m").into(),
    ];
    for word in 0..words {
        events.push(TextMessageContentEvent::new("m", format!("word {word} ")).into());
        events.push(counted(word));
    }
    events.push(TextMessageEndEvent::new("m").into());
    events.push(finished());
    events
}

/// A step of a run; `usize` chooses one of a few messages or calls.
#[derive(Clone, Debug)]
enum Step {
    Text(usize, String),
    EndText(usize),
    Thought(String),
    Call(usize, String),
    EndCall(usize),
    Activity(usize, usize),
    ActivityDelta(usize, usize),
    Count(usize),
    Restate(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let text = "[a-zé\"\n]{1,40}";
    prop_oneof![
        8 => (0..2_usize, text).prop_map(|(id, text)| Step::Text(id, text)),
        1 => (0..2_usize).prop_map(Step::EndText),
        3 => text.prop_map(Step::Thought),
        4 => (0..2_usize, text).prop_map(|(id, text)| Step::Call(id, text)),
        1 => (0..2_usize).prop_map(Step::EndCall),
        2 => (0..2_usize, 0..9_usize).prop_map(|(id, n)| Step::Activity(id, n)),
        2 => (0..2_usize, 0..9_usize).prop_map(|(id, n)| Step::ActivityDelta(id, n)),
        4 => (0..9_usize).prop_map(Step::Count),
        1 => (0..9_usize).prop_map(Step::Restate),
    ]
}

fn decoded(frames: &Frames) -> (Vec<Event>, String) {
    let mut decoder = Decoder::default();
    decoder.push(&frames.bytes);
    let mut events = Vec::new();
    let mut last = String::new();
    while let Some(frame) = decoder.next_frame() {
        let frame = frame.expect("a frame");
        events.push(frame.decode().expect("an event"));
        last = frame.last_event_id;
    }
    (events, last)
}

fn reduced<'a>(events: impl IntoIterator<Item = &'a Event>) -> String {
    let mut reducer = Reducer::for_input(&input()).expect("an input");
    for event in events {
        assert!(reducer.handle(event).is_none(), "{event:?}");
    }
    let (messages, state) = reducer.into_parts();
    // A restart may move a message that the snapshot does not list.
    let mut messages: Vec<String> =
        messages.iter().map(|it| serde_json::to_string(it).expect("JSON")).collect();
    messages.sort_unstable();
    format!("{messages:?} {state}")
}

/// A client that reads a log, in one response or several.
struct Client {
    after: u64,
    seen: Vec<Event>,
    response: Verifier,
}

impl Client {
    fn new() -> Self {
        Self { after: 0, seen: Vec::new(), response: Verifier::strict_for(&input()) }
    }

    /// Reads once, and returns whether more may follow.
    fn read(&mut self, log: &RunLog, max_bytes: usize) -> bool {
        let (frames, is_restart) = match log.read(self.after, max_bytes) {
            LogRead::Frames(frames) => (frames, false),
            LogRead::Restart(frames) => (frames, true),
            LogRead::Pending => {
                assert!(!log.has_ended() && self.after == log.last());
                return false;
            }
            LogRead::Ended => {
                assert!(log.has_ended() && self.after == log.last());
                self.response.clone().finish().expect("the response is whole");
                return false;
            }
            other => panic!("{other:?}"),
        };
        assert!(frames.last > self.after && frames.last <= log.last());
        if is_restart {
            self.response = Verifier::strict_for(&input());
        }
        let (events, last) = decoded(&frames);
        events.iter().for_each(|event| self.response.handle(event).expect("no rule is broken"));
        if !last.is_empty() {
            assert_eq!(log.number(&last), Some(frames.last));
        }
        self.after = frames.last;
        self.seen.extend(events);
        true
    }
}

/// A log of these events, ended.
fn log(events: &[Event]) -> RunLog {
    let mut log = RunLog::new(&input(), LIMITS);
    events.iter().for_each(|event| assert!(log.push(event).is_ok()));
    log.end();
    log
}

#[test]
fn unread_events_are_returned_as_they_were_sent() {
    let events = run(3);
    let log = log(&events);
    for after in 0..events.len() {
        let LogRead::Frames(frames) = log.read(after as u64, BATCH) else { panic!("frames") };
        let (rest, last) = decoded(&frames);
        assert_eq!(rest, events[after..]);
        assert_eq!(last.as_str(), "r_1:13");
        assert_eq!(frames.last, 13);
        let LogRead::Frames(one) = log.read(after as u64, 0) else { panic!("one frame") };
        assert_eq!(decoded(&one).0, events[after..=after]);
    }
    assert_eq!(log.read(13, BATCH), LogRead::Ended);
    assert_eq!(log.read(14, BATCH), LogRead::Ended);
    assert_eq!(log.number("r_1:13"), Some(13));
    for unknown in ["r_1:14", "r_2:1", "r_1:x", "1", ""] {
        assert_eq!(log.number(unknown), None, "{unknown}");
    }
}

#[test]
fn written_deltas_are_logged_as_their_events() {
    let writer = DeltaWriter::text_message(&"m".into());
    let mut pushed = RunLog::new(&input(), LIMITS);
    let mut written = RunLog::new(&input(), LIMITS);
    for event in run(200) {
        pushed.push(&event).expect("room");
        match &event {
            Event::TextMessageContent(content) => {
                let mut frame = Vec::new();
                writer.write(&mut frame, &content.delta);
                written.push_written(&frame).expect("room");
            }
            _ => drop(written.push(&event).expect("room")),
        }
        assert_eq!(written.last(), pushed.last());
        assert_eq!(written.bytes(), pushed.bytes());
    }
    for after in [0, 3, 200, pushed.last() - 1] {
        assert_eq!(written.read(after, BATCH), pushed.read(after, BATCH));
    }
    written.end();
    assert!(matches!(written.push_written(b"data: {}\n\n"), Err(PushError::Ended)));
}

#[test]
fn successive_frames_are_logged_each_with_its_number() {
    let writer = DeltaWriter::text_message(&"m".into());
    let mut one_by_one = RunLog::new(&input(), LIMITS);
    let mut together = RunLog::new(&input(), LIMITS);
    let mut frames = Vec::new();
    for word in ["one\n", "two\n\n", "", "three"] {
        let mut frame = Vec::new();
        writer.write(&mut frame, word);
        one_by_one.push_written(&frame).expect("room");
        frames.extend(frame);
    }
    assert_eq!(together.push_written(&frames).expect("room"), 4);
    assert_eq!(together.push_written(b"").expect("nothing to add"), 4);
    assert_eq!(together.read(0, BATCH), one_by_one.read(0, BATCH));
    assert_eq!(together.read(2, BATCH), one_by_one.read(2, BATCH));
}

#[test]
fn conversation_before_the_run_counts() {
    let text = "a".repeat(10_000);
    let input = format!(
        r#"{{"threadId":"t","runId":"r","messages":[{{"id":"u","role":"user","content":"{text}"}}]}}"#
    );
    let log = RunLog::new(&wire::decode(&input).unwrap(), LIMITS);
    assert!((10_000..10_100).contains(&log.bytes()), "{}", log.bytes());
    assert!(!log.is_full(), "the limit is that of the events");
}

#[test]
fn compacted_events_are_read_from_the_beginning_or_as_a_restart() {
    let events = run(500);
    let log = log(&events);
    assert!(!log.is_full() && log.bytes() <= 2 * LIMITS.bytes, "{}", log.bytes());
    for after in [0, 1, 2, 3, 4, 5, 6, 7, 100, 101, 900, events.len() - 5, events.len()] {
        let mut client = Client::new();
        client.after = after as u64;
        client.seen.extend_from_slice(&events[..after]);
        events[..after].iter().for_each(|event| client.response.handle(event).expect("a run"));
        let is_restart = matches!(log.read(client.after, BATCH), LogRead::Restart(_));
        assert_eq!(is_restart, (1..=900).contains(&after), "after {after}");
        while client.read(&log, BATCH) {}
        assert_eq!(reduced(&client.seen), reduced(&events), "after {after}");
        if is_restart {
            let restart = &client.seen[after..];
            assert!(matches!(restart[1], Event::MessagesSnapshot(_)), "after {after}");
        }
    }
}

#[test]
fn full_log_accepts_the_end_of_the_run_once() {
    let mut log = RunLog::new(&input(), LIMITS);
    let mut pushed = 0;
    let refused = loop {
        match log.push(&TextMessageStartEvent::new(format!("m{pushed}")).into()) {
            Ok(_) => pushed += 1,
            Err(error) => break error,
        }
        assert!(pushed < 10_000);
    };
    assert!(matches!(refused, PushError::Full) && log.is_full());
    assert!(log.bytes() <= 4 * LIMITS.bytes, "{}", log.bytes());
    assert_eq!(log.push(&finished()).ok(), Some(pushed + 1));
    assert!(matches!(log.push(&finished()), Err(PushError::Full)));
    log.end();
    let mut client = Client { response: Verifier::tolerant(), ..Client::new() };
    while client.after < log.last() {
        let LogRead::Frames(frames) = log.read(client.after, BATCH) else { panic!("frames") };
        client.seen.extend(decoded(&frames).0);
        client.after = frames.last;
    }
    assert_eq!(client.seen.last(), Some(&finished()));
}

#[test]
fn events_that_cannot_be_compacted_stay() {
    let chunk: Event =
        wire::decode(r#"{"type":"TEXT_MESSAGE_CHUNK","delta":"without an id"}"#).expect("an event");
    let events = vec![chunk; 200];
    let log = log(&events);
    let mut seen = Vec::new();
    let mut after = 0;
    while let LogRead::Frames(frames) = log.read(after, BATCH) {
        seen.extend(decoded(&frames).0);
        after = frames.last;
    }
    assert_eq!(seen, events);
}

/// Deltas are joined in their encoded form: escaped quotes and backslashes do not end a text, and
/// other members are kept.
#[test]
fn joined_deltas_have_the_whole_text() {
    let pieces = ["a\"", "\\", "\"}\n\n", "é", "\",\"delta\":\"", "word ".repeat(40).as_str()]
        .map(str::to_owned);
    let mut events = vec![started(), TextMessageStartEvent::new("m\"1").into()];
    for round in 0..3 {
        let texts = pieces.iter().cycle().take(9_000);
        events.extend(texts.map(|it| TextMessageContentEvent::new("m\"1", it.clone()).into()));
        let marked = r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m\"1","delta":"x","rawEvent":{"delta":"y"}}"#;
        events.push(wire::decode(marked).expect("an event"));
        events.push(counted(round));
    }
    events.push(TextMessageEndEvent::new("m\"1").into());
    events.push(finished());
    let limits = RunLogLimits { events: 100, bytes: 4 << 20 };
    let mut log = RunLog::new(&input(), limits);
    events.iter().for_each(|event| assert!(log.push(event).is_ok()));
    log.end();
    let mut client = Client::new();
    while client.read(&log, BATCH) {}
    assert_eq!(reduced(&client.seen), reduced(&events));
    assert!(client.seen.len() < 300, "{}", client.seen.len());
    let has_raw =
        |event: &&Event| matches!(event, Event::TextMessageContent(it) if it.raw_event.is_some());
    assert_eq!(client.seen.iter().filter(has_raw).count(), 3);
}

#[test]
fn continued_run_continues_the_numbers() {
    let mut log = RunLog::new(&input(), LIMITS).with_last(7);
    assert_eq!(log.read(0, BATCH), LogRead::Pending);
    assert_eq!(log.push(&started()).ok(), Some(8));
    for after in [0, 3, 7] {
        let LogRead::Frames(frames) = log.read(after, BATCH) else { panic!("frames") };
        assert_eq!(frames.last, 8);
        assert_eq!(decoded(&frames).1.as_str(), "r_1:8");
    }
}

#[test]
fn part_after_a_gap_is_ignored() {
    let original = log(&run(3));
    let mut copy = RunLog::new(&input(), LIMITS);
    copy.apply(original.part(5, BATCH));
    assert!(copy.last() == 0 && !copy.has_ended());
    copy.apply(original.part(0, BATCH));
    assert!(copy.last() == 13 && copy.has_ended());
    copy.apply(LogPart {
        after: 13,
        frames: vec![b"data: {}\n\n"[..].into()],
        ..LogPart::default()
    });
    assert_eq!(copy.last(), 13, "the run has ended");
}

#[test]
fn frame_of_the_next_event_is_not_added() {
    let mut log = RunLog::new(&input(), LIMITS);
    let frame = log.next_frame(&started()).expect("JSON");
    assert_eq!(log.last(), 0);
    assert!(log.push(&started()).is_ok());
    let LogRead::Frames(frames) = log.read(0, BATCH) else { panic!("frames") };
    assert_eq!(frames.bytes, frame);
}

#[test]
fn each_end_of_a_run_has_an_outcome() {
    let error = |code: &str| RunOutcome::Error(Some(code.to_owned()));
    let table = [
        (r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r"}"#, RunOutcome::Success, "success"),
        (
            r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"success"}}"#,
            RunOutcome::Success,
            "success",
        ),
        (
            r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt","interrupts":[]}}"#,
            RunOutcome::Interrupt,
            "interrupt",
        ),
        (
            r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"cancelled"}}"#,
            RunOutcome::Cancelled(None),
            "cancelled",
        ),
        (
            r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","result":{"cancelReason":"no-reader"},"outcome":{"type":"cancelled"}}"#,
            RunOutcome::Cancelled(Some("no-reader".to_owned())),
            "cancelled",
        ),
        (
            r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","result":{"cancelReason":7},"outcome":{"type":"cancelled"}}"#,
            RunOutcome::Cancelled(None),
            "cancelled",
        ),
        (
            r#"{"type":"RUN_ERROR","message":"m","code":"CANCELLED"}"#,
            RunOutcome::Cancelled(None),
            "cancelled",
        ),
        (r#"{"type":"RUN_ERROR","message":"m","code":"C"}"#, error("C"), "C"),
        (r#"{"type":"RUN_ERROR","message":"m"}"#, RunOutcome::Error(None), "error"),
    ];
    for (event, expected, name) in table {
        let outcome = RunOutcome::of(&wire::decode(event).expect("an event"));
        assert_eq!(outcome.as_ref().map(RunOutcome::name), Some(name), "{event}");
        assert_eq!(outcome, Some(expected), "{event}");
    }
    let other = MessagesSnapshotEvent::new(Vec::new()).into();
    assert_eq!(RunOutcome::of(&other), None);
    assert_eq!(
        RunOutcome::of(
            &wire::decode(r#"{"type":"CUSTOM","name":"n","value":1}"#).expect("an event")
        ),
        None
    );
}
