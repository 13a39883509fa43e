//! Attributes that backends read beyond those of the conventions.
//!
//! | of the conventions | `phoenix` (OpenInference) | `langfuse` |
//! |---|---|---|
//! | `gen_ai.operation.name` | `openinference.span.kind`: `LLM` for a turn with tokens, else `AGENT`; `TOOL`; `CHAIN` for other spans | `langfuse.observation.type`: `agent`, `tool` |
//! | `gen_ai.input.messages`, `gen_ai.tool.call.arguments` | `input.value`, `input.mime_type` | `langfuse.observation.input` |
//! | `gen_ai.output.messages`, `gen_ai.tool.call.result` | `output.value`, `output.mime_type` | `langfuse.observation.output` |
//! | `gen_ai.response.model`, else `gen_ai.request.model` | `llm.model_name` | `langfuse.observation.model.name` |
//! | `gen_ai.request.model`, `gen_ai.response.model` | `llm.request.model_name`, `llm.response.model_name` | |
//! | `gen_ai.response.finish_reasons` | `llm.finish_reason` | |
//! | `gen_ai.provider.name` | `llm.provider` | |
//! | `gen_ai.usage.input_tokens` | `llm.token_count.prompt` | |
//! | `gen_ai.usage.output_tokens` | `llm.token_count.completion` | |
//! | both | `llm.token_count.total` | |
//! | `gen_ai.usage.cache_read.input_tokens` | `llm.token_count.prompt_details.cache_read` | |
//! | `gen_ai.usage.cache_creation.input_tokens`, in development `gen_ai.usage.cache_write.input_tokens` | `llm.token_count.prompt_details.cache_write` | |
//! | `gen_ai.usage.reasoning.output_tokens` | `llm.token_count.completion_details.reasoning` | |
//! | `acp.cost.turn_amount`, unless in another currency than USD | `llm.cost.total` | `gen_ai.usage.cost` |
//! | `gen_ai.tool.name` | `tool.name` | |
//! | `gen_ai.conversation.id` | `session.id` | `session.id` |
//!
//! `datadog` reads the conventions and `session.id`. `jaeger` and `otel` read the conventions.
//!
//! Spec: [OpenInference](https://github.com/Arize-ai/openinference/blob/main/spec/semantic_conventions.md),
//! [Langfuse, property
//! mapping](https://langfuse.com/integrations/native/opentelemetry#property-mapping)

use crate::otlp::{Signal, Transport, variable};
use base64::prelude::{BASE64_STANDARD, Engine};
use clap::ValueEnum;
use opentelemetry::{Array, Key, KeyValue, Value};
use semconv_map::keys;
use serde_json::Value as Json;
use std::collections::HashMap;

/// A backend that stores spans.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
#[non_exhaustive]
pub enum Backend {
    /// Arize Phoenix, and other backends that read OpenInference
    Phoenix,
    /// Langfuse
    Langfuse,
    /// Datadog
    Datadog,
    /// Jaeger
    Jaeger,
    /// Any backend that reads the conventions
    #[default]
    Otel,
}

/// Attributes with the value of another: the conventions, OpenInference.
const OPENINFERENCE: [(&str, &str); 10] = [
    (keys::GEN_AI_REQUEST_MODEL, "llm.request.model_name"),
    (keys::GEN_AI_RESPONSE_MODEL, "llm.response.model_name"),
    (keys::GEN_AI_PROVIDER_NAME, "llm.provider"),
    (keys::GEN_AI_USAGE_INPUT_TOKENS, "llm.token_count.prompt"),
    (keys::GEN_AI_USAGE_OUTPUT_TOKENS, "llm.token_count.completion"),
    (keys::GEN_AI_USAGE_CACHE_READ_INPUT_TOKENS, "llm.token_count.prompt_details.cache_read"),
    (keys::GEN_AI_USAGE_CACHE_CREATION_INPUT_TOKENS, "llm.token_count.prompt_details.cache_write"),
    (keys::GEN_AI_USAGE_CACHE_WRITE_INPUT_TOKENS, "llm.token_count.prompt_details.cache_write"),
    (keys::GEN_AI_USAGE_REASONING_OUTPUT_TOKENS, "llm.token_count.completion_details.reasoning"),
    (keys::GEN_AI_TOOL_NAME, "tool.name"),
];

