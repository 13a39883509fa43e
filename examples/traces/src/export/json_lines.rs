//! Spans as OTLP JSON lines.
//!
//! Spec: [OTLP file
//! exporter](https://opentelemetry.io/docs/specs/otel/protocol/file-exporter/#json-lines-file),
//! [JSON Protobuf Encoding](https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding)

use opentelemetry::InstrumentationScope;
use opentelemetry_proto::tonic::trace::v1::{Span, TracesData};
use opentelemetry_proto::transform::common::tonic::ResourceAttributesWithSchema;
use opentelemetry_proto::transform::trace::tonic::group_spans_by_resource_and_scope;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SpanData;

/// Serializes each span as a line, so that a file is valid at any time.
#[derive(Debug)]
pub(crate) struct JsonLines {
    resource: ResourceAttributesWithSchema,
    /// Buffer for the message, with its scope.
    data: Option<(InstrumentationScope, TracesData)>,
    line: Vec<u8>,
}

impl JsonLines {
    /// `resource` is the origin of the spans.
    pub(crate) fn new(resource: &Resource) -> Self {
        let mut resource = ResourceAttributesWithSchema::from(resource);
        // A resource is unordered. Sorting makes the output deterministic.
        resource.attributes.0.sort_unstable_by(|one, other| one.key.cmp(&other.key));
        Self { resource, data: None, line: Vec::new() }
    }

    /// Returns a span as a line, including the line break.
    pub(crate) fn line(&mut self, span: SpanData) -> &[u8] {
        let data = match &mut self.data {
            Some((scope, data)) if *scope == span.instrumentation_scope => {
                let scopes = data.resource_spans.first_mut();
                if let Some(spans) = scopes.and_then(|scopes| scopes.scope_spans.first_mut()) {
                    spans.spans.clear();
                    spans.spans.push(Span::from(span));
                }
                data
            }
            data => {
                let scope = span.instrumentation_scope.clone();
                let resource_spans = group_spans_by_resource_and_scope(vec![span], &self.resource);
                &mut data.insert((scope, TracesData { resource_spans })).1
            }
        };
        self.line.clear();
        match serde_json::to_writer(&mut self.line, data) {
            Ok(()) => self.line.push(b'\n'),
            // These types always serialize.
            Err(_) => self.line.clear(),
        }
        &self.line
    }
}
