//! Events with an outcome in several fields: the ends of runs and of subagents.
use super::super::field::{DecodeError, EncodeError, Field, closed};
use super::super::message::{WireInterrupt, WireUsage};
use super::super::value::Value;
use super::{Base, base, read_base};
use crate::event::*;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::Extra;

written_out! {
    WireRunFinished = 12 {
        thread_id: String [string, tag = "2"],
        run_id: String [string, tag = "3"],
        result: Option<Value> [message, optional, tag = "4"],
        outcome: String [string, tag = "5"],
        interrupts: Vec<WireInterrupt> [message, repeated, tag = "6"],
        usage: Vec<WireUsage> [message, repeated, tag = "7"],
        pending_tool_call_ids: Vec<String> [string, repeated, tag = "8"],
    }
}

impl Field<WireRunFinished> for RunFinishedEvent {
    fn to_wire(&self) -> Result<WireRunFinished, EncodeError> {
        closed(&self.extra)?;
        let mut wire = WireRunFinished {
            base_event: base(
                WireRunFinished::TYPE,
                &self.timestamp,
                &self.raw_event,
                &self.metadata,
            )?,
            thread_id: self.thread_id.to_wire()?,
            run_id: self.run_id.to_wire()?,
            result: self.result.to_wire()?,
            usage: self.usage.to_wire()?,
            ..WireRunFinished::default()
        };
        let Some(outcome) = &self.outcome else { return Ok(wire) };
        wire.outcome = outcome.tag().into();
        match outcome {
            RunFinishedOutcome::Success(it) => {
                closed(&it.extra)?;
                wire.pending_tool_call_ids = it.pending_tool_call_ids.to_wire()?;
            }
            RunFinishedOutcome::Interrupt(it) => {
                closed(&it.extra)?;
                wire.interrupts = it.interrupts.to_wire()?;
            }
            RunFinishedOutcome::Cancelled(it) => closed(&it.extra)?,
            RunFinishedOutcome::Unknown(it) => return Err(EncodeError::Unknown(it.tag().into())),
        }
        Ok(wire)
    }

    fn from_wire(wire: WireRunFinished) -> Result<Self, DecodeError> {
        let mut event = Self::new(wire.thread_id, wire.run_id);
        (event.timestamp, event.raw_event, event.metadata) =
            read_base(wire.base_event, WireRunFinished::TYPE)?;
        event.result = Field::from_wire(wire.result)?;
        event.usage = Field::from_wire(wire.usage)?;
        event.outcome = match &*wire.outcome {
            "" => None,
            "success" => Some(RunFinishedOutcome::Success(RunFinishedSuccessOutcome {
                pending_tool_call_ids: Field::from_wire(wire.pending_tool_call_ids)?,
                extra: Extra::new(),
            })),
            "interrupt" => {
                let interrupts: Vec<_> = Field::from_wire(wire.interrupts)?;
                Some(RunFinishedOutcome::Interrupt(RunFinishedInterruptOutcome::new(interrupts)))
            }
            "cancelled" => Some(RunFinishedOutcome::Cancelled(RunFinishedCancelledOutcome::new())),
            other => return Err(unknown_outcome(other)),
        };
        Ok(event)
    }
}

written_out! {
    WireSubagentFinished = 17 {
        subagent_run_id: String [string, tag = "2"],
        result: Option<Value> [message, optional, tag = "3"],
        outcome: String [string, tag = "4"],
        interrupt_ids: Vec<String> [string, repeated, tag = "5"],
    }
}

impl Field<WireSubagentFinished> for SubagentFinishedEvent {
    fn to_wire(&self) -> Result<WireSubagentFinished, EncodeError> {
        closed(&self.extra)?;
        let mut wire = WireSubagentFinished {
            base_event: base(
                WireSubagentFinished::TYPE,
                &self.timestamp,
                &self.raw_event,
                &self.metadata,
            )?,
            subagent_run_id: self.subagent_run_id.to_wire()?,
            result: self.result.to_wire()?,
            ..WireSubagentFinished::default()
        };
        let Some(outcome) = &self.outcome else { return Ok(wire) };
        wire.outcome = outcome.tag().into();
        match outcome {
            SubagentFinishedOutcome::Success(it) => closed(&it.extra)?,
            SubagentFinishedOutcome::Suspended(it) => {
                closed(&it.extra)?;
                wire.interrupt_ids = it.interrupt_ids.to_wire()?;
            }
            SubagentFinishedOutcome::Unknown(it) => {
                return Err(EncodeError::Unknown(it.tag().into()));
            }
        }
        Ok(wire)
    }

    fn from_wire(wire: WireSubagentFinished) -> Result<Self, DecodeError> {
        let mut event = Self::new(wire.subagent_run_id);
        (event.timestamp, event.raw_event, event.metadata) =
            read_base(wire.base_event, WireSubagentFinished::TYPE)?;
        event.result = Field::from_wire(wire.result)?;
        event.outcome = match &*wire.outcome {
            "" => None,
            "success" => {
                Some(SubagentFinishedOutcome::Success(SubagentFinishedSuccessOutcome::new()))
            }
            "suspended" => {
                Some(SubagentFinishedOutcome::Suspended(SubagentFinishedSuspendedOutcome {
                    interrupt_ids: Field::from_wire(wire.interrupt_ids)?,
                    extra: Extra::new(),
                }))
            }
            other => return Err(unknown_outcome(other)),
        };
        Ok(event)
    }
}

fn unknown_outcome(name: &str) -> DecodeError {
    DecodeError::Value(alloc::format!("{name:?} is not an outcome"))
}
