//! Production of a run's events, with a guaranteed valid end.
//!
//! Spec: [Runs and Steps, 1.0](https://ag-ui.com/spec/1.0/events/lifecycle), [What a producer must
//! not do, 1.0](https://ag-ui.com/spec/1.0/basic/processing#what-a-producer-must-not-do)
use crate::PROTOCOL_VERSION;
use crate::content::Content;
use crate::enforce;
use crate::event::{
    Event, ReasoningEndEvent, ReasoningMessageContentEvent, ReasoningMessageEndEvent,
    ReasoningMessageStartEvent, ReasoningRole, ReasoningStartEvent, RunStartedEvent,
    TextMessageContentEvent, TextMessageEndEvent, TextMessageStartEvent, ToolCallArgsEvent,
    ToolCallEndEvent, ToolCallResultEvent, ToolCallStartEvent,
};
use crate::id::{MessageId, RunId, ThreadId, ToolCallId};
use crate::input::RunAgentInput;
use crate::usage::TokenUsage;
use crate::verify::Verifier;
use alloc::format;
use alloc::vec::Vec;
use jsonrpc_core::wire::Raw;

mod ends;
mod event_sink;
mod interrupts;
mod open;
mod send_error;

pub use event_sink::EventSink;
pub use interrupts::{DuplicateInterruptId, Interrupts};
pub use send_error::SendError;

use open::{EndKind, OpenItem, OpenItems};

/// One run, from `RUN_STARTED` to the event that ends it.
///
/// For any calls in any order, the events in the sink satisfy the [strict
/// verifier](Verifier::strict): an event that would break a rule is refused, and open items are
/// closed at the end. A run that is dropped before its end fails with the code
/// [`ABANDONED`](Self::ABANDONED).
///
/// | end | event | open items | agent tool calls without a result | application tool calls |
/// |---|---|---|---|---|
/// | [`finish`](Self::finish) | `RUN_FINISHED`, success | closed | receive [`NO_RESULT`](Self::NO_RESULT) | listed as pending |
/// | [`interrupt`](Self::interrupt) | `RUN_FINISHED`, interrupt | closed, subagents suspended | left to the next run | unchanged |
/// | [`cancel`](Self::cancel) | `RUN_FINISHED`, cancelled | closed, subagents in error | receive [`NO_RESULT`](Self::NO_RESULT) | unchanged |
/// | [`fail`](Self::fail) | `RUN_ERROR` | closed, subagents in error | receive [`NO_RESULT`](Self::NO_RESULT) | unchanged |
///
/// A tool belongs to the application if the input lists it. The result of a call is a
/// `TOOL_CALL_RESULT` event. A tool message in a `MESSAGES_SNAPSHOT` counts as a result here, but
/// not in the first-party client.
///
/// [`text`](Self::text), [`reasoning`](Self::reasoning) and [`tool_call`](Self::tool_call) open
/// their message or call if necessary. A tool call first closes open text and reasoning of the
/// agent, as older clients require. [`emit`](Self::emit) sends any other event, including those of
/// subagents. For a client before 1.0, pass the sink's events through a
/// [`Downgrade`](crate::profile::Downgrade).
///
/// ```
/// use agui_types::event::Event;
/// use agui_types::input::RunAgentInput;
/// use agui_types::produce::Run;
/// use agui_types::jsonrpc_core::wire;
///
/// let input: RunAgentInput = wire::decode(
///     r#"{"threadId":"t","runId":"r","messages":[],"tools":[{"name":"pick_colour","description":"Asks the user."}]}"#,
/// )?;
/// let mut run = Run::begin(&input, Vec::new());
/// let message = run.new_message_id();
/// run.text(&message, "Which colour?")?;
/// run.tool_call(&"c1".into(), "pick_colour", None)?;
/// run.arguments(&"c1".into(), "{}")?;
/// run.finish()?;
///
/// let types: Vec<_> = run.sink().iter().map(Event::tag).collect();
/// assert_eq!(types, [
///     "RUN_STARTED", "TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END",
///     "TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END", "RUN_FINISHED",
/// ]);
/// assert_eq!(
///     serde_json::to_string(run.sink().last().ok_or("nothing")?)?,
///     r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"success","pendingToolCallIds":["c1"]}}"#
/// );
/// assert!(run.text(&message, "More.").is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Spec: [The run, 1.0](https://ag-ui.com/spec/1.0/events/lifecycle#the-run)
#[derive(Debug)]
pub struct Run<S: EventSink> {
    sink: S,
    verifier: Verifier,
    thread_id: ThreadId,
    run_id: RunId,
    open: OpenItems,
    /// Number of events that opened an item.
    opened: usize,
    minted: u64,
    result: Option<Raw>,
    usage: Vec<TokenUsage>,
    ended: bool,
}

