//! A server of rmcp with the same tools as `peer-ours`:
//! `peer-rmcp` serves stdin and stdout, `peer-rmcp 127.0.0.1:0` serves HTTP.
use axum::serve::ListenerExt;
use rmcp::handler::server::tool::schema_for_type;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, InputRequiredResult,
    JsonObject, ListToolsResult, PaginatedRequestParams, ProgressNotificationParam,
    ProtocolVersion, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::{env, error::Error, sync::Arc};

#[derive(Deserialize, JsonSchema)]
struct Add {
    a: i32,
    b: i32,
}

#[derive(Serialize, JsonSchema)]
struct Sum {
    sum: i32,
}

#[derive(Clone, Debug)]
struct Peer;

impl ServerHandler for Peer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        ServerConfig::new(capabilities)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let add = Tool::new("add", "Adds two integers", schema_for_type::<Add>());
        let tea = Tool::new("book_flight", "Brings tea", schema_for_type::<JsonObject>());
        Ok(ListToolsResult::with_all_items(vec![add.with_output_schema::<Sum>(), tea]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        match &*request.name {
            "add" => Ok(CallToolResponse::Complete(add(request, &context).await?)),
            "book_flight" => book_flight(request, &context).await,
            name => Err(ErrorData::invalid_params(format!("unknown tool {name}"), None)),
        }
    }
}

async fn add(
    request: CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResult, ErrorData> {
    let Add { a, b } = convert(&request.arguments)?;
    let Some(sum) = a.checked_add(b) else {
        return Ok(CallToolResult::error(vec![ContentBlock::text("too large")]));
    };
    for progress in [1.0, 2.0] {
        if let Some(token) = context.meta.get_progress_token() {
            let progress = ProgressNotificationParam::new(token, progress).with_total(2.0);
            context.peer.notify_progress(progress).await.map_err(internal)?;
        }
    }
    Ok(CallToolResult::structured(json!(Sum { sum })))
}

/// Asks an earlier client by a request, and a client since 2026-07-28 by a result.
async fn book_flight(
    request: CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let schema = json!({ "type": "object", "properties": { "tea": { "type": "string" } }, "required": ["tea"] });
    let params = json!({ "message": "Which tea?", "requestedSchema": schema });
    let question = json!({ "method": "elicitation/create", "params": params });
    let is_modern =
        context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
    let answer = match request.input_responses {
        Some(answers) => json!(answers)["tea"].clone(),
        None if is_modern => {
            let questions = convert(&json!({ "tea": question }))?;
            let needed = InputRequiredResult::new(Some(questions), Some("asked".to_owned()));
            return Ok(CallToolResponse::InputRequired(needed));
        }
        None => json!(context.peer.send_request(convert(&question)?).await.map_err(internal)?),
    };
    let tea = answer["content"]["tea"].as_str().unwrap_or("no");
    let text = vec![ContentBlock::text(format!("{tea} tea"))];
    Ok(CallToolResponse::Complete(CallToolResult::success(text)))
}

fn internal(error: impl ToString) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

fn convert<T: DeserializeOwned>(value: &impl Serialize) -> Result<T, ErrorData> {
    let value: Value = serde_json::to_value(value).map_err(internal)?;
    serde_json::from_value(value)
        .map_err(|error| ErrorData::invalid_params(error.to_string(), None))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let Some(address) = env::args().nth(1) else {
        Peer.serve((tokio::io::stdin(), tokio::io::stdout())).await?.waiting().await?;
        return Ok(());
    };
    let sessions = Arc::new(LocalSessionManager::default());
    let config = StreamableHttpServerConfig::default();
    let service = StreamableHttpService::new(|| Ok(Peer), sessions, config);
    let listener = tokio::net::TcpListener::bind(address).await?;
    eprintln!("listening on http://{}/mcp", listener.local_addr()?);
    // A response in several parts would otherwise wait for the client's acknowledgement.
    let listener = listener.tap_io(|stream| {
        // An error means that the client has left.
        let _left = stream.set_nodelay(true);
    });
    axum::serve(listener, axum::Router::new().nest_service("/mcp", service)).await?;
    Ok(())
}
