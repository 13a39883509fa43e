//! The thread that owns the database: each transaction has all jobs that wait.
use crate::StoreError;
use rusqlite::{Connection, TransactionBehavior};
use std::thread::{self, JoinHandle};
use tokio::sync::{mpsc, oneshot};

/// Largest number of changes in one commit.
pub(super) const MAX_GROUP: usize = 256;

/// Largest number of waiting changes; further ones wait for a place.
const MAX_WAITING: usize = 1024;

/// A change, and whether it is synchronized to the disk. It returns what reports its outcome after the commit.
struct Job {
    run: Box<dyn FnOnce(&Connection) -> Report + Send>,
    is_synced: bool,
}

type Report = Box<dyn FnOnce(Option<&StoreError>) + Send>;

/// The thread with the database. It ends, and closes the file, when dropped.
#[derive(Debug)]
pub(super) struct Worker {
    jobs: Option<mpsc::Sender<Job>>,
    thread: Option<JoinHandle<()>>,
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        Self(error.to_string())
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            let _panicked = thread.join();
        }
    }
}

impl Worker {
    pub(super) fn new(connection: Connection) -> Self {
        let (jobs, inbox) = mpsc::channel(MAX_WAITING);
        let thread = thread::spawn(move || serve(connection, inbox));
        Self { jobs: Some(jobs), thread: Some(thread) }
    }

    /// Runs a change. Returns after its commit.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        change: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.enqueue(change, false).await
    }

    /// Runs a change that a power failure must not undo: it is synchronized to the disk directly after its commit.
    pub(super) async fn run_synced<T: Send + 'static>(
        &self,
        change: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.enqueue(change, true).await
    }

    async fn enqueue<T: Send + 'static>(
        &self,
        change: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
        is_synced: bool,
    ) -> Result<T, StoreError> {
        let (reply, done) = oneshot::channel();
        let run = Box::new(move |connection: &Connection| -> Report {
            let result = within_savepoint(connection, change).map_err(StoreError::from);
            Box::new(move |failed| {
                let _gone = reply.send(match failed {
                    Some(error) => Err(error.clone()),
                    None => result,
                });
            })
        });
        let ended = || StoreError("the file of the store cannot be written".to_owned());
        let jobs = self.jobs.as_ref().ok_or_else(ended)?;
        jobs.send(Job { run, is_synced }).await.map_err(|_| ended())?;
        done.await.map_err(|_| ended())?
    }
}

/// Undoes a change that fails, without the others of its transaction.
fn within_savepoint<T>(
    connection: &Connection,
    change: impl FnOnce(&Connection) -> rusqlite::Result<T>,
) -> rusqlite::Result<T> {
    connection.execute_batch("SAVEPOINT change")?;
    let result = change(connection);
    let end = if result.is_ok() { "RELEASE change" } else { "ROLLBACK TO change; RELEASE change" };
    connection.execute_batch(end)?;
    result
}

fn serve(mut connection: Connection, mut jobs: mpsc::Receiver<Job>) {
    while let Some(first) = jobs.blocking_recv() {
        let (mut reports, mut is_synced) = (Vec::new(), false);
        let committed = commit(&mut connection, first, &mut jobs, &mut reports, &mut is_synced);
        let failed = committed.err();
        if let Some(error) = &failed {
            tracing::error!(%error, "the file of the store cannot be written");
        }
        let has_failed = failed.is_some();
        let failed = failed.map(StoreError::from);
        reports.into_iter().for_each(|report| report(failed.as_ref()));
        if is_synced && !has_failed {
            // Synchronizes the log of changes, then the database.
            let synced = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", (), |_| Ok(()));
            if let Err(error) = synced {
                tracing::warn!(%error, "the file of the store is synchronized later");
            }
        }
    }
}

fn commit(
    connection: &mut Connection,
    first: Job,
    jobs: &mut mpsc::Receiver<Job>,
    reports: &mut Vec<Report>,
    is_synced: &mut bool,
) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut next = Some(first);
    while let Some(job) = next.take() {
        *is_synced |= job.is_synced;
        reports.push((job.run)(&transaction));
        // A full disk ends the transaction.
        if reports.len() < MAX_GROUP && !transaction.is_autocommit() {
            next = jobs.try_recv().ok();
        }
    }
    transaction.commit()
}
