//! Session updates that borrow from their line, for programs that pass on, translate or count them.
//!
//! Spec: [`SessionUpdate`](https://agentclientprotocol.com/protocol/v1/schema#sessionupdate)
//!
//! A stream of an agent is pieces of messages and updates of tool calls, nearly all of it. Here these are read in one pass
//! over the line, envelope and all, without a copy and without memory, wherever their tags stand; strings stay as they are
//! in the text, escapes and all, and can be written somewhere else as they are. All other updates are their text.
//!
//! ```
//! use acp_types::v1::borrowed::{ContentBlockRef, SessionNotificationRef, SessionUpdateRef};
//!
//! let line = r#"{"jsonrpc":"2.0","method":"session/update","params":{"update":{"content":{"text":"a\nb","type":"text"},
//!     "sessionUpdate":"agent_message_chunk"},"sessionId":"s-1"}}"#;
//! let notification = SessionNotificationRef::from_line(line)?.ok_or("something else")?;
//! assert_eq!(notification.session_id, "s-1");
//! let SessionUpdateRef::AgentMessageChunk(chunk) = notification.update else { panic!("something else") };
//! let ContentBlockRef::Text(text) = chunk.content else { panic!("not text") };
//! assert_eq!(text.text.as_escaped(), r"a\nb");
//! assert_eq!(text.text, "a\nb");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What has the members of a type in kinds that it does not take is an error, as it is when the type itself is decoded. What
//! lies in lists and in `_meta`, `rawInput`, `rawOutput` is JSON, and read when asked for.
use super::prompt_turn::{SessionNotification, SessionUpdate};
use super::tool_calls::{ToolCallContent, ToolCallLocation};
use crate::line::{LineError, is_method};
use crate::methods::NotificationParams;
use alloc::vec::Vec;
use jsonrpc_core::wire::{DecodeError, Presence, decode};
use jsonrpc_core::{JsonStr, Kind, Reader, peek_member, peek_params, read_json};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

/// The agent reports something of a session.
///
/// Spec: [`SessionNotification`](https://agentclientprotocol.com/protocol/v1/schema#sessionnotification)
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct SessionNotificationRef<'a> {
    /// Which one.
    pub session_id: JsonStr<'a>,
    /// What it reports.
    pub update: SessionUpdateRef<'a>,
    /// The whole, as JSON text.
    pub json: &'a str,
}

