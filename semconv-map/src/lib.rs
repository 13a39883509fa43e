//! Maps ACP, MCP and JSON-RPC traffic to OpenTelemetry GenAI spans, events and metrics.
//!
//! Use this crate in a program that sees the messages between an editor and a coding agent (a
//! proxy, an agent host, an agent) to record what happened: turns, tool calls, permission requests,
//! tokens and cost. A [`Tracker`] takes every line with its time and returns [`Record`]s. It
//! performs no I/O, reads no clock and depends on no OpenTelemetry crate, so the records can be
//! passed to an SDK, written to a file, or checked in a test.
//!
//! ```toml
//! [dependencies]
//! semconv-map = "0.1"
//! ```
//!
//! # First program
//!
//! Traces a session and prints the records:
//!
//! ```
//! use semconv_map::{ClosedBy, Direction, Policy, Record, Tracker};
//! use std::time::Duration;
//!
//! let lines = [
//!     (Direction::Sent, r#"{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}"#),
//!     (Direction::Received, r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"t","title":"List /home","kind":"execute","status":"completed"}}}"#),
//!     (Direction::Received, r#"{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}"#),
//! ];
//!
//! let mut tracker = Tracker::new(Policy::default());
//! for (second, (direction, line)) in (0..).zip(lines) {
//!     tracker.handle_line(direction, Duration::from_secs(second), line.as_bytes());
//! }
//! tracker.close(Duration::from_secs(3), ClosedBy::Client);
//!
//! let mut output = Vec::new();
//! while let Some(record) = tracker.poll() {
//!     output.push(match record {
//!         Record::Start(start) => format!("{:?} start {}", start.time, start.name),
//!         Record::Event(event) => format!("{:?} event {}", event.time, event.name),
//!         Record::End(end) => format!("{:?} end {:?}", end.time, end.status),
//!         _ => continue,
//!     });
//! }
//! println!("{}", output.join("\n"));
//! assert_eq!(output, ["0ns start invoke_agent", "1s start execute_tool execute", "1s end Unset", "2s end Unset"]);
//! ```
//!
//! The folder `examples` contains a program that traces a recorded session (`trace_session`) and
//! one that measures an MCP connection (`measure_mcp`). An [`assembly`] makes whole spans of the
//! records, for an exporter. The section [To OpenTelemetry](#to-opentelemetry) shows how records
//! become spans of an SDK's tracer.
//!
//! # Overview
//!
//! | task | item |
//! |---|---|
//! | trace an ACP connection | [`Tracker`] |
//! | trace an MCP or other JSON-RPC connection | [`RpcTracker`] |
//! | export whole spans | [`SpanAssembly`](assembly::SpanAssembly) |
//! | choose the release of the conventions | [`Profile`] |
//! | record prompts, answers, arguments and other content | [`Policy::content`], [`content`] |
//! | find tokens, models and tool names outside of the protocol | [`extract`] |
//! | redact content | [`Policy::redaction`] |
//! | record metrics | [`Policy::record_metrics`], [`metric`] |
//! | continue a trace of the client, or propagate one to the agent | [`trace_context`] |
//! | bound the memory | [`Limits`] |
//! | look up the name of an attribute or event | [`keys`] |
//! | convert single values | [`finish_reason`](mod@finish_reason), [`tool_type`](mod@tool_type), [`tool_name`](acp::tool_call::tool_name) |
//!
//! # Mapping
//!
//! | ACP | span or event | kind | table |
//! |---|---|---|---|
//! | `session/prompt` until its response; in version 2 until the session is idle | `invoke_agent {agent name}` | CLIENT | [`acp::prompt_turn`] |
//! | version 2, or behind a bridge to version 1: work without a prompt until the session is idle | the same | CLIENT | [`acp::prompt_turn`] |
//! | `tool_call` and its updates | `execute_tool {tool name}` | INTERNAL | [`acp::tool_call`] |
//! | `session/request_permission` | the method, below the tool call | SERVER | [`acp::permission`] |
//! | `fs/*`, `terminal/*` | the method, below the tool call or the turn | SERVER | [`acp::client_request`] |
//! | other requests of the protocol | the method | CLIENT, SERVER | [`acp::lifecycle`] |
//! | requests that the protocol does not define | `jsonrpc` | CLIENT, SERVER | [`acp::lifecycle`] |
//! | `session/cancel`, `$/cancel_request` | event of the turn or of the request | | [`keys::event`] |
//! | plan, mode, config options, notice, compaction | event of the turn | | [`keys::event`] |
//! | `subagent_update` until the subagent is idle | `invoke_agent {agent name}`, below the turn | INTERNAL | [`acp::subagent`] |
//! | `session/load`, `session/resume`, `session/fork` | a [link](span::Link) from the next turn to the previous one | | [`keys::link`] |
//! | `usage_update`, `usage` of the response | attributes of the turn | | [`acp::prompt_turn`] |
//! | updates replayed by `session/load`, `session/resume` or `session/fork` | a count on its span | | [`keys::ACP_SESSION_REPLAYED_UPDATES`] |
//! | all of these | [metrics](metric) | | [`metric`] |
//! | text of messages and thoughts | the time of the first; with content capture, messages | | [`content`], [`messages`] |
//!
//! The mappings of [`RpcTracker`] are in [`mcp`] for MCP and in [`rpc`] for other JSON-RPC
//! protocols.
//!
//! # What is not recorded
//!
//! **Content**: prompts, answers, thoughts, titles, arguments, results, paths, commands and error
//! messages. Content is recorded only if [`Policy::content`] permits it, on spans or in events,
//! within the limits of [`messages`], and after [`Policy::redaction`]. Ids, modes, kinds, and the
//! names of agents, models, methods and tools are not content.
//!
//! **Records beyond the limits**: see [`Limits`] and [`Counters`]. A span reserves room for its end
//! when it starts, so every span that starts also ends.
//!
//! **Invalid messages**: lines that are not messages, and messages that do not match their method,
//! are counted and never cause an error. A request with invalid params still becomes a span.
//!
//! # Conventions
//!
//! [`Profile::V1_41`] is the default: semantic conventions v1.41.1, the last release that contains
//! the GenAI conventions. [`Profile::V1_39`] corresponds to v1.39.0, and [`Profile::GENAI_DEV`] to
//! the new repository of the GenAI conventions, which has no release yet. [`Profile`] has a table
//! of the differences. Pass [`Profile::schema_url`] to the instrumentation scope.
//!
//! # Trace context
//!
//! A client request with a `traceparent` in its `_meta` starts a span with that parent, and its
//! `baggage` is part of the start: see [`trace_context`]. The tracker never modifies a line. To
//! propagate the context of a span, use [`trace_context::inject`].
//!
//! # Metrics
//!
//! With [`Policy::record_metrics`], turns, tool calls, requests, permissions and sessions are
//! measured. [`metric`] lists all metrics with units and buckets.
//!
#![doc = include_str!("opentelemetry.md")]
//!
#![doc = include_str!("decisions.md")]
#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![warn(clippy::exhaustive_enums)]

extern crate alloc;

pub mod acp;
pub mod assembly;
pub mod attribute;
mod close;
pub mod content;
mod content_limits;
mod details;
pub mod extract;
pub mod finish_reason;
mod json;
pub mod keys;
pub mod mcp;
pub mod messages;
pub mod metric;
pub mod policy;
pub mod provider;
pub mod rpc;
pub mod span;
mod span_handle;
pub mod tool_type;
pub mod trace_context;
mod tracker;

pub use jsonrpc_core;
pub use jsonrpc_core::transcript::Direction;

pub use attribute::{Attribute, AttributeValue};
pub use close::ClosedBy;
pub use policy::{Policy, Profile, SCHEMA_URL};
pub use rpc::RpcTracker;
pub use span::Record;
pub use tracker::{Counters, Limits, Tracker};

/// Compiles and runs the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
