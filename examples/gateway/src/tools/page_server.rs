//! The MCP server of a conversation, with the tools of the page and the server's own.
//!
//! Each server has an address that cannot be guessed, and its own secret.
use crate::telemetry::Telemetry;
use crate::tools::events::EventHandler;
use crate::tools::relay::{RelayService, report_changes};
use crate::tools::toolbox::{OfferedServer, Toolbox};
use acp_types::v1::session_setup::McpServer;
use agui_bridge::frontend_tool::{FrontendToolOptions, ToolSet};
use axum::extract::Request;
use axum::http::header::{AUTHORIZATION, RETRY_AFTER};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use door::Door;
use host::http::hold;
use mcp_bridge::mcp::tools::Tool;
use mcp_bridge_http::{Endpoint, EndpointOptions, Service, random_id};
use service::PageService;
use std::collections::HashMap;
use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};
use subtle::ConstantTimeEq;
use tokio::sync::Semaphore;
use tokio::task::AbortHandle;

mod asking;
mod door;
mod service;

/// Maximum number of requests at work to the server of one conversation, including streams that are
/// open.
const MAX_AT_WORK: usize = 64;

/// Seconds after which an agent may repeat a request that was one too many. The end of the others
/// is not known.
const BUSY_SECONDS: &str = "5";

/// The path prefix of the servers.
pub const PATH: &str = "/mcp/threads/";

/// Routes of the server of a thread. Some agents append the usual path of MCP servers, or a slash,
/// to the address.
pub const ROUTES: [&str; 4] = [
    "/mcp/threads/{name}",
    "/mcp/threads/{name}/",
    "/mcp/threads/{name}/mcp",
    "/mcp/threads/{name}/mcp/",
];

/// Environment variables with the URL and the secret of the server, for the shim.
pub(crate) const URL_VARIABLE: &str = "SPANWIRE_MCP_URL";
pub(crate) const SECRET_VARIABLE: &str = "SPANWIRE_MCP_SECRET";

/// The servers of all conversations, by the last part of their addresses.
#[derive(Debug)]
pub struct PageServers {
    /// URL under which agents reach this program.
    base: String,
    /// Valid names in the `Host` header.
    hosts: Vec<String>,
    /// The server's own tools.
    toolbox: Arc<Toolbox>,
    telemetry: Telemetry,
    open: Mutex<HashMap<String, PublishedServer>>,
    /// Requests at work to all servers.
    at_work: Arc<Semaphore>,
}

/// A server with an address.
#[derive(Clone, Debug)]
struct PublishedServer {
    endpoint: Arc<Endpoint>,
    /// The MCP server that it relays.
    relayed: Option<Arc<OfferedServer>>,
    /// Its requests at work.
    at_work: Arc<Semaphore>,
}

impl PageServers {
    /// Creates the servers. `base` is the URL under which agents reach this program, unless that is
    /// the address that it listens on. `at_work` is the maximum number of requests of all agents
    /// that are at work, including streams that are open.
    pub fn new(
        base: Option<String>,
        listens: SocketAddr,
        hosts: Vec<String>,
        toolbox: Arc<Toolbox>,
        telemetry: Telemetry,
        at_work: usize,
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
        let at_work = Arc::new(Semaphore::new(at_work));
        Self { base, hosts, toolbox, telemetry, open: Mutex::default(), at_work }
    }

    /// Returns the tools of the server and of MCP servers.
    pub fn toolbox(&self) -> &Toolbox {
        &self.toolbox
    }

    /// Returns whether there is a server with this name.
    pub fn has(&self, name: &str) -> bool {
        self.open().contains_key(name)
    }

    /// Handles a request to the server with this name, if there is one. A relay waits until the
    /// tools of its server are known. Too many requests at work are refused, because agents share
    /// the connections with users.
    pub async fn handle(&self, name: &str, request: Request) -> Option<Response> {
        let PublishedServer { endpoint, relayed, at_work } = self.open().get(name).cloned()?;
        let slots = [&self.at_work, &at_work].map(|it| it.clone().try_acquire_owned());
        let [Ok(all), Ok(own)] = slots else {
            let why = "too many requests of agents at the same time";
            let wait = [(RETRY_AFTER, BUSY_SECONDS)];
            return Some((StatusCode::TOO_MANY_REQUESTS, wait, why).into_response());
        };
        if let Some(OfferedServer { server, .. }) = relayed.as_deref()
            && server.description().is_none()
            && let Err(error) = server.connected().await
        {
            return Some((StatusCode::SERVICE_UNAVAILABLE, error.to_string()).into_response());
        }
        Some(hold(endpoint.handle(request).await, (all, own)))
    }

