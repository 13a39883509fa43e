//! A turn: what the user said, what the agent reports while it works, and why it ended.
//!
//! Spec: [Prompt Turn](https://agentclientprotocol.com/protocol/v1/prompt-turn)
use super::agent_plan::{Plan, PlanUpdate};
use super::compaction::{CompactionSummaryChunk, CompactionUpdate};
use super::content::ContentBlock;
use super::session_config_options::ConfigOptionUpdate;
use super::session_modes::CurrentModeUpdate;
use super::slash_commands::AvailableCommandsUpdate;
use super::subagents::{SessionMessage, SessionMessageChunk, SubagentUpdate};
use super::tool_calls::{ToolCall, ToolCallUpdate};
use crate::shared::agent_plan::PlanRemoved;
use crate::shared::notices::Notice;
pub use crate::shared::prompts::{Cost, MessageId, Usage, UsageUpdate};
use crate::shared::session_list::SessionInfoUpdate;
use crate::shared::session_setup::SessionId;
use alloc::boxed::Box;
use alloc::vec::Vec;
use jsonrpc_core::{object, open_enum, open_union};

object! {
    /// The user said something; the answer comes when the turn is over.
    ///
    /// Method `session/prompt`. Spec: [`PromptRequest`](https://agentclientprotocol.com/protocol/v1/schema#promptrequest)
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
        /// In which session.
        session_id: SessionId = "sessionId",
        /// What was said. Text and resource links always; the rest where `promptCapabilities` says so.
        prompt: Vec<ContentBlock> = "prompt",
    }
    and "_meta"
}

object! {
    /// The turn is over.
    ///
    /// Method `session/prompt`. Spec: [`PromptResponse`](https://agentclientprotocol.com/protocol/v1/schema#promptresponse)
    ///
    /// ```
    /// use acp_types::v1::prompt_turn::{PromptResponse, StopReason};
    ///
    /// let response: PromptResponse = serde_json::from_str(r#"{"stopReason":"end_turn"}"#)?;
    /// assert_eq!(response, PromptResponse::new(StopReason::EndTurn));
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub struct PromptResponse {
        /// Why it ended.
        stop_reason: StopReason = "stopReason",
    }
    optional {
        /// **Unstable.** The tokens that this turn took.
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
    /// assert_eq!((reason.as_str(), reason.is_known()), ("out_of_credits", false));
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub enum StopReason {
        /// The model finished without asking for another tool.
        EndTurn = "end_turn",
        /// The token limit was reached.
        MaxTokens = "max_tokens",
        /// The agent asked the model as often as it may within a turn.
        MaxTurnRequests = "max_turn_requests",
        /// The agent refuses to go on.
        Refusal = "refusal",
        /// The client cancelled the turn.
        Cancelled = "cancelled",
    }
}

object! {
    /// The client cancels the turn of a session; the prompt is still answered, with `cancelled`.
    ///
    /// Method `session/cancel`. Spec: [`CancelNotification`](https://agentclientprotocol.com/protocol/v1/schema#cancelnotification)
    #[doc(alias = "session/cancel")]
    pub struct CancelNotification {
        /// Which one.
        session_id: SessionId = "sessionId",
    }
    and "_meta"
}

object! {
    /// The agent reports something of a session.
    ///
    /// Method `session/update`. Spec: [`SessionNotification`](https://agentclientprotocol.com/protocol/v1/schema#sessionnotification)
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
        /// A piece of what the user said, when a session is told again.
        UserMessageChunk(ContentChunk) = "user_message_chunk" [shared],
        /// A piece of what the agent says.
        AgentMessageChunk(ContentChunk) = "agent_message_chunk" [shared],
        /// A piece of what the agent thinks.
        AgentThoughtChunk(ContentChunk) = "agent_thought_chunk" [shared],
        /// The model asked for a tool.
        ToolCall(Box<ToolCall>) = "tool_call",
        /// A tool call has changed.
        ToolCallUpdate(Box<ToolCallUpdate>) = "tool_call_update",
        /// The plan as it is now, whole.
        Plan(Plan) = "plan",
        /// The commands as they are now, all of them.
        AvailableCommandsUpdate(AvailableCommandsUpdate) = "available_commands_update",
        /// The agent switched the session to a mode.
        CurrentModeUpdate(CurrentModeUpdate) = "current_mode_update",
        /// Options of the session have changed.
        ConfigOptionUpdate(ConfigOptionUpdate) = "config_option_update",
        /// What a list of sessions shows of this one has changed.
        SessionInfoUpdate(Box<SessionInfoUpdate>) = "session_info_update",
        /// How full the context is, and what the session has cost.
        UsageUpdate(UsageUpdate) = "usage_update",
        /// Something that the user may want to know now.
        Notice(Notice) = "notice",
        /// A compaction of the context begins or changes.
        CompactionUpdate(Box<CompactionUpdate>) = "compaction_update",
        /// A piece of a compaction's summary.
        CompactionSummaryChunk(Box<CompactionSummaryChunk>) = "compaction_summary_chunk",
        /// **Unstable.** A plan of several as it is now, whole.
        PlanUpdate(Box<PlanUpdate>) = "plan_update",
        /// **Unstable.** A plan of several is gone.
        PlanRemoved(PlanRemoved) = "plan_removed",
        /// **Unstable.** The session owns another, or that one has changed.
        SubagentUpdate(Box<SubagentUpdate>) = "subagent_update",
        /// **Unstable.** A message from one session to another, whole or changed.
        SessionMessage(Box<SessionMessage>) = "session_message",
        /// **Unstable.** A piece of a message from one session to another.
        SessionMessageChunk(Box<SessionMessageChunk>) = "session_message_chunk",
    }
}

object! {
    /// A piece of a message.
    ///
    /// Spec: [`ContentChunk`](https://agentclientprotocol.com/protocol/v1/schema#contentchunk)
    pub struct ContentChunk {
        /// The piece.
        content: ContentBlock = "content",
    }
    optional {
        /// Which message it belongs to; another one begins another message.
        message_id: MessageId = "messageId" [default_on_error],
    }
    and "_meta"
}
