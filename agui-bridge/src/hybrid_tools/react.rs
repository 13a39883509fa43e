//! The loop of a model and its tools, as a state machine.
use super::ModelEvent;
use super::run::{HybridRun, RunFailure};
use super::tools::{BackendTool, HybridTools, ToolOwner};
use crate::CancelReason;
use crate::chat_history::{
    ChatHistory, ChatMessage, ChatRole, ChatToolCall, HistoryRule, content_parts,
};
use agui_types::content::Content;
use agui_types::event::Event;
use agui_types::id::ToolCallId;
use agui_types::input::RunAgentInput;
use agui_types::message::Message;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Options of a [`HybridLoop`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoopOptions {
    /// The tool calls of earlier requests that the model receives.
    pub history: HistoryRule,
    /// Largest number of model requests in a run; 32 by default. A run that needs more fails with
    /// `MAX_ITERATIONS`.
    pub max_iterations: usize,
    /// Largest number of tool calls in one answer of the model; 64 by default. Further calls are
    /// dropped, with a [remark](HybridLoop::remarks).
    pub max_parallel_calls: usize,
    /// Largest size of text, reasoning and arguments in one answer of the model, in bytes; 4 MiB by
    /// default. A run that exceeds it fails with `LIMIT_EXCEEDED`.
    pub max_answer_bytes: usize,
    /// Largest number of messages; 2000 by default. A run with more fails with `LIMIT_EXCEEDED`.
    pub max_messages: usize,
}

impl Default for LoopOptions {
    fn default() -> Self {
        Self {
            history: HistoryRule::default(),
            max_iterations: 32,
            max_parallel_calls: 64,
            max_answer_bytes: 4 << 20,
            max_messages: 2000,
        }
    }
}

impl LoopOptions {
    /// Creates the default options.
    pub fn new() -> Self {
        Self::default()
    }
}

/// The next action of the program.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Step {
    /// Send [`history`](HybridLoop::history) and [`tools`](HybridLoop::tools) to the model. Pass
    /// each piece of its answer to [`handle_model`](HybridLoop::handle_model), and the end to
    /// [`handle_model_end`](HybridLoop::handle_model_end).
    AskModel,
    /// Run these tools, in any order or in parallel, and pass their results to
    /// [`handle_tool_result`](HybridLoop::handle_tool_result). Calls without a result are returned
    /// again.
    RunTools(Vec<ChatToolCall>),
    /// Load the stored conversation and pass it to [`handle_history`](HybridLoop::handle_history).
    LoadHistory,
    /// The run has ended.
    Done,
}

/// One run of a model with tools: it queries the model, runs the program's tools, and ends when the
/// model is done or calls tools of the page.
///
/// Performs no I/O: [`step`](Self::step) returns the next action, the `handle_*` methods take its
/// results, and [`poll_event`](Self::poll_event) returns the stream. See the [module
/// documentation](super) for an example.
///
/// | calls in the model's answer | then |
/// |---|---|
/// | none | the run ends |
/// | the program's tools only | they run, and the model is queried again |
/// | also the page's tools | the program's run, then the run ends with the page's pending |
/// | an unknown tool | its result is an error; the rest as above |
#[derive(Clone, Debug)]
pub struct HybridLoop {
    options: LoopOptions,
    run: HybridRun,
    tools: HybridTools,
    history: ChatHistory,
    repairs: Vec<String>,
    state: State,
    iterations: usize,
    answer: Answer,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Ask,
    Tools,
    LoadHistory,
    Done,
}

/// The model's answer so far.
#[derive(Clone, Debug, Default)]
struct Answer {
    text: String,
    bytes: usize,
    /// The calls, by the stream's ids.
    calls: Vec<ChatToolCall>,
    /// The stream's ids, by the model's.
    ids: BTreeMap<ToolCallId, ToolCallId>,
    results: BTreeMap<ToolCallId, ChatMessage>,
}

