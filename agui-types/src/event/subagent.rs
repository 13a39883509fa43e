//! Subagent events: work that an agent delegates.
//!
//! Spec: [Subagents, 1.0](https://ag-ui.com/spec/1.0/events/subagents)
use crate::id::{InterruptId, MessageId, SubagentRunId, ToolCallId};
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::Raw;
use jsonrpc_core::{object, open_union};

event! {
    /// Begins a subagent invocation.
    ///
    /// Spec: [`SubagentStartedEvent`, 1.0](https://ag-ui.com/spec/1.0/schema#subagentstartedevent)
    #[doc(alias = "SUBAGENT_STARTED")]
    pub struct SubagentStartedEvent {
        /// The invocation.
        subagent_run_id: SubagentRunId = "subagentRunId",
        /// Name of the subagent.
        name: String = "name",
    }
    optional {
        /// Description of the task.
        description: String = "description",
        /// The invocation that started this one; absent for the agent itself.
        parent_subagent_run_id: SubagentRunId = "parentSubagentRunId",
        /// The tool call that the subagent works for.
        parent_tool_call_id: ToolCallId = "parentToolCallId",
        /// The message that the subagent works for.
        parent_message_id: MessageId = "parentMessageId",
    }
    subagent
}

event! {
    /// Ends a subagent invocation.
    ///
    /// Spec: [`SubagentFinishedEvent`,
    /// 1.0](https://ag-ui.com/spec/1.0/schema#subagentfinishedevent)
    #[doc(alias = "SUBAGENT_FINISHED")]
    pub struct SubagentFinishedEvent {
        /// The invocation.
        subagent_run_id: SubagentRunId = "subagentRunId",
    }
    optional {
        /// Result of the invocation.
        result: Raw = "result",
        /// Outcome of the invocation; absent means success.
        outcome: SubagentFinishedOutcome = "outcome",
    }
    subagent
}

open_union! {
    /// The outcome of an invocation that ended without an error.
    ///
    /// Spec: [`SubagentFinishedOutcome`,
    /// 1.0](https://ag-ui.com/spec/1.0/schema#subagentfinishedoutcome)
    pub enum SubagentFinishedOutcome by "type" {
        /// The invocation is complete.
        Success(SubagentFinishedSuccessOutcome) = "success",
        /// The invocation is suspended; a later run may resume it.
        Suspended(SubagentFinishedSuspendedOutcome) = "suspended",
    }
}

object! {
    /// The invocation is complete.
    ///
    /// Spec: [`SubagentFinishedSuccessOutcome`,
    /// 1.0](https://ag-ui.com/spec/1.0/schema#subagentfinishedsuccessoutcome)
    pub struct SubagentFinishedSuccessOutcome {}
}

object! {
    /// The invocation waits for external input.
    ///
    /// Spec: [`SubagentFinishedSuspendedOutcome`,
    /// 1.0](https://ag-ui.com/spec/1.0/schema#subagentfinishedsuspendedoutcome)
    pub struct SubagentFinishedSuspendedOutcome {}
    optional {
        /// The interrupts that have to be resolved.
        interrupt_ids: Vec<InterruptId> = "interruptIds",
    }
}

event! {
    /// Ends a subagent invocation with an error. The run continues.
    ///
    /// Spec: [`SubagentErrorEvent`, 1.0](https://ag-ui.com/spec/1.0/schema#subagenterrorevent)
    #[doc(alias = "SUBAGENT_ERROR")]
    pub struct SubagentErrorEvent {
        /// The invocation.
        subagent_run_id: SubagentRunId = "subagentRunId",
        /// Human-readable error message.
        message: String = "message",
    }
    optional {
        /// Machine-readable error code, an open string.
        code: String = "code",
    }
    subagent
}
