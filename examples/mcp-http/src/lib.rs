//! Streamable HTTP around the sans-IO server of [`mcp_bridge`], for clients of both generations on one endpoint.
//!
//! | | up to 2025-11-25 | from 2026-07-28 on |
//! |---|---|---|
//! | a request | in a session, which `initialize` begins and `DELETE` ends | stands by itself |
//! | a question of a tool | a request of the server in the stream of the call | the call ends with `input_required` |
//! | messages about no request | the stream that `GET` opens | the stream of `subscriptions/listen` |
//! | a stream that breaks | goes on with `GET` and `Last-Event-ID` | ends its request |
//! | headers | `Mcp-Session-Id`, `MCP-Protocol-Version` | say what the body says, and are held against it |
//!
//! A [`Service`] says which tools there are and what they do; [`PluginService`] is one for tools that ask while they run, such
//! as [`book_flight`]. An [`Endpoint`] serves it; [`router`] puts an endpoint at a path.
//!
//! An [`HttpClient`] uses such servers, of either generation.
//!
//! Spec: [Streamable HTTP](https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http)
//! (2026-07-28), [Transports](https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http)
//! (2025-11-25)
//!
//! ```
//! use mcp_bridge::mcp::capabilities::Implementation;
//! use mcp_bridge::plugin::{MemoryStore, PluginHost, SuspendPolicy};
//! use mcp_http::{Endpoint, EndpointOptions, PluginService, book_flight, random_id, router, since_1970};
//! use std::sync::Arc;
//!
//! let store = Arc::new(MemoryStore::default());
//! let tools = [book_flight::tool()?];
//! let host = PluginHost::new(tools, SuspendPolicy::Replay, store, random_id()?, Arc::new(since_1970));
//! let service = PluginService::new(host, Implementation::new("travel", "1"));
//! let app: axum::Router = router("/mcp", Endpoint::new(Arc::new(service), EndpointOptions::default()));
//! # drop(app);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod book_flight;
mod client;
mod connection;
mod endpoint;
mod event_stream;
mod exchange;
mod guard;
mod plugins;
mod random;
#[cfg(feature = "redis")]
mod redis_owner;
#[cfg(feature = "redis")]
mod redis_store;
mod service;
mod sse;
mod stream;
mod tasks;
mod upstream;

pub use client::{Handler, HttpClient};
pub use endpoint::{Authenticate, Endpoint, EndpointOptions, router};
pub use plugins::{Forwarder, PluginService, Sampler};
pub use random::{random_bytes, random_id, since_1970};
#[cfg(feature = "redis")]
pub use redis_owner::RedisOwner;
#[cfg(feature = "redis")]
pub use redis_store::RedisStore;
pub use service::{CallContext, RequestContext, Service};

/// The example of the README, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