/// Content, and the attributes that have it in Phoenix and Langfuse.
const CONTENT: [(&str, &str, &str, &str); 4] = [
    (keys::GEN_AI_INPUT_MESSAGES, "input.value", "input.mime_type", "langfuse.observation.input"),
    (
        keys::GEN_AI_TOOL_CALL_ARGUMENTS,
        "input.value",
        "input.mime_type",
        "langfuse.observation.input",
    ),
    (
        keys::GEN_AI_OUTPUT_MESSAGES,
        "output.value",
        "output.mime_type",
        "langfuse.observation.output",
    ),
    (
        keys::GEN_AI_TOOL_CALL_RESULT,
        "output.value",
        "output.mime_type",
        "langfuse.observation.output",
    ),
];

impl Backend {
    /// Returns the URL in the variables that the backend's own libraries read, else that of a local
    /// installation, if the default of OTLP does not apply.
    pub(crate) fn url(self) -> Option<String> {
        let base = |name| variable(name).map(|url| url.trim_end_matches('/').to_owned());
        let (url, default) = match self {
            Self::Phoenix => {
                let url = base("PHOENIX_COLLECTOR_ENDPOINT");
                let url = url.map(|url| url.strip_suffix("/v1/traces").unwrap_or(&url).to_owned());
                (url, "http://127.0.0.1:6006")
            }
            Self::Langfuse => {
                let url = base("LANGFUSE_BASE_URL").or_else(|| base("LANGFUSE_HOST"));
                let url = url.map(|url| format!("{url}/api/public/otel"));
                (url, "http://127.0.0.1:3000/api/public/otel")
            }
            Self::Datadog => (None, "http://127.0.0.1:4318"),
            Self::Jaeger | Self::Otel => return None,
        };
        Some(url.unwrap_or_else(|| default.to_owned()))
    }

