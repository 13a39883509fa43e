//! Converts records of the tracker into spans of the OpenTelemetry SDK.
//!
//! Records have explicit times and parents. A `Tracer` would take both from the calling context, so
//! the span data is created directly.

use crate::otlp::ids::Ids;
use crate::otlp::sampling::Sampling;
use crate::otlp::setup::{Caller, Setup, is_setup};
use opentelemetry::trace::{
    Event, Link, SpanContext, SpanId, SpanKind, Status, TraceFlags, TraceId, TraceState,
};
use opentelemetry::{Array, InstrumentationScope, KeyValue, StringValue, Value};
use opentelemetry_sdk::trace::{SpanData, SpanEvents, SpanLinks};
use semconv_map::keys::{self, link};
use semconv_map::span::{self, Parent, SpanEnd, SpanEvent, SpanHandle, SpanStart};
use semconv_map::trace_context::{Baggage, TraceContext};
use semconv_map::{Attribute, AttributeValue};
use std::borrow::Cow;
use std::collections::VecDeque;
use std::mem::ManuallyDrop;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Assembles starts, events and ends into spans. The tracker bounds the number of open spans.
///
/// Times of records are relative to the Unix epoch.
#[derive(Debug)]
pub(crate) struct Spans {
    scope: InstrumentationScope,
    ids: Ids,
    pub(crate) sampling: Sampling,
    /// Baggage keys of a request that are recorded as attributes of its span.
    pub(crate) baggage: Vec<String>,
    pub(crate) setup: Setup,
    pub(crate) caller: Caller,
    /// Trace of the set-up that the next turn joins.
    setup_trace: Option<TraceId>,
    open: Open,
    /// Contexts of up to [`LINKABLE`] ended spans, for links.
    ended: VecDeque<(SpanHandle, SpanContext)>,
}

/// Maximum number of ended spans that are remembered for links.
const LINKABLE: usize = 1024;

/// The open spans, unordered. There are few at a time, so a linear search is faster than hashing.
#[derive(Debug, Default)]
struct Open {
    handles: Vec<SpanHandle>,
    /// The span data, parallel to the handles.
    spans: Vec<SpanData>,
}

impl Open {
    fn push(&mut self, handle: SpanHandle, span: SpanData) {
        self.handles.push(handle);
        self.spans.push(span);
    }

    fn get(&self, handle: SpanHandle) -> Option<&SpanData> {
        self.spans.get(self.place(handle)?)
    }

    fn get_mut(&mut self, handle: SpanHandle) -> Option<&mut SpanData> {
        let place = self.place(handle)?;
        self.spans.get_mut(place)
    }

    /// The last element is removed without a swap, which is the common case.
    #[inline]
    fn remove(&mut self, place: usize) -> Option<SpanData> {
        if place + 1 == self.spans.len() {
            self.handles.pop();
            return self.spans.pop();
        }
        self.handles.swap_remove(place);
        Some(self.spans.swap_remove(place))
    }

    fn place(&self, handle: SpanHandle) -> Option<usize> {
        self.handles.iter().rposition(|open| *open == handle)
    }
}

impl Spans {
    pub(crate) fn new(scope: InstrumentationScope, ids: Ids) -> Self {
        Self {
            scope,
            ids,
            sampling: Sampling::default(),
            baggage: Vec::new(),
            setup: Setup::default(),
            caller: Caller::default(),
            setup_trace: None,
            open: Open::default(),
            ended: VecDeque::new(),
        }
    }

    /// Returns the context of an open span for propagation.
    pub(crate) fn context(&self, span: SpanHandle) -> Option<TraceContext> {
        context_of(self.open_context(span)?)
    }

    /// Returns the context of an open span.
    pub(crate) fn open_context(&self, span: SpanHandle) -> Option<&SpanContext> {
        self.open.get(span).map(|span| &span.span_context)
    }

