//! The tables, their versions, and the checks of a file.
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::collections::BTreeSet;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Marks a database of this library: `Span` in ASCII.
const APPLICATION_ID: i32 = 0x5370_616e;

/// Time for another program to close the file, for example at a restart.
const CLOSING_TIME: Duration = Duration::from_millis(500);

/// Size of the log of changes, in bytes, to which it is shortened.
const MAX_CHANGES: i64 = 16 * 1024 * 1024;

/// The steps from each version to the next one, starting from an empty file. Published steps never
/// change.
const STEPS: [&str; 6] = [
    "
    CREATE TABLE thread (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        name TEXT NOT NULL UNIQUE,
        user TEXT NOT NULL,
        agent TEXT NOT NULL,
        id TEXT NOT NULL,
        title TEXT NOT NULL,
        title_by INTEGER NOT NULL,
        text TEXT NOT NULL,
        created INTEGER NOT NULL,
        updated INTEGER NOT NULL
    );
    CREATE INDEX thread_of_user ON thread (user, updated, number);
    CREATE INDEX thread_by_age ON thread (updated);
    CREATE TABLE run (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        name TEXT NOT NULL UNIQUE,
        thread TEXT NOT NULL,
        id TEXT NOT NULL,
        record TEXT NOT NULL,
        folded INTEGER NOT NULL DEFAULT 0,
        last INTEGER NOT NULL DEFAULT 0,
        ended INTEGER NOT NULL DEFAULT 0,
        retired INTEGER NOT NULL DEFAULT 0
    );
    CREATE INDEX run_of_thread ON run (thread, number);
    CREATE TABLE frame (
        run INTEGER NOT NULL,
        number INTEGER NOT NULL,
        bytes BLOB NOT NULL,
        PRIMARY KEY (run, number)
    ) WITHOUT ROWID;
    CREATE TABLE folded (
        run INTEGER NOT NULL,
        place INTEGER NOT NULL,
        bytes BLOB NOT NULL,
        PRIMARY KEY (run, place)
    ) WITHOUT ROWID;
    CREATE TABLE note (
        kind TEXT NOT NULL,
        key TEXT NOT NULL,
        text TEXT NOT NULL,
        updated INTEGER NOT NULL,
        PRIMARY KEY (kind, key)
    ) WITHOUT ROWID;
",
    // Sizes, ages and a trash. The last use of the store is the time of its last change.
    "
    CREATE TABLE time (clock INTEGER NOT NULL, age INTEGER NOT NULL);
    INSERT INTO time SELECT coalesce(max(updated), 0), coalesce(max(updated), 0)
        FROM (SELECT updated FROM thread UNION ALL SELECT updated FROM note);
    ALTER TABLE run ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
    UPDATE run SET bytes = octet_length(record)
        + (SELECT coalesce(sum(octet_length(bytes) + 16), 0) FROM frame WHERE run = run.number)
        + (SELECT coalesce(sum(octet_length(bytes) + 16), 0) FROM folded WHERE run = run.number);
    ALTER TABLE thread ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE thread ADD COLUMN used INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE thread ADD COLUMN trashed INTEGER;
    ALTER TABLE thread ADD COLUMN reason INTEGER NOT NULL DEFAULT 0;
    UPDATE thread SET used = updated, bytes = 1024 + octet_length(text)
        + (SELECT coalesce(sum(bytes), 0) FROM run WHERE run.thread = thread.name);
    DROP INDEX thread_by_age;
    CREATE INDEX thread_by_use ON thread (used);
    CREATE INDEX thread_by_trash ON thread (trashed) WHERE trashed IS NOT NULL;
    CREATE INDEX thread_by_size ON thread (user, trashed, bytes);
",
    // An index of texts. Until here a text began with the title, once for each title that the
    // thread had.
    "
    ALTER TABLE thread ADD COLUMN sought_title TEXT NOT NULL DEFAULT '';
    UPDATE thread SET sought_title = substr(text, 1, instr(text, char(10)) - 1),
        text = substr(substr(text, instr(text, char(10)) + 1), -65536)
        WHERE instr(text, char(10)) > 0;
    CREATE VIRTUAL TABLE search USING fts5(
        user, text, content = 'thread', content_rowid = 'number', tokenize = 'trigram case_sensitive 1'
    );
    INSERT INTO search (search) VALUES ('rebuild');
    CREATE TRIGGER thread_insert AFTER INSERT ON thread BEGIN
        INSERT INTO search (rowid, user, text) VALUES (new.number, new.user, new.text);
    END;
    CREATE TRIGGER thread_delete AFTER DELETE ON thread BEGIN
        INSERT INTO search (search, rowid, user, text)
            VALUES ('delete', old.number, old.user, old.text);
    END;
    CREATE TRIGGER thread_update AFTER UPDATE OF text ON thread WHEN old.text <> new.text BEGIN
        INSERT INTO search (search, rowid, user, text)
            VALUES ('delete', old.number, old.user, old.text);
        INSERT INTO search (rowid, user, text) VALUES (new.number, new.user, new.text);
    END;
    UPDATE thread SET bytes = bytes + 3 * octet_length(text);
",
    // The run before one that began to wait for its end. Its messages are not in the record yet.
    "
    ALTER TABLE run ADD COLUMN follows INTEGER;
    CREATE INDEX run_after ON run (follows) WHERE follows IS NOT NULL;
",
    // The end with questions of an earlier run, for a run that left them open.
    "
    ALTER TABLE run ADD COLUMN question BLOB;
",
    // Rows with several events: the number is that of the last one, and their sizes are numbers of
    // four bytes, the lowest first.
    "
    ALTER TABLE frame ADD COLUMN sizes BLOB;
",
];