impl HybridLoop {
    /// Begins the run of `input`, with the program's tools.
    pub fn begin(input: &RunAgentInput, backend: &[BackendTool], options: LoopOptions) -> Self {
        let tools = HybridTools::new(backend, input.tools.as_deref().unwrap_or_default());
        let mut history = ChatHistory::read(&input.messages, options.history);
        let repairs = history.repair();
        history.add_context(input.context.as_deref().unwrap_or_default());
        for call in history.messages.iter_mut().flat_map(|message| &mut message.tool_calls) {
            call.name = tools.called_name(&call.name).to_string();
        }
        let empty = input.messages.is_empty();
        let mut begun = Self {
            run: HybridRun::begin(input),
            tools,
            history,
            repairs,
            state: if empty { State::LoadHistory } else { State::Ask },
            iterations: 0,
            answer: Answer::default(),
            options,
        };
        if input.messages.len() > begun.options.max_messages {
            let limit = begun.options.max_messages;
            begun.handle_failure(RunFailure::new(
                LIMIT_EXCEEDED,
                format!("at /messages: expected at most {limit} messages"),
            ));
        }
        begun
    }

    /// Returns the next action, without changing the state.
    pub fn step(&self) -> Step {
        match self.state {
            State::Ask => Step::AskModel,
            State::LoadHistory => Step::LoadHistory,
            State::Done => Step::Done,
            State::Tools => {
                let open =
                    self.own_calls().filter(|call| !self.answer.results.contains_key(&call.id));
                Step::RunTools(open.cloned().collect())
            }
        }
    }