    /// Starts a span. Returns its data, and the attribute buffer of the record for reuse.
    pub(crate) fn start(&mut self, mut start: SpanStart) -> (Option<&SpanData>, Vec<Attribute>) {
        let (parent, caller) = self.parent(&start.parent);
        let time = time(start.time);
        let mut attributes = Vec::with_capacity(start.attributes.len());
        for attribute in start.attributes.drain(..) {
            attributes.push(key_value(attribute));
        }
        if let Some(baggage) = &start.baggage {
            self.add_baggage(baggage, &mut attributes);
        }
        let span = SpanData {
            span_context: self.begin(parent.as_ref(), &start.name),
            parent_span_id: parent.as_ref().map_or(SpanId::INVALID, SpanContext::span_id),
            parent_span_is_remote: parent.as_ref().is_some_and(SpanContext::is_remote),
            span_kind: kind(start.kind),
            name: start.name,
            start_time: time,
            end_time: time,
            attributes,
            dropped_attributes_count: 0,
            events: SpanEvents::default(),
            links: self.links(start.links, caller),
            status: Status::Unset,
            instrumentation_scope: self.scope.clone(),
        };
        self.open.push(start.span, span);
        (self.open.spans.last(), start.attributes)
    }

    /// Returns the context of a new span.
    fn begin(&mut self, parent: Option<&SpanContext>, name: &str) -> SpanContext {
        if parent.is_some() || self.setup != Setup::Join {
            return begun(parent, self.sampling, &mut self.ids);
        }
        let joined = match name {
            _ if is_setup(name) => {
                Some(*self.setup_trace.get_or_insert_with(|| self.ids.trace_id()))
            }
            _ if name.starts_with("invoke_agent") => self.setup_trace.take(),
            _ => None,
        };
        let trace = joined.unwrap_or_else(|| self.ids.trace_id());
        let flags = self.sampling.flags(None, trace);
        SpanContext::new(trace, self.ids.span_id(), flags, false, TraceState::default())
    }

    /// Returns the parent, and the span of the caller if it is a link.
    fn parent(&self, parent: &Parent) -> (Option<SpanContext>, Option<SpanContext>) {
        match parent {
            Parent::Span(handle) => (self.open_context(*handle).cloned(), None),
            Parent::Remote(context) if self.caller == Caller::Link => (None, Some(remote(context))),
            Parent::Remote(context) => (Some(remote(context)), None),
            _ => (None, None),
        }
    }

    /// Adds the selected baggage entries. Of duplicate keys, the last is used.
    fn add_baggage(&self, baggage: &Baggage, attributes: &mut Vec<KeyValue>) {
        for wanted in &self.baggage {
            let entry = baggage.entries().filter(|(key, _)| key == wanted).last();
            if let Some((_, value)) = entry
                && attributes.iter().all(|it| it.key.as_str() != wanted)
            {
                attributes.push(KeyValue::new(wanted.clone(), value.into_owned()));
            }
        }
    }

    /// Returns the links to known spans and to the caller.
    fn links(&self, links: Vec<span::Link>, caller: Option<SpanContext>) -> SpanLinks {
        let mut known = SpanLinks::default();
        let reason = || vec![KeyValue::new(keys::ACP_LINK_REASON, link::CALLER)];
        known.links.extend(caller.map(|caller| Link::new(caller, reason(), 0)));
        for link in links {
            let open = self.open.get(link.to).map(|span| &span.span_context);
            let ended = self.ended.iter().find(|(span, _)| *span == link.to);
            if let Some(context) = open.or(ended.map(|(_, context)| context)) {
                known.links.push(Link::new(context.clone(), attributes(link.attributes), 0));
            }
        }
        known
    }

    pub(crate) fn event(&mut self, event: SpanEvent) {
        let time = time(event.time);
        if let Some(span) = self.open.get_mut(event.span) {
            span.events.events.push(Event::new(event.name, time, attributes(event.attributes), 0));
        }
    }

    /// Adds an attribute to an open span.
    pub(crate) fn annotate(&mut self, span: SpanHandle, attribute: KeyValue) {
        if let Some(span) = self.open.get_mut(span) {
            span.attributes.push(attribute);
        }
    }

    /// Ends the span at a position, and returns it for further attributes. It has to be
    /// [taken](Self::take).
    #[inline]
    pub(crate) fn end(&mut self, place: usize, end: SpanEnd) -> Option<&mut SpanData> {
        let span = self.open.spans.get_mut(place)?;
        span.end_time = time(end.time);
        if end.status != span::Status::Unset {
            span.status = status(end.status);
        }
        if let Some(name) = end.name {
            span.name = name;
        }
        span.events.dropped_count = end.dropped_events;
        if !end.attributes.is_empty() {
            span.attributes.extend(end.attributes.into_iter().map(key_value));
        }
        // Only turns are linked to, and only turns and subagents are agent spans.
        if span.name.starts_with("invoke_agent") {
            if self.ended.len() == LINKABLE {
                self.ended.pop_front();
            }
            self.ended.push_back((end.span, span.span_context.clone()));
        }
        Some(span)
    }

