//! A conversation with a model: its runs, one after the other. Each run brings all earlier messages.
use crate::site::Principal;
use crate::thread::{Command, Queue, ResultError, Rules, Run};
use agui_bridge::AnswerError;
use chat_model::{ChatModel, ModelRun, Traced};
use futures::FutureExt;
use futures::future::BoxFuture;
use run_telemetry::Telemetry;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

pub(crate) struct ModelThread {
    model: Arc<ChatModel>,
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
        model: Arc<ChatModel>,
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
        let Run { input, log, cancel, span, .. } = run;
        let traced = Traced { telemetry: self.telemetry.clone(), run: span };
        let (user, time) = (self.principal.as_str().to_owned(), self.time);
        let shutdown = self.shutdown.clone();
        let run = ModelRun { input, user, time, traced, cancel: cancel.clone(), shutdown };
        let model = self.model.clone();
        let running = async move {
            chat_model::run(&model, run, |event| log.push(event)).await;
            log.end();
        };
        self.active = Some(Active { cancel, running: running.boxed() });
    }
}
