//! A model behind an endpoint with the API of OpenAI's chat completions.
//!
//! Spec: [Create chat completion](https://platform.openai.com/docs/api-reference/chat/create)
use crate::model::ModelSettings;
use agui_bridge::chat_history::{ChatMessage, ChatPart, ChatRole};
use agui_bridge::hybrid_tools::runner::{Model, ModelRequest};
use agui_bridge::hybrid_tools::{ModelEvent, ModelTool, RunFailure};
use agui_types::integer::Count;
use agui_types::sse::Decoder;
use agui_types::usage::TokenUsage;
use async_trait::async_trait;
use bytes::Bytes;
use display_error_chain::ErrorChainExt;
use futures::StreamExt;
use futures::stream::BoxStream;
use percent_encoding::percent_decode_str;
use reqwest::header::{AUTHORIZATION, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, Url};
use rustls::crypto::ring::default_provider;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};
use std::env;
use std::time::Duration;

/// Time limit for connecting.
const CONNECT_TIME: Duration = Duration::from_secs(10);

/// Longest silence of the endpoint.
const SILENCE: Duration = Duration::from_secs(120);

/// Largest size of a stream event, in bytes.
const MAX_EVENT: usize = 1024 * 1024;

/// Largest number of forwarded characters of an error response.
const MAX_REFUSAL: usize = 500;

/// Length of a secret from which it is hidden where the endpoint repeats it, in bytes. A shorter
/// text, such as a version in the query, may be a part of any word.
const MIN_SECRET: usize = 6;

/// Stands for a secret.
const HIDDEN: &str = "(hidden)";

/// The address of a model.
#[derive(Debug)]
pub(super) struct Endpoint {
    client: Client,
    url: Url,
    model: String,
    instructions: Option<String>,
    authorization: Option<HeaderValue>,
    /// The key and the secrets of the URL, which an endpoint may repeat in its errors.
    secrets: Vec<String>,
}

/// An error in the settings of an endpoint.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EndpointError {
    /// The URL is not an HTTP URL.
    #[error("model.url: expected http://… or https://…, got {0}")]
    Url(String),
    /// The model has no name.
    #[error("model.name: expected the name of a model")]
    Name,
    /// The environment variable has no valid key.
    #[error("model.key-variable: {0} has no key in it")]
    Key(String),
    /// The HTTP client cannot be created.
    #[error("no HTTP client: {0}")]
    Client(#[from] reqwest::Error),
}

impl Endpoint {
    pub(super) fn new(base: &str, settings: &ModelSettings) -> Result<Self, EndpointError> {
        let model = settings.name.clone().ok_or(EndpointError::Name)?;
        let url = format!("{}/chat/completions", base.trim_end_matches('/')).parse::<Url>();
        // The rest of the URL may contain a secret.
        let url = url.map_err(|_| EndpointError::Url("no URL".to_owned()))?;
        if !["http", "https"].contains(&url.scheme()) {
            return Err(EndpointError::Url(format!("{}:…", url.scheme())));
        }
        let authorization = settings.key_variable.as_deref().map(authorization).transpose()?;
        // The client panics without a default provider. A default of the program stays in place.
        let _ = default_provider().install_default();
        let client = Client::builder()
            .connect_timeout(CONNECT_TIME)
            .read_timeout(SILENCE)
            .redirect(Policy::none())
            .user_agent(concat!("spanwire-gateway/", env!("CARGO_PKG_VERSION")))
            .build()?;
        let secrets = secrets(&url, authorization.as_ref());
        let instructions = settings.instructions.clone();
        Ok(Self { client, url, model, instructions, authorization, secrets })
    }

    /// Returns the name of the model.
    pub(super) fn model(&self) -> &str {
        &self.model
    }

    /// Returns the beginning of a text of the endpoint, without the secrets that were sent to it.
    fn excerpt(&self, text: &str) -> String {
        let hide = |text: String, secret: &String| text.replace(secret, HIDDEN);
        let text = self.secrets.iter().fold(text.trim().to_owned(), hide);
        text.chars().take(MAX_REFUSAL).collect()
    }

