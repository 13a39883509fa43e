//! Agents for the tests of the bridge, selected by the first argument.

use serde_json::{Value, json};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, StdinLock, Write};
use std::process::{Command, ExitCode, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;

fn main() -> ExitCode {
    let agent = std::env::args().nth(1);
    let file = std::env::args().nth(2);
    if agent.as_deref() == Some("demo") {
        return demo_agent::run_stdio();
    }
    if let (Some("recorded-demo"), Some(file)) = (agent.as_deref(), &file) {
        return record(file).map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS);
    }
    let mut stdin = io::stdin().lock();
    let ended = match agent.as_deref() {
        Some("v1") => serve(&mut stdin, v1),
        Some("v2") => serve(&mut stdin, v2),
        Some("v3") => serve(&mut stdin, v3),
        Some("bytes") => bytes(&mut stdin),
        Some("exit") => return ExitCode::from(7),
        Some("stay") => loop {
            std::thread::park();
        },
        _ => Err(io::ErrorKind::InvalidInput.into()),
    };
    ended.map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS)
}

/// Runs the demo agent, and writes its input and output to a file, with `>` or `<` before each
/// line.
fn record(file: &str) -> io::Result<()> {
    let file = Mutex::new(File::create(file)?);
    let write = |mark: &str, line: &str| {
        writeln!(file.lock().unwrap_or_else(PoisonError::into_inner), "{mark}{line}")
    };
    let mut agent = Command::new(std::env::current_exe()?);
    let mut agent = agent.arg("demo").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let to = agent.stdin.take();
    let from = agent.stdout.take();
    let (Some(mut to), Some(from)) = (to, from) else {
        return Err(io::ErrorKind::BrokenPipe.into());
    };
    thread::scope(|scope| {
        scope.spawn(move || -> io::Result<()> {
            for line in io::stdin().lines() {
                let line = line?;
                write(">", &line)?;
                writeln!(to, "{line}")?;
            }
            Ok(())
        });
        for line in BufReader::new(from).lines() {
            let line = line?;
            write("<", &line)?;
            writeln!(io::stdout(), "{line}")?;
        }
        agent.wait().map(drop)
    })
}

/// Answers each message of the client.
fn serve(stdin: &mut StdinLock<'_>, answer: fn(&Value) -> Vec<Value>) -> io::Result<()> {
    for line in stdin.lines() {
        let message: Value = serde_json::from_str(&line?)?;
        for line in answer(&message) {
            writeln!(io::stdout(), "{line}")?;
        }
    }
    Ok(())
}

fn result(message: &Value, result: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": message["id"], "result": result})
}

fn update(update: &Value) -> Value {
    json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": update}})
}

fn options() -> Value {
    json!([{"optionId": "y", "name": "Yes", "kind": "allow_once"}])
}

/// An agent of version 2 that runs a command with permission in each turn.
fn v2(message: &Value) -> Vec<Value> {
    let state = |state: &Value| {
        let mut update = state.as_object().cloned().unwrap_or_default();
        update.insert("sessionUpdate".to_owned(), json!("state_update"));
        self::update(&update.into())
    };
    match message["method"].as_str() {
        Some("initialize") => vec![result(
            message,
            &json!({"protocolVersion": 2, "info": {"name": "two", "version": "1"}, "capabilities": {"session": {}}}),
        )],
        Some("session/new") => vec![result(message, &json!({"sessionId": "s"}))],
        Some("session/prompt") => vec![
            state(&json!({"state": "running"})),
            update(
                &json!({"sessionUpdate": "user_message", "messageId": "u", "content": message.pointer("/params/prompt")}),
            ),
            result(message, &json!({"messageId": "u"})),
            update(
                &json!({"sessionUpdate": "terminal_update", "terminalId": "t", "command": "ls"}),
            ),
            update(
                &json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "title": "List", "content": [{"type": "terminal", "terminalId": "t"}]}),
            ),
            state(&json!({"state": "requires_action"})),
            json!({"jsonrpc": "2.0", "id": 70, "method": "session/request_permission", "params": {
                "sessionId": "s", "title": "Run?", "options": options(),
                "subject": {"type": "tool_call", "toolCall": {"toolCallId": "c"}},
            }}),
        ],
        None if message["id"] == 70 => vec![
            state(&json!({"state": "running"})),
            update(
                &json!({"sessionUpdate": "terminal_output_chunk", "terminalId": "t", "data": "Zgo="}),
            ),
            update(
                &json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed"}),
            ),
            update(
                &json!({"sessionUpdate": "agent_message", "messageId": "m", "content": [{"type": "text", "text": "Done."}]}),
            ),
            state(&json!({"state": "idle", "stopReason": "end_turn"})),
        ],
        _ => Vec::new(),
    }
}

/// An agent of version 1 that edits a file with permission in each turn. It names version 2,
/// whatever was offered.
fn v1(message: &Value) -> Vec<Value> {
    match message["method"].as_str() {
        Some("initialize") => {
            vec![result(message, &json!({"protocolVersion": 2, "agentCapabilities": {}}))]
        }
        Some("session/new") => vec![result(message, &json!({"sessionId": "s"}))],
        Some("session/prompt") => vec![
            update(
                &json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "Edit", "content": [
                    {"type": "diff", "path": "/f", "oldText": "a\n", "newText": "b\n"},
                ]}),
            ),
            json!({"jsonrpc": "2.0", "id": 70, "method": "session/request_permission", "params": {
                "sessionId": "s", "toolCall": {"toolCallId": "c"}, "options": options(),
            }}),
            update(
                &json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": message["id"].to_string()}}),
            ),
        ],
        None if message["id"] == 70 => {
            vec![result(&json!({"id": "p"}), &json!({"stopReason": "end_turn"}))]
        }
        _ => Vec::new(),
    }
}

fn v3(message: &Value) -> Vec<Value> {
    vec![result(message, &json!({"protocolVersion": 3, "info": {"name": "three", "version": "1"}}))]
}

/// An agent of version 1 that repeats all bytes after `initialize`.
fn bytes(stdin: &mut StdinLock<'_>) -> io::Result<()> {
    let mut line = Vec::new();
    stdin.read_until(b'\n', &mut line)?;
    let mut stdout = io::stdout();
    stdout.write_all(b"{ \"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"protocolVersion\":1} }\r\n")?;
    stdout.write_all(&line)?;
    let mut rest = Vec::new();
    stdin.read_to_end(&mut rest)?;
    stdout.write_all(&rest)
}
