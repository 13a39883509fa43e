//! Paths that decode and encode ACP messages as types. The method of each line is known in advance.
use crate::corpus::{Case, Line};
use crate::paths::Path;
use acp_types::methods::{NotificationParams as _, RequestParams as _};
use acp_types::v1::file_system::ReadTextFileResponse;
use acp_types::v1::prompt_turn::{PromptRequest, SessionNotification};
use acp_types::v1::tool_calls::RequestPermissionRequest;
use agent_client_protocol::{
    JsonRpcMessage as _, RawJsonRpcMessage, TransportFrame, UntypedMessage,
};
use agent_client_protocol_schema::rpc::{JsonRpcMessage, Notification};
use agent_client_protocol_schema::v1 as official;
use jsonrpc_core::{Kind, Message, RequestId, peek, wire};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::hint::black_box;
use std::sync::{Arc, Mutex};

/// Compared paths. The first is the base of each ratio.
pub const OFFICIAL: &str = "acp schema, method known";
pub const SDK: &str = "acp SDK, typed";
pub const OWNED: &str = "ours: envelope, then by method";
pub const OFFICIAL_WRITE: &str = "acp schema, to_vec";
pub const WRITE: &str = "ours: written into a buffer";

/// Cases with messages that have a type in both crates.
pub const CASES: &[&str] = &[
    "token_stream",
    "tool_heavy",
    "chunk",
    "chunk_taglast",
    "chunk_esc",
    "tool_call",
    "tool_update",
    "plan",
    "request",
    "diff_10k",
    "diff_200k",
    "fs_read_1m",
    "image_4m",
];

