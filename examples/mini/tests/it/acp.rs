//! The agent and the client, and an AG-UI agent in place of the agent.
use crate::programs::{
    AGENT, AGUI_SERVER, CLIENT, EDITOR_AGENT, PATIENCE, Server, command, printed, run, stderr,
    stdout,
};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::time::timeout;

#[tokio::test]
async fn answer_is_printed() {
    let turn = run(CLIENT, &["Hello", "there", "--", AGENT], b"").await;
    assert_eq!(printed(&turn), "You wrote: Hello there\n");
}

#[tokio::test]
async fn permitted_call_is_executed() {
    let turn = run(CLIENT, &["remember", "the", "milk", "--", AGENT], b"1\n").await;
    assert_eq!(printed(&turn), "I keep 1 of your notes.\n");
    let shown = stderr(&turn);
    assert!(shown.contains("[pending] Remember: the milk"), "{shown}");
    assert!(shown.contains("[completed] note-1"), "{shown}");
}

#[tokio::test]
async fn further_sessions_replace_the_oldest() {
    let mut agent = command(AGENT, &[""; 0]).spawn().expect("the agent starts");
    let mut input = agent.stdin.take().expect("an input");
    let mut lines = BufReader::new(agent.stdout.take().expect("an output")).lines();
    let mut call = async |id: u32, method: &str, params: Value| {
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        input.write_all(format!("{request}\n").as_bytes()).await.expect("the agent reads");
        loop {
            let line = timeout(PATIENCE, lines.next_line()).await.expect("a response in time");
            let line = line.expect("readable output").expect("a line");
            let message: Value = serde_json::from_str(&line).expect("JSON");
            if message["id"] == id {
                return message;
            }
        }
    };
    let initialized = call(0, "initialize", json!({ "protocolVersion": 1 })).await;
    let capabilities = &initialized["result"]["agentCapabilities"]["sessionCapabilities"];
    assert!(capabilities["close"].is_object(), "{initialized}");
    let mut sessions = Vec::new();
    for id in 1..=257 {
        let opened = call(id, "session/new", json!({ "cwd": "/", "mcpServers": [] })).await;
        sessions.push(opened["result"]["sessionId"].clone());
    }
    let prompt = json!([{ "type": "text", "text": "Hello" }]);
    let say = |session: &Value| json!({ "sessionId": session, "prompt": prompt });
    let forgotten = call(300, "session/prompt", say(&sessions[0])).await;
    assert_eq!(forgotten["error"]["code"], -32002, "{forgotten}");
    assert_eq!(forgotten["error"]["data"]["sessionId"], sessions[0]);
    let last = call(301, "session/prompt", say(&sessions[256])).await;
    assert_eq!(last["result"]["stopReason"], "end_turn", "{last}");
    let closed = call(302, "session/close", json!({ "sessionId": sessions[256] })).await;
    assert!(closed["result"].is_object(), "{closed}");
    let gone = call(303, "session/prompt", say(&sessions[256])).await;
    assert_eq!(gone["error"]["code"], -32002, "{gone}");
    agent.kill().await.expect("the agent ends");
}

#[tokio::test]
async fn rejected_call_fails() {
    let turn = run(CLIENT, &["remember", "the", "milk", "--", AGENT], b"2\n").await;
    assert_eq!(printed(&turn), "I have not kept the note.\n");
    assert!(stderr(&turn).contains("[failed] note-1"));
}

#[tokio::test]
async fn unanswered_question_cancels_the_turn() {
    let turn = run(CLIENT, &["remember", "the", "milk", "--", AGENT], b"").await;
    assert_eq!(turn.status.code(), Some(1));
    assert!(stderr(&turn).contains("the turn ended with cancelled"));
}

#[tokio::test]
async fn missing_agent_is_reported() {
    let turn = run(CLIENT, &["Hello", "--", "/no/such/agent"], b"").await;
    assert_eq!(turn.status.code(), Some(1));
    assert!(stderr(&turn).starts_with("mini-client: /no/such/agent: "));
}

#[tokio::test]
async fn cancelled_turn_ends_early() {
    let mut agent = command(AGENT, &[""; 0]).spawn().expect("the agent starts");
    let mut input = agent.stdin.take().expect("an input");
    let mut lines = BufReader::new(agent.stdout.take().expect("an output")).lines();
    let mut requests = String::new();
    let prompt = [json!({ "type": "text", "text": "word ".repeat(10_000) })];
    for request in [
        json!({ "id": 0, "method": "initialize", "params": { "protocolVersion": 1 } }),
        json!({ "id": 1, "method": "session/new", "params": { "cwd": "/", "mcpServers": [] } }),
        json!({
            "id": 2,
            "method": "session/prompt",
            "params": { "sessionId": "session-00000001", "prompt": prompt },
        }),
    ] {
        requests += &format!("{}\n", with_version(request));
    }
    input.write_all(requests.as_bytes()).await.expect("the agent reads");

    let mut is_cancelled = false;
    let response = timeout(PATIENCE, async {
        while let Some(line) = lines.next_line().await.expect("a line") {
            let message: Value = serde_json::from_str(&line).expect("JSON");
            if message["id"] == 2 {
                return message;
            }
            if message["method"] == "session/update" && !is_cancelled {
                is_cancelled = true;
                let params = json!({ "sessionId": "session-00000001" });
                let cancel = json!({ "method": "session/cancel", "params": params });
                let line = format!("{}\n", with_version(cancel));
                input.write_all(line.as_bytes()).await.expect("the agent reads");
            }
        }
        panic!("no response");
    });
    let response = response.await.expect("the turn ends in time");
    assert_eq!(response["result"]["stopReason"], "cancelled");

    drop(input);
    let status = timeout(PATIENCE, agent.wait()).await.expect("the agent exits in time");
    assert!(status.expect("a status").success());
}

fn with_version(mut message: Value) -> Value {
    message["jsonrpc"] = json!("2.0");
    message
}

#[tokio::test]
async fn editor_drives_an_agui_agent() {
    let server = Server::start(AGUI_SERVER, &[]).await;
    let words = ["paint", "the", "door", "--", EDITOR_AGENT, &server.url];
    let turn = run(CLIENT, &words, b"1\n").await;
    let text = printed(&turn);
    assert!(text.starts_with("I have the brush in my hand."), "{text}");
    assert!(text.contains("The door is white now."), "{text}");
    assert!(stderr(&turn).contains("The agent asks for permission"));
}

#[tokio::test]
async fn unreachable_agui_agent_fails_the_turn() {
    let words = ["paint", "--", EDITOR_AGENT, "http://127.0.0.1:1/"];
    let turn = run(CLIENT, &words, b"").await;
    assert_eq!(turn.status.code(), Some(1));
    assert!(stderr(&turn).contains("error sending request"), "{}", stderr(&turn));
    assert_eq!(stdout(&turn), "");
}
