//! Traces of the requests that set up a connection, of requests with a context of their sender, and
//! of the sides of MCP.

use clap::ValueEnum;
use opentelemetry::trace::{SpanId, Status};
use opentelemetry_sdk::trace::SpanData;
use semconv_map::keys;

/// Traces of the requests that set up a connection: `initialize`, `authenticate`, `session/new`,
/// `session/load` and `session/resume`, unless they have a parent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
#[non_exhaustive]
pub enum Setup {
    /// Each request has a trace of its own
    #[default]
    Own,
    /// The requests join the trace of the next turn
    Join,
    /// The requests are left out, unless they fail
    Omit,
}

/// Role of the span that a client sends with its request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
#[non_exhaustive]
pub enum Caller {
    /// The span of the request is its child
    #[default]
    Parent,
    /// The span of the request starts a trace of its own, with a link to it
    Link,
}

/// The side of an MCP connection that determines the kinds of spans.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[non_exhaustive]
pub enum McpSide {
    /// Requests of the client are CLIENT spans, those of the server SERVER spans
    Client,
    /// Requests of the client are SERVER spans, those of the server CLIENT spans
    Server,
}

const METHODS: [&str; 5] =
    ["initialize", "authenticate", "session/new", "session/load", "session/resume"];

/// Returns whether a method sets up a connection.
pub(crate) fn is_setup(name: &str) -> bool {
    METHODS.contains(&name)
}

impl Setup {
    /// Returns whether an ended span is left out.
    pub(crate) fn omits(self, span: &SpanData) -> bool {
        self == Self::Omit
            && span.parent_span_id == SpanId::INVALID
            && is_setup(&span.name)
            && span.attributes.iter().any(|it| it.key.as_str() == keys::ACP_METHOD_NAME)
            && span.status == Status::Unset
    }
}
