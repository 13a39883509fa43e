//! What a [`Tracker`](crate::Tracker) gives out: spans that start, spans that end, events in between, metrics.
//!
//! Spec: [Span](https://opentelemetry.io/docs/specs/otel/trace/api/#span)
use crate::attribute::Attribute;
use crate::metric::Measurement;
use crate::trace_context::{Baggage, TraceContext};
use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::num::NonZeroU64;
use core::time::Duration;

/// One thing to tell a trace backend.
///
/// Each span starts once and ends once, in that order; its events lie between. A span ends before its parent does. The
/// attributes of a start and of the end never have a key in common.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Record {
    /// A span starts.
    Start(SpanStart),
    /// Something happened within a span.
    Event(SpanEvent),
    /// A span ends.
    End(SpanEnd),
    /// Something was measured.
    Metric(Measurement),
}

/// Names a span towards the caller; unique for the life of a [`Tracker`](crate::Tracker).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SpanHandle(pub(crate) NonZeroU64);

/// A span starts.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SpanStart {
    /// Which one.
    pub span: SpanHandle,
    /// Where it belongs.
    pub parent: Parent,
    /// Its name, of low cardinality.
    pub name: Cow<'static, str>,
    /// Its kind.
    pub kind: SpanKind,
    /// When, as the caller counts time.
    pub time: Duration,
    /// What is known at its start and never changes.
    pub attributes: Vec<Attribute>,
    /// What the client wants to be passed on with its request; none of it is in the attributes.
    pub baggage: Option<Baggage>,
    /// What came before it, where that is no parent.
    pub links: Vec<Link>,
}

/// A span that another has to do with, and does not belong to.
///
/// Spec: [Link](https://opentelemetry.io/docs/specs/otel/trace/api/#link)
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Link {
    /// Which one. It started before, and most often has ended: an exporter remembers the contexts of turns for a while,
    /// and leaves out a link to one that it does not know any more.
    pub to: SpanHandle,
    /// Why: [`acp.link.reason`](crate::keys::ACP_LINK_REASON).
    pub attributes: Vec<Attribute>,
}

/// Where a span belongs.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Parent {
    /// Nowhere: it begins a trace.
    Root,
    /// To a span that this tracker started and has not ended.
    Span(SpanHandle),
    /// To a span of the peer, which named it in the request's `_meta`.
    Remote(Box<TraceContext>),
}

/// On which side of a call a span stands.
///
/// Spec: [SpanKind](https://opentelemetry.io/docs/specs/otel/trace/api/#spankind)
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SpanKind {
    /// A request that the client made of the agent.
    Client,
    /// A request that the agent made of the client.
    Server,
    /// Work without a request of its own: a tool call, a subagent.
    Internal,
}

/// Something happened within a span.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SpanEvent {
    /// In which one.
    pub span: SpanHandle,
    /// What, one of [`keys::event`](crate::keys::event).
    pub name: &'static str,
    /// When, as the caller counts time.
    pub time: Duration,
    /// More about it.
    pub attributes: Vec<Attribute>,
}

/// A span ends.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SpanEnd {
    /// Which one.
    pub span: SpanHandle,
    /// When, as the caller counts time; never before its start.
    pub time: Duration,
    /// How it went.
    pub status: Status,
    /// Its name, where more was learnt about it than [`SpanStart::name`] said.
    pub name: Option<Cow<'static, str>>,
    /// What was learnt since its start.
    pub attributes: Vec<Attribute>,
    /// How many of its events did not fit.
    pub dropped_events: u32,
}

/// How an operation went.
///
/// Spec: [Set Status](https://opentelemetry.io/docs/specs/otel/trace/api/#set-status)
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Status {
    /// Not as an error.
    #[default]
    Unset,
    /// As an error; the span has an `error.type`.
    Error {
        /// The peer's words, with content capture only.
        description: Option<String>,
    },
}
