//! Paths from a line of an agent to the bytes for a page: chunks of one message within a turn.
//! The official crates are connected by the shortest possible program, which has no state.
use crate::corpus::{self, Case, Line, Named};
use crate::paths::Path;
use acp_types::client;
use acp_types::v1::initialization::{InitializeRequest, ProtocolVersion};
use acp_types::v1::prompt_turn::SessionNotification;
use ag_ui::encode::EventStreamFormatter as _;
use ag_ui::event::TextMessageContentEvent;
use agent_client_protocol::{
    JsonRpcMessage as _, RawJsonRpcMessage, TransportFrame, UntypedMessage,
};
use agent_client_protocol_schema::rpc::{JsonRpcMessage, Notification};
use agent_client_protocol_schema::v1 as official;
use agui_bridge::conversation::ConversationOptions;
use agui_bridge::hub::{Hub, HubOptions};
use agui_bridge::{Options, Translator};
use agui_types::input::RunAgentInput;
use agui_types::run_log::{LogRead, RunLog, RunLogLimits};
use agui_types::sse;
use jsonrpc_core::{Message, wire};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::Duration;

/// Compared paths. The first is the base of each ratio.
pub const OFFICIAL: &str = "acp schema, then ag-ui";
pub const SDK: &str = "acp SDK, then ag-ui";
pub const TYPED: &str = "ours: types, Translator, write_event";
pub const HUB: &str = "ours: Hub, line in, numbered frame out";

/// Cases of this comparison: chunks of one message.
pub const CASES: &[Named] = &[
    ("pieces", || corpus::pieces(|words, _| corpus::chunk(AGENT, words))),
    ("pieces_esc", || {
        corpus::pieces(|words, _| {
            corpus::chunk(
                AGENT,
                &format!("{words}:\n\t\"naïve — 5 €\"\n```rust\nfn main() {{}}\n```"),
            )
        })
    }),
    ("pieces_thought", || corpus::pieces(|words, _| corpus::chunk("agent_thought_chunk", words))),
    ("pieces_taglast", || corpus::pieces(|words, _| corpus::chunk_with_tags_last(words))),
    ("pieces_numbered", || corpus::pieces(corpus::numbered_chunk)),
    ("pieces_2k", || {
        corpus::pieces(|words, _| corpus::chunk(AGENT, &format!("{}{words}", corpus::code(2_000))))
    }),
];

const AGENT: &str = "agent_message_chunk";

/// Message id in the program with the official crates.
const ID: &str = "msg-1";

/// Returns all paths.
pub fn paths() -> Vec<Path> {
    let fits = |case: &Case| case.name == "token_stream" || case.name.starts_with("pieces");
    let path = |name, run| Path { name, run, fits };
    let speech = |case: &Case| case.name.starts_with("pieces");
    vec![
        Path { fits: speech, ..path(OFFICIAL, |case| each(OFFICIAL, case, Turn::official)) },
        Path { fits: speech, ..path(SDK, |case| each(SDK, case, Turn::sdk)) },
        path(TYPED, |case| each(TYPED, case, Turn::typed)),
        path(HUB, |case| each(HUB, case, Turn::hub)),
    ]
}

/// A turn in progress, and its last output.
pub struct Turn {
    translator: Translator,
    /// A run in the session of the first line.
    run: Option<LoggedRun>,
    /// Number of events that the log of the run keeps without compaction.
    log: usize,
    /// Output for one line.
    pub out: Vec<u8>,
}

impl Default for Turn {
    fn default() -> Self {
        let mut translator = Translator::new(Options::new());
        let input =
            wire::decode(r#"{"threadId":"t","runId":"r","protocolVersion":"1.0","messages":[]}"#);
        let begun = translator.begin_run(&input.expect("an input"), &[]);
        let _ = begun.expect("nothing is open");
        while translator.poll_event().is_some() {}
        Self { translator, run: None, log: 1 << 20, out: Vec::with_capacity(1 << 16) }
    }
}

/// The time of each input: there is no clock.
const NOW: Duration = Duration::ZERO;

/// A hub with an open run, as a program has it.
struct LoggedRun {
    hub: Hub,
    log: RunLog,
    /// Number of the last event that was read.
    read: u64,
}

/// Largest size of one read from a log, in bytes.
const MAX_READ: usize = 256 << 10;

/// Creates a hub with a run that has sent its prompt, in the session of a line.
fn begun(line: &str, log: usize) -> LoggedRun {
    let line: serde_json::Value = serde_json::from_str(line).expect("JSON");
    let session = line["params"]["sessionId"].as_str().expect("a session");
    let mut hub = Hub::new(HubOptions::new(ConversationOptions::new("/")));
    hub.connect(client::Options::v1(InitializeRequest::new(ProtocolVersion::V1)), NOW);
    let input: RunAgentInput = wire::decode(
        r#"{"threadId":"t","runId":"r","protocolVersion":"1.0","messages":[{"id":"u","role":"user","content":"Hi"}]}"#,
    )
    .expect("an input");
    hub.handle_run("t", input.clone(), NOW).expect("a run");
    let opened = format!(r#"{{"sessionId":"{session}"}}"#);
    for result in [r#"{"protocolVersion":1}"#, &opened] {
        let request = hub.poll_transmit().expect("a request").line;
        let request: serde_json::Value = serde_json::from_slice(&request).expect("JSON");
        let response = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, request["id"]);
        hub.handle_line(Ok(&response), NOW);
    }
    while hub.poll_transmit().is_some() {}
    let mut log = RunLog::new(&input, RunLogLimits { events: log, bytes: 1 << 30 });
    while let Some(event) = hub.poll_run() {
        event.append_to(&mut log).expect("room");
    }
    let read = log.last();
    LoggedRun { hub, log, read }
}

type OfficialUpdate = JsonRpcMessage<Notification<official::SessionNotification>>;

impl Turn {
    /// Decodes the line as a type and translates it.
    pub fn typed(&mut self, line: &str) {
        let Ok(Message::Notification(update)) = Message::decode(line) else {
            panic!("not a notification")
        };
        let params = update.params.expect("params").get();
        let update: SessionNotification = wire::decode(params).expect("an update");
        self.translator.handle_notification(update);
        while let Some(event) = self.translator.poll_event() {
            sse::write_event(&mut self.out, &event).expect("JSON");
        }
    }

