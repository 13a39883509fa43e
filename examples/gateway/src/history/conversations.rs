//! Conversations of the file, and the events of one.
use crate::history::error::HistoryError;
use crate::store::{
    FileStore, LastRun, LogLimits, Reader, Replica, Restoration, RunLog, StoreError, ThreadName,
    ThreadPage, ThreadQuery, ThreadSummary, TrashedThread,
};
use agui_types::PROTOCOL_VERSION;
use agui_types::event::{
    Event, RunFinishedEvent, RunFinishedOutcome, RunFinishedSuccessOutcome, RunStartedEvent,
};
use agui_types::input::RunAgentInput;
use host::http::Principal;
use std::fmt::Debug;
use std::sync::Arc;

/// The threads that the server has open.
pub trait LiveThreads: Debug + Send + Sync {
    /// Returns the log of a run that this server has in memory.
    fn log(&self, thread: &ThreadName, run_id: &str) -> Option<Arc<RunLog>>;

    /// Closes a thread that is about to be removed. Returns `false` if one of its runs is active.
    fn close(&self, thread: &ThreadName) -> bool;
}

/// The conversations of a server.
#[derive(Debug)]
pub struct History {
    file: Arc<FileStore>,
    replica: Arc<Replica>,
    limits: LogLimits,
    live: Arc<dyn LiveThreads>,
}

impl History {
    /// Creates the history of the runs that `replica` stores in `file`.
    pub fn new(
        file: Arc<FileStore>,
        replica: Arc<Replica>,
        limits: LogLimits,
        live: Arc<dyn LiveThreads>,
    ) -> Self {
        Self { file, replica, limits, live }
    }

    pub(crate) async fn list(
        &self,
        user: &Principal,
        query: ThreadQuery,
    ) -> Result<ThreadPage, StoreError> {
        self.file.threads(user.as_str(), query).await
    }

    pub(crate) async fn find(
        &self,
        user: &Principal,
        agent: Option<&str>,
        id: &str,
    ) -> Result<ThreadSummary, HistoryError> {
        let found = self.file.thread(user.as_str(), agent, id).await?;
        found.ok_or(HistoryError::Unknown)
    }

    pub(crate) async fn rename(
        &self,
        user: &Principal,
        agent: Option<&str>,
        id: &str,
        title: &str,
    ) -> Result<ThreadSummary, HistoryError> {
        if title.trim().is_empty() {
            return Err(HistoryError::EmptyTitle);
        }
        let thread = name(user, self.find(user, agent, id).await?);
        self.file.rename(&thread, title).await?;
        self.find(user, Some(&thread.agent), id).await
    }

    pub(crate) async fn remove(
        &self,
        user: &Principal,
        agent: Option<&str>,
        id: &str,
    ) -> Result<(), HistoryError> {
        let thread = name(user, self.find(user, agent, id).await?);
        if !self.live.close(&thread) {
            return Err(HistoryError::Active);
        }
        self.file.remove(&thread).await?;
        Ok(())
    }

    pub(crate) async fn trash(&self, user: &Principal) -> Result<Vec<TrashedThread>, StoreError> {
        self.file.trash(user.as_str()).await
    }

    pub(crate) async fn restore(
        &self,
        user: &Principal,
        number: i64,
    ) -> Result<ThreadSummary, HistoryError> {
        match self.file.restore(user.as_str(), number).await? {
            Restoration::Restored(thread) => Ok(thread),
            Restoration::Occupied => Err(HistoryError::Occupied),
            Restoration::Unknown => Err(HistoryError::Unknown),
        }
    }

    pub(crate) async fn delete_trashed(
        &self,
        user: &Principal,
        number: i64,
    ) -> Result<(), HistoryError> {
        if self.file.delete_trashed(user.as_str(), number).await? {
            Ok(())
        } else {
            Err(HistoryError::Unknown)
        }
    }

    /// Follows the last run of a thread, after the messages and the state before it. A thread
    /// without runs is empty.
    pub(crate) async fn connect(
        &self,
        user: &Principal,
        agent: &str,
        input: RunAgentInput,
    ) -> Result<Reader, HistoryError> {
        let thread = ThreadName {
            user: user.as_str().to_owned(),
            agent: agent.to_owned(),
            id: input.thread_id.to_string(),
        };
        let Some(last) = self.file.last_run(&thread).await? else {
            let RunAgentInput { thread_id, run_id, .. } = input;
            let mut finished = RunFinishedEvent::new(thread_id.clone(), run_id.clone());
            finished.outcome = Some(RunFinishedOutcome::Success(RunFinishedSuccessOutcome::new()));
            let empty = RunAgentInput::new(thread_id, run_id, Vec::new());
            return Ok(self.ended(&empty, finished)?);
        };
        let LastRun { name, record, question } = last;
        if let Some(mut question) = question {
            question.thread_id = record.input.thread_id.clone();
            question.run_id = record.input.run_id.clone();
            return Ok(self.ended(&record.input, question)?);
        }
        let log = match self.live.log(&thread, record.input.run_id.as_str()) {
            Some(log) => log,
            None => self.replica.copy(&name, &record, self.limits).await?,
        };
        Ok(log.follow(0)?.with_snapshot(record.snapshot()))
    }

    /// Reads a conversation that ends with this event.
    fn ended(
        &self,
        input: &RunAgentInput,
        end: RunFinishedEvent,
    ) -> Result<Reader, crate::store::TooManyReaders> {
        let log = Arc::new(RunLog::new(input, self.limits));
        let mut started = RunStartedEvent::new(end.thread_id.clone(), end.run_id.clone());
        started.protocol_version = Some(PROTOCOL_VERSION.into());
        for event in [Event::from(started), end.into()] {
            log.push(&event);
        }
        log.end();
        Ok(log.follow(0)?.with_snapshot(crate::store::snapshot(input)))
    }
}

fn name(user: &Principal, thread: ThreadSummary) -> ThreadName {
    ThreadName { user: user.as_str().to_owned(), agent: thread.agent, id: thread.id }
}
