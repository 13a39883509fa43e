//! The page's tools for an ACP agent: an MCP server for each thread, at an address that nobody can guess and with a
//! secret of its own.
use acp_types::v1::session_setup::{
    EnvVariable, HttpHeader, McpServer, McpServerHttp, McpServerStdio,
};
use agui_bridge::frontend_tool::{NewCall, Options, ToolSet, agent_call_id};
use async_trait::async_trait;
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use mcp_bridge::mcp::capabilities::Implementation;
use mcp_bridge::mcp::content::{ContentBlock, TextContent};
use mcp_bridge::mcp::tools::{CallToolResult, Tool};
use mcp_bridge::server::{ServerOptions, ToolCall};
use mcp_http::{Answer, CallContext, Endpoint, EndpointOptions, Service, random_id};
use std::collections::HashMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::{env, io};
use subtle::ConstantTimeEq;
use tokio::sync::{mpsc, oneshot};

/// The most calls that may wait for a thread.
const MAX_REQUESTS: usize = 64;

/// The path that a thread's server is below.
pub(crate) const PATH: &str = "/mcp/threads/";

/// The variables of the environment that tell the shim where the server is, and its secret.
pub(crate) const URL_VARIABLE: &str = "SPANWIRE_MCP_URL";
pub(crate) const SECRET_VARIABLE: &str = "SPANWIRE_MCP_SECRET";

/// What an agent is told of a call: a text, and whether it is an error.
pub(crate) type Told = (String, bool);

/// What a thread is told by its server.
pub(crate) enum FromServer {
    /// The agent calls a tool.
    Call {
        /// Names the call until the thread has done so.
        key: u64,
        call: NewCall,
        context: CallContext,
        reply: oneshot::Sender<Told>,
    },
    /// The agent does not want the answer any more.
    Withdrawn(u64),
}

/// All the servers, by what is at the end of their addresses.
#[derive(Debug)]
pub(crate) struct PageServers {
    /// What agents reach the gateway by.
    base: String,
    /// Names that a request's `Host` may have.
    hosts: Vec<String>,
    open: Mutex<HashMap<String, Arc<Endpoint>>>,
}

impl PageServers {
    /// `base`: what agents reach the gateway by, if that is not the address that it listens on.
    pub(crate) fn new(base: Option<String>, listens: SocketAddr, hosts: Vec<String>) -> Self {
        let base = base.unwrap_or_else(|| {
            let mut address = listens;
            if address.ip().is_unspecified() {
                address.set_ip(Ipv4Addr::LOCALHOST.into());
            }
            format!("http://{address}")
        });
        let base = base.trim_end_matches('/').to_owned();
        let own = base.parse::<axum::http::Uri>().ok();
        let own = own.and_then(|uri| uri.host().map(str::to_owned));
        let hosts = hosts.into_iter().chain(own).collect();
        Self { base, hosts, open: Mutex::default() }
    }

    /// The server at an address.
    pub(crate) fn find(&self, name: &str) -> Option<Arc<Endpoint>> {
        self.open().get(name).cloned()
    }

    /// Opens a server without tools.
    pub(crate) fn open_one(self: &Arc<Self>) -> io::Result<PageServer> {
        let (name, secret) = (random_id()?, random_id()?);
        let (requests, inbox) = mpsc::channel(MAX_REQUESTS);
        let service = Arc::new(PageService {
            tools: Mutex::new(Arc::from([])),
            requests,
            calls: AtomicU64::new(0),
        });
        let mut options = EndpointOptions::default();
        options.hosts.clone_from(&self.hosts);
        let expected = format!("Bearer {secret}");
        options.authenticate = Some(Arc::new(move |headers: &HeaderMap| {
            let given = headers.get(AUTHORIZATION)?.as_bytes();
            bool::from(given.ct_eq(expected.as_bytes())).then(String::new)
        }));
        let endpoint = Endpoint::new(service.clone(), options);
        self.open().insert(name.clone(), endpoint.clone());
        let servers = self.clone();
        Ok(PageServer { servers, name, secret, service, endpoint, inbox })
    }

