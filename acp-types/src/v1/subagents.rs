//! **Unstable.** Sessions that a session began and owns, and what they say to each other.
//!
//! Spec: [`SubagentUpdate`](https://agentclientprotocol.com/protocol/v1/draft/schema#subagentupdate)
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
    /// **Unstable.** A session owns another, or that one has changed. Absent stays, `null` clears, a value replaces.
    ///
    /// Spec: [`SubagentUpdate`](https://agentclientprotocol.com/protocol/v1/draft/schema#subagentupdate)
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
        cwd: String = "cwd",
        /// Absolute paths of more folders that belong to it; cleared means those of its owner.
        additional_directories: Vec<String> = "additionalDirectories",
        /// `_meta`: a patch by key; a key that is `null` goes away.
        meta: Meta = "_meta",
    }
}

object! {
    /// **Unstable.** A message from one session to another. Absent stays, `null` clears, a value replaces.
    ///
    /// Spec: [`SessionMessage`](https://agentclientprotocol.com/protocol/v1/draft/schema#sessionmessage)
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
    /// Spec: [`SessionMessageChunk`](https://agentclientprotocol.com/protocol/v1/draft/schema#sessionmessagechunk)
    pub struct SessionMessageChunk {
        /// Which message.
        message_id: MessageId = "messageId",
        /// The piece.
        content: ContentBlock = "content",
    }
    and "_meta"
}

open_union! {
    /// **Unstable.** What a session is at. One that is unknown is busy, never idle.
    ///
    /// Spec: [`StateUpdate`](https://agentclientprotocol.com/protocol/v1/draft/schema#stateupdate)
    pub enum StateUpdate by "state" {
        /// It works.
        Running(RunningStateUpdate) = "running",
        /// It has nothing to do in the foreground.
        Idle(Box<IdleStateUpdate>) = "idle",
        /// It waits for the user.
        RequiresAction(RequiresActionStateUpdate) = "requires_action",
        /// **Unstable.** Nobody knows.
        UnknownState(UnknownStateUpdate) = "unknown",
    }
}

impl StateUpdate {
    /// Whether the session has nothing to do in the foreground, and says so.
    pub fn is_idle(&self) -> bool {
        matches!(self, Self::Idle(_))
    }

    /// Whether the session is at something: it works, it waits for the user, or it is in a state that is not known.
    pub fn is_busy(&self) -> bool {
        matches!(self, Self::Running(_) | Self::RequiresAction(_) | Self::Unknown(_))
    }
}

object! {
    /// **Unstable.** A session works.
    ///
    /// Spec: [`RunningStateUpdate`](https://agentclientprotocol.com/protocol/v1/draft/schema#runningstateupdate)
    pub struct RunningStateUpdate {}
    and "_meta"
}

object! {
    /// **Unstable.** A session waits for the user.
    ///
    /// Spec: [`RequiresActionStateUpdate`](https://agentclientprotocol.com/protocol/v1/draft/schema#requiresactionstateupdate)
    pub struct RequiresActionStateUpdate {}
    and "_meta"
}

object! {
    /// **Unstable.** Nobody knows what a session is at.
    ///
    /// Spec: [`UnknownStateUpdate`](https://agentclientprotocol.com/protocol/v1/draft/schema#unknownstateupdate)
    pub struct UnknownStateUpdate {}
    and "_meta"
}

object! {
    /// **Unstable.** A session has nothing to do in the foreground.
    ///
    /// Spec: [`IdleStateUpdate`](https://agentclientprotocol.com/protocol/v1/draft/schema#idlestateupdate)
    pub struct IdleStateUpdate {}
    optional {
        /// The tokens that the work took which has ended.
        usage: Box<Usage> = "usage" [default_on_error],
    }
    rest {
        /// Why its work ended, where the agent says so.
        stop_reason: IdleStopReason,
    }
    and "_meta"
}

open_union! {
    /// **Unstable.** Why an agent ended its work; an agent need not say so.
    ///
    /// Spec: [schema](https://agentclientprotocol.com/protocol/v1/draft/schema#idlestateupdate)
    pub enum IdleStopReason by "stopReason" [default_on_error] {
        /// The model finished without asking for another tool.
        EndTurn(Extra) = "end_turn",
        /// The token limit was reached.
        MaxTokens(Extra) = "max_tokens",
        /// The agent asked the model as often as it may.
        MaxTurnRequests(Extra) = "max_turn_requests",
        /// The agent refuses to go on.
        Refusal(Extra) = "refusal",
        /// The client cancelled the work.
        Cancelled(Extra) = "cancelled",
        /// The work failed.
        Error(ErrorStopReason) = "error",
    }
    untagged {
        /// The agent does not say.
        NotReported(Extra),
    }
}
