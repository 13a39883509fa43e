//! Agents that an agent hands work to.
//!
//! Spec: [Subagents, 1.0](https://ag-ui.com/spec/1.0/events/subagents)
use crate::id::{InterruptId, MessageId, SubagentRunId, ToolCallId};
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::Raw;
use jsonrpc_core::{object, open_union};

event! {
    /// Announces an invocation of a subagent.
    ///
    /// Spec: [`SubagentStartedEvent`, 1.0](https://ag-ui.com/spec/1.0/schema#subagentstartedevent)
    pub struct SubagentStartedEvent {
        /// The invocation.
        subagent_run_id: SubagentRunId = "subagentRunId",
        /// The subagent.
        name: String = "name",
    }
    optional {
        /// What it is for.
        description: String = "description",
        /// The invocation that spawned it; absent for the agent itself.
        parent_subagent_run_id: SubagentRunId = "parentSubagentRunId",
        /// The tool call that it works for.
        parent_tool_call_id: ToolCallId = "parentToolCallId",
        /// The message that it works for.
        parent_message_id: MessageId = "parentMessageId",
    }
    subagent
}

event! {
    /// Closes an invocation.
    ///
    /// Spec: [`SubagentFinishedEvent`, 1.0](https://ag-ui.com/spec/1.0/schema#subagentfinishedevent)
    pub struct SubagentFinishedEvent {
        /// The invocation.
        subagent_run_id: SubagentRunId = "subagentRunId",
    }
    optional {
        /// What it gives back.
        result: Raw = "result",
        /// How it ended; absent means success.
        outcome: SubagentFinishedOutcome = "outcome",
    }
    subagent
}

open_union! {
    /// How an invocation ended that did not fail.
    ///
    /// Spec: [`SubagentFinishedOutcome`, 1.0](https://ag-ui.com/spec/1.0/schema#subagentfinishedoutcome)
    pub enum SubagentFinishedOutcome by "type" {
        /// It is complete.
        Success(SubagentFinishedSuccessOutcome) = "success",
        /// It waits; a later run may go on with it.
        Suspended(SubagentFinishedSuspendedOutcome) = "suspended",
    }
}

object! {
    /// The invocation is complete.
    ///
    /// Spec: [`SubagentFinishedSuccessOutcome`, 1.0](https://ag-ui.com/spec/1.0/schema#subagentfinishedsuccessoutcome)
    pub struct SubagentFinishedSuccessOutcome {}
}

object! {
    /// The invocation waits for something from outside.
    ///
    /// Spec: [`SubagentFinishedSuspendedOutcome`, 1.0](https://ag-ui.com/spec/1.0/schema#subagentfinishedsuspendedoutcome)
    pub struct SubagentFinishedSuspendedOutcome {}
    optional {
        /// The interrupts that it waits for.
        interrupt_ids: Vec<InterruptId> = "interruptIds",
    }
}

event! {
    /// Ends an invocation that failed; the run goes on.
    ///
    /// Spec: [`SubagentErrorEvent`, 1.0](https://ag-ui.com/spec/1.0/schema#subagenterrorevent)
    pub struct SubagentErrorEvent {
        /// The invocation.
        subagent_run_id: SubagentRunId = "subagentRunId",
        /// What went wrong, for people to read.
        message: String = "message",
    }
    optional {
        /// What went wrong, for programs; an open string.
        code: String = "code",
    }
    subagent
}
