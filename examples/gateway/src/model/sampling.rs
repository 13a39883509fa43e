//! Answers of the model to tools.
//!
//! Spec: [Sampling](https://modelcontextprotocol.io/specification/2026-07-28/client/sampling)
use crate::model::{ChatModel, Kind};
use agui_bridge::chat_history::ChatToolCall;
use agui_bridge::hybrid_tools::runner::{self, Backend, Model};
use agui_bridge::hybrid_tools::{HybridLoop, LoopOptions};
use agui_types::content::Content;
use agui_types::event::Event;
use agui_types::input::RunAgentInput;
use async_trait::async_trait;
use jsonrpc_core::{ErrorCode, ErrorObject, wire};
use mcp_bridge::mcp::content::{Role, TextContent};
use mcp_bridge::mcp::sampling::{
    CreateMessageRequestParams, CreateMessageResult, SamplingContent, SamplingMessage,
    SamplingMessageContentBlock as Block, StopReason,
};
use mcp_bridge_http::Sampler;
use serde_json::{Map, Value, json};

/// Largest number of tokens of an answer to a tool, unless the settings have another.
pub(crate) const MAX_TOKENS: u32 = 4096;

#[async_trait]
impl Sampler for ChatModel {
    async fn sample(
        &self,
        params: &CreateMessageRequestParams,
    ) -> Result<CreateMessageResult, ErrorObject> {
        let input = input(params)?;
        let (text, stop_reason) = match &self.kind {
            Kind::Script(script) => (answer(&input, &mut script.open()).await?, None),
            Kind::Endpoint(endpoint) => {
                let mut model = endpoint.open(self.parameters(params));
                let text = answer(&input, &mut model).await?;
                let is_cut = model.is_cut();
                (text, Some(if is_cut { StopReason::MaxTokens } else { StopReason::EndTurn }))
            }
        };
        let content = SamplingContent::One(Block::Text(TextContent::new(text)));
        let model = self.model().unwrap_or(&self.name);
        let mut result = CreateMessageResult::new(Role::Assistant, content, model);
        result.stop_reason = stop_reason;
        Ok(result)
    }
}

impl ChatModel {
    /// Returns the members of a request to the endpoint that a chat does not have.
    fn parameters(&self, params: &CreateMessageRequestParams) -> Map<String, Value> {
        let most = u64::from(self.tokens_for_tools);
        let tokens = params.max_tokens.as_u64().map_or(most, |tokens| tokens.clamp(1, most));
        let mut parameters = Map::new();
        parameters.insert("max_tokens".to_owned(), tokens.into());
        if let Some(temperature) = &params.temperature {
            parameters.insert("temperature".to_owned(), temperature.clone().into());
        }
        if let Some(stop) = params.stop_sequences.as_ref().filter(|stop| !stop.is_empty()) {
            parameters.insert("stop".to_owned(), stop.clone().into());
        }
        parameters
    }
}

/// Returns the request as the input of a run.
fn input(params: &CreateMessageRequestParams) -> Result<RunAgentInput, ErrorObject> {
    if params.tools().next().is_some() {
        return Err(refused("tools are not supported in a request to the model"));
    }
    let system = params.system_prompt.as_ref();
    let system =
        system.map(|text| Ok(json!({ "id": "system", "role": "system", "content": text })));
    let messages = params.messages.iter().enumerate().map(|(at, it)| message(at, it));
    let messages = system.into_iter().chain(messages).collect::<Result<Vec<_>, _>>()?;
    let input = json!({ "threadId": "sampling", "runId": "sampling", "messages": messages });
    wire::decode(&input.to_string()).map_err(|error| failed(&error.to_string()))
}

fn message(at: usize, message: &SamplingMessage) -> Result<Value, ErrorObject> {
    let id = at.to_string();
    let blocks = message.content.blocks();
    let texts: Vec<_> = blocks.iter().filter_map(text).collect();
    match &message.role {
        Role::User if texts.len() == blocks.len() => {
            Ok(json!({ "id": id, "role": "user", "content": texts.join("\n") }))
        }
        Role::User => {
            let parts = blocks.iter().map(part).collect::<Result<Vec<_>, _>>()?;
            Ok(json!({ "id": id, "role": "user", "content": parts }))
        }
        Role::Assistant if texts.len() == blocks.len() => {
            Ok(json!({ "id": id, "role": "assistant", "content": texts.join("\n") }))
        }
        role => Err(refused(&format!("a message of `{}`: expected texts", role.as_str()))),
    }
}

fn text(block: &Block) -> Option<&str> {
    match block {
        Block::Text(text) => Some(text.text.as_str()),
        _ => None,
    }
}

fn part(block: &Block) -> Result<Value, ErrorObject> {
    match block {
        Block::Text(text) => Ok(json!({ "type": "text", "text": text.text })),
        Block::Image(image) => {
            let source =
                json!({ "type": "data", "value": image.data, "mimeType": image.mime_type });
            Ok(json!({ "type": "image", "source": source }))
        }
        other => Err(refused(&format!("expected `text` or `image`, got `{}`", other.tag()))),
    }
}

/// Returns the text of the model's answer.
async fn answer(input: &RunAgentInput, model: &mut dyn Model) -> Result<String, ErrorObject> {
    let mut events: Vec<Event> = Vec::new();
    let mut hybrid = HybridLoop::begin(input, &[], LoopOptions::new());
    let ran = runner::run(&mut hybrid, model, &NoTools, &mut events).await;
    ran.map_err(|error| failed(&error.to_string()))?;
    let mut text = String::new();
    for event in events {
        match event {
            Event::TextMessageContent(content) => text.push_str(&content.delta),
            Event::RunError(error) => return Err(failed(&error.message)),
            _ => {}
        }
    }
    Ok(text)
}

fn refused(message: &str) -> ErrorObject {
    ErrorObject::new(ErrorCode::INVALID_PARAMS, message)
}

fn failed(message: &str) -> ErrorObject {
    ErrorObject::new(ErrorCode::INTERNAL_ERROR, message)
}

/// The backend of a model without tools.
struct NoTools;

#[async_trait]
impl Backend for NoTools {
    async fn call(&self, request: &ChatToolCall) -> Result<Content, String> {
        Err(format!("there is no tool `{}`", request.name))
    }
}
