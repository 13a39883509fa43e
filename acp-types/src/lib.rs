//! The Agent Client Protocol as open, lossless Rust types.
//!
//! The [Agent Client Protocol](https://agentclientprotocol.com) (ACP) is JSON-RPC 2.0 between an editor, the client, and a
//! coding agent. This crate is its messages, and does no IO: [`v1`] and [`v2`] have a type for everything in the two
//! versions, in a module for each page of the specification, and [`methods`] has their methods as data.
//!
//! Version 2 is a draft. What does not belong to its version yet is marked **Unstable**, here and in the table of methods;
//! it is always compiled in, because a peer that sends it does not ask, and an open type without a field for it would
//! only keep it in `extra`. Both may change in any release.
//!
//! **Decode, then encode, gives the same JSON value.** Peers are newer, older or odd: members that a type does not know
//! stay in its `extra`, names that an enum does not know and variants that a union does not know are its `Unknown`, and
//! come out as they came in. A known shape with a bad body is an error that says where, what was expected, and what came.
//! Numbers are kept by value: `0` may come out as `0.0` where the protocol has a fraction.
//!
//! Read what an agent reports:
//!
//! ```
//! use acp_types::v1::content::ContentBlock;
//! use acp_types::v1::prompt_turn::{SessionNotification, SessionUpdate};
//! use acp_types::jsonrpc_core::wire;
//!
//! let params = r#"{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Hi"}}}"#;
//! let notification: SessionNotification = wire::decode(params)?;
//! let SessionUpdate::AgentMessageChunk(chunk) = &notification.update else { panic!("something else") };
//! let ContentBlock::Text(text) = &chunk.content else { panic!("not text") };
//! assert_eq!(text.text, "Hi");
//!
//! let newer = r#"{"sessionId":"s","update":{"sessionUpdate":"mood","level":1.50}}"#;
//! let notification: SessionNotification = wire::decode(newer)?;
//! assert_eq!((notification.update.tag(), notification.update.is_known()), ("mood", false));
//! assert_eq!(serde_json::to_string(&notification)?, newer);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Answer a prompt: `new` takes what the specification requires, the rest are public fields.
//!
//! ```
//! use acp_types::v1::prompt_turn::{PromptResponse, StopReason, Usage};
//!
//! let mut response = PromptResponse::new(StopReason::EndTurn);
//! response.usage = Some(Usage::new(53_u64, 35_u64, 18_u64));
//! assert_eq!(
//!     serde_json::to_string(&response)?,
//!     r#"{"stopReason":"end_turn","usage":{"totalTokens":53,"inputTokens":35,"outputTokens":18}}"#,
//! );
//! # Ok::<(), serde_json::Error>(())
//! ```
//!
//! What cannot be read is an error, or, where the schema allows it, left out with a diagnostic: every type and every
//! function of `dispatch` can be read in one of the [modes](jsonrpc_core::wire::Mode), and has exactly the marks of the
//! schema for it. Only `_meta` has none, since it is kept whatever it is.
//!
//! The envelope says which method a message is of, [`v1::dispatch`] and [`v2::dispatch`] read the rest by it. The
//! `initialize` pair decides which version a connection speaks; [`capabilities`] says what may be sent then.
//! [`session_state`] holds the state of a session after all of its updates. With the feature `schemars` the types have JSON
//! Schemas.
//!
//! [`client`] and [`agent`] are the two sides of a connection as machines without IO, which know the rest: which answer
//! belongs to which request, which update to which session, and how long to wait.
//!
//! | with the feature | there is |
//! |---|---|
//! | `async` | `connection`: agents and clients as traits with async methods |
//! | `tokio` | `connection::stdio`: standard input and output for an agent |
//! | `lint` | `lint`: what is wrong with a conversation |
//! | `schemars` | `schema`: the JSON Schema of each version |
#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]

extern crate alloc;
#[cfg(feature = "async")]
extern crate std;

pub mod agent;
pub mod capabilities;
pub mod client;
#[cfg(feature = "async")]
pub mod connection;
mod conversion;
mod dispatch;
mod inbox;
#[cfg(feature = "lint")]
pub mod lint;
pub mod methods;
mod rejection;
#[cfg(feature = "schemars")]
pub mod schema;
pub mod session_state;
mod shared;
mod spoken;
pub mod v1;
pub mod v2;

pub use jsonrpc_core;
pub use serde_json;

/// The examples of the notes for those who come from the official crate.
#[cfg(doctest)]
#[doc = include_str!("../MIGRATION.md")]
pub struct Migration;

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
