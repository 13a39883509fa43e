//! The page's tools for an ACP agent, and the gateway's own beside them: an MCP server for each thread, at an address
//! that nobody can guess and with a secret of its own.
use crate::plugins::{Asker, Held, failed};
use crate::site::Principal;
use crate::toolbox::Toolbox;
use acp_host::process::own_program_for_others;
use acp_types::v1::elicitation::{ElicitationAction, ElicitationSchema};
use acp_types::v1::session_setup::{
    EnvVariable, HttpHeader, McpServer, McpServerHttp, McpServerStdio,
};
use acp_types::v1::tool_calls::ToolCallId;
use agui_bridge::frontend_tool::{NewCall, Options, ToolSet, agent_call_id};
use async_trait::async_trait;
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use jsonrpc_core::wire::{Extra, Meta, Raw};
use mcp_bridge::mcp::capabilities::Implementation;
use mcp_bridge::mcp::content::{ContentBlock, TextContent};
use mcp_bridge::mcp::dispatch::ServerRequest;
use mcp_bridge::mcp::elicitation::ElicitRequestParams;
use mcp_bridge::mcp::tools::{CallToolResult, Tool};
use mcp_bridge::plugin::{Ask, Outcome};
use mcp_bridge::server::{ServerOptions, ToolCall};
use mcp_http::{Answer, CallContext, Endpoint, EndpointOptions, Service, random_id};
use std::collections::HashMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use subtle::ConstantTimeEq;
use tokio::sync::{mpsc, oneshot};
use tokio::time::interval;

/// The most calls that may wait for a thread.
const MAX_REQUESTS: usize = 64;

/// The path that a thread's server is below.
pub(crate) const PATH: &str = "/mcp/threads/";

/// The variables of the environment that tell the shim where the server is, and its secret.
pub(crate) const URL_VARIABLE: &str = "SPANWIRE_MCP_URL";
pub(crate) const SECRET_VARIABLE: &str = "SPANWIRE_MCP_SECRET";

/// How often a client hears that a call which waits for the user is alive.
const ALIVE_TIME: Duration = Duration::from_secs(10);

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
    /// A tool of the gateway's, which the agent has called, asks the user.
    Ask {
        /// Names the call.
        key: u64,
        question: Box<ToolQuestion>,
        reply: oneshot::Sender<ElicitationAction>,
    },
    /// The agent does not want the answer any more.
    Withdrawn(u64),
}

/// What a tool of the gateway's asks.
pub(crate) struct ToolQuestion {
    pub(crate) tool: String,
    /// What the agent itself calls the call, where it says so.
    pub(crate) agent_id: Option<ToolCallId>,
    pub(crate) message: String,
    pub(crate) schema: ElicitationSchema,
    pub(crate) meta: Option<Meta>,
}

/// All the servers, by what is at the end of their addresses.
#[derive(Debug)]
pub(crate) struct PageServers {
    /// What agents reach the gateway by.
    base: String,
    /// Names that a request's `Host` may have.
    hosts: Vec<String>,
    /// The gateway's own tools, which are offered beside the page's.
    toolbox: Arc<Toolbox>,
    open: Mutex<HashMap<String, Arc<Endpoint>>>,
}