    /// Handles the line like a program: by the connection, the conversation and the log of the run.
    pub fn hub(&mut self, line: &str) {
        let run = self.run.get_or_insert_with(|| begun(line, self.log));
        run.hub.handle_line(Ok(line), NOW);
        while let Some(event) = run.hub.poll_run() {
            event.append_to(&mut run.log).expect("room");
        }
        while let LogRead::Frames(frames) | LogRead::Restart(frames) =
            run.log.read(run.read, MAX_READ)
        {
            run.read = frames.last;
            self.out.extend_from_slice(&frames.bytes);
        }
    }

    /// Decodes the line with the official types, and writes the event with the official AG-UI
    /// crate.
    pub fn official(&mut self, line: &str) {
        let message: OfficialUpdate = serde_json::from_str(line).expect("a message");
        self.say(message.into_inner().params.expect("params").update);
    }

    /// Decodes the line like the official SDK on its way to a handler.
    pub fn sdk(&mut self, line: &str) {
        let TransportFrame::Single(RawJsonRpcMessage::Notification(notification)) =
            TransportFrame::parse_json(line)
        else {
            panic!("not a notification")
        };
        let params = notification.params.map(|params| params.into_value());
        let message = UntypedMessage::new(&notification.method, params).expect("a message");
        let message = message.clone();
        let typed =
            official::SessionNotification::parse_message(message.method(), message.params());
        self.say(typed.expect("an update").update);
    }

    fn say(&mut self, update: official::SessionUpdate) {
        let event: ag_ui::Event = match update {
            official::SessionUpdate::AgentMessageChunk(official::ContentChunk {
                content: official::ContentBlock::Text(text),
                ..
            }) => TextMessageContentEvent::new(ID, text.text).into(),
            official::SessionUpdate::AgentThoughtChunk(official::ContentChunk {
                content: official::ContentBlock::Text(text),
                ..
            }) => ag_ui::event::ReasoningMessageContentEvent::new(ID, text.text).into(),
            _ => panic!("not text"),
        };
        let frame = ag_ui::SseFormatter::new().encode(&event).expect("bytes");
        self.out.extend_from_slice(&frame);
    }
}

thread_local! {
    /// Turns in progress, by path and case. They begin at the first run, which is not measured.
    static TURNS: RefCell<BTreeMap<(&'static str, &'static str), Turn>> = RefCell::default();
}

fn each(path: &'static str, case: &Case, take: fn(&mut Turn, &str)) -> usize {
    TURNS.with_borrow_mut(|turns| {
        let turn = turns.entry((path, case.name)).or_default();
        for Line { text, .. } in &case.lines {
            turn.out.clear();
            take(turn, black_box(text));
            black_box(&turn.out);
        }
    });
    case.lines.len()
}

/// Bytes of text in each chunk of [`turn`].
pub const TURN_TEXT: usize = " word 0".len();

/// Handles a turn of this number of chunks. Returns the number of written bytes.
pub fn turn(path: &str, pieces: usize) -> usize {
    let take = if path == "typed" { Turn::typed } else { Turn::hub };
    // A long turn is compacted.
    let mut turn = Turn { log: 1_000, ..Turn::default() };
    let mut written = 0;
    for number in 0..pieces {
        turn.out.clear();
        take(&mut turn, &corpus::chunk(AGENT, &format!(" word {}", number % 10)));
        written += turn.out.len();
    }
    written
}

/// Returns the text that all paths write for a case, which is the same.
pub fn said(case: &Case, take: fn(&mut Turn, &str)) -> Vec<String> {
    let mut turn = Turn::default();
    case.lines.iter().for_each(|line| take(&mut turn, &line.text));
    let body = String::from_utf8(turn.out).expect("UTF-8");
    let events = body.lines().filter_map(|line| line.strip_prefix("data: "));
    let events =
        events.map(|event| serde_json::from_str::<serde_json::Value>(event).expect("JSON"));
    events.filter_map(|event| event["delta"].as_str().map(str::to_owned)).collect()
}
