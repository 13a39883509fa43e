//! Maps ACP, MCP and JSON-RPC traffic to OpenTelemetry GenAI spans and attributes, without IO.
//!
//! A [`Tracker`] takes in every line that passes between an editor and a coding agent, in both directions and with the
//! time at which it passed, and gives out [`Record`]s: spans that start, events in them, spans that end. It owns no clock,
//! no ids and no exporter, and depends on no OpenTelemetry crate, so the same records can go to an SDK, to a file, or
//! into a test.
//!
//! ```
//! use core::time::Duration;
//! use semconv_map::{CloseReason, Direction, Policy, Record, Tracker};
//!
//! let lines = [
//!     (Direction::ClientToAgent, r#"{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}"#),
//!     (Direction::AgentToClient, r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"t","title":"List /home","kind":"execute","status":"completed"}}}"#),
//!     (Direction::AgentToClient, r#"{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}"#),
//! ];
//! let mut tracker = Tracker::new(Policy::default());
//! let mut seen = Vec::new();
//! for (at, (direction, line)) in lines.into_iter().enumerate() {
//!     tracker.handle_line(direction, Duration::from_millis(at as u64), line.as_bytes());
//! }
//! tracker.close(Duration::from_millis(3), CloseReason::ClientClosed);
//! while let Some(record) = tracker.poll() {
//!     seen.push(match record {
//!         Record::Start(start) => format!("{} starts", start.name),
//!         Record::Event(event) => event.name.to_owned(),
//!         Record::End(end) => format!("{:?} after {:?}", end.status, end.time),
//!         _ => continue,
//!     });
//! }
//! assert_eq!(seen, ["invoke_agent starts", "execute_tool execute starts", "Unset after 1ms", "Unset after 2ms"]);
//! ```
//!
//! # What becomes of what
//!
//! | ACP | span or event | kind | table |
//! |---|---|---|---|
//! | `session/prompt` until its answer; in version 2 until the session is idle | `invoke_agent {agent name}` | CLIENT | [`acp::prompt_turn`] |
//! | `tool_call` and its updates | `execute_tool {tool name}` | INTERNAL | [`acp::tool_call`] |
//! | `session/request_permission` | the method, below the tool call | SERVER | [`acp::permission`] |
//! | `fs/*`, `terminal/*` | the method, below the tool call or the turn | SERVER | [`acp::client_request`] |
//! | other requests of the protocol | the method | CLIENT, SERVER | [`acp::lifecycle`] |
//! | requests that the protocol does not define | `jsonrpc` | CLIENT, SERVER | [`acp::lifecycle`] |
//! | `session/cancel`, `$/cancel_request` | event of the turn, of the request | | [`keys::event`] |
//! | plan, mode, config options, notice, compaction | event of the turn | | [`keys::event`] |
//! | `subagent_update` until the subagent is idle | `invoke_agent {agent name}`, below the turn | INTERNAL | [`acp::subagent`] |
//! | `session/load`, `session/resume`, `session/fork` | a [link](span::Link) of the next turn to the last one before | | [`keys::link`] |
//! | `usage_update`, `usage` of the answer | attributes of the turn | | [`acp::prompt_turn`] |
//! | updates that `session/load`, `session/resume` or `session/fork` replays | a count on its span | | [`keys::ACP_SESSION_REPLAYED_UPDATES`] |
//! | any of these | values of [metrics](metric) | | [`metric`] |
//! | text of messages and thoughts | the time of the first; with content capture, messages | | [`content`], [`messages`] |
//!
//! The other connections of an agent are for [`RpcTracker`]: MCP by the table in [`mcp`], any JSON-RPC by that in [`rpc`].
//!
//! Single values: [`finish_reason`](mod@finish_reason), [`tool_type`](mod@tool_type),
//! [`tool_name`](acp::tool_call::tool_name). Names: [`keys`].
//!
//! # What is not recorded
//!
//! **Content**: prompts, answers, thoughts, titles, arguments, results, paths, commands, error messages. It is recorded
//! only where [`Policy::content`] says so, on spans or in events, within the bounds of [`messages`], and as
//! [`Policy::redaction`] leaves it: see [`content`]. Ids, modes, kinds, and the names of agents, models, methods and tools
//! are no content.
//!
//! **What does not fit**: see [`Limits`] and [`Counters`]. A span takes the room for its end when it starts, so what
//! starts always ends.
//!
//! **What no peer said**: lines that are no message, and messages that are not what their method says, are counted and
//! never an error; a request is a span whatever its params are.
//!
//! # Which conventions
//!
//! [`Profile::V1_41`] is the default: semantic conventions v1.41.1, the last release with the GenAI part in it.
//! [`Profile::V1_39`] has the names and the shapes of v1.39.0, [`Profile::GENAI_DEV`] those of the repository that the GenAI
//! part moved to, which has no release yet: [`Profile`] has a table of what differs. Give [`Profile::schema_url`] to the instrumentation scope.
//!
//! # Trace context
//!
//! A request of the client that names a `traceparent` in its `_meta` begins a span below that, and its `baggage` is given
//! out with the span: see [`trace_context`]. The tracker never changes a line; for who wants to pass on the context of a
//! span, [`trace_context::inject`] says which bytes to put where.
//!
//! # Metrics
//!
//! Where [`Policy::record_metrics`] says so, turns, tool calls, requests, permissions and sessions are measured as well:
//! [`metric`] has each with its unit and its buckets.
//!
#![doc = include_str!("opentelemetry.md")]
//!
#![doc = include_str!("decisions.md")]
#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]

extern crate alloc;

pub mod acp;
pub mod attribute;
pub mod content;
pub mod finish_reason;
pub mod keys;
pub mod mcp;
pub mod messages;
pub mod metric;
pub mod policy;
pub mod rpc;
pub mod span;
pub mod tool_type;
pub mod trace_context;
mod tracker;

pub use jsonrpc_core;

pub use attribute::{Attribute, AttributeValue};
pub use policy::{Policy, Profile, SCHEMA_URL};
pub use rpc::RpcTracker;
pub use span::Record;
pub use tracker::{CloseReason, Counters, Direction, Limits, Tracker};

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
