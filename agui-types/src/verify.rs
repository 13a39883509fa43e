//! Verification of the order of events.
//!
//! A [`Verifier`] handles a stream event by event and reports which event breaks a [`Rule`]. The
//! [strict](Verifier::strict) verifier is for producers and checks every rule that the
//! specification imposes on them. The [tolerant](Verifier::tolerant) verifier is for consumers and
//! accepts what the first-party client accepts.
//!
//! The verifier compares events with the order of the stream and with one another. Decoding checks
//! the shape of an event.
//!
//! Spec: [Event Patterns, 1.0](https://ag-ui.com/spec/1.0/basic/patterns),
//! [Runs and Steps, 1.0](https://ag-ui.com/spec/1.0/events/lifecycle)
use crate::event::{
    Event, ReasoningEncryptedValueSubtype, ReasoningRole, RunFinishedEvent, RunFinishedOutcome,
    RunStartedEvent, TextMessageRole, ToolRole,
};
use crate::expand::{Expansion, Lanes};
use crate::id::{MessageId, ToolCallId};
use crate::input::RunAgentInput;
use alloc::vec::Vec;

mod run;
mod thread;

use crate::rule::Breach;
pub use crate::rule::{Rule, Violation};
use run::Run;
use thread::Thread;

/// Checks a stream of events against the rules.
///
/// It accepts chunks as the events they expand to, several runs in one stream and, if tolerant,
/// unknown events. An event that breaks a rule counts as not sent, except that it may have closed a
/// chunk stream. A caller that continues after a violation therefore gets meaningful results.
///
/// | state | `RUN_STARTED` | `RUN_FINISHED` | `RUN_ERROR` | any other |
/// |---|---|---|---|---|
/// | no event yet | active | violation | failed | violation |
/// | active | violation | closed, if no item is open | failed | checked against open items |
/// | closed | active, no item open | violation | failed | violation |
/// | failed | active, no item open | violation | violation | violation |
///
/// ```
/// use agui_types::event::{Event, RunStartedEvent, TextMessageContentEvent};
/// use agui_types::verify::{Rule, Verifier};
///
/// let mut verifier = Verifier::tolerant();
/// verifier.handle(&RunStartedEvent::new("t", "r").into())?;
/// let violation = verifier.handle(&TextMessageContentEvent::new("m", "Hi").into()).unwrap_err();
/// assert_eq!(violation.rule(), Rule::TextMessageNotOpen);
/// assert_eq!(
///     violation.to_string(),
///     r#"event 1 (TEXT_MESSAGE_CONTENT): a text message is opened before it is continued or closed; not so for "m""#
/// );
/// # Ok::<(), agui_types::verify::Violation>(())
/// ```
///
/// Spec: [Runs and Steps, 1.0](https://ag-ui.com/spec/1.0/events/lifecycle#the-run)
#[derive(Clone, Debug)]
pub struct Verifier {
    limit: usize,
    next_index: u64,
    state: State,
    run: Run,
    lanes: Lanes,
    /// State of the strict rules.
    thread: Option<Thread>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Fresh,
    Active,
    Closed,
    Failed,
}

impl Verifier {
    /// Default of [`with_limit`](Self::with_limit).
    pub const DEFAULT_LIMIT: usize = 100_000;

    /// Creates a verifier of every rule.
    ///
    /// Beyond the tolerant rules it checks that runs and threads match, identifiers are unique,
    /// tool calls are answered once and after their end, pending calls are listed exactly, and the
    /// stream has an end. It keeps the identifiers of the stream from its beginning, across runs.
    pub fn strict() -> Self {
        Self { thread: Some(Thread::default()), ..Self::tolerant() }
    }

    /// Creates a strict verifier for the answer to `input`.
    ///
    /// It accepts results for calls of earlier runs that are in `input`, and requires its thread
    /// and, at the end, its run.
    pub fn strict_for(input: &RunAgentInput) -> Self {
        Self { thread: Some(Thread::from_input(input)), ..Self::tolerant() }
    }

    /// Creates a verifier of the rules that the first-party client checks.
    pub fn tolerant() -> Self {
        Self {
            limit: Self::DEFAULT_LIMIT,
            next_index: 0,
            state: State::Fresh,
            run: Run::default(),
            lanes: Lanes::default(),
            thread: None,
        }
    }

    /// Sets the largest number of messages, tool calls, steps, subagents and runs that are kept.
    /// One event may exceed it; the next event is then a violation.
    #[must_use]
    pub fn with_limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    /// Handles the next event.
    ///
    /// # Errors
    /// The event breaks a rule. It counts as not sent.
    pub fn handle(&mut self, event: &Event) -> Result<(), Violation> {
        let index = self.next_index;
        self.next_index += 1;
        self.check(event).map_err(|breach| breach.into_violation(index, Some(event.tag())))
    }

    /// Handles the end of the stream.
    ///
    /// # Errors
    /// The stream may not end here. Only the strict verifier returns this error.
    pub fn finish(&self) -> Result<(), Violation> {
        let Some(thread) = &self.thread else { return Ok(()) };
        let ended = matches!(self.state, State::Closed | State::Failed);
        let checked = if ended { thread.check_requested() } else { Err(Rule::Truncated.into()) };
        checked.map_err(|breach| breach.into_violation(self.next_index, None))
    }

