//! Subagents: sessions owned by a session, and messages between sessions.
//!
//! Spec: [`SubagentUpdate`](https://agentclientprotocol.com/protocol/v2/schema#subagentupdate)
use super::content::ContentBlock;
use super::session_setup::AbsolutePath;
use super::session_states::StateUpdate;
use crate::shared::prompts::MessageId;
use crate::shared::session_setup::SessionId;
pub use crate::shared::subagents::{SessionCancelCapabilities, SubagentSessionCapabilities};
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::object;
use jsonrpc_core::wire::Meta;

object! {
    /// A subagent begins or changes. In each member, absence keeps the value, `null`
    /// clears it, and a value replaces it.
    ///
    /// Spec: [`SubagentUpdate`](https://agentclientprotocol.com/protocol/v2/schema#subagentupdate)
    pub struct SubagentUpdate {
        /// Identifier of the owned session. The first update with it precedes all other references.
        session_id: SessionId = "sessionId",
    }
    patch {
        /// Human-readable name.
        title: String = "title" [default_on_error],
        /// Human-readable description of the task.
        description: String = "description" [default_on_error],
        /// Operations that the client may perform.
        capabilities: SubagentSessionCapabilities = "capabilities" [default_on_error],
        /// Complete state. A cleared state is unknown, not idle.
        state: StateUpdate = "state" [default_on_error],
        /// Absolute path of the working directory; cleared means that of the owner.
        cwd: AbsolutePath = "cwd",
        /// Absolute paths of additional directories; cleared means those of the owner.
        additional_directories: Vec<AbsolutePath> = "additionalDirectories",
        /// `_meta`: a patch by key, in which `null` removes a key.
        meta: Meta = "_meta",
    }
}

object! {
    /// A message from one session to another. In each member, absence keeps the
    /// value, `null` clears it, and a value replaces it.
    ///
    /// Spec: [`SessionMessage`](https://agentclientprotocol.com/protocol/v2/schema#sessionmessage)
    pub struct SessionMessage {
        /// Identifier of the message in the session that reports it.
        message_id: MessageId = "messageId",
    }
    patch {
        /// The session that sends it.
        sender_session_id: SessionId = "senderSessionId" [default_on_error],
        /// The session that receives it.
        recipient_session_id: SessionId = "recipientSessionId" [default_on_error],
        /// Identifier of the message in the sending session.
        sender_message_id: MessageId = "senderMessageId" [default_on_error],
        /// Identifier of the message in the receiving session.
        recipient_message_id: MessageId = "recipientMessageId" [default_on_error],
        /// The complete content.
        content: Vec<ContentBlock> = "content" [default_on_error, skip_invalid_items],
        /// `_meta`: a patch by key, in which `null` removes a key.
        meta: Meta = "_meta",
    }
}

object! {
    /// Content to append to a message from one session to another.
    ///
    /// Spec: [`SessionMessageChunk`](https://agentclientprotocol.com/protocol/v2/schema#sessionmessagechunk)
    pub struct SessionMessageChunk {
        /// Identifier of the message.
        message_id: MessageId = "messageId",
        /// The appended content.
        content: ContentBlock = "content",
    }
    and "_meta"
}
