//! Spans of the program itself, which enclose the spans of the tracker.

use crate::otlp::ids::Ids;
use crate::otlp::sampling::TraceSampling;
use crate::otlp::spans::{new_context, span_context};
use opentelemetry::trace::{Link, SpanId, SpanKind, Status};
use opentelemetry::{InstrumentationScope, KeyValue};
use opentelemetry_sdk::trace::{SpanData, SpanEvents, SpanLinks};
use semconv_map::keys;
use semconv_map::trace_context::TraceContext;
use std::borrow::Cow;
use std::time::SystemTime;

/// An open span.
#[derive(Debug)]
pub struct OwnSpan {
    context: TraceContext,
    data: SpanData,
}

impl OwnSpan {
    /// Starts a span below `parent`, a remote span or another span of this program. Without a
    /// parent it starts a trace.
    pub fn start(
        scope: InstrumentationScope,
        ids: &mut Ids,
        name: impl Into<Cow<'static, str>>,
        kind: SpanKind,
        parent: Option<&TraceContext>,
        sampling: TraceSampling,
        now: SystemTime,
    ) -> Self {
        let context = new_context(parent, true, None, sampling, ids);
        let data = SpanData {
            span_context: span_context(&context, false),
            parent_span_id: parent
                .map_or(SpanId::INVALID, |parent| SpanId::from_bytes(parent.span_id)),
            parent_span_is_remote: kind == SpanKind::Server && parent.is_some(),
            span_kind: kind,
            name: name.into(),
            start_time: now,
            end_time: now,
            attributes: Vec::new(),
            dropped_attributes_count: 0,
            events: SpanEvents::default(),
            links: SpanLinks::default(),
            status: Status::Unset,
            instrumentation_scope: scope,
        };
        Self { context, data }
    }

    /// Returns the context for propagation.
    pub fn context(&self) -> Option<TraceContext> {
        Some(self.context.clone())
    }

    /// Returns the data known so far.
    pub fn data(&self) -> &SpanData {
        &self.data
    }

    /// Adds an attribute. The key must be new.
    pub fn set(&mut self, attribute: KeyValue) {
        self.data.attributes.push(attribute);
    }

    /// Adds a link to a span that is not an ancestor.
    pub fn link(&mut self, to: &TraceContext, attributes: Vec<KeyValue>) {
        self.data.links.links.push(Link::new(span_context(to, true), attributes, 0));
    }

    /// Sets the error status. `error_type` has low cardinality.
    pub fn fail(&mut self, error_type: impl Into<Cow<'static, str>>) {
        self.set(KeyValue::new(keys::ERROR_TYPE, error_type.into()));
        self.data.status = Status::error("");
    }

    /// Ends the span.
    pub fn end(mut self, now: SystemTime) -> SpanData {
        self.data.end_time = now;
        self.data
    }
}
