//! Lines of agents, deterministic.
use serde_json::json;

/// Returns lines to be repeated.
pub fn lines(case: &str) -> Vec<String> {
    match case {
        "token_stream" => (0..1000).map(token_stream).collect(),
        "tool_heavy" => (0..1000).map(tool_heavy).collect(),
        "chunk" => vec![chunk("agent_message_chunk", 0); 1000],
        "image_4m" => vec![image()],
        _ => panic!("no such case: {case}"),
    }
}

/// Of 1,000: 85 % message chunks, 10 % thoughts, 2 % tool calls, 2 % updates of them, 0.5 % diffs
/// of 2 KB, 0.5 % plans.
fn token_stream(at: usize) -> String {
    match at % 200 {
        30 | 80 | 130 | 180 => tool_call(at),
        40 | 90 | 140 | 190 => tool_update(at),
        100 => diff(2_000),
        150 => plan(),
        at if at % 10 == 5 => chunk("agent_thought_chunk", at),
        at => chunk("agent_message_chunk", at),
    }
}

/// Of 1,000: 40 % chunks, 15 % tool calls, 25 % updates of them, 15 % diffs of 10 KB, 1 % diffs of
/// 200 KB, 4 % plans.
fn tool_heavy(at: usize) -> String {
    match at % 100 {
        0..40 => chunk("agent_message_chunk", at),
        40..55 => tool_call(at),
        55..80 => tool_update(at),
        80..95 => diff(10_000),
        95 => diff(200_000),
        _ => plan(),
    }
}

fn update(update: &serde_json::Value) -> String {
    let params = json!({"sessionId": "sess_01JD8QZ5M3Y7C9V4K2N6T8R0XW", "update": update});
    json!({"jsonrpc": "2.0", "method": "session/update", "params": params}).to_string()
}

fn chunk(kind: &str, at: usize) -> String {
    let text = &"The parser now keeps the number of lines"[..30 + at % 10];
    update(&json!({"sessionUpdate": kind, "content": {"type": "text", "text": text}}))
}

fn tool_call(at: usize) -> String {
    update(
        &json!({"sessionUpdate": "tool_call", "toolCallId": format!("call_{}", at / 50), "title": "Run cargo test",
        "kind": "execute", "status": "pending", "rawInput": {"command": ["cargo", "test"], "cwd": "/home/user/project"},
        "locations": [{"path": "/home/user/project/src/parser.rs", "line": 12}]}),
    )
}

fn tool_update(at: usize) -> String {
    let id = format!("call_{}", at / 50);
    update(&json!({"sessionUpdate": "tool_call_update", "toolCallId": id, "status": "completed"}))
}

fn diff(bytes: usize) -> String {
    let code = "    let \"word\" = parse(input)?;\n".repeat(bytes / 2 / 32);
    let diff = json!({"type": "diff", "path": "/home/user/project/src/parser.rs", "oldText": code, "newText": code});
    update(&json!({"sessionUpdate": "tool_call_update", "toolCallId": "call_1", "content": [diff]}))
}

fn plan() -> String {
    let entry = json!({"content": "Read what is there and say what is wrong with it", "priority": "high", "status": "pending"});
    update(&json!({"sessionUpdate": "plan", "entries": vec![entry; 6]}))
}

fn image() -> String {
    let data = "iVBORw0KGgoAAAANSUhEUgAA".repeat(4_000_000 / 24);
    update(
        &json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "image", "mimeType": "image/png", "data": data}}),
    )
}
