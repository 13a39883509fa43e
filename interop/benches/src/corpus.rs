//! The cases: generated lines like those of agents and editors, deterministic, and recorded
//! sessions.
use jsonrpc_core::Kind;
use serde_json::json;
use serde_json::value::RawValue;

/// A sequence of lines.
pub struct Case {
    pub name: &'static str,
    pub lines: Vec<Line>,
    /// The lines with line ends.
    pub stream: Vec<u8>,
}

/// One message, with its kind for types that decode only one kind.
#[derive(Clone)]
pub struct Line {
    pub text: String,
    pub kind: Kind,
}

impl Line {
    fn new(text: String) -> Self {
        let kind = jsonrpc_core::peek(text.as_bytes()).expect("a message").kind();
        Self { text, kind }
    }
}

impl Case {
    /// Returns the length of all lines, without line ends.
    pub fn bytes(&self) -> usize {
        self.lines.iter().map(|line| line.text.len()).sum()
    }
}

const SESSION: &str = "sess_01JD8QZ5M3Y7C9V4K2N6T8R0XW";

/// The name of a case, and the function that generates its lines.
pub type Named = (&'static str, fn() -> Vec<String>);

/// All cases: mixes, then single messages by size.
pub const CASES: &[Named] = &[
    ("token_stream", || Mix::default().token_stream()),
    ("tool_heavy", || Mix::default().tool_heavy()),
    ("recorded", recorded),
    ("chunk", || often(chunk("agent_message_chunk", "The parser now keeps the number"))),
    ("chunk_taglast", || often(chunk_with_tags_last("The parser now keeps the number"))),
    ("chunk_esc", || {
        often(chunk("agent_message_chunk", "said:\n\t\"naïve — 5 €\"\n```rust\nfn main() {}\n```"))
    }),
    ("tool_call", || often(tool_call(1))),
    ("tool_update", || often(tool_update(1))),
    ("plan", || often(plan(6))),
    ("request", || often(permission())),
    ("response", || {
        often(json!({"jsonrpc": "2.0", "id": 4, "result": {"stopReason": "end_turn"}}).to_string())
    }),
    ("error", || often(error())),
    ("diff_10k", || often(diff(10_000))),
    ("diff_200k", || often(diff(200_000))),
    ("fs_read_256k", || often(response_of(250_000))),
    ("fs_read_1m", || often(response_of(1_000_000))),
    ("image_4m", || often(image())),
    ("fs_read_16m", || often(response_of(15_800_000))),
];

/// Returns the case with this name.
pub fn case(name: &str) -> Case {
    let mut all = CASES.iter().chain(crate::translate_paths::CASES);
    let (name, lines) = all.find(|(known, _)| *known == name).expect("a case");
    let lines: Vec<_> = lines().into_iter().map(Line::new).collect();
    let stream = lines.iter().flat_map(|line| [line.text.as_bytes(), b"\n"].concat()).collect();
    Case { name, lines, stream }
}

/// Repeats one message, so that the setup of a path is negligible.
fn often(text: String) -> Vec<String> {
    let copies = (200_000 / text.len()).clamp(1, 100);
    vec![text; copies]
}

/// Deterministic pseudo-random numbers.
#[derive(Default)]
struct Mix(u64);

impl Mix {
    fn draw(&mut self, below: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }

    fn words(&mut self) -> String {
        const WORDS: [&str; 12] = [
            "the", "parser", "keeps", "a", "number", "as", "it", "was", "written,", "so",
            "nothing", "changes",
        ];
        let count = 3 + self.draw(5);
        (0..count).map(|_| format!(" {}", WORDS[self.draw(12) as usize])).collect()
    }

    fn chunk(&mut self, kind: &str) -> String {
        let words = self.words();
        let text = if self.draw(12) == 0 { format!("{words}\n\n\"{words}\"") } else { words };
        chunk(kind, &text)
    }

    /// 85 % chunks of the message, 10 % of thoughts, 2 % each tool calls and their updates, some
    /// diffs and plans.
    fn token_stream(mut self) -> Vec<String> {
        let line = |_| match self.draw(200) {
            0..170 => self.chunk("agent_message_chunk"),
            170..190 => self.chunk("agent_thought_chunk"),
            190..194 => tool_call(self.draw(90)),
            194..198 => tool_update(self.draw(90)),
            198 => diff(2_000),
            _ => plan(4),
        };
        (0..1000).map(line).collect()
    }

    /// 40 % chunks, 15 % tool calls, 25 % updates, 15 % diffs of 10 KB, 1 % of 200 KB, 4 % plans.
    fn tool_heavy(mut self) -> Vec<String> {
        let line = |_| match self.draw(100) {
            0..40 => self.chunk("agent_message_chunk"),
            40..55 => tool_call(self.draw(90)),
            55..80 => tool_update(self.draw(90)),
            80..95 => diff(10_000),
            95 => diff(200_000),
            _ => plan(6),
        };
        (0..1000).map(line).collect()
    }
}

/// Returns a notification with this update.
pub fn update(update: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"{SESSION}","update":{update}}}}}"#
    )
}

