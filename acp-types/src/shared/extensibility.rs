//! Extensibility: extension methods, and keys of `_meta`.
//!
//! Spec: [Extensibility](https://agentclientprotocol.com/protocol/v1/extensibility), [version
//! 2](https://agentclientprotocol.com/protocol/v2/extensibility)
//!
//! Requests and notifications of unknown methods, including extensions, are the `Other` of
//! [`v1::dispatch::ClientRequest`](crate::v1::dispatch::ClientRequest) and its siblings. Unknown
//! members of a type are in its `extra`, keys of `_meta` in its `meta`.

/// The prefix of extension methods.
pub const EXTENSION_PREFIX: &str = "_";

/// The key of `_meta` for the
/// [`traceparent`](https://www.w3.org/TR/trace-context/#traceparent-header) of W3C Trace Context.
pub const TRACEPARENT: &str = "traceparent";

/// The key of `_meta` for the
/// [`tracestate`](https://www.w3.org/TR/trace-context/#tracestate-header) of W3C Trace Context.
pub const TRACESTATE: &str = "tracestate";

/// The key of `_meta` for the [baggage](https://www.w3.org/TR/baggage/) of W3C.
pub const BAGGAGE: &str = "baggage";
