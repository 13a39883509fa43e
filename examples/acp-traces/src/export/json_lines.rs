//! Spans as lines of OTLP in JSON.
//!
//! Spec: [OTLP file exporter](https://opentelemetry.io/docs/specs/otel/protocol/file-exporter/#json-lines-file),
//! [JSON Protobuf Encoding](https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding)

use opentelemetry::InstrumentationScope;
use opentelemetry_proto::tonic::trace::v1::{Span, TracesData};
use opentelemetry_proto::transform::common::tonic::ResourceAttributesWithSchema;
use opentelemetry_proto::transform::trace::tonic::group_spans_by_resource_and_scope;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SpanData;

/// Makes a line of each span, so that a file ends with a whole one whenever its writer does.
#[derive(Debug)]
pub(crate) struct JsonLines {
    resource: ResourceAttributesWithSchema,
    /// The last span, and who it is from.
    data: Option<(InstrumentationScope, TracesData)>,
    line: Vec<u8>,
}

impl JsonLines {
    /// `resource`: who the spans are from.
    pub(crate) fn new(resource: &Resource) -> Self {
        let mut resource = ResourceAttributesWithSchema::from(resource);
        // A resource has no order; the same spans are to be the same bytes.
        resource.attributes.0.sort_unstable_by(|one, other| one.key.cmp(&other.key));
        Self { resource, data: None, line: Vec::new() }
    }

    /// A span as a line, with its line end.
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
            // These types have a form in JSON, whatever their values are.
            Err(_) => self.line.clear(),
        }
        &self.line
    }
}
