//! Tools of mcp-bridge in a server of the official Rust SDK, by the adapter of the example
//! `rmcp_server`.
#[path = "../../examples/rmcp_server/adapter.rs"]
mod adapter;

use crate::mcp::Chooser;
use adapter::HostHandler;
use mcp_bridge::elicitations;
use mcp_bridge::plugin::{
    ElicitResponse, MemoryStore, PluginContext, PluginError, PluginHost, PluginTool, SuspendPolicy,
};
use mcp_bridge_http::since_1970;
use rmcp::model::{CallToolRequestParams, ProtocolVersion};
use rmcp::service::{ClientLifecycleMode, serve_client_with_lifecycle};
use rmcp::{ClientHandler, ServiceExt};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::error::Error;
use std::sync::Arc;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

#[derive(Deserialize, JsonSchema)]
struct Trip {
    destination: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Free {
    seats: Vec<String>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Choice {
    seat: String,
}

elicitations! {
    /// Questions of the tool.
    Seats handled by SeatsHandlers {
        /// The seat to the destination.
        out: Out = "out" (Free => Choice),
        /// The seat back.
        back: Back = "back" (Free => Choice),
    }
}

async fn seats(trip: Trip, ctx: PluginContext<Seats>) -> Result<String, PluginError> {
    let free = Free { seats: vec!["12A".to_owned()] };
    let out = ctx.elicit::<Out>(&format!("Which seat to {}?", trip.destination), &free).await?;
    let back = ctx.elicit::<Back>("Which seat back?", &free).await?;
    match (out, back) {
        (ElicitResponse::Accept(out), ElicitResponse::Accept(back)) => {
            Ok(format!("{} {}", out.seat, back.seat))
        }
        _ => Ok("none".to_owned()),
    }
}

fn host(policy: SuspendPolicy) -> Result<Arc<PluginHost>, Box<dyn Error>> {
    let tool = PluginTool::builder("seats", "1").elicits::<Seats>().execute(seats)?;
    let store = Arc::new(MemoryStore::default());
    Ok(Arc::new(PluginHost::new([tool], policy, store, "a", Arc::new(since_1970))))
}

/// Calls the tool with a client of the official SDK.
async fn call<C: ClientHandler>(
    host: Arc<PluginHost>,
    client: C,
    lifecycle: ClientLifecycleMode,
) -> Result<Value, Box<dyn Error>> {
    let (ours, theirs) = tokio::io::duplex(1 << 20);
    let server = tokio::spawn(async move {
        HostHandler(host).serve(ours).await.map(|running| tokio::spawn(running.waiting()))
    });
    let client = serve_client_with_lifecycle(client, theirs, lifecycle).await?;
    let tools = client.list_all_tools().await?;
    assert_eq!(tools.len(), 1);
    assert_eq!(tools[0].name, "seats");
    let mut request = CallToolRequestParams::new("seats");
    request.arguments = json!({ "destination": "Oslo" }).as_object().cloned();
    let result = client.call_tool(request).await;
    client.cancel().await?;
    server.await??;
    Ok(serde_json::to_value(result?)?)
}

fn modern() -> ClientLifecycleMode {
    ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] }
}

#[tokio::test]
async fn official_server_asks_for_a_tool_in_both_generations() -> Result<(), Box<dyn Error>> {
    for policy in [SuspendPolicy::Park, SuspendPolicy::Replay] {
        for lifecycle in [ClientLifecycleMode::Initialize, modern()] {
            let shown = format!("{policy:?} {lifecycle:?}");
            let host = host(policy.clone())?;
            let chooser = Chooser::default();
            let result = call(Arc::clone(&host), chooser.clone(), lifecycle).await?;
            assert_eq!(result["content"][0]["text"], "12A 12A", "{shown}");
            let asked = chooser.asked();
            let messages: Vec<_> = asked.iter().filter_map(|it| it["message"].as_str()).collect();
            assert_eq!(messages.len(), 2, "{shown}");
            assert!(messages[0].starts_with("Which seat to Oslo?"), "{shown}: {messages:?}");
            assert!(messages[1].starts_with("Which seat back?"), "{shown}: {messages:?}");
            assert!(host.active().await?.is_empty(), "{shown}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn missing_capability_is_named() -> Result<(), Box<dyn Error>> {
    for lifecycle in [ClientLifecycleMode::Initialize, modern()] {
        let refused = call(host(SuspendPolicy::Park)?, (), lifecycle).await;
        let text = refused.expect_err("the client has no forms").to_string();
        assert!(text.contains("elicitation.form"), "{text}");
    }
    Ok(())
}

#[tokio::test]
async fn cancelled_call_ends_its_session() -> Result<(), Box<dyn Error>> {
    let host = host(SuspendPolicy::Park)?;
    let (ours, theirs) = tokio::io::duplex(1 << 20);
    let served = Arc::clone(&host);
    tokio::spawn(async move {
        HostHandler(served).serve(ours).await.map(|running| tokio::spawn(running.waiting()))
    });
    let (read, mut write) = tokio::io::split(theirs);
    let mut lines = BufReader::new(read).lines();
    let hello = json!({
        "protocolVersion": "2025-11-25", "capabilities": { "elicitation": {} },
        "clientInfo": { "name": "c", "version": "1" },
    });
    let call = json!({ "name": "seats", "arguments": { "destination": "Oslo" } });
    for message in [
        json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call }),
    ] {
        write.write_all(format!("{message}\n").as_bytes()).await?;
    }
    loop {
        let line = lines.next_line().await?.ok_or("the server has gone")?;
        let message: Value = serde_json::from_str(&line)?;
        if message["method"] == "elicitation/create" {
            break;
        }
    }
    assert_eq!(host.active().await?.len(), 1);
    let cancel = json!({ "requestId": 1 });
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel });
    write.write_all(format!("{cancel}\n").as_bytes()).await?;
    while !host.active().await?.is_empty() {
        tokio::task::yield_now().await;
    }
    Ok(())
}
