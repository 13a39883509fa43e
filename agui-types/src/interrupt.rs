//! Interrupts of a run, and their answers.
//!
//! Spec: [Interrupts and Resume, 1.0](https://ag-ui.com/spec/1.0/basic/patterns/interrupt-resume)
use crate::Metadata;
use crate::id::{InterruptId, SubagentRunId, ToolCallId};
use alloc::string::String;
use jsonrpc_core::wire::{Extra, Raw};
use jsonrpc_core::{object, open_enum};

object! {
    /// A request for input that ended a run.
    ///
    /// Spec: [`Interrupt`, 1.0](https://ag-ui.com/spec/1.0/schema#interrupt)
    pub struct Interrupt {
        /// Identifier that the answer refers to.
        id: InterruptId = "id",
        /// Reason, an open string; `tool_call`, `input_required` and `confirmation` are in use.
        reason: String = "reason",
    }
    optional {
        /// Human-readable message.
        message: String = "message",
        /// The tool call to approve.
        tool_call_id: ToolCallId = "toolCallId",
        /// JSON Schema of the answer's payload.
        response_schema: Extra = "responseSchema",
        /// Expiry time, ISO 8601 by convention.
        expires_at: String = "expiresAt",
        /// Metadata of the producer.
        metadata: Metadata = "metadata",
        /// The subagent invocation that waits; absent for the agent itself.
        subagent_run_id: SubagentRunId = "subagentRunId",
    }
}

object! {
    /// The answer to an interrupt.
    ///
    /// Spec: [`ResumeEntry`, 1.0](https://ag-ui.com/spec/1.0/schema#resumeentry)
    pub struct ResumeEntry {
        /// Identifier of the interrupt.
        interrupt_id: InterruptId = "interruptId",
        /// Whether the interrupt was resolved or cancelled.
        status: ResumeStatus = "status",
    }
    optional {
        /// The answer's payload.
        payload: Raw = "payload",
        /// Metadata of the answer.
        metadata: Metadata = "metadata",
    }
}

open_enum! {
    /// The status of an interrupt.
    ///
    /// Spec: [`ResumeEntry`, 1.0](https://ag-ui.com/spec/1.0/schema#resumeentry)
    pub enum ResumeStatus {
        /// The interrupt was answered. A refusal is an answer.
        Resolved = "resolved",
        /// The interrupt was abandoned.
        Cancelled = "cancelled",
    }
}