    /// Returns the next event of the stream.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.run.poll_event()
    }

    /// Returns the conversation for the model, including its own later messages.
    pub fn history(&self) -> &[ChatMessage] {
        &self.history.messages
    }

    /// Returns the tools for the model.
    pub fn tools(&self) -> &HybridTools {
        &self.tools
    }

    /// Returns remarks for a log: messages of the input that the model does not receive, and
    /// messages added for it.
    pub fn remarks(&self) -> impl Iterator<Item = String> {
        let dropped = self.history.dropped.iter().map(ToString::to_string);
        let shadowed = self.tools.shadowed().iter();
        let shadowed =
            shadowed.map(|name| format!("the page's tool {name} has the name of another"));
        dropped.chain(self.repairs.iter().cloned()).chain(shadowed)
    }

    /// Returns the page's calls for which the run ended.
    pub fn pending(&self) -> Vec<ToolCallId> {
        self.run.pending()
    }

    /// Handles a piece of the model's answer.
    pub fn handle_model(&mut self, event: ModelEvent) {
        if self.state != State::Ask || !self.has_room(&event) {
            return;
        }
        match event {
            ModelEvent::Text(delta) => {
                self.run.text(&delta);
                self.answer.text.push_str(&delta);
            }
            ModelEvent::Reasoning(delta) => self.run.reasoning(&delta),
            ModelEvent::ToolCallStart { id, name } => self.start_call(&id, &name),
            ModelEvent::ToolCallArguments { id, delta } => self.extend_call(&id, &delta),
            ModelEvent::ToolCall { id, name, arguments } => {
                self.start_call(&id, &name);
                self.extend_call(&id, &arguments);
                if let Some(shown) = self.answer.ids.get(&id) {
                    self.run.end_tool_call(shown);
                }
            }
            ModelEvent::Usage(usage) => self.run.add_usage(&usage),
        }
    }

    /// Handles the end of the model's answer.
    pub fn handle_model_end(&mut self) {
        if self.state != State::Ask {
            return;
        }
        self.run.end_step();
        self.iterations += 1;
        for call in self.answer.calls.iter_mut().filter(|call| call.arguments.is_empty()) {
            call.arguments.push_str("{}");
        }
        let text = core::mem::take(&mut self.answer.text);
        let mut message = ChatMessage::new(ChatRole::Assistant, text);
        message.tool_calls.clone_from(&self.answer.calls);
        if !message.content.is_empty() || !message.tool_calls.is_empty() {
            self.history.messages.push(message);
        }
        if self.answer.calls.is_empty() {
            self.finish();
            return;
        }
        let made_up =
            self.answer.calls.iter().filter(|call| self.tools.owner(&call.name).is_none());
        let made_up: Vec<_> = made_up.map(|call| (call.id.clone(), call.name.clone())).collect();
        for (id, name) in made_up {
            self.take_result(&id, Err(format!("Error: there is no tool '{name}'.")));
        }
        self.state = State::Tools;
        self.go_on();
    }

    /// Handles the result of a program's tool, or its error, which the model receives. Returns
    /// whether a call waited for it.
    pub fn handle_tool_result(&mut self, id: &ToolCallId, result: Result<Content, String>) -> bool {
        let waits = self.state == State::Tools
            && self.own_calls().any(|call| call.id == *id)
            && !self.answer.results.contains_key(id);
        if waits {
            self.take_result(id, result);
            self.go_on();
        }
        waits
    }

    /// Handles the stored conversation: restates its newest `limit` messages, and ends the run.
    pub fn handle_history(&mut self, history: &[ChatMessage], limit: usize) {
        if self.state == State::LoadHistory {
            let newest = history.get(history.len().saturating_sub(limit)..).unwrap_or_default();
            let messages: Vec<Message> =
                crate::chat_history::to_messages(newest, "hist-", self.run.profile());
            self.run.restate(messages);
            self.finish();
        }
    }

    /// Handles a permanent failure of the model, a tool's runner or the conversation store: the run
    /// fails.
    pub fn handle_failure(&mut self, failure: RunFailure) {
        self.run.fail(failure);
        self.state = State::Done;
    }

    /// Handles the cancellation of the run.
    pub fn handle_cancel(&mut self, reason: CancelReason) {
        self.run.cancel(reason);
        self.state = State::Done;
    }

    fn has_room(&mut self, event: &ModelEvent) -> bool {
        let bytes = match event {
            ModelEvent::Text(text) | ModelEvent::Reasoning(text) => text.len(),
            ModelEvent::ToolCallStart { id, name } => id.as_str().len() + name.len(),
            ModelEvent::ToolCallArguments { delta, .. } => delta.len(),
            ModelEvent::ToolCall { id, name, arguments } => {
                id.as_str().len() + name.len() + arguments.len()
            }
            ModelEvent::Usage(_) => 0,
        };
        // An empty piece counts as well; otherwise their number would be unlimited.
        self.answer.bytes += bytes.max(1);
        let has_room = self.answer.bytes <= self.options.max_answer_bytes;
        if !has_room {
            let limit = self.options.max_answer_bytes;
            let message = format!("The model's answer has more than {limit} bytes.");
            self.handle_failure(RunFailure::new(LIMIT_EXCEEDED, message));
        }
        has_room
    }

    fn start_call(&mut self, id: &ToolCallId, name: &str) {
        if self.answer.calls.len() >= self.options.max_parallel_calls {
            // Later pieces of this call are ignored.
            self.answer.ids.remove(id);
            self.repairs.push(format!("dropped a call of {name}: too many calls in one answer"));
            return;
        }
        let shown = self.run.start_tool_call(id, &self.tools.shown_name(name));
        self.answer.ids.insert(id.clone(), shown.clone());
        self.answer.calls.push(ChatToolCall::new(shown, name, ""));
    }

    fn extend_call(&mut self, id: &ToolCallId, delta: &str) {
        let Some(shown) = self.answer.ids.get(id) else { return };
        if self.run.tool_call_arguments(shown, delta)
            && let Some(call) = self.answer.calls.iter_mut().find(|call| call.id == *shown)
        {
            call.arguments.push_str(delta);
        }
    }

    fn own_calls(&self) -> impl Iterator<Item = &ChatToolCall> {
        let own = |call: &&ChatToolCall| self.tools.owner(&call.name) == Some(ToolOwner::Backend);
        self.answer.calls.iter().filter(own)
    }

    fn take_result(&mut self, id: &ToolCallId, result: Result<Content, String>) {
        let mut message = ChatMessage::tool_result(id.clone(), "");
        let content = match result {
            Ok(content) => content,
            Err(error) => {
                message.error = Some(error.clone());
                Content::Text(error)
            }
        };
        message.content = content_parts(&content);
        self.run.tool_result(id, content);
        self.answer.results.insert(id.clone(), message);
    }

    /// Continues when all of the program's tools have results.
    fn go_on(&mut self) {
        if self.own_calls().any(|call| !self.answer.results.contains_key(&call.id)) {
            return;
        }
        let Answer { calls, mut results, .. } = core::mem::take(&mut self.answer);
        let mut waits_for_the_page = false;
        for call in &calls {
            match results.remove(&call.id) {
                Some(result) => self.history.messages.push(result),
                None => waits_for_the_page = true,
            }
        }
        if waits_for_the_page {
            self.finish();
        } else if self.iterations >= self.options.max_iterations {
            let limit = self.options.max_iterations;
            let message = format!("The model was asked {limit} times and is not done.");
            self.handle_failure(RunFailure::new("MAX_ITERATIONS", message));
        } else {
            self.state = State::Ask;
        }
    }

    fn finish(&mut self) {
        self.run.finish();
        self.state = State::Done;
    }
}

/// The code of a run that exceeds a limit.
const LIMIT_EXCEEDED: &str = "LIMIT_EXCEEDED";
