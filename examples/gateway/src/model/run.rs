//! A run of a model, from its input to its end.
use crate::model::{ChatModel, RunTelemetry};
use crate::telemetry::Span;
use crate::tools::{CallState, ModelCaller, ResumeError, traced_meta};
use agui_bridge::chat_history::ChatToolCall;
use agui_bridge::hybrid_tools::runner::{self, Backend, Sink, SinkClosed};
use agui_bridge::hybrid_tools::{BackendTool, HybridLoop, LoopOptions, RunFailure};
use agui_bridge::{CancelReason, Failure};
use agui_types::content::Content;
use agui_types::event::{
    Event, RunFinishedEvent, RunFinishedInterruptOutcome, RunFinishedOutcome, ToolCallResultEvent,
};
use agui_types::id::ToolCallId;
use agui_types::input::RunAgentInput;
use agui_types::interrupt::Interrupt;
use agui_types::message::{Message, ToolMessage};
use agui_types::profile::Profile;
use async_trait::async_trait;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{SetOnce, watch};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

/// A run of a [`ChatModel`].
#[derive(Clone, Debug)]
pub struct ModelRun {
    /// The input.
    pub input: RunAgentInput,
    /// The user. Tool calls of different users are separate.
    pub user: String,
    /// Time limit of the run.
    pub time: Duration,
    /// Telemetry of the run.
    pub traced: RunTelemetry,
    /// Stops the run, with a reason.
    pub cancel: Arc<SetOnce<CancelReason>>,
    /// Cancelled when the program shuts down.
    pub shutdown: CancellationToken,
}

/// The reason why a run stops.
enum RunStop {
    Cancelled(CancelReason),
    Failed(RunFailure),
    /// Tools ask the user.
    Asks(Vec<Interrupt>),
}

fn failed(failure: Failure, message: &str) -> RunStop {
    RunStop::Failed(RunFailure::new(failure.code(), message))
}

/// Runs a model. `push` receives each event, and returns `false` to end the run when there is no
/// room for more.
pub async fn run(model: &ChatModel, run: ModelRun, push: impl FnMut(&Event) -> bool + Send) {
    let ModelRun { input, user, time, traced, cancel, shutdown } = run;
    let full = CancellationToken::new();
    model.toolbox.ready().await;
    let tools = model.toolbox.for_models(&model.name);
    let mut turn = Turn {
        backend: Tools::new(model, &user, &input, &traced),
        sink: EventSink { push, full: full.clone() },
        hybrid: HybridLoop::begin(&input, &tools, LoopOptions::new()),
        tools,
        input,
    };
    let stopped = tokio::select! {
        biased;
        () = shutdown.cancelled() => {
            Some(failed(Failure::GatewayShutdown, "The gateway is ending."))
        }
        reason = cancel.wait() => Some(RunStop::Cancelled(*reason)),
        () = full.cancelled() => {
            let message = "The run says more than the gateway keeps.";
            Some(failed(Failure::LimitExceeded, message))
        }
        () = sleep(time) => {
            let message = format!("The model is not done after {} seconds.", time.as_secs_f64());
            Some(failed(Failure::TurnTimeout, &message))
        }
        stopped = turn.run() => stopped,
    };
    match stopped {
        None => {}
        Some(RunStop::Cancelled(reason)) => turn.hybrid.handle_cancel(reason),
        Some(RunStop::Failed(failure)) => turn.hybrid.handle_failure(failure),
        Some(RunStop::Asks(interrupts)) => {
            turn.send_all();
            let interrupted = interrupted(&turn.input, interrupts);
            turn.sink.push(&interrupted);
            return;
        }
    }
    turn.send_all();
}

/// Returns the end of a run with tools that ask.
fn interrupted(input: &RunAgentInput, interrupts: Vec<Interrupt>) -> Event {
    let mut finished = RunFinishedEvent::new(input.thread_id.clone(), input.run_id.clone());
    let outcome = RunFinishedInterruptOutcome::new(interrupts);
    finished.outcome = Some(RunFinishedOutcome::Interrupt(outcome));
    finished.into()
}

/// The open run.
struct Turn<'a, F> {
    input: RunAgentInput,
    backend: Tools<'a>,
    sink: EventSink<F>,
    hybrid: HybridLoop,
    tools: Vec<BackendTool>,
}

