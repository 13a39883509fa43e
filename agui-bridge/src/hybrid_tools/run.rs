//! The stream of a model's run: text, reasoning, calls and results in order.
use crate::CancelReason;
use crate::ids::{self, Ids};
use crate::json::{self, Members};
use crate::usage::sum;
use agui_types::PROTOCOL_VERSION;
use agui_types::content::Content;
use agui_types::event::{
    Event, MessagesSnapshotEvent, ReasoningEndEvent, ReasoningMessageContentEvent,
    ReasoningMessageEndEvent, ReasoningMessageStartEvent, ReasoningRole, ReasoningStartEvent,
    RunErrorEvent, RunFinishedCancelledOutcome, RunFinishedEvent, RunFinishedOutcome,
    RunFinishedSuccessOutcome, RunStartedEvent, TextMessageContentEvent, TextMessageEndEvent,
    TextMessageRole, TextMessageStartEvent, ToolCallArgsEvent, ToolCallEndEvent,
    ToolCallResultEvent, ToolCallStartEvent,
};
use agui_types::id::{MessageId, RunId, ThreadId, ToolCallId};
use agui_types::input::RunAgentInput;
use agui_types::message::Message;
use agui_types::profile::{Downgrade, Profile};
use agui_types::usage::TokenUsage;
use alloc::collections::{BTreeSet, VecDeque};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::Raw;

/// Largest number of identifiers with a prefix of the run; later ones are plain numbers.
const MAX_IDS: usize = 100_000;
/// Largest size of an error message, in bytes.
const MAX_MESSAGE_BYTES: usize = 4096;

/// The error of a failed run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunFailure {
    /// Human-readable message.
    pub message: String,
    /// Machine-readable code.
    pub code: Option<String>,
}

impl RunFailure {
    /// Creates a failure with a code.
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self { message: message.into(), code: Some(code.into()) }
    }
}

/// One run, from its start to its end: the writer of its events.
///
/// For any calls in any order, the stream keeps every rule. A text or reasoning message is closed
/// before another item opens, and all items before the run ends. A call has one result after its
/// end, no event follows the end of the run, and no identifier of the input is reused. An
/// impossible call, such as a result without a tool call, has no effect and returns `false`.
///
/// The run ends when it is finished, paused, cancelled or failed. [Cancel](Self::cancel) or
/// [fail](Self::fail) a run that is abandoned, so that the page learns of it.
#[derive(Clone, Debug)]
pub struct HybridRun {
    thread_id: ThreadId,
    run_id: RunId,
    profile: Profile,
    downgrade: Downgrade,
    ids: Ids,
    open: Option<OpenMessage>,
    /// The assistant message of the next tool calls.
    parent: Option<MessageId>,
    calls: Vec<ModelCall>,
    offered: BTreeSet<String>,
    usage: Option<TokenUsage>,
    is_over: bool,
    events: VecDeque<Event>,
}

#[derive(Clone, Debug)]
enum OpenMessage {
    Text(MessageId),
    Reasoning { span: MessageId, message: MessageId },
}

#[derive(Clone, Debug)]
struct ModelCall {
    id: ToolCallId,
    name: String,
    is_open: bool,
    has_arguments: bool,
    is_answered: bool,
}

impl HybridRun {
    /// Begins the run of `input` with `RUN_STARTED`.
    pub fn begin(input: &RunAgentInput) -> Self {
        // Other runs of the thread number their messages as well.
        let scope = json::fingerprint(&[input.run_id.as_str()]) as u32;
        let mut ids = Ids::new(MAX_IDS).with_scope(&format!("{scope:08x}-"));
        for message in &input.messages {
            message.id().iter().for_each(|id| ids.reserve_message(id.as_str()));
            if let Message::Assistant(assistant) = message {
                assistant
                    .tool_calls
                    .iter()
                    .flatten()
                    .for_each(|call| ids.reserve(call.id.as_str()));
            }
        }
        let profile = Profile::of(input.protocol_version.as_deref());
        let mut run = Self {
            thread_id: input.thread_id.clone(),
            run_id: input.run_id.clone(),
            profile,
            downgrade: Downgrade::to(profile),
            ids,
            open: None,
            parent: None,
            calls: Vec::new(),
            offered: input.tools.iter().flatten().map(|tool| tool.name.clone()).collect(),
            usage: None,
            is_over: false,
            events: VecDeque::new(),
        };
        let mut started = RunStartedEvent::new(run.thread_id.clone(), run.run_id.clone());
        started.protocol_version = Some(PROTOCOL_VERSION.into());
        run.emit(started);
        run
    }

