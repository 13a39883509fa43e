//! The chat over a WebSocket, for pages that do not speak AG-UI: `message` in; `token`, `tool_start`, `tool_complete`,
//! `complete` and `error` out.
use crate::access::Principal;
use crate::server::Refusal;
use crate::threads::Threads;
use agui_types::content::Content;
use agui_types::event::{Event, RunFinishedOutcome};
use agui_types::input::RunAgentInput;
use agui_types::message::{Message as ChatMessage, UserMessage};
use agui_types::reduce::Reducer;
use agui_types::sse::Decoder;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Extension, Query, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures::{SinkExt, StreamExt};
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use jsonrpc_core::wire::{self, Raw};
use mcp_bridge::registry::SourceNames;
use mcp_bridge::tool_events::{
    CallStatus, CallUpdate, ClientChatMessage, ClientMessage, ServerCompleteMessage,
    ServerErrorMessage, ServerMessage, ServerTokenMessage, ToolEvents,
};
use run_telemetry::HttpSpan;
use semconv_map::trace_context::TraceContext;
use serde::Deserialize;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::SystemTime;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error, Message};

/// The most bytes of a message of the page's.
const MAX_MESSAGE: usize = 1024 * 1024;

/// The most conversations of one socket; one more is refused.
const MAX_CONVERSATIONS: usize = 16;

/// The most messages of a conversation that are kept; of longer ones the oldest are forgotten.
const MAX_HISTORY: usize = 1000;

/// The subprotocol, for clients that ask for one.
const PROTOCOL: &str = "chat";

type Socket = WebSocketStream<TokioIo<hyper::upgrade::Upgraded>>;

/// Whom the chat is with.
#[derive(Debug, Deserialize)]
pub(crate) struct With {
    /// The default agent unless one is named.
    agent: Option<String>,
}

/// `GET /api/ai/ws`
pub(crate) async fn open(
    State(threads): State<Arc<Threads>>,
    Extension(principal): Extension<Principal>,
    with: Result<Query<With>, QueryRejection>,
    mut request: Request,
) -> Result<Response, Refusal> {
    let Query(With { agent }) = with?;
    let accept = accept_key(request.headers()).ok_or_else(|| {
        Refusal::new(StatusCode::UPGRADE_REQUIRED, "expected a WebSocket, version 13")
    })?;
    let protocol = offers_protocol(request.headers());
    let caller = request.extensions().get::<HttpSpan>().map(|HttpSpan(span)| span.clone());
    let upgrade = request.extensions_mut().remove::<OnUpgrade>().ok_or_else(|| {
        Refusal::new(StatusCode::UPGRADE_REQUIRED, "the connection cannot be upgraded")
    })?;
    tokio::spawn(async move {
        let upgraded = match upgrade.await {
            Ok(upgraded) => TokioIo::new(upgraded),
            Err(error) => return tracing::debug!(%error, "a WebSocket that did not open"),
        };
        let limits = WebSocketConfig::default()
            .max_message_size(Some(MAX_MESSAGE))
            .max_frame_size(Some(MAX_MESSAGE));
        let socket = WebSocketStream::from_raw_socket(upgraded, Role::Server, Some(limits)).await;
        let conversations = HashMap::new();
        let chat = Chat { threads, principal, agent, caller, socket, conversations };
        if let Err(error) = chat.serve().await {
            tracing::debug!(%error, "a WebSocket has ended");
        }
    });
    let mut response = (
        StatusCode::SWITCHING_PROTOCOLS,
        [(header::CONNECTION, "upgrade"), (header::UPGRADE, "websocket")],
    )
        .into_response();
    response.headers_mut().insert(header::SEC_WEBSOCKET_ACCEPT, accept);
    if protocol {
        let chosen = HeaderValue::from_static(PROTOCOL);
        response.headers_mut().insert(header::SEC_WEBSOCKET_PROTOCOL, chosen);
    }
    Ok(response)
}

/// What the handshake is answered with, if it is one.
fn accept_key(headers: &HeaderMap) -> Option<HeaderValue> {
    let has = |name: HeaderName, value: &str| has(headers, name, value);
    let is_handshake = has(header::UPGRADE, "websocket")
        && has(header::CONNECTION, "upgrade")
        && has(header::SEC_WEBSOCKET_VERSION, "13");
    let key = headers.get(header::SEC_WEBSOCKET_KEY).filter(|_| is_handshake)?;
    HeaderValue::from_str(&derive_accept_key(key.as_bytes())).ok()
}

fn offers_protocol(headers: &HeaderMap) -> bool {
    has(headers, header::SEC_WEBSOCKET_PROTOCOL, PROTOCOL)
}

