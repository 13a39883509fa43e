//! States of a session, and background work.
//!
//! Spec: [Session
//! States](https://agentclientprotocol.com/protocol/v2/prompt-lifecycle#session-states)
pub use crate::shared::prompts::{ErrorStopReason, Usage, UsageMembers};
use crate::shared::session_setup::SessionId;
use crate::shared::terminals::TerminalId;
use crate::shared::tool_calls::ToolCallId;
use alloc::boxed::Box;
use alloc::vec::Vec;
use jsonrpc_core::wire::Extra;
use jsonrpc_core::{object, open_union};

open_union! {
    /// The state of a session. An unknown state counts as busy, never as idle.
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
    /// Spec: [`RunningStateUpdate`](https://agentclientprotocol.com/protocol/v2/schema#runningstateupdate)
    pub struct RunningStateUpdate {}
    optional {
        /// All background work. Absent if the agent does not report it, empty if there is no such
        /// work.
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
        /// All background work. Absent if the agent does not report it, empty if there is no such
        /// work.
        background: Vec<BackgroundWork> = "background" [default_on_error],
    }
    and "_meta"
}

object! {
    /// The state of a session is unknown.
    ///
    /// Spec: [`UnknownStateUpdate`](https://agentclientprotocol.com/protocol/v2/schema#unknownstateupdate)
    pub struct UnknownStateUpdate {}
    optional {
        /// All background work. Absent if the agent does not report it, empty if there is no such
        /// work.
        background: Vec<BackgroundWork> = "background" [default_on_error],
    }
    and "_meta"
}

object! {
    /// A session has no foreground work.
    ///
    /// Spec: [`IdleStateUpdate`](https://agentclientprotocol.com/protocol/v2/schema#idlestateupdate)
    pub struct IdleStateUpdate {}
    optional {
        /// **Unstable.** Token usage of the work that ended.
        usage: Box<Usage> = "usage" [default_on_error],
        /// All background work. Absent if the agent does not report it, empty if there is no such
        /// work.
        background: Vec<BackgroundWork> = "background" [default_on_error],
    }
    rest {
        /// The reason for the end of the work, if the agent reports it.
        stop_reason: StopReason,
    }
    and "_meta"
}

open_union! {
    /// The reason for the end of an agent's work. Agents may omit it.
    ///
    /// Spec: [schema](https://agentclientprotocol.com/protocol/v2/schema#idlestateupdate)
    pub enum StopReason by "stopReason" [default_on_error] {
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

open_union! {
    /// Background work of a session.
    ///
    /// Spec: [`BackgroundWork`](https://agentclientprotocol.com/protocol/v2/schema#backgroundwork)
    pub enum BackgroundWork by "type" {
        /// A terminal.
        Terminal(BackgroundTerminal) = "terminal",
        /// A tool call.
        ToolCall(BackgroundToolCall) = "tool_call",
        /// A subagent.
        Subagent(BackgroundSubagent) = "subagent",
    }
}

object! {
    /// A running terminal.
    ///
    /// Spec: [`BackgroundTerminal`](https://agentclientprotocol.com/protocol/v2/schema#backgroundterminal)
    pub struct BackgroundTerminal {
        /// Identifier of the terminal.
        terminal_id: TerminalId = "terminalId",
    }
    and "_meta"
}

object! {
    /// A running tool call.
    ///
    /// Spec: [`BackgroundToolCall`](https://agentclientprotocol.com/protocol/v2/schema#backgroundtoolcall)
    pub struct BackgroundToolCall {
        /// Identifier of the tool call.
        tool_call_id: ToolCallId = "toolCallId",
    }
    and "_meta"
}

object! {
    /// A working subagent.
    ///
    /// Spec: [`BackgroundSubagent`](https://agentclientprotocol.com/protocol/v2/schema#backgroundsubagent)
    pub struct BackgroundSubagent {
        /// Identifier of the session.
        session_id: SessionId = "sessionId",
    }
    and "_meta"
}