impl PageServers {
    /// `base`: what agents reach the gateway by, if that is not the address that it listens on.
    pub(crate) fn new(
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

    /// The server at an address.
    pub(crate) fn find(&self, name: &str) -> Option<Arc<Endpoint>> {
        self.open().get(name).cloned()
    }

    /// Opens a server for somebody's thread; `offers_own`: with the gateway's own tools.
    pub(crate) fn open_one(
        self: &Arc<Self>,
        principal: &Principal,
        offers_own: bool,
    ) -> io::Result<PageServer> {
        let (name, secret) = (random_id()?, random_id()?);
        let (requests, inbox) = mpsc::channel(MAX_REQUESTS);
        let service = Arc::new(PageService {
            tools: Mutex::new(Arc::from([])),
            toolbox: offers_own.then(|| self.toolbox.clone()),
            principal: principal.clone(),
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

    /// How an agent that speaks HTTP with MCP servers reaches it.
    pub(crate) fn over_http(&self, options: &Options) -> McpServer {
        let authorization = HttpHeader::new("Authorization", format!("Bearer {}", self.secret));
        McpServer::Http(McpServerHttp::new(&*options.server, self.url(), [authorization]))
    }

    /// The same for one that starts its servers.
    pub(crate) fn over_stdio(&self, options: &Options) -> io::Result<McpServer> {
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

/// What the server does.
struct PageService {
    tools: Mutex<Arc<[Tool]>>,
    /// The gateway's own tools, if they are offered.
    toolbox: Option<Arc<Toolbox>>,
    principal: Principal,
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
        let mut withdraw = Withdraw { service: self, key, is_over: false };
        match self.own(&call.name) {
            Some(toolbox) => self.call_own(toolbox, call, context, &mut withdraw).await.into(),
            None => self.call_page(call, context, &mut withdraw).await.into(),
        }
    }
}

impl PageService {
    /// The gateway's tools, if this is one of them and none of the page's.
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
        let plugins = toolbox.plugins();
        if !plugins.has(&call.name) {
            withdraw.is_over = true;
            return match toolbox.call(&call.name).await {
                Ok(text) => CallToolResult::new([ContentBlock::Text(TextContent::new(text))]),
                Err(error) => failed(&error),
            };
        }
        let asking = Asking { service: self, call, key: withdraw.key };
        let (name, arguments) = (&call.name, call.arguments.clone());
        let calling = plugins.call_held(name, arguments, self.principal.as_str(), &asking);
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

/// A call of a tool whose questions go to the thread's user.
struct Asking<'a> {
    service: &'a PageService,
    call: &'a ToolCall,
    key: u64,
}

#[async_trait]
impl Asker for Asking<'_> {
    async fn ask(&self, session_id: &str, ask: &Ask) -> Outcome {
        let question = match self.question(session_id, ask) {
            Ok(question) => Box::new(question),
            Err(why) => return Outcome::Error(why),
        };
        let (reply, answer) = oneshot::channel();
        let asked = FromServer::Ask { key: self.key, question, reply };
        let answer = match self.service.requests.send(asked).await {
            Ok(()) => answer.await.ok(),
            Err(_) => None,
        };
        let answer = answer.unwrap_or_else(|| ElicitationAction::Cancel(Extra::new()));
        match Raw::from_value(&answer) {
            Ok(answer) => Outcome::Value(answer),
            Err(error) => Outcome::Error(error.to_string()),
        }
    }
}

impl Asking<'_> {
    fn question(&self, session_id: &str, ask: &Ask) -> Result<ToolQuestion, String> {
        let form = match &ask.request {
            ServerRequest::Elicit(params) => match &**params {
                ElicitRequestParams::Form(form) => form,
                _ => return Err("the user can be asked with forms alone".to_owned()),
            },
            _ => return Err("there is no model that can be asked".to_owned()),
        };
        let mut meta = Extra::new();
        if let Some(context) = ask.context.as_ref().filter(|context| !context.is_empty()) {
            meta.insert(mcp_bridge::context::NAME, context.as_raw().clone());
        }
        if let Ok(key) = Raw::from_value(&ask.key) {
            meta.insert("elicitKey", key);
        }
        // So that a page which ends the call knows that this needs no answer.
        if let Ok(session_id) = Raw::from_value(&session_id) {
            meta.insert("sessionId", session_id);
        }
        Ok(ToolQuestion {
            tool: self.call.name.clone(),
            agent_id: self.call.meta.as_ref().and_then(agent_call_id),
            message: form.message.clone(),
            schema: form.requested_schema.decode().map_err(|error| error.to_string())?,
            meta: Raw::from_value(&meta).ok().map(Meta::from),
        })
    }
}