    /// Opens the model. `parameters` are further members of each request.
    pub(super) fn open(&self, parameters: Map<String, Value>) -> EndpointRun<'_> {
        EndpointRun {
            endpoint: self,
            parameters,
            is_cut: false,
            bytes: futures::stream::empty().boxed(),
            decoder: Decoder::with_limit(MAX_EVENT),
            events: VecDeque::new(),
            calls: BTreeMap::new(),
            asked: 0,
            end: End::Done,
        }
    }

    fn body(&self, request: &ModelRequest<'_>, parameters: &Map<String, Value>) -> Value {
        let instructions = self.instructions.as_deref();
        let instructions = instructions.map(|text| json!({ "role": "system", "content": text }));
        let events = request.history.iter().map(message);
        let mut body = json!({
            "model": self.model,
            "messages": instructions.into_iter().chain(events).collect::<Vec<_>>(),
            "stream": true,
            "stream_options": { "include_usage": true },
        });
        if let Some(body) = body.as_object_mut() {
            // Some endpoints refuse an empty list.
            if !request.tools.list().is_empty() {
                body.insert("tools".to_owned(), request.tools.list().iter().map(tool).collect());
            }
            body.extend(parameters.clone());
        }
        body
    }
}

/// Returns the header with the key of the variable, marked as sensitive.
fn authorization(name: &str) -> Result<HeaderValue, EndpointError> {
    let value = env::var(name).ok().filter(|key| !key.is_empty());
    let value = value.and_then(|key| HeaderValue::from_str(&format!("Bearer {key}")).ok());
    let mut value = value.ok_or_else(|| EndpointError::Key(name.to_owned()))?;
    value.set_sensitive(true);
    Ok(value)
}

/// Returns the key, and the user information and the values of the query of the URL: as they are
/// written and decoded, the longest first, so that none hides a part of another.
fn secrets(url: &Url, authorization: Option<&HeaderValue>) -> Vec<String> {
    let authorization = authorization.and_then(|value| value.to_str().ok());
    let key = authorization.and_then(|value| value.strip_prefix("Bearer ")).map(str::to_owned);
    let user = [Some(url.username()), url.password()].into_iter().flatten();
    let written = url.query().into_iter().flat_map(|query| query.split('&'));
    let written = written.filter_map(|pair| Some(pair.split_once('=')?.1));
    let values = url.query_pairs().map(|(_, value)| value.into_owned());
    let decoded =
        user.clone().map(|text| percent_decode_str(text).decode_utf8_lossy().into_owned());
    let written = user.chain(written).map(str::to_owned);
    let mut secrets: Vec<_> = key.into_iter().chain(written).chain(decoded).chain(values).collect();
    secrets.retain(|secret| secret.len() >= MIN_SECRET);
    secrets.sort_unstable_by_key(|secret| Reverse(secret.len()));
    secrets.dedup();
    secrets
}

/// State of the endpoint's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// More events follow.
    Open,
    /// The model has finished; its usage may follow.
    Stopped,
    Done,
}

/// A model in one run.
pub(super) struct EndpointRun<'a> {
    endpoint: &'a Endpoint,
    parameters: Map<String, Value>,
    /// Whether the last answer ended at the largest number of tokens.
    is_cut: bool,
    bytes: BoxStream<'static, Result<Bytes, reqwest::Error>>,
    decoder: Decoder,
    events: VecDeque<ModelEvent>,
    /// Ids of the calls in this answer, by index.
    calls: BTreeMap<u64, String>,
    /// Number of requests so far.
    asked: u64,
    end: End,
}

