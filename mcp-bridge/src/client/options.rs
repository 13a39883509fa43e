//! Options of clients and parameters of calls.
use crate::mcp::base::Era;
use crate::mcp::capabilities::{ClientCapabilities, Implementation};
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;
use jsonrpc_core::wire::{Meta, Raw};

/// Identity, capabilities and limits of a [`Client`](super::Client).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ClientOptions {
    /// Name and version of the client.
    pub client_info: Implementation,
    /// Capabilities to declare. The caller has to answer every request that they permit.
    pub capabilities: ClientCapabilities,
    /// Generation of the server, if it is known in advance. `None` detects it.
    pub era: Option<Era>,
    /// Time to wait for the response to `server/discover` before the client falls back to
    /// `initialize`.
    pub probe_timeout: Duration,
    /// Maximum number of times that one call may request input.
    pub max_rounds: u32,
    /// Whether the connection serves several users. A request or a log message of the server that
    /// names no call then belongs to no call: a request is refused. Otherwise it belongs to the
    /// only open call. Over stdio, a server up to 2025-11-25 cannot name a call, so that its tools
    /// cannot ask on a shared connection.
    pub is_shared: bool,
}

impl ClientOptions {
    /// Default of [`probe_timeout`](Self::probe_timeout).
    pub const DEFAULT_PROBE_TIMEOUT: Duration = Duration::from_secs(5);

    /// Default of [`max_rounds`](Self::max_rounds), the same as in the official SDKs.
    pub const DEFAULT_MAX_ROUNDS: u32 = 10;

    /// Creates options that detect the generation of the server, for a connection with one user.
    pub fn new(client_info: Implementation, capabilities: ClientCapabilities) -> Self {
        Self {
            client_info,
            capabilities,
            era: None,
            probe_timeout: Self::DEFAULT_PROBE_TIMEOUT,
            max_rounds: Self::DEFAULT_MAX_ROUNDS,
            is_shared: false,
        }
    }
}

/// Parameters of a tool call.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CallParams {
    /// Name of the tool.
    pub name: String,
    /// The arguments, a JSON object.
    pub arguments: Raw,
    /// Additional `_meta` members. Members that the protocol defines are set by the client.
    pub meta: Option<Meta>,
    /// Whether to request progress notifications.
    pub wants_progress: bool,
    /// Time at which the call fails, on the caller's clock. `None` means no deadline; answers of
    /// users may take long.
    pub deadline: Option<Duration>,
    /// State of a call that is retried. Since 2026-07-28.
    pub request_state: Option<String>,
    /// Answers of a call that is retried, by key. Since 2026-07-28.
    pub responses: Vec<(String, Raw)>,
}

impl CallParams {
    /// Creates the parameters of a new call.
    pub fn new(name: impl Into<String>, arguments: Raw) -> Self {
        Self {
            name: name.into(),
            arguments,
            meta: None,
            wants_progress: false,
            deadline: None,
            request_state: None,
            responses: Vec::new(),
        }
    }
}
