//! The [Agent Client Protocol](https://agentclientprotocol.com) (ACP) as open, lossless Rust types,
//! and state machines for agents and clients.
//!
//! ACP connects an editor, the client, with a coding agent by JSON-RPC 2.0. This crate has types
//! for every message of protocol versions 1 and 2, state machines for both sides of a connection,
//! and traits with async methods on top of them. The types and the machines perform no I/O and are
//! `no_std` with `alloc`.
//!
//! ```toml
//! [dependencies]
//! acp-types = { version = "0.1", features = ["tokio"] }
//! tokio = { version = "1", features = ["macros", "rt"] }
//! ```
//!
//! The features are for the programs below. The types and machines need none.
//!
//! # Which item for which task
//!
//! | to | use |
//! |---|---|
//! | write an agent that an editor starts | `connection::v1::Agent` with `connection::stdio` |
//! | write a client for an agent | `connection::v1::Client` with `connection::v1::connect_client` and `connection::framed` |
//! | look up the signatures of these handlers | [`guide::handlers`] |
//! | drive a connection in an own event loop, without async | [`client::Connection`], [`agent::Connection`] |
//! | find a type | [`v1`] and [`v2`], with a module for each page of the specification; or search for the method name |
//! | decode a message by its method | [`v1::dispatch`], [`v2::dispatch`] |
//! | tolerate invalid members as the schema permits | [`wire::Mode`](jsonrpc_core::wire::Mode) with `decode_with` |
//! | decide whether a message may be sent after `initialize` | [`capabilities`] |
//! | list the methods of a version with receivers and types | [`methods`]; as a page, [`guide::methods`] |
//! | maintain messages, tool calls and plans of a session | [`session_state`] |
//! | connect an editor and an agent of different versions | `convert` |
//! | check a recorded conversation against the specification | `lint`; as a page, [`guide::lint_rules`] |
//! | produce a JSON Schema | `schema` |
//! | port a program from `agent-client-protocol-schema` | [`guide::migration`] |
//!
//! # An agent
//!
//! The agent repeats each prompt, over standard input and output:
//!
//! ```no_run
//! use acp_types::connection::{ConnectionOptions, Context, Result, async_trait, stdio, v1};
//! use acp_types::v1::initialization::*;
//! use acp_types::v1::prompt_turn::*;
//! use acp_types::v1::session_setup::*;
//!
//! struct Echo;
//!
//! #[async_trait]
//! impl v1::Agent for Echo {
//!     async fn initialize(&self, _: InitializeRequest, _: Context) -> Result<InitializeResponse> {
//!         Ok(InitializeResponse::new(ProtocolVersion::V1))
//!     }
//!
//!     async fn new_session(&self, _: NewSessionRequest, _: Context) -> Result<NewSessionResponse> {
//!         Ok(NewSessionResponse::new("session-1"))
//!     }
//!
//!     async fn prompt(&self, request: PromptRequest, context: Context) -> Result<PromptResponse> {
//!         for block in request.prompt {
//!             let update = SessionUpdate::AgentMessageChunk(ContentChunk::new(block));
//!             let update = SessionNotification::new(request.session_id.clone(), update);
//!             context.peer().notify(&update).await?;
//!         }
//!         Ok(PromptResponse::new(StopReason::EndTurn))
//!     }
//! }
//!
//! #[tokio::main(flavor = "current_thread")]
//! async fn main() -> std::io::Result<()> {
//!     let (reader, writer) = stdio();
//!     v1::connect_agent(Echo, reader, writer, ConnectionOptions::default()).0.await
//! }
//! ```
//!
//! # A client
//!
//! The client starts an agent, sends one prompt, and prints the agent's text. It needs tokio's
//! features `process` and `time`:
//!
//! ```no_run
//! use acp_types::client::{Prompt, TurnEnd};
//! use acp_types::connection::{ConnectionOptions, Context, Peer, Result, async_trait, framed, v1};
//! use acp_types::jsonrpc_core::wire::Extra;
//! use acp_types::v1::content::ContentBlock;
//! use acp_types::v1::initialization::{InitializeRequest, ProtocolVersion};
//! use acp_types::v1::prompt_turn::{SessionNotification, SessionUpdate};
//! use acp_types::v1::session_setup::NewSessionRequest;
//! use acp_types::v1::tool_calls::{
//!     RequestPermissionOutcome, RequestPermissionRequest, RequestPermissionResponse,
//! };
//! use std::process::Stdio;
//! use std::time::Duration;
//!
//! /// Prints the agent's text, and cancels its permission requests.
//! struct Terminal;
//!
//! #[async_trait]
//! impl v1::Client for Terminal {
//!     async fn request_permission(
//!         &self,
//!         _: RequestPermissionRequest,
//!         _: Context,
//!     ) -> Result<RequestPermissionResponse> {
//!         Ok(RequestPermissionResponse::new(RequestPermissionOutcome::Cancelled(Extra::default())))
//!     }
//!
//!     async fn session_update(&self, notification: SessionNotification, _: Peer) {
//!         if let SessionUpdate::AgentMessageChunk(chunk) = notification.update
//!             && let ContentBlock::Text(text) = chunk.content
//!         {
//!             print!("{}", text.text);
//!         }
//!     }
//! }
//!
//! #[tokio::main(flavor = "current_thread")]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let mut agent = tokio::process::Command::new("my-agent")
//!         .stdin(Stdio::piped())
//!         .stdout(Stdio::piped())
//!         .spawn()?;
//!     let stdout = agent.stdout.take().ok_or("no standard output")?;
//!     let stdin = agent.stdin.take().ok_or("no standard input")?;
//!     let (reader, writer) = framed(stdout, stdin);
//!
//!     let initialize = InitializeRequest::new(ProtocolVersion::V1);
//!     let options = ConnectionOptions::default();
//!     let (connection, sessions) =
//!         v1::connect_client(Terminal, reader, writer, initialize, options);
//!     // Its end drops `sessions`, which shuts the connection down.
//!     let turn = async move {
//!         // A program that is no agent answers nothing.
//!         tokio::time::timeout(Duration::from_secs(30), sessions.initialized()).await??;
//!         let session = sessions.open(NewSessionRequest::new("/home/me/project", [])).await?;
//!         let end = session.prompt(Prompt::v1(["Hello".into()])).await?;
//!         if let TurnEnd::V1(response) = end.value {
//!             println!("stop reason: {}", response.stop_reason.as_str());
//!         }
//!         Ok::<_, Box<dyn std::error::Error>>(())
//!     };
//!     // The connection runs while its future is polled.
//!     let (connection, turn) = tokio::join!(connection, turn);
//!     connection?;
//!     turn
//! }
//! ```
//!
//! `cargo run --example duplex --features async` runs an agent and a client in one process.
//!
//! # Types
//!
//! **Decoding and encoding gives the same JSON value.** Unknown members are kept in `extra`,
//! unknown names of an enum and unknown variants of a union in `Unknown`. An invalid value is an
//! error with a JSON pointer, the expected type and the received one. Numbers are kept by value:
//! `0` may be encoded as `0.0` where the protocol has a fraction.
//!
//! ```
//! use acp_types::v1::content::ContentBlock;
//! use acp_types::v1::prompt_turn::{SessionNotification, SessionUpdate};
//! use acp_types::{jsonrpc_core::wire, serde_json};
//!
//! let params = r#"{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Hi"}}}"#;
//! let notification: SessionNotification = wire::decode(params)?;
//! let SessionUpdate::AgentMessageChunk(chunk) = &notification.update else { panic!("another update") };
//! let ContentBlock::Text(text) = &chunk.content else { panic!("not text") };
//! assert_eq!(text.text, "Hi");
//!
//! // An update of a newer protocol is kept.
//! let newer = r#"{"sessionId":"s","update":{"sessionUpdate":"mood","level":1.50}}"#;
//! let notification: SessionNotification = wire::decode(newer)?;
//! assert_eq!(notification.update.tag(), "mood");
//! assert!(!notification.update.is_known());
//! assert_eq!(serde_json::to_string(&notification)?, newer);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The constructor `new` has the required members as parameters. Optional members are public fields
//! with a setter `with_*`:
//!
//! ```
//! use acp_types::serde_json;
//! use acp_types::v1::prompt_turn::{PromptResponse, StopReason, Usage, UsageMembers};
//!
//! let usage = UsageMembers { total_tokens: 53, input_tokens: 35, output_tokens: 18 };
//! let response = PromptResponse::new(StopReason::EndTurn).with_usage(Usage::from(usage));
//! assert_eq!(
//!     serde_json::to_string(&response)?,
//!     r#"{"stopReason":"end_turn","usage":{"totalTokens":53,"inputTokens":35,"outputTokens":18}}"#,
//! );
//! # Ok::<(), serde_json::Error>(())
//! ```
//!
//! # Versions
//!
//! Version 2 is a preview, and may change in any release of this crate. Types and members that are
//! not part of the stable version are marked **Unstable**, and may change as well. They are always
//! compiled, because a peer can send them at any time.
//!
//! # Features
//!
//! | feature | adds |
//! |---|---|
//! | `async` | `connection`: agents and clients as traits with async methods, for any runtime |
//! | `tokio` | `connection::stdio` for an agent and `connection::framed` for a client; enables `async` |
//! | `convert` | `convert`: a bridge between an editor and an agent of different versions |
//! | `lint` | `lint`: a linter of conversations; enables `schemars` |
//! | `schemars` | `schema`: the JSON Schema of each version, and `JsonSchema` for each type |
//!
//! No feature is enabled by default.
#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![warn(clippy::exhaustive_enums)]

extern crate alloc;
#[cfg(feature = "async")]
extern crate std;

pub mod agent;
mod alike;
mod base64;
mod by_version;
pub mod capabilities;
pub mod client;
#[cfg(feature = "async")]
pub mod connection;
mod conversion;
#[cfg(feature = "convert")]
pub mod convert;
mod dispatch;
mod endpoint;
#[cfg(any(doc, doctest))]
pub mod guide;
mod inbox;
#[cfg(feature = "lint")]
pub mod lint;
mod method;
pub mod methods;
mod params;
mod rejection;
#[cfg(feature = "schemars")]
pub mod schema;
pub mod session_state;
mod shared;
mod sorted_map;
mod spoken;
pub mod v1;
pub mod v2;

pub use jsonrpc_core;
pub use serde;
pub use serde_json;

/// The examples of the README, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
