//! What peers agree on outside the protocol: methods of their own, and keys in `_meta`.
//!
//! Spec: [Extensibility](https://agentclientprotocol.com/protocol/v2/extensibility)
//!
//! Requests and notifications of methods that this version does not know, extensions among them, are the `Other` of
//! [`ClientRequest`](super::dispatch::ClientRequest) and its siblings. Members that a type does not know are in its
//! `extra`, keys of `_meta` in its `meta`.

/// What the names of methods begin with that are no part of the protocol.
pub const EXTENSION_PREFIX: &str = "_";

/// The key of `_meta` for the [`traceparent`](https://www.w3.org/TR/trace-context/#traceparent-header) of W3C Trace
/// Context.
pub const TRACEPARENT: &str = "traceparent";

/// The key of `_meta` for the [`tracestate`](https://www.w3.org/TR/trace-context/#tracestate-header) of W3C Trace
/// Context.
pub const TRACESTATE: &str = "tracestate";

/// The key of `_meta` for the [baggage](https://www.w3.org/TR/baggage/) of W3C.
pub const BAGGAGE: &str = "baggage";
