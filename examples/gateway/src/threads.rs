//! All the threads, and who may be told what.
use crate::agent::{AgentPool, Trouble};
use crate::run_log::RunLog;
use crate::thread::{Command, Run, StartError, Thread};
use agui_bridge::{AnswerError, Failure, Options, PermissionAnswer};
use agui_types::input::RunAgentInput;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The most threads that are kept.
const MAX_THREADS: usize = 1024;

/// The most commands that may wait for a thread.
const MAX_COMMANDS: usize = 64;

/// Stands between the number of a thread and that of a permission request in it.
const INTERRUPT: &str = "-int-";

#[derive(Debug)]
struct Entry {
    number: String,
    commands: mpsc::Sender<Command>,
}

/// What all threads have in common, and the threads.
#[derive(Debug)]
pub(crate) struct Threads {
    agents: AgentPool,
    options: Options,
    cwd: String,
    cancel_grace: Duration,
    threads: Mutex<HashMap<String, Entry>>,
    runs: Mutex<HashMap<String, CancellationToken>>,
    numbered: AtomicU64,
    shutdown: CancellationToken,
    tasks: TaskTracker,
}

/// A run that has begun.
pub(crate) struct Started {
    /// Its events.
    pub(crate) log: Arc<RunLog>,
    /// Stops it when dropped, and forgets it.
    pub(crate) reader: Reader,
}

/// Whoever reads a run. Without a reader the run is stopped.
pub(crate) struct Reader {
    threads: Arc<Threads>,
    run_id: String,
    cancel: CancellationToken,
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.cancel.cancel();
        lock(&self.threads.runs).remove(&self.run_id);
    }
}

impl Threads {
    pub(crate) fn new(
        agents: AgentPool,
        options: Options,
        cwd: String,
        cancel_grace: Duration,
    ) -> Self {
        Self {
            agents,
            options,
            cwd,
            cancel_grace,
            threads: Mutex::default(),
            runs: Mutex::default(),
            numbered: AtomicU64::new(1),
            shutdown: CancellationToken::new(),
            tasks: TaskTracker::new(),
        }
    }

    /// Begins a run.
    pub(crate) async fn start(
        self: &Arc<Self>,
        input: RunAgentInput,
    ) -> Result<Started, StartError> {
        let (thread_id, run_id) = (input.thread_id.to_string(), input.run_id.to_string());
        let (log, cancel) = (Arc::new(RunLog::default()), CancellationToken::new());
        {
            let mut runs = lock(&self.runs);
            if runs.contains_key(&run_id) {
                return Err(StartError::SameRun);
            }
            runs.insert(run_id.clone(), cancel.clone());
        }
        // From here on the run is forgotten, and stopped, whenever its reader is dropped.
        let reader = Reader { threads: self.clone(), run_id, cancel: cancel.clone() };
        let agent = tokio::select! {
            biased;
            () = self.shutdown.cancelled() => return Err(StartError::Ending),
            () = cancel.cancelled() => {
                Err(Trouble::Failed(Failure::AgentUnavailable, "not waited for".to_owned()))
            }
            agent = self.agents.agent() => agent,
        };
        let run = Box::new(Run { input, agent, log: log.clone(), cancel });
        let (reply, begun) = oneshot::channel();
        self.thread(&thread_id)?
            .try_send(Command::Run(run, reply))
            .map_err(|_| StartError::Overloaded)?;
        let ended = |_| {
            if self.shutdown.is_cancelled() { StartError::Ending } else { StartError::Overloaded }
        };
        begun.await.map_err(ended)??;
        Ok(Started { log, reader })
    }

    /// Stops a run; `false` when no such run is going on.
    pub(crate) fn cancel(&self, run_id: &str) -> bool {
        let cancel = lock(&self.runs).get(run_id).cloned();
        cancel.inspect(CancellationToken::cancel).is_some()
    }

    /// Answers a permission request.
    pub(crate) async fn answer(
        &self,
        interrupt_id: &str,
        answer: PermissionAnswer,
    ) -> Result<(), AnswerError> {
        let number = interrupt_id
            .split_once(INTERRUPT)
            .map(|(number, _)| number)
            .ok_or(AnswerError::Unknown)?;
        let thread = lock(&self.threads)
            .values()
            .find(|thread| thread.number == number)
            .map(|thread| thread.commands.clone());
        let (reply, answered) = oneshot::channel();
        let command = Command::Answer(interrupt_id.to_owned(), answer, reply);
        thread
            .ok_or(AnswerError::Unknown)?
            .send(command)
            .await
            .map_err(|_| AnswerError::Unknown)?;
        answered.await.map_err(|_| AnswerError::Unknown)?
    }

    /// Ends all runs, then the agent.
    pub(crate) async fn shut_down(&self) {
        self.shutdown.cancel();
        self.tasks.close();
        self.tasks.wait().await;
        self.agents.shut_down().await;
    }

    /// The thread of this id, new when there is none.
    fn thread(&self, id: &str) -> Result<mpsc::Sender<Command>, StartError> {
        let mut threads = lock(&self.threads);
        if let Some(thread) = threads.get(id).filter(|thread| !thread.commands.is_closed()) {
            return Ok(thread.commands.clone());
        }
        threads.retain(|_, thread| !thread.commands.is_closed());
        if threads.len() == MAX_THREADS {
            return Err(StartError::Overloaded);
        }
        let number = self.numbered.fetch_add(1, Ordering::Relaxed).to_string();
        let mut options = self.options.clone();
        options.interrupt_prefix = format!("{number}{INTERRUPT}");
        let (commands, inbox) = mpsc::channel(MAX_COMMANDS);
        let thread = Thread::new(options, self.cwd.clone(), self.cancel_grace);
        self.tasks.spawn(thread.serve(inbox, self.shutdown.clone()));
        threads.insert(id.to_owned(), Entry { number, commands: commands.clone() });
        Ok(commands)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
