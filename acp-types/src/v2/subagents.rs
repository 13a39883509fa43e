//! **Unstable.** Sessions that a session began and owns, and what they say to each other.
//!
//! Spec: [`SubagentUpdate`](https://agentclientprotocol.com/protocol/v2/draft/schema#subagentupdate)
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
    /// **Unstable.** A session owns another, or that one has changed. Absent stays, `null` clears, a value replaces.
    ///
    /// Spec: [`SubagentUpdate`](https://agentclientprotocol.com/protocol/v2/draft/schema#subagentupdate)
    pub struct SubagentUpdate {
        /// The one that is owned; the first update announces it, before anything else names it.
        session_id: SessionId = "sessionId",
    }
    patch {
        /// What it is called here, for people to read.
        title: String = "title" [default_on_error],
        /// What it is for, for people to read.
        description: String = "description" [default_on_error],
        /// What the client may do to it.
        capabilities: SubagentSessionCapabilities = "capabilities" [default_on_error],
        /// How it stands, whole; cleared means that nobody knows, not that it is idle.
        state: StateUpdate = "state" [default_on_error],
        /// Absolute path of the folder that it works in; cleared means that of its owner.
        cwd: AbsolutePath = "cwd",
        /// Absolute paths of more folders that belong to it; cleared means those of its owner.
        additional_directories: Vec<AbsolutePath> = "additionalDirectories",
        /// `_meta`: a patch by key; a key that is `null` goes away.
        meta: Meta = "_meta",
    }
}

object! {
    /// **Unstable.** A message from one session to another. Absent stays, `null` clears, a value replaces.
    ///
    /// Spec: [`SessionMessage`](https://agentclientprotocol.com/protocol/v2/draft/schema#sessionmessage)
    pub struct SessionMessage {
        /// Names it within the session that it is reported in.
        message_id: MessageId = "messageId",
    }
    patch {
        /// The session that sends it.
        sender_session_id: SessionId = "senderSessionId" [default_on_error],
        /// The session that receives it.
        recipient_session_id: SessionId = "recipientSessionId" [default_on_error],
        /// What the sender calls it.
        sender_message_id: MessageId = "senderMessageId" [default_on_error],
        /// What the recipient calls it.
        recipient_message_id: MessageId = "recipientMessageId" [default_on_error],
        /// What it says, whole.
        content: Vec<ContentBlock> = "content" [default_on_error, skip_invalid_items],
        /// `_meta`: a patch by key; a key that is `null` goes away.
        meta: Meta = "_meta",
    }
}

object! {
    /// **Unstable.** A piece of a message from one session to another, to be added at the end.
    ///
    /// Spec: [`SessionMessageChunk`](https://agentclientprotocol.com/protocol/v2/draft/schema#sessionmessagechunk)
    pub struct SessionMessageChunk {
        /// Which message.
        message_id: MessageId = "messageId",
        /// The piece.
        content: ContentBlock = "content",
    }
    and "_meta"
}
