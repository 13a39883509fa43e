//! The strict verifier's knowledge of a conversation across runs.
use super::run::Run;
use crate::event::{
    ActivitySnapshotEvent, Event, ReasoningEndEvent, ReasoningMessageStartEvent, RunFinishedEvent,
    RunFinishedOutcome, RunStartedEvent, SubagentFinishedOutcome, TextMessageRole,
    TextMessageStartEvent, ToolCallResultEvent, ToolCallStartEvent,
};
use crate::id::{MessageId, Owner, RunId, SubagentRunId, ThreadId, ToolCallId};
use crate::input::RunAgentInput;
use crate::interrupt::Interrupt;
use crate::message::Message;
use crate::rule::{Breach, Rule};
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

/// The strict verifier's knowledge of a conversation, in addition to the open items of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct Thread {
    id: Option<ThreadId>,
    requested: Option<RunId>,
    frontend_tools: BTreeSet<String>,
    runs: BTreeSet<RunId>,
    current: Option<RunId>,
    messages: BTreeMap<MessageId, MessageKind>,
    calls: BTreeMap<ToolCallId, Call>,
    /// Calls of the current run, in order.
    made: Vec<ToolCallId>,
    /// Number of runs so far.
    run_count: u64,
    /// Invocations that own an item of the current run.
    tags: BTreeSet<SubagentRunId>,
}

/// The kind of item that a message identifier denotes.
#[derive(Clone, Debug, PartialEq)]
enum MessageKind {
    Text { role: Box<str>, name: Option<String>, owner: Owner },
    Reasoning { owner: Owner },
    ToolResult,
    Activity { owner: Owner },
    Other,
}

#[derive(Clone, Debug)]
struct Call {
    name: String,
    /// The message that holds the call; the outer `None` means unknown.
    parent: Option<Option<MessageId>>,
    owner: Owner,
    answered: bool,
    /// The last run of the call, as a value of `run_count`; zero for a call before the stream.
    run: u64,
}

impl Thread {
    /// Creates the state of a stream that begins with this input.
    pub(super) fn from_input(input: &RunAgentInput) -> Self {
        let mut thread = Self {
            id: Some(input.thread_id.clone()),
            requested: Some(input.run_id.clone()),
            ..Self::default()
        };
        thread.learn_input(input);
        thread
    }

    /// Returns the number of kept items.
    pub(super) fn len(&self) -> usize {
        let run = self.made.len() + self.tags.len();
        self.messages.len() + self.calls.len() + self.runs.len() + run
    }

    pub(super) fn knows_message(&self, id: &MessageId) -> bool {
        self.messages.contains_key(id)
    }

    pub(super) fn knows_call(&self, id: &ToolCallId) -> bool {
        self.calls.contains_key(id)
    }

    /// Returns the calls of the current run without a result, in order.
    pub(super) fn pending(&self) -> impl Iterator<Item = &ToolCallId> {
        let answered = |id: &ToolCallId| self.calls.get(id).is_some_and(|call| call.answered);
        self.made.iter().filter(move |id| !answered(id))
    }

    /// Returns whether the application provides the tool of a call.
    pub(super) fn is_frontend(&self, id: &ToolCallId) -> bool {
        self.calls.get(id).is_some_and(|call| self.frontend_tools.contains(&call.name))
    }