#[async_trait]
impl Model for EndpointRun<'_> {
    async fn ask(&mut self, request: ModelRequest<'_>) -> Result<(), RunFailure> {
        let Endpoint { client, url, authorization, .. } = self.endpoint;
        let mut post =
            client.post(url.clone()).json(&self.endpoint.body(&request, &self.parameters));
        if let Some(authorization) = authorization {
            post = post.header(AUTHORIZATION, authorization.clone());
        }
        let response = post.send().await.map_err(unavailable)?;
        let status = response.status();
        if !status.is_success() {
            let answer = response.text().await.unwrap_or_default();
            let answer = self.endpoint.excerpt(&answer);
            let message = format!("The model's endpoint answers {status}: {answer}");
            return Err(RunFailure::new("MODEL_REFUSED", message));
        }
        self.bytes = response.bytes_stream().boxed();
        self.decoder = Decoder::with_limit(MAX_EVENT);
        self.events.clear();
        self.calls.clear();
        self.asked += 1;
        self.end = End::Open;
        Ok(())
    }

    async fn next(&mut self) -> Result<Option<ModelEvent>, RunFailure> {
        loop {
            if let Some(event) = self.events.pop_front() {
                return Ok(Some(event));
            }
            if self.end == End::Done {
                return Ok(None);
            }
            if let Some(frame) = self.decoder.next_frame() {
                let frame = frame.map_err(|error| unreadable(&error))?;
                self.read(&frame.data)?;
                continue;
            }
            match self.bytes.next().await {
                Some(Ok(bytes)) => self.decoder.push(&bytes),
                Some(Err(error)) => return Err(unavailable(error)),
                None if self.end == End::Stopped => self.end = End::Done,
                None => {
                    let message = "The model's endpoint broke off its answer.";
                    return Err(RunFailure::new("MODEL_BROKE_OFF", message));
                }
            }
        }
    }
}

impl EndpointRun<'_> {
    /// Returns whether the last answer ended at the largest number of tokens.
    pub(super) fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Handles an event of the stream.
    fn read(&mut self, data: &str) -> Result<(), RunFailure> {
        if data == "[DONE]" {
            self.end = End::Done;
            return Ok(());
        }
        let chunk: Chunk = serde_json::from_str(data).map_err(|error| unreadable(&error))?;
        if let Some(error) = chunk.error {
            let message = error.get("message").and_then(Value::as_str).map(str::to_owned);
            let message = message.unwrap_or_else(|| error.to_string());
            let message = self.endpoint.excerpt(&message);
            return Err(RunFailure::new("MODEL_FAILED", format!("The model failed: {message}")));
        }
        for choice in chunk.choices.into_iter().filter(|choice| choice.index == 0) {
            self.delta(choice.delta);
            match choice.finish_reason.as_deref() {
                None => {}
                Some("content_filter") => {
                    let message = "The model's endpoint has filtered its answer.";
                    return Err(RunFailure::new("MODEL_FILTERED", message));
                }
                Some(reason) => {
                    self.is_cut = reason == "length";
                    self.end = End::Stopped;
                }
            }
        }
        if let Some(usage) = chunk.usage {
            self.events.push_back(ModelEvent::Usage(usage.tokens(&self.endpoint.model)));
        }
        Ok(())
    }

    fn delta(&mut self, delta: Delta) {
        let thought = delta.reasoning_content.or(delta.reasoning);
        self.events.extend(thought.filter(|text| !text.is_empty()).map(ModelEvent::Reasoning));
        self.events.extend(delta.content.filter(|text| !text.is_empty()).map(ModelEvent::Text));
        for call in delta.tool_calls.into_iter().flatten() {
            let function = call.function.unwrap_or_default();
            if let Some(name) = function.name.filter(|name| !name.is_empty())
                && !self.calls.contains_key(&call.index)
            {
                let made = || format!("call-{}-{}", self.asked, call.index);
                let id = call.id.filter(|id| !id.is_empty()).unwrap_or_else(made);
                self.calls.insert(call.index, id.clone());
                self.events.push_back(ModelEvent::ToolCallStart { id: id.into(), name });
            }
            if let Some(delta) = function.arguments.filter(|delta| !delta.is_empty())
                && let Some(id) = self.calls.get(&call.index)
            {
                let id = id.as_str().into();
                self.events.push_back(ModelEvent::ToolCallArguments { id, delta });
            }
        }
    }
}