    /// Returns the headers with the keys in the variables that the backend's own libraries read.
    ///
    /// Spec: [RFC 7617](https://www.rfc-editor.org/rfc/rfc7617), for Langfuse
    pub(crate) fn headers(self) -> HashMap<String, String> {
        let pairs = match self {
            Self::Phoenix => variable("PHOENIX_API_KEY")
                .map(|key| vec![("authorization", format!("Bearer {key}"))]),
            Self::Langfuse => variable("LANGFUSE_PUBLIC_KEY")
                .zip(variable("LANGFUSE_SECRET_KEY"))
                .map(|(public, secret)| BASE64_STANDARD.encode(format!("{public}:{secret}")))
                .map(|pair| vec![("authorization", format!("Basic {pair}"))]),
            Self::Datadog => variable("DD_API_KEY")
                .map(|key| vec![("dd-api-key", key), ("dd-otlp-source", "llmobs".to_owned())]),
            Self::Jaeger | Self::Otel => None,
        };
        let pairs = pairs.unwrap_or_default().into_iter();
        pairs.map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// Returns the transport of a signal: that of the option, else that of the environment as
    /// `None`, else that of the backend, if the default of OTLP does not apply.
    pub(crate) fn transport(self, signal: Signal, option: Option<Transport>) -> Option<Transport> {
        let own = match self {
            Self::Phoenix | Self::Langfuse | Self::Datadog => Some(Transport::HttpProtobuf),
            Self::Jaeger | Self::Otel => None,
        };
        option.or(own.filter(|_| !signal.has_protocol()))
    }

    /// Adds the attributes of the backend to those of an ended span.
    pub(crate) fn add(self, attributes: &mut Vec<KeyValue>) {
        let mut more = match self {
            Self::Phoenix => openinference(attributes),
            Self::Langfuse => langfuse(attributes),
            Self::Datadog => Vec::new(),
            Self::Jaeger | Self::Otel => return,
        };
        if let Some(session) = find(attributes, keys::GEN_AI_CONVERSATION_ID) {
            more.push(KeyValue::new("session.id", session.clone()));
        }
        more.retain(|it| find(attributes, it.key.as_str()).is_none());
        attributes.append(&mut more);
    }
}

fn openinference(attributes: &[KeyValue]) -> Vec<KeyValue> {
    let mut more = Vec::new();
    let tokens = [keys::GEN_AI_USAGE_INPUT_TOKENS, keys::GEN_AI_USAGE_OUTPUT_TOKENS]
        .map(|key| find(attributes, key).and_then(integer));
    let kind = match operation(attributes) {
        Some("invoke_agent") if tokens != [None, None] => "LLM",
        Some("invoke_agent") => "AGENT",
        Some("execute_tool") => "TOOL",
        _ => "CHAIN",
    };
    more.push(KeyValue::new("openinference.span.kind", kind));
    for (key, value, mime_type, _) in CONTENT {
        let Some((text, is_json)) = find(attributes, key).map(readable) else { continue };
        more.push(KeyValue::new(value, text));
        let mime = if is_json { "application/json" } else { "text/plain" };
        more.push(KeyValue::new(mime_type, mime));
    }
    if let Some(model) = model(attributes) {
        more.push(KeyValue::new("llm.model_name", model.clone()));
    }
    if let [Some(input), Some(output)] = tokens {
        more.push(KeyValue::new("llm.token_count.total", input.saturating_add(output)));
    }
    if let Some(Value::Array(Array::String(reasons))) =
        find(attributes, keys::GEN_AI_RESPONSE_FINISH_REASONS)
        && let Some(reason) = reasons.first()
    {
        more.push(KeyValue::new("llm.finish_reason", reason.clone()));
    }
    more.extend(cost(attributes).map(|cost| KeyValue::new("llm.cost.total", cost.clone())));
    let same = OPENINFERENCE.iter().filter_map(|(key, name)| {
        Some(KeyValue::new(Key::from_static_str(name), find(attributes, key)?.clone()))
    });
    more.extend(same);
    more
}

fn langfuse(attributes: &[KeyValue]) -> Vec<KeyValue> {
    let mut more = Vec::new();
    let kind = match operation(attributes) {
        Some("invoke_agent") => Some("agent"),
        Some("execute_tool") => Some("tool"),
        _ => None,
    };
    more.extend(kind.map(|kind| KeyValue::new("langfuse.observation.type", kind)));
    for (key, _, _, name) in CONTENT {
        let text = find(attributes, key).map(readable);
        more.extend(text.map(|(text, _)| KeyValue::new(name, text)));
    }
    if let Some(model) = model(attributes) {
        more.push(KeyValue::new("langfuse.observation.model.name", model.clone()));
    }
    more.extend(cost(attributes).map(|cost| KeyValue::new("gen_ai.usage.cost", cost.clone())));
    more
}

/// Returns the cost of a turn, unless it is in another currency than US dollars.
fn cost(attributes: &[KeyValue]) -> Option<&Value> {
    let currency = find(attributes, keys::ACP_COST_CURRENCY);
    let cost = find(attributes, keys::ACP_COST_TURN_AMOUNT);
    cost.filter(|_| currency.is_none_or(|currency| currency.as_str() == "USD"))
}

fn find<'a>(attributes: &'a [KeyValue], key: &str) -> Option<&'a Value> {
    attributes.iter().find(|attribute| attribute.key.as_str() == key).map(|it| &it.value)
}

fn operation(attributes: &[KeyValue]) -> Option<&str> {
    match find(attributes, keys::GEN_AI_OPERATION_NAME)? {
        Value::String(name) => Some(name.as_str()),
        _ => None,
    }
}

fn model(attributes: &[KeyValue]) -> Option<&Value> {
    let requested = || find(attributes, keys::GEN_AI_REQUEST_MODEL);
    find(attributes, keys::GEN_AI_RESPONSE_MODEL).or_else(requested)
}

fn integer(value: &Value) -> Option<i64> {
    match value {
        Value::I64(number) => Some(*number),
        _ => None,
    }
}

/// Returns the texts of messages, else the JSON text, and whether it is JSON.
fn readable(value: &Value) -> (String, bool) {
    let json = value.as_str().into_owned();
    let messages = serde_json::from_str::<Json>(&json).unwrap_or_default();
    let parts = messages.as_array().into_iter().flatten();
    let parts = parts.filter_map(|message| message.get("parts")?.as_array()).flatten();
    let is_text = |part: &&Json| part.get("type").is_some_and(|kind| kind == "text");
    let texts = parts.filter(is_text).filter_map(|part| part.get("content")?.as_str());
    let texts: Vec<_> = texts.collect();
    if texts.is_empty() { (json, true) } else { (texts.join("\n"), false) }
}
