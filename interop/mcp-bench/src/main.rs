//! Cost of mcp-bridge, compared with rmcp. `mcp-bench` writes `RESULTS.md`. It runs itself under
//! callgrind, for each path with one and with more rounds, so that the difference does not include
//! the start of the program.
mod load;

use futures::executor::block_on;
use jsonrpc_core::wire::Raw;
use jsonrpc_core::{Message, Response};
use mcp_bridge::mcp::dispatch::ServerRequest;
use mcp_bridge::mcp::elicitation::{ElicitAction, ElicitResult};
use mcp_bridge::mcp::tools::{CallToolResult, ListToolsResult};
use mcp_bridge::plugin::{
    ElicitResponse, MemoryStore, NewCall, Outcome, PluginContext, PluginHost, PluginTool,
    Resumption, SuspendPolicy, Turn,
};
use mcp_bridge::seal::{SealedStates, StateKey};
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::error::Error;
use std::fmt::Write as _;
use std::hint::black_box;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

type Fallible = Result<(), Box<dyn Error>>;

/// A measured operation, with its name.
type Path = (&'static str, fn(&Inputs) -> Fallible);

/// All operations.
const PATHS: [Path; 9] = [
    ("result ours", result_ours),
    ("result rmcp", result_rmcp),
    ("list ours", list_ours),
    ("list rmcp", list_rmcp),
    ("elicitation ours", elicitation_ours),
    ("elicitation rmcp", elicitation_rmcp),
    ("session parked", |_| session(SuspendPolicy::Park)),
    ("session replayed", |_| session(SuspendPolicy::Replay)),
    ("session tokened", |_| session(token())),
];

/// Lines of a peer.
struct Inputs {
    result: String,
    list: String,
    elicitation: String,
}

impl Inputs {
    fn new() -> Self {
        let text = "A line of text with a few words, as tools give them.\n".repeat(8);
        let block = |index: usize| {
            let annotations = json!({ "audience": ["user"], "priority": 0.5 });
            json!({ "type": "text", "text": format!("{index}: {text}"), "annotations": annotations })
        };
        let content: Value = (0..400).map(block).collect();
        let result = json!({ "content": content, "isError": false });
        let tool = |index: usize| {
            let properties = json!({
                "path": { "type": "string", "description": "Where it is" },
                "depth": { "type": "integer", "minimum": 0 },
            });
            let schema =
                json!({ "type": "object", "properties": properties, "required": ["path"] });
            json!({ "name": format!("tool_{index}"), "description": "Does something", "inputSchema": schema })
        };
        let tools: Value = (0..1000).map(tool).collect();
        let schema = json!({ "type": "object", "properties": { "seat": { "type": "string" } }, "required": ["seat"] });
        let params = json!({ "message": "Which seat?", "requestedSchema": schema });
        let line =
            |result: Value| json!({ "jsonrpc": "2.0", "id": 1, "result": result }).to_string();
        let asked =
            json!({ "jsonrpc": "2.0", "id": 1, "method": "elicitation/create", "params": params });
        Self {
            result: line(result),
            list: line(json!({ "tools": tools })),
            elicitation: asked.to_string(),
        }
    }
}

fn result_of(line: &str) -> Result<Raw, Box<dyn Error>> {
    let Message::Response(response) = Message::decode(line)? else {
        return Err("a response".into());
    };
    Ok(Raw::from(response.outcome.map_err(|_| "a result")?))
}

fn result_ours(inputs: &Inputs) -> Fallible {
    let result: CallToolResult = result_of(&inputs.result)?.decode()?;
    black_box(result);
    Ok(())
}

fn result_rmcp(inputs: &Inputs) -> Fallible {
    black_box(serde_json::from_str::<ServerJsonRpcMessage>(&inputs.result)?);
    Ok(())
}

fn list_ours(inputs: &Inputs) -> Fallible {
    let list: ListToolsResult = result_of(&inputs.list)?.decode()?;
    let tools: Vec<_> = list.tools().map(|(_, tool)| tool).collect::<Result<_, _>>()?;
    black_box(tools);
    Ok(())
}

fn list_rmcp(inputs: &Inputs) -> Fallible {
    black_box(serde_json::from_str::<ServerJsonRpcMessage>(&inputs.list)?);
    Ok(())
}

/// Decodes the question and encodes the answer.
fn elicitation_ours(inputs: &Inputs) -> Fallible {
    let Message::Request(request) = Message::decode(&inputs.elicitation)? else {
        return Err("a request".into());
    };
    let question = ServerRequest::decode(&request.method, request.params)?;
    black_box(question);
    let mut result = ElicitResult::new(ElicitAction::Accept);
    result.content = Some(Raw::from_text(r#"{"seat":"12C"}"#)?.decode()?);
    let result = Raw::from_value(&result)?;
    let mut line = Vec::new();
    Message::from(Response::new(request.id, Ok(result.as_ref()))).to_line(&mut line);
    black_box(line);
    Ok(())
}

fn elicitation_rmcp(inputs: &Inputs) -> Fallible {
    let question: ServerJsonRpcMessage = serde_json::from_str(&inputs.elicitation)?;
    let ServerJsonRpcMessage::Request(request) = question else { return Err("a request".into()) };
    let result = rmcp::model::ElicitResult::new(rmcp::model::ElicitationAction::Accept)
        .with_content(json!({ "seat": "12C" }));
    let result = rmcp::model::ClientResult::ElicitResult(result);
    let response = ClientJsonRpcMessage::response(result, request.id.clone());
    black_box((request, serde_json::to_vec(&response)?));
    Ok(())
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Nothing {}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Text {
    text: String,
}

mcp_bridge::elicitations! {
    /// Two questions.
    Two handled by TwoHandlers {
        /// The first question.
        first: First = "first" (Nothing => Text),
        /// The second question.
        second: Second = "second" (Nothing => Text),
    }
}

async fn ask(
    _: Nothing,
    ctx: PluginContext<Two>,
) -> Result<String, mcp_bridge::plugin::PluginError> {
    let first = ctx.elicit::<First>("First?", &Nothing {}).await?;
    let second = ctx.elicit::<Second>("Second?", &Nothing {}).await?;
    match (first, second) {
        (ElicitResponse::Accept(first), ElicitResponse::Accept(second)) => {
            Ok(first.text + &second.text)
        }
        _ => Ok(String::new()),
    }
}

fn token() -> SuspendPolicy {
    let key = StateKey::new(1, [7; 32]);
    let nonce = |nonce: &mut [u8; 12]| nonce.fill(9);
    let states = SealedStates::new(key, Duration::from_secs(60), || Duration::ZERO, nonce);
    SuspendPolicy::Token { codec: Arc::new(states), is_single_use: false }
}

fn host(policy: SuspendPolicy) -> Result<PluginHost, Box<dyn Error>> {
    let tool = PluginTool::builder("ask", "1").elicits::<Two>().execute(ask)?;
    let store = Arc::new(MemoryStore::default());
    Ok(PluginHost::new([tool], policy, store, "a", Arc::new(|| Duration::ZERO)))
}

fn begin(host: &PluginHost) -> Result<String, Box<dyn Error>> {
    let session_id = "9c41";
    let call_id = "c";
    let tool = "ask";
    let principal = "ada";
    let call = NewCall {
        session_id,
        call_id,
        tool,
        arguments: Raw::from_text("{}")?,
        principal,
        meta: None,
    };
    match block_on(host.call(call, None))? {
        Turn::Asks { state, .. } => Ok(state),
        _ => Err("it asks".into()),
    }
}

/// A call with two questions, from beginning to end.
fn session(policy: SuspendPolicy) -> Fallible {
    let host = host(policy)?;
    let mut state = begin(&host)?;
    for key in ["first", "second"] {
        let answer = Raw::from_text(r#"{"action":"accept","content":{"text":"yes"}}"#)?;
        let answers = vec![(key.to_owned(), Outcome::Value(answer))];
        let tool = "ask";
        let arguments = None;
        let principal = "ada";
        let resumption = Resumption { state: &state, tool, arguments, principal, answers };
        match block_on(host.resume(resumption, None))? {
            Turn::Asks { state: next, .. } => state = next,
            done => drop(black_box(done)),
        }
    }
    Ok(())
}

/// Returns the number of instructions for this number of rounds.
fn instructions(path: &str, rounds: usize) -> Result<u64, Box<dyn Error>> {
    let run = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(std::env::current_exe()?)
        .args([path, &rounds.to_string()])
        .output()?;
    let text = String::from_utf8(run.stderr)?;
    let line = text.lines().find_map(|line| line.split_once("Collected : "));
    let (_, count) = line.ok_or_else(|| format!("no count: {text}"))?;
    Ok(count.trim().parse()?)
}

/// Returns the table of all paths, and the ratios.
fn paths(inputs: &Inputs) -> Result<String, Box<dyn Error>> {
    let mut table =
        "| path | instructions | allocations | bytes allocated |\n|---|---|---|---|\n".to_owned();
    let mut ratios = String::new();
    let mut before = [0.0; 3];
    for (path, run) in PATHS {
        run(inputs)?;
        let allocations = allocation_counter::measure(|| {
            run(inputs).unwrap_or_else(|error| eprintln!("{error}"))
        });
        let rounds = 11;
        let count = (instructions(path, rounds)? - instructions(path, 1)?) / (rounds as u64 - 1);
        let total = allocations.count_total;
        let bytes = allocations.bytes_total;
        writeln!(table, "| {path} | {count} | {total} | {bytes} |")?;
        let figures = [count, total, bytes].map(|figure| figure as f64);
        if let Some(name) = path.strip_suffix(" rmcp") {
            let [count, total, bytes] =
                [0, 1, 2].map(|index: usize| before[index] / figures[index]);
            writeln!(ratios, "| {name} | {count:.2} | {total:.2} | {bytes:.2} |")?;
        }
        before = figures;
    }
    Ok(format!(
        "{table}\n| mcp-bridge / rmcp | instructions | allocations | bytes allocated |\n|---|---|---|---|\n{ratios}"
    ))
}

/// Returns the memory of a waiting call.
fn waiting() -> Result<String, Box<dyn Error>> {
    let mut table = "| a call that waits for its first answer | bytes in memory | bytes with the client |\n|---|---|---|\n".to_owned();
    for policy in [SuspendPolicy::Park, SuspendPolicy::Replay, token()] {
        let name = format!("{policy:?}");
        let host = host(policy)?;
        let mut state = String::new();
        let kept = allocation_counter::measure(|| state = begin(&host).unwrap_or_default());
        let bytes = kept.bytes_current - state.capacity() as i64;
        writeln!(table, "| {name} | {bytes} | {} |", state.len())?;
    }
    Ok(table)
}

fn output(program: &str, arguments: &[&str]) -> Result<String, Box<dyn Error>> {
    Ok(String::from_utf8(Command::new(program).args(arguments).output()?.stdout)?.trim().to_owned())
}

fn main() -> Fallible {
    let inputs = Inputs::new();
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    if let [path, rounds] = &arguments[..] {
        let (_, run) = PATHS.iter().find(|(name, _)| name == path).ok_or("no such path")?;
        return (0..rounds.parse::<usize>()?).try_for_each(|_| run(&inputs));
    }
    let load = || std::fs::read_to_string("/proc/loadavg");
    let before = load()?;
    let (calls, refused) = load::table().map_err(|error| error as Box<dyn Error>)?;
    let after = load()?;
    let [before, after] =
        [before, after].map(|line| line.split(' ').next().unwrap_or_default().to_owned());
    let results = format!(
        "\
# Cost of mcp-bridge, compared with rmcp

Written by `cargo run --release -p mcp-bench` in `interop/` on {date}, {rustc}, {machine}, {processors} processors. rmcp has version
3.11.0. The program requires valgrind.

## Calls and sessions over HTTP

The same two tools in servers of both crates, without options, each as a process of its own. {CONNECTIONS} connections call `add`, which
returns structured content: up to 2025-11-25 in a session of each connection, since 2026-07-28 without sessions. {SESSIONS} more
sessions are opened in a new process. The servers run in turn, {ROUNDS} times, and the medians are compared. Clients use the
processors as well, and the load of the machine was {before} before the runs and {after} after them, so only ratios mean something, and
processor time is more reliable than the number of calls in a second.

{calls}
## Messages

Instructions are counted by callgrind, as the difference of a program with eleven rounds and one with one; allocations by
`allocation-counter`, in one round.

- `result`: the response of a call with 400 text blocks with annotations, about 200 KB, decoded to typed content.
- `list`: the response with 1,000 tools, decoded to typed tools. mcp-bridge decodes each on its own, and loses only an invalid one.
- `elicitation`: a question with a form is decoded, and the answer encoded.
- `session`: a call with two questions from its beginning to its end, with a new host and store. rmcp has no counterpart.

{paths}
{waiting}
A parked call has its record in the store too, so that it can be listed and aborted.
",
        date = output("date", &["+%Y-%m-%d"])?,
        rustc = output("rustc", &["--version"])?,
        machine = output("uname", &["-m"])?,
        processors = std::thread::available_parallelism()?,
        CONNECTIONS = load::CONNECTIONS,
        SESSIONS = load::SESSIONS,
        ROUNDS = load::ROUNDS,
        paths = paths(&inputs)?,
        waiting = waiting()?,
    );
    std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/RESULTS.md"), results)?;
    if refused > 0 {
        return Err(format!("{refused} calls were refused").into());
    }
    Ok(())
}
