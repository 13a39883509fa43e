//! Subagents: sessions owned by a session, and messages between sessions.
//!
//! Spec: [`SubagentUpdate`](https://agentclientprotocol.com/protocol/v1/schema#subagentupdate)
use super::content::ContentBlock;
pub use crate::shared::prompts::ErrorStopReason;
use crate::shared::prompts::{MessageId, Usage};
use crate::shared::session_setup::SessionId;
pub use crate::shared::subagents::{SessionCancelCapabilities, SubagentSessionCapabilities};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::{Extra, Meta};
use jsonrpc_core::{object, open_union};

object! {
    /// A subagent begins or changes. In each member, absence keeps the value, `null`
    /// clears it, and a value replaces it.
    ///
    /// Spec: [`SubagentUpdate`](https://agentclientprotocol.com/protocol/v1/schema#subagentupdate)
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
        cwd: String = "cwd",
        /// Absolute paths of additional directories; cleared means those of the owner.
        additional_directories: Vec<String> = "additionalDirectories",
        /// `_meta`: a patch by key, in which `null` removes a key.
        meta: Meta = "_meta",
    }
}

object! {
    /// A message from one session to another. In each member, absence keeps the
    /// value, `null` clears it, and a value replaces it.
    ///
    /// Spec: [`SessionMessage`](https://agentclientprotocol.com/protocol/v1/schema#sessionmessage)
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
    /// Spec: [`SessionMessageChunk`](https://agentclientprotocol.com/protocol/v1/schema#sessionmessagechunk)
    pub struct SessionMessageChunk {
        /// Identifier of the message.
        message_id: MessageId = "messageId",
        /// The appended content.
        content: ContentBlock = "content",
    }
    and "_meta"
}

open_union! {
    /// The state of a session. An unknown state counts as busy, never as idle.
    ///
    /// Spec: [`StateUpdate`](https://agentclientprotocol.com/protocol/v1/schema#stateupdate)
    pub enum StateUpdate by "state" {
        /// The session works.
        Running(RunningStateUpdate) = "running",
        /// The session has no foreground work.
        Idle(Box<IdleStateUpdate>) = "idle",
        /// The session waits for the user.
        RequiresAction(RequiresActionStateUpdate) = "requires_action",
        /// The state is unknown.
        UnknownState(UnknownStateUpdate) = "unknown",
    }
}

impl StateUpdate {
    /// Returns whether the session reports that it has no foreground work.
    pub fn is_idle(&self) -> bool {
        matches!(self, Self::Idle(_))
    }

    /// Returns whether the session is busy: it works, waits for the user, or has an unknown state.
    pub fn is_busy(&self) -> bool {
        matches!(self, Self::Running(_) | Self::RequiresAction(_) | Self::Unknown(_))
    }
}

object! {
    /// A session works.
    ///
    /// Spec: [`RunningStateUpdate`](https://agentclientprotocol.com/protocol/v1/schema#runningstateupdate)
    pub struct RunningStateUpdate {}
    and "_meta"
}

object! {
    /// A session waits for the user.
    ///
    /// Spec: [`RequiresActionStateUpdate`](https://agentclientprotocol.com/protocol/v1/schema#requiresactionstateupdate)
    pub struct RequiresActionStateUpdate {}
    and "_meta"
}

object! {
    /// The state of a session is unknown.
    ///
    /// Spec: [`UnknownStateUpdate`](https://agentclientprotocol.com/protocol/v1/schema#unknownstateupdate)
    pub struct UnknownStateUpdate {}
    and "_meta"
}

object! {
    /// A session has no foreground work.
    ///
    /// Spec: [`IdleStateUpdate`](https://agentclientprotocol.com/protocol/v1/schema#idlestateupdate)
    pub struct IdleStateUpdate {}
    optional {
        /// Token usage of the work that ended.
        usage: Box<Usage> = "usage" [default_on_error],
    }
    rest {
        /// The reason for the end of the work, if the agent reports it.
        stop_reason: IdleStopReason,
    }
    and "_meta"
}

open_union! {
    /// The reason for the end of an agent's work. Agents may omit it.
    ///
    /// Spec: [schema](https://agentclientprotocol.com/protocol/v1/schema#idlestateupdate)
    pub enum IdleStopReason by "stopReason" [default_on_error] {
        /// The model finished its turn and requested no further tools.
        EndTurn(Extra) = "end_turn",
        /// The maximum number of tokens was reached.
        MaxTokens(Extra) = "max_tokens",
        /// The maximum number of model requests was reached.
        MaxTurnRequests(Extra) = "max_turn_requests",
        /// The agent refused to continue.
        Refusal(Extra) = "refusal",
        /// The client cancelled the work.
        Cancelled(Extra) = "cancelled",
        /// The work failed.
        Error(ErrorStopReason) = "error",
    }
    untagged {
        /// No reason was reported.
        NotReported(Extra),
    }
}
