//! The order of events.
//!
//! A [`Verifier`] sees a stream event by event and says which one breaks a [`Rule`]. There are two of them: the
//! [strict](Verifier::strict) one is for producers and keeps every rule that the specification binds them to; the
//! [tolerant](Verifier::tolerant) one is for consumers and takes what the first-party client takes.
//!
//! It holds events against the order of a stream and against one another. Whether an event has the right shape is
//! settled when it is decoded.
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

mod rule;
mod run;
mod thread;

pub(crate) use rule::Breach;
pub use rule::{Rule, Violation};
pub(crate) use run::Owner;

use run::Run;
use thread::Thread;

/// Holds a stream of events against the rules.
///
/// It takes chunks for what they stand for, several runs in one stream, and events that it does not know (the strict
/// one takes none of those). An event that breaks a rule counts as not sent, except that it may have ended a chunk
/// stream; so one that goes on after a violation sees what follows in a state that makes sense.
///
/// | state | `RUN_STARTED` | `RUN_FINISHED` | `RUN_ERROR` | any other |
/// |---|---|---|---|---|
/// | no event yet | active | violation | failed | violation |
/// | active | violation | closed, if nothing is open | failed | held against what is open |
/// | closed | active, nothing open | violation | failed | violation |
/// | failed | active, nothing open | violation | violation | violation |
///
/// ```
/// use agui_types::event::{Event, TextMessageContentEvent, RunStartedEvent};
/// use agui_types::verify::{Rule, Verifier};
///
/// let mut verifier = Verifier::tolerant();
/// verifier.handle(&RunStartedEvent::new("t", "r").into())?;
/// let violation = verifier.handle(&TextMessageContentEvent::new("m", "Hi").into()).unwrap_err();
/// assert_eq!(violation.rule(), Rule::TextMessageNotOpen);
/// assert_eq!(
///     violation.to_string(),
///     r#"event 1 (TEXT_MESSAGE_CONTENT): a text message is opened before it goes on or closes; not so for "m""#
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
    /// What only strict rules are about.
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
    /// How many messages, tool calls, steps, subagents and runs are kept at most, unless another limit is set.
    pub const DEFAULT_LIMIT: usize = 100_000;

    /// A verifier that keeps every rule.
    ///
    /// Beyond what consumers look at it holds that runs and threads are what they say, identifiers are unique, tool
    /// calls are answered once and after their end, pending calls are listed right, and that the stream has an end.
    /// It remembers what the stream said from its begin on, across runs.
    pub fn strict() -> Self {
        Self { thread: Some(Thread::default()), ..Self::tolerant() }
    }

    /// A strict verifier for the answer to `input`.
    ///
    /// It knows the messages and tool calls that `input` brings, so results of calls from earlier runs are right, and
    /// expects its thread and, at the end, its run.
    pub fn strict_for(input: &RunAgentInput) -> Self {
        Self { thread: Some(Thread::from_input(input)), ..Self::tolerant() }
    }

    /// A verifier that keeps the rules which the first-party client keeps.
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

    /// Sets how many messages, tool calls, steps, subagents and runs are kept at most. One event may bring more than
    /// that at once; the next is then a violation.
    #[must_use]
    pub fn with_limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    /// Takes the next event.
    ///
    /// # Errors
    /// The event breaks a rule, and counts as not sent.
    pub fn handle(&mut self, event: &Event) -> Result<(), Violation> {
        let index = self.next_index;
        self.next_index += 1;
        self.check(event).map_err(|breach| breach.into_violation(index, Some(event.tag())))
    }

    /// Takes the end of the stream.
    ///
    /// # Errors
    /// The stream may not end here, which only the strict verifier minds.
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

    /// Whether a strict verifier knows a message of this identifier.
    pub(crate) fn knows_message(&self, id: &MessageId) -> bool {
        self.thread.as_ref().is_some_and(|thread| thread.knows_message(id))
    }

    /// Whether a strict verifier knows a tool call of this identifier.
    pub(crate) fn knows_call(&self, id: &ToolCallId) -> bool {
        self.thread.as_ref().is_some_and(|thread| thread.knows_call(id))
    }

    /// Calls of the run that have no result, in order, for a strict verifier.
    pub(crate) fn pending_calls(&self) -> Vec<ToolCallId> {
        self.thread.iter().flat_map(Thread::pending).cloned().collect()
    }

    /// Those of them whose tools the application does not offer.
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

    /// Checks that the run's state admits the event.
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

    /// Takes an event that is no chunk.
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

/// Checks that roles and subtypes are the schema's: neither the first-party client nor the schema takes others.
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
