//! A conversation with a model: its runs, one after the other. All that was said before comes with each run.
use crate::model::ModelAgent;
use crate::plugins::{Called, Refused};
use crate::run_log::RunLog;
use crate::site::Principal;
use crate::telemetry::{Telemetry, Traced};
use crate::thread::{Command, Queue, ResultError, Rules, Run};
use agui_bridge::hybrid_tools::runner::{Backend, Sink, SinkClosed, run};
use agui_bridge::hybrid_tools::{HybridLoop, LoopOptions, RunFailure, ToolRequest};
use agui_bridge::{AnswerError, Failure};
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
use futures::FutureExt;
use futures::future::BoxFuture;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep, sleep_until};
use tokio_util::sync::CancellationToken;

/// What the model is told where nobody can be asked.
const CANNOT_ASK: &str = "the user cannot be asked: the client is of before AG-UI 1.0";

pub(crate) struct ModelThread {
    model: Arc<ModelAgent>,
    principal: Principal,
    rules: Rules,
    /// How long a run may take.
    time: Duration,
    queue: Queue,
    active: Option<Active>,
    telemetry: Telemetry,
    shutdown: CancellationToken,
}

struct Active {
    cancel: CancellationToken,
    running: BoxFuture<'static, ()>,
}

/// What the thread takes notice of.
enum News {
    Command(Option<Command>),
    Ended,
    Idle,
}

impl ModelThread {
    pub(crate) fn new(
        model: Arc<ModelAgent>,
        principal: Principal,
        rules: Rules,
        time: Duration,
        telemetry: Telemetry,
        shutdown: CancellationToken,
    ) -> Self {
        let queue = Queue::new(rules);
        Self { model, principal, rules, time, queue, active: None, telemetry, shutdown }
    }

    /// Serves the thread until nobody asks for it any more, or nothing has happened for a while.
    pub(crate) async fn serve(mut self, mut commands: mpsc::Receiver<Command>) {
        loop {
            match self.news(&mut commands).await {
                News::Command(Some(Command::Run(run, reply))) => match &self.active {
                    Some(active) => self.queue.push(run, reply, &active.cancel),
                    None => {
                        self.begin(*run);
                        let _ = reply.send(Ok(()));
                    }
                },
                News::Command(Some(Command::Answer(_, _, reply))) => {
                    let _ = reply.send(Err(AnswerError::Unknown));
                }
                News::Command(Some(Command::Session(reply))) => {
                    let _ = reply.send(None);
                }
                News::Command(Some(Command::Changed(_))) => {}
                News::Command(Some(Command::ToolResult(_, _, reply))) => {
                    // A run's input brings them.
                    let _ = reply.send(Err(ResultError::Unknown));
                }
                News::Ended => {
                    self.active = None;
                    if let Some((run, reply)) = self.queue.pop() {
                        let cancel = run.cancel.clone();
                        self.begin(*run);
                        if reply.send(Ok(())).is_err() {
                            // It stopped waiting just now, and nobody will ever read the run.
                            cancel.cancel();
                        }
                    }
                }
                News::Command(None) | News::Idle => return,
            }
        }
    }

    async fn news(&mut self, commands: &mut mpsc::Receiver<Command>) -> News {
        let idle = Instant::now() + self.rules.idle;
        match &mut self.active {
            // It ends soon when the gateway does.
            Some(active) => tokio::select! {
                () = &mut active.running => News::Ended,
                Some(command) = commands.recv() => News::Command(Some(command)),
            },
            None => tokio::select! {
                biased;
                () = self.shutdown.cancelled() => News::Idle,
                command = commands.recv() => News::Command(command),
                () = sleep_until(idle) => News::Idle,
            },
        }
    }

    fn begin(&mut self, run: Run) {
        let cancel = run.cancel.clone();
        let (model, principal) = (self.model.clone(), self.principal.clone());
        let traced = Traced { telemetry: self.telemetry.clone(), run: run.span.clone() };
        let running = go(model, principal, run, self.time, traced, self.shutdown.clone()).boxed();
        self.active = Some(Active { cancel, running });
    }
}

/// Why a run does not go on.
enum Stopped {
    Cancelled,
    Failed(RunFailure),
    /// Tools ask the user.
    Asks(Vec<Interrupt>),
}

fn failed(failure: Failure, message: &str) -> Stopped {
    Stopped::Failed(RunFailure::new(failure.code(), message))
}

/// A run from its beginning to its end.
async fn go(
    model: Arc<ModelAgent>,
    principal: Principal,
    asked: Run,
    time: Duration,
    traced: Traced,
    shutdown: CancellationToken,
) {
    let Run { input, log, cancel, .. } = asked;
    let full = CancellationToken::new();
    let mut turn = Turn {
        backend: Tools::new(&model, principal.as_str(), &input, &traced),
        sink: LogSink { log: log.clone(), full: full.clone() },
        hybrid: HybridLoop::begin(&input, &model.tools, LoopOptions::new()),
        input,
    };
    let stopped = tokio::select! {
        biased;
        () = shutdown.cancelled() => {
            Some(failed(Failure::GatewayShutdown, "The gateway is ending."))
        }
        () = cancel.cancelled() => Some(Stopped::Cancelled),
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
        Some(Stopped::Cancelled) => turn.hybrid.handle_cancel(),
        Some(Stopped::Failed(failure)) => turn.hybrid.handle_failure(failure),
        Some(Stopped::Asks(interrupts)) => {
            turn.send_all();
            log.push(&interrupted(&turn.input, interrupts));
            return log.end();
        }
    }
    turn.send_all();
    log.end();
}

