//! A server of mcp-bridge for clients of other authors:
//! `peer-ours` serves stdin and stdout, `peer-ours 127.0.0.1:0` serves HTTP.
use axum::serve::ListenerExt;
use jsonrpc_core::wire::Raw;
use mcp_bridge::mcp::capabilities::Implementation;
use mcp_bridge::mcp::logging::LoggingLevel;
use mcp_bridge::plugin::{ElicitResponse, NoElicitations, PluginContext, PluginError, PluginTool};
use mcp_bridge_http::{Endpoint, EndpointOptions, PluginService, router};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::{env, error::Error, sync::Arc};

#[derive(Deserialize, JsonSchema)]
struct Add {
    a: i32,
    b: i32,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Sum {
    sum: i32,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Nothing {}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Tea {
    tea: String,
}

mcp_bridge::elicitations! {
    /// Questions of the tool `book_flight`.
    Questions handled by QuestionHandlers {
        /// The tea to bring.
        tea: WhichTea = "tea" (Nothing => Tea),
    }
}

async fn add(add: Add, ctx: PluginContext<NoElicitations>) -> Result<Sum, PluginError> {
    let sum = add.a.checked_add(add.b).ok_or_else(|| PluginError::failed("too large"))?;
    ctx.progress(1.0, Some(2.0), None);
    ctx.log(LoggingLevel::Info, None, Raw::from_value(&"adding").map_err(failed)?);
    ctx.progress(2.0, Some(2.0), None);
    Ok(Sum { sum })
}

async fn book_flight((): (), ctx: PluginContext<Questions>) -> Result<String, PluginError> {
    match ctx.elicit::<WhichTea>("Which tea?", &Nothing {}).await? {
        ElicitResponse::Accept(Tea { tea }) => Ok(format!("{tea} tea")),
        _ => Ok("no tea".to_owned()),
    }
}

fn failed(error: impl ToString) -> PluginError {
    PluginError::failed(error.to_string())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let add = PluginTool::builder("add", "1").description("Adds two integers").output::<Sum>();
    let tea = PluginTool::builder("book_flight", "1").description("Brings tea");
    let tools = [
        add.elicits::<NoElicitations>().execute(self::add)?,
        tea.elicits::<Questions>().execute(book_flight)?,
    ];
    let me = Implementation::new("peer", "1");
    let Some(address) = env::args().nth(1) else {
        return Ok(mcp_bridge::stdio::serve(me, tools).await?);
    };
    let service = PluginService::in_memory(tools, me)?;
    let endpoint = Endpoint::new(Arc::new(service), EndpointOptions::default());
    let listener = tokio::net::TcpListener::bind(address).await?;
    eprintln!("listening on http://{}/mcp", listener.local_addr()?);
    // A response in several parts would otherwise wait for the client's acknowledgement.
    let listener = listener.tap_io(|stream| {
        // An error means that the client has left.
        let _left = stream.set_nodelay(true);
    });
    axum::serve(listener, router("/mcp", endpoint)).await?;
    Ok(())
}