/// Returns a chunk of text in this kind of update.
pub fn chunk(kind: &str, text: &str) -> String {
    let text = json!(text);
    update(&format!(r#"{{"sessionUpdate":"{kind}","content":{{"type":"text","text":{text}}}}}"#))
}

/// Returns a chunk as pydantic writes it: members of a subclass last.
pub fn chunk_with_tags_last(text: &str) -> String {
    let text = json!(text);
    update(&format!(
        r#"{{"content":{{"text":{text},"type":"text"}},"sessionUpdate":"agent_message_chunk"}}"#
    ))
}

/// Returns a numbered chunk, so that lines differ in more than one string.
pub fn numbered_chunk(text: &str, number: usize) -> String {
    let line = chunk("agent_message_chunk", text);
    line.replacen(r#""params":{"#, &format!(r#""params":{{"_meta":{{"number":{number}}},"#), 1)
}

/// Returns chunks of one message with different words.
pub fn pieces(write: impl Fn(&str, usize) -> String) -> Vec<String> {
    let mut mix = Mix::default();
    (0..1000).map(|number| write(&mix.words(), number)).collect()
}

fn tool_call(number: u64) -> String {
    update(&format!(
        r#"{{"sessionUpdate":"tool_call","toolCallId":"call_{number:08}","title":"Edit src/parser/number.rs","kind":"edit","status":"pending","rawInput":{{"path":"/home/user/project/src/parser/number.rs","mode":"replace","range":[{number},120]}},"locations":[{{"path":"/home/user/project/src/parser/number.rs","line":{number}}}]}}"#
    ))
}

fn tool_update(number: u64) -> String {
    update(&format!(
        r#"{{"sessionUpdate":"tool_call_update","toolCallId":"call_{number:08}","status":"in_progress"}}"#
    ))
}

fn plan(entries: usize) -> String {
    let entry = r#"{"content":"Keep numbers as they were written, and compare them by value","priority":"high","status":"pending"}"#;
    update(&format!(r#"{{"sessionUpdate":"plan","entries":[{}]}}"#, vec![entry; entries].join(",")))
}

/// Returns source code of this length.
pub fn code(bytes: usize) -> String {
    let line = "    let value = parse(\"number\", input)?;\n        // as it was written\n";
    line.repeat(bytes / line.len() + 1)
}

fn diff(bytes: usize) -> String {
    let old = json!(code(bytes / 2));
    let new = json!(code(bytes / 2));
    update(&format!(
        r#"{{"sessionUpdate":"tool_call_update","toolCallId":"call_1","status":"completed","content":[{{"type":"diff","path":"/home/user/project/src/parser.rs","oldText":{old},"newText":{new}}}]}}"#
    ))
}

fn permission() -> String {
    json!({"jsonrpc": "2.0", "id": 12, "method": "session/request_permission", "params": {"sessionId": SESSION,
        "toolCall": {"toolCallId": "call_1", "title": "Run cargo test", "kind": "execute", "rawInput": {"command": ["cargo", "test"]}},
        "options": [{"optionId": "allow", "name": "Allow once", "kind": "allow_once"},
            {"optionId": "always", "name": "Always allow", "kind": "allow_always"},
            {"optionId": "reject", "name": "Reject", "kind": "reject_once"}]}}).to_string()
}

fn error() -> String {
    json!({"jsonrpc": "2.0", "id": 4, "error": {"code": -32601, "message": "Method not found", "data": {"method": "x"}}}).to_string()
}

fn image() -> String {
    let data = "iVBORw0KGgoAAAANSUhEUgAA".repeat(4_000_000 / 24);
    json!({"jsonrpc": "2.0", "id": 7, "method": "session/prompt", "params":
        {"sessionId": SESSION, "prompt": [{"type": "image", "mimeType": "image/png", "data": data}]}}).to_string()
}

fn response_of(bytes: usize) -> String {
    json!({"jsonrpc": "2.0", "id": 9, "result": {"content": code(bytes)}}).to_string()
}

/// Returns the messages of recorded sessions with real agents, unchanged.
fn recorded() -> Vec<String> {
    #[derive(serde::Deserialize)]
    struct Record<'a> {
        #[serde(borrow)]
        message: &'a RawValue,
    }

    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../oracles/tests/fixtures");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).expect("fixtures").flatten().map(|file| file.path()).collect();
    files.retain(|file| file.extension().is_some_and(|name| name == "jsonl"));
    files.sort();
    let texts = files.iter().map(|file| std::fs::read_to_string(file).expect("a fixture"));
    let messages = texts.flat_map(|text| {
        let read = |line| {
            serde_json::from_str::<Record<'_>>(line).expect("a record").message.get().to_owned()
        };
        text.lines().map(read).collect::<Vec<_>>()
    });
    messages.collect()
}
