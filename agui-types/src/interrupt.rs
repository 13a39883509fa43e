//! What a run waits for, and the answers.
//!
//! Spec: [Interrupts and Resume, 1.0](https://ag-ui.com/spec/1.0/basic/patterns/interrupt-resume)
use crate::Metadata;
use crate::id::{InterruptId, SubagentRunId, ToolCallId};
use alloc::string::String;
use jsonrpc_core::wire::{Extra, Raw};
use jsonrpc_core::{object, open_enum};

object! {
    /// Something that a run ended to ask for.
    ///
    /// Spec: [`Interrupt`, 1.0](https://ag-ui.com/spec/1.0/schema#interrupt)
    pub struct Interrupt {
        /// What the answer names.
        id: InterruptId = "id",
        /// Why, as an open string; in use are `tool_call`, `input_required` and `confirmation`.
        reason: String = "reason",
    }
    optional {
        /// For whoever answers, to read.
        message: String = "message",
        /// The call that is to be approved.
        tool_call_id: ToolCallId = "toolCallId",
        /// The form of the answer's payload, as a JSON Schema.
        response_schema: Extra = "responseSchema",
        /// Until when it can be answered, ISO 8601 by convention.
        expires_at: String = "expiresAt",
        /// Whatever the producer wants to add.
        metadata: Metadata = "metadata",
        /// The subagent's invocation that asks; absent for the agent itself.
        subagent_run_id: SubagentRunId = "subagentRunId",
    }
}

object! {
    /// The answer to an interrupt.
    ///
    /// Spec: [`ResumeEntry`, 1.0](https://ag-ui.com/spec/1.0/schema#resumeentry)
    pub struct ResumeEntry {
        /// The interrupt.
        interrupt_id: InterruptId = "interruptId",
        /// Whether it was answered.
        status: ResumeStatus = "status",
    }
    optional {
        /// The answer.
        payload: Raw = "payload",
        /// About the answer, not part of it.
        metadata: Metadata = "metadata",
    }
}

open_enum! {
    /// Whether an interrupt was answered.
    ///
    /// Spec: [`ResumeEntry`, 1.0](https://ag-ui.com/spec/1.0/schema#resumeentry)
    pub enum ResumeStatus {
        /// It was; a refusal is an answer.
        Resolved = "resolved",
        /// It was given up.
        Cancelled = "cancelled",
    }
}
