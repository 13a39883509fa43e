//! Relays the tools of another server, between any combination of generations.
//!
//! A [`Relay`] combines a [`Client`] of one server with a [`Server`] for any number of connections:
//!
//! | upstream server | client | when a call needs input |
//! |---|---|---|
//! | up to 2025-11-25 | up to 2025-11-25 | the request of the server is forwarded to the client, and its response back |
//! | up to 2025-11-25 | 2026-07-28 | the client's call ends with `input_required`; the upstream call stays open until the client calls again |
//! | 2026-07-28 | up to 2025-11-25 | requests are sent to the client; then the upstream call is sent again |
//! | 2026-07-28 | 2026-07-28 | both calls end; the relay is stateless and embeds the state of the server in its own |
//!
//! The state that a client receives is sealed by a [`StateCodec`] and bound to the tool and its arguments. A relay
//! preserves the order and the names of tools. To combine several servers, rename their tools with a
//! [registry](crate::registry) first.
//!
//! The relay performs no I/O and reads no clock. Times are arguments, as offsets from an epoch of the caller's choice.
//!
//! ```
//! use core::time::Duration;
//! use mcp_bridge::client::ClientOptions;
//! use mcp_bridge::mcp::capabilities::{ClientCapabilities, Implementation};
//! use mcp_bridge::relay::{Relay, RelayOptions, StateCodec};
//! use mcp_bridge::server::ServerOptions;
//!
//! /// For trusted clients only. Other clients require at least a signature.
//! struct Plain;
//!
//! impl StateCodec for Plain {
//!     fn seal(&self, state: &str, bound_to: &str) -> String {
//!         format!("{}\n{bound_to}", state)
//!     }
//!
//!     fn open(&self, sealed: &str, bound_to: &str) -> Option<String> {
//!         let (state, bound) = sealed.split_once('\n')?;
//!         (bound == bound_to).then(|| state.to_owned())
//!     }
//! }
//!
//! let me = Implementation::new("relay", "1");
//! let client = ClientOptions::new(me.clone(), ClientCapabilities::new());
//! let mut relay = Relay::new(client, RelayOptions::new(ServerOptions::new(me, []), "7f3a"), Plain);
//! relay.start(Duration::ZERO);
//! assert_eq!(relay.poll_upstream().as_ref().and_then(|sent| sent.method()), Some("server/discover"));
//!
//! let upstream = r#"{"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}}"#;
//! relay.handle_upstream(Ok(upstream), None, Duration::ZERO);
//! assert_eq!(relay.poll_upstream().as_ref().and_then(|sent| sent.method()), Some("tools/list"));
//!
//! // A client of the older generation. Its requests are forwarded to the newer server.
//! let connection = relay.connect().ok_or("too many")?;
//! let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
//! relay.handle_downstream(connection, Ok(hello), Duration::ZERO);
//! assert!(relay.poll_downstream().is_some());
//! # Ok::<(), &str>(())
//! ```
use crate::client::{CallError, Client, ClientOptions, ConnectError};
use crate::client::{ListedTools, ServerDescription, UpstreamCall};
use crate::mcp::dispatch::ServerRequest;
use crate::mcp::tools::CallToolResult;
use crate::server::{CallId, Outgoing, Server, ServerOptions};
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;
use jsonrpc_core::framing::FrameError;
use jsonrpc_core::{ErrorObject, MessageBuf};

mod link;

/// Seals a state that passes through a client, so that it cannot be modified or used for another purpose.
///
/// An implementation should also bind the state to the user if several users share a relay, and let it expire.
///
/// Spec: [Server Requirements](https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr#server-requirements-basic-workflow)
/// (2026-07-28)
pub trait StateCodec {
    /// Seals a state for use with `bound_to` only.
    fn seal(&self, state: &str, bound_to: &str) -> String;

    /// Opens a state. Returns `None` if it was modified, bound to something else, or has expired.
    fn open(&self, sealed: &str, bound_to: &str) -> Option<String>;
}