/// Cases that consist of session updates.
fn is_updates(case: &Case) -> bool {
    case.lines.iter().all(|line| line.text.contains(r#""session/update""#))
}

fn is_typed(case: &Case) -> bool {
    CASES.contains(&case.name)
}

/// Returns all paths.
pub fn paths() -> Vec<Path> {
    let path = |name, run, fits| Path { name, run, fits };
    vec![
        path(OFFICIAL, |case| each(case, official_typed), is_typed),
        path(SDK, |case| each(case, sdk), is_updates),
        path(OWNED, |case| each(case, owned), is_typed),
        path(
            OFFICIAL_WRITE,
            |case| OFFICIAL_VALUES.write(case, |value, out| *out = value.to_vec()),
            is_typed,
        ),
        path(WRITE, |case| OWN_VALUES.write(case, Own::write), is_typed),
    ]
}

/// Decodes each line and drops the result.
fn each(case: &Case, read: fn(&Line)) -> usize {
    for line in &case.lines {
        read(black_box(line));
    }
    case.lines.len()
}

/// Kinds of messages in the cases.
fn with<T>(
    line: &Line,
    update: impl FnOnce() -> T,
    permission: impl FnOnce() -> T,
    prompt: impl FnOnce() -> T,
    file: impl FnOnce() -> T,
) -> T {
    match line.kind {
        Kind::Notification => update(),
        Kind::Response => file(),
        Kind::Request if line.text.len() < 10_000 => permission(),
        Kind::Request => prompt(),
    }
}

type OfficialUpdate = JsonRpcMessage<Notification<official::SessionNotification>>;
type OfficialRequest<T> = JsonRpcMessage<official::Request<T>>;
type OfficialResponse<T> = JsonRpcMessage<official::Response<T>>;

fn json<T: DeserializeOwned>(line: &Line) -> T {
    serde_json::from_str(&line.text).expect("a message")
}

fn official_typed(line: &Line) {
    with(
        line,
        || drop(black_box(json::<OfficialUpdate>(line))),
        || drop(black_box(json::<OfficialRequest<official::RequestPermissionRequest>>(line))),
        || drop(black_box(json::<OfficialRequest<official::PromptRequest>>(line))),
        || drop(black_box(json::<OfficialResponse<official::ReadTextFileResponse>>(line))),
    );
}

/// Decodes a notification like the SDK on its way to a handler.
fn sdk(line: &Line) {
    let TransportFrame::Single(RawJsonRpcMessage::Notification(notification)) =
        TransportFrame::parse_json(&line.text)
    else {
        panic!("not a notification")
    };
    let params = notification.params.map(|params| params.into_value());
    let message = UntypedMessage::new(&notification.method, params).expect("a message");
    let message = message.clone();
    let typed = official::SessionNotification::parse_message(message.method(), message.params());
    drop(black_box(typed.expect("an update")));
}

fn owned(line: &Line) {
    match Message::decode(&line.text).expect("a message") {
        Message::Notification(message) => {
            drop(black_box(
                wire::decode::<SessionNotification>(message.params.expect("params").get())
                    .expect("an update"),
            ));
        }
        Message::Request(message) if line.text.len() < 10_000 => {
            drop(black_box(
                wire::decode::<RequestPermissionRequest>(message.params.expect("params").get())
                    .expect("a question"),
            ));
        }
        Message::Request(message) => {
            drop(black_box(
                wire::decode::<PromptRequest>(message.params.expect("params").get())
                    .expect("a prompt"),
            ));
        }
        Message::Response(message) => {
            drop(black_box(
                wire::decode::<ReadTextFileResponse>(message.outcome.expect("a result").get())
                    .expect("a file"),
            ));
        }
    }
}

/// Values to encode, by case. They are decoded at the first run, which is not measured.
struct Values<T> {
    read: fn(&Case) -> Vec<T>,
    of_case: Mutex<BTreeMap<&'static str, Arc<Vec<T>>>>,
}

static OFFICIAL_VALUES: Values<Official> = Values::new(official_values);
static OWN_VALUES: Values<Own> = Values::new(own_values);

impl<T> Values<T> {
    const fn new(read: fn(&Case) -> Vec<T>) -> Self {
        Self { read, of_case: Mutex::new(BTreeMap::new()) }
    }

    /// Encodes each value into the same buffer.
    fn write(&self, case: &Case, write: fn(&T, &mut Vec<u8>)) -> usize {
        let mut known = self.of_case.lock().expect("nobody panicked");
        let values =
            Arc::clone(known.entry(case.name).or_insert_with(|| Arc::new((self.read)(case))));
        drop(known);
        let longest = case.lines.iter().map(|line| line.text.len()).max();
        let mut out = Vec::with_capacity(longest.unwrap_or_default() + 1024);
        for value in &*values {
            out.clear();
            write(black_box(value), &mut out);
            black_box(&out);
        }
        values.len()
    }
}

enum Official {
    Update(OfficialUpdate),
    Permission(OfficialRequest<official::RequestPermissionRequest>),
    Prompt(OfficialRequest<official::PromptRequest>),
    File(OfficialResponse<official::ReadTextFileResponse>),
}

impl Official {
    fn to_vec(&self) -> Vec<u8> {
        fn json<T: Serialize>(value: &T) -> Vec<u8> {
            serde_json::to_vec(value).expect("JSON")
        }
        match self {
            Self::Update(value) => json(value),
            Self::Permission(value) => json(value),
            Self::Prompt(value) => json(value),
            Self::File(value) => json(value),
        }
    }
}

fn official_values(case: &Case) -> Vec<Official> {
    let read = |line: &Line| {
        with(
            line,
            || Official::Update(json(line)),
            || Official::Permission(json(line)),
            || Official::Prompt(json(line)),
            || Official::File(json(line)),
        )
    };
    case.lines.iter().map(read).collect()
}

enum Own {
    Update(SessionNotification),
    Permission(RequestId, RequestPermissionRequest),
    Prompt(RequestId, PromptRequest),
    File(RequestId, ReadTextFileResponse),
}

impl Own {
    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Update(value) => write_call(SessionNotification::METHOD, None, value, out),
            Self::Permission(id, value) => {
                write_call(RequestPermissionRequest::METHOD, Some(id), value, out);
            }
            Self::Prompt(id, value) => write_call(PromptRequest::METHOD, Some(id), value, out),
            Self::File(id, value) => {
                out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
                wire::write(id, out);
                out.extend_from_slice(br#","result":"#);
                wire::write(value, out);
            }
        }
        out.extend_from_slice(b"}\n");
    }
}

/// Writes a call up to its params, without the closing brace.
fn write_call(
    method: &'static str,
    id: Option<&RequestId>,
    params: &dyn wire::Wire,
    out: &mut Vec<u8>,
) {
    out.extend_from_slice(br#"{"jsonrpc":"2.0""#);
    if let Some(id) = id {
        out.extend_from_slice(br#","id":"#);
        wire::write(id, out);
    }
    out.extend_from_slice(br#","method":"#);
    wire::write(&Cow::Borrowed(method), out);
    out.extend_from_slice(br#","params":"#);
    wire::write(params, out);
}

fn own_values(case: &Case) -> Vec<Own> {
    let read = |line: &Line| {
        let text = &*line.text;
        let peek = peek(text.as_bytes()).expect("a message");
        let id = peek.request_id();
        let params = peek.params().or(peek.result()).expect("a payload");
        with(
            line,
            || Own::Update(wire::decode(params).expect("an update")),
            || {
                Own::Permission(
                    id.clone().expect("an id"),
                    wire::decode(params).expect("a question"),
                )
            },
            || Own::Prompt(id.clone().expect("an id"), wire::decode(params).expect("a prompt")),
            || Own::File(id.clone().expect("an id"), wire::decode(params).expect("a file")),
        )
    };
    case.lines.iter().map(read).collect()
}
