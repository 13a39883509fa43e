//! The MCP server of a conversation, with the tools of the page and the server's own.
//!
//! Each server has an address that cannot be guessed, and its own secret.
use crate::questions::{Held, failed};
use crate::toolbox::Toolbox;
use acp_host::process::own_program_for_others;
use acp_types::v1::elicitation::{ElicitationAction, ElicitationSchema};
use acp_types::v1::session_setup::{
    EnvVariable, HttpHeader, McpServer, McpServerHttp, McpServerStdio,
};
use acp_types::v1::tool_calls::ToolCallId;
use agui_bridge::frontend_tool::{FrontendToolOptions, NewCall, ToolSet, agent_call_id};
use asking::Asking;
use async_trait::async_trait;
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use jsonrpc_core::wire::Meta;
use mcp_bridge::mcp::capabilities::Implementation;
use mcp_bridge::mcp::content::{ContentBlock, TextContent};
use mcp_bridge::mcp::tools::{CallToolResult, Tool};
use mcp_bridge::server::{CallOutcome, ServerOptions, ToolCall};
use mcp_bridge_http::{CallContext, Endpoint, EndpointOptions, Service, random_id};
use std::collections::HashMap;
use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use subtle::ConstantTimeEq;
use tokio::sync::{mpsc, oneshot};
use tokio::time::interval;

mod asking;

/// Maximum number of calls that wait for a conversation.
const MAX_REQUESTS: usize = 64;

/// Target of records for an audit log.
const AUDIT: &str = "audit";

/// The path prefix of the servers.
pub const PATH: &str = "/mcp/threads/";

/// Routes of the server of a thread. Some agents append the usual path of MCP servers, or a slash, to the address.
pub const ROUTES: [&str; 4] = [
    "/mcp/threads/{name}",
    "/mcp/threads/{name}/",
    "/mcp/threads/{name}/mcp",
    "/mcp/threads/{name}/mcp/",
];

/// Environment variables with the URL and the secret of the server, for the shim.
pub(crate) const URL_VARIABLE: &str = "SPANWIRE_MCP_URL";
pub(crate) const SECRET_VARIABLE: &str = "SPANWIRE_MCP_SECRET";

/// Interval of progress notifications of a call that waits for the user.
const ALIVE_TIME: Duration = Duration::from_secs(10);

/// The result of a call for the agent: a text, and whether it is an error.
pub type TextResult = (String, bool);

/// An event for the conversation.
#[derive(Debug)]
pub enum FromServer {
    /// The agent calls a tool of the page.
    Call {
        /// Identifies the call.
        key: u64,
        /// The tool and its arguments.
        call: NewCall,
        /// Sends progress notifications.
        context: CallContext,
        /// Takes the result.
        reply: oneshot::Sender<TextResult>,
    },
    /// A tool of the server, which the agent has called, asks the user.
    Ask {
        /// Identifies the call.
        key: u64,
        /// The question.
        question: Box<ToolQuestion>,
        /// Takes the answer.
        reply: oneshot::Sender<ElicitationAction>,
    },
    /// The agent has cancelled this call.
    Withdrawn(u64),
}

/// A question of a tool to the user.
#[derive(Clone, Debug)]
pub struct ToolQuestion {
    /// Name of the tool.
    pub tool: String,
    /// The agent's own id of the call, if given.
    pub agent_id: Option<ToolCallId>,
    /// The question.
    pub message: String,
    /// The form of the answer.
    pub schema: ElicitationSchema,
    /// Context of the question.
    pub meta: Option<Meta>,
}

/// The servers of all conversations, by the last part of their addresses.
#[derive(Debug)]
pub struct PageServers {
    /// URL under which agents reach this program.
    base: String,
    /// Valid names in the `Host` header.
    hosts: Vec<String>,
    /// The server's own tools.
    toolbox: Arc<Toolbox>,
    open: Mutex<HashMap<String, Arc<Endpoint>>>,
}

impl PageServers {
    /// Creates the servers. `base` is the URL under which agents reach this program, unless that is the address that it
    /// listens on.
    pub fn new(
        base: Option<String>,
        listens: SocketAddr,
        hosts: Vec<String>,
        toolbox: Arc<Toolbox>,
    ) -> Self {
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
        Self { base, hosts, toolbox, open: Mutex::default() }
    }

    /// Returns the server with this name.
    pub fn find(&self, name: &str) -> Option<Arc<Endpoint>> {
        self.open().get(name).cloned()
    }