    /// Checks an event against the conversation; `run` has the open items.
    pub(super) fn check(&self, event: &Event, run: &Run) -> Result<(), Breach> {
        match event {
            Event::RunStarted(e) => self.check_start(e),
            Event::RunFinished(e) => self.check_finish(e),
            Event::TextMessageStart(e) => self.check_text(e),
            Event::ReasoningMessageStart(e) => self.check_reasoning(e),
            Event::ReasoningEnd(e) => check_span(e, run),
            Event::ToolCallStart(e) => self.check_call(e, run),
            Event::ToolCallResult(e) => self.check_result(e, run),
            Event::ActivitySnapshot(e) => self.check_activity(e),
            Event::ActivityDelta(e) => {
                let known =
                    matches!(self.messages.get(&e.message_id), Some(MessageKind::Activity { .. }));
                Rule::ActivityUnknown.holds(known, e.message_id.as_str())
            }
            Event::SubagentStarted(e) => {
                let late = self.tags.contains(&e.subagent_run_id);
                Rule::SubagentLate.holds(!late, e.subagent_run_id.as_str())
            }
            Event::SubagentFinished(e) => match &e.outcome {
                Some(SubagentFinishedOutcome::Unknown(other)) => {
                    Err(Rule::UnknownOutcome.broken_for(other.tag()))
                }
                _ => Ok(()),
            },
            _ => Ok(()),
        }
    }

    /// Records what a valid event adds to the conversation.
    pub(super) fn record(&mut self, event: &Event, run: &Run) {
        if let Some(tag) = event.subagent_run_id() {
            self.tags.insert(tag.clone());
        }
        match event {
            Event::RunStarted(e) => {
                self.id = Some(e.thread_id.clone());
                self.current = Some(e.run_id.clone());
                self.runs.insert(e.run_id.clone());
                self.run_count += 1;
                self.made.clear();
                self.tags.clear();
                if let Some(input) = &e.input {
                    self.learn_input(input);
                }
            }
            Event::MessagesSnapshot(e) => self.learn(&e.messages, true),
            Event::TextMessageStart(e) => {
                let role = e.role.as_ref().unwrap_or(&TextMessageRole::Assistant).as_str().into();
                let name = e.name.clone();
                let owner = e.subagent_run_id.clone();
                self.meet(&e.message_id, MessageKind::Text { role, name, owner });
            }
            Event::ReasoningMessageStart(e) => {
                self.meet(
                    &e.message_id,
                    MessageKind::Reasoning { owner: e.subagent_run_id.clone() },
                );
            }
            Event::ActivitySnapshot(e) if e.replace == Some(false) => {
                self.meet(
                    &e.message_id,
                    MessageKind::Activity { owner: e.subagent_run_id.clone() },
                );
            }
            Event::ActivitySnapshot(e) => {
                let activity = MessageKind::Activity { owner: e.subagent_run_id.clone() };
                self.messages.insert(e.message_id.clone(), activity);
            }
            Event::ToolCallStart(e) => {
                let owner = run.call_owner(&e.tool_call_id).cloned().flatten();
                let call = self.calls.entry(e.tool_call_id.clone()).or_insert_with(|| Call {
                    name: e.tool_call_name.clone(),
                    parent: Some(e.parent_message_id.clone()),
                    owner,
                    answered: false,
                    run: 0,
                });
                if call.run != self.run_count {
                    call.run = self.run_count;
                    self.made.push(e.tool_call_id.clone());
                }
            }
            Event::ToolCallResult(e) => {
                self.meet(&e.message_id, MessageKind::ToolResult);
                if let Some(call) = self.calls.get_mut(&e.tool_call_id) {
                    call.answered = true;
                }
            }
            _ => {}
        }
    }

    /// Checks that the last run of the stream is the requested one.
    pub(super) fn check_requested(&self) -> Result<(), Breach> {
        match (&self.current, &self.requested) {
            (Some(current), Some(requested)) => {
                Rule::RunNotRequested.holds(current == requested, current.as_str())
            }
            _ => Ok(()),
        }
    }

    fn meet(&mut self, id: &MessageId, known: MessageKind) {
        self.messages.entry(id.clone()).or_insert(known);
    }

    fn learn_input(&mut self, input: &RunAgentInput) {
        self.learn(&input.messages, false);
        let tools = input.tools.iter().flatten();
        self.frontend_tools.extend(tools.map(|tool| tool.name.clone()));
    }