/// Files that this program has open: locks are those of a process.
static OPEN: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// The only use of a file in this program, which ends when dropped.
#[derive(Debug)]
pub(super) struct SoleUse(PathBuf);

impl SoleUse {
    fn of(path: &Path) -> Result<Self, FileError> {
        let failed =
            |error: io::Error| FileError::Open { path: path.to_owned(), why: error.to_string() };
        let path = fs::canonicalize(path).map_err(failed)?;
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        if open.insert(path.clone()) { Ok(Self(path)) } else { Err(FileError::InUse(path)) }
    }
}

impl Drop for SoleUse {
    fn drop(&mut self) {
        OPEN.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.0);
    }
}

/// The file system module of SQLite. Its locks exclude other programs, and permit other connections
/// of this one.
#[cfg(unix)]
const VFS: &str = "unix-excl";
#[cfg(windows)]
const VFS: &str = "win32";

/// A file cannot be used as a store. It is unchanged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// The file cannot be opened or created.
    #[error("{path}: {why}", path = .path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// The reason of the system.
        why: String,
    },
    /// Another program has the file open.
    #[error("{path}: another program uses this file; stop that program, or choose another file", path = .0.display())]
    InUse(PathBuf),
    /// A newer version has written the file.
    #[error("{path}: expected at most version {known}, got version {got} of a newer program; use that program, or choose another file", path = .path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Newest version of this program.
        known: usize,
        /// Version of the file.
        got: i64,
    },
    /// The file is not a store, or is damaged.
    #[error("{path}: not a store of conversations, or damaged: {why}; move the file away, or restore a copy of it", path = .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The finding.
        why: String,
    },
}

impl FileError {
    pub(super) fn new(path: &Path, error: &rusqlite::Error) -> Self {
        let path = path.to_owned();
        let why = error.to_string();
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::InUse(path),
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
                Self::Damaged { path, why }
            }
            _ => Self::Open { path, why },
        }
    }
}

/// Opens or creates a file, checks it, and brings it to the newest version.
pub(super) fn open(path: &Path) -> Result<(Connection, SoleUse), FileError> {
    let failed = |error: rusqlite::Error| FileError::new(path, &error);
    create(path)
        .map_err(|error| FileError::Open { path: path.to_owned(), why: error.to_string() })?;
    let sole_use = SoleUse::of(path)?;
    let mut connection = connect(path).map_err(failed)?;
    // A file that is refused stays as it is, with its log of changes.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).map_err(failed)?;
    connection.busy_timeout(CLOSING_TIME).map_err(failed)?;
    connection.execute_batch("BEGIN EXCLUSIVE; COMMIT").map_err(failed)?;
    let number = |name: &str| {
        connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).map_err(failed)
    };
    let application = number("application_id")?;
    let version = number("user_version")?;
    let tables: i64 = connection
        .query_row("SELECT count(*) FROM sqlite_schema", (), |row| row.get(0))
        .map_err(failed)?;
    let damaged = |why: String| Err(FileError::Damaged { path: path.to_owned(), why });
    if tables > 0 {
        if application != i64::from(APPLICATION_ID) {
            return damaged("a database of another program".to_owned());
        }
        if usize::try_from(version).map_or(true, |version| version > STEPS.len()) {
            let path = path.to_owned();
            return Err(FileError::Newer { path, known: STEPS.len(), got: version });
        }
        let found: String =
            connection.query_row("PRAGMA quick_check(1)", (), |row| row.get(0)).map_err(failed)?;
        if found != "ok" {
            return damaged(found);
        }
    }
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false).map_err(failed)?;
    prepare(&mut connection).map_err(failed)?;
    Ok((connection, sole_use))
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags_and_vfs(path, flags, VFS)
}

/// Opens another connection to a file that this program has open, for reading.
pub(super) fn reader(path: &Path) -> rusqlite::Result<Connection> {
    let connection = connect(path)?;
    connection.pragma_update(None, "query_only", true)?;
    Ok(connection)
}

/// Creates a database in memory.
pub(super) fn in_memory() -> rusqlite::Result<Connection> {
    let mut connection = Connection::open_in_memory()?;
    prepare(&mut connection)?;
    Ok(connection)
}

/// Creates the file and its folder, unless they exist, for their owner only.
fn create(path: &Path) -> io::Result<()> {
    let mut folder = DirBuilder::new();
    let mut file = OpenOptions::new();
    folder.recursive(true);
    file.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
        folder.mode(0o700);
        file.mode(0o600);
    }
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        folder.create(parent)?;
    }
    match file.open(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => fs::metadata(path).map(drop),
        created => created.map(drop),
    }
}

/// Sets the options of a checked database, and runs the steps to the newest version.
fn prepare(connection: &mut Connection) -> rusqlite::Result<()> {
    // Freed space can be returned to the file system. Without effect after the first table.
    connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    connection.query_row("PRAGMA journal_mode = WAL", (), |_| Ok(()))?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.query_row(&format!("PRAGMA journal_size_limit = {MAX_CHANGES}"), (), |_| Ok(()))?;
    // Removed conversations are overwritten where this needs no further writes.
    connection.query_row("PRAGMA secure_delete = FAST", (), |_| Ok(()))?;
    let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if usize::try_from(version).is_ok_and(|version| version == STEPS.len()) {
        return Ok(());
    }
    let transaction = connection.transaction()?;
    for step in STEPS.iter().skip(usize::try_from(version).unwrap_or_default()) {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", STEPS.len() as i64)?;
    transaction.commit()
}
