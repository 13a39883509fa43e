//! Tools of another server offered again, from either generation to either generation.
//!
//! A [`Relay`] is a [`Client`] of one server and a [`Server`] for any number of connections:
//!
//! | server | client | when a call needs something |
//! |---|---|---|
//! | up to 2025-11-25 | up to 2025-11-25 | the server's request goes to the client, its answer back |
//! | up to 2025-11-25 | 2026-07-28 | the client's call ends with `input_required`; that to the server waits, and goes on when the client calls again |
//! | 2026-07-28 | up to 2025-11-25 | requests go to the client; then the call to the server is made again |
//! | 2026-07-28 | 2026-07-28 | both calls end; the server's state travels inside of the relay's, which keeps nothing |
//!
//! The state that a client gets is sealed by a [`StateCodec`], and bound to the tool and its arguments. A relay keeps order
//! and its tools' names; to offer several servers at once, give tools [other names](crate::registry) before.
//!
//! It sends nothing, reads nothing and has no clock. Time is told with each message, and counts from one moment of the
//! caller's choosing.
//!
//! ```
//! use core::time::Duration;
//! use mcp_bridge::client::ClientOptions;
//! use mcp_bridge::mcp::capabilities::{ClientCapabilities, Implementation};
//! use mcp_bridge::relay::{Relay, RelayOptions, StateCodec};
//! use mcp_bridge::server::ServerOptions;
//!
//! /// For a client that is trusted; others need a signature at least.
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
//! // A client of the older generation, whose requests go to the newer server.
//! let connection = relay.connect().ok_or("too many")?;
//! let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
//! relay.handle_downstream(connection, Ok(hello), Duration::ZERO);
//! assert!(relay.poll_downstream().is_some());
//! # Ok::<(), &str>(())
//! ```
use crate::client::{CallError, Client, ClientOptions, ConnectError};
use crate::client::{ServerDescription, ToolList, UpstreamCall};
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

/// Seals a state that goes through a client, so that nobody can change it or use it for something else.
///
/// It should be bound to the person too, where several share a relay, and expire.
///
/// Spec: [Server Requirements](https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr#server-requirements-basic-workflow)
/// (2026-07-28)
pub trait StateCodec {
    /// Seals a state, for use with `bound_to` only.
    fn seal(&self, state: &str, bound_to: &str) -> String;

    /// Opens a state; nothing if it was changed, is for something else, or has expired.
    fn open(&self, sealed: &str, bound_to: &str) -> Option<String>;
}

/// Tools of another server offered again.
#[derive(Debug)]
pub struct Relay<C> {
    client: Client,
    options: RelayOptions,
    codec: C,
    connections: BTreeMap<ConnectionId, Server>,
    /// Those on which something may have happened.
    touched: BTreeSet<ConnectionId>,
    next_connection: u64,
    links: BTreeMap<UpstreamCall, Link>,
    outgoing: VecDeque<(ConnectionId, Outgoing)>,
    events: VecDeque<RelayEvent>,
    /// The tools of the upstream: `None` until they are known, or the error that prevents it.
    tools: Option<Result<(), ErrorObject>>,
    now: Duration,
}

/// Names a connection of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionId(u64);

/// What a relay is.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RelayOptions {
    /// What it is to clients. Its tools are those of the server, once they are known.
    pub server: ServerOptions,
    /// How long a call of an old server waits for a client to call again.
    pub wait: Duration,
    /// Tells this relay from every other, those before it included: something random. A client that comes back to another
    /// one is told that its call was lost.
    pub instance: String,
}

impl RelayOptions {
    /// How long a call waits unless told otherwise.
    pub const DEFAULT_WAIT: Duration = Duration::from_secs(15 * 60);

    /// With the time to wait that there is by default.
    pub fn new(server: ServerOptions, instance: impl Into<String>) -> Self {
        Self { server, wait: Self::DEFAULT_WAIT, instance: instance.into() }
    }
}

/// What a relay tells.
#[derive(Debug)]
#[non_exhaustive]
pub enum RelayEvent {
    /// The server can be used; its tools are asked for.
    Ready(Box<ServerDescription>),
    /// The server cannot be used.
    Unusable(ConnectError),
    /// The tools of the server are offered from now on; some may have been left out.
    Tools(Box<ToolList>),
    /// The list of tools was refused, so that those from before are offered.
    ToolsFailed(CallError),
    /// A call waited too long for its client, and was cancelled.
    Expired(UpstreamCall),
    /// Something that cannot be read came, from the server or from a client.
    Malformed(String),
}

/// A call that goes through.
#[derive(Debug)]
struct Link {
    /// The client's call; nothing while the relay waits for the client to call again.
    downstream: Option<(ConnectionId, CallId)>,
    bound_to: String,
    /// What the client was asked, and has not answered.
    asked: Vec<(String, ServerRequest)>,
    /// What came of the call while nobody was there.
    outcome: Option<Result<CallToolResult, ErrorObject>>,
    /// When the client must have called again.
    expires: Option<Duration>,
}

impl<C: StateCodec> Relay<C> {
    /// The most connections of clients.
    pub const MAX_CONNECTIONS: usize = 4096;

    /// A relay to a server of which nothing is known yet.
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

    /// Begins to talk to the server.
    pub fn start(&mut self, now: Duration) {
        self.now = now;
        self.client.start(now);
    }

    /// A client has come: a child process, an HTTP session, or a single HTTP request. Nothing if there are too many.
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

    /// A client has gone. Its calls are cancelled; those that wait for it to call again go on waiting.
    pub fn disconnect(&mut self, connection: ConnectionId) {
        if let Some(server) = self.server(connection) {
            server.handle_close();
        }
        self.pump();
        self.connections.remove(&connection);
    }

    /// Takes a line of a client.
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

    /// Takes a line of the server; `related` as in [`Client::handle_line`].
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

    /// Tells the time.
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
            // It may be done: then there is nothing to cancel.
            let _done = self.client.cancel(call);
            self.events.push_back(RelayEvent::Expired(call));
        }
        self.pump();
    }

    /// Tells that the connection to the server is closed. All calls fail.
    pub fn handle_upstream_closed(&mut self) {
        self.client.handle_close();
        self.pump();
    }

    /// When [`handle_timeout`](Self::handle_timeout) has something to do, unless something happens before.
    pub fn poll_timeout(&self) -> Option<Duration> {
        let links = self.links.values().filter_map(|link| link.expires);
        let servers = self.connections.values().filter_map(Server::poll_timeout);
        links.chain(servers).chain(self.client.poll_timeout()).min()
    }

    /// What is to be sent to a client next.
    pub fn poll_downstream(&mut self) -> Option<(ConnectionId, Outgoing)> {
        self.outgoing.pop_front()
    }

    /// What is to be sent to the server next.
    pub fn poll_upstream(&mut self) -> Option<MessageBuf> {
        self.client.poll_outgoing()
    }

    /// What happened next.
    pub fn poll_event(&mut self) -> Option<RelayEvent> {
        self.events.pop_front()
    }

    /// How many calls go through or wait.
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