    fn open(&self) -> std::sync::MutexGuard<'_, HashMap<String, Arc<Endpoint>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The server of one thread, until it is dropped.
pub(crate) struct PageServer {
    servers: Arc<PageServers>,
    name: String,
    secret: String,
    service: Arc<PageService>,
    endpoint: Arc<Endpoint>,
    pub(crate) inbox: mpsc::Receiver<FromServer>,
}

impl Drop for PageServer {
    fn drop(&mut self) {
        self.servers.open().remove(&self.name);
        self.endpoint.close();
    }
}

impl PageServer {
    /// Offers these tools from now on.
    pub(crate) fn offer(&self, tools: &ToolSet) {
        let tools = tools.list().map(|listed| {
            let mut tool = Tool::new(&*listed.name, listed.input_schema.clone());
            tool.description = Some(listed.description.clone());
            tool
        });
        let tools: Arc<[Tool]> = tools.collect();
        {
            let mut offered = self.service.tools.lock().unwrap_or_else(PoisonError::into_inner);
            if *offered == tools {
                return;
            }
            *offered = tools;
        }
        self.endpoint.tools_changed();
    }

    /// How an agent that speaks HTTP with MCP servers reaches it.
    pub(crate) fn over_http(&self, options: &Options) -> McpServer {
        let authorization = HttpHeader::new("Authorization", format!("Bearer {}", self.secret));
        McpServer::Http(McpServerHttp::new(&*options.server, self.url(), [authorization]))
    }

    /// The same for one that starts its servers.
    pub(crate) fn over_stdio(&self, options: &Options) -> io::Result<McpServer> {
        let program = env::current_exe()?.to_string_lossy().into_owned();
        let environment = [
            EnvVariable::new(URL_VARIABLE, self.url()),
            EnvVariable::new(SECRET_VARIABLE, &*self.secret),
        ];
        let arguments = vec!["mcp-shim".to_owned()];
        Ok(McpServer::Stdio(McpServerStdio::new(&*options.server, program, arguments, environment)))
    }

    fn url(&self) -> String {
        format!("{}{PATH}{}", self.servers.base, self.name)
    }
}

/// What the server does.
struct PageService {
    tools: Mutex<Arc<[Tool]>>,
    requests: mpsc::Sender<FromServer>,
    calls: AtomicU64,
}

/// Tells the thread that a call was withdrawn, unless it is over.
struct Withdraw<'a> {
    service: &'a PageService,
    key: u64,
    is_over: bool,
}

impl Drop for Withdraw<'_> {
    fn drop(&mut self) {
        if !self.is_over && self.service.requests.try_send(FromServer::Withdrawn(self.key)).is_err()
        {
            tracing::debug!("the thread does not hear that a call was withdrawn");
        }
    }
}

#[async_trait]
impl Service for PageService {
    fn options(&self, _principal: &str) -> ServerOptions {
        let tools = self.tools.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut info = Implementation::new("spanwire-ui", env!("CARGO_PKG_VERSION"));
        info.title = Some("The user's page".to_owned());
        ServerOptions::new(info, tools)
    }

    async fn call(&self, call: &ToolCall, context: &CallContext) -> Answer {
        let key = self.calls.fetch_add(1, Ordering::Relaxed);
        let (reply, told) = oneshot::channel();
        let mut request = NewCall::new(&*call.name, call.arguments.clone());
        request.agent_id = call.meta.as_ref().and_then(agent_call_id);
        let request = FromServer::Call { key, call: request, context: context.clone(), reply };
        let mut withdraw = Withdraw { service: self, key, is_over: false };
        let told = match self.requests.send(request).await {
            Ok(()) => told.await.ok(),
            Err(_) => None,
        };
        withdraw.is_over = true;
        let (text, is_error) = told.unwrap_or_else(|| ("the page is gone".to_owned(), true));
        let mut result = CallToolResult::new([ContentBlock::Text(TextContent::new(text))]);
        result.is_error = is_error.then_some(true);
        result.into()
    }
}
