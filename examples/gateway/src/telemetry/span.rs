//! Spans of the server itself.
use crate::telemetry::TelemetryState;
use crate::telemetry::timeline::Timeline;
use crate::telemetry::trace_context::TraceContext;
use opentelemetry::{KeyValue, Value};
use semconv_map::keys::{self, link};
use std::sync::Arc;
use traces::otlp::OwnSpan;

/// A span. It ends when it is dropped.
#[derive(Debug)]
pub struct Span {
    pub(super) enabled: Arc<TelemetryState>,
    /// `None` once it has ended.
    pub(crate) span: Option<OwnSpan>,
}

impl Span {
    /// Returns the context for the children of the span.
    pub fn context(&self) -> Option<TraceContext> {
        self.span.as_ref()?.context()
    }

    /// Returns the timeline that begins with this span.
    pub fn timeline(&self) -> Option<Arc<Timeline>> {
        self.enabled.timelines.as_ref()?.of(self.span.as_ref()?.data())
    }

    /// Sets an attribute.
    pub fn set(&mut self, key: &'static str, value: impl Into<Value>) {
        if let Some(span) = &mut self.span {
            span.set(KeyValue::new(key, value));
        }
    }

    /// Links the span of the interrupted run that this run resumes.
    pub fn link_resumed(&mut self, interrupted: &TraceContext) {
        if let Some(span) = &mut self.span {
            span.link(interrupted, vec![KeyValue::new(keys::ACP_LINK_REASON, link::RESUME)]);
        }
    }

    /// Marks the span as failed.
    pub fn fail(&mut self, error_type: String) {
        if let Some(span) = &mut self.span {
            span.fail(error_type);
        }
    }
}

impl Drop for Span {
    fn drop(&mut self) {
        if let Some(span) = self.span.take() {
            self.enabled.ended(span.end(self.enabled.system_time()));
        }
    }
}
