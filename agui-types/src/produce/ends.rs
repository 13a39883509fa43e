//! The ends of a run.
use super::{EndKind, EventSink, Interrupts, OpenItem, Run, SendError};
use crate::event::{
    RunErrorEvent, RunFinishedCancelledOutcome, RunFinishedEvent, RunFinishedInterruptOutcome,
    RunFinishedOutcome, RunFinishedSuccessOutcome, ToolCallResultEvent,
};
use crate::usage::TokenUsage;
use alloc::string::String;
use alloc::vec::Vec;
use core::mem;

impl<S: EventSink> Run<S> {
    /// Ends the run with success. Calls of the application's tools are listed as pending.
    ///
    /// # Errors
    /// The run has ended.
    pub fn finish(&mut self) -> Result<(), SendError> {
        self.close_all(&EndKind::Finish)?;
        let pending = self.verifier.pending_calls();
        let mut success = RunFinishedSuccessOutcome::new();
        success.pending_tool_call_ids = Some(pending).filter(|pending| !pending.is_empty());
        self.end_with(RunFinishedOutcome::Success(success))
    }

    /// Ends the run with interrupts, which the next run's input has to answer.
    ///
    /// # Errors
    /// The run has ended.
    pub fn interrupt(&mut self, interrupts: Interrupts) -> Result<(), SendError> {
        let ending = EndKind::Interrupt(interrupts.into_list());
        self.close_all(&ending)?;
        let EndKind::Interrupt(interrupts) = ending else { return Ok(()) };
        let outcome = RunFinishedInterruptOutcome::new(interrupts);
        self.end_with(RunFinishedOutcome::Interrupt(outcome))
    }

    /// Ends the run as cancelled.
    ///
    /// # Errors
    /// The run has ended.
    pub fn cancel(&mut self) -> Result<(), SendError> {
        self.close_all(&EndKind::Cancel)?;
        self.end_with(RunFinishedOutcome::Cancelled(RunFinishedCancelledOutcome::new()))
    }

    /// Ends the run with an error. The code is for programs.
    ///
    /// # Errors
    /// The run has ended.
    pub fn fail(&mut self, message: &str, code: Option<&str>) -> Result<(), SendError> {
        self.close_all(&EndKind::Fail)?;
        let mut error = RunErrorEvent::new(message);
        error.code = code.map(String::from);
        error.usage = self.take_usage();
        self.ended = true;
        self.put(error.into())
    }

    fn end_with(&mut self, outcome: RunFinishedOutcome) -> Result<(), SendError> {
        let mut finished = RunFinishedEvent::new(self.thread_id.clone(), self.run_id.clone());
        finished.outcome = Some(outcome);
        finished.result = self.result.take();
        finished.usage = self.take_usage();
        self.ended = true;
        self.put(finished.into())
    }

    fn take_usage(&mut self) -> Option<Vec<TokenUsage>> {
        Some(mem::take(&mut self.usage)).filter(|usage| !usage.is_empty())
    }

    fn close_all(&mut self, ending: &EndKind) -> Result<(), SendError> {
        if self.ended {
            return Err(SendError::Ended);
        }
        while let Some(item) = self.open.last() {
            self.close(item, ending)?;
        }
        if matches!(ending, EndKind::Interrupt(_)) {
            return Ok(());
        }
        for call in self.verifier.unanswered_calls() {
            let message = self.new_message_id();
            self.put(ToolCallResultEvent::new(message, call, Self::NO_RESULT).into())?;
        }
        Ok(())
    }

    pub(super) fn close(&mut self, item: OpenItem, ending: &EndKind) -> Result<(), SendError> {
        self.put(item.end(ending))
    }
}
