//! The events of a hub's runs, in order.
use crate::conversation::{RunEvent, RunOutput, RunRefused};
use agui_types::event::Event;
use agui_types::id::RunId;
use agui_types::run_log::{PushError, RunLog, RunOutcome};
use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// Size of the frames of an event, in bytes, up to which further texts are added to it.
const MAX_TEXT: usize = 64 << 10;

/// Capacity of new frames, in bytes, which most pieces of text do not exceed.
const TEXT_CAPACITY: usize = 512;

/// An event of a run, or why the run does not begin.
///
/// ```
/// # use agui_bridge::conversation::ConversationOptions;
/// # use agui_bridge::hub::{Hub, HubOptions};
/// use agui_types::run_log::{RunLog, RunLogLimits};
/// # let mut hub = Hub::new(HubOptions::new(ConversationOptions::new("/work")));
/// let input = jsonrpc_core::wire::decode(r#"{"threadId":"t","runId":"r","messages":[]}"#)?;
/// let mut log = RunLog::new(&input, RunLogLimits { events: 20_000, bytes: 8 << 20 });
/// while let Some(event) = hub.poll_run() {
///     event.append_to(&mut log)?;
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct HubRunEvent {
    /// Name of the run's thread.
    pub thread: Arc<str>,
    /// Id of the run.
    pub run_id: RunId,
    /// The event.
    pub output: HubRunOutput,
}

/// The content of a [`HubRunEvent`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum HubRunOutput {
    /// An event.
    Event(Event),
    /// Successive events with pieces of a message or thought, as server-sent events without ids
    /// for [`RunLog::push_written`].
    Text(Vec<u8>),
    /// A run that was [queued](crate::conversation::Acceptance::Queued) does not begin.
    Refused(RunRefused),
    /// A run that was [queued](crate::conversation::Acceptance::Queued) does not begin, because this
    /// earlier run had the same answers.
    Again(RunId),
}

impl HubRunEvent {
    /// Adds the event to the log of its run, and ends the log with the run. Does nothing if the run
    /// does not begin.
    ///
    /// # Errors
    /// The log has ended or is at twice its bound, or the event has no JSON form. It is not added
    /// then, and of a text the rest is not.
    pub fn append_to(&self, log: &mut RunLog) -> Result<(), PushError> {
        match &self.output {
            HubRunOutput::Event(event) => {
                log.push(event)?;
                if RunOutcome::of(event).is_some() {
                    log.end();
                }
            }
            HubRunOutput::Text(frames) => {
                log.push_written(frames)?;
            }
            HubRunOutput::Refused(_) | HubRunOutput::Again(_) => {}
        }
        Ok(())
    }

    /// Returns the outcome of the run, if the event ends it.
    pub fn outcome(&self) -> Option<RunOutcome> {
        match &self.output {
            HubRunOutput::Event(event) => RunOutcome::of(event),
            _ => None,
        }
    }
}

/// The events that are not polled yet.
#[derive(Debug, Default)]
pub(super) struct RunEvents(VecDeque<HubRunEvent>);

impl RunEvents {
    /// Adds an event of a conversation.
    pub(super) fn push(&mut self, thread: &Arc<str>, event: RunEvent) {
        let RunEvent { run_id, output } = event;
        let output = match output {
            RunOutput::Event(event) => HubRunOutput::Event(event),
            RunOutput::Refused(why) => HubRunOutput::Refused(why),
            RunOutput::Again(earlier) => HubRunOutput::Again(earlier),
        };
        self.0.push_back(HubRunEvent { thread: thread.clone(), run_id, output });
    }

    /// Adds a text of a run, which `write` appends to the given frames.
    pub(super) fn push_text(
        &mut self,
        thread: &Arc<str>,
        run_id: &RunId,
        write: impl FnOnce(&mut Vec<u8>),
    ) {
        if let Some(last) = self.0.back_mut()
            && let HubRunOutput::Text(frames) = &mut last.output
            && frames.len() < MAX_TEXT
            && Arc::ptr_eq(&last.thread, thread)
            && last.run_id == *run_id
        {
            return write(frames);
        }
        let mut frames = Vec::with_capacity(TEXT_CAPACITY);
        write(&mut frames);
        let thread = thread.clone();
        let run_id = run_id.clone();
        self.0.push_back(HubRunEvent { thread, run_id, output: HubRunOutput::Text(frames) });
    }

    pub(super) fn poll(&mut self) -> Option<HubRunEvent> {
        self.0.pop_front()
    }
}
