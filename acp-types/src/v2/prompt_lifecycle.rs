//! The prompt lifecycle: prompts, states, and updates.
//!
//! Spec: [Prompt Lifecycle](https://agentclientprotocol.com/protocol/v2/prompt-lifecycle)
use super::agent_plan::PlanUpdate;
use super::compaction::{CompactionSummaryChunk, CompactionUpdate};
use super::content::ContentBlock;
pub use super::idempotency_key::IdempotencyKey;
use super::prompt_suggestions::PromptSuggestionsUpdate;
use super::session_config_options::ConfigOptionUpdate;
use super::session_setup::ReplayComplete;
use super::session_states::StateUpdate;
use super::slash_commands::AvailableCommandsUpdate;
use super::subagents::{SessionMessage, SessionMessageChunk, SubagentUpdate};
use super::terminals::{TerminalOutputChunk, TerminalUpdate};
use super::tool_calls::{ToolCallContentChunk, ToolCallUpdate};
use crate::shared::agent_plan::PlanRemoved;
use crate::shared::notices::Notice;
pub use crate::shared::prompts::{Cost, MessageId, UsageUpdate, UsageUpdateMembers};
use crate::shared::session_cursors::CursorUpdate;
use crate::shared::session_list::SessionInfoUpdate;
use crate::shared::session_setup::SessionId;
use alloc::boxed::Box;
use alloc::vec::Vec;
use jsonrpc_core::wire::Meta;
use jsonrpc_core::{object, open_union};

object! {
    /// A prompt of the user. The response confirms its acceptance, before the work is done.
    ///
    /// Method `session/prompt`.
    /// Spec: [`PromptRequest`](https://agentclientprotocol.com/protocol/v2/schema#promptrequest)
    ///
    /// ```
    /// use acp_types::v2::prompt_lifecycle::PromptRequest;
    ///
    /// let request = PromptRequest::new("sess-1", ["Hello".into()]);
    /// assert_eq!(
    /// serde_json::to_string(&request)?,
    /// r#"{"sessionId":"sess-1","prompt":[{"type":"text","text":"Hello"}]}"#,
    /// );
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    #[doc(alias = "session/prompt")]
    pub struct PromptRequest {
        /// Identifier of the session.
        session_id: SessionId = "sessionId",
        /// Content of the prompt, not empty. Text and resource links are always valid; other
        /// content depends on `session.prompt`.
        prompt: Vec<ContentBlock> = "prompt",
    }
    optional {
        /// Identifies the submission, which the client may repeat. A repetition is answered with the
        /// same message.
        idempotency_key: IdempotencyKey = "idempotencyKey",
    }
    and "_meta"
}

object! {
    /// The prompt was accepted. `state_update` reports its progress.
    ///
    /// Method `session/prompt`.
    /// Spec: [`PromptResponse`](https://agentclientprotocol.com/protocol/v2/schema#promptresponse)
    pub struct PromptResponse {
        /// Identifier of the user's message.
        message_id: MessageId = "messageId",
    }
    and "_meta"
}

object! {
    /// Cancels the work of a session. An idle `state_update` follows.
    ///
    /// Method `session/cancel`.
    /// Spec: [`CancelSessionNotification`](https://agentclientprotocol.com/protocol/v2/schema#cancelsessionnotification)
    #[doc(alias = "session/cancel")]
    pub struct CancelSessionNotification {
        /// Identifier of the session.
        session_id: SessionId = "sessionId",
    }
    and "_meta"
}

object! {
    /// An update of a session.
    ///
    /// Method `session/update`.
    /// Spec: [`UpdateSessionNotification`](https://agentclientprotocol.com/protocol/v2/schema#updatesessionnotification)
    #[doc(alias = "session/update")]
    pub struct UpdateSessionNotification {
        /// Identifier of the session.
        session_id: SessionId = "sessionId",
        /// The update.
        update: SessionUpdate = "update",
    }
    and "_meta"
}

