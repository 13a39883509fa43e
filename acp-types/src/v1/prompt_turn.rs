//! Prompt turns: prompts, updates, and stop reasons.
//!
//! Spec: [Prompt Turn](https://agentclientprotocol.com/protocol/v1/prompt-turn)
use super::agent_plan::{Plan, PlanUpdate};
use super::compaction::{CompactionSummaryChunk, CompactionUpdate};
use super::content::ContentBlock;
use super::prompt_suggestions::PromptSuggestionsUpdate;
use super::session_config_options::ConfigOptionUpdate;
use super::session_modes::CurrentModeUpdate;
use super::slash_commands::AvailableCommandsUpdate;
use super::subagents::{SessionMessage, SessionMessageChunk, SubagentUpdate};
use super::tool_calls::{ToolCall, ToolCallUpdate};
use crate::shared::agent_plan::PlanRemoved;
use crate::shared::notices::Notice;
pub use crate::shared::prompts::{
    Cost, MessageId, Usage, UsageMembers, UsageUpdate, UsageUpdateMembers,
};
use crate::shared::session_cursors::CursorUpdate;
use crate::shared::session_list::SessionInfoUpdate;
use crate::shared::session_setup::SessionId;
use alloc::boxed::Box;
use alloc::vec::Vec;
use jsonrpc_core::{object, open_enum, open_union};

object! {
    /// A prompt of the user. The response ends the turn.
    ///
    /// Method `session/prompt`.
    /// Spec: [`PromptRequest`](https://agentclientprotocol.com/protocol/v1/schema#promptrequest)
    ///
    /// ```
    /// use acp_types::v1::prompt_turn::PromptRequest;
    ///
    /// let request = PromptRequest::new("sess-1", ["Hello".into()]);
    /// assert_eq!(
    ///     serde_json::to_string(&request)?,
    ///     r#"{"sessionId":"sess-1","prompt":[{"type":"text","text":"Hello"}]}"#,
    /// );
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    #[doc(alias = "session/prompt")]
    pub struct PromptRequest {
        /// Identifier of the session.
        session_id: SessionId = "sessionId",
        /// Content of the prompt. Text and resource links are always valid; other content depends
        /// on `promptCapabilities`.
        prompt: Vec<ContentBlock> = "prompt",
    }
    and "_meta"
}

object! {
    /// The end of a turn.
    ///
    /// Method `session/prompt`.
    /// Spec: [`PromptResponse`](https://agentclientprotocol.com/protocol/v1/schema#promptresponse)
    ///
    /// ```
    /// use acp_types::v1::prompt_turn::{PromptResponse, StopReason};
    ///
    /// let response: PromptResponse = serde_json::from_str(r#"{"stopReason":"end_turn"}"#)?;
    /// assert_eq!(response, PromptResponse::new(StopReason::EndTurn));
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub struct PromptResponse {
        /// The reason for the end.
        stop_reason: StopReason = "stopReason",
    }
    optional {
        /// **Unstable.** Token usage of the turn.
        usage: Usage = "usage" [default_on_error],
    }
    and "_meta"
}

open_enum! {
    /// Why an agent ended a turn.
    ///
    /// Spec: [`StopReason`](https://agentclientprotocol.com/protocol/v1/schema#stopreason)
    ///
    /// ```
    /// use acp_types::v1::prompt_turn::StopReason;
    ///
    /// let reason: StopReason = serde_json::from_str(r#""out_of_credits""#)?;
    /// assert_eq!(reason.as_str(), "out_of_credits");
    /// assert!(!reason.is_known());
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub enum StopReason {
        /// The model finished its turn and requested no further tools.
        EndTurn = "end_turn",
        /// The maximum number of tokens was reached.
        MaxTokens = "max_tokens",
        /// The maximum number of model requests within a turn was reached.
        MaxTurnRequests = "max_turn_requests",
        /// The agent refused to continue.
        Refusal = "refusal",
        /// The client cancelled the turn.
        Cancelled = "cancelled",
    }
}

object! {
    /// Cancels the turn of a session. The prompt is still answered, with `cancelled`.
    ///
    /// Method `session/cancel`.
    /// Spec: [`CancelNotification`](https://agentclientprotocol.com/protocol/v1/schema#cancelnotification)
    #[doc(alias = "session/cancel")]
    pub struct CancelNotification {
        /// Identifier of the session.
        session_id: SessionId = "sessionId",
    }
    and "_meta"
}

