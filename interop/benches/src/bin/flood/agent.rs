//! An ACP agent on stdin and stdout that answers a prompt `flood N` with N token chunks, as fast as
//! they are read.
use serde_json::{Value, json};
use std::io::{BufRead, Write};

/// Words of the answer, one for each chunk, as JSON text without quotes.
pub const WORDS: [&str; 8] =
    ["Each ", "chunk ", "has ", "one ", "word, ", "as ", "models ", "write:\\n"];

/// Number of chunks in one write.
const CHUNKS_A_WRITE: usize = 1000;

pub fn serve() {
    let mut output = std::io::stdout().lock();
    let mut sessions = 0;
    for line in std::io::stdin().lock().lines() {
        let message: Value = serde_json::from_str(&line.expect("a line")).expect("JSON");
        let Some(id) = message.get("id") else { continue };
        let result = match message["method"].as_str() {
            Some("initialize") => json!({ "protocolVersion": 1, "agentCapabilities": {} }),
            Some("session/new") => {
                sessions += 1;
                json!({ "sessionId": format!("session-{sessions}") })
            }
            Some("session/prompt") => {
                flood(&message["params"], &mut output);
                json!({ "stopReason": "end_turn" })
            }
            _ => json!({}),
        };
        writeln!(output, r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#).expect("a reader");
        output.flush().expect("a reader");
    }
}

/// Writes the number of chunks that the prompt requests.
fn flood(prompt: &Value, output: &mut impl Write) {
    let session = &prompt["sessionId"];
    let text = prompt["prompt"][0]["text"].as_str();
    let chunks = text.and_then(|text| text.trim().strip_prefix("flood ")?.parse().ok());
    let chunks: usize = chunks.expect("`flood` and a number");
    let lines: String = WORDS.iter().cycle().take(CHUNKS_A_WRITE).map(|word| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":{session},"update":{{"sessionUpdate":"agent_message_chunk","content":{{"type":"text","text":"{word}"}}}}}}}}"#
        ) + "\n"
    }).collect();
    assert!(chunks.is_multiple_of(CHUNKS_A_WRITE), "a multiple of {CHUNKS_A_WRITE}");
    for _ in 0..chunks / CHUNKS_A_WRITE {
        output.write_all(lines.as_bytes()).expect("a reader");
    }
}
