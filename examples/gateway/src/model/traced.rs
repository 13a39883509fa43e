//! Spans of a model's answers and of its tool calls.
//!
//! Spec: [GenAI client spans,
//! v1.41](https://github.com/open-telemetry/semantic-conventions/blob/v1.41.1/docs/gen-ai/gen-ai-spans.md)
use crate::telemetry::{Span, Telemetry, cut};
use agui_bridge::hybrid_tools::runner::{Model, ModelRequest};
use agui_bridge::hybrid_tools::{ModelEvent, RunFailure};
use agui_types::integer::Count;
use async_trait::async_trait;
use opentelemetry::trace::SpanKind;
use semconv_map::keys;
use semconv_map::trace_context::TraceContext;

/// The telemetry of a run.
#[derive(Clone, Debug)]
pub struct RunTelemetry {
    /// Records the spans.
    pub telemetry: Telemetry,
    /// The span of the run, if it is traced.
    pub run: Option<TraceContext>,
}

impl RunTelemetry {
    /// Starts the span of a tool call.
    pub(crate) fn tool(&self, name: &str, call_id: &str) -> Option<Span> {
        let name = cut(name);
        let mut span = self.span(format!("execute_tool {name}"), SpanKind::Internal)?;
        span.set(keys::GEN_AI_OPERATION_NAME, "execute_tool");
        span.set(keys::GEN_AI_TOOL_NAME, name);
        span.set(keys::GEN_AI_TOOL_CALL_ID, cut(call_id));
        Some(span)
    }

    fn chat(&self, model: &str) -> Option<Span> {
        let mut span = self.span(format!("chat {model}"), SpanKind::Client)?;
        span.set(keys::GEN_AI_OPERATION_NAME, "chat");
        // The protocol of the endpoint. Its operator is unknown.
        span.set(keys::GEN_AI_PROVIDER_NAME, "openai");
        span.set(keys::GEN_AI_REQUEST_MODEL, model.to_owned());
        Some(span)
    }

    fn span(&self, name: String, kind: SpanKind) -> Option<Span> {
        self.telemetry.span(name, kind, self.run.as_ref())
    }
}

/// A model with a span for each answer.
pub(crate) struct TracedModel<'a> {
    model: Box<dyn Model + 'a>,
    name: Option<&'a str>,
    traced: &'a RunTelemetry,
    /// The span of the current answer.
    answer: Option<Span>,
}

impl<'a> TracedModel<'a> {
    /// Creates a traced model. `name` is the model's name at its endpoint; a script has none and is
    /// not traced.
    pub(crate) fn new(
        model: Box<dyn Model + 'a>,
        name: Option<&'a str>,
        traced: &'a RunTelemetry,
    ) -> Self {
        Self { model, name, traced, answer: None }
    }

    fn failed(&mut self, failure: RunFailure) -> RunFailure {
        if let Some(mut span) = self.answer.take() {
            span.fail(failure.code.clone().unwrap_or_else(|| "_OTHER".to_owned()));
        }
        failure
    }
}

#[async_trait]
impl Model for TracedModel<'_> {
    async fn ask(&mut self, request: ModelRequest<'_>) -> Result<(), RunFailure> {
        self.answer = self.name.and_then(|name| self.traced.chat(name));
        let asked = self.model.ask(request).await;
        asked.map_err(|failure| self.failed(failure))
    }

    async fn next(&mut self) -> Result<Option<ModelEvent>, RunFailure> {
        let said = self.model.next().await.map_err(|failure| self.failed(failure))?;
        match (&said, &mut self.answer) {
            (None, answer) => *answer = None,
            (Some(ModelEvent::Usage(usage)), Some(span)) => {
                for (key, tokens) in [
                    (keys::GEN_AI_USAGE_INPUT_TOKENS, usage.input_tokens),
                    (keys::GEN_AI_USAGE_OUTPUT_TOKENS, usage.output_tokens),
                ] {
                    let tokens = tokens.map(Count::get).and_then(|count| i64::try_from(count).ok());
                    if let Some(tokens) = tokens {
                        span.set(key, tokens);
                    }
                }
            }
            _ => {}
        }
        Ok(said)
    }
}
