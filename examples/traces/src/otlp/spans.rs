//! Converts spans of the tracker into spans of the OpenTelemetry SDK.
//!
//! Spans have explicit times, ids and parents. A `Tracer` would take them from the calling context,
//! so the span data is created directly.

use crate::otlp::ids::Ids;
use crate::otlp::sampling::TraceSampling;
use crate::otlp::setup::{Caller, Setup, is_setup};
use opentelemetry::trace::{
    Event, Link, SpanContext, SpanId, SpanKind, Status, TraceFlags, TraceId,
};
use opentelemetry::{Array, InstrumentationScope, KeyValue, StringValue, Value};
use opentelemetry_sdk::trace::{SpanData, SpanEvents, SpanLinks};
use semconv_map::assembly::{Span, SpanAssembly, SpanLink};
use semconv_map::keys::{self, link};
use semconv_map::span::{self, Parent, SpanEvent, SpanHandle};
use semconv_map::trace_context::{Baggage, TraceContext};
use semconv_map::{Attribute, AttributeValue, Record};
use std::borrow::Cow;
use std::mem::{self, ManuallyDrop};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Assembles records into spans, with ids, sampling and the options of the user.
///
/// Times of records are relative to the Unix epoch.
#[derive(Debug)]
pub(crate) struct Spans {
    scope: InstrumentationScope,
    ids: Ids,
    pub(crate) sampling: TraceSampling,
    /// Baggage keys of a request that are recorded as attributes of its span.
    pub(crate) baggage: Vec<String>,
    pub(crate) setup: Setup,
    pub(crate) caller: Caller,
    /// Trace of the set-up that the next turn joins.
    setup_trace: Option<TraceId>,
    assembly: SpanAssembly,
}

impl Spans {
    pub(crate) fn new(scope: InstrumentationScope, ids: Ids) -> Self {
        Self {
            scope,
            ids,
            sampling: TraceSampling::default(),
            baggage: Vec::new(),
            setup: Setup::default(),
            caller: Caller::default(),
            setup_trace: None,
            assembly: SpanAssembly::default(),
        }
    }

    /// Returns an open span.
    #[inline]
    pub(crate) fn get(&self, span: SpanHandle) -> Option<&Span> {
        self.assembly.get(span)
    }

    /// Adds an attribute to an open span.
    pub(crate) fn annotate(&mut self, span: SpanHandle, attribute: Attribute) {
        if let Some(span) = self.assembly.get_mut(span) {
            span.attributes.push(attribute);
        }
    }

    /// Handles a record, and returns the span that it ends.
    #[inline]
    pub(crate) fn handle_record(&mut self, mut record: Record) -> Option<Span> {
        let Record::Start(start) = &mut record else { return self.assemble(record) };
        if self.caller == Caller::Parent || !matches!(start.parent, Parent::Remote(_)) {
            return self.assemble(record);
        }
        let caller = mem::replace(&mut start.parent, Parent::Root);
        let span = start.span;
        self.assemble(record);
        if let Parent::Remote(caller) = caller
            && let Some(span) = self.assembly.get_mut(span)
        {
            let reason = Attribute::new(keys::ACP_LINK_REASON, link::CALLER);
            span.links.insert(0, SpanLink::new(*caller, vec![reason]));
        }
        None
    }

    #[inline]
    fn assemble(&mut self, record: Record) -> Option<Span> {
        let Self { ids, sampling, setup, setup_trace, assembly, .. } = self;
        assembly.handle_record(record, |start, parent| {
            let joined = match &*start.name {
                _ if parent.is_some() || *setup != Setup::Join => None,
                name if is_setup(name) => Some(*setup_trace.get_or_insert_with(|| ids.trace_id())),
                name if name.starts_with("invoke_agent") => setup_trace.take(),
                _ => None,
            };
            let is_remote = matches!(start.parent, Parent::Remote(_));
            new_context(parent, is_remote, joined, *sampling, ids)
        })
    }

    /// Converts a span. Returns the attribute buffer for reuse as well.
    pub(crate) fn data(&self, mut span: Span) -> (SpanData, Vec<Attribute>) {
        let mut attributes = Vec::with_capacity(span.attributes.len());
        for attribute in span.attributes.drain(..) {
            attributes.push(key_value(attribute));
        }
        if let Some(baggage) = &span.baggage {
            self.add_baggage(baggage, &mut attributes);
        }
        let mut links = SpanLinks::default();
        links.links.extend(span.links.into_iter().map(link_of));
        let mut events = SpanEvents::default();
        events.dropped_count = span.dropped_events;
        events.events.extend(span.events.into_iter().map(event_of));
        let parent = span.parent.as_ref();
        let data = SpanData {
            span_context: span_context(&span.context, false),
            parent_span_id: parent
                .map_or(SpanId::INVALID, |parent| SpanId::from_bytes(parent.span_id)),
            parent_span_is_remote: span.has_remote_parent,
            span_kind: kind(span.kind),
            name: span.name,
            start_time: time(span.start),
            end_time: time(span.end),
            attributes,
            dropped_attributes_count: 0,
            events,
            links,
            status: status(span.status),
            instrumentation_scope: self.scope.clone(),
        };
        (data, span.attributes)
    }

    /// Adds the selected baggage entries. Of duplicate keys, the last is used.
    fn add_baggage(&self, baggage: &Baggage, attributes: &mut Vec<KeyValue>) {
        for wanted in &self.baggage {
            let entry = baggage.entries().filter(|(key, _)| key == wanted).last();
            if let Some((_, value)) = entry
                && attributes.iter().all(|attribute| attribute.key.as_str() != wanted)
            {
                attributes.push(KeyValue::new(wanted.clone(), value.into_owned()));
            }
        }
    }
}

fn link_of(link: SpanLink) -> Link {
    Link::new(span_context(&link.context, true), attributes(link.attributes), 0)
}

fn event_of(event: SpanEvent) -> Event {
    Event::new(event.name, time(event.time), attributes(event.attributes), 0)
}

/// A time beyond the range of the clock becomes the epoch.
pub(crate) fn time(time: Duration) -> SystemTime {
    UNIX_EPOCH.checked_add(time).unwrap_or(UNIX_EPOCH)
}

/// Returns the context of a new span, below `parent`, or in the trace `joined`, or in a new one.
#[inline]
pub(crate) fn new_context(
    parent: Option<&TraceContext>,
    is_remote: bool,
    joined: Option<TraceId>,
    sampling: TraceSampling,
    ids: &mut Ids,
) -> TraceContext {
    let trace = match (parent, joined) {
        (Some(parent), _) => TraceId::from_bytes(parent.trace_id),
        (None, Some(joined)) => joined,
        (None, None) => ids.trace_id(),
    };
    let mut context = TraceContext::of_span(parent, trace.to_bytes(), ids.span_id().to_bytes());
    context.flags = sampling.flags(parent, is_remote, trace).to_u8();
    context
}

/// Returns a context as the SDK has it.
pub(crate) fn span_context(context: &TraceContext, is_remote: bool) -> SpanContext {
    // An invalid state is dropped, as Trace Context specifies.
    let state = context.tracestate.as_deref().and_then(|state| state.parse().ok());
    SpanContext::new(
        TraceId::from_bytes(context.trace_id),
        SpanId::from_bytes(context.span_id),
        TraceFlags::new(context.flags),
        is_remote,
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
