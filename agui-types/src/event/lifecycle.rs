//! Lifecycle events: runs and steps.
//!
//! Spec: [Runs and Steps, 1.0](https://ag-ui.com/spec/1.0/events/lifecycle)
use crate::id::{RunId, ThreadId, ToolCallId};
use crate::input::RunAgentInput;
use crate::interrupt::Interrupt;
use crate::usage::TokenUsage;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::Raw;
use jsonrpc_core::{object, open_union};

event! {
    /// Begins a run.
    ///
    /// Spec: [`RunStartedEvent`, 1.0](https://ag-ui.com/spec/1.0/events/lifecycle#run_started)
    #[doc(alias = "RUN_STARTED")]
    pub struct RunStartedEvent {
        /// The conversation.
        thread_id: ThreadId = "threadId",
        /// The run.
        run_id: RunId = "runId",
    }
    optional {
        /// Protocol version of the producer ([`PROTOCOL_VERSION`](crate::PROTOCOL_VERSION)).
        protocol_version: String = "protocolVersion",
        /// The run that started this one.
        parent_run_id: RunId = "parentRunId",
        /// The input that started the run.
        input: Box<RunAgentInput> = "input",
    }
}

event! {
    /// Ends a run without an error.
    ///
    /// Spec: [`RunFinishedEvent`, 1.0](https://ag-ui.com/spec/1.0/events/lifecycle#run_finished)
    #[doc(alias = "RUN_FINISHED")]
    pub struct RunFinishedEvent {
        /// The conversation.
        thread_id: ThreadId = "threadId",
        /// The run.
        run_id: RunId = "runId",
    }
    optional {
        /// Result of the run.
        result: Raw = "result",
        /// Outcome of the run; absent means success.
        outcome: RunFinishedOutcome = "outcome",
        /// Token usage, per provider and model.
        usage: Vec<TokenUsage> = "usage",
    }
}

open_union! {
    /// The outcome of a run that ended without an error.
    ///
    /// Spec: [`RunFinishedOutcome`, 1.0](https://ag-ui.com/spec/1.0/schema#runfinishedoutcome)
    pub enum RunFinishedOutcome by "type" {
        /// The run is complete.
        Success(RunFinishedSuccessOutcome) = "success",
        /// The run waits for answers to its interrupts.
        Interrupt(RunFinishedInterruptOutcome) = "interrupt",
        /// The run was cancelled.
        Cancelled(RunFinishedCancelledOutcome) = "cancelled",
    }
}

object! {
    /// The run is complete, possibly with tool calls that the application has to answer.
    ///
    /// Spec: [Frontend tools, 1.0](https://ag-ui.com/spec/1.0/events/tool-calls#frontend-tools)
    pub struct RunFinishedSuccessOutcome {}
    optional {
        /// Exactly the calls of this run without a result, in order of creation.
        pending_tool_call_ids: Vec<ToolCallId> = "pendingToolCallIds",
    }
}

object! {
    /// The run waits for answers, which the next run's input carries.
    ///
    /// Spec: [Interrupts and Resume,
    /// 1.0](https://ag-ui.com/spec/1.0/basic/patterns/interrupt-resume)
    pub struct RunFinishedInterruptOutcome {
        /// The interrupts; at least one.
        interrupts: Vec<Interrupt> = "interrupts",
    }
}

object! {
    /// The run was cancelled on purpose.
    ///
    /// Spec: [Cancelled runs, 1.0](https://ag-ui.com/spec/1.0/events/lifecycle#cancelled-runs)
    pub struct RunFinishedCancelledOutcome {}
}

event! {
    /// Ends a run with an error, or reports an error after its end.
    ///
    /// Spec: [`RunErrorEvent`, 1.0](https://ag-ui.com/spec/1.0/events/lifecycle#run_error)
    #[doc(alias = "RUN_ERROR")]
    pub struct RunErrorEvent {
        /// Human-readable error message.
        message: String = "message",
    }
    optional {
        /// Machine-readable error code, an open string.
        code: String = "code",
        /// Token usage, per provider and model.
        usage: Vec<TokenUsage> = "usage",
    }
}

event! {
    /// Begins a step of a run.
    ///
    /// Spec: [Steps, 1.0](https://ag-ui.com/spec/1.0/events/lifecycle#steps)
    #[doc(alias = "STEP_STARTED")]
    pub struct StepStartedEvent {
        /// Name of the step.
        step_name: String = "stepName",
    }
    attributable
}

event! {
    /// Ends a step of a run.
    ///
    /// Spec: [Steps, 1.0](https://ag-ui.com/spec/1.0/events/lifecycle#steps)
    #[doc(alias = "STEP_FINISHED")]
    pub struct StepFinishedEvent {
        /// Name of the step.
        step_name: String = "stepName",
    }
    attributable
}
