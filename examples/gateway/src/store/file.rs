//! A store in one file of this program: an SQLite database.
//!
//! SQLite was chosen over redb for its record of crash safety, its errors for damaged files, and
//! because lists, searches and evictions are queries. The C compiler that it needs is also needed
//! by ring. The file can be read by other tools.
//!
//! | subject | behaviour |
//! |---|---|
//! | a killed program | loses only the change that was being written, and events of active runs of the last 50 ms. Changes that arrive during a commit form the next one, at most 256 |
//! | a power failure | may also lose the last events of runs that have not ended. Ended runs and titles are synchronized to the disk |
//! | permissions | the file has mode 600, a new folder 700 |
//! | a second program | is refused while the first has the file open |
//! | events | events that are added together are one row, with their sizes, up to 64 KiB |
//! | versions | an older file is brought to the newest version in one transaction. A file of a newer version is refused |
//! | a damaged file | is refused with its name and the finding, and stays as it is |
//! | history | the last run of each thread stays after its retention. Its input has the messages before it, its events those after it |
//! | limits | the oldest conversations of a user beyond the user's share of `FileLimits::bytes`, or beyond `FileLimits::threads`, are moved to the user's trash. Other users' never make room |
//! | users | changes wait in turn, at most two of a user at once. Lists and searches are read by two connections beside the writer, one for each user |
//! | a full disk | conversations can be read; changes fail until there is space |
//! | age | conversations that were not used for `FileLimits::age` are moved to the trash. A clock that jumps by more than 7 days does not age them |
//! | trash | deleted and moved conversations can be restored for 30 days of use, within the same share again |
//!
//! A test kills a program that writes, and compares the file with the changes that the store had
//! accepted. It kills 20 times; the variable `STORE_KILLS` sets another number:
//!
//! ```sh
//! STORE_KILLS=1000 cargo test -p gateway --test it killed
//! ```
use crate::store::{
    AppendOutcome, LastRun, LogPart, MemoryStore, Owners, Restoration, RunRecord, RunStore,
    StoreError, ThreadName, ThreadPage, ThreadQuery, ThreadSummary, TrashedThread,
};
use async_trait::async_trait;
use bytes::Bytes;
use readers::Readers;
use rusqlite::Connection;
use schema::SoleUse;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use worker::{Begin, Worker};

mod clock;
mod frames;
mod limits;
mod notes;
mod readers;
mod runs;
mod schema;
mod threads;
mod titles;
mod trash;
mod worker;

pub use schema::FileError;

/// Limits of a [`FileStore`].
#[derive(Clone, Copy, Debug)]
pub struct FileLimits {
    /// Size of the conversations in bytes. The trash may have as many again.
    pub bytes: u64,
    /// Number of the conversations of a user; the trash may have as many again.
    pub threads: usize,
    /// Number of shares of the size, of which a user has at most one.
    pub shares: usize,
    /// Time of use of the store after which an unused conversation is moved to the trash.
    pub age: Duration,
}

impl FileLimits {
    /// Default number of the conversations of a user.
    pub const THREADS: usize = 20_000;

    /// Returns the size of the conversations of a user.
    fn share(&self) -> u64 {
        self.bytes / (self.shares.max(1) as u64)
    }

    /// Returns the number of the conversations of a user, for queries.
    fn threads(&self) -> i64 {
        i64::try_from(self.threads).unwrap_or(i64::MAX)
    }

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
    /// Missing for a store in memory, which the worker reads.
    readers: Option<Arc<Readers>>,
    worker: Worker,
    live: MemoryStore,
    limits: FileLimits,
    _sole_use: Option<SoleUse>,
}

/// The user of texts of the program in the order of changes.
const PROGRAM: &str = "";

impl FileStore {
    /// Opens the file. A missing file is created, readable by its owner only. Blocks for the time
    /// of the check of the file.
    ///
    /// A file of this version on a full disk can be read. Changes fail until there is space.
    ///
    /// # Errors
    /// The file cannot be opened, is used by another program, is damaged, or is of a newer version.
    /// The file is unchanged.
    pub fn open(path: &Path, limits: FileLimits) -> Result<Self, FileError> {
        let (connection, sole_use) = schema::open(path)?;
        let failed = |error| FileError::new(path, &error);
        let begin: Begin = Box::new(move |it: &Connection| {
            // The owners of these runs are dead, whether or not the runs have ended.
            it.execute("UPDATE run SET retired = 1 WHERE retired = 0", ())?;
            let now = clock::now(it)?;
            notes::forget_old(it, &limits, now)?;
            limits::expire(it, &limits, now)
        });
        let begun = worker::within_transaction(&connection, &begin);
        let begin = match begun {
            Ok(()) => None,
            Err(error) if worker::is_unwritable(&error) => {
                tracing::error!(
                    %error,
                    "the file of the store cannot be written; conversations can be read"
                );
                Some(begin)
            }
            Err(error) => return Err(failed(error)),
        };
        let readers = if cfg!(unix) { Some(Readers::open(path).map_err(failed)?) } else { None };
        Ok(Self {
            worker: Worker::new(connection, begin),
            readers,
            live: MemoryStore::default(),
            limits,
            _sole_use: Some(sole_use),
        })
    }

