//! A server up to 2025-11-25 that asks when a second call has come, first for the call that came
//! first, and names no call.
use serde_json::{Value, json};

/// Calls without a result.
#[derive(Default)]
pub(super) struct AskingCalls {
    /// The call and its user, in the order of the calls.
    calls: Vec<(Value, String)>,
    /// Number of questions so far.
    asked: usize,
    /// The questions, and their calls.
    questions: Vec<(String, Value, String)>,
}

fn send(message: &Value) {
    println!("{message}");
}

impl AskingCalls {
    /// A call with the argument `waits` is not asked about before the next one without it.
    pub(super) fn handle(&mut self, line: &str) {
        let message: Value = serde_json::from_str(line).expect("JSON");
        let id = &message["id"];
        let result = match message["method"].as_str() {
            Some("server/discover") => {
                let error = json!({ "code": -32601, "message": "unknown method" });
                return send(&json!({ "jsonrpc": "2.0", "id": id, "error": error }));
            }
            Some("initialize") => json!({
                "protocolVersion": "2025-11-25",
                "capabilities": { "tools": {} },
                "serverInfo": { "name": "asking", "version": "1" },
            }),
            Some("tools/list") => {
                json!({ "tools": [{ "name": "ask", "inputSchema": { "type": "object" } }] })
            }
            Some("tools/call") => {
                let arguments = &message["params"]["arguments"];
                let user = arguments["user"].as_str().expect("a user").to_owned();
                self.calls.push((id.clone(), user));
                if arguments["waits"] != true {
                    self.ask();
                }
                return;
            }
            Some(_) => return,
            None => return self.answered(&message),
        };
        send(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
    }

    fn ask(&mut self) {
        for (call, user) in std::mem::take(&mut self.calls) {
            self.asked += 1;
            let id = format!("q{}", self.asked);
            let schema = json!({ "type": "object", "properties": { "a": { "type": "string" } } });
            let params = json!({ "message": user, "requestedSchema": schema });
            let method = "elicitation/create";
            send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
            self.questions.push((id, call, user));
        }
    }

    /// The result names the user of the call, and the user in the answer.
    fn answered(&mut self, message: &Value) {
        let found = self.questions.iter().position(|(id, ..)| message["id"] == **id);
        let Some(found) = found else { return };
        let (_, call, user) = self.questions.remove(found);
        let answer = message["result"]["content"]["a"].as_str().unwrap_or("refused");
        let content = json!([{ "type": "text", "text": format!("{user}: {answer}") }]);
        send(&json!({ "jsonrpc": "2.0", "id": call, "result": { "content": content } }));
    }
}