impl<S: EventSink> Run<S> {
    /// The `RUN_ERROR` code of a run that was dropped before its end.
    pub const ABANDONED: &'static str = "RUN_ABANDONED";

    /// Text of the result for a call without a result at the end of the run.
    pub const NO_RESULT: &'static str = "The tool gave no result.";

    /// Largest number of messages, tool calls, activities, steps and subagents that a run opens.
    pub const MAX_ITEMS: usize = 50_000;

    /// Begins the run of `input` and sends `RUN_STARTED`.
    pub fn begin(input: &RunAgentInput, sink: S) -> Self {
        let mut started = RunStartedEvent::new(input.thread_id.clone(), input.run_id.clone());
        started.protocol_version = Some(PROTOCOL_VERSION.into());
        started.parent_run_id.clone_from(&input.parent_run_id);
        let mut run = Self {
            sink,
            // `MAX_ITEMS` bounds the memory here, so that an end is always possible.
            verifier: Verifier::strict_for(input).with_limit(usize::MAX),
            thread_id: input.thread_id.clone(),
            run_id: input.run_id.clone(),
            open: OpenItems::default(),
            opened: 0,
            minted: 0,
            result: None,
            usage: Vec::new(),
            ended: false,
        };
        // The input's own run never breaks a rule.
        let _ = run.put(started.into());
        run
    }

    /// Returns the sink.
    pub fn sink(&self) -> &S {
        &self.sink
    }

    /// Returns whether the run has ended.
    pub fn is_ended(&self) -> bool {
        self.ended
    }

    /// Returns a message identifier that neither the input nor this run uses.
    pub fn new_message_id(&mut self) -> MessageId {
        loop {
            self.minted += 1;
            let id = MessageId::from(format!("{}-{}", self.run_id, self.minted));
            if !self.verifier.knows_message(&id) {
                return id;
            }
        }
    }

    /// Returns a tool call identifier that neither the input nor this run uses.
    pub fn new_tool_call_id(&mut self) -> ToolCallId {
        loop {
            self.minted += 1;
            let id = ToolCallId::from(format!("{}-{}", self.run_id, self.minted));
            if !self.verifier.knows_call(&id) {
                return id;
            }
        }
    }

    /// Appends to an assistant message, which is opened when necessary.
    ///
    /// # Errors
    /// The identifier belongs to another item, or the run has ended.
    pub fn text(&mut self, id: &MessageId, delta: &str) -> Result<(), SendError> {
        if !self.open.has(&OpenItem::Text(id.clone())) {
            self.emit(TextMessageStartEvent::new(id.clone()))?;
        }
        if delta.is_empty() {
            return Ok(());
        }
        self.emit(TextMessageContentEvent::new(id.clone(), delta))
    }

    /// Closes a message.
    ///
    /// # Errors
    /// The message is not open, or the run has ended.
    pub fn end_text(&mut self, id: &MessageId) -> Result<(), SendError> {
        self.emit(TextMessageEndEvent::new(id.clone()))
    }

    /// Appends to a reasoning message in a span of the same identifier. Both are opened when
    /// necessary.
    ///
    /// # Errors
    /// The identifier belongs to another item, or the run has ended.
    pub fn reasoning(&mut self, id: &MessageId, delta: &str) -> Result<(), SendError> {
        if !self.open.has(&OpenItem::Reasoning(id.clone())) {
            let start = ReasoningMessageStartEvent::new(id.clone(), ReasoningRole::Reasoning);
            if !self.open.has(&OpenItem::Span(id.clone())) {
                self.emit(ReasoningStartEvent::new(id.clone()))?;
            }
            self.emit(start)?;
        }
        if delta.is_empty() {
            return Ok(());
        }
        self.emit(ReasoningMessageContentEvent::new(id.clone(), delta))
    }