    /// Opens a server for a conversation of `user`. With `offers_own` it includes the server's own tools. Returns the
    /// server, and its events.
    ///
    /// # Errors
    /// The system has no randomness.
    pub fn open_one(
        self: &Arc<Self>,
        user: &str,
        offers_own: bool,
    ) -> io::Result<(PageServer, mpsc::Receiver<FromServer>)> {
        let (name, secret) = (random_id()?, random_id()?);
        let (requests, inbox) = mpsc::channel(MAX_REQUESTS);
        let service = Arc::new(PageService {
            tools: Mutex::new(Arc::from([])),
            toolbox: offers_own.then(|| self.toolbox.clone()),
            user: user.to_owned(),
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
        Ok((PageServer { servers, name, secret, service, endpoint }, inbox))
    }

    fn open(&self) -> std::sync::MutexGuard<'_, HashMap<String, Arc<Endpoint>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The server of one conversation. Dropping it closes the server.
pub struct PageServer {
    servers: Arc<PageServers>,
    name: String,
    secret: String,
    service: Arc<PageService>,
    endpoint: Arc<Endpoint>,
}

impl fmt::Debug for PageServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The name and the secret grant access.
        f.debug_struct("PageServer").finish_non_exhaustive()
    }
}

impl Drop for PageServer {
    fn drop(&mut self) {
        self.servers.open().remove(&self.name);
        self.endpoint.close();
    }
}

impl PageServer {
    /// Replaces the tools of the page.
    pub fn offer(&self, tools: &ToolSet) {
        let tools = tools.list().map(|listed| {
            let mut tool = Tool::new(&*listed.name, listed.input_schema.clone());
            tool.description = Some(listed.description.clone());
            tool
        });
        let mut tools: Vec<Tool> = tools.collect();
        if let Some(toolbox) = &self.service.toolbox {
            let is_free = |tool: &Tool| tools.iter().all(|page| page.name != tool.name);
            let own: Vec<_> = toolbox.for_agents().filter(is_free).collect();
            tools.extend(own);
        }
        let tools: Arc<[Tool]> = tools.into();
        {
            let mut offered = self.service.tools.lock().unwrap_or_else(PoisonError::into_inner);
            if *offered == tools {
                return;
            }
            *offered = tools;
        }
        self.endpoint.tools_changed();
    }

    /// Returns the server for an agent that speaks MCP over HTTP.
    pub fn over_http(&self, options: &FrontendToolOptions) -> McpServer {
        let authorization = HttpHeader::new("Authorization", format!("Bearer {}", self.secret));
        McpServer::Http(McpServerHttp::new(&*options.server, self.url(), [authorization]))
    }

    /// Returns the server for an agent that starts its servers.
    ///
    /// # Errors
    /// The path of this program is unknown.
    pub fn over_stdio(&self, options: &FrontendToolOptions) -> io::Result<McpServer> {
        let program = own_program_for_others()?.to_string_lossy().into_owned();
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

/// The service behind the endpoint.
struct PageService {
    tools: Mutex<Arc<[Tool]>>,
    /// The server's own tools, if they are offered.
    toolbox: Option<Arc<Toolbox>>,
    user: String,
    requests: mpsc::Sender<FromServer>,
    calls: AtomicU64,
}

/// Reports a cancelled call, unless it is over.
struct Withdraw<'a> {
    service: &'a PageService,
    key: u64,
    is_over: bool,
}

impl Drop for Withdraw<'_> {
    fn drop(&mut self) {
        if !self.is_over && self.service.requests.try_send(FromServer::Withdrawn(self.key)).is_err()
        {
            tracing::debug!("the conversation is not informed of a cancelled call");
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

    async fn call(&self, call: &ToolCall, context: &CallContext) -> CallOutcome {
        let key = self.calls.fetch_add(1, Ordering::Relaxed);
        let (user, tool, content) = (&*self.user, &*call.name, call.arguments.as_str());
        tracing::info!(target: AUDIT, event = "tool.call", user, tool, content);
        let mut withdraw = Withdraw { service: self, key, is_over: false };
        match self.own(&call.name) {
            Some(toolbox) => self.call_own(toolbox, call, context, &mut withdraw).await.into(),
            None => self.call_page(call, context, &mut withdraw).await.into(),
        }
    }
}

impl PageService {
    /// Returns the server's own tools, if the name is one of them and not one of the page.
    fn own(&self, name: &str) -> Option<&Toolbox> {
        let toolbox = self.toolbox.as_deref()?;
        let offered = self.tools.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let offered = offered.iter().find(|tool| tool.name == name)?;
        toolbox.for_agents().any(|own| own == *offered).then_some(toolbox)
    }

    async fn call_page(
        &self,
        call: &ToolCall,
        context: &CallContext,
        withdraw: &mut Withdraw<'_>,
    ) -> CallToolResult {
        let (reply, told) = oneshot::channel();
        let mut request = NewCall::new(&*call.name, call.arguments.clone());
        request.agent_id = call.meta.as_ref().and_then(agent_call_id);
        let (key, context) = (withdraw.key, context.clone());
        let request = FromServer::Call { key, call: request, context, reply };
        let told = match self.requests.send(request).await {
            Ok(()) => told.await.ok(),
            Err(_) => None,
        };
        withdraw.is_over = true;
        let (text, is_error) = told.unwrap_or_else(|| ("the page is gone".to_owned(), true));
        let mut result = CallToolResult::new([ContentBlock::Text(TextContent::new(text))]);
        result.is_error = is_error.then_some(true);
        result
    }

    async fn call_own(
        &self,
        toolbox: &Toolbox,
        call: &ToolCall,
        context: &CallContext,
        withdraw: &mut Withdraw<'_>,
    ) -> CallToolResult {
        let questions = toolbox.questions();
        if !questions.has(&call.name) {
            withdraw.is_over = true;
            return match toolbox.call(&call.name).await {
                Ok(text) => CallToolResult::new([ContentBlock::Text(TextContent::new(text))]),
                Err(error) => failed(&error),
            };
        }
        let asking = Asking { service: self, call, key: withdraw.key };
        let (name, arguments) = (&call.name, call.arguments.clone());
        let calling = questions.call_held(name, arguments, &self.user, &asking);
        let alive = async {
            let mut beat = interval(ALIVE_TIME);
            for beats in 0_u32.. {
                beat.tick().await;
                context.progress(f64::from(beats), None, Some("waiting for the user"));
            }
        };
        let held = tokio::select! {
            held = calling => held,
            () = alive => Held::Ended(failed("nobody answers")),
        };
        match held {
            Held::Done(result) => {
                withdraw.is_over = true;
                result
            }
            Held::Ended(result) => result,
        }
    }
}
