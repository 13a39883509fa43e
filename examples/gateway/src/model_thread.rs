//! A conversation with a model: its runs, one after the other. All that was said before comes with each run.
use crate::model::ModelAgent;
use crate::run_log::RunLog;
use crate::thread::{Command, Queue, ResultError, Rules, Run};
use agui_bridge::hybrid_tools::runner::{Sink, SinkClosed, run};
use agui_bridge::hybrid_tools::{HybridLoop, LoopOptions, RunFailure};
use agui_bridge::{AnswerError, Failure};
use agui_types::event::Event;
use async_trait::async_trait;
use futures::FutureExt;
use futures::future::BoxFuture;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, sleep_until};
use tokio_util::sync::CancellationToken;

pub(crate) struct ModelThread {
    model: Arc<ModelAgent>,
    rules: Rules,
    /// How long a run may take.
    time: Duration,
    queue: Queue,
    active: Option<Active>,
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
        rules: Rules,
        time: Duration,
        shutdown: CancellationToken,
    ) -> Self {
        Self { model, rules, time, queue: Queue::new(rules), active: None, shutdown }
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
        let running = go(self.model.clone(), run, self.time, self.shutdown.clone()).boxed();
        self.active = Some(Active { cancel, running });
    }
}

/// Why a run does not go on.
enum Stopped {
    Cancelled,
    Failed(RunFailure),
}

fn failed(failure: Failure, message: &str) -> Stopped {
    Stopped::Failed(RunFailure::new(failure.code(), message))
}

/// A run from its beginning to its end.
async fn go(model: Arc<ModelAgent>, asked: Run, time: Duration, shutdown: CancellationToken) {
    let Run { input, log, cancel, .. } = asked;
    let mut hybrid = HybridLoop::begin(&input, &model.tools, LoopOptions::new());
    for remark in hybrid.remarks() {
        tracing::debug!(run = %input.run_id, remark);
    }
    let full = CancellationToken::new();
    let mut sink = LogSink { log: log.clone(), full: full.clone() };
    let mut conversation = model.open();
    let stopped = if input.resume.as_ref().is_some_and(|resume| !resume.is_empty()) {
        let message = "There is no question of this agent's that an answer could be for.";
        Some(Stopped::Failed(RunFailure::new("RESUME_MISMATCH", message)))
    } else {
        tokio::select! {
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
            _ = run(&mut hybrid, &mut *conversation, &*model, &mut sink) => None,
        }
    };
    match stopped {
        None => {}
        Some(Stopped::Cancelled) => hybrid.handle_cancel(),
        Some(Stopped::Failed(failure)) => hybrid.handle_failure(failure),
    }
    while let Some(event) = hybrid.poll_event() {
        log.push(&event);
    }
    log.end();
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
