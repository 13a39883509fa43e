//! Assembly of records into whole spans, for exporters that take a span when it has ended.
//!
//! OTLP and the exporters of the OpenTelemetry SDK take a span as one value. A [`SpanAssembly`]
//! makes one of the start, the events and the end of a span, and resolves its parent and its links
//! to [`TraceContext`]s. Ids are the caller's, because this crate has no source of randomness.
//!
//! ```
//! use core::time::Duration;
//! use semconv_map::assembly::SpanAssembly;
//! use semconv_map::trace_context::TraceContext;
//! use semconv_map::{ClosedBy, Direction, Policy, Tracker};
//!
//! let lines = [
//!     (Direction::Sent, r#"{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}"#),
//!     (Direction::Received, r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"t","title":"List","kind":"read","status":"completed"}}}"#),
//! ];
//! let mut tracker = Tracker::new(Policy::default());
//! let mut assembly = SpanAssembly::default();
//! // A program takes random bytes.
//! let mut id = 0;
//! let mut spans = Vec::new();
//! for (direction, line) in lines {
//!     tracker.handle_line(direction, Duration::from_secs(1), line.as_bytes());
//! }
//! tracker.close(Duration::from_secs(2), ClosedBy::Client);
//! while let Some(record) = tracker.poll() {
//!     let span = assembly.handle_record(record, |_, parent| {
//!         id += 1;
//!         TraceContext::of_span(parent, [id; 16], [id; 8])
//!     });
//!     spans.extend(span);
//! }
//!
//! let [tool, turn] = &spans[..] else { panic!("expected two spans") };
//! assert_eq!(tool.name, "execute_tool read");
//! assert_eq!(tool.parent.as_ref(), Some(&turn.context));
//! assert_eq!(turn.end - turn.start, Duration::from_secs(1));
//! ```
use crate::attribute::Attribute;
use crate::span::{
    Link, Parent, Record, SpanEnd, SpanEvent, SpanHandle, SpanKind, SpanStart, Status,
};
use crate::trace_context::{Baggage, TraceContext};
use alloc::borrow::Cow;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::time::Duration;

/// Maximum number of ended turns that later spans can link to.
pub const MAX_LINKABLE: usize = 1024;

/// A span with everything that was recorded of it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Span {
    /// Identity within the tracker.
    pub handle: SpanHandle,
    /// Ids of the span, as the caller chose them.
    pub context: TraceContext,
    /// Context of the parent. `None` for a span that starts a trace.
    pub parent: Option<TraceContext>,
    /// Whether the parent is a span of the peer.
    pub has_remote_parent: bool,
    /// Name of the span, of low cardinality.
    pub name: Cow<'static, str>,
    /// Kind of the span.
    pub kind: SpanKind,
    /// Start time, on the caller's clock.
    pub start: Duration,
    /// End time, on the caller's clock. The start time while the span is open.
    pub end: Duration,
    /// Attributes of the start and of the end.
    pub attributes: Vec<Attribute>,
    /// Baggage that the client sent with its request.
    pub baggage: Option<Baggage>,
    /// Events, in order.
    pub events: Vec<SpanEvent>,
    /// Number of events that exceeded the limit of the tracker.
    pub dropped_events: u32,
    /// Links to other spans.
    pub links: Vec<SpanLink>,
    /// Status of the span.
    pub status: Status,
}

/// A link to another span.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SpanLink {
    /// Context of the linked span.
    pub context: TraceContext,
    /// Attributes of the link.
    pub attributes: Vec<Attribute>,
}

impl SpanLink {
    /// Creates a link.
    pub fn new(context: TraceContext, attributes: Vec<Attribute>) -> Self {
        Self { context, attributes }
    }
}

/// Assembles the records of one tracker.
///
/// The tracker's limit of open spans bounds the open spans, and [`MAX_LINKABLE`] the contexts of
/// ended turns. A link to another ended span is left out.
#[derive(Clone, Debug, Default)]
pub struct SpanAssembly {
    /// Open spans, unordered. There are few at a time.
    open: Vec<Span>,
    /// Contexts of the last ended turns and subagents.
    ended: VecDeque<(SpanHandle, TraceContext)>,
}

impl SpanAssembly {
    /// Handles a record, and returns the span that it ends.
    ///
    /// `new_context` is called for a start, with the context of the parent, and returns the ids of
    /// the new span, for example those of [`TraceContext::of_span`]. A measurement has no effect.
    #[inline]
    pub fn handle_record(
        &mut self,
        record: Record,
        new_context: impl FnOnce(&SpanStart, Option<&TraceContext>) -> TraceContext,
    ) -> Option<Span> {
        match record {
            Record::Start(start) => self.handle_start(start, new_context),
            Record::Event(event) => {
                if let Some(span) = self.get_mut(event.span) {
                    span.events.push(event);
                }
            }
            Record::End(end) => return self.handle_end(end),
            Record::Metric(_) => {}
        }
        None
    }

    /// Returns an open span.
    #[inline]
    pub fn get(&self, span: SpanHandle) -> Option<&Span> {
        self.open.iter().rfind(|open| open.handle == span)
    }

    /// Returns an open span, for example to add an attribute.
    #[inline]
    pub fn get_mut(&mut self, span: SpanHandle) -> Option<&mut Span> {
        self.open.iter_mut().rfind(|open| open.handle == span)
    }

    #[inline]
    fn handle_start(
        &mut self,
        start: SpanStart,
        new_context: impl FnOnce(&SpanStart, Option<&TraceContext>) -> TraceContext,
    ) {
        let parent = match &start.parent {
            Parent::Root => None,
            Parent::Span(parent) => self.get(*parent).map(|parent| parent.context.clone()),
            Parent::Remote(parent) => Some(TraceContext::clone(parent)),
        };
        let context = new_context(&start, parent.as_ref());
        let links = start.links.into_iter().filter_map(|link| self.resolve(link)).collect();
        self.open.push(Span {
            handle: start.span,
            context,
            parent,
            has_remote_parent: matches!(start.parent, Parent::Remote(_)),
            name: start.name,
            kind: start.kind,
            start: start.time,
            end: start.time,
            attributes: start.attributes,
            baggage: start.baggage,
            events: Vec::new(),
            dropped_events: 0,
            links,
            status: Status::Unset,
        });
    }

    #[inline]
    fn handle_end(&mut self, end: SpanEnd) -> Option<Span> {
        let place = self.open.iter().rposition(|open| open.handle == end.span)?;
        let span = self.open.get_mut(place)?;
        span.end = end.time;
        span.status = end.status;
        span.dropped_events = end.dropped_events;
        span.attributes.extend(end.attributes);
        if let Some(name) = end.name {
            span.name = name;
        }
        // Links lead to turns only, and only turns and subagents have this name.
        if span.name.starts_with("invoke_agent") {
            if self.ended.len() == MAX_LINKABLE {
                self.ended.pop_front();
            }
            self.ended.push_back((span.handle, span.context.clone()));
        }
        Some(self.open.swap_remove(place))
    }

    /// Resolves a link to the context of its span, if the span is open or remembered.
    fn resolve(&self, link: Link) -> Option<SpanLink> {
        let open = self.get(link.to).map(|span| &span.context);
        let ended = || self.ended.iter().find(|(span, _)| *span == link.to);
        let context = open.or_else(|| ended().map(|(_, context)| context))?;
        Some(SpanLink::new(context.clone(), link.attributes))
    }
}