/// What an agent reports of a session.
///
/// Spec: [`SessionUpdate`](https://agentclientprotocol.com/protocol/v1/schema#sessionupdate)
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum SessionUpdateRef<'a> {
    /// A piece of what the user said, when a session is told again.
    UserMessageChunk(ContentChunkRef<'a>),
    /// A piece of what the agent says.
    AgentMessageChunk(ContentChunkRef<'a>),
    /// A piece of what the agent thinks.
    AgentThoughtChunk(ContentChunkRef<'a>),
    /// The model asked for a tool.
    ToolCall(ToolCallRef<'a>),
    /// A tool call has changed.
    ToolCallUpdate(ToolCallRef<'a>),
    /// Anything else, known or not.
    Other(OtherRef<'a>),
}

/// An object whose tag says what it is.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct OtherRef<'a> {
    /// The tag.
    pub tag: JsonStr<'a>,
    /// The whole, as JSON text.
    pub json: &'a str,
}

/// A piece of a message.
///
/// Spec: [`ContentChunk`](https://agentclientprotocol.com/protocol/v1/schema#contentchunk)
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ContentChunkRef<'a> {
    /// The piece.
    pub content: ContentBlockRef<'a>,
    /// Which message it belongs to.
    pub message_id: Option<JsonStr<'a>>,
    /// The whole, as JSON text.
    pub json: &'a str,
}

/// A block of content.
///
/// Spec: [`ContentBlock`](https://agentclientprotocol.com/protocol/v1/schema#contentblock)
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum ContentBlockRef<'a> {
    /// Text, plain or Markdown.
    Text(TextContentRef<'a>),
    /// Anything else, known or not.
    Other(OtherRef<'a>),
}

/// Text, plain or Markdown.
///
/// Spec: [`TextContent`](https://agentclientprotocol.com/protocol/v1/schema#textcontent)
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct TextContentRef<'a> {
    /// The text.
    pub text: JsonStr<'a>,
    /// The whole, as JSON text.
    pub json: &'a str,
}

/// A tool call as it is announced, or what has changed about one.
///
/// Spec: [`ToolCall`](https://agentclientprotocol.com/protocol/v1/schema#toolcall),
/// [`ToolCallUpdate`](https://agentclientprotocol.com/protocol/v1/schema#toolcallupdate)
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ToolCallRef<'a> {
    /// Names it.
    pub tool_call_id: JsonStr<'a>,
    /// What it is doing, for people to read; always there where it is announced.
    pub title: Presence<JsonStr<'a>>,
    /// How it stands.
    pub status: Presence<JsonStr<'a>>,
    /// The whole, as JSON text.
    pub json: &'a str,
}

impl<'a> SessionNotificationRef<'a> {
    /// Reads a line where it is a `session/update`; nothing where it is another message.
    ///
    /// # Errors
    /// The line is not a message, or its parameters are not those of `session/update`.
    #[inline]
    pub fn from_line(line: &'a str) -> Result<Option<Self>, LineError> {
        let mut slots = Notification::default();
        let peek = peek_params(line, |params| slots.read(params))?;
        if !is_method(&peek, Kind::Notification, SessionNotification::METHOD) {
            return Ok(None);
        }
        match slots.build() {
            Some(notification) => Ok(Some(notification)),
            None => Ok(Some(Self::unusual(peek.params().unwrap_or("{}"))?)),
        }
    }

    /// Reads the parameters of a `session/update`.
    ///
    /// # Errors
    /// They are not those of `session/update`.
    pub fn decode(params: &'a str) -> Result<Self, DecodeError> {
        let mut slots = Notification::default();
        let read = read_json(params, |reader| slots.read(reader)).and_then(|()| slots.build());
        read.map_or_else(|| Self::unusual(params), Ok)
    }

    /// The notification with all that it borrows.
    ///
    /// # Errors
    /// Something in a list, or in what is no text, is not as its type says.
    pub fn to_owned(&self) -> Result<SessionNotification, DecodeError> {
        decode(self.json)
    }

    /// Finds out what is wrong with parameters; where that is nothing, there is a tag with an escape or the like.
    #[cold]
    fn unusual(params: &'a str) -> Result<Self, DecodeError> {
        decode::<SessionNotification>(params)?;
        decode::<Never>(params).map(|never| match never {})
    }
}

/// What no text is.
enum Never {}

impl<'de> Deserialize<'de> for Never {
    fn deserialize<D: Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        Err(D::Error::custom("expected a session update that can be read in one go, got another"))
    }
}

impl SessionUpdateRef<'_> {
    /// The update with all that it borrows.
    ///
    /// # Errors
    /// Something in a list, or in what is no text, is not as its type says.
    pub fn to_owned(&self) -> Result<SessionUpdate, DecodeError> {
        decode(match self {
            Self::UserMessageChunk(chunk)
            | Self::AgentMessageChunk(chunk)
            | Self::AgentThoughtChunk(chunk) => chunk.json,
            Self::ToolCall(call) | Self::ToolCallUpdate(call) => call.json,
            Self::Other(other) => other.json,
        })
    }
}

