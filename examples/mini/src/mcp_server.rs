//! An MCP server with two tools: one adds numbers, the other asks the user while it runs.
//!
//! ```console
//! $ cargo run -p mini --bin mini-mcp-client -- --call order_tea -- target/debug/mini-mcp-server
//! ```
//!
//! The arguments, the results and the answers of the user are Rust types; their JSON Schemas are
//! derived. The same tools are served on standard input and output, or over HTTP with `--listen`,
//! to clients of both generations of MCP.
use clap::Parser;
use mcp_bridge::elicitations;
use mcp_bridge::mcp::capabilities::Implementation;
use mcp_bridge::plugin::{
    DefinitionError, ElicitResponse, NoElicitations, PluginContext, PluginError, PluginTool,
};
use mcp_bridge_http::{Endpoint, EndpointOptions, PluginService, router};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;

/// Serves the tools `add` and `order_tea` to an MCP client
///
/// The server uses standard input and output, unless an address is given.
#[derive(Debug, Parser)]
#[command(name = "mini-mcp-server", version)]
struct Args {
    /// Serves over HTTP at /mcp of this address, of a loopback interface; port 0 selects a free
    /// port
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let args = Args::parse();
    let server = Implementation::new("mini-mcp-server", env!("CARGO_PKG_VERSION"));
    let tools = tools()?;
    let Some(address) = args.listen else {
        // It ends when the client closes the input.
        mcp_bridge::stdio::serve(server, tools).await?;
        return Ok(());
    };
    if !address.ip().is_loopback() {
        return Err("--listen: expected a loopback address".into());
    }
    let service = PluginService::in_memory(tools, server)?;
    // The default options accept local names in `Host`, and local pages in `Origin`.
    let endpoint = Endpoint::new(Arc::new(service), EndpointOptions::default());
    let listener = tokio::net::TcpListener::bind(address).await?;
    eprintln!("listening on http://{}/mcp", listener.local_addr()?);
    tokio::select! {
        served = axum::serve(listener, router("/mcp", endpoint)) => served?,
        stopped = tokio::signal::ctrl_c() => stopped?,
    }
    Ok(())
}

fn tools() -> Result<[PluginTool; 2], DefinitionError> {
    let add = PluginTool::builder("add", "1")
        .description("Adds two integers")
        .elicits::<NoElicitations>()
        .execute(add)?;
    let order_tea = PluginTool::builder("order_tea", "1")
        .description("Orders tea that the user selects")
        .elicits::<OrderTea>()
        .execute(order_tea)?;
    Ok([add, order_tea])
}

/// Arguments of the tool `add`.
#[derive(Deserialize, JsonSchema)]
struct Add {
    a: i64,
    b: i64,
}

async fn add(add: Add, _: PluginContext<NoElicitations>) -> Result<i64, PluginError> {
    let sum = add.a.checked_add(add.b);
    sum.ok_or_else(|| PluginError::Failed("the sum is too large".to_owned()))
}

/// Arguments of the tool `order_tea`, and the context of its question.
#[derive(Deserialize, Serialize, JsonSchema)]
struct Order {
    /// Number of cups, one by default.
    #[serde(default = "one")]
    cups: u32,
}

fn one() -> u32 {
    1
}

/// The answer of the user. Its schema becomes a form.
#[derive(Deserialize, Serialize, JsonSchema)]
struct Selection {
    /// Name of the tea.
    tea: String,
    /// Whether there is milk in it.
    #[serde(default)]
    milk: bool,
}

elicitations! {
    /// Questions of the tool `order_tea`.
    OrderTea handled by OrderTeaHandlers {
        /// The tea that the user wants.
        select_tea: SelectTea = "select_tea" (Order => Selection),
    }
}

async fn order_tea(order: Order, context: PluginContext<OrderTea>) -> Result<String, PluginError> {
    // The call waits here. With a client since 2026-07-28 it ends, and runs again with the answer.
    match context.elicit::<SelectTea>("Which tea?", &order).await? {
        ElicitResponse::Accept(Selection { tea, milk }) => {
            let with = if milk { "with" } else { "without" };
            Ok(format!("Ordered {} × {tea} {with} milk", order.cups))
        }
        ElicitResponse::Decline | ElicitResponse::Cancel => Ok("Ordered nothing".to_owned()),
    }
}
