//! A test editor with a session of an agent behind the proxy.

use crate::proxy::Proxy;
use serde_json::{Value, json};

/// An editor with a session.
pub(crate) struct Editor {
    pub(crate) proxy: Proxy,
    pub(crate) session: String,
    last_id: i64,
}

impl Editor {
    /// Starts a session.
    pub(crate) fn start(proxy: Proxy) -> Self {
        let mut editor = Self { proxy, session: String::new(), last_id: 0 };
        let info = json!({ "name": "test", "version": "1" });
        editor.call("initialize", &json!({ "protocolVersion": 1, "clientInfo": info }));
        let session = editor.call("session/new", &json!({ "cwd": "/project", "mcpServers": [] }));
        editor.session = session["result"]["sessionId"].as_str().unwrap().to_owned();
        // Skips the available commands.
        editor.proxy.read_line();
        editor
    }

    /// Sends a prompt and waits for its response. Grants permissions.
    pub(crate) fn prompt(&mut self, text: &str) -> Value {
        let id = self.begin(text);
        self.answer(id)
    }

    /// Sends a prompt and returns its id.
    pub(crate) fn begin(&mut self, text: &str) -> i64 {
        let prompt = json!([{ "type": "text", "text": text }]);
        let params = json!({ "sessionId": self.session, "prompt": prompt });
        self.request("session/prompt", &params)
    }

    /// Sends a request and waits for its response.
    pub(crate) fn call(&mut self, method: &str, params: &Value) -> Value {
        let id = self.request(method, params);
        self.answer(id)
    }

    fn request(&mut self, method: &str, params: &Value) -> i64 {
        self.last_id += 1;
        self.send(
            &json!({ "jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params }),
        );
        self.last_id
    }

    fn answer(&mut self, id: i64) -> Value {
        loop {
            let line = self.proxy.read_line();
            assert!(!line.is_empty(), "the agent closed its output");
            // Output that is not JSON is noise.
            let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
            if message["method"] == "session/request_permission" {
                let outcome = json!({ "outcome": "selected", "optionId": "allow-once" });
                let result = json!({ "outcome": outcome });
                self.send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }));
            } else if message["method"].is_null() {
                assert_eq!(message["id"], id);
                return message;
            }
        }
    }

    fn send(&mut self, message: &Value) {
        self.proxy.write(format!("{message}\n").as_bytes());
    }
}
