//! The thread that owns the database: each transaction has all jobs that wait.
use crate::fair_queue::{FairLimits, FairQueue};
use crate::store::StoreError;
use rusqlite::{Connection, ErrorCode, TransactionBehavior};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use tokio::sync::{mpsc, oneshot};

/// Largest number of changes in one commit.
pub(super) const MAX_GROUP: usize = 256;

/// Largest number of changes of one user among those that wait for the thread; further ones wait
/// for their turn.
const MAX_OF_USER: usize = 2;

/// A change, and whether it is synchronized to the disk. It returns what reports its outcome after
/// the commit.
struct Job {
    run: Box<dyn FnOnce(&Connection) -> Report + Send>,
    is_synced: bool,
}

/// The first change of a connection. It is repeated until it is committed.
pub(super) type Begin = Box<dyn Fn(&Connection) -> rusqlite::Result<()> + Send>;

type Report = Box<dyn FnOnce(Option<&StoreError>) + Send>;

/// The thread with the database. It ends, and closes the file, when dropped.
#[derive(Debug)]
pub(super) struct Worker {
    jobs: Option<mpsc::Sender<Job>>,
    thread: Option<JoinHandle<()>>,
    turns: Arc<FairQueue>,
    is_writable: Arc<AtomicBool>,
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        if is_unwritable(&error) {
            return Self(format!(
                "its file cannot be written ({error}); conversations can be read; free space on the disk to continue them"
            ));
        }
        Self(error.to_string())
    }
}

/// Returns whether an error is that of a full disk, or of one that accepts no changes.
pub(super) fn is_unwritable(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error_code();
    matches!(code, Some(ErrorCode::DiskFull | ErrorCode::SystemIoFailure | ErrorCode::ReadOnly))
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
    /// Starts the thread. The change `begin`, which has failed, comes before all others.
    pub(super) fn new(connection: Connection, begin: Option<Begin>) -> Self {
        let (jobs, inbox) = mpsc::channel(MAX_GROUP);
        let is_writable = Arc::new(AtomicBool::new(begin.is_none()));
        let state = is_writable.clone();
        let thread = thread::spawn(move || serve(connection, inbox, begin, &state));
        let limits = FairLimits { at_once: MAX_GROUP, of_user: MAX_OF_USER };
        let turns = FairQueue::new(limits);
        Self { jobs: Some(jobs), thread: Some(thread), turns, is_writable }
    }

    /// Returns whether the last commit succeeded.
    pub(super) fn is_writable(&self) -> bool {
        self.is_writable.load(Ordering::Relaxed)
    }

    /// Runs a change of a user, in turn with other users. Returns after its commit.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        user: &str,
        change: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.enqueue(user, change, false).await
    }

    /// Runs a change that a power failure must not undo: it is synchronized to the disk directly
    /// after its commit.
    pub(super) async fn run_synced<T: Send + 'static>(
        &self,
        user: &str,
        change: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.enqueue(user, change, true).await
    }

    async fn enqueue<T: Send + 'static>(
        &self,
        user: &str,
        change: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
        is_synced: bool,
    ) -> Result<T, StoreError> {
        let place = self.turns.enter(user).await;
        let (reply, done) = oneshot::channel();
        let run = Box::new(move |connection: &Connection| -> Report {
            let result = within_savepoint(connection, change).map_err(StoreError::from);
            Box::new(move |failed| {
                let _place = place;
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

/// Commits a change, or undoes it if it fails.
pub(super) fn within_transaction(connection: &Connection, change: &Begin) -> rusqlite::Result<()> {
    let transaction = connection.unchecked_transaction()?;
    change(&transaction)?;
    transaction.commit()
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

fn serve(
    mut connection: Connection,
    mut jobs: mpsc::Receiver<Job>,
    mut begin: Option<Begin>,
    is_writable: &AtomicBool,
) {
    while let Some(first) = jobs.blocking_recv() {
        let mut reports = Vec::new();
        let mut is_synced = false;
        let committed =
            commit(&mut connection, first, &mut jobs, begin.as_ref(), &mut reports, &mut is_synced);
        let failed = committed.err();
        if let Some(error) = &failed {
            tracing::error!(%error, "the file of the store cannot be written");
        }
        let has_failed = failed.is_some();
        is_writable.store(!has_failed, Ordering::Relaxed);
        if !has_failed {
            begin = None;
        }
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
    begin: Option<&Begin>,
    reports: &mut Vec<Report>,
    is_synced: &mut bool,
) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let begun = begin.map_or(Ok(()), |begin| begin(&transaction));
    let mut next = Some(first);
    while let Some(job) = next.take() {
        *is_synced |= job.is_synced;
        reports.push((job.run)(&transaction));
        // A full disk ends the transaction.
        if reports.len() < MAX_GROUP && !transaction.is_autocommit() {
            next = jobs.try_recv().ok();
        }
    }
    begun?;
    transaction.commit()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::file::schema;
    use futures::FutureExt;
    use futures::future::join_all;
    use std::sync::{Mutex, PoisonError};

    #[tokio::test]
    async fn changes_of_users_are_made_in_turn() {
        let worker = Worker::new(schema::in_memory().expect("a database"), None);
        let order = Arc::new(Mutex::new(Vec::new()));
        let (end, is_over) = std::sync::mpsc::channel::<()>();
        let long = move |_: &Connection| {
            let _ended = is_over.recv();
            Ok(())
        };
        let mut changes = vec![worker.run("a", long).boxed()];
        for user in ["a", "a", "a", "a", "a", "a", "a", "b"] {
            let order = order.clone();
            let note = move |_: &Connection| {
                order.lock().unwrap_or_else(PoisonError::into_inner).push(user);
                Ok(())
            };
            changes.push(worker.run(user, note).boxed());
        }
        for change in &mut changes {
            assert!(change.now_or_never().is_none());
        }
        drop(end);
        for made in join_all(changes).await {
            made.expect("a change");
        }
        let order = order.lock().unwrap_or_else(PoisonError::into_inner);
        let place = order.iter().position(|user| *user == "b");
        assert!(place.is_some_and(|place| place < MAX_OF_USER), "{order:?}");
    }
}
