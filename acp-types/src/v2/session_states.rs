//! What a session is at, and what runs beside that.
//!
//! Spec: [Session States](https://agentclientprotocol.com/protocol/v2/prompt-lifecycle#session-states)
pub use crate::shared::prompts::{ErrorStopReason, Usage};
use crate::shared::session_setup::SessionId;
use crate::shared::terminals::TerminalId;
use crate::shared::tool_calls::ToolCallId;
use alloc::boxed::Box;
use alloc::vec::Vec;
use jsonrpc_core::wire::Extra;
use jsonrpc_core::{object, open_union};

open_union! {
    /// What a session is at. One that is unknown is busy, never idle.
    ///
    /// Spec: [`StateUpdate`](https://agentclientprotocol.com/protocol/v2/schema#stateupdate)
    ///
    /// ```
    /// use acp_types::v2::session_states::{StateUpdate, StopReason};
    ///
    /// let state: StateUpdate = serde_json::from_str(r#"{"state":"idle","stopReason":"end_turn"}"#)?;
    /// let StateUpdate::Idle(idle) = &state else { panic!("not idle") };
    /// assert!(matches!(idle.stop_reason, StopReason::EndTurn(_)));
    /// # Ok::<(), serde_json::Error>(())
    /// ```
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
    /// A session works.
    ///
    /// Spec: [`RunningStateUpdate`](https://agentclientprotocol.com/protocol/v2/schema#runningstateupdate)
    pub struct RunningStateUpdate {}
    optional {
        /// What runs beside it, all of it; absent when the agent does not say, empty when nothing runs.
        background: Vec<BackgroundWork> = "background" [default_on_error],
    }
    and "_meta"
}

object! {
    /// A session waits for the user.
    ///
    /// Spec: [`RequiresActionStateUpdate`](https://agentclientprotocol.com/protocol/v2/schema#requiresactionstateupdate)
    pub struct RequiresActionStateUpdate {}
    optional {
        /// What runs beside it, all of it; absent when the agent does not say, empty when nothing runs.
        background: Vec<BackgroundWork> = "background" [default_on_error],
    }
    and "_meta"
}

object! {
    /// **Unstable.** Nobody knows what a session is at.
    ///
    /// Spec: [`UnknownStateUpdate`](https://agentclientprotocol.com/protocol/v2/draft/schema#unknownstateupdate)
    pub struct UnknownStateUpdate {}
    optional {
        /// What runs beside it, all of it; absent when the agent does not say, empty when nothing runs.
        background: Vec<BackgroundWork> = "background" [default_on_error],
    }
    and "_meta"
}

object! {
    /// A session has nothing to do in the foreground.
    ///
    /// Spec: [`IdleStateUpdate`](https://agentclientprotocol.com/protocol/v2/schema#idlestateupdate)
    pub struct IdleStateUpdate {}
    optional {
        /// **Unstable.** The tokens that the work took which has ended.
        usage: Box<Usage> = "usage" [default_on_error],
        /// What runs beside it, all of it; absent when the agent does not say, empty when nothing runs.
        background: Vec<BackgroundWork> = "background" [default_on_error],
    }
    rest {
        /// Why its work ended, where the agent says so.
        stop_reason: StopReason,
    }
    and "_meta"
}

open_union! {
    /// Why an agent ended its work; an agent need not say so.
    ///
    /// Spec: [schema](https://agentclientprotocol.com/protocol/v2/schema#idlestateupdate)
    pub enum StopReason by "stopReason" [default_on_error] {
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

open_union! {
    /// Something that runs beside what the session is at.
    ///
    /// Spec: [`BackgroundWork`](https://agentclientprotocol.com/protocol/v2/schema#backgroundwork)
    pub enum BackgroundWork by "type" {
        /// A terminal.
        Terminal(BackgroundTerminal) = "terminal",
        /// A tool call.
        ToolCall(BackgroundToolCall) = "tool_call",
        /// **Unstable.** A session that this one owns.
        Subagent(BackgroundSubagent) = "subagent",
    }
}

object! {
    /// A terminal runs.
    ///
    /// Spec: [`BackgroundTerminal`](https://agentclientprotocol.com/protocol/v2/schema#backgroundterminal)
    pub struct BackgroundTerminal {
        /// Which one.
        terminal_id: TerminalId = "terminalId",
    }
    and "_meta"
}

object! {
    /// A tool call runs.
    ///
    /// Spec: [`BackgroundToolCall`](https://agentclientprotocol.com/protocol/v2/schema#backgroundtoolcall)
    pub struct BackgroundToolCall {
        /// Which one.
        tool_call_id: ToolCallId = "toolCallId",
    }
    and "_meta"
}

object! {
    /// **Unstable.** A session that this one owns works.
    ///
    /// Spec: [`BackgroundSubagent`](https://agentclientprotocol.com/protocol/v2/draft/schema#backgroundsubagent)
    pub struct BackgroundSubagent {
        /// Which one.
        session_id: SessionId = "sessionId",
    }
    and "_meta"
}
