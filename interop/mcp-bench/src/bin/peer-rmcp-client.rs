//! A client of rmcp, for the checks of `mcp_peers.mjs`: prints what it receives from a server as
//! JSON.
//!
//! ```text
//! peer-rmcp-client legacy|2026-07-28 URL|COMMAND
//! ```
#![expect(deprecated, reason = "servers still send log messages")]
use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult,
    ElicitationAction, GetPromptRequestParams, Implementation, LoggingLevel,
    LoggingMessageNotificationParam, ProgressNotificationParam, ProtocolVersion,
    ReadResourceRequestParams,
};
use rmcp::service::{ClientLifecycleMode, NotificationContext, RequestContext};
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{ClientHandler, ClientServiceExt, ErrorData, RoleClient};
use serde_json::{Value, json};
use std::cmp::Ordering;
use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::process::Command;

/// What the server sends beside results, as `[kind, value]`.
#[derive(Clone, Debug, Default)]
struct Seen(Arc<Mutex<Vec<(&'static str, Value)>>>);

impl Seen {
    fn add(&self, kind: &'static str, value: Value) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((kind, value));
    }

    fn all(&self, kind: &str) -> Vec<Value> {
        let seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        seen.iter().filter(|(it, _)| *it == kind).map(|(_, value)| value.clone()).collect()
    }
}

impl ClientHandler for Seen {
    fn get_info(&self) -> ClientConfig {
        let capabilities = ClientCapabilities::builder().enable_elicitation().build();
        ClientConfig::new(capabilities, Implementation::new("interop", "1"))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        self.add("question", json!(request)["message"].clone());
        let answer = json!({ "tea": "green" });
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(answer))
    }

    async fn on_progress(&self, it: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.add("progress", json!(it.progress));
    }

    async fn on_logging_message(
        &self,
        it: LoggingMessageNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.add("log", json!(it.data));
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args().collect();
    let [_, mode, target] = &arguments[..] else {
        return Err("expected a mode and a URL or command".into());
    };
    let lifecycle = match &**mode {
        "legacy" => ClientLifecycleMode::Initialize,
        _ => ClientLifecycleMode::Discover {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        },
    };
    let seen = Seen::default();
    let client = if target.starts_with("http") {
        let transport = StreamableHttpClientTransport::from_uri(&**target);
        seen.clone().serve_with_lifecycle(transport, lifecycle).await?
    } else {
        let transport = TokioChildProcess::new(Command::new(target))?;
        seen.clone().serve_with_lifecycle(transport, lifecycle).await?
    };
    let mut tools: Vec<_> =
        client.list_all_tools().await?.into_iter().map(|tool| tool.name).collect();
    tools.sort();
    let mut found = json!({ "tools": tools });
    if found["tools"].as_array().is_some_and(|tools| tools.len() == 2) {
        let call = |name: &'static str, arguments: Value| {
            let mut call = CallToolRequestParams::new(name);
            call.arguments = arguments.as_object().cloned();
            // A server sends log messages since 2026-07-28 only for a request with a level.
            call.meta.get_or_insert_default().set_log_level(LoggingLevel::Info);
            client.call_tool(call)
        };
        let sum = json!(call("add", json!({ "a": 2, "b": 3 })).await?);
        found["sum"] = sum["structuredContent"].clone();
        let failed = json!(call("add", json!({ "a": i32::MAX, "b": 1 })).await?);
        found["error"] = json!([failed["isError"], failed["content"][0]["text"]]);
        let tea = json!(call("book_flight", json!({})).await?);
        found["answer"] = tea["content"][0]["text"].clone();
        found["question"] = json!(seen.all("question"));
        // rmcp runs each notification in a task of its own, so their order is not that of the
        // server.
        let mut progress = seen.all("progress");
        progress.sort_by(|one, other| {
            one.as_f64().partial_cmp(&other.as_f64()).unwrap_or(Ordering::Equal)
        });
        found["progress"] = json!(progress);
        found["log"] = json!(seen.all("log"));
    } else {
        let resource = ReadResourceRequestParams::new("test://static-text");
        found = json!({ "resources": client.list_all_resources().await?.len() });
        found["prompts"] = json!(client.list_all_prompts().await?.len());
        let text = json!(client.read_resource(resource).await?);
        found["resource"] = text["contents"][0]["text"].clone();
        let mut prompt = GetPromptRequestParams::new("test_prompt_with_arguments");
        prompt.arguments = json!({ "arg1": "one", "arg2": "two" }).as_object().cloned();
        let prompt = json!(client.get_prompt(prompt).await?);
        found["prompt"] = prompt["messages"][0]["content"]["text"].clone();
    }
    client.cancel().await?;
    println!("{found}");
    Ok(())
}