    /// Creates a store that ends with the program.
    ///
    /// # Errors
    /// There is no memory.
    pub fn in_memory(limits: FileLimits) -> Result<Self, StoreError> {
        Ok(Self {
            worker: Worker::new(schema::in_memory()?, None),
            readers: None,
            live: MemoryStore::default(),
            limits,
            _sole_use: None,
        })
    }

    /// Runs a query of a user.
    async fn query<T: Send + 'static>(
        &self,
        user: &str,
        query: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        match &self.readers {
            Some(readers) => readers.run(user, query).await,
            None => self.worker.run(user, query).await,
        }
    }

    /// Returns a part of the conversations of a user, the most recently used first.
    ///
    /// # Errors
    /// The file cannot be read; likewise for the methods below.
    pub async fn threads(&self, user: &str, query: ThreadQuery) -> Result<ThreadPage, StoreError> {
        let name = user.to_owned();
        self.query(user, move |it| threads::list(it, &name, &query)).await
    }

    /// Returns the most recently used conversation of a user with this id, and with this agent if
    /// there is one.
    ///
    /// # Errors
    /// See [`threads`](Self::threads).
    pub async fn thread(
        &self,
        user: &str,
        agent: Option<&str>,
        id: &str,
    ) -> Result<Option<ThreadSummary>, StoreError> {
        let name = user.to_owned();
        let agent = agent.map(str::to_owned);
        let id = id.to_owned();
        self.query(user, move |it| threads::find(it, &name, agent.as_deref(), &id)).await
    }

    /// Returns the last run of a thread.
    ///
    /// # Errors
    /// See [`threads`](Self::threads).
    pub async fn last_run(&self, thread: &ThreadName) -> Result<Option<LastRun>, StoreError> {
        let name = thread.text();
        self.query(&thread.user, move |it| runs::last(it, &name)).await
    }

    /// Sets the user's title of a conversation. Returns `false` if there is no such conversation.
    ///
    /// # Errors
    /// See [`threads`](Self::threads).
    pub async fn rename(&self, thread: &ThreadName, title: &str) -> Result<bool, StoreError> {
        let name = thread.text();
        let title = title.to_owned();
        let rename =
            move |it: &Connection| threads::rename(it, &name, &title, threads::TitleBy::User);
        self.worker.run_synced(&thread.user, rename).await
    }

    /// Stores a text of the program by kind and key, replacing the previous one; `None` removes it.
    /// A text that is not changed is removed after [`FileLimits::age`], when the file is opened.
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
        let set =
            move |it: &Connection| notes::set(it, kind, &key, text.as_deref(), clock::now(it)?);
        self.worker.run_synced(PROGRAM, set).await
    }

    /// Returns all keys of a kind with their texts, the oldest first.
    ///
    /// # Errors
    /// See [`threads`](Self::threads).
    pub async fn notes(&self, kind: &'static str) -> Result<Vec<(String, String)>, StoreError> {
        self.query(PROGRAM, move |it| notes::all(it, kind)).await
    }

    /// Moves a conversation with its runs to the trash, and forgets its session. Returns `false` if
    /// it does not exist.
    ///
    /// # Errors
    /// See [`threads`](Self::threads).
    pub async fn remove(&self, thread: &ThreadName) -> Result<bool, StoreError> {
        let name = thread.text();
        let limits = self.limits;
        let remove = move |it: &Connection| trash::remove(it, &limits, &name, clock::now(it)?);
        self.worker.run_synced(&thread.user, remove).await
    }

    /// Returns the trash of a user, the last moved conversations first.
    ///
    /// # Errors
    /// See [`threads`](Self::threads).
    pub async fn trash(&self, user: &str) -> Result<Vec<TrashedThread>, StoreError> {
        let name = user.to_owned();
        self.query(user, move |it| trash::list(it, &name)).await
    }

    /// Takes a conversation out of the trash of a user. Its session is not continued.
    ///
    /// # Errors
    /// See [`threads`](Self::threads).
    pub async fn restore(&self, user: &str, number: i64) -> Result<Restoration, StoreError> {
        let owner = user.to_owned();
        let limits = self.limits;
        let restore = move |it: &Connection| {
            let Some(name) = trash::name(it, &owner, number)? else {
                return Ok(Restoration::Unknown);
            };
            if threads::exists(it, &name.text())? {
                return Ok(Restoration::Occupied);
            }
            let now = clock::now(it)?;
            trash::restore(it, number, &name, now)?;
            limits::make_room(it, &limits, &name, now)?;
            let summary = threads::find(it, &owner, Some(&name.agent), &name.id)?;
            Ok(summary.map_or(Restoration::Unknown, Restoration::Restored))
        };
        self.worker.run_synced(user, restore).await
    }

    /// Deletes a conversation in the trash of a user. Returns `false` if it is not there.
    ///
    /// # Errors
    /// See [`threads`](Self::threads).
    pub async fn delete_trashed(&self, user: &str, number: i64) -> Result<bool, StoreError> {
        let owner = user.to_owned();
        let delete = move |it: &Connection| {
            if trash::name(it, &owner, number)?.is_none() {
                return Ok(false);
            }
            trash::delete(it, number)?;
            trash::return_space(it)?;
            Ok(true)
        };
        self.worker.run_synced(user, delete).await
    }
}

