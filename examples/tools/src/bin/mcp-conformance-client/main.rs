//! The client that the official conformance suite drives. It receives the URL of a server, and the
//! name of the scenario in the environment.
mod browser;
mod skills;
mod without_user;

use async_trait::async_trait;
use jsonrpc_core::wire::Raw;
use jsonrpc_core::{ErrorCode, ErrorObject};
use mcp_bridge::client::{CallParams, ClientOptions};
use mcp_bridge::mcp::capabilities::{
    ClientCapabilities, ElicitationCapability, Implementation, SamplingCapability,
};
use mcp_bridge::mcp::dispatch::ServerRequest;
use mcp_bridge::mcp::elicitation::ElicitRequestParams;
use mcp_bridge::mcp::tools::Tool;
use mcp_bridge_http::{Handler, McpClient};
use rustls::crypto::ring::default_provider;
use serde_json::{Map, Value, json};
use std::env;
use std::error::Error;
use std::sync::Arc;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let url = env::args().next_back().ok_or("expected the address of a server")?;
    let scenario = env::var("MCP_CONFORMANCE_SCENARIO").unwrap_or_default();
    let context = env::var("MCP_CONFORMANCE_CONTEXT").unwrap_or_default();
    let context: Value = serde_json::from_str(&context).unwrap_or_default();

    let mut capabilities = ClientCapabilities::new();
    capabilities.elicitation = Some(ElicitationCapability::new());
    capabilities.sampling = Some(SamplingCapability::new());
    let me = Implementation::new("mcp-http", env!("CARGO_PKG_VERSION"));
    let options = ClientOptions::new(me, capabilities);
    // The client panics without a default provider if another package of the build enables TLS.
    let _ = default_provider().install_default();
    let sign_in = Arc::new(browser::sign_in(&url, &context).await?);
    let http = reqwest::Client::new();
    let handler = Arc::new(DefaultAnswers);
    let client = McpClient::connect(http, &url, options, handler, Some(sign_in)).await?;
    if scenario.contains("skills") || scenario.starts_with("sep-2640-client-") {
        return show_skills(&client, &scenario).await;
    }
    let list = client.tools().await?;
    for bad in &list.bad {
        eprintln!("left out: {:?}: {}", bad.name, bad.error);
    }
    for (tool, arguments) in calls(&scenario, &context, &list.tools) {
        let arguments = Raw::from_value(&arguments)?;
        let result = client.call(CallParams::new(tool, arguments)).await?;
        eprintln!("{}", serde_json::to_string(&result)?);
    }
    Ok(())
}

/// Prints the files of the skills of a server, or why a skill is rejected.
async fn show_skills(client: &McpClient, scenario: &str) -> Result<(), Box<dyn Error>> {
    for skill in skills::list(client).await? {
        if scenario == "sep-2640-client-no-prefetch" {
            continue;
        }
        let shown = match skills::load(client, &skill).await {
            Ok(files) => {
                let text = |bytes| Value::from(String::from_utf8_lossy(bytes));
                let files = files.iter().map(|(uri, bytes)| (uri.clone(), text(bytes)));
                let files: Map<_, _> = files.collect();
                json!({ "uri": skill.uri, "files": files })
            }
            Err(error) => json!({ "uri": skill.uri, "rejected": error.to_string() }),
        };
        eprintln!("{shown}");
    }
    Ok(())
}

/// Returns the tools to call, with their arguments.
fn calls(scenario: &str, context: &Value, tools: &[Tool]) -> Vec<(String, Value)> {
    let wanted = context.get("toolCalls").and_then(Value::as_array);
    if let Some(wanted) = wanted {
        let call = |call: &Value| {
            Some((call.get("name")?.as_str()?.into(), call.get("arguments")?.clone()))
        };
        return wanted.iter().filter_map(call).collect();
    }
    if scenario == "json-schema-ref-no-deref" {
        // The server of this scenario lists a tool but has no `tools/call`.
        return Vec::new();
    }
    if scenario == "json-schema-2020-12-preservation" {
        let schema = tools.iter().find(|tool| tool.name == "json_schema_2020_12_tool");
        let schema = schema.map(|tool| tool.input_schema.decode().unwrap_or(Value::Null));
        return vec![("json_schema_echo".into(), json!({ "schema": schema }))];
    }
    tools.iter().map(|tool| (tool.name.clone(), example(&tool.input_schema))).collect()
}

/// Returns arguments that conform to a schema.
fn example(schema: &Raw) -> Value {
    let schema: Value = schema.decode().unwrap_or_default();
    let properties = schema.get("properties").and_then(Value::as_object);
    let value = |(name, property): (&String, &Value)| {
        let value = match property.get("type").and_then(Value::as_str) {
            Some("integer" | "number") => json!(2),
            Some("boolean") => json!(true),
            Some("object") => json!({}),
            Some("array") => json!([]),
            _ => json!("text"),
        };
        (name.clone(), value)
    };
    properties.into_iter().flatten().map(value).collect::<Map<_, _>>().into()
}

/// Accepts every request and keeps the defaults of forms.
struct DefaultAnswers;

#[async_trait]
impl Handler for DefaultAnswers {
    async fn answer(&self, request: &ServerRequest) -> Result<Raw, ErrorObject> {
        let answer = match request {
            ServerRequest::Elicit(params) => {
                json!({ "action": "accept", "content": filled(params) })
            }
            ServerRequest::CreateMessage(_) => {
                json!({ "role": "assistant", "content": { "type": "text", "text": "Fine." }, "model": "none" })
            }
            other => {
                let problem = format!("unknown method: {}", other.method());
                return Err(ErrorObject::new(ErrorCode::METHOD_NOT_FOUND, problem));
            }
        };
        Raw::from_value(&answer)
            .map_err(|error| ErrorObject::new(ErrorCode::INTERNAL_ERROR, error.to_string()))
    }
}

/// Returns the default values of a form.
fn filled(params: &ElicitRequestParams) -> Map<String, Value> {
    let ElicitRequestParams::Form(form) = params else { return Map::new() };
    let schema: Value = form.requested_schema.decode().unwrap_or_default();
    let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    let field = |(name, property): (&String, &Value)| {
        let checked = || (property.get("type")? == "boolean").then_some(Value::Bool(true));
        Some((name.clone(), property.get("default").cloned().or_else(checked)?))
    };
    properties.filter_map(field).collect()
}