    /// Returns the next event of the stream, in the profile of the client that sent the input.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Returns whether the run has ended.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Returns the profile of the client.
    pub fn profile(&self) -> Profile {
        self.profile
    }

    /// Appends a piece of the model's text.
    pub fn text(&mut self, delta: &str) {
        if self.is_over || delta.is_empty() {
            return;
        }
        let id = match &self.open {
            Some(OpenMessage::Text(id)) => id.clone(),
            _ => {
                self.close_text();
                let id = MessageId::from(self.ids.numbered(ids::MESSAGE));
                let mut start = TextMessageStartEvent::new(id.clone());
                start.role = Some(TextMessageRole::Assistant);
                self.emit(start);
                self.open = Some(OpenMessage::Text(id.clone()));
                self.parent = Some(id.clone());
                id
            }
        };
        self.emit(TextMessageContentEvent::new(id, delta));
    }

    /// Appends a piece of the model's reasoning.
    pub fn reasoning(&mut self, delta: &str) {
        if self.is_over || delta.is_empty() {
            return;
        }
        let id = match &self.open {
            Some(OpenMessage::Reasoning { message, .. }) => message.clone(),
            _ => {
                self.close_text();
                let span = MessageId::from(self.ids.numbered(ids::SPAN));
                let message = MessageId::from(self.ids.numbered(ids::REASONING));
                self.emit(ReasoningStartEvent::new(span.clone()));
                let role = ReasoningRole::Reasoning;
                self.emit(ReasoningMessageStartEvent::new(message.clone(), role));
                self.open = Some(OpenMessage::Reasoning { span, message: message.clone() });
                message
            }
        };
        self.emit(ReasoningMessageContentEvent::new(id, delta));
    }

    /// Begins a tool call. Returns its id in the stream: `id`, unless the thread has used that.
    pub fn start_tool_call(&mut self, id: &ToolCallId, name: &str) -> ToolCallId {
        if self.is_over {
            return id.clone();
        }
        self.close_text();
        let id = ToolCallId::from(self.ids.tool_call(id.as_str()));
        let parent = match &self.parent {
            Some(parent) => parent.clone(),
            None => MessageId::from(self.ids.numbered(ids::MESSAGE)),
        };
        self.parent = Some(parent.clone());
        let mut start = ToolCallStartEvent::new(id.clone(), name);
        start.parent_message_id = Some(parent);
        self.emit(start);
        let is_open = true;
        let has_arguments = false;
        let is_answered = false;
        let call =
            ModelCall { id: id.clone(), name: name.into(), is_open, has_arguments, is_answered };
        self.calls.push(call);
        id
    }

    /// Appends a piece of a call's arguments.
    pub fn tool_call_arguments(&mut self, id: &ToolCallId, delta: &str) -> bool {
        let call = self.calls.iter_mut().find(|call| call.id == *id && call.is_open);
        let Some(call) = call.filter(|_| !self.is_over) else { return false };
        if !delta.is_empty() {
            call.has_arguments = true;
            self.emit(ToolCallArgsEvent::new(id.clone(), delta));
        }
        true
    }

    /// Ends a call's arguments. Absent arguments become `{}`.
    pub fn end_tool_call(&mut self, id: &ToolCallId) -> bool {
        let call = self.calls.iter_mut().find(|call| call.id == *id && call.is_open);
        let Some(call) = call.filter(|_| !self.is_over) else { return false };
        call.is_open = false;
        if !core::mem::replace(&mut call.has_arguments, true) {
            self.emit(ToolCallArgsEvent::new(id.clone(), "{}"));
        }
        self.emit(ToolCallEndEvent::new(id.clone()));
        true
    }

    /// Sends the result of a program's tool. A call of a page's tool receives none, since the page
    /// sends the result.
    pub fn tool_result(&mut self, id: &ToolCallId, content: impl Into<Content>) -> bool {
        let call = self.calls.iter().find(|call| call.id == *id && !call.is_answered);
        let own = call.is_some_and(|call| !self.offered.contains(&call.name));
        if self.is_over || !own {
            return false;
        }
        self.end_tool_call(id);
        self.close_text();
        if let Some(call) = self.calls.iter_mut().find(|call| call.id == *id) {
            call.is_answered = true;
        }
        let message = format!("{}{id}", ids::RESULT);
        self.emit(ToolCallResultEvent::new(message, id.clone(), content.into()));
        true
    }

