//! A page's messages as the chat history of a model, and back.
//!
//! For agents that keep no conversation of their own: each run's input brings all of it.
//!
//! ```
//! use agui_bridge::chat_history::{ChatHistory, HistoryRule};
//! use agui_types::input::RunAgentInput;
//! use jsonrpc_core::wire;
//!
//! let input: RunAgentInput = wire::decode(
//!     r#"{"threadId":"t","runId":"r","context":[{"description":"Location","value":"San Francisco"}],"messages":[
//!         {"id":"u","role":"user","content":"How is the weather?"},
//!         {"id":"a","role":"assistant","toolCalls":[
//!             {"id":"c","type":"function","function":{"name":"weather","arguments":"{}"}}]},
//!         {"id":"r","role":"tool","toolCallId":"c","content":"Fog."}]}"#,
//! )?;
//! let mut history = ChatHistory::read(&input.messages, HistoryRule::KeepAll);
//! history.add_context(input.context.as_deref().unwrap_or_default());
//! assert_eq!(history.messages.len(), 3);
//! assert_eq!(history.messages[0].text(), "Context:\n- Location: San Francisco\n\nHow is the weather?");
//! assert_eq!(history.messages[1].tool_calls[0].name, "weather");
//! # Ok::<(), jsonrpc_core::wire::DecodeError>(())
//! ```
//!
//! # What becomes what
//!
//! | message | [`ChatMessage`] |
//! |---|---|
//! | `user`, `assistant`, `system`, `developer`, `tool` | the same role, in the same order |
//! | `reasoning`, `activity`, unknown roles | none, [dropped](ChatHistory::dropped): they are never sent to an agent |
//! | a call in `toolCalls` | kept; without an id or a name it is dropped |
//! | `toolCallId` | kept |
//! | text, or a `text` part | a text |
//! | `binary` part with `image/*` and `data`; `image` part with data | an image, its format the media subtype |
//! | any other part | none, dropped |
//!
//! [`HistoryRule`] says which tool calls and results stay.
use agui_types::content::{Content, ContentPart, DataSource, PartSource};
use agui_types::id::ToolCallId;
use agui_types::input::Context;
use agui_types::message::Message;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

mod restate;
mod tool_cycle;

pub use restate::to_messages;

/// Which tool calls and results of a conversation stay in its history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum HistoryRule {
    /// All of them: what AG-UI agents do today.
    #[default]
    KeepAll,
    /// Those of the most recent tool cycle, which is the last assistant message with calls and the results after it. Of
    /// earlier ones what the assistant said stays.
    LatestToolCycle,
}

/// A conversation for a model.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ChatHistory {
    /// The messages, in order.
    pub messages: Vec<ChatMessage>,
    /// What was left out although no rule asked for that.
    pub dropped: Vec<Dropped>,
}

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChatRole {
    /// Instructions of the system.
    System,
    /// Instructions of the application's developer.
    Developer,
    /// The user.
    User,
    /// The model.
    Assistant,
    /// A tool.
    Tool,
}

impl ChatRole {
    /// The role's name, as AG-UI and most models spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Developer => "developer",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }
}

/// A message of a chat history.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ChatMessage {
    /// Who speaks.
    pub role: ChatRole,
    /// What is said.
    pub content: Vec<ChatPart>,
    /// What the model calls; of an assistant.
    pub tool_calls: Vec<ChatToolCall>,
    /// The call that is answered; of a tool.
    pub tool_call_id: Option<ToolCallId>,
    /// What went wrong; of a tool.
    pub error: Option<String>,
}

impl ChatMessage {
    /// A message that says `text`; nothing where that is empty.
    pub fn new(role: ChatRole, text: impl Into<String>) -> Self {
        let text = text.into();
        let content = if text.is_empty() { Vec::new() } else { Vec::from([ChatPart::Text(text)]) };
        Self { role, content, tool_calls: Vec::new(), tool_call_id: None, error: None }
    }

    /// A tool's result.
    pub fn tool_result(call: impl Into<ToolCallId>, text: impl Into<String>) -> Self {
        Self { tool_call_id: Some(call.into()), ..Self::new(ChatRole::Tool, text) }
    }

    /// The texts, one after the other.
    pub fn text(&self) -> String {
        self.content.iter().filter_map(ChatPart::as_text).collect()
    }
}

/// A part of what is said.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChatPart {
    /// A text.
    Text(String),
    /// An image.
    Image {
        /// What follows `image/` in its media type.
        format: String,
        /// Its bytes, in base64.
        data: String,
    },
}

impl ChatPart {
    /// The text, of a text.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Image { .. } => None,
        }
    }
}

/// A call of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChatToolCall {
    /// Names the call.
    pub id: ToolCallId,
    /// The tool.
    pub name: String,
    /// A JSON document by convention; the model wrote it.
    pub arguments: String,
}

impl ChatToolCall {
    /// A call.
    pub fn new(
        id: impl Into<ToolCallId>,
        name: impl Into<String>,
        arguments: impl Into<String>,
    ) -> Self {
        Self { id: id.into(), name: name.into(), arguments: arguments.into() }
    }
}

/// Something that is not in the history, or is there although the page did not say it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at {pointer}: {reason}")]
#[non_exhaustive]
pub struct Dropped {
    /// Where it was, as a JSON pointer into the input.
    pub pointer: String,
    /// What, and why.
    pub reason: DropReason,
}

