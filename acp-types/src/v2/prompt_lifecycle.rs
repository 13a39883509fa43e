//! What the user said, what the session is at, and what the agent reports while it works.
//!
//! Spec: [Prompt Lifecycle](https://agentclientprotocol.com/protocol/v2/prompt-lifecycle)
use super::agent_plan::PlanUpdate;
use super::compaction::{CompactionSummaryChunk, CompactionUpdate};
use super::content::ContentBlock;
use super::session_config_options::ConfigOptionUpdate;
use super::session_states::StateUpdate;
use super::slash_commands::AvailableCommandsUpdate;
use super::subagents::{SessionMessage, SessionMessageChunk, SubagentUpdate};
use super::terminals::{TerminalOutputChunk, TerminalUpdate};
use super::tool_calls::{ToolCallContentChunk, ToolCallUpdate};
use crate::shared::agent_plan::PlanRemoved;
use crate::shared::notices::Notice;
pub use crate::shared::prompts::{Cost, MessageId, UsageUpdate};
use crate::shared::session_list::SessionInfoUpdate;
use crate::shared::session_setup::SessionId;
use alloc::boxed::Box;
use alloc::vec::Vec;
use jsonrpc_core::wire::Meta;
use jsonrpc_core::{object, open_union};

object! {
    /// The user said something; the answer comes when the session has taken it in, long before the work is done.
    ///
    /// Method `session/prompt`. Spec: [`PromptRequest`](https://agentclientprotocol.com/protocol/v2/schema#promptrequest)
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
        /// In which session.
        session_id: SessionId = "sessionId",
        /// What was said, not empty. Text and resource links always; the rest where `session.prompt` says so.
        prompt: Vec<ContentBlock> = "prompt",
    }
    and "_meta"
}

object! {
    /// The session has taken in what the user said. What becomes of it, `state_update` tells.
    ///
    /// Method `session/prompt`. Spec: [`PromptResponse`](https://agentclientprotocol.com/protocol/v2/schema#promptresponse)
    pub struct PromptResponse {
        /// Names the user's message.
        message_id: MessageId = "messageId",
    }
    and "_meta"
}

object! {
    /// The client cancels what a session is at; an idle `state_update` follows.
    ///
    /// Method `session/cancel`. Spec: [`CancelSessionNotification`](https://agentclientprotocol.com/protocol/v2/schema#cancelsessionnotification)
    #[doc(alias = "session/cancel")]
    pub struct CancelSessionNotification {
        /// Which one.
        session_id: SessionId = "sessionId",
    }
    and "_meta"
}

object! {
    /// The agent reports something of a session.
    ///
    /// Method `session/update`. Spec: [`UpdateSessionNotification`](https://agentclientprotocol.com/protocol/v2/schema#updatesessionnotification)
    #[doc(alias = "session/update")]
    pub struct UpdateSessionNotification {
        /// Which one.
        session_id: SessionId = "sessionId",
        /// What it reports.
        update: SessionUpdate = "update",
    }
    and "_meta"
}