    /// Ends a step: later output of the model belongs to another message.
    pub fn end_step(&mut self) {
        if !self.is_over {
            self.close();
            self.parent = None;
        }
    }

    /// Adds token usage.
    pub fn add_usage(&mut self, usage: &TokenUsage) {
        self.usage = Some(match self.usage.take() {
            Some(total) => sum(&total, usage),
            None => usage.clone(),
        });
    }

    /// Restates the conversation.
    pub fn restate(&mut self, messages: Vec<Message>) {
        if !self.is_over {
            self.end_step();
            self.emit(MessagesSnapshotEvent::new(messages));
        }
    }

    /// Ends the run as a success. Calls of the page's tools stay pending; calls of the program's
    /// tools without a result receive an error result.
    pub fn finish(&mut self) {
        if self.is_over {
            return;
        }
        self.settle("There is no result: the run ended.");
        let mut success = RunFinishedSuccessOutcome::new();
        let pending = self.calls.iter().filter(|call| !call.is_answered);
        success.pending_tool_call_ids = Some(pending.map(|call| call.id.clone()).collect());
        self.end(RunFinishedOutcome::Success(success), None);
    }

    /// Ends the run as cancelled: outcome `cancelled`, or for older clients `RUN_ERROR`
    /// `CANCELLED`.
    pub fn cancel(&mut self, reason: CancelReason) {
        if self.is_over {
            return;
        }
        self.settle("The run was cancelled.");
        if self.profile == Profile::V1 {
            let outcome = RunFinishedCancelledOutcome::new();
            let result = reason.of_result(Members::new());
            self.end(RunFinishedOutcome::Cancelled(outcome), Some(result));
        } else {
            self.fail(RunFailure::new("CANCELLED", reason.message()));
        }
    }

    /// Ends the run as failed.
    pub fn fail(&mut self, failure: RunFailure) {
        if self.is_over {
            return;
        }
        self.settle("The run failed.");
        let mut error = RunErrorEvent::new(json::cut(failure.message, MAX_MESSAGE_BYTES));
        error.code = failure.code;
        error.usage = self.reported_usage();
        self.emit(error);
        self.is_over = true;
    }

    /// Returns the calls that the page has to answer, in order of creation.
    pub fn pending(&self) -> Vec<ToolCallId> {
        let pending = self.calls.iter().filter(|call| self.offered.contains(&call.name));
        pending.map(|call| call.id.clone()).collect()
    }

    /// Closes all open items, and adds results to the program's calls that have none.
    fn settle(&mut self, why: &str) {
        self.close();
        let own = |call: &&ModelCall| !call.is_answered && !self.offered.contains(&call.name);
        let left: Vec<ToolCallId> =
            self.calls.iter().filter(own).map(|call| call.id.clone()).collect();
        for id in left {
            self.tool_result(&id, why);
        }
    }

    fn end(&mut self, outcome: RunFinishedOutcome, result: Option<Raw>) {
        let mut finished = RunFinishedEvent::new(self.thread_id.clone(), self.run_id.clone());
        finished.outcome = Some(outcome);
        finished.result = result;
        finished.usage = self.reported_usage();
        self.emit(finished);
        self.is_over = true;
    }

    fn reported_usage(&self) -> Option<Vec<TokenUsage>> {
        let usage = self.usage.clone().filter(|_| self.profile == Profile::V1);
        usage.map(|usage| Vec::from([usage]))
    }

    /// Closes text, reasoning and calls.
    fn close(&mut self) {
        self.close_text();
        let open = self.calls.iter().filter(|call| call.is_open);
        let open: Vec<ToolCallId> = open.map(|call| call.id.clone()).collect();
        for id in open {
            self.end_tool_call(&id);
        }
    }

    fn close_text(&mut self) {
        match self.open.take() {
            Some(OpenMessage::Text(id)) => self.emit(TextMessageEndEvent::new(id)),
            Some(OpenMessage::Reasoning { span, message }) => {
                self.emit(ReasoningMessageEndEvent::new(message));
                self.emit(ReasoningEndEvent::new(span));
            }
            None => {}
        }
    }

    fn emit(&mut self, event: impl Into<Event>) {
        let (event, _) = self.downgrade.handle(event.into());
        self.events.extend(event);
    }
}