    /// Returns whether an agent has relays.
    pub fn has_relays(&self, agent: &str) -> bool {
        self.toolbox.relayed(agent).next().is_some()
    }

    /// Opens a server for a conversation of `user` with `agent`, and relays of MCP servers. With
    /// `offers_own` it includes the server's own tools.
    ///
    /// # Errors
    /// The system has no randomness.
    pub fn open_one(
        self: &Arc<Self>,
        user: &str,
        agent: &str,
        offers_own: bool,
        events: EventHandler,
    ) -> io::Result<PageServer> {
        let calls = Arc::new(AtomicU64::new(0));
        let service = Arc::new(PageService {
            tools: Mutex::new(Arc::from([])),
            toolbox: offers_own.then(|| self.toolbox.clone()),
            user: user.to_owned(),
            events: events.clone(),
            calls: calls.clone(),
        });
        let door = self.publish(service.clone(), None)?;
        let mut relays = Vec::new();
        for server in self.toolbox.relayed(agent) {
            let events = events.clone();
            let calls = calls.clone();
            let changes = server.server.subscribe(user);
            let user = user.to_owned();
            let telemetry = self.telemetry.clone();
            let server = server.clone();
            let watched = Mutex::default();
            let followed = server.clone();
            let relay = RelayService { server: followed, user, events, calls, telemetry, watched };
            let relay = Arc::new(relay);
            let door = self.publish(relay.clone(), Some(server.clone()))?;
            let watch = tokio::spawn(report_changes(changes, relay, door.endpoint.clone()));
            relays.push(Relay { door, server, watch: watch.abort_handle() });
        }
        Ok(PageServer { door, service, relays })
    }

    /// Gives a service an address and a secret.
    fn publish(
        self: &Arc<Self>,
        service: Arc<dyn Service>,
        relayed: Option<Arc<OfferedServer>>,
    ) -> io::Result<Door> {
        let name = random_id()?;
        let secret = random_id()?;
        let mut options = EndpointOptions::default();
        options.hosts.clone_from(&self.hosts);
        let expected = format!("Bearer {secret}");
        options.authenticate = Some(Arc::new(move |headers: &HeaderMap| {
            let given = headers.get(AUTHORIZATION)?.as_bytes();
            bool::from(given.ct_eq(expected.as_bytes())).then(String::new)
        }));
        let endpoint = Endpoint::new(service, options);
        let at_work = Arc::new(Semaphore::new(MAX_AT_WORK));
        let published = PublishedServer { endpoint: endpoint.clone(), relayed, at_work };
        self.open().insert(name.clone(), published);
        Ok(Door { servers: self.clone(), name, secret, endpoint })
    }

    fn open(&self) -> std::sync::MutexGuard<'_, HashMap<String, PublishedServer>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The server of one conversation. Dropping it closes the server.
pub struct PageServer {
    door: Door,
    service: Arc<PageService>,
    relays: Vec<Relay>,
}

impl fmt::Debug for PageServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The name and the secret grant access.
        f.debug_struct("PageServer").finish_non_exhaustive()
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
        self.door.endpoint.tools_changed();
    }

    /// Returns the server for an agent that speaks MCP over HTTP.
    pub fn over_http(&self, options: &FrontendToolOptions) -> McpServer {
        self.door.over_http(&options.server)
    }

    /// Returns the server for an agent that starts its servers.
    ///
    /// # Errors
    /// The path of this program is unknown.
    pub fn over_stdio(&self, options: &FrontendToolOptions) -> io::Result<McpServer> {
        self.door.over_stdio(&options.server)
    }

    /// Returns the relays, for an agent that this program has started or for another one. Each
    /// agent can start servers, but only one on this machine finds the program.
    ///
    /// # Errors
    /// The path of this program is unknown.
    pub fn relays(&self, is_local: bool) -> io::Result<Vec<McpServer>> {
        let relays = self.relays.iter().map(|relay| match is_local {
            true => relay.door.over_stdio(relay.server.server.name()),
            false => Ok(relay.door.over_http(relay.server.server.name())),
        });
        relays.collect()
    }
}

/// The relay of an MCP server for one conversation. Dropping it closes the relay.
struct Relay {
    door: Door,
    server: Arc<OfferedServer>,
    /// Reports changes of the server.
    watch: AbortHandle,
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.watch.abort();
    }
}