fn unavailable(error: reqwest::Error) -> RunFailure {
    // The URL may contain a secret.
    let error = error.without_url();
    let message = format!("The model cannot be reached: {}", error.chain());
    RunFailure::new("MODEL_UNAVAILABLE", message)
}

fn unreadable(error: &dyn std::error::Error) -> RunFailure {
    let message = format!("The model's endpoint sends an invalid stream: {error}");
    RunFailure::new("MODEL_UNREADABLE", message)
}

fn message(message: &ChatMessage) -> Value {
    let text = |message: &ChatMessage| Value::from(message.text());
    match message.role {
        // Not every endpoint supports the role `developer`.
        ChatRole::Developer => json!({ "role": "system", "content": text(message) }),
        ChatRole::User => {
            let is_text = message.content.iter().all(|part| part.as_text().is_some());
            let parts = || message.content.iter().map(part).collect::<Value>();
            json!({ "role": "user", "content": if is_text { text(message) } else { parts() } })
        }
        ChatRole::Assistant if message.tool_calls.is_empty() => {
            json!({ "role": "assistant", "content": text(message) })
        }
        ChatRole::Assistant => {
            let calls = message.tool_calls.iter().map(|call| {
                let function = json!({ "name": call.name, "arguments": call.arguments });
                json!({ "id": call.id, "type": "function", "function": function })
            });
            let events = Some(message.text()).filter(|text| !text.is_empty());
            json!({ "role": "assistant", "content": events, "tool_calls": calls.collect::<Value>() })
        }
        ChatRole::Tool => {
            let id = &message.tool_call_id;
            let content = text(message);
            json!({ "role": "tool", "tool_call_id": id, "content": content })
        }
        other => json!({ "role": other.as_str(), "content": text(message) }),
    }
}

fn part(part: &ChatPart) -> Value {
    match part {
        ChatPart::Image { format, data } => {
            let url = format!("data:image/{format};base64,{data}");
            json!({ "type": "image_url", "image_url": { "url": url } })
        }
        part => json!({ "type": "text", "text": part.as_text() }),
    }
}

fn tool(tool: &ModelTool) -> Value {
    let none = || json!({ "type": "object", "properties": {} });
    let parameters = tool.parameters.as_ref().and_then(|schema| schema.decode().ok());
    let parameters: Value = parameters.unwrap_or_else(none);
    let name = &tool.name;
    let description = &tool.description;
    let function = json!({ "name": name, "description": description, "parameters": parameters });
    json!({ "type": "function", "function": function })
}

#[derive(Debug, Deserialize)]
struct Chunk {
    #[serde(default)]
    choices: Vec<Choice>,
    usage: Option<Usage>,
    error: Option<Value>,
}

#[derive(Debug, Deserialize)]
struct Choice {
    #[serde(default)]
    index: u64,
    #[serde(default)]
    delta: Delta,
    finish_reason: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
struct Delta {
    content: Option<String>,
    reasoning_content: Option<String>,
    reasoning: Option<String>,
    tool_calls: Option<Vec<CallDelta>>,
}

#[derive(Debug, Deserialize)]
struct CallDelta {
    #[serde(default)]
    index: u64,
    id: Option<String>,
    function: Option<FunctionDelta>,
}

#[derive(Debug, Default, Deserialize)]
struct FunctionDelta {
    name: Option<String>,
    arguments: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Usage {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    total_tokens: Option<u64>,
}

impl Usage {
    fn tokens(&self, model: &str) -> TokenUsage {
        let mut usage = TokenUsage::new();
        usage.model = Some(model.to_owned());
        usage.input_tokens = self.prompt_tokens.and_then(|count| Count::try_from(count).ok());
        usage.output_tokens = self.completion_tokens.and_then(|count| Count::try_from(count).ok());
        usage.total_tokens = self.total_tokens.and_then(|count| Count::try_from(count).ok());
        usage
    }
}