impl<'a> ToolCallRef<'a> {
    /// What kind of tool it is.
    pub fn kind(&self) -> Presence<JsonStr<'a>> {
        self.string("kind")
    }

    /// The tool's name, for programs.
    pub fn name(&self) -> Presence<JsonStr<'a>> {
        self.string("name")
    }

    /// What it has produced.
    ///
    /// # Errors
    /// An item is not as its type says. The pointer begins at the list.
    pub fn content(&self) -> Result<Presence<Vec<ToolCallContent>>, DecodeError> {
        self.list("content")
    }

    /// Files that it works on.
    ///
    /// # Errors
    /// An item is not as its type says. The pointer begins at the list.
    pub fn locations(&self) -> Result<Presence<Vec<ToolCallLocation>>, DecodeError> {
        self.list("locations")
    }

    /// A member as JSON text: `rawInput`, `rawOutput`, `_meta`, or one that this version does not know.
    pub fn member(&self, name: &str) -> Option<&'a str> {
        peek_member(self.json, name).ok().flatten()
    }

    fn string(&self, name: &str) -> Presence<JsonStr<'a>> {
        string(self.member(name)).unwrap_or_default()
    }

    fn list<T: serde::de::DeserializeOwned>(
        &self,
        name: &str,
    ) -> Result<Presence<Vec<T>>, DecodeError> {
        match self.member(name) {
            None => Ok(Presence::Absent),
            Some("null") => Ok(Presence::Null),
            Some(list) => decode(list).map(Presence::Value),
        }
    }
}

/// The members of a notification on their way, as JSON text.
#[derive(Default)]
struct Notification<'a> {
    json: &'a str,
    session_id: Slot<'a>,
    update: Update<'a>,
    has_update: bool,
    is_repeated: bool,
}

/// The members of the updates that are read here, together: which of them it is, its tag says at last.
#[derive(Default)]
struct Update<'a> {
    json: &'a str,
    tag: Slot<'a>,
    /// Of a piece of a message.
    block: Block<'a>,
    content: Slot<'a>,
    message_id: Slot<'a>,
    tool_call_id: Slot<'a>,
    title: Slot<'a>,
    name: Slot<'a>,
    kind: Slot<'a>,
    status: Slot<'a>,
    locations: Slot<'a>,
    is_repeated: bool,
}

/// The members of a block of content.
#[derive(Default)]
struct Block<'a> {
    json: &'a str,
    tag: Slot<'a>,
    text: Slot<'a>,
    annotations: Slot<'a>,
    is_repeated: bool,
}

type Slot<'a> = Option<&'a str>;

/// Takes the value of a member that may come once.
#[inline(always)]
fn take<'a>(slot: &mut Slot<'a>, repeated: &mut bool, value: &mut Reader<'_, 'a>) -> Option<()> {
    *repeated |= slot.replace(value.value()?).is_some();
    Some(())
}

impl<'a> Notification<'a> {
    #[inline]
    fn read(&mut self, params: &mut Reader<'_, 'a>) -> Option<()> {
        if params.next_byte() != b'{' {
            return params.value().map(|_| ());
        }
        let Self { session_id, update, has_update, is_repeated, .. } = self;
        self.json = params.object(|name, value| match name {
            "sessionId" => take(session_id, is_repeated, value),
            "update" => {
                *is_repeated |= core::mem::replace(has_update, true);
                update.read(value)
            }
            _ => value.value().map(|_| ()),
        })?;
        Some(())
    }

    #[inline]
    fn build(&self) -> Option<SessionNotificationRef<'a>> {
        if self.is_repeated {
            return None;
        }
        let session_id = JsonStr::new(self.session_id?)?;
        Some(SessionNotificationRef { session_id, update: self.update.build()?, json: self.json })
    }
}