    /// Closes a reasoning message, and its span if that is open.
    ///
    /// # Errors
    /// The message is not open, or the run has ended.
    pub fn end_reasoning(&mut self, id: &MessageId) -> Result<(), SendError> {
        self.emit(ReasoningMessageEndEvent::new(id.clone()))?;
        if self.open.has(&OpenItem::Span(id.clone())) {
            self.emit(ReasoningEndEvent::new(id.clone()))?;
        }
        Ok(())
    }

    /// Opens a tool call, in the assistant message `parent` if given. The agent's own text and
    /// reasoning messages are closed first.
    ///
    /// # Errors
    /// The call is already open, existed with another tool or message, or the run has ended.
    pub fn tool_call(
        &mut self,
        id: &ToolCallId,
        name: &str,
        parent: Option<&MessageId>,
    ) -> Result<(), SendError> {
        for item in self.open.words() {
            self.close(item, &EndKind::Finish)?;
        }
        let mut start = ToolCallStartEvent::new(id.clone(), name);
        start.parent_message_id = parent.cloned();
        self.emit(start)
    }

    /// Appends to the arguments of a call: a piece of a JSON document.
    ///
    /// # Errors
    /// The call is not open, or the run has ended.
    pub fn arguments(&mut self, id: &ToolCallId, delta: &str) -> Result<(), SendError> {
        self.emit(ToolCallArgsEvent::new(id.clone(), delta))
    }

    /// Closes a call: its arguments are complete.
    ///
    /// # Errors
    /// The call is not open, or the run has ended.
    pub fn end_tool_call(&mut self, id: &ToolCallId) -> Result<(), SendError> {
        self.emit(ToolCallEndEvent::new(id.clone()))
    }

    /// Sends the result of an agent tool, for a call of this run or of an earlier one. An open call
    /// is closed first. Returns the identifier of the resulting message.
    ///
    /// # Errors
    /// The call is unknown, already has a result, or belongs to an application tool; or the run has
    /// ended.
    pub fn tool_result(
        &mut self,
        id: &ToolCallId,
        content: impl Into<Content>,
    ) -> Result<MessageId, SendError> {
        if self.open.has(&OpenItem::Call(id.clone())) {
            self.end_tool_call(id)?;
        }
        let message = self.new_message_id();
        self.emit(ToolCallResultEvent::new(message.clone(), id.clone(), content))?;
        Ok(message)
    }

    /// Sends any event that is not a chunk and neither begins nor ends a run.
    ///
    /// # Errors
    /// The event breaks a rule, contains material that AG-UI 1.0 does not describe, or is sent by
    /// this type itself; or the run has ended. The event is not sent.
    pub fn emit(&mut self, event: impl Into<Event>) -> Result<(), SendError> {
        let event = event.into();
        if self.ended {
            return Err(SendError::Ended);
        }
        match event {
            Event::RunStarted(_)
            | Event::RunFinished(_)
            | Event::RunError(_)
            | Event::TextMessageChunk(_)
            | Event::ToolCallChunk(_)
            | Event::ReasoningMessageChunk(_) => return Err(SendError::NotByHand),
            _ => {}
        }
        let (event, removals) = enforce::enforce_event(event);
        match event {
            Some(event) if removals.is_empty() => self.put(event),
            _ => Err(SendError::Undescribed(removals)),
        }
    }

    /// Sets the result of `RUN_FINISHED`. `null` counts as no result.
    pub fn set_result(&mut self, result: Raw) {
        self.result = Some(result).filter(|result| result.as_str() != "null");
    }

    /// Adds token usage, reported when the run finishes or fails.
    pub fn add_usage(&mut self, usage: TokenUsage) {
        self.usage.push(usage);
    }

    /// Sends an event if no rule forbids it.
    fn put(&mut self, event: Event) -> Result<(), SendError> {
        let opens = open::weight(&event);
        if self.opened.saturating_add(opens) > Self::MAX_ITEMS {
            return Err(SendError::TooMuch);
        }
        self.verifier.handle(&event)?;
        // Ends, and the results sent with them, do not count against the limit.
        self.opened += opens;
        self.open.record(&event);
        self.sink.put(event);
        Ok(())
    }
}

impl<S: EventSink> Drop for Run<S> {
    fn drop(&mut self) {
        // A run that has already ended refuses this, which is harmless.
        let _ = self.fail("the run was abandoned before its end", Some(Self::ABANDONED));
    }
}