    /// Counts an event that was dropped.
    pub(crate) fn skip(&mut self) {
        self.next_index += 1;
    }

    /// Returns whether a strict verifier knows a message with this identifier.
    pub(crate) fn knows_message(&self, id: &MessageId) -> bool {
        self.thread.as_ref().is_some_and(|thread| thread.knows_message(id))
    }

    /// Returns whether a strict verifier knows a tool call with this identifier.
    pub(crate) fn knows_call(&self, id: &ToolCallId) -> bool {
        self.thread.as_ref().is_some_and(|thread| thread.knows_call(id))
    }

    /// Returns the calls of the run without a result, in order, for a strict verifier.
    pub(crate) fn pending_calls(&self) -> Vec<ToolCallId> {
        self.thread.iter().flat_map(Thread::pending).cloned().collect()
    }

    /// Returns the pending calls of agent tools.
    pub(crate) fn unanswered_calls(&self) -> Vec<ToolCallId> {
        let thread = self.thread.iter();
        let pending = thread.flat_map(|thread| thread.pending().map(move |id| (thread, id)));
        pending.filter(|(thread, id)| !thread.is_frontend(id)).map(|(_, id)| id.clone()).collect()
    }

    fn check(&mut self, event: &Event) -> Result<(), Breach> {
        if let Event::Unknown(unknown) = event {
            return Rule::UnknownEvent.holds(self.thread.is_none(), unknown.tag());
        }
        let kept = self.run.len() + self.lanes.len() + self.thread.as_ref().map_or(0, Thread::len);
        if kept > self.limit {
            return Err(Rule::TooMuch.into());
        }
        self.check_state(event)?;
        check_names(event)?;
        let Expansion { implied, content } = self.lanes.expand(event)?;
        for implied in implied.iter().chain(&content) {
            self.apply(implied)?;
        }
        match event {
            Event::TextMessageChunk(_)
            | Event::ToolCallChunk(_)
            | Event::ReasoningMessageChunk(_) => Ok(()),
            _ => self.apply(event),
        }
    }

    /// Checks that the event is allowed in the run's state.
    fn check_state(&self, event: &Event) -> Result<(), Breach> {
        let rule = match (self.state, event) {
            (State::Active, Event::RunStarted(_)) => Rule::RunActive,
            (_, Event::RunStarted(_)) | (State::Active, _) => return Ok(()),
            (State::Failed, _) => Rule::AfterError,
            (_, Event::RunError(_)) => return Ok(()),
            (State::Fresh, _) => Rule::FirstEvent,
            (State::Closed, _) => Rule::AfterFinish,
        };
        Err(rule.into())
    }

    /// Applies an event that is not a chunk.
    fn apply(&mut self, event: &Event) -> Result<(), Breach> {
        match event {
            Event::RunFinished(finished) => self.check_finish(finished)?,
            _ => self.run.check(event)?,
        }
        if let Some(thread) = &self.thread {
            thread.check(event, &self.run)?;
        }
        match event {
            Event::RunStarted(started) => self.start(started),
            Event::RunFinished(_) => self.end(State::Closed),
            Event::RunError(_) => self.end(State::Failed),
            _ => self.run.record(event),
        }
        if let Some(thread) = &mut self.thread {
            thread.record(event, &self.run);
        }
        Ok(())
    }

    fn check_finish(&self, event: &RunFinishedEvent) -> Result<(), Breach> {
        if let Some(RunFinishedOutcome::Interrupt(interrupt)) = &event.outcome {
            Rule::NoInterrupts.holds(!interrupt.interrupts.is_empty(), event.run_id.as_str())?;
        }
        self.run.check_closed()
    }

    fn start(&mut self, event: &RunStartedEvent) {
        self.end(State::Active);
        let messages = event.input.iter().flat_map(|input| &input.messages);
        messages.for_each(|message| self.run.own_message(message, false));
    }

    fn end(&mut self, state: State) {
        self.state = state;
        self.run = Run::default();
        self.lanes = Lanes::default();
    }
}

/// Checks that roles and subtypes are those of the schema. The first-party client rejects others as
/// well.
fn check_names(event: &Event) -> Result<(), Breach> {
    let unknown = match event {
        Event::TextMessageStart(e) => e.role.as_ref().filter(|role| !role.is_known()),
        Event::TextMessageChunk(e) => e.role.as_ref().filter(|role| !role.is_known()),
        _ => None,
    };
    let unknown = unknown.map(TextMessageRole::as_str).or(match event {
        Event::ToolCallResult(e) => {
            e.role.as_ref().filter(|role| !role.is_known()).map(ToolRole::as_str)
        }
        Event::ReasoningMessageStart(e) => {
            Some(&e.role).filter(|role| !role.is_known()).map(ReasoningRole::as_str)
        }
        Event::ReasoningEncryptedValue(e) => Some(&e.subtype)
            .filter(|subtype| !subtype.is_known())
            .map(ReasoningEncryptedValueSubtype::as_str),
        _ => None,
    });
    match unknown {
        Some(name) => Err(Rule::UnknownName.broken_for(name)),
        None => Ok(()),
    }
}
