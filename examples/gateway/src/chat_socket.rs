//! A chat over a WebSocket, for pages that do not speak AG-UI: `message` in; `token`, `tool_start`,
//! `tool_complete`, `complete` and `error` out.
//!
//! [`upgrade`] answers the handshake, and [`ChatBackend`] runs the inputs that the messages become.
//! Each answer ends with `complete` or `error`. The chat cannot answer questions of an agent: the
//! next message cancels them, also on another socket. Pings are answered at any time, and a client
//! that answers none has left after some seconds.
use agui_types::content::Content;
use agui_types::event::Event;
use agui_types::input::RunAgentInput;
use agui_types::message::{Message as ChatMessage, UserMessage};
use agui_types::reduce::Reducer;
use bytes::Bytes;
use events::Events;
use futures::stream::BoxStream;
pub use handshake::{NoWebSocket, upgrade};
use jsonrpc_core::wire;
pub use link::SocketLimits;
use link::{Link, SocketEnd};
use mcp_bridge::registry::Registry;
use messages::{ClientChatMessage, ClientMessage, ServerErrorMessage, ServerMessage};
use run::Run;
use std::collections::HashMap;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_tungstenite::tungstenite::Message;
use tool_calls::ToolCalls;

mod events;
mod handshake;
mod link;
mod messages;
mod run;
mod tool_calls;

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

    /// Returns the events of the last run of a conversation that ended with questions, if it is
    /// kept.
    fn interrupted_run(&self, conversation_id: &str) -> Option<BoxStream<'static, Bytes>>;

    /// Returns a name that no other run has.
    fn name(&self) -> String;

    /// Returns the tools with their sources.
    fn registry(&self) -> Arc<Registry>;
}

/// One socket.
struct Chat<B, S> {
    backend: B,
    link: Link<S>,
    conversations: HashMap<String, Conversation>,
}

/// A conversation of a socket.
#[derive(Default)]
struct Conversation {
    messages: Vec<ChatMessage>,
    /// Questions of the last run, which have no answer here.
    asked: Vec<String>,
    /// Calls of tools, which may end in a later run.
    tools: ToolCalls,
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

    async fn answer_next(&mut self) -> Result<(), SocketEnd> {
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

    async fn answer(&mut self, said: ClientChatMessage) -> Result<(), SocketEnd> {
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
        if self.run(&conversation_id, true).await? {
            return Ok(());
        }
        let asked = self.open_questions(&conversation_id).await?;
        self.conversations.entry(conversation_id.clone()).or_default().asked = asked;
        self.run(&conversation_id, false).await.map(drop)
    }

    /// Runs the messages of a conversation. Returns `false` if the first run was refused because of
    /// questions that another socket has left open.
    async fn run(&mut self, conversation_id: &str, is_first: bool) -> Result<bool, SocketEnd> {
        let conversation = self.conversations.entry(conversation_id.to_owned()).or_default();
        let name = self.backend.name();
        let input = input(conversation_id, &name, &conversation.messages, &conversation.asked);
        let input = match input {
            Ok(input) => input,
            Err(error) => {
                return self.error("INVALID_MESSAGE", error.to_string()).await.map(|()| true);
            }
        };
        match self.backend.start(input.clone()).await {
            Ok(bytes) => self.forward(conversation_id, &input, bytes, is_first).await,
            Err(error) => {
                if let Some(conversation) = self.conversations.get_mut(conversation_id) {
                    conversation.messages.pop();
                }
                self.error("REFUSED", error).await.map(|()| true)
            }
        }
    }

    /// Returns the questions with which a run of the conversation has ended.
    async fn open_questions(&mut self, conversation_id: &str) -> Result<Vec<String>, SocketEnd> {
        let interrupted = self.backend.interrupted_run(conversation_id);
        let Some(bytes) = interrupted else { return Ok(Vec::new()) };
        let mut events = Events::new(bytes);
        while let Some(event) = self.next_event(&mut events).await? {
            if let Some(asked) = run::asked(&event) {
                return Ok(asked.iter().map(|it| it.id.to_string()).collect());
            }
        }
        Ok(Vec::new())
    }

    /// Returns the next event of a run; `None` at its end.
    async fn next_event(&mut self, events: &mut Events) -> Result<Option<Event>, SocketEnd> {
        tokio::select! {
            event = events.next() => Ok(event),
            ended = self.link.closed() => Err(ended),
        }
    }

    /// Forwards the events of a run. Returns as [`run`](Self::run).
    async fn forward(
        &mut self,
        conversation_id: &str,
        input: &RunAgentInput,
        bytes: BoxStream<'static, Bytes>,
        is_first: bool,
    ) -> Result<bool, SocketEnd> {
        let conversation = self.conversations.entry(conversation_id.to_owned()).or_default();
        let mut tools = std::mem::take(&mut conversation.tools);
        let mut events = Events::new(bytes);
        let mut run = Run::new(conversation_id, &mut tools);
        let mut reducer = Reducer::for_input(input).unwrap_or_default();
        while let Some(event) = self.next_event(&mut events).await? {
            if is_first && run::is_refused_for_questions(&event) {
                self.conversations.entry(conversation_id.to_owned()).or_default().tools = tools;
                return Ok(false);
            }
            if let Some(warning) = reducer.handle(&event) {
                tracing::debug!(%warning, "an event that changes nothing");
            }
            for message in run.handle(&event, &self.backend.registry()) {
                self.send(&message).await?;
            }
        }
        if !run.has_ended {
            let lost = "The rest of the answer is lost, because it was not read in time. Send the message again.";
            self.error("STREAM_LOST", lost).await?;
        }
        let asked = run.asked;
        tools.end_run();
        let messages = reducer.into_parts().0;
        self.conversations
            .insert(conversation_id.to_owned(), Conversation { messages, asked, tools });
        Ok(true)
    }

    async fn error(&mut self, code: &str, message: impl Into<String>) -> Result<(), SocketEnd> {
        self.send(&error(code, message)).await
    }

    async fn send(&mut self, message: &ServerMessage) -> Result<(), SocketEnd> {
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

/// Returns the input of a run: all messages, and cancelled answers to the open questions.
fn input(
    conversation_id: &str,
    name: &str,
    messages: &[ChatMessage],
    asked: &[String],
) -> Result<RunAgentInput, wire::DecodeError> {
    let resume: Vec<_> = asked
        .iter()
        .map(|id| serde_json::json!({ "interruptId": id, "status": "cancelled" }))
        .collect();
    let base = serde_json::json!({
        "protocolVersion": "1.0", "threadId": conversation_id, "runId": format!("ws-{name}"),
        "messages": [], "resume": resume,
    });
    let mut input: RunAgentInput = wire::decode(&base.to_string())?;
    input.messages = messages.to_vec();
    if resume.is_empty() {
        input.resume = None;
    }
    Ok(input)
}

#[cfg(test)]
mod tests;
