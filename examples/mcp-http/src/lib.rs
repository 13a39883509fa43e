//! Streamable HTTP for the sans-IO server and client of [`mcp_bridge`], for both generations on one endpoint.
//!
//! | | up to 2025-11-25 | since 2026-07-28 |
//! |---|---|---|
//! | a request | part of a session, which `initialize` starts and `DELETE` ends | independent |
//! | a question of a tool | a request of the server in the stream of the call | the call ends with `input_required` |
//! | messages without a request | the stream opened by `GET` | the stream of `subscriptions/listen` |
//! | an interrupted stream | is resumed with `GET` and `Last-Event-ID` | cancels its request |
//! | headers | `Mcp-Session-Id`, `MCP-Protocol-Version` | repeat parts of the body and are compared with it |
//!
//! A [`Service`] implements the tools. [`PluginService`] is a service for tools that ask while they run, such as
//! [`book_flight`]. An [`Endpoint`] serves it, and [`router`] mounts an endpoint at a path.
//!
//! An [`HttpClient`] connects to servers of either generation. With a [`SignIn`] it signs in where a server requires
//! authorization; [`Loopback`] receives the end of a sign-in in the user's browser.
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
mod loopback;
mod plugins;
mod random;
#[cfg(feature = "redis")]
mod redis_owner;
#[cfg(feature = "redis")]
mod redis_store;
mod service;
mod sign_in;
mod sse;
mod stream;
mod tasks;
mod upstream;

pub use client::{Handler, HttpClient};
pub use endpoint::{Authenticate, Endpoint, EndpointOptions, router};
pub use loopback::Loopback;
pub use plugins::{Forwarder, PluginService, Sampler};
pub use random::{random_bytes, random_id, since_1970};
#[cfg(feature = "redis")]
pub use redis_owner::RedisOwner;
#[cfg(feature = "redis")]
pub use redis_store::RedisStore;
pub use service::{CallContext, RequestContext, Service};
pub use sign_in::{Browser, SignIn};

/// Compiles and runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
