//! Answering a request: a run that cannot end wrongly.
//!
//! Spec: [Runs and Steps, 1.0](https://ag-ui.com/spec/1.0/events/lifecycle),
//! [What a producer must not do, 1.0](https://ag-ui.com/spec/1.0/basic/processing#what-a-producer-must-not-do)
use crate::PROTOCOL_VERSION;
use crate::content::Content;
use crate::enforce::{self, Removal};
use crate::event::{
    Event, ReasoningEndEvent, ReasoningMessageContentEvent, ReasoningMessageEndEvent,
    ReasoningMessageStartEvent, ReasoningRole, ReasoningStartEvent, RunErrorEvent,
    RunFinishedCancelledOutcome, RunFinishedEvent, RunFinishedInterruptOutcome, RunFinishedOutcome,
    RunFinishedSuccessOutcome, RunStartedEvent, TextMessageContentEvent, TextMessageEndEvent,
    TextMessageStartEvent, ToolCallArgsEvent, ToolCallEndEvent, ToolCallResultEvent,
    ToolCallStartEvent,
};
use crate::id::{MessageId, RunId, ThreadId, ToolCallId};
use crate::input::RunAgentInput;
use crate::usage::TokenUsage;
use crate::verify::{Verifier, Violation};
use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::mem;
use jsonrpc_core::wire::Raw;

mod interrupts;
mod open;

pub use interrupts::{IdTaken, Interrupts};

use open::{Ending, Open, OpenItems};

/// One run, from `RUN_STARTED` to the one event that ends it.
///
/// Whatever is called, and in whatever order, what reaches the sink keeps every rule of the
/// [strict verifier](Verifier::strict): an event that would break one is refused, and what is open at the end is closed.
/// A run that is dropped before its end fails, with the code [`ABANDONED`](Self::ABANDONED).
///
/// | end | event | what is open | calls of the agent's tools without result | calls of the application's tools |
/// |---|---|---|---|---|
/// | [`finish`](Self::finish) | `RUN_FINISHED`, success | closed | a result says that there is none | listed as pending |
/// | [`interrupt`](Self::interrupt) | `RUN_FINISHED`, interrupt | closed, subagents suspended | left to the next run | left |
/// | [`cancel`](Self::cancel) | `RUN_FINISHED`, cancelled | closed, subagents in error | a result says that there is none | left |
/// | [`fail`](Self::fail) | `RUN_ERROR` | closed, subagents in error | a result says that there is none | left |
///
/// A tool is the application's if the input offers it. A `MESSAGES_SNAPSHOT` that has a call's tool message has its result
/// as well; the first-party client counts the events of results alone, so send those. The short forms ([`text`](Self::text),
/// [`reasoning`](Self::reasoning), [`tool_call`](Self::tool_call)) open what they go on with, and a tool call closes the
/// texts and thoughts of the agent itself before it, as clients of 2025 want it; [`emit`](Self::emit) takes any other
/// event, subagents' too. For a client before 1.0 put a [`Downgrade`](crate::profile::Downgrade) behind the sink.
///
/// ```
/// use agui_types::event::Event;
/// use agui_types::input::RunAgentInput;
/// use agui_types::produce::Run;
/// use jsonrpc_core::wire;
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
    /// How many events opened something.
    opened: usize,
    minted: u64,
    result: Option<Raw>,
    usage: Vec<TokenUsage>,
    ended: bool,
}

/// Where a run's events go: a list, a queue, or a function.
///
/// ```
/// use agui_types::input::RunAgentInput;
/// use agui_types::{produce::Run, sse};
/// use jsonrpc_core::wire;
///
/// let input: RunAgentInput = wire::decode(r#"{"threadId":"t","runId":"r","messages":[]}"#)?;
/// let mut body = Vec::new();
/// let mut run = Run::begin(&input, |event| sse::write_event(&mut body, &event).expect("JSON"));
/// run.text(&"m".into(), "Hello.")?;
/// drop(run);
/// assert!(String::from_utf8(body)?.ends_with("\"code\":\"RUN_ABANDONED\"}\n\n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Spec: [Event Streams, 1.0](https://ag-ui.com/spec/1.0/events)
pub trait EventSink {
    /// Takes the next event.
    fn put(&mut self, event: Event);
}