    /// Removes the span at a position and returns it.
    #[inline]
    pub(crate) fn take(&mut self, place: usize) -> Option<SpanData> {
        self.open.remove(place)
    }

    /// Returns the context of the span at a position.
    pub(crate) fn context_at(&self, place: usize) -> Option<&SpanContext> {
        self.open.spans.get(place).map(|span| &span.span_context)
    }

    /// Returns the position of an open span.
    #[inline]
    pub(crate) fn place(&self, span: SpanHandle) -> Option<usize> {
        self.open.place(span)
    }
}

/// A time beyond the range of the clock becomes the epoch.
pub(crate) fn time(time: Duration) -> SystemTime {
    UNIX_EPOCH.checked_add(time).unwrap_or(UNIX_EPOCH)
}

/// Returns the context of a new span, below `parent` or in a new trace.
#[inline]
pub(crate) fn begun(
    parent: Option<&SpanContext>,
    sampling: Sampling,
    ids: &mut Ids,
) -> SpanContext {
    let trace = parent.map_or_else(|| ids.trace_id(), SpanContext::trace_id);
    let flags = sampling.flags(parent, trace);
    let state = parent.map(|parent| parent.trace_state().clone()).unwrap_or_default();
    SpanContext::new(trace, ids.span_id(), flags, false, state)
}

/// Returns the context of a span for propagation.
pub(crate) fn context_of(span: &SpanContext) -> Option<TraceContext> {
    let trace_id = span.trace_id().to_bytes();
    let span_id = span.span_id().to_bytes();
    let mut context = TraceContext::new(trace_id, span_id, span.trace_flags().to_u8())?;
    let state = span.trace_state().header();
    context.tracestate = Some(state).filter(|state| !state.is_empty());
    Some(context)
}

/// Returns the context of a remote span.
pub(crate) fn remote(context: &TraceContext) -> SpanContext {
    // An invalid state is dropped, as Trace Context specifies.
    let state = context.tracestate.as_deref().and_then(|state| state.parse().ok());
    SpanContext::new(
        TraceId::from_bytes(context.trace_id),
        SpanId::from_bytes(context.span_id),
        TraceFlags::new(context.flags),
        true,
        state.unwrap_or_default(),
    )
}

fn kind(kind: span::SpanKind) -> SpanKind {
    match kind {
        span::SpanKind::Client => SpanKind::Client,
        span::SpanKind::Server => SpanKind::Server,
        _ => SpanKind::Internal,
    }
}

fn status(status: span::Status) -> Status {
    match status {
        span::Status::Error { description } => Status::error(description.unwrap_or_default()),
        _ => Status::Unset,
    }
}

/// Converts the attributes of a record.
pub(crate) fn attributes(attributes: Vec<Attribute>) -> Vec<KeyValue> {
    attributes.into_iter().map(key_value).collect()
}

#[inline(always)]
fn key_value(Attribute { key, value, .. }: Attribute) -> KeyValue {
    // Most values are borrowed texts. They need no drop, but the compiler calls it.
    let value = ManuallyDrop::new(value);
    match &*value {
        AttributeValue::String(Cow::Borrowed(text)) => KeyValue::new(key, *text),
        _ => KeyValue::new(key, value_of(ManuallyDrop::into_inner(value))),
    }
}

fn value_of(value: AttributeValue) -> Value {
    match value {
        AttributeValue::String(Cow::Borrowed(text)) => text.into(),
        AttributeValue::String(Cow::Owned(text)) | AttributeValue::Json(text) => text.into(),
        AttributeValue::Bool(value) => value.into(),
        AttributeValue::I64(value) => value.into(),
        AttributeValue::F64(value) => value.into(),
        AttributeValue::StringArray(texts) => {
            let texts = texts.into_iter().map(StringValue::from).collect();
            Value::Array(Array::String(texts))
        }
        other => format!("{other:?}").into(),
    }
}