/// Relays the tools of an upstream server to clients.
///
/// The [module](self) has an example.
#[derive(Debug)]
pub struct Relay<C> {
    client: Client,
    options: RelayOptions,
    codec: C,
    connections: BTreeMap<ConnectionId, Server>,
    /// Connections with unprocessed events.
    touched: BTreeSet<ConnectionId>,
    next_connection: u64,
    links: BTreeMap<UpstreamCall, Link>,
    outgoing: VecDeque<(ConnectionId, Outgoing)>,
    events: VecDeque<RelayEvent>,
    /// State of the upstream tool list: `None` until it is known, or the error that prevents it.
    tools: Option<Result<(), ErrorObject>>,
    now: Duration,
}

/// Identifies a client connection of a [`Relay`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionId(u64);

/// Options of a [`Relay`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RelayOptions {
    /// Options of the server that clients see. Its tools are replaced by those of the upstream server.
    pub server: ServerOptions,
    /// How long a call of a server up to 2025-11-25 waits for its client to call again.
    pub wait: Duration,
    /// Random text that identifies this relay among all relays, including previous ones. A client that returns to
    /// another relay is informed that its call was lost.
    pub instance: String,
}

impl RelayOptions {
    /// Default of [`wait`](Self::wait).
    pub const DEFAULT_WAIT: Duration = Duration::from_secs(15 * 60);

    /// Creates options with the default wait.
    pub fn new(server: ServerOptions, instance: impl Into<String>) -> Self {
        Self { server, wait: Self::DEFAULT_WAIT, instance: instance.into() }
    }
}

/// An event returned by [`Relay::poll_event`].
#[derive(Debug)]
#[non_exhaustive]
pub enum RelayEvent {
    /// The upstream server is connected. Its tools are requested next.
    Ready(Box<ServerDescription>),
    /// The upstream server cannot be used.
    Unusable(ConnectError),
    /// The tools of the upstream server are now offered. Some may have been left out.
    Tools(Box<ListedTools>),
    /// The tool list could not be retrieved. The previous tools are still offered.
    ToolsFailed(CallError),
    /// A call waited too long for its client and was cancelled.
    Expired(UpstreamCall),
    /// A malformed message was received, from the upstream server or from a client.
    Malformed(String),
}

/// A relayed call.
#[derive(Debug)]
struct Link {
    /// The call of the client. `None` while the relay waits for the client to call again.
    downstream: Option<(ConnectionId, CallId)>,
    bound_to: String,
    /// Requests that were sent to the client and have no response yet.
    pending_requests: Vec<(String, ServerRequest)>,
    /// Outcome of the upstream call while no client was waiting for it.
    outcome: Option<Result<CallToolResult, ErrorObject>>,
    /// Time by which the client has to call again.
    expires: Option<Duration>,
}

impl<C: StateCodec> Relay<C> {
    /// Maximum number of client connections.
    pub const MAX_CONNECTIONS: usize = 4096;

    /// Creates a relay. Call [`start`](Self::start) next.
    pub fn new(client: ClientOptions, options: RelayOptions, codec: C) -> Self {
        Self {
            client: Client::new(client),
            options,
            codec,
            connections: BTreeMap::new(),
            touched: BTreeSet::new(),
            next_connection: 0,
            links: BTreeMap::new(),
            outgoing: VecDeque::new(),
            events: VecDeque::new(),
            tools: None,
            now: Duration::ZERO,
        }
    }

    /// Starts the handshake with the upstream server.
    pub fn start(&mut self, now: Duration) {
        self.now = now;
        self.client.start(now);
    }

    /// Adds a client connection: a child process, an HTTP session, or a single HTTP request. Returns `None` if there
    /// are too many.
    pub fn connect(&mut self) -> Option<ConnectionId> {
        if self.connections.len() >= Self::MAX_CONNECTIONS {
            return None;
        }
        let id = ConnectionId(self.next_connection);
        self.next_connection += 1;
        let mut server = Server::new(self.options.server.clone());
        match &self.tools {
            Some(Ok(())) => {}
            Some(Err(error)) => server.fail_tools(error.clone()),
            None => server.hold_tools(),
        }
        self.connections.insert(id, server);
        Some(id)
    }

