//! A page's messages as the chat history of a model, and the reverse.
//!
//! For agents without a conversation store: each run's input has the whole conversation.
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
//! # Mapping
//!
//! | message | [`ChatMessage`] |
//! |---|---|
//! | `user`, `assistant`, `system`, `developer`, `tool` | the same role, in the same order |
//! | `reasoning`, `activity`, unknown roles | none, [dropped](ChatHistory::dropped): never sent to an agent |
//! | a call in `toolCalls` | kept; dropped without an id or a name |
//! | `toolCallId` | kept |
//! | text, or a `text` part | text |
//! | `binary` part with `image/*` and `data`; `image` part with data | an image; its format is the media subtype |
//! | any other part | none, dropped |
//!
//! [`HistoryRule`] selects the tool calls and results that remain.
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

/// Selects the tool calls and results that remain in a history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum HistoryRule {
    /// All of them, as current AG-UI agents do.
    #[default]
    KeepAll,
    /// Those of the latest tool cycle: the last assistant message with calls, and the results after
    /// it. Of earlier cycles only the assistant's text remains.
    LatestToolCycle,
}

/// A conversation for a model.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ChatHistory {
    /// The messages, in order.
    pub messages: Vec<ChatMessage>,
    /// Parts of the conversation that have no equivalent.
    pub dropped: Vec<Omission>,
}

/// The role of the author.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChatRole {
    /// System instructions.
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
    /// Returns the role's name in AG-UI, which most models share.
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
    /// The role of the author.
    pub role: ChatRole,
    /// The content.
    pub content: Vec<ChatPart>,
    /// Tool calls of an assistant message.
    pub tool_calls: Vec<ChatToolCall>,
    /// The call that a tool message answers.
    pub tool_call_id: Option<ToolCallId>,
    /// The error of a tool message.
    pub error: Option<String>,
}

impl ChatMessage {
    /// Creates a message with one text part, or without parts if `text` is empty.
    pub fn new(role: ChatRole, text: impl Into<String>) -> Self {
        let text = text.into();
        let content = if text.is_empty() { Vec::new() } else { Vec::from([ChatPart::Text(text)]) };
        Self { role, content, tool_calls: Vec::new(), tool_call_id: None, error: None }
    }

    /// Creates a tool message.
    pub fn tool_result(call: impl Into<ToolCallId>, text: impl Into<String>) -> Self {
        Self { tool_call_id: Some(call.into()), ..Self::new(ChatRole::Tool, text) }
    }

    /// Returns the text parts, joined.
    pub fn text(&self) -> String {
        self.content.iter().filter_map(ChatPart::as_text).collect()
    }
}

/// A content part.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChatPart {
    /// Text.
    Text(String),
    /// An image.
    Image {
        /// The media subtype, after `image/`.
        format: String,
        /// The bytes, in base64.
        data: String,
    },
}

impl ChatPart {
    /// Returns the text of a text part.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Image { .. } => None,
        }
    }
}

/// A tool call.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChatToolCall {
    /// Identifier of the call.
    pub id: ToolCallId,
    /// Name of the tool.
    pub name: String,
    /// The arguments, by convention a JSON document; untrusted output of the model.
    pub arguments: String,
}

impl ChatToolCall {
    /// Creates a call.
    pub fn new(
        id: impl Into<ToolCallId>,
        name: impl Into<String>,
        arguments: impl Into<String>,
    ) -> Self {
        Self { id: id.into(), name: name.into(), arguments: arguments.into() }
    }
}

/// A part of the conversation that the history lacks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at {pointer}: {reason}")]
#[non_exhaustive]
pub struct Omission {
    /// Its place, as a JSON pointer into the input.
    pub pointer: String,
    /// The reason.
    pub reason: DropReason,
}

/// The reason why the history lacks a part of the conversation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DropReason {
    /// Messages of this role are not sent to a model.
    #[error("messages of the role `{0}` are not sent to a model")]
    Role(String),
    /// The part is neither text nor an image with data.
    #[error("expected text or an image with its data, got `{0}`")]
    Part(String),
    /// The call has no id or no name.
    #[error("expected a tool call with an id and a name")]
    Call,
}

impl ChatHistory {
    /// Reads the history of a run's input.
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

    /// Inserts the context at the beginning of the last text of the latest user message. Entries
    /// without description or value are skipped. Has no effect without such a text. The page does
    /// not see the change.
    ///
    /// The inserted text is `Context:`, a line `- description: value` for each entry, and an empty
    /// line.
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

    /// Repairs the history for model APIs: each call has one result, directly after its message,
    /// and each result has a call. Returns a description of each change, for a log.
    ///
    /// | | |
    /// |---|---|
    /// | a call without a result | receives an error result |
    /// | a result without an earlier call, or a second result of a call | removed |
    /// | a result in a later place | moved |
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
                let name = &*call.function.name;
                let arguments = &*call.function.arguments;
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
        self.dropped.push(Omission { pointer: pointer.to_string(), reason });
    }
}

/// Returns the parts of a content that a history supports.
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
