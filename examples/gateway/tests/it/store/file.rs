//! Files of stores: their contract, permissions, versions and damages.
use crate::store::contract::{all, record, step};
use gateway::store::{FileError, FileLimits, FileStore, MAX_KEPT, MemoryStore, RunStore};
use proptest::prelude::*;
use rusqlite::Connection;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

const LIMITS: FileLimits = FileLimits {
    bytes: 64 << 20,
    threads: FileLimits::THREADS,
    shares: 1,
    age: Duration::from_secs(3600),
};

proptest! {
    /// For any steps in any order, the store in a file behaves as the memory store.
    #[test]
    fn file_behaves_as_memory(steps in prop::collection::vec(step(), 0..40)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let (expected, got) = runtime.expect("a runtime").block_on(async {
            let file = FileStore::in_memory(LIMITS).expect("memory");
            (all(Arc::new(MemoryStore::default()), &steps).await, all(Arc::new(file), &steps).await)
        });
        prop_assert_eq!(got, expected);
    }
}

/// Writes a run to a new file, and closes it.
async fn written(path: &Path) {
    let store = FileStore::open(path, LIMITS).expect("a file");
    assert!(store.begin_run("run", &record()).await.expect("a run"));
    store.remember("thread", Some("session")).await.expect("a text");
    store.keep("key", Some("token")).await.expect("a text");
    store.note("kind", "kept", Some("note".to_owned())).await.expect("a text");
    store.note("kind", "removed", Some("note".to_owned())).await.expect("a text");
    store.note("kind", "removed", None).await.expect("a change");
}

#[tokio::test]
async fn contents_survive_the_program() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("new/folder/store.db");
    written(&path).await;
    let store = FileStore::open(&path, LIMITS).expect("the same file");
    assert!(store.run("run").await.expect("a read").is_some());
    assert_eq!(store.recall("thread").await.expect("a read").as_deref(), Some("session"));
    let kept = [("kept".to_owned(), "note".to_owned())];
    assert_eq!(store.notes("kind").await.expect("a read"), kept);
}

#[tokio::test]
async fn texts_of_the_program_are_limited_in_number_and_not_in_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("store.db");
    written(&path).await;
    Connection::open(&path)
        .expect("a file")
        .execute("UPDATE note SET updated = 0", ())
        .expect("an age");
    let store = FileStore::open(&path, LIMITS).expect("the same file");
    assert_eq!(store.recall("thread").await.expect("a read"), None);
    assert_eq!(store.kept("key").await.expect("a read").as_deref(), Some("token"));
    let memory = MemoryStore::default();
    memory.keep("key", Some("token")).await.expect("a text");
    let stores: [&dyn RunStore; 2] = [&store, &memory];
    for store in stores {
        for number in 1..MAX_KEPT {
            store.keep(&number.to_string(), Some("")).await.expect("a text");
        }
        let refused = store.keep("more", Some("")).await.expect_err("an error").to_string();
        assert!(refused.contains("1024"), "{refused}");
        store.keep("key", Some("new")).await.expect("a change of a text");
        store.keep("1", None).await.expect("a removal");
        store.keep("more", Some("")).await.expect("a text");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn only_the_owner_can_read_the_file_and_its_folder() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("new/store.db");
    let store = FileStore::open(&path, LIMITS).expect("a file");
    assert!(store.begin_run("run", &record()).await.expect("a run"));
    let mode = |path: &Path| fs::metadata(path).expect("a file").permissions().mode() & 0o777;
    assert_eq!(mode(&folder.path().join("new")), 0o700);
    let files: Vec<_> = fs::read_dir(folder.path().join("new")).expect("a folder").collect();
    assert!(files.len() > 1, "the database and its log of changes: {files:?}");
    for file in files {
        let file = file.expect("a file").path();
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
}

#[tokio::test]
async fn file_of_a_newer_version_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("store.db");
    written(&path).await;
    let newer = Connection::open(&path).expect("a database");
    newer.pragma_update(None, "user_version", 1000).expect("a version");
    drop(newer);
    let before = fs::read(&path).expect("the file");
    let error = FileStore::open(&path, LIMITS).expect_err("the version is unknown");
    assert!(matches!(error, FileError::Newer { known: 6, got: 1000, .. }), "{error:?}");
    assert!(error.to_string().contains("store.db: expected at most version 6, got version 1000"));
    assert_eq!(fs::read(&path).expect("the file"), before);
}

#[tokio::test]
async fn file_whose_creation_was_interrupted_is_completed() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("store.db");
    fs::write(&path, "").expect("an empty file");
    written(&path).await;
}

/// Asserts that a file is refused with its name, the reason and the next step, and stays as it is.
fn refused(path: &Path, why: &str) {
    let before = fs::read(path).expect("the file");
    let error = FileStore::open(path, LIMITS).expect_err(why);
    assert!(matches!(error, FileError::Damaged { .. }), "{error:?}");
    let text = error.to_string();
    assert!(text.contains(&path.display().to_string()), "{text}");
    assert!(text.contains(why) && text.contains("move the file away"), "{text}");
    assert_eq!(fs::read(path).expect("the file"), before, "the file is unchanged");
}

#[tokio::test]
async fn damaged_files_are_refused_and_unchanged() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("store.db");
    fs::write(&path, "[settings]\nlisten = \"127.0.0.1:1\"\n".repeat(100)).expect("a file");
    refused(&path, "not a database");

    let path = folder.path().join("page.db");
    written(&path).await;
    let mut bytes = fs::read(&path).expect("the file");
    let middle = bytes.len() / 2;
    bytes[4096..middle].fill(0xa5);
    fs::write(&path, bytes).expect("the damage");
    refused(&path, "damaged");

    let path = folder.path().join("cut.db");
    written(&path).await;
    let bytes = fs::read(&path).expect("the file");
    fs::write(&path, &bytes[..bytes.len() / 2]).expect("the damage");
    refused(&path, "damaged");

    let path = folder.path().join("other.db");
    let other = Connection::open(&path).expect("a database");
    other.execute_batch("CREATE TABLE bookmarks (url TEXT)").expect("a table");
    drop(other);
    refused(&path, "another program");
}

#[tokio::test]
async fn damaged_file_of_a_killed_program_is_unchanged_with_its_log() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("store.db");
    written(&path).await;
    let store = FileStore::open(&path, LIMITS).expect("a file");
    store.remember("other", Some("session")).await.expect("a text");
    let copy = folder.path().join("copy.db");
    let mut bytes = fs::read(&path).expect("the file");
    let middle = bytes.len() / 2;
    bytes[4096..middle].fill(0xa5);
    fs::write(&copy, bytes).expect("the damage");
    let log = folder.path().join("copy.db-wal");
    fs::copy(folder.path().join("store.db-wal"), &log).expect("the log of changes");
    drop(store);
    let before = fs::read(&log).expect("the log");
    assert!(!before.is_empty());
    refused(&copy, "damaged");
    assert_eq!(fs::read(&log).expect("the log"), before);
}

#[tokio::test]
async fn second_user_of_a_file_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("store.db");
    let first = FileStore::open(&path, LIMITS).expect("a file");
    let error = FileStore::open(&path, LIMITS).expect_err("the file is in use");
    assert!(matches!(error, FileError::InUse(_)), "{error:?}");
    assert!(error.to_string().contains("another program uses this file; stop that program"));
    drop(first);
    FileStore::open(&path, LIMITS).expect("the file is free");
}