open_union! {
    /// What an agent reports of a session.
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
        /// A piece of what the user said.
        UserMessageChunk(ContentChunk) = "user_message_chunk" [shared],
        /// What the user said, whole or changed.
        UserMessage(Box<UserMessage>) = "user_message",
        /// A piece of what the agent says.
        AgentMessageChunk(ContentChunk) = "agent_message_chunk" [shared],
        /// What the agent says, whole or changed.
        AgentMessage(Box<AgentMessage>) = "agent_message",
        /// A piece of what the agent thinks.
        AgentThoughtChunk(ContentChunk) = "agent_thought_chunk" [shared],
        /// What the agent thinks, whole or changed.
        AgentThought(Box<AgentThought>) = "agent_thought",
        /// What the session is at.
        StateUpdate(StateUpdate) = "state_update",
        /// A piece of what a tool call produces.
        ToolCallContentChunk(Box<ToolCallContentChunk>) = "tool_call_content_chunk",
        /// A tool call begins or changes.
        ToolCallUpdate(Box<ToolCallUpdate>) = "tool_call_update",
        /// A terminal begins or changes.
        TerminalUpdate(Box<TerminalUpdate>) = "terminal_update",
        /// A piece of a terminal's output.
        TerminalOutputChunk(Box<TerminalOutputChunk>) = "terminal_output_chunk",
        /// A plan as it is now, whole.
        PlanUpdate(Box<PlanUpdate>) = "plan_update",
        /// **Unstable.** A plan is gone.
        PlanRemoved(PlanRemoved) = "plan_removed",
        /// The commands as they are now, all of them.
        AvailableCommandsUpdate(AvailableCommandsUpdate) = "available_commands_update",
        /// Options of the session have changed.
        ConfigOptionUpdate(ConfigOptionUpdate) = "config_option_update",
        /// What a list of sessions shows of this one has changed.
        SessionInfoUpdate(Box<SessionInfoUpdate>) = "session_info_update",
        /// How full the context is, and what the session has cost.
        UsageUpdate(UsageUpdate) = "usage_update",
        /// Something that the user may want to know now.
        Notice(Box<Notice>) = "notice",
        /// A compaction of the context begins or changes.
        CompactionUpdate(Box<CompactionUpdate>) = "compaction_update",
        /// A piece of a compaction's summary.
        CompactionSummaryChunk(Box<CompactionSummaryChunk>) = "compaction_summary_chunk",
        /// **Unstable.** The session owns another, or that one has changed.
        SubagentUpdate(Box<SubagentUpdate>) = "subagent_update",
        /// **Unstable.** A message from one session to another, whole or changed.
        SessionMessage(Box<SessionMessage>) = "session_message",
        /// **Unstable.** A piece of a message from one session to another.
        SessionMessageChunk(Box<SessionMessageChunk>) = "session_message_chunk",
    }
}

object! {
    /// A piece of a message, to be added at the end.
    ///
    /// Spec: [`ContentChunk`](https://agentclientprotocol.com/protocol/v2/schema#contentchunk)
    pub struct ContentChunk {
        /// Which message; a new one begins one.
        message_id: MessageId = "messageId",
        /// The piece.
        content: ContentBlock = "content",
    }
    and "_meta"
}

object! {
    /// What the user said, whole or changed. Absent stays, `null` clears, a value replaces.
    ///
    /// Spec: [`UserMessage`](https://agentclientprotocol.com/protocol/v2/schema#usermessage)
    pub struct UserMessage {
        /// Which message; a new one begins one.
        message_id: MessageId = "messageId",
    }
    patch {
        /// What was said, all of it.
        content: Vec<ContentBlock> = "content" [default_on_error, skip_invalid_items],
        /// `_meta`: a patch by key; a key that is `null` goes away.
        meta: Meta = "_meta",
    }
}

object! {
    /// What the agent says, whole or changed. Absent stays, `null` clears, a value replaces.
    ///
    /// Spec: [`AgentMessage`](https://agentclientprotocol.com/protocol/v2/schema#agentmessage)
    pub struct AgentMessage {
        /// Which message; a new one begins one.
        message_id: MessageId = "messageId",
    }
    patch {
        /// What it says, all of it.
        content: Vec<ContentBlock> = "content" [default_on_error, skip_invalid_items],
        /// `_meta`: a patch by key; a key that is `null` goes away.
        meta: Meta = "_meta",
    }
}

object! {
    /// What the agent thinks, whole or changed. Absent stays, `null` clears, a value replaces.
    ///
    /// Spec: [`AgentThought`](https://agentclientprotocol.com/protocol/v2/schema#agentthought)
    pub struct AgentThought {
        /// Which thought; a new one begins one.
        message_id: MessageId = "messageId",
    }
    patch {
        /// What it thinks, all of it.
        content: Vec<ContentBlock> = "content" [default_on_error, skip_invalid_items],
        /// `_meta`: a patch by key; a key that is `null` goes away.
        meta: Meta = "_meta",
    }
}