impl<F: FnMut(&Event) -> bool + Send> Turn<'_, F> {
    /// Runs the turn. Returns why it stopped, or `None` at its regular end.
    async fn run(&mut self) -> Option<RunStop> {
        if self.input.resume.as_ref().is_some_and(|resume| !resume.is_empty())
            && let Some(stopped) = self.resume().await
        {
            return Some(stopped);
        }
        for remark in self.hybrid.remarks() {
            tracing::debug!(run = %self.input.run_id, remark);
        }
        let Self { backend, sink, hybrid, .. } = self;
        let mut conversation = backend.model.open(backend.traced);
        tokio::select! {
            biased;
            // Polled first, so that results precede the questions.
            _ = runner::run(hybrid, &mut conversation, &*backend, sink) => None,
            interrupts = backend.asked() => Some(RunStop::Asks(interrupts)),
        }
    }

    /// Resumes calls with the user's answers. Their results are in the conversation before the
    /// model is queried.
    async fn resume(&mut self) -> Option<RunStop> {
        let Tools { model, user, .. } = self.backend;
        let came = match model.toolbox.resume(&self.input, user, model).await {
            Ok(came) => came,
            Err(ResumeError(code, message)) => {
                return Some(RunStop::Failed(RunFailure::new(code, message)));
            }
        };
        // The run begins with the known results.
        self.send_all();
        let mut asks = Vec::new();
        let mut results = Vec::new();
        let has_result = |call: &ToolCallId| {
            let is_result = |message: &Message| matches!(message, Message::Tool(tool) if tool.tool_call_id == *call);
            self.input.messages.iter().any(is_result)
        };
        // A repeated answer already has its result.
        for (call, called) in came.into_iter().filter(|(call, _)| !has_result(call)) {
            match called {
                CallState::Asks(interrupts) => asks.extend(interrupts),
                CallState::Done(result) => {
                    let (text, error) = match result {
                        Ok(text) => (text, None),
                        Err(error) => (error.clone(), Some(error)),
                    };
                    let id = format!("res-{call}");
                    let shown = ToolCallResultEvent::new(&*id, call.clone(), text.as_str());
                    self.sink.push(&shown.into());
                    let mut message = ToolMessage::new(id, text, call);
                    message.error = error;
                    results.push(Message::Tool(message));
                }
            }
        }
        if !asks.is_empty() {
            return Some(RunStop::Asks(asks));
        }
        self.input.messages.extend(results);
        self.hybrid = HybridLoop::begin(&self.input, &self.tools, LoopOptions::new());
        // The run has already started.
        let _started = self.hybrid.poll_event();
        None
    }

    fn send_all(&mut self) {
        while let Some(event) = self.hybrid.poll_event() {
            self.sink.push(&event);
        }
    }
}

/// The server's tools in one run.
struct Tools<'a> {
    model: &'a ChatModel,
    user: &'a str,
    traced: &'a RunTelemetry,
    /// Whether the client supports interrupts.
    can_ask: bool,
    state: watch::Sender<OpenCalls>,
}

/// The open calls.
#[derive(Debug, Default)]
struct OpenCalls {
    running: usize,
    asks: Vec<Interrupt>,
}

impl<'a> Tools<'a> {
    fn new(
        model: &'a ChatModel,
        user: &'a str,
        input: &RunAgentInput,
        traced: &'a RunTelemetry,
    ) -> Self {
        let profile = Profile::of(input.protocol_version.as_deref());
        let can_ask = profile != Profile::Legacy || model.legacy_interrupts;
        Self { model, user, traced, can_ask, state: watch::Sender::default() }
    }

    /// Waits until only questions to the user are open.
    async fn asked(&self) -> Vec<Interrupt> {
        let mut state = self.state.subscribe();
        // `self` holds the sender, so the wait ends only with its condition.
        let open = state.wait_for(|open| open.running == 0 && !open.asks.is_empty()).await;
        open.map(|open| open.asks.clone()).unwrap_or_default()
    }
}

#[async_trait]
impl Backend for Tools<'_> {
    async fn call(&self, request: &ChatToolCall) -> Result<Content, String> {
        let toolbox = &self.model.toolbox;
        self.state.send_modify(|open| open.running += 1);
        let mut span = self.traced.tool(&request.name, request.id.as_str());
        let agent = &*self.model.name;
        let user = self.user;
        let can_ask = self.can_ask;
        let caller = ModelCaller { agent, user, can_ask, model: self.model };
        let meta = span.as_ref().and_then(Span::context).map(|context| traced_meta(None, &context));
        let called = toolbox.call_for_model(request, caller, meta).await;
        match called {
            CallState::Done(result) => {
                self.state.send_modify(|open| open.running -= 1);
                if let (Err(_), Some(span)) = (&result, &mut span) {
                    span.fail("tool_error".to_owned());
                }
                result.map(Content::Text)
            }
            CallState::Asks(interrupts) => {
                drop(span);
                self.state.send_modify(|open| {
                    open.running -= 1;
                    open.asks.extend(interrupts);
                });
                // The run ends here; another run has the result.
                std::future::pending().await
            }
        }
    }
}

/// Receives the events of a run.
struct EventSink<F> {
    push: F,
    /// Cancelled when there is no room for more events.
    full: CancellationToken,
}

impl<F: FnMut(&Event) -> bool> EventSink<F> {
    fn push(&mut self, event: &Event) {
        if !(self.push)(event) {
            self.full.cancel();
        }
    }
}

#[async_trait]
impl<F: FnMut(&Event) -> bool + Send> Sink for EventSink<F> {
    async fn send(&mut self, event: Event) -> Result<(), SinkClosed> {
        self.push(&event);
        Ok(())
    }
}