/// The end of a run whose tools ask.
fn interrupted(input: &RunAgentInput, interrupts: Vec<Interrupt>) -> Event {
    let mut finished = RunFinishedEvent::new(input.thread_id.clone(), input.run_id.clone());
    let outcome = RunFinishedInterruptOutcome::new(interrupts);
    finished.outcome = Some(RunFinishedOutcome::Interrupt(outcome));
    finished.into()
}

/// A run that goes on.
struct Turn<'a> {
    input: RunAgentInput,
    backend: Tools<'a>,
    sink: LogSink,
    hybrid: HybridLoop,
}

impl Turn<'_> {
    /// Gives why it does not go on, unless it has come to its end.
    async fn run(&mut self) -> Option<Stopped> {
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
            // First: what it has done by then is told before the questions.
            _ = run(hybrid, &mut conversation, &*backend, sink) => None,
            interrupts = backend.asked() => Some(Stopped::Asks(interrupts)),
        }
    }

    /// Takes answers: what they lead to is in the conversation before the model is asked.
    async fn resume(&mut self) -> Option<Stopped> {
        let Tools { model, principal, .. } = self.backend;
        let plugins = model.toolbox().plugins();
        let came = match plugins.resume(&self.input, principal, model).await {
            Ok(came) => came,
            Err(Refused(code, message)) => {
                return Some(Stopped::Failed(RunFailure::new(code, message)));
            }
        };
        // The run has begun with what was known before.
        self.send_all();
        let (mut asks, mut results) = (Vec::new(), Vec::new());
        let has_result = |call: &ToolCallId| {
            let is_result = |message: &Message| matches!(message, Message::Tool(tool) if tool.tool_call_id == *call);
            self.input.messages.iter().any(is_result)
        };
        // Who answers twice has the result already.
        for (call, called) in came.into_iter().filter(|(call, _)| !has_result(call)) {
            match called {
                Called::Asks(interrupts) => asks.extend(interrupts),
                Called::Done(result) => {
                    let (text, error) = match result {
                        Ok(text) => (text, None),
                        Err(error) => (error.clone(), Some(error)),
                    };
                    let id = format!("res-{call}");
                    let shown = ToolCallResultEvent::new(&*id, call.clone(), text.as_str());
                    self.sink.log.push(&shown.into());
                    let mut message = ToolMessage::new(id, text, call);
                    message.error = error;
                    results.push(Message::Tool(message));
                }
            }
        }
        if !asks.is_empty() {
            return Some(Stopped::Asks(asks));
        }
        self.input.messages.extend(results);
        self.hybrid = HybridLoop::begin(&self.input, &self.backend.model.tools, LoopOptions::new());
        // It begins once.
        let _started = self.hybrid.poll_event();
        None
    }

    fn send_all(&mut self) {
        while let Some(event) = self.hybrid.poll_event() {
            self.sink.log.push(&event);
        }
    }
}

/// The gateway's tools, in one run.
struct Tools<'a> {
    model: &'a ModelAgent,
    principal: &'a str,
    traced: &'a Traced,
    /// Whether the client knows what to do about questions.
    can_ask: bool,
    state: watch::Sender<Open>,
}

/// The calls that are open.
#[derive(Debug, Default)]
struct Open {
    running: usize,
    asks: Vec<Interrupt>,
}

impl<'a> Tools<'a> {
    fn new(
        model: &'a ModelAgent,
        principal: &'a str,
        input: &RunAgentInput,
        traced: &'a Traced,
    ) -> Self {
        let profile = Profile::of(input.protocol_version.as_deref());
        let can_ask = profile != Profile::Legacy || model.legacy_interrupts;
        Self { model, principal, traced, can_ask, state: watch::Sender::default() }
    }

    /// Waits until nothing goes on but questions to the user.
    async fn asked(&self) -> Vec<Interrupt> {
        let mut state = self.state.subscribe();
        // The sender is in `self`, so that the wait ends only with what it waits for.
        let open = state.wait_for(|open| open.running == 0 && !open.asks.is_empty()).await;
        open.map(|open| open.asks.clone()).unwrap_or_default()
    }
}

#[async_trait]
impl Backend for Tools<'_> {
    async fn call(&self, request: &ToolRequest) -> Result<Content, String> {
        let toolbox = self.model.toolbox();
        self.state.send_modify(|open| open.running += 1);
        let mut span = self.traced.tool(&request.name, request.id.as_str());
        let called = match (toolbox.plugins().has(&request.name), self.can_ask) {
            (true, true) => toolbox.plugins().call(request, self.principal, self.model).await,
            (true, false) => Called::Done(Err(CANNOT_ASK.to_owned())),
            (false, _) => Called::Done(toolbox.call(&request.name).await),
        };
        match called {
            Called::Done(result) => {
                self.state.send_modify(|open| open.running -= 1);
                if let (Err(_), Some(span)) = (&result, &mut span) {
                    span.fail("tool_error".to_owned());
                }
                result.map(Content::Text)
            }
            Called::Asks(interrupts) => {
                drop(span);
                self.state.send_modify(|open| {
                    open.running -= 1;
                    open.asks.extend(interrupts);
                });
                // The run ends for it; another one has the result.
                std::future::pending().await
            }
        }
    }
}

/// Writes a run's events into its log.
struct LogSink {
    log: Arc<RunLog>,
    /// Says that the log is full.
    full: CancellationToken,
}

#[async_trait]
impl Sink for LogSink {
    async fn send(&mut self, event: Event) -> Result<(), SinkClosed> {
        if !self.log.push(&event) {
            self.full.cancel();
        }
        Ok(())
    }
}