/// Why something is not in the history.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DropReason {
    /// Messages of this role are not sent to a model.
    #[error("messages of the role `{0}` are not sent to a model")]
    Role(String),
    /// A part that is neither text nor an image with its data.
    #[error("expected text or an image with its data, got `{0}`")]
    Part(String),
    /// A call has no id or no name.
    #[error("expected a tool call with an id and a name")]
    Call,
}

impl ChatHistory {
    /// The history of a run's input.
    pub fn read(messages: &[Message], rule: HistoryRule) -> Self {
        let mut history = Self::default();
        for (index, message) in messages.iter().enumerate() {
            history.push(message, &format!("/messages/{index}"));
        }
        if rule == HistoryRule::LatestToolCycle {
            tool_cycle::keep_latest(&mut history.messages);
        }
        history
    }

    /// Says what the page knows, at the begin of the last text of the user's newest message; entries without description or
    /// value are passed over. Does nothing where there is no such text. It is for this run: the page does not see it.
    ///
    /// It is `Context:`, a line `- description: value` for each entry, and an empty line.
    pub fn add_context(&mut self, context: &[Context]) {
        let said = |entry: &&Context| {
            !entry.description.trim().is_empty() && !entry.value.trim().is_empty()
        };
        let lines: String = context
            .iter()
            .filter(said)
            .map(|entry| format!("- {}: {}\n", entry.description, entry.value))
            .collect();
        if lines.is_empty() {
            return;
        }
        let newest = self.messages.iter_mut().rev().find(|message| message.role == ChatRole::User);
        let texts = newest.into_iter().flat_map(|message| message.content.iter_mut().rev());
        let mut texts = texts.filter_map(|part| match part {
            ChatPart::Text(text) => Some(text),
            ChatPart::Image { .. } => None,
        });
        if let Some(text) = texts.next() {
            *text = format!("Context:\n{lines}\n{text}");
        }
    }

    /// Makes the history one that models take: each call has one result, right behind its message, and each result a call.
    /// Says what it did, in words for a log.
    ///
    /// | | |
    /// |---|---|
    /// | a call without result | gets one that says so |
    /// | a result of no call that stands before it, or one more of the same call | is removed |
    /// | a result that stands later | moves |
    pub fn repair(&mut self) -> Vec<String> {
        tool_cycle::repair(&mut self.messages)
    }

    fn push(&mut self, message: &Message, pointer: &str) {
        let mut chat = match message {
            Message::User(user) => {
                let mut chat = ChatMessage::new(ChatRole::User, "");
                chat.content = self.parts(&user.content, pointer);
                chat
            }
            Message::Tool(tool) => {
                let mut chat = ChatMessage::tool_result(tool.tool_call_id.clone(), "");
                chat.content = self.parts(&tool.content, pointer);
                chat.error.clone_from(&tool.error);
                chat
            }
            Message::System(system) => ChatMessage::new(ChatRole::System, &*system.content),
            Message::Developer(developer) => {
                ChatMessage::new(ChatRole::Developer, &*developer.content)
            }
            Message::Assistant(assistant) => ChatMessage::new(
                ChatRole::Assistant,
                assistant.content.as_deref().unwrap_or_default(),
            ),
            other => return self.drop_at(pointer, DropReason::Role(other.tag().to_string())),
        };
        if let Message::Assistant(assistant) = message {
            for (index, call) in assistant.tool_calls.iter().flatten().enumerate() {
                if call.id.as_str().is_empty() || call.function.name.is_empty() {
                    self.drop_at(&format!("{pointer}/toolCalls/{index}"), DropReason::Call);
                    continue;
                }
                let (name, arguments) = (&*call.function.name, &*call.function.arguments);
                chat.tool_calls.push(ChatToolCall::new(call.id.clone(), name, arguments));
            }
        }
        self.messages.push(chat);
    }

    fn parts(&mut self, content: &Content, pointer: &str) -> Vec<ChatPart> {
        if let Content::Parts(parts) = content {
            for (index, part) in
                parts.iter().enumerate().filter(|(_, part)| chat_part(part).is_none())
            {
                let reason = DropReason::Part(part.tag().to_string());
                self.drop_at(&format!("{pointer}/content/{index}"), reason);
            }
        }
        content_parts(content)
    }

    fn drop_at(&mut self, pointer: &str, reason: DropReason) {
        self.dropped.push(Dropped { pointer: pointer.to_string(), reason });
    }
}

/// What of a content a history can have.
pub(crate) fn content_parts(content: &Content) -> Vec<ChatPart> {
    match content {
        Content::Text(text) if text.is_empty() => Vec::new(),
        Content::Text(text) => Vec::from([ChatPart::Text(text.clone())]),
        Content::Parts(parts) => parts.iter().filter_map(chat_part).collect(),
    }
}

fn chat_part(part: &ContentPart) -> Option<ChatPart> {
    let image = |source: &PartSource| match source {
        PartSource::Data(DataSource { value, mime_type, .. }) => {
            let format = mime_type.strip_prefix("image/").filter(|format| !format.is_empty())?;
            Some(ChatPart::Image { format: format.to_string(), data: value.clone() })
        }
        _ => None,
    };
    match part {
        ContentPart::Text(part) => Some(ChatPart::Text(part.text.clone())),
        ContentPart::Image(part) => image(&part.source),
        ContentPart::Binary(part) => match part.modern()? {
            ContentPart::Image(part) => image(&part.source),
            _ => None,
        },
        _ => None,
    }
}
