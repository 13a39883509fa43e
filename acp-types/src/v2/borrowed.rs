//! Session updates that borrow from their line, for programs that pass on, translate or count them.
//!
//! Spec: [`SessionUpdate`](https://agentclientprotocol.com/protocol/v2/schema#sessionupdate)
//!
//! A stream of an agent is pieces of messages, of what tools produce and of what commands print, and changes of tool calls,
//! nearly all of it. Here these are read in one pass over the line, envelope and all, without a copy and without memory,
//! wherever their tags stand; strings stay as they are in the text, escapes and all, and can be written somewhere else as
//! they are. All other updates are their text. Prompts are read in the same way, since they may have images.
//!
//! ```
//! use acp_types::v2::borrowed::{ContentBlockRef, SessionUpdateRef, UpdateSessionNotificationRef};
//!
//! let line = r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":
//!     {"sessionUpdate":"agent_message_chunk","messageId":"m-1","content":{"type":"text","text":"a\nb"}}}}"#;
//! let notification = UpdateSessionNotificationRef::from_line(line)?.ok_or("something else")?;
//! let SessionUpdateRef::AgentMessageChunk(chunk) = notification.update else { panic!("something else") };
//! assert_eq!(chunk.message_id, "m-1");
//! let ContentBlockRef::Text(text) = chunk.content else { panic!("not text") };
//! assert_eq!(text.text.as_escaped(), r"a\nb");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What has the members of a type in kinds that it does not take is an error, as it is when the type itself is decoded. What
//! lies in lists and in objects that are not blocks of content is JSON, and read when asked for.
pub use crate::borrowed::{ContentBlockRef, ImageContentRef, OtherRef, TextContentRef};

use super::prompt_lifecycle::{PromptRequest, SessionUpdate, UpdateSessionNotification};
use super::tool_calls::{ToolCallContent, ToolCallLocation};
use crate::borrowed::{
    BlockSlots, NotificationSlots, Notified, Place, PromptSlots, Prompted, Slot, Slots, from_line,
    from_params, may_begin, skip, string, take,
};
use crate::line::LineError;
use crate::methods::{NotificationParams, RequestParams};
use alloc::vec::Vec;
use jsonrpc_core::wire::{DecodeError, Presence, decode};
use jsonrpc_core::{JsonStr, Kind, Reader, RequestId, peek_member};

/// The agent reports something of a session.
///
/// Spec: [`UpdateSessionNotification`](https://agentclientprotocol.com/protocol/v2/schema#updatesessionnotification)
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct UpdateSessionNotificationRef<'a> {
    /// Which one.
    pub session_id: JsonStr<'a>,
    /// What it reports.
    pub update: SessionUpdateRef<'a>,
    /// The whole, as JSON text.
    pub json: &'a str,
}