impl<F: FnMut(Event)> EventSink for F {
    fn put(&mut self, event: Event) {
        self(event);
    }
}

impl EventSink for Vec<Event> {
    fn put(&mut self, event: Event) {
        self.push(event);
    }
}

impl EventSink for VecDeque<Event> {
    fn put(&mut self, event: Event) {
        self.push_back(event);
    }
}

impl<S: EventSink> Run<S> {
    /// The code of `RUN_ERROR` for a run that was dropped before its end.
    pub const ABANDONED: &'static str = "RUN_ABANDONED";

    /// The text of the result that a call gets which has none at the end of the run.
    pub const NO_RESULT: &'static str = "The tool gave no result.";

    /// How many messages, tool calls, activities, steps and subagents a run opens at most.
    pub const MAX_ITEMS: usize = 50_000;

    /// Begins the run that `input` asks for: puts `RUN_STARTED`.
    pub fn begin(input: &RunAgentInput, sink: S) -> Self {
        let mut started = RunStartedEvent::new(input.thread_id.clone(), input.run_id.clone());
        started.protocol_version = Some(PROTOCOL_VERSION.into());
        started.parent_run_id.clone_from(&input.parent_run_id);
        let mut run = Self {
            sink,
            // What is kept is bounded here, so that there is always room for an end.
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
        // An input's own run is never against the rules.
        let _ = run.put(started.into());
        run
    }

    /// Where the events go.
    pub fn sink(&self) -> &S {
        &self.sink
    }

    /// Where the events go, to take some out.
    pub fn sink_mut(&mut self) -> &mut S {
        &mut self.sink
    }

    /// Whether the run has ended.
    pub fn is_ended(&self) -> bool {
        self.ended
    }

    /// A message identifier that nothing in the thread has, as far as the input and this run tell.
    pub fn new_message_id(&mut self) -> MessageId {
        loop {
            self.minted += 1;
            let id = MessageId::from(format!("{}-{}", self.run_id, self.minted));
            if !self.verifier.knows_message(&id) {
                return id;
            }
        }
    }

    /// A tool call identifier that no call in the thread has, as far as the input and this run tell.
    pub fn new_tool_call_id(&mut self) -> ToolCallId {
        loop {
            self.minted += 1;
            let id = ToolCallId::from(format!("{}-{}", self.run_id, self.minted));
            if !self.verifier.knows_call(&id) {
                return id;
            }
        }
    }

    /// Appends to a message of the assistant, which is opened if it is not open.
    ///
    /// # Errors
    /// The identifier is that of something else, or the run has ended.
    pub fn text(&mut self, id: &MessageId, delta: &str) -> Result<(), Refused> {
        if !self.open.has(&Open::Text(id.clone())) {
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
    /// It is not open, or the run has ended.
    pub fn end_text(&mut self, id: &MessageId) -> Result<(), Refused> {
        self.emit(TextMessageEndEvent::new(id.clone()))
    }

    /// Appends to what the model thinks: a message in a stretch of the same identifier, both opened if they are not open.
    ///
    /// # Errors
    /// The identifier is that of something else, or the run has ended.
    pub fn reasoning(&mut self, id: &MessageId, delta: &str) -> Result<(), Refused> {
        if !self.open.has(&Open::Reasoning(id.clone())) {
            let start = ReasoningMessageStartEvent::new(id.clone(), ReasoningRole::Reasoning);
            if !self.open.has(&Open::Span(id.clone())) {
                self.emit(ReasoningStartEvent::new(id.clone()))?;
            }
            self.emit(start)?;
        }
        if delta.is_empty() {
            return Ok(());
        }
        self.emit(ReasoningMessageContentEvent::new(id.clone(), delta))
    }

    /// Closes what the model thinks: the message, and the stretch if that is open.
    ///
    /// # Errors
    /// The message is not open, or the run has ended.
    pub fn end_reasoning(&mut self, id: &MessageId) -> Result<(), Refused> {
        self.emit(ReasoningMessageEndEvent::new(id.clone()))?;
        if self.open.has(&Open::Span(id.clone())) {
            self.emit(ReasoningEndEvent::new(id.clone()))?;
        }
        Ok(())
    }

    /// Opens a call of a tool, in the assistant message `parent` if there is one. Texts and thoughts of the agent itself
    /// are closed before.
    ///
    /// # Errors
    /// The call is open, or was one of another tool or message, or the run has ended.
    pub fn tool_call(
        &mut self,
        id: &ToolCallId,
        name: &str,
        parent: Option<&MessageId>,
    ) -> Result<(), Refused> {
        for item in self.open.words() {
            self.close(item, &Ending::Finish)?;
        }
        let mut start = ToolCallStartEvent::new(id.clone(), name);
        start.parent_message_id = parent.cloned();
        self.emit(start)
    }

    /// Appends to the arguments of a call: a piece of a JSON document.
    ///
    /// # Errors
    /// The call is not open, or the run has ended.
    pub fn arguments(&mut self, id: &ToolCallId, delta: &str) -> Result<(), Refused> {
        self.emit(ToolCallArgsEvent::new(id.clone(), delta))
    }

    /// Closes a call: its arguments are complete.
    ///
    /// # Errors
    /// The call is not open, or the run has ended.
    pub fn end_tool_call(&mut self, id: &ToolCallId) -> Result<(), Refused> {
        self.emit(ToolCallEndEvent::new(id.clone()))
    }

    /// Gives what a tool of the agent's gave back, for a call of this run or of an earlier one, which is closed before if
    /// it is open. Gives the identifier of the message that this makes.
    ///
    /// # Errors
    /// The call is unknown, has a result, or is one of the application's tools; or the run has ended.
    pub fn tool_result(
        &mut self,
        id: &ToolCallId,
        content: impl Into<Content>,
    ) -> Result<MessageId, Refused> {
        if self.open.has(&Open::Call(id.clone())) {
            self.end_tool_call(id)?;
        }
        let message = self.new_message_id();
        self.emit(ToolCallResultEvent::new(message.clone(), id.clone(), content))?;
        Ok(message)
    }

    /// Sends any event that is no chunk and neither begins nor ends a run.
    ///
    /// # Errors
    /// The event breaks a rule, has something that 1.0 does not describe, or is one that this type sends by itself; or
    /// the run has ended. It is not sent.
    pub fn emit(&mut self, event: impl Into<Event>) -> Result<(), Refused> {
        let event = event.into();
        if self.ended {
            return Err(Refused::Ended);
        }
        match event {
            Event::RunStarted(_)
            | Event::RunFinished(_)
            | Event::RunError(_)
            | Event::TextMessageChunk(_)
            | Event::ToolCallChunk(_)
            | Event::ReasoningMessageChunk(_) => return Err(Refused::NotByHand),
            _ => {}
        }
        let (event, removals) = enforce::enforce_event(event);
        match event {
            Some(event) if removals.is_empty() => self.put(event),
            _ => Err(Refused::Undescribed(removals)),
        }
    }

    /// What the run gives back when it finishes; a `null` is nothing.
    pub fn set_result(&mut self, result: Raw) {
        self.result = Some(result).filter(|result| result.as_str() != "null");
    }

    /// What the run used, per provider and model, told when it finishes or fails.
    pub fn add_usage(&mut self, usage: TokenUsage) {
        self.usage.push(usage);
    }

    /// Ends the run with success. Calls of the application's tools are listed as pending.
    ///
    /// # Errors
    /// The run has ended.
    pub fn finish(&mut self) -> Result<(), Refused> {
        self.close_all(&Ending::Finish)?;
        let pending = self.verifier.pending_calls();
        let mut success = RunFinishedSuccessOutcome::new();
        success.pending_tool_call_ids = Some(pending).filter(|pending| !pending.is_empty());
        self.end_with(RunFinishedOutcome::Success(success))
    }

    /// Ends the run with questions that the next one has to bring answers to.
    ///
    /// # Errors
    /// The run has ended.
    pub fn interrupt(&mut self, interrupts: Interrupts) -> Result<(), Refused> {
        let ending = Ending::Interrupt(interrupts.into_list());
        self.close_all(&ending)?;
        let Ending::Interrupt(interrupts) = ending else { return Ok(()) };
        let outcome = RunFinishedInterruptOutcome::new(interrupts);
        self.end_with(RunFinishedOutcome::Interrupt(outcome))
    }

    /// Ends the run because it was stopped.
    ///
    /// # Errors
    /// The run has ended.
    pub fn cancel(&mut self) -> Result<(), Refused> {
        self.close_all(&Ending::Cancel)?;
        self.end_with(RunFinishedOutcome::Cancelled(RunFinishedCancelledOutcome::new()))
    }

    /// Ends the run because something went wrong; the code is for programs.
    ///
    /// # Errors
    /// The run has ended.
    pub fn fail(&mut self, message: &str, code: Option<&str>) -> Result<(), Refused> {
        self.close_all(&Ending::Fail)?;
        let mut error = RunErrorEvent::new(message);
        error.code = code.map(String::from);
        error.usage = self.take_usage();
        self.ended = true;
        self.put(error.into())
    }

    fn end_with(&mut self, outcome: RunFinishedOutcome) -> Result<(), Refused> {
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

    fn close_all(&mut self, ending: &Ending) -> Result<(), Refused> {
        if self.ended {
            return Err(Refused::Ended);
        }
        while let Some(item) = self.open.last() {
            self.close(item, ending)?;
        }
        if matches!(ending, Ending::Interrupt(_)) {
            return Ok(());
        }
        for call in self.verifier.unanswered_calls() {
            let message = self.new_message_id();
            self.put(ToolCallResultEvent::new(message, call, Self::NO_RESULT).into())?;
        }
        Ok(())
    }

    fn close(&mut self, item: Open, ending: &Ending) -> Result<(), Refused> {
        self.put(item.end(ending))
    }

    /// Puts an event, if no rule is against it.
    fn put(&mut self, event: Event) -> Result<(), Refused> {
        let opens = open::weight(&event);
        if self.opened.saturating_add(opens) > Self::MAX_ITEMS {
            return Err(Refused::TooMuch);
        }
        self.verifier.handle(&event)?;
        // Ends and the results that come with them are never too much.
        self.opened += opens;
        self.open.note(&event);
        self.sink.put(event);
        Ok(())
    }
}

impl<S: EventSink> Drop for Run<S> {
    fn drop(&mut self) {
        // One that has ended says so, and that is all.
        let _ = self.fail("the run was given up before its end", Some(Self::ABANDONED));
    }
}

/// An event was not sent; the run goes on as if it had not been tried.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// The run has ended.
    #[error("the run has ended")]
    Ended,
    /// The event would break a rule.
    #[error(transparent)]
    Violation(#[from] Violation),
    /// The event begins or ends a run, or is a chunk: runs begin and end by methods, and deltas need no chunks.
    #[error("the run itself sends such events")]
    NotByHand,
    /// The event has something that 1.0 does not describe, and a producer must not send.
    #[error("the protocol does not describe what is in the event")]
    Undescribed(Vec<Removal>),
    /// The run has opened [as much as it may](Run::MAX_ITEMS).
    #[error("the run has opened as much as it may")]
    TooMuch,
}