#[async_trait]
impl RunStore for FileStore {
    fn owners(&self) -> &dyn Owners {
        &self.live
    }

    async fn check(&self) -> Result<(), StoreError> {
        if self.worker.is_writable() {
            return Ok(());
        }
        let write = |it: &Connection| it.execute("UPDATE time SET clock = clock", ()).map(drop);
        self.worker.run(PROGRAM, write).await
    }

    async fn begin_run(&self, run: &str, record: &RunRecord) -> Result<bool, StoreError> {
        let run = run.to_owned();
        let limits = self.limits;
        let user = ThreadName::user_of(&record.thread);
        let record = record.clone();
        let begin =
            move |it: &Connection| limits::begin_run(it, &run, record, &limits, clock::now(it)?);
        self.worker.run(&user, begin).await
    }

    async fn run(&self, run: &str) -> Result<Option<RunRecord>, StoreError> {
        let name = run.to_owned();
        self.query(&ThreadName::user_of(run), move |it| runs::record(it, &name)).await
    }

    async fn append(
        &self,
        run: &str,
        part: &LogPart,
        _: Duration,
    ) -> Result<AppendOutcome, StoreError> {
        let name = run.to_owned();
        let part = part.clone();
        let limits = self.limits;
        let user = ThreadName::user_of(run);
        let has_ended = part.has_ended;
        let append =
            move |it: &Connection| limits::append(it, &name, &part, &limits, clock::now(it)?);
        let appended = if has_ended {
            self.worker.run_synced(&user, append).await
        } else {
            self.worker.run(&user, append).await
        };
        if let Ok(AppendOutcome::Taken) = appended {
            self.live.announce(run);
        }
        appended
    }

    async fn read(&self, run: &str, after: u64) -> Result<Option<LogPart>, StoreError> {
        let name = run.to_owned();
        self.query(&ThreadName::user_of(run), move |it| runs::read(it, &name, after)).await
    }

    async fn end_run(&self, run: &str, after: u64, frame: &Bytes) -> Result<(), StoreError> {
        let name = run.to_owned();
        let frame = frame.clone();
        let end = move |it: &Connection| runs::end(it, &name, after, &frame);
        self.worker.run_synced(&ThreadName::user_of(run), end).await?;
        self.live.announce(run);
        Ok(())
    }

    async fn cancel_run(&self, run: &str, reason: &str) -> Result<(), StoreError> {
        let name = run.to_owned();
        let reason = reason.to_owned();
        let cancel = move |it: &Connection| runs::cancel(it, &name, reason);
        self.worker.run_synced(&ThreadName::user_of(run), cancel).await
    }

    async fn forget_run(&self, run: &str) -> Result<(), StoreError> {
        self.live.forget_run(run).await?;
        let name = run.to_owned();
        self.worker.run(&ThreadName::user_of(run), move |it| runs::forget(it, &name)).await
    }

    async fn retire_run(&self, run: &str) -> Result<(), StoreError> {
        self.live.forget_run(run).await?;
        let name = run.to_owned();
        self.worker.run(&ThreadName::user_of(run), move |it| runs::retire(it, &name)).await
    }

    async fn remember(&self, thread: &str, what: Option<&str>) -> Result<(), StoreError> {
        let name = thread.to_owned();
        let text = what.map(str::to_owned);
        let set = move |it: &Connection| {
            notes::set(it, notes::SESSION, &name, text.as_deref(), clock::now(it)?)
        };
        self.worker.run(&ThreadName::user_of(thread), set).await
    }

    async fn recall(&self, thread: &str) -> Result<Option<String>, StoreError> {
        let name = thread.to_owned();
        let get = move |it: &Connection| notes::get(it, notes::SESSION, &name);
        self.query(&ThreadName::user_of(thread), get).await
    }

    async fn keep(&self, name: &str, what: Option<&str>) -> Result<(), StoreError> {
        let name = name.to_owned();
        let text = what.map(str::to_owned);
        let keep = move |it: &Connection| notes::keep(it, &name, text.as_deref(), clock::now(it)?);
        match self.worker.run_synced(PROGRAM, keep).await? {
            true => Ok(()),
            false => Err(StoreError::too_many_kept()),
        }
    }

    async fn kept(&self, name: &str) -> Result<Option<String>, StoreError> {
        let name = name.to_owned();
        self.worker.run(PROGRAM, move |it| notes::get(it, notes::KEPT, &name)).await
    }
}