fn has(headers: &HeaderMap, name: HeaderName, value: &str) -> bool {
    let lists = headers.get_all(name).into_iter().filter_map(|list| list.to_str().ok());
    lists.flat_map(|list| list.split(',')).any(|item| item.trim().eq_ignore_ascii_case(value))
}

/// One socket.
struct Chat {
    threads: Arc<Threads>,
    principal: Principal,
    agent: Option<String>,
    /// The span of the request that opened it.
    caller: Option<TraceContext>,
    socket: Socket,
    conversations: HashMap<String, Conversation>,
}

/// What was said, and what the last run asked and nobody answers here.
#[derive(Default)]
struct Conversation {
    messages: Vec<ChatMessage>,
    asked: Vec<String>,
}

impl Chat {
    async fn serve(mut self) -> Result<(), Error> {
        while let Some(message) = self.socket.next().await {
            match message? {
                Message::Text(text) => match wire::decode::<ClientMessage>(&text) {
                    Ok(ClientMessage::Message(said)) => self.answer(said).await?,
                    Ok(other) => {
                        let tag = other.tag();
                        self.error("UNKNOWN_TYPE", format!("expected `message`, got `{tag}`"))
                            .await?;
                    }
                    Err(error) => self.error("INVALID_MESSAGE", error.to_string()).await?,
                },
                Message::Close(_) => return Ok(()),
                Message::Binary(_) => self.error("INVALID_MESSAGE", "expected text").await?,
                _ => {}
            }
        }
        Ok(())
    }

    async fn answer(&mut self, said: ClientChatMessage) -> Result<(), Error> {
        let ClientChatMessage { conversation_id, content, .. } = said;
        if !self.conversations.contains_key(&conversation_id)
            && self.conversations.len() >= MAX_CONVERSATIONS
        {
            let message = format!("a socket has at most {MAX_CONVERSATIONS} conversations");
            return self.error("TOO_MANY_CONVERSATIONS", message).await;
        }
        let conversation = self.conversations.entry(conversation_id.clone()).or_default();
        let name = self.threads.name();
        let message = UserMessage::new(format!("ws-{name}-user"), Content::Text(content));
        conversation.messages.push(ChatMessage::User(message));
        let over = conversation.messages.len().saturating_sub(MAX_HISTORY);
        conversation.messages.drain(..over);
        let input = match input(&conversation_id, &name, conversation) {
            Ok(input) => input,
            Err(error) => return self.error("INVALID_MESSAGE", error.to_string()).await,
        };
        let (principal, agent) = (self.principal.clone(), self.agent.as_deref());
        let caller = self.caller.clone();
        match self.threads.start(principal, agent, input.clone(), false, caller).await {
            Ok(reader) => self.tell(&conversation_id, &input, reader.read()).await,
            Err(error) => {
                if let Some(conversation) = self.conversations.get_mut(&conversation_id) {
                    conversation.messages.pop();
                }
                self.error("REFUSED", error.to_string()).await
            }
        }
    }

    /// Tells the page of a run while it goes on.
    async fn tell(
        &mut self,
        conversation_id: &str,
        input: &RunAgentInput,
        bytes: impl futures::Stream<Item = bytes::Bytes>,
    ) -> Result<(), Error> {
        let mut bytes = Box::pin(bytes);
        let mut decoder = Decoder::default();
        let mut run = Run::new(conversation_id, self.threads.clone());
        let mut reducer = Reducer::for_input(input).unwrap_or_default();
        while let Some(bytes) = bytes.next().await {
            decoder.push(&bytes);
            while let Some(frame) = decoder.next_frame() {
                let event = match frame.map(|frame| frame.decode::<Event>()) {
                    Ok(Ok(event)) => event,
                    Ok(Err(error)) => {
                        tracing::error!(%error, "an event of ours that cannot be read");
                        continue;
                    }
                    Err(error) => {
                        tracing::error!(%error, "an event of ours that cannot be read");
                        continue;
                    }
                };
                if let Some(warning) = reducer.handle(&event) {
                    tracing::debug!(%warning, "an event that changes nothing");
                }
                for message in run.hear(&event) {
                    self.send(&message).await?;
                }
            }
        }
        let conversation = self.conversations.entry(conversation_id.to_owned()).or_default();
        conversation.messages = reducer.into_parts().0;
        conversation.asked = run.asked;
        Ok(())
    }

    async fn error(&mut self, code: &str, message: impl Into<String>) -> Result<(), Error> {
        self.send(&error(code, message)).await
    }

