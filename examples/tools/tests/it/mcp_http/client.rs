//! Bookings by the client, which answers the questions.
use crate::mcp_http::book_flight::{program, result};
use crate::mcp_http::world::http;
use async_trait::async_trait;
use jsonrpc_core::ErrorObject;
use jsonrpc_core::wire::{self, Raw};
use mcp_bridge::client::{CallParams, ClientOptions, ConnectError};
use mcp_bridge::mcp::base::Era;
use mcp_bridge::mcp::capabilities::{ClientCapabilities, Implementation};
use mcp_bridge::mcp::dispatch::ServerRequest;
use mcp_bridge::plugin::SuspendPolicy;
use mcp_bridge_http::{Handler, McpClient};
use serde_json::{Value, json};
use std::sync::Arc;

/// Answers the questions of `book_flight`.
struct Traveller;

#[async_trait]
impl Handler for Traveller {
    async fn answer(&self, request: &ServerRequest) -> Result<Raw, ErrorObject> {
        let params = request.to_params().expect("JSON").expect("params");
        let params: Value = params.decode().expect("JSON");
        let answer = result(&json!({ "method": request.method(), "params": params }));
        Ok(Raw::from_value(&answer).expect("JSON"))
    }
}

async fn connect(url: &str, era: Era, can: &str) -> Result<McpClient, ConnectError> {
    let can: ClientCapabilities = wire::decode(can).expect("JSON");
    let mut options = ClientOptions::new(Implementation::new("c", "1"), can);
    options.era = Some(era);
    let http = http().build().expect("a client");
    McpClient::connect(http, url, options, Arc::new(Traveller), None).await
}

fn params(tool: &str, arguments: &Value) -> CallParams {
    CallParams::new(tool, Raw::from_value(arguments).expect("JSON"))
}

#[tokio::test]
async fn flight_is_booked_in_both_generations() {
    for era in [Era::Modern, Era::Legacy] {
        let program = program(SuspendPolicy::Replay, &Arc::default(), "a", false).await;
        let can = r#"{"elicitation":{},"sampling":{}}"#;
        let client = connect(&program.url, era, can).await.expect("a server");
        assert_eq!(client.server().version.era(), Some(era));
        let tools = client.tools().await.expect("a list");
        assert_eq!(tools.tools[0].name, "book_flight");
        let arguments = json!({ "from": "Paris", "destination": "Oslo" });
        let booked = client.call(params("book_flight", &arguments)).await.expect("a result");
        let booked: Value = booked.structured_content.value().expect("one").decode().expect("JSON");
        assert_eq!(&booked["status"], &json!("booked"));
        assert_eq!(&booked["tip"], &json!("Bring a coat."));
    }
}

#[tokio::test]
async fn flight_is_booked_as_a_task() {
    let can =
        r#"{"elicitation":{},"sampling":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}"#;
    for policy in [SuspendPolicy::Park, SuspendPolicy::Replay] {
        let program = program(policy, &Arc::default(), "a", false).await;
        let client = connect(&program.url, Era::Modern, can).await;
        let arguments = json!({ "from": "Paris", "destination": "Oslo" });
        let booked = client.expect("a server").call(params("book_flight", &arguments)).await;
        let booked = booked.expect("a result").structured_content;
        let booked: Value = booked.value().expect("one").decode().expect("JSON");
        assert_eq!(&booked["status"], &json!("booked"));
        assert_eq!(&booked["tip"], &json!("Bring a coat."));
    }
}