object! {
    /// An update of a session.
    ///
    /// Method `session/update`.
    /// Spec: [`SessionNotification`](https://agentclientprotocol.com/protocol/v1/schema#sessionnotification)
    ///
    /// ```
    /// use acp_types::v1::prompt_turn::{SessionNotification, SessionUpdate};
    /// use acp_types::v1::tool_calls::ToolCall;
    ///
    /// let call = ToolCall::new("call-1", "Read main.rs");
    /// let notification = SessionNotification::new("sess-1", SessionUpdate::ToolCall(call.into()));
    /// assert_eq!(
    ///     serde_json::to_string(&notification)?,
    ///     r#"{"sessionId":"sess-1","update":{"sessionUpdate":"tool_call","toolCallId":"call-1","title":"Read main.rs"}}"#,
    /// );
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    #[doc(alias = "session/update")]
    pub struct SessionNotification {
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
    /// Spec: [`SessionUpdate`](https://agentclientprotocol.com/protocol/v1/schema#sessionupdate)
    ///
    /// ```
    /// use acp_types::v1::prompt_turn::{ContentChunk, SessionNotification, SessionUpdate};
    ///
    /// let update = SessionUpdate::AgentMessageChunk(ContentChunk::new("Hi"));
    /// assert_eq!(
    ///     serde_json::to_string(&SessionNotification::new("sess-1", update))?,
    ///     r#"{"sessionId":"sess-1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Hi"}}}"#,
    /// );
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub enum SessionUpdate by "sessionUpdate" {
        /// A chunk of a user message, during a replay.
        UserMessageChunk(ContentChunk) = "user_message_chunk" [shared],
        /// A chunk of an agent message.
        AgentMessageChunk(ContentChunk) = "agent_message_chunk" [shared],
        /// A chunk of the agent's reasoning.
        AgentThoughtChunk(ContentChunk) = "agent_thought_chunk" [shared],
        /// A new tool call.
        ToolCall(Box<ToolCall>) = "tool_call",
        /// A change of a tool call.
        ToolCallUpdate(Box<ToolCallUpdate>) = "tool_call_update",
        /// The complete current plan.
        Plan(Plan) = "plan",
        /// All current commands.
        AvailableCommandsUpdate(AvailableCommandsUpdate) = "available_commands_update",
        /// The agent changed the mode of the session.
        CurrentModeUpdate(CurrentModeUpdate) = "current_mode_update",
        /// Configuration options of the session have changed.
        ConfigOptionUpdate(ConfigOptionUpdate) = "config_option_update",
        /// A change of the session's entry in session lists.
        SessionInfoUpdate(Box<SessionInfoUpdate>) = "session_info_update",
        /// Context usage, and the cost of the session.
        UsageUpdate(UsageUpdate) = "usage_update",
        /// A notice for the user.
        Notice(Notice) = "notice",
        /// A compaction of the context begins or changes.
        CompactionUpdate(Box<CompactionUpdate>) = "compaction_update",
        /// Content to append to a compaction's summary.
        CompactionSummaryChunk(Box<CompactionSummaryChunk>) = "compaction_summary_chunk",
        /// The complete current state of one of several plans.
        PlanUpdate(Box<PlanUpdate>) = "plan_update",
        /// One of several plans was removed.
        PlanRemoved(PlanRemoved) = "plan_removed",
        /// A subagent begins or changes.
        SubagentUpdate(Box<SubagentUpdate>) = "subagent_update",
        /// A message from one session to another, complete or changed.
        SessionMessage(Box<SessionMessage>) = "session_message",
        /// A chunk of a message from one session to another.
        SessionMessageChunk(Box<SessionMessageChunk>) = "session_message_chunk",
        /// **Unstable.** The current suggestions for the next prompt.
        PromptSuggestionsUpdate(PromptSuggestionsUpdate) = "prompt_suggestions_update",
        /// **Unstable.** A cursor begins, or its capabilities change.
        CursorUpdate(Box<CursorUpdate>) = "cursor_update",
    }
}

object! {
    /// A chunk of a message.
    ///
    /// Spec: [`ContentChunk`](https://agentclientprotocol.com/protocol/v1/schema#contentchunk)
    pub struct ContentChunk {
        /// The appended content.
        content: ContentBlock = "content",
    }
    optional {
        /// Identifier of the message. A different id begins another message.
        message_id: MessageId = "messageId" [default_on_error],
    }
    and "_meta"
}