    /// Records messages; `restated` ones replace what is known already.
    fn learn(&mut self, messages: &[Message], restated: bool) {
        for message in messages {
            let Some(id) = message.id() else { continue };
            if restated || !self.messages.contains_key(&id) {
                self.messages.insert(id, MessageKind::of(message));
            }
            match message {
                Message::Assistant(assistant) => {
                    for call in assistant.tool_calls.iter().flatten() {
                        self.calls.entry(call.id.clone()).or_insert_with(|| Call {
                            name: call.function.name.clone(),
                            parent: None,
                            owner: assistant.subagent_run_id.clone(),
                            answered: false,
                            run: 0,
                        });
                    }
                }
                Message::Tool(tool) => {
                    if let Some(call) = self.calls.get_mut(&tool.tool_call_id) {
                        call.answered = true;
                    }
                }
                _ => {}
            }
        }
    }

    fn check_start(&self, event: &RunStartedEvent) -> Result<(), Breach> {
        let version = event.protocol_version.as_deref().unwrap_or_default();
        Rule::ProtocolVersion.holds(is_version(version), version)?;
        let same = self.id.as_ref().is_none_or(|id| *id == event.thread_id);
        Rule::ThreadChanged.holds(same, event.thread_id.as_str())?;
        Rule::RunReused.holds(!self.runs.contains(&event.run_id), event.run_id.as_str())
    }

    fn check_finish(&self, event: &RunFinishedEvent) -> Result<(), Breach> {
        let same = self.id.as_ref() == Some(&event.thread_id);
        Rule::ThreadChanged.holds(same, event.thread_id.as_str())?;
        let same = self.current.as_ref() == Some(&event.run_id);
        Rule::RunChanged.holds(same, event.run_id.as_str())?;
        match &event.outcome {
            Some(RunFinishedOutcome::Success(success)) => match &success.pending_tool_call_ids {
                Some(listed) => self.check_pending(listed),
                None => Ok(()),
            },
            Some(RunFinishedOutcome::Interrupt(interrupt)) => {
                check_interrupts(&interrupt.interrupts)
            }
            Some(RunFinishedOutcome::Unknown(other)) => {
                Err(Rule::UnknownOutcome.broken_for(other.tag()))
            }
            Some(RunFinishedOutcome::Cancelled(_)) | None => Ok(()),
        }
    }

    fn check_pending(&self, listed: &[ToolCallId]) -> Result<(), Breach> {
        let mut pending = self.pending();
        for id in listed {
            Rule::PendingToolCalls.holds(pending.next() == Some(id), id.as_str())?;
        }
        match pending.next() {
            Some(left_out) => Err(Rule::PendingToolCalls.broken_for(left_out.as_str())),
            None => Ok(()),
        }
    }

    fn check_text(&self, event: &TextMessageStartEvent) -> Result<(), Breach> {
        let id = event.message_id.as_str();
        match self.messages.get(&event.message_id) {
            None => Ok(()),
            Some(MessageKind::Text { role, name, owner }) => {
                let said = event.role.as_ref().map_or("assistant", TextMessageRole::as_str);
                let agrees = (said, &event.name, &event.subagent_run_id) == (&**role, name, owner);
                Rule::ReopenDisagrees.holds(agrees, id)
            }
            Some(_) => Err(Rule::MessageIdTaken.broken_for(id)),
        }
    }

    fn check_reasoning(&self, event: &ReasoningMessageStartEvent) -> Result<(), Breach> {
        let id = event.message_id.as_str();
        match self.messages.get(&event.message_id) {
            None => Ok(()),
            Some(MessageKind::Reasoning { owner }) => {
                Rule::ReopenDisagrees.holds(*owner == event.subagent_run_id, id)
            }
            Some(_) => Err(Rule::MessageIdTaken.broken_for(id)),
        }
    }