open_union! {
    /// An update of a session, by kind.
    ///
    /// Spec: [`SessionUpdate`](https://agentclientprotocol.com/protocol/v2/schema#sessionupdate)
    ///
    /// ```
    /// use acp_types::v2::prompt_lifecycle::{ContentChunk, SessionUpdate, UpdateSessionNotification};
    ///
    /// let update = SessionUpdate::AgentMessageChunk(ContentChunk::new("m-1", "Hi"));
    /// assert_eq!(
    /// serde_json::to_string(&UpdateSessionNotification::new("sess-1", update))?,
    /// r#"{"sessionId":"sess-1","update":{"sessionUpdate":"agent_message_chunk","messageId":"m-1","content":{"type":"text","text":"Hi"}}}"#,
    /// );
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub enum SessionUpdate by "sessionUpdate" {
        /// A chunk of a user message.
        UserMessageChunk(ContentChunk) = "user_message_chunk" [shared],
        /// A user message, complete or changed.
        UserMessage(Box<UserMessage>) = "user_message",
        /// A chunk of an agent message.
        AgentMessageChunk(ContentChunk) = "agent_message_chunk" [shared],
        /// An agent message, complete or changed.
        AgentMessage(Box<AgentMessage>) = "agent_message",
        /// A chunk of the agent's reasoning.
        AgentThoughtChunk(ContentChunk) = "agent_thought_chunk" [shared],
        /// Reasoning of the agent, complete or changed.
        AgentThought(Box<AgentThought>) = "agent_thought",
        /// The state of the session.
        StateUpdate(StateUpdate) = "state_update",
        /// Content to append to a tool call.
        ToolCallContentChunk(Box<ToolCallContentChunk>) = "tool_call_content_chunk",
        /// A tool call begins or changes.
        ToolCallUpdate(Box<ToolCallUpdate>) = "tool_call_update",
        /// A terminal begins or changes.
        TerminalUpdate(Box<TerminalUpdate>) = "terminal_update",
        /// Output to append to a terminal.
        TerminalOutputChunk(Box<TerminalOutputChunk>) = "terminal_output_chunk",
        /// The complete current state of a plan.
        PlanUpdate(Box<PlanUpdate>) = "plan_update",
        /// A plan was removed.
        PlanRemoved(PlanRemoved) = "plan_removed",
        /// All current commands.
        AvailableCommandsUpdate(AvailableCommandsUpdate) = "available_commands_update",
        /// Configuration options of the session have changed.
        ConfigOptionUpdate(ConfigOptionUpdate) = "config_option_update",
        /// A change of the session's entry in session lists.
        SessionInfoUpdate(Box<SessionInfoUpdate>) = "session_info_update",
        /// Context usage, and the cost of the session.
        UsageUpdate(UsageUpdate) = "usage_update",
        /// A notice for the user.
        Notice(Box<Notice>) = "notice",
        /// A compaction of the context begins or changes.
        CompactionUpdate(Box<CompactionUpdate>) = "compaction_update",
        /// Content to append to a compaction's summary.
        CompactionSummaryChunk(Box<CompactionSummaryChunk>) = "compaction_summary_chunk",
        /// A subagent begins or changes.
        SubagentUpdate(Box<SubagentUpdate>) = "subagent_update",
        /// A message from one session to another, complete or changed.
        SessionMessage(Box<SessionMessage>) = "session_message",
        /// A chunk of a message from one session to another.
        SessionMessageChunk(Box<SessionMessageChunk>) = "session_message_chunk",
        /// The end of a replay.
        ReplayComplete(ReplayComplete) = "replay_complete",
        /// **Unstable.** The current suggestions for the next prompt.
        PromptSuggestionsUpdate(PromptSuggestionsUpdate) = "prompt_suggestions_update",
        /// **Unstable.** A cursor begins, or its capabilities change.
        CursorUpdate(Box<CursorUpdate>) = "cursor_update",
    }
}

object! {
    /// Content to append to a message.
    ///
    /// Spec: [`ContentChunk`](https://agentclientprotocol.com/protocol/v2/schema#contentchunk)
    pub struct ContentChunk {
        /// Identifier of the message. A new id begins a message.
        message_id: MessageId = "messageId",
        /// The appended content.
        content: ContentBlock = "content",
    }
    and "_meta"
}

object! {
    /// A user message, complete or changed. In each member, absence keeps the value, `null` clears
    /// it, and a value replaces it.
    ///
    /// Spec: [`UserMessage`](https://agentclientprotocol.com/protocol/v2/schema#usermessage)
    pub struct UserMessage {
        /// Identifier of the message. A new id begins a message.
        message_id: MessageId = "messageId",
    }
    patch {
        /// The complete content.
        content: Vec<ContentBlock> = "content" [default_on_error, skip_invalid_items],
        /// `_meta`: a patch by key, in which `null` removes a key.
        meta: Meta = "_meta",
    }
}

object! {
    /// An agent message, complete or changed. In each member, absence keeps the value, `null`
    /// clears it, and a value replaces it.
    ///
    /// Spec: [`AgentMessage`](https://agentclientprotocol.com/protocol/v2/schema#agentmessage)
    pub struct AgentMessage {
        /// Identifier of the message. A new id begins a message.
        message_id: MessageId = "messageId",
    }
    patch {
        /// The complete content.
        content: Vec<ContentBlock> = "content" [default_on_error, skip_invalid_items],
        /// `_meta`: a patch by key, in which `null` removes a key.
        meta: Meta = "_meta",
    }
}

object! {
    /// Reasoning of the agent, complete or changed. In each member, absence keeps the value, `null`
    /// clears it, and a value replaces it.
    ///
    /// Spec: [`AgentThought`](https://agentclientprotocol.com/protocol/v2/schema#agentthought)
    pub struct AgentThought {
        /// Identifier of the message. A new id begins a message.
        message_id: MessageId = "messageId",
    }
    patch {
        /// The complete content.
        content: Vec<ContentBlock> = "content" [default_on_error, skip_invalid_items],
        /// `_meta`: a patch by key, in which `null` removes a key.
        meta: Meta = "_meta",
    }
}
