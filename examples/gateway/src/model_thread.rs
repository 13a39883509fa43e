//! The thread of a model without ACP: its consecutive runs. The input of each run has all earlier
//! messages.
use crate::hub::{Reply, RunStart, records};
use crate::model::{ChatModel, ModelRun, RunTelemetry};
use crate::run::{Cancel, all_cancelled, request_cancel};
use crate::store::{Replica, RunLog};
use crate::telemetry::Telemetry;
use crate::telemetry::trace_context::TraceContext;
use agui_bridge::CancelReason;
use agui_bridge::conversation::{Admission, RunQueue, RunRefused};
use agui_types::input::RunAgentInput;
use futures::FutureExt;
use futures::future::BoxFuture;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

/// A run to start.
pub(crate) struct ModelRunStart {
    /// Name of the run in the store.
    pub(crate) name: String,
    pub(crate) input: RunAgentInput,
    /// The open runs of the thread before it: the store knows the messages that the input leaves
    /// out when they have ended.
    pub(crate) before: Vec<CancellationToken>,
    pub(crate) log: Arc<RunLog>,
    pub(crate) cancel: Cancel,
    pub(crate) span: Option<TraceContext>,
    /// Reports whether the run has begun.
    pub(crate) reply: Reply,
}

/// A thread of a model.
pub(crate) struct ModelThread {
    pub(crate) model: Arc<ChatModel>,
    pub(crate) replicas: Arc<Replica>,
    pub(crate) user: String,
    pub(crate) name: Arc<str>,
    pub(crate) queue: RunQueue<ModelRunStart>,
    /// Time for which the thread is kept without runs.
    pub(crate) idle: Duration,
    /// Maximum duration of a run.
    pub(crate) time: Duration,
    pub(crate) telemetry: Telemetry,
    pub(crate) shutdown: CancellationToken,
}

/// The open run.
struct Active {
    cancel: Cancel,
    running: BoxFuture<'static, ()>,
}

impl ModelThread {
    /// Serves the thread until it is idle.
    pub(crate) async fn serve(mut self, mut runs: mpsc::Receiver<ModelRunStart>) {
        let mut active: Option<Active> = None;
        loop {
            let Some(current) = &mut active else {
                let idle = sleep_until(Instant::now() + self.idle);
                let run = tokio::select! {
                    biased;
                    () = self.shutdown.cancelled() => return,
                    run = runs.recv() => run,
                    () = idle => return,
                };
                let Some(run) = run else { return };
                active = Some(self.begin(run));
                continue;
            };
            tokio::select! {
                // The run ends soon after the gateway.
                () = &mut current.running => {
                    active = self.next().map(|run| self.begin(run));
                }
                Some(run) = runs.recv() => self.enqueue(run, &current.cancel),
            }
        }
    }

    /// Returns the next run with a waiting client.
    fn next(&mut self) -> Option<ModelRunStart> {
        std::iter::from_fn(|| self.queue.pop()).find(|run| !run.reply.is_closed())
    }

    fn enqueue(&mut self, run: ModelRunStart, current: &Cancel) {
        let refused: Vec<_> = match self.queue.push(run, None, current.initialized()) {
            Admission::Refused(run) => vec![run],
            Admission::Supersedes(runs) => {
                request_cancel(current, CancelReason::NewerRun);
                runs.into()
            }
            _ => Vec::new(),
        };
        for run in refused {
            let _gone = run.reply.send(Err(RunRefused::Busy.into()));
        }
    }

    fn begin(&self, run: ModelRunStart) -> Active {
        let ModelRunStart { name: stored_name, mut input, before, log, cancel, span, reply } = run;
        if reply.send(Ok(RunStart::Begun)).is_err() {
            // The client has disconnected, and the run will have no reader.
            request_cancel(&cancel, CancelReason::NoReader);
        }
        let traced = RunTelemetry { telemetry: self.telemetry.clone(), run: span };
        let user = self.user.clone();
        let time = self.time;
        let shutdown = self.shutdown.clone();
        let model = self.model.clone();
        let replicas = self.replicas.clone();
        let name = self.name.clone();
        let current = cancel.clone();
        let running = async move {
            all_cancelled(before).await;
            let history = replicas.history(&stored_name, &input).await;
            if !history.is_empty() {
                input.messages = history;
            }
            records::run_started(&name, &input);
            let run = ModelRun { input, user, time, traced, cancel, shutdown };
            let push = |event: &_| {
                records::run_continued(&name, log.run_id().as_str(), event);
                log.push(event)
            };
            crate::model::run(&model, run, push).await;
            log.end();
        };
        Active { cancel: current, running: running.boxed() }
    }
}