    async fn send(&mut self, message: &ServerMessage) -> Result<(), Error> {
        match serde_json::to_string(message) {
            Ok(text) => self.socket.send(Message::text(text)).await,
            Err(error) => {
                tracing::error!(%error, "a message that cannot be written");
                Ok(())
            }
        }
    }
}

fn error(code: &str, message: impl Into<String>) -> ServerMessage {
    let mut error = ServerErrorMessage::new(message);
    error.code = Some(code.to_owned());
    ServerMessage::Error(error)
}

/// The run's input: all that was said; what was asked is left without an answer.
fn input(
    conversation_id: &str,
    name: &str,
    conversation: &Conversation,
) -> Result<RunAgentInput, wire::DecodeError> {
    let resume: Vec<_> = conversation
        .asked
        .iter()
        .map(|id| serde_json::json!({ "interruptId": id, "status": "cancelled" }))
        .collect();
    let base = serde_json::json!({
        "protocolVersion": "1.0", "threadId": conversation_id, "runId": format!("ws-{name}"),
        "messages": [], "resume": resume,
    });
    let mut input: RunAgentInput = wire::decode(&base.to_string())?;
    input.messages.clone_from(&conversation.messages);
    if resume.is_empty() {
        input.resume = None;
    }
    Ok(input)
}

/// What is known of a run while it goes on.
struct Run {
    conversation_id: String,
    threads: Arc<Threads>,
    tools: ToolEvents,
    /// The calls' names and arguments, as far as they came.
    calls: HashMap<String, (String, String)>,
    message_id: String,
    asked: Vec<String>,
}

impl Run {
    fn new(conversation_id: &str, threads: Arc<Threads>) -> Self {
        Self {
            conversation_id: conversation_id.to_owned(),
            threads,
            tools: ToolEvents::new(SourceNames::LocalOrMcp),
            calls: HashMap::new(),
            message_id: String::new(),
            asked: Vec::new(),
        }
    }

    /// What to send for an event.
    fn hear(&mut self, event: &Event) -> Vec<ServerMessage> {
        match event {
            Event::TextMessageContent(content) => {
                self.message_id = content.message_id.to_string();
                vec![ServerMessage::Token(ServerTokenMessage::new(content.delta.as_str()))]
            }
            Event::ToolCallStart(start) => {
                let call = (start.tool_call_name.clone(), String::new());
                self.calls.insert(start.tool_call_id.to_string(), call);
                Vec::new()
            }
            Event::ToolCallArgs(args) => {
                if let Some((_, arguments)) = self.calls.get_mut(args.tool_call_id.as_str()) {
                    arguments.push_str(&args.delta);
                }
                Vec::new()
            }
            Event::ToolCallEnd(end) => {
                let id = end.tool_call_id.as_str();
                let Some((name, arguments)) = self.calls.remove(id) else { return Vec::new() };
                let input = Raw::from_text(&arguments).ok();
                let mut update = CallUpdate::new(id);
                (update.name, update.input) = (Some(&*name), input.as_ref());
                update.status = CallStatus::InProgress;
                self.tools.handle(&update, self.threads.toolbox().registry(), &now())
            }
            Event::ToolCallResult(result) => {
                let mut update = CallUpdate::new(result.tool_call_id.as_str());
                update.output = Some(match &result.content {
                    Content::Text(text) => text.as_str().into(),
                    parts => serde_json::to_string(parts).unwrap_or_default().into(),
                });
                update.status = CallStatus::Completed;
                self.tools.handle(&update, self.threads.toolbox().registry(), &now())
            }
            Event::RunError(failed) => {
                vec![error(failed.code.as_deref().unwrap_or("FAILED"), &*failed.message)]
            }
            Event::RunFinished(finished) => match &finished.outcome {
                Some(RunFinishedOutcome::Interrupt(outcome)) => {
                    self.asked = outcome.interrupts.iter().map(|it| it.id.to_string()).collect();
                    let asked = outcome.interrupts.iter().filter_map(|it| it.message.clone());
                    let asked = asked.collect::<Vec<_>>().join("; ");
                    vec![error(
                        "ASKED",
                        format!("The agent asks, and this chat cannot answer: {asked}"),
                    )]
                }
                Some(RunFinishedOutcome::Cancelled(_)) => {
                    vec![error("CANCELLED", "The run was stopped.")]
                }
                _ => vec![ServerMessage::Complete(ServerCompleteMessage::new(
                    &*self.message_id,
                    &*self.conversation_id,
                ))],
            },
            _ => Vec::new(),
        }
    }
}

fn now() -> String {
    humantime::format_rfc3339_millis(SystemTime::now()).to_string()
}