/// What an agent reports of a session.
///
/// Spec: [`SessionUpdate`](https://agentclientprotocol.com/protocol/v2/schema#sessionupdate)
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum SessionUpdateRef<'a> {
    /// A piece of what the user said.
    UserMessageChunk(ContentChunkRef<'a>),
    /// A piece of what the agent says.
    AgentMessageChunk(ContentChunkRef<'a>),
    /// A piece of what the agent thinks.
    AgentThoughtChunk(ContentChunkRef<'a>),
    /// A tool call is new or has changed.
    ToolCallUpdate(ToolCallUpdateRef<'a>),
    /// A piece of what a tool has produced.
    ToolCallContentChunk(ToolCallContentChunkRef<'a>),
    /// A piece of what a command prints.
    TerminalOutputChunk(TerminalOutputChunkRef<'a>),
    /// Anything else, known or not.
    Other(OtherRef<'a>),
}

/// A piece of a message.
///
/// Spec: [`ContentChunk`](https://agentclientprotocol.com/protocol/v2/schema#contentchunk)
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ContentChunkRef<'a> {
    /// Which message it belongs to.
    pub message_id: JsonStr<'a>,
    /// The piece.
    pub content: ContentBlockRef<'a>,
    /// The whole, as JSON text.
    pub json: &'a str,
}

/// What is new about a tool call.
///
/// Spec: [`ToolCallUpdate`](https://agentclientprotocol.com/protocol/v2/schema#toolcallupdate)
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ToolCallUpdateRef<'a> {
    /// Names it.
    pub tool_call_id: JsonStr<'a>,
    /// What it is doing, for people to read.
    pub title: Presence<JsonStr<'a>>,
    /// How it stands.
    pub status: Presence<JsonStr<'a>>,
    /// The whole, as JSON text.
    pub json: &'a str,
    content: Place,
    locations: Place,
}

/// A piece of what a tool has produced.
///
/// Spec: [`ToolCallContentChunk`](https://agentclientprotocol.com/protocol/v2/schema#toolcallcontentchunk)
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ToolCallContentChunkRef<'a> {
    /// Which tool call it belongs to.
    pub tool_call_id: JsonStr<'a>,
    /// The piece, as JSON text; see [`content`](Self::content).
    pub content_json: &'a str,
    /// The whole, as JSON text.
    pub json: &'a str,
}

/// A piece of what a command prints.
///
/// Spec: [`TerminalOutputChunk`](https://agentclientprotocol.com/protocol/v2/schema#terminaloutputchunk)
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct TerminalOutputChunkRef<'a> {
    /// Which terminal it belongs to.
    pub terminal_id: JsonStr<'a>,
    /// Its bytes in base64.
    pub data: JsonStr<'a>,
    /// The whole, as JSON text.
    pub json: &'a str,
}

/// What the user says.
///
/// Spec: [`PromptRequest`](https://agentclientprotocol.com/protocol/v2/schema#promptrequest)
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PromptRequestRef<'a> {
    /// In which session.
    pub session_id: JsonStr<'a>,
    /// What was said.
    pub prompt: Vec<ContentBlockRef<'a>>,
    /// The whole, as JSON text.
    pub json: &'a str,
}

impl<'a> UpdateSessionNotificationRef<'a> {
    /// Reads a line where it is a `session/update`; nothing where it is another message.
    ///
    /// # Errors
    /// The line is not a message, or its parameters are not those of `session/update`.
    #[inline]
    pub fn from_line(line: &'a str) -> Result<Option<Self>, LineError> {
        let method = UpdateSessionNotification::METHOD;
        let read = from_line::<UpdateParams<'_>, UpdateSessionNotification>(
            line,
            Kind::Notification,
            method,
        )?;
        Ok(read.map(|(_, params)| Self::new(params)))
    }

    /// Reads the parameters of a `session/update`.
    ///
    /// # Errors
    /// They are not those of `session/update`.
    pub fn decode(params: &'a str) -> Result<Self, DecodeError> {
        from_params::<UpdateParams<'_>, UpdateSessionNotification>(params).map(Self::new)
    }

    #[inline(always)]
    fn new(params: Notified<'a, SessionUpdateRef<'a>>) -> Self {
        let Notified { session_id, update, json } = params;
        Self { session_id, update, json }
    }

    /// The notification with all that it borrows.
    ///
    /// # Errors
    /// Something in a list, or in what is no text, is not as its type says.
    pub fn to_owned(&self) -> Result<UpdateSessionNotification, DecodeError> {
        decode(self.json)
    }
}

impl<'a> PromptRequestRef<'a> {
    /// Reads a line where it is a `session/prompt`, its id first; nothing where it is another message.
    ///
    /// ```
    /// use acp_types::v2::borrowed::{ContentBlockRef, PromptRequestRef};
    ///
    /// let line = r#"{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s-1","prompt":[
    ///     {"type":"text","text":"What is this?"},{"type":"image","mimeType":"image/png","data":"iVBORw0KGgo="}]}}"#;
    /// let (id, request) = PromptRequestRef::from_line(line)?.ok_or("something else")?;
    /// assert_eq!((id, request.prompt.len()), (1.into(), 2));
    /// let ContentBlockRef::Image(image) = request.prompt[1] else { panic!("not an image") };
    /// assert_eq!(image.data.as_plain(), Some("iVBORw0KGgo="));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The line is not a message, or its parameters are not those of `session/prompt`.
    pub fn from_line(line: &'a str) -> Result<Option<(RequestId, Self)>, LineError> {
        let method = PromptRequest::METHOD;
        let read = from_line::<PromptSlots<'_>, PromptRequest>(line, Kind::Request, method)?;
        Ok(read.and_then(|(peek, params)| Some((peek.request_id()?, Self::new(params)))))
    }

    /// Reads the parameters of a `session/prompt`.
    ///
    /// # Errors
    /// They are not those of `session/prompt`.
    pub fn decode(params: &'a str) -> Result<Self, DecodeError> {
        from_params::<PromptSlots<'_>, PromptRequest>(params).map(Self::new)
    }

    fn new(params: Prompted<'a>) -> Self {
        let Prompted { session_id, prompt, json } = params;
        Self { session_id, prompt, json }
    }

    /// The request with all that it borrows.
    ///
    /// # Errors
    /// Something in what is neither text nor an image is not as its type says.
    pub fn to_owned(&self) -> Result<PromptRequest, DecodeError> {
        decode(self.json)
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
            Self::ToolCallUpdate(call) => call.json,
            Self::ToolCallContentChunk(chunk) => chunk.json,
            Self::TerminalOutputChunk(chunk) => chunk.json,
            Self::Other(other) => other.json,
        })
    }
}