impl<'a> Update<'a> {
    #[inline]
    fn read(&mut self, update: &mut Reader<'_, 'a>) -> Option<()> {
        if update.next_byte() != b'{' {
            return update.value().map(|_| ());
        }
        let mut repeated = false;
        self.json = update.object(|name, value| match name {
            "sessionUpdate" => take(&mut self.tag, &mut repeated, value),
            "content" if value.next_byte() == b'{' => {
                repeated |= self.content.replace("{").is_some();
                self.block.read(value)
            }
            "content" => take(&mut self.content, &mut repeated, value),
            "messageId" => take(&mut self.message_id, &mut repeated, value),
            "toolCallId" => take(&mut self.tool_call_id, &mut repeated, value),
            "title" => take(&mut self.title, &mut repeated, value),
            "name" => take(&mut self.name, &mut repeated, value),
            "kind" => take(&mut self.kind, &mut repeated, value),
            "status" => take(&mut self.status, &mut repeated, value),
            "locations" => take(&mut self.locations, &mut repeated, value),
            _ => value.value().map(|_| ()),
        })?;
        self.is_repeated = repeated;
        Some(())
    }

    #[inline]
    fn build(&self) -> Option<SessionUpdateRef<'a>> {
        let tag = JsonStr::new(self.tag?)?;
        let known = |name| tag == name;
        Some(if known("agent_message_chunk") {
            SessionUpdateRef::AgentMessageChunk(self.chunk()?)
        } else if known("agent_thought_chunk") {
            SessionUpdateRef::AgentThoughtChunk(self.chunk()?)
        } else if known("tool_call_update") {
            SessionUpdateRef::ToolCallUpdate(self.tool_call()?)
        } else if known("tool_call") {
            let call = self.tool_call()?;
            call.title.value()?;
            SessionUpdateRef::ToolCall(call)
        } else if known("user_message_chunk") {
            SessionUpdateRef::UserMessageChunk(self.chunk()?)
        } else {
            SessionUpdateRef::Other(OtherRef { tag, json: self.json })
        })
    }

    #[inline]
    fn chunk(&self) -> Option<ContentChunkRef<'a>> {
        if self.is_repeated || self.content != Some("{") {
            return None;
        }
        let message_id = string(self.message_id)?.value().copied();
        Some(ContentChunkRef { content: self.block.build()?, message_id, json: self.json })
    }

    #[inline]
    fn tool_call(&self) -> Option<ToolCallRef<'a>> {
        let is_list =
            |list: Slot<'_>| list.is_none_or(|list| list.starts_with('[') || list == "null");
        if self.is_repeated || !is_list(self.content) || !is_list(self.locations) {
            return None;
        }
        string(self.name)?;
        string(self.kind)?;
        let (title, status) = (string(self.title)?, string(self.status)?);
        let tool_call_id = JsonStr::new(self.tool_call_id?)?;
        Some(ToolCallRef { tool_call_id, title, status, json: self.json })
    }
}

impl<'a> Block<'a> {
    #[inline]
    fn read(&mut self, block: &mut Reader<'_, 'a>) -> Option<()> {
        let mut repeated = false;
        self.json = block.object(|name, value| match name {
            "type" => take(&mut self.tag, &mut repeated, value),
            "text" => take(&mut self.text, &mut repeated, value),
            "annotations" => take(&mut self.annotations, &mut repeated, value),
            _ => value.value().map(|_| ()),
        })?;
        self.is_repeated = repeated;
        Some(())
    }

    #[inline]
    fn build(&self) -> Option<ContentBlockRef<'a>> {
        let tag = JsonStr::new(self.tag?)?;
        if tag != "text" {
            return Some(ContentBlockRef::Other(OtherRef { tag, json: self.json }));
        }
        let is_object = self.annotations.is_none_or(|one| one.starts_with('{') || one == "null");
        if self.is_repeated || !is_object {
            return None;
        }
        let text = JsonStr::new(self.text?)?;
        Some(ContentBlockRef::Text(TextContentRef { text, json: self.json }))
    }
}

/// A string that may be absent or `null`; nothing where it is of another kind.
#[inline(always)]
fn string(slot: Slot<'_>) -> Option<Presence<JsonStr<'_>>> {
    match slot {
        None => Some(Presence::Absent),
        Some("null") => Some(Presence::Null),
        Some(text) => JsonStr::new(text).map(Presence::Value),
    }
}