    fn check_call(&self, event: &ToolCallStartEvent, run: &Run) -> Result<(), Breach> {
        let id = event.tool_call_id.as_str();
        let parent = event.parent_message_id.as_ref();
        if let Some(known) = parent.and_then(|parent| self.messages.get(parent)) {
            let assistant =
                matches!(known, MessageKind::Text { role, .. } if &**role == "assistant");
            Rule::ParentNotAssistant.holds(assistant, id)?;
        }
        let Some(call) = self.calls.get(&event.tool_call_id) else { return Ok(()) };
        if run.is_call_open(&event.tool_call_id) {
            return Ok(());
        }
        let same_parent = call.parent.as_ref().is_none_or(|known| known.as_ref() == parent);
        let same_owner =
            event.subagent_run_id.as_ref().or(self.owner_of(parent)) == call.owner.as_ref();
        let agrees = call.name == event.tool_call_name && same_parent && same_owner;
        Rule::ReopenDisagrees.holds(agrees, id)
    }

    fn owner_of(&self, message: Option<&MessageId>) -> Option<&SubagentRunId> {
        match self.messages.get(message?)? {
            MessageKind::Text { owner, .. } => owner.as_ref(),
            _ => None,
        }
    }

    fn check_result(&self, event: &ToolCallResultEvent, run: &Run) -> Result<(), Breach> {
        let id = event.tool_call_id.as_str();
        let taken = self.messages.contains_key(&event.message_id);
        let call = self.calls.get(&event.tool_call_id);
        let call = call.ok_or_else(|| Rule::ToolCallUnknown.broken_for(id))?;
        Rule::ResultBeforeEnd.holds(!run.is_call_open(&event.tool_call_id), id)?;
        Rule::ToolCallAnswered.holds(!call.answered, id)?;
        Rule::FrontendToolAnswered.holds(!self.frontend_tools.contains(&call.name), id)?;
        Rule::MessageIdTaken.holds(!taken, event.message_id.as_str())
    }

    fn check_activity(&self, event: &ActivitySnapshotEvent) -> Result<(), Breach> {
        let id = event.message_id.as_str();
        match self.messages.get(&event.message_id) {
            None => Ok(()),
            Some(MessageKind::Activity { owner }) => {
                let agrees = event.replace != Some(false) || *owner == event.subagent_run_id;
                Rule::ReopenDisagrees.holds(agrees, id)
            }
            Some(_) => Err(Rule::MessageIdTaken.broken_for(id)),
        }
    }
}

impl MessageKind {
    fn of(message: &Message) -> Self {
        let text = |name: &Option<String>| Self::Text {
            role: message.tag().into(),
            name: name.clone(),
            owner: message.subagent_run_id().cloned(),
        };
        match message {
            Message::Developer(message) => text(&message.name),
            Message::System(message) => text(&message.name),
            Message::Assistant(message) => text(&message.name),
            Message::User(message) => text(&message.name),
            Message::Tool(_) => Self::ToolResult,
            Message::Activity(message) => Self::Activity { owner: message.subagent_run_id.clone() },
            Message::Reasoning(message) => {
                Self::Reasoning { owner: message.subagent_run_id.clone() }
            }
            Message::Unknown(_) => Self::Other,
        }
    }
}

fn check_span(event: &ReasoningEndEvent, run: &Run) -> Result<(), Breach> {
    let tag = event.subagent_run_id.as_ref();
    let id = &event.message_id;
    let agrees = match (run.span_owner(id), tag) {
        (Some(owner), Some(_)) => owner.as_ref() == tag,
        _ => true,
    };
    Rule::SpanOwner.holds(agrees, id.as_str())
}

fn check_interrupts(interrupts: &[Interrupt]) -> Result<(), Breach> {
    let mut ids = BTreeSet::new();
    interrupts.iter().try_for_each(|interrupt| {
        Rule::InterruptReused.holds(ids.insert(&interrupt.id), interrupt.id.as_str())
    })
}

/// Returns whether a text has the form of a published version: two numbers with a dot between them.
fn is_version(text: &str) -> bool {
    let number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    text.split_once('.').is_some_and(|(major, minor)| number(major) && number(minor))
}
