//! Output of a [`Tracker`](crate::Tracker): starts and ends of spans, events, and measurements.
//!
//! Spec: [Span](https://opentelemetry.io/docs/specs/otel/trace/api/#span)
use crate::attribute::Attribute;
use crate::keys::event;
use crate::metric::Measurement;
pub use crate::span_handle::SpanHandle;
use crate::trace_context::{Baggage, TraceContext};
use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

/// An item of telemetry, for a trace or metric backend.
///
/// Each span starts once and ends once; its events are in between. A span ends before its parent.
/// The attributes of a start and of its end have no key in common.
///
/// ```
/// use semconv_map::{Record, Tracker};
///
/// /// Prints the names of started spans and of events.
/// fn print(tracker: &mut Tracker) {
///     while let Some(record) = tracker.poll() {
///         match record {
///             Record::Start(start) => println!("{:?} {}", start.kind, start.name),
///             Record::Event(event) => println!("  {}", event.name),
///             _ => {}
///         }
///     }
/// }
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Record {
    /// A span starts.
    Start(SpanStart),
    /// An event of a span.
    Event(SpanEvent),
    /// A span ends.
    End(SpanEnd),
    /// A measurement.
    Metric(Measurement),
}

/// Start of a span.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SpanStart {
    /// The span.
    pub span: SpanHandle,
    /// Parent of the span.
    pub parent: Parent,
    /// Name of the span, of low cardinality.
    pub name: Cow<'static, str>,
    /// Kind of the span.
    pub kind: SpanKind,
    /// Start time, on the caller's clock.
    pub time: Duration,
    /// Attributes that are known at the start and never change.
    pub attributes: Vec<Attribute>,
    /// Baggage that the client sent with its request. It is not part of the attributes.
    pub baggage: Option<Baggage>,
    /// Links to earlier spans that are not the parent.
    pub links: Vec<Link>,
}

/// A reference to a related span that is not the parent.
///
/// Spec: [Link](https://opentelemetry.io/docs/specs/otel/trace/api/#link)
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Link {
    /// The linked span. It started earlier and has usually ended: an exporter has to remember the
    /// contexts of turns for a while, and omits links to spans that it no longer remembers.
    pub to: SpanHandle,
    /// Attributes of the link: [`acp.link.reason`](crate::keys::ACP_LINK_REASON).
    pub attributes: Vec<Attribute>,
}

/// Parent of a span.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Parent {
    /// None. The span starts a trace.
    Root,
    /// An open span of this tracker.
    Span(SpanHandle),
    /// A span of the peer, referenced in the `_meta` of the request.
    Remote(Box<TraceContext>),
}

/// Kind of a span.
///
/// Spec: [SpanKind](https://opentelemetry.io/docs/specs/otel/trace/api/#spankind)
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SpanKind {
    /// A request from the client to the agent.
    Client,
    /// A request from the agent to the client.
    Server,
    /// Work without a request, such as a tool call or a subagent.
    Internal,
}

/// An event of a span.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SpanEvent {
    /// The span.
    pub span: SpanHandle,
    /// Name of the event, one of [`keys::event`](crate::keys::event).
    pub name: &'static str,
    /// Time of the event, on the caller's clock.
    pub time: Duration,
    /// Attributes of the event.
    pub attributes: Vec<Attribute>,
}

impl SpanEvent {
    /// Returns whether the event has the content of its span. In the conventions, such an event is
    /// a log record of the severity `DEBUG` with the context of the span. Exporters without log
    /// records add it to the span. Other events always belong to the span.
    ///
    /// Spec: [Events,
    /// v1.41.1](https://github.com/open-telemetry/semantic-conventions/blob/v1.41.1/docs/gen-ai/gen-ai-events.md)
    pub fn is_log(&self) -> bool {
        matches!(self.name, event::INFERENCE_DETAILS | event::DETAILS)
    }
}

/// End of a span.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SpanEnd {
    /// The span.
    pub span: SpanHandle,
    /// End time, on the caller's clock. Never before the start.
    pub time: Duration,
    /// Status of the span.
    pub status: Status,
    /// New name of the span, if more is known than at [`SpanStart::name`].
    pub name: Option<Cow<'static, str>>,
    /// Attributes learned since the start.
    pub attributes: Vec<Attribute>,
    /// Number of events that exceeded the limit.
    pub dropped_events: u32,
}

/// Status of a span.
///
/// Spec: [Set Status](https://opentelemetry.io/docs/specs/otel/trace/api/#set-status)
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Status {
    /// No error.
    #[default]
    Unset,
    /// An error. The span has the attribute `error.type`.
    Error {
        /// The error message of the peer. Content capture only.
        description: Option<String>,
    },
}
