//! Runs and steps.
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
    /// Opens a run.
    ///
    /// Spec: [`RunStartedEvent`, 1.0](https://ag-ui.com/spec/1.0/events/lifecycle#run_started)
    pub struct RunStartedEvent {
        /// The conversation.
        thread_id: ThreadId = "threadId",
        /// The run.
        run_id: RunId = "runId",
    }
    optional {
        /// What the producer speaks ([`PROTOCOL_VERSION`](crate::PROTOCOL_VERSION)).
        protocol_version: String = "protocolVersion",
        /// The run that spawned this one.
        parent_run_id: RunId = "parentRunId",
        /// What the run was started with.
        input: Box<RunAgentInput> = "input",
    }
}

event! {
    /// Closes a run that did not fail.
    ///
    /// Spec: [`RunFinishedEvent`, 1.0](https://ag-ui.com/spec/1.0/events/lifecycle#run_finished)
    pub struct RunFinishedEvent {
        /// The conversation.
        thread_id: ThreadId = "threadId",
        /// The run.
        run_id: RunId = "runId",
    }
    optional {
        /// What the run gives back.
        result: Raw = "result",
        /// How it ended; absent means success.
        outcome: RunFinishedOutcome = "outcome",
        /// What it used, per provider and model.
        usage: Vec<TokenUsage> = "usage",
    }
}

open_union! {
    /// How a run ended that did not fail.
    ///
    /// Spec: [`RunFinishedOutcome`, 1.0](https://ag-ui.com/spec/1.0/schema#runfinishedoutcome)
    pub enum RunFinishedOutcome by "type" {
        /// It is complete.
        Success(RunFinishedSuccessOutcome) = "success",
        /// It asks for something.
        Interrupt(RunFinishedInterruptOutcome) = "interrupt",
        /// It was stopped.
        Cancelled(RunFinishedCancelledOutcome) = "cancelled",
    }
}

object! {
    /// The run is complete, maybe with calls that the application is to answer.
    ///
    /// Spec: [Frontend tools, 1.0](https://ag-ui.com/spec/1.0/events/tool-calls#frontend-tools)
    pub struct RunFinishedSuccessOutcome {}
    optional {
        /// Exactly the calls of this run that have no result, in the order they were made.
        pending_tool_call_ids: Vec<ToolCallId> = "pendingToolCallIds",
    }
}

object! {
    /// The run asks for something that the next run's input has to bring.
    ///
    /// Spec: [Interrupts and Resume, 1.0](https://ag-ui.com/spec/1.0/basic/patterns/interrupt-resume)
    pub struct RunFinishedInterruptOutcome {
        /// What it asks for: one thing at least.
        interrupts: Vec<Interrupt> = "interrupts",
    }
}

object! {
    /// The run was stopped on purpose.
    ///
    /// Spec: [Cancelled runs, 1.0](https://ag-ui.com/spec/1.0/events/lifecycle#cancelled-runs)
    pub struct RunFinishedCancelledOutcome {}
}

event! {
    /// Ends a run that failed, or reports after its end that it did.
    ///
    /// Spec: [`RunErrorEvent`, 1.0](https://ag-ui.com/spec/1.0/events/lifecycle#run_error)
    pub struct RunErrorEvent {
        /// What went wrong, for people to read.
        message: String = "message",
    }
    optional {
        /// What went wrong, for programs; an open string.
        code: String = "code",
        /// What the run used, per provider and model.
        usage: Vec<TokenUsage> = "usage",
    }
}

event! {
    /// Opens a phase of a run.
    ///
    /// Spec: [Steps, 1.0](https://ag-ui.com/spec/1.0/events/lifecycle#steps)
    pub struct StepStartedEvent {
        /// The phase.
        step_name: String = "stepName",
    }
    attributable
}

event! {
    /// Closes a phase of a run.
    ///
    /// Spec: [Steps, 1.0](https://ag-ui.com/spec/1.0/events/lifecycle#steps)
    pub struct StepFinishedEvent {
        /// The phase.
        step_name: String = "stepName",
    }
    attributable
}
