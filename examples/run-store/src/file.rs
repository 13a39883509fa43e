//! A store in one file of this program: an SQLite database.
//!
//! SQLite was chosen over redb for its record of crash safety, its errors for damaged files, and because lists, searches and
//! evictions are queries. The file can be read by other tools.
//!
//! **Durability.** A change is committed before its method returns. Changes that arrive during a commit form the next one, at
//! most [`MAX_GROUP`](worker::MAX_GROUP) of them. A program that is killed loses only the changes that it is
//! waiting for. A power failure may also lose events of runs that have not ended; ended runs are synchronized to the disk.
//!
//! **History.** A run that is [retired](RunStore::retire_run) stays, if it is the last of its thread. Its input has the messages
//! before it, and its events those after it. Conversations beyond the limits of age and size are removed, the oldest first.
use crate::{
    Appended, LogPart, MemoryStore, Owners, RunRecord, RunStore, StoreError, ThreadName,
    ThreadPage, ThreadQuery, ThreadSummary,
};
use async_trait::async_trait;
use bytes::Bytes;
use rusqlite::Connection;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use worker::Worker;

mod notes;
mod runs;
mod schema;
mod threads;
mod titles;
mod worker;

pub use schema::FileError;

/// Limits of a [`FileStore`].
#[derive(Clone, Copy, Debug)]
pub struct FileLimits {
    /// Size of the conversations in bytes. The oldest are removed beyond it.
    pub bytes: u64,
    /// Time after which an unused conversation is removed.
    pub age: Duration,
}

impl FileLimits {
    /// Returns the time of the oldest data that stays.
    fn oldest(&self, now: i64) -> i64 {
        now.saturating_sub(i64::try_from(self.age.as_millis()).unwrap_or(i64::MAX))
    }
}

/// A store in one file, which survives the program, or in memory.
///
/// Leases, and messages between owners, are in memory: a file has one program.
#[derive(Debug)]
pub struct FileStore {
    worker: Worker,
    live: MemoryStore,
    limits: FileLimits,
}

impl FileStore {
    /// Opens the file. A missing file is created, readable by its owner only. Blocks for the time of the check of the file.
    ///
    /// # Errors
    /// The file cannot be opened, is used by another program, is damaged, or is of a newer version. The file is unchanged.
    pub fn open(path: &Path, limits: FileLimits) -> Result<Self, FileError> {
        let connection = schema::open(path)?;
        let failed = |error| FileError::new(path, &error);
        // The owners of these runs are dead, whether or not the runs have ended.
        connection.execute("UPDATE run SET retired = 1", ()).map_err(failed)?;
        notes::forget_old(&connection, &limits, now()).map_err(failed)?;
        threads::evict(&connection, &limits, now()).map_err(failed)?;
        Self::new(connection, limits).map_err(|error| FileError::new(path, &error))
    }

    /// Creates a store that ends with the program.
    ///
    /// # Errors
    /// There is no memory.
    pub fn in_memory(limits: FileLimits) -> Result<Self, StoreError> {
        Ok(Self::new(schema::in_memory()?, limits)?)
    }

    fn new(connection: Connection, limits: FileLimits) -> rusqlite::Result<Self> {
        Ok(Self { worker: Worker::new(connection), live: MemoryStore::default(), limits })
    }

    /// Returns a part of the conversations of a user, the most recently used first.
    ///
    /// # Errors
    /// The file cannot be read; likewise for the methods below.
    pub async fn threads(&self, user: &str, query: ThreadQuery) -> Result<ThreadPage, StoreError> {
        let user = user.to_owned();
        self.worker.run(move |it| threads::list(it, &user, &query)).await
    }

    /// Returns the most recently used conversation of a user with this id, and with this agent if there is one.
    ///
    /// # Errors
    /// See [`threads`](Self::threads).
    pub async fn thread(
        &self,
        user: &str,
        agent: Option<&str>,
        id: &str,
    ) -> Result<Option<ThreadSummary>, StoreError> {
        let (user, agent, id) = (user.to_owned(), agent.map(str::to_owned), id.to_owned());
        self.worker.run(move |it| threads::find(it, &user, agent.as_deref(), &id)).await
    }

    /// Returns the name and the record of the last run of a thread.
    ///
    /// # Errors
    /// See [`threads`](Self::threads).
    pub async fn last_run(
        &self,
        thread: &ThreadName,
    ) -> Result<Option<(String, RunRecord)>, StoreError> {
        let thread = thread.text();
        self.worker.run(move |it| runs::last(it, &thread)).await
    }