impl<'a> ToolCallUpdateRef<'a> {
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
        self.list(self.content, "content")
    }

    /// Files that it works on.
    ///
    /// # Errors
    /// An item is not as its type says. The pointer begins at the list.
    pub fn locations(&self) -> Result<Presence<Vec<ToolCallLocation>>, DecodeError> {
        self.list(self.locations, "locations")
    }

    /// A member as JSON text: `rawInput`, `rawOutput`, `capabilities`, `_meta`, or one that this version does not know.
    pub fn member(&self, name: &str) -> Option<&'a str> {
        peek_member(self.json, name).ok().flatten()
    }

    fn string(&self, name: &str) -> Presence<JsonStr<'a>> {
        string(self.member(name)).unwrap_or_default()
    }

    fn list<T: serde::de::DeserializeOwned>(
        &self,
        place: Place,
        name: &str,
    ) -> Result<Presence<Vec<T>>, DecodeError> {
        match place.value(self.json, name) {
            None => Ok(Presence::Absent),
            Some("null") => Ok(Presence::Null),
            Some(list) => decode(list).map(Presence::Value),
        }
    }
}

impl ToolCallContentChunkRef<'_> {
    /// The piece.
    ///
    /// # Errors
    /// It is not as its type says. The pointer begins at it.
    pub fn content(&self) -> Result<ToolCallContent, DecodeError> {
        decode(self.content_json)
    }
}

type UpdateParams<'a> = NotificationSlots<'a, UpdateSlots<'a>>;

/// The members of the updates that are read here, together: which of them it is, its tag says at last.
#[derive(Default)]
struct UpdateSlots<'a> {
    json: &'a str,
    tag: Slot<'a>,
    /// Of a piece of a message.
    block: BlockSlots<'a>,
    content: Slot<'a>,
    message_id: Slot<'a>,
    tool_call_id: Slot<'a>,
    title: Slot<'a>,
    name: Slot<'a>,
    kind: Slot<'a>,
    status: Slot<'a>,
    locations: Slot<'a>,
    capabilities: Slot<'a>,
    terminal_id: Slot<'a>,
    data: Slot<'a>,
    is_repeated: bool,
}

impl<'a> Slots<'a> for UpdateSlots<'a> {
    type Made = SessionUpdateRef<'a>;

    #[inline(always)]
    fn read(&mut self, update: &mut Reader<'_, 'a>) -> Option<()> {
        if update.next_byte() != b'{' {
            return skip(update);
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
            "capabilities" => take(&mut self.capabilities, &mut repeated, value),
            "terminalId" => take(&mut self.terminal_id, &mut repeated, value),
            "data" => take(&mut self.data, &mut repeated, value),
            _ => skip(value),
        })?;
        self.is_repeated = repeated;
        Some(())
    }

    #[inline(always)]
    fn build(&mut self) -> Option<SessionUpdateRef<'a>> {
        let tag = JsonStr::new(self.tag?)?;
        let known = |name| tag == name;
        Some(if known("agent_message_chunk") {
            SessionUpdateRef::AgentMessageChunk(self.chunk()?)
        } else if known("agent_thought_chunk") {
            SessionUpdateRef::AgentThoughtChunk(self.chunk()?)
        } else if known("terminal_output_chunk") {
            SessionUpdateRef::TerminalOutputChunk(self.terminal_output()?)
        } else if known("tool_call_update") {
            SessionUpdateRef::ToolCallUpdate(self.tool_call()?)
        } else if known("tool_call_content_chunk") {
            SessionUpdateRef::ToolCallContentChunk(self.tool_call_content()?)
        } else if known("user_message_chunk") {
            SessionUpdateRef::UserMessageChunk(self.chunk()?)
        } else {
            SessionUpdateRef::Other(OtherRef { tag, json: self.json })
        })
    }
}

impl<'a> UpdateSlots<'a> {
    #[inline]
    fn chunk(&mut self) -> Option<ContentChunkRef<'a>> {
        if self.is_repeated || self.content != Some("{") {
            return None;
        }
        let message_id = JsonStr::new(self.message_id?)?;
        Some(ContentChunkRef { message_id, content: self.block.build()?, json: self.json })
    }

    #[inline]
    fn tool_call(&self) -> Option<ToolCallUpdateRef<'a>> {
        let are_lists = may_begin(self.content, '[') && may_begin(self.locations, '[');
        if self.is_repeated || !are_lists || !may_begin(self.capabilities, '{') {
            return None;
        }
        string(self.name)?;
        string(self.kind)?;
        let (title, status) = (string(self.title)?, string(self.status)?);
        let tool_call_id = JsonStr::new(self.tool_call_id?)?;
        let json = self.json;
        let (content, locations) =
            (Place::new(json, self.content), Place::new(json, self.locations));
        Some(ToolCallUpdateRef { tool_call_id, title, status, json, content, locations })
    }

    fn tool_call_content(&self) -> Option<ToolCallContentChunkRef<'a>> {
        if self.is_repeated || self.content != Some("{") {
            return None;
        }
        let (tool_call_id, content_json) = (JsonStr::new(self.tool_call_id?)?, self.block.json);
        Some(ToolCallContentChunkRef { tool_call_id, content_json, json: self.json })
    }

    fn terminal_output(&self) -> Option<TerminalOutputChunkRef<'a>> {
        if self.is_repeated {
            return None;
        }
        let (terminal_id, data) = (JsonStr::new(self.terminal_id?)?, JsonStr::new(self.data?)?);
        Some(TerminalOutputChunkRef { terminal_id, data, json: self.json })
    }
}
