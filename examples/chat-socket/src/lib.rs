//! A chat over a WebSocket, for pages that do not speak AG-UI: `message` in; `token`, `tool_start`, `tool_complete`,
//! `complete` and `error` out.
//!
//! [`upgrade`] answers the handshake, and [`ChatBackend`] runs the inputs that the messages become. Each answer ends with
//! `complete` or `error`. Pings are answered at any time, and a client that answers none has left after some seconds.
use agui_types::content::Content;
use agui_types::event::Event;
use agui_types::input::RunAgentInput;
use agui_types::message::{Message as ChatMessage, UserMessage};
use agui_types::reduce::Reducer;
use agui_types::sse::Decoder;
use bytes::Bytes;
use futures::StreamExt;
use futures::stream::BoxStream;
pub use handshake::{NoWebSocket, upgrade};
use jsonrpc_core::wire;
pub use link::SocketLimits;
use link::{Ended, Link};
use mcp_bridge::registry::Registry;
use mcp_bridge::tool_events::{
    ClientChatMessage, ClientMessage, ServerErrorMessage, ServerMessage,
};
use run::Run;
use std::collections::HashMap;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_tungstenite::tungstenite::Message;

mod handshake;
mod link;
mod run;

/// Maximum number of conversations of a socket; one more is refused.
const MAX_CONVERSATIONS: usize = 16;

/// Maximum number of messages of a conversation; the oldest are dropped.
const MAX_HISTORY: usize = 1000;

/// Runs the inputs of a chat.
pub trait ChatBackend: Send + Sync + 'static {
    /// Starts a run, and returns its events as server-sent events.
    ///
    /// # Errors
    /// The run does not begin; the text says why.
    fn start(
        &self,
        input: RunAgentInput,
    ) -> impl Future<Output = Result<BoxStream<'static, Bytes>, String>> + Send;

    /// Returns a name that no other run has.
    fn name(&self) -> String;

    /// Returns the tools with their sources.
    fn registry(&self) -> &Registry;
}

/// One socket.
struct Chat<B, S> {
    backend: B,
    link: Link<S>,
    conversations: HashMap<String, Conversation>,
}

/// The messages, and the questions of the last run, which have no answer here.
#[derive(Default)]
struct Conversation {
    messages: Vec<ChatMessage>,
    asked: Vec<String>,
}

impl<B: ChatBackend, S: AsyncRead + AsyncWrite + Unpin> Chat<B, S> {
    fn new(backend: B, link: Link<S>) -> Self {
        Self { backend, link, conversations: HashMap::new() }
    }

    /// Answers messages until the socket ends.
    async fn serve(mut self) {
        let ended = loop {
            if let Err(ended) = self.answer_next().await {
                break ended;
            }
        };
        tracing::debug!(%ended, "a WebSocket has ended");
        self.link.close(&ended).await;
    }

    async fn answer_next(&mut self) -> Result<(), Ended> {
        let Message::Text(text) = self.link.next().await? else {
            return self.error("INVALID_MESSAGE", "expected text").await;
        };
        match wire::decode::<ClientMessage>(&text) {
            Ok(ClientMessage::Message(said)) => self.answer(said).await,
            Ok(other) => {
                let tag = other.tag();
                self.error("UNKNOWN_TYPE", format!("expected `message`, got `{tag}`")).await
            }
            Err(error) => self.error("INVALID_MESSAGE", error.to_string()).await,
        }
    }

    async fn answer(&mut self, said: ClientChatMessage) -> Result<(), Ended> {
        let ClientChatMessage { conversation_id, content, .. } = said;
        if !self.conversations.contains_key(&conversation_id)
            && self.conversations.len() >= MAX_CONVERSATIONS
        {
            let message = format!("a socket has at most {MAX_CONVERSATIONS} conversations");
            return self.error("TOO_MANY_CONVERSATIONS", message).await;
        }
        let conversation = self.conversations.entry(conversation_id.clone()).or_default();
        let name = self.backend.name();
        let message = UserMessage::new(format!("ws-{name}-user"), Content::Text(content));
        conversation.messages.push(ChatMessage::User(message));
        let over = conversation.messages.len().saturating_sub(MAX_HISTORY);
        conversation.messages.drain(..over);
        let input = match input(&conversation_id, &name, conversation) {
            Ok(input) => input,
            Err(error) => return self.error("INVALID_MESSAGE", error.to_string()).await,
        };
        match self.backend.start(input.clone()).await {
            Ok(events) => self.forward(&conversation_id, &input, events).await,
            Err(error) => {
                if let Some(conversation) = self.conversations.get_mut(&conversation_id) {
                    conversation.messages.pop();
                }
                self.error("REFUSED", error).await
            }
        }
    }

    /// Forwards the events of a run.
    async fn forward(
        &mut self,
        conversation_id: &str,
        input: &RunAgentInput,
        mut bytes: BoxStream<'static, Bytes>,
    ) -> Result<(), Ended> {
        let mut decoder = Decoder::default();
        let mut run = Run::new(conversation_id);
        let mut reducer = Reducer::for_input(input).unwrap_or_default();
        loop {
            let bytes = tokio::select! {
                bytes = bytes.next() => bytes,
                ended = self.link.closed() => return Err(ended),
            };
            let Some(bytes) = bytes else { break };
            decoder.push(&bytes);
            while let Some(frame) = decoder.next_frame() {
                let event = match frame.map(|frame| frame.decode::<Event>()) {
                    Ok(Ok(event)) => event,
                    Ok(Err(error)) => {
                        tracing::error!(%error, "an own event cannot be read");
                        continue;
                    }
                    Err(error) => {
                        tracing::error!(%error, "an own event cannot be read");
                        continue;
                    }
                };
                if let Some(warning) = reducer.handle(&event) {
                    tracing::debug!(%warning, "an event that changes nothing");
                }
                for message in run.handle(&event, self.backend.registry()) {
                    self.send(&message).await?;
                }
            }
        }
        if !run.has_ended {
            let lost = "The rest of the answer is lost, because it was not read in time. Send the message again.";
            self.error("STREAM_LOST", lost).await?;
        }
        let conversation = self.conversations.entry(conversation_id.to_owned()).or_default();
        conversation.messages = reducer.into_parts().0;
        conversation.asked = run.asked;
        Ok(())
    }

    async fn error(&mut self, code: &str, message: impl Into<String>) -> Result<(), Ended> {
        self.send(&error(code, message)).await
    }

    async fn send(&mut self, message: &ServerMessage) -> Result<(), Ended> {
        match serde_json::to_string(message) {
            Ok(text) => self.link.send(text).await,
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

/// Returns the input of a run: all messages, and cancelled answers to the questions of the last run.
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

#[cfg(test)]
mod tests;
