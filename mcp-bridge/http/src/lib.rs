//! [Streamable
//! HTTP](https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http)
//! for the Model Context Protocol (MCP): tools of [`mcp_bridge`] as an axum
//! [`Router`](axum::Router), for clients of both generations at one address, and a client for
//! servers of both.
//!
//! ```toml
//! [dependencies]
//! axum = "0.8"
//! mcp-bridge = { version = "0.1", features = ["plugin"] }
//! mcp-bridge-http = "0.1"
//! schemars = "1"
//! serde = { version = "1", features = ["derive"] }
//! tokio = { version = "1", features = ["macros", "net", "rt-multi-thread"] }
//! ```
//!
//! # First program
//!
//! A server with one tool, at `http://127.0.0.1:8970/mcp`:
//!
//! ```no_run
//! use mcp_bridge::mcp::capabilities::Implementation;
//! use mcp_bridge::plugin::{NoElicitations, PluginContext, PluginTool};
//! use mcp_bridge_http::{Endpoint, EndpointOptions, PluginService, router};
//! use schemars::JsonSchema;
//! use serde::Deserialize;
//! use std::sync::Arc;
//!
//! /// Arguments of the tool. Their JSON Schema is derived.
//! #[derive(Deserialize, JsonSchema)]
//! struct Add {
//!     a: i64,
//!     b: i64,
//! }
//!
//! #[tokio::main]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let add = PluginTool::builder("add", "1")
//!         .description("Adds two integers")
//!         .elicits::<NoElicitations>()
//!         .execute(|add: Add, _: PluginContext<NoElicitations>| async move { Ok(add.a + add.b) })?;
//!     let service = PluginService::in_memory([add], Implementation::new("calculator", "1.0.0"))?;
//!     let endpoint = Endpoint::new(Arc::new(service), EndpointOptions::default());
//!     let listener = tokio::net::TcpListener::bind("127.0.0.1:8970").await?;
//!     axum::serve(listener, router("/mcp", endpoint)).await?;
//!     Ok(())
//! }
//! ```
//!
//! # Overview
//!
//! | task | item |
//! |---|---|
//! | serve tools that may ask while they run | [`PluginService`], with sessions in memory or in a store |
//! | implement tools, prompts or resources directly | [`Service`] |
//! | add a service to an axum application | [`Endpoint`], [`router`] |
//! | share waiting calls between several programs | `RedisStore`, `RedisOwner` (feature `redis`) |
//! | forward the sessions of older clients between programs | `Replicas`, `Directory` (feature `client`) |
//! | call the tools of a server, over HTTP or pipes | `McpClient`, `Handler`, `OpenCall` (feature `client`) |
//! | sign in at a server that requires authorization | `SignIn`, `Browser`, `Loopback`, `Assertions`, `CredentialStore` (feature `client`) |
//! | sign in for tokens that are bound to a key (DPoP) | `ProofSigner` (feature `client`), `Es256Key` (feature `dpop`) |
//!
//! The router is a tower service. It can be nested, merged with other routes, and wrapped in
//! layers.
//!
//! # The two generations
//!
//! | | up to 2025-11-25 | since 2026-07-28 |
//! |---|---|---|
//! | a request | part of a session, which `initialize` starts and `DELETE` ends | independent |
//! | a question of a tool | a request of the server in the stream of the call | the call ends with `input_required` |
//! | messages without a request | the stream opened by `GET` | the stream of `subscriptions/listen` |
//! | an interrupted stream | is resumed with `GET` and `Last-Event-ID` | cancels its request |
//! | headers | `Mcp-Session-Id`, `MCP-Protocol-Version` | repeat parts of the body and are compared with it |
//!
//! # Features
//!
//! No feature is enabled by default.
//!
//! | feature | adds |
//! |---|---|
//! | `client` | the client, with sign-in by OAuth 2.1, and requests between programs |
//! | `dpop` | keys for tokens that are bound to one; includes `client` |
//! | `redis` | waiting calls and addresses of programs in Redis; includes `client` |
//!
//! Spec: [Streamable
//! HTTP](https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http)
//! (2026-07-28),
//! [Transports](https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http)
//! (2025-11-25)
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "client")]
mod call_event;
#[cfg(feature = "client")]
mod client;
mod connection;
mod endpoint;
mod endpoint_options;
#[cfg(feature = "dpop")]
mod es256;
#[cfg(feature = "client")]
mod event_stream;
#[cfg(feature = "client")]
mod exchange;
#[cfg(feature = "client")]
mod failure;
mod guard;
#[cfg(feature = "client")]
mod loopback;
mod plugins;
mod random;
#[cfg(feature = "redis")]
mod redis_owner;
#[cfg(feature = "redis")]
mod redis_store;
#[cfg(feature = "client")]
mod replicas;
mod running_tasks;
mod service;
#[cfg(feature = "client")]
mod sign_in;
mod sse;
mod stream;
mod tasks;
#[cfg(feature = "client")]
mod transport;
#[cfg(feature = "client")]
mod transport_event;
#[cfg(feature = "client")]
mod upstream;

pub use axum;
#[cfg(feature = "client")]
pub use call_event::CallEvent;
#[cfg(feature = "client")]
pub use client::{Handler, McpClient, OpenCall};
pub use endpoint::{Endpoint, router};
pub use endpoint_options::{Authenticate, EndpointOptions};
#[cfg(feature = "dpop")]
pub use es256::Es256Key;
#[cfg(feature = "client")]
pub use loopback::Loopback;
pub use mcp_bridge;
pub use plugins::{Forwarder, PluginService, Sampler, sample};
pub use random::{random_bytes, random_id, since_1970};
#[cfg(feature = "redis")]
pub use redis_owner::RedisOwner;
#[cfg(feature = "redis")]
pub use redis_store::RedisStore;
#[cfg(feature = "client")]
pub use replicas::{Directory, Replicas};
#[cfg(feature = "client")]
pub use reqwest;
pub use service::{CallContext, RequestContext, Service};
#[cfg(feature = "client")]
pub use sign_in::{Assertions, Browser, CredentialStore, OpenPage, ProofSigner, SignIn};

/// Compiles and runs the examples of the README.
#[cfg(all(doctest, feature = "client"))]
#[doc = include_str!("../README.md")]
struct Readme;