    /// Sets the user's title of a conversation. Returns `false` if there is no such conversation.
    ///
    /// # Errors
    /// See [`threads`](Self::threads).
    pub async fn rename(&self, thread: &ThreadName, title: &str) -> Result<bool, StoreError> {
        let (thread, title) = (thread.text(), title.to_owned());
        self.worker
            .run_synced(move |it| threads::rename(it, &thread, &title, threads::TitleBy::User))
            .await
    }

    /// Stores a text of the program by kind and key, replacing the previous one; `None` removes it. A text that is not
    /// changed is removed after [`FileLimits::age`], when the file is opened.
    ///
    /// # Errors
    /// See [`threads`](Self::threads).
    pub async fn note(
        &self,
        kind: &'static str,
        key: &str,
        text: Option<String>,
    ) -> Result<(), StoreError> {
        let key = key.to_owned();
        self.worker.run_synced(move |it| notes::set(it, kind, &key, text.as_deref(), now())).await
    }

    /// Returns all keys of a kind with their texts, the oldest first.
    ///
    /// # Errors
    /// See [`threads`](Self::threads).
    pub async fn notes(&self, kind: &'static str) -> Result<Vec<(String, String)>, StoreError> {
        self.worker.run(move |it| notes::all(it, kind)).await
    }

    /// Removes a conversation with its runs and its session. Returns `false` if it does not exist.
    ///
    /// # Errors
    /// See [`threads`](Self::threads).
    pub async fn remove(&self, thread: &ThreadName) -> Result<bool, StoreError> {
        let thread = thread.text();
        self.worker.run_synced(move |it| threads::remove(it, &thread)).await
    }
}

/// Returns the milliseconds since 1970.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

#[async_trait]
impl RunStore for FileStore {
    fn owners(&self) -> &dyn Owners {
        &self.live
    }

    async fn begin_run(&self, run: &str, record: &RunRecord) -> Result<bool, StoreError> {
        let (run, record, limits) = (run.to_owned(), record.clone(), self.limits);
        self.worker.run(move |it| runs::begin(it, &run, record, &limits, now())).await
    }

    async fn run(&self, run: &str) -> Result<Option<RunRecord>, StoreError> {
        let run = run.to_owned();
        self.worker.run(move |it| runs::record(it, &run)).await
    }

    async fn append(&self, run: &str, part: &LogPart, _: Duration) -> Result<Appended, StoreError> {
        let (name, part, has_ended) = (run.to_owned(), part.clone(), part.has_ended);
        let append = move |it: &Connection| runs::append(it, &name, &part, now());
        let appended = if has_ended {
            self.worker.run_synced(append).await
        } else {
            self.worker.run(append).await
        };
        if let Ok(Appended::Taken) = appended {
            self.live.announce(run);
        }
        appended
    }

    async fn read(&self, run: &str, after: u64) -> Result<Option<LogPart>, StoreError> {
        let run = run.to_owned();
        self.worker.run(move |it| runs::read(it, &run, after)).await
    }

    async fn end_run(&self, run: &str, after: u64, frame: &Bytes) -> Result<(), StoreError> {
        let (name, frame) = (run.to_owned(), frame.clone());
        self.worker.run_synced(move |it| runs::end(it, &name, after, &frame)).await?;
        self.live.announce(run);
        Ok(())
    }

    async fn forget_run(&self, run: &str) -> Result<(), StoreError> {
        self.live.forget_run(run).await?;
        let run = run.to_owned();
        self.worker.run(move |it| runs::forget(it, &run)).await
    }

    async fn retire_run(&self, run: &str) -> Result<(), StoreError> {
        self.live.forget_run(run).await?;
        let run = run.to_owned();
        self.worker.run(move |it| runs::retire(it, &run)).await
    }

    async fn remember(&self, thread: &str, what: Option<&str>) -> Result<(), StoreError> {
        let (thread, what) = (thread.to_owned(), what.map(str::to_owned));
        self.worker
            .run(move |it| notes::set(it, notes::SESSION, &thread, what.as_deref(), now()))
            .await
    }

    async fn recall(&self, thread: &str) -> Result<Option<String>, StoreError> {
        let thread = thread.to_owned();
        self.worker.run(move |it| notes::get(it, notes::SESSION, &thread)).await
    }

    async fn keep(&self, name: &str, what: Option<&str>) -> Result<(), StoreError> {
        let (name, what) = (name.to_owned(), what.map(str::to_owned));
        let kept = move |it: &Connection| notes::keep(it, &name, what.as_deref(), now());
        match self.worker.run_synced(kept).await? {
            true => Ok(()),
            false => Err(StoreError::too_many_kept()),
        }
    }

    async fn kept(&self, name: &str) -> Result<Option<String>, StoreError> {
        let name = name.to_owned();
        self.worker.run(move |it| notes::get(it, notes::KEPT, &name)).await
    }
}