    /// Removes a client connection. Its calls are cancelled, except those that wait for the client to call again.
    pub fn disconnect(&mut self, connection: ConnectionId) {
        if let Some(server) = self.server(connection) {
            server.handle_close();
        }
        self.pump();
        self.connections.remove(&connection);
    }

    /// Handles a line received from a client.
    pub fn handle_downstream(
        &mut self,
        connection: ConnectionId,
        line: Result<&str, FrameError>,
        now: Duration,
    ) {
        self.now = now;
        if let Some(server) = self.server(connection) {
            server.handle_line(line);
        }
        self.pump();
    }

    /// Handles a line received from the upstream server. For `related` see [`Client::handle_line`].
    pub fn handle_upstream(
        &mut self,
        line: Result<&str, FrameError>,
        related: Option<UpstreamCall>,
        now: Duration,
    ) {
        self.now = now;
        self.client.handle_line(line, related);
        self.pump();
    }

    /// Advances the clock to `now`.
    pub fn handle_timeout(&mut self, now: Duration) {
        self.now = now;
        self.client.handle_timeout(now);
        for (connection, server) in &mut self.connections {
            server.handle_timeout(now);
            self.touched.insert(*connection);
        }
        let due = |link: &Link| link.expires.is_some_and(|expires| expires <= now);
        let due: Vec<_> =
            self.links.iter().filter(|(_, link)| due(link)).map(|(id, _)| *id).collect();
        for call in due {
            self.links.remove(&call);
            // An error means that the call has ended.
            let _done = self.client.cancel(call);
            self.events.push_back(RelayEvent::Expired(call));
        }
        self.pump();
    }

    /// Handles the end of the upstream connection. All calls fail.
    pub fn handle_upstream_closed(&mut self) {
        self.client.handle_close();
        self.pump();
    }

    /// Returns the time at which [`handle_timeout`](Self::handle_timeout) has to be called, if any.
    pub fn poll_timeout(&self) -> Option<Duration> {
        let links = self.links.values().filter_map(|link| link.expires);
        let servers = self.connections.values().filter_map(Server::poll_timeout);
        links.chain(servers).chain(self.client.poll_timeout()).min()
    }

    /// Returns the next message to send to a client.
    pub fn poll_downstream(&mut self) -> Option<(ConnectionId, Outgoing)> {
        self.outgoing.pop_front()
    }

    /// Returns the next message to send to the upstream server.
    pub fn poll_upstream(&mut self) -> Option<MessageBuf> {
        self.client.poll_outgoing()
    }

    /// Returns the next event.
    pub fn poll_event(&mut self) -> Option<RelayEvent> {
        self.events.pop_front()
    }

    /// Returns the number of relayed calls, including those that wait.
    pub fn open_calls(&self) -> usize {
        self.links.len()
    }

    fn pump(&mut self) {
        let mut touched = BTreeSet::new();
        loop {
            if let Some(connection) = self.touched.pop_first() {
                touched.insert(connection);
                while let Some(event) =
                    self.connections.get_mut(&connection).and_then(Server::poll_event)
                {
                    self.handle_server_event(connection, event);
                }
            } else if let Some(event) = self.client.poll_event() {
                self.handle_client_event(event);
            } else {
                break;
            }
        }
        for connection in touched {
            let Some(server) = self.connections.get_mut(&connection) else { continue };
            while let Some(outgoing) = server.poll_outgoing() {
                self.outgoing.push_back((connection, outgoing));
            }
        }
    }

    fn server(&mut self, connection: ConnectionId) -> Option<&mut Server> {
        let server = self.connections.get_mut(&connection)?;
        self.touched.insert(connection);
        Some(server)
    }
}
