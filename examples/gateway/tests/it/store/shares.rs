//! Shares of users, the trash, and ages.
use crate::store::conversations::{answer, record, run, thread, user_message};
use gateway::store::{
    FileLimits, FileStore, LastRun, Restoration, RunStore, ThreadPage, ThreadQuery, TrashReason,
    TrashedThread,
};
use proptest::prelude::*;
use std::path::Path;
use std::time::Duration;

const LIMITS: FileLimits = FileLimits {
    bytes: 4 << 20,
    threads: FileLimits::THREADS,
    shares: 4,
    age: Duration::from_secs(3600),
};

const DAY: i64 = 24 * 60 * 60 * 1000;

async fn page(store: &FileStore, user: &str) -> ThreadPage {
    store.threads(user, ThreadQuery::default()).await.expect("a list")
}

async fn ids(store: &FileStore, user: &str) -> Vec<String> {
    page(store, user).await.threads.into_iter().map(|thread| thread.id).collect()
}

async fn trash(store: &FileStore, user: &str) -> Vec<TrashedThread> {
    store.trash(user).await.expect("a list")
}

/// Writes a conversation with an answer of this many bytes.
async fn write(store: &FileStore, user: &str, id: &str, bytes: usize) {
    let name = format!("{user}-{id}");
    let said = answer("n", &"x".repeat(bytes));
    run(store, &name, &thread(user, id), &user_message("m", id), &said).await;
    store.retire_run(&name).await.expect("a change");
}

fn memory(limits: FileLimits) -> FileStore {
    FileStore::in_memory(limits).expect("memory")
}

#[tokio::test]
async fn user_beyond_the_share_loses_only_own_conversations() {
    let store = memory(LIMITS);
    for id in ["1", "2", "3"] {
        write(&store, "bob", id, 100).await;
    }
    for number in 0..40 {
        write(&store, "mallory", &number.to_string(), 100_000).await;
    }
    assert_eq!(ids(&store, "bob").await, ["3", "2", "1"]);
    assert_eq!(page(&store, "bob").await.evicted, 0);
    let left = ids(&store, "mallory").await;
    assert_eq!(left.first().map(String::as_str), Some("39"));
    assert!((2..=10).contains(&left.len()), "{left:?}");
    let trashed = trash(&store, "mallory").await;
    assert!((2..=10).contains(&trashed.len()), "the trash has a share as well: {trashed:?}");
    assert!(trashed.iter().all(|thread| thread.reason == TrashReason::Space), "{trashed:?}");
    let moved = (0..40).rev().skip(left.len()).take(trashed.len());
    let moved: Vec<_> = moved.map(|number: i32| number.to_string()).collect();
    assert!(trashed.iter().map(|thread| &thread.id).eq(&moved), "the last moved: {trashed:?}");
    let listed = page(&store, "mallory").await;
    assert_eq!(listed.evicted, trashed.len() as i64, "the user is informed");
}

#[tokio::test]
async fn conversations_of_a_user_are_limited_in_number() {
    let store = memory(FileLimits { threads: 3, ..LIMITS });
    for number in 0..10 {
        write(&store, "u", &number.to_string(), 1).await;
    }
    assert_eq!(ids(&store, "u").await, ["9", "8", "7"]);
    let trashed: Vec<_> = trash(&store, "u").await.into_iter().map(|thread| thread.id).collect();
    assert_eq!(trashed, ["6", "5", "4"]);
}

#[tokio::test]
async fn full_store_takes_from_the_user_with_more_than_an_equal_part() {
    let store = memory(FileLimits { bytes: 3_200_000, shares: 1, ..LIMITS });
    for number in 0..8 {
        write(&store, "mallory", &number.to_string(), 100_000).await;
    }
    let others: Vec<_> = (0..24).map(|number| format!("user-{number}")).collect();
    for user in &others {
        write(&store, user, "0", 30_000).await;
    }
    assert_eq!(ids(&store, "mallory").await.len(), 8, "does not write");
    write(&store, "mallory", "more", 1).await;
    assert!(ids(&store, "mallory").await.len() < 8);
    for user in &others {
        assert_eq!(ids(&store, user).await.len(), 1, "less than an equal part");
    }
}

/// Limits of a store that a few conversations fill.
const SMALL: FileLimits = FileLimits { bytes: 1 << 20, ..LIMITS };

/// A conversation of one of four users.
fn conversation() -> impl Strategy<Value = (usize, u8, usize)> {
    (0..4_usize, 0..12_u8, prop_oneof![Just(100), Just(50_000), Just(100_000)])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    /// For any order of runs, a user has in the list and in the trash what the user would have
    /// alone.
    #[test]
    fn users_do_not_affect_each_other(runs in prop::collection::vec(conversation(), 0..24)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(async {
            let together = memory(SMALL);
            let alone: Vec<_> = (0..4).map(|_| memory(SMALL)).collect();
            for (user, id, bytes) in &runs {
                let name = user.to_string();
                for store in [&together, &alone[*user]] {
                    write(store, &name, &id.to_string(), *bytes).await;
                }
            }
            for (user, store) in alone.iter().enumerate() {
                let name = user.to_string();
                prop_assert_eq!(ids(&together, &name).await, ids(store, &name).await);
                let of = |trash: Vec<TrashedThread>| -> Vec<_> {
                    trash.into_iter().map(|thread| (thread.id, thread.reason)).collect()
                };
                prop_assert_eq!(of(trash(&together, &name).await), of(trash(store, &name).await));
            }
            Ok(())
        })?;
    }
}

#[tokio::test]
async fn deleted_conversation_can_be_restored() {
    let store = memory(LIMITS);
    let name = thread("u", "a");
    run(&store, "1", &name, &user_message("m", "Hi"), &answer("n", "Ho")).await;
    store.remember(&name.text(), Some("session")).await.expect("a text");
    let LastRun { record: before, .. } =
        store.last_run(&name).await.expect("a read").expect("a run");
    assert!(store.remove(&name).await.expect("a change"));
    let trashed = trash(&store, "u").await;
    let [deleted] = &trashed[..] else { panic!("{trashed:?}") };
    assert_eq!(deleted.reason, TrashReason::User);
    assert_eq!(deleted.title, "Hi");
    assert_eq!(deleted.days_left, 30);
    assert_eq!(page(&store, "u").await.evicted, 0);
    let number = deleted.number;
    let foreign = store.restore("other", number).await.expect("an answer");
    assert_eq!(foreign, Restoration::Unknown, "another user's");
    assert!(!store.delete_trashed("other", number).await.expect("an answer"), "another user's");
    let restored = store.restore("u", number).await.expect("an answer");
    assert!(matches!(restored, Restoration::Restored(thread) if thread.id == "a"));
    let LastRun { name: run, record: after, .. } =
        store.last_run(&name).await.expect("a read").expect("a run");
    assert_eq!(after.input.messages, before.input.messages);
    assert_eq!(store.read(&run, 0).await.expect("a read").expect("a run").frames.len(), 5);
    assert_eq!(store.restore("u", number).await.expect("an answer"), Restoration::Unknown);
}

#[tokio::test]
async fn deleted_conversation_is_no_part_of_a_new_one_with_its_id() {
    let store = memory(LIMITS);
    write(&store, "u", "a", 10).await;
    assert!(store.remove(&thread("u", "a")).await.expect("a change"));
    write(&store, "u", "a", 20).await;
    let LastRun { record, .. } =
        store.last_run(&thread("u", "a")).await.expect("a read").expect("a run");
    assert_eq!(record.input.messages.len(), 1, "no earlier messages");
    let number = trash(&store, "u").await[0].number;
    let restored = store.restore("u", number).await.expect("an answer");
    assert_eq!(restored, Restoration::Occupied);
    assert!(store.delete_trashed("u", number).await.expect("a change"));
    assert_eq!(trash(&store, "u").await, []);
    assert_eq!(ids(&store, "u").await, ["a"]);
}

#[tokio::test]
async fn conversation_that_made_room_continues_with_its_messages() {
    let store = memory(FileLimits { threads: 1, ..LIMITS });
    write(&store, "u", "a", 10).await;
    write(&store, "u", "b", 10).await;
    assert_eq!(ids(&store, "u").await, ["b"]);
    let asked = record(&thread("u", "a"), &user_message("o", "More"));
    assert!(store.begin_run("again", &asked).await.expect("a run"));
    let record = store.run("again").await.expect("a read").expect("a run");
    assert_eq!(record.input.messages.len(), 3, "the earlier messages and the new one");
    assert_eq!(ids(&store, "u").await, ["a"]);
    assert_eq!(trash(&store, "u").await[0].id, "b");
}

/// Moves the last use of a store into the past, by its clock.
fn pass(path: &Path, days: i64) {
    let other = rusqlite::Connection::open(path).expect("a database");
    other.execute("UPDATE time SET clock = clock - ?1", [days * DAY]).expect("a change");
}

#[tokio::test]
async fn clock_that_jumps_removes_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("store.db");
    let store = FileStore::open(&path, LIMITS).expect("a file");
    write(&store, "u", "a", 10).await;
    store.note("kind", "key", Some("text".to_owned())).await.expect("a text");
    drop(store);
    for days in [400, -400, 8, 400, -8] {
        pass(&path, days);
        let store = FileStore::open(&path, LIMITS).expect("a file");
        assert_eq!(ids(&store, "u").await, ["a"], "{days} days");
        assert_eq!(store.notes("kind").await.expect("a read").len(), 1, "{days} days");
        assert_eq!(trash(&store, "u").await, [], "{days} days");
        // A run while the clock is wrong removes nothing either.
        write(&store, "other", "b", 10).await;
        assert_eq!(ids(&store, "u").await, ["a"], "{days} days");
    }
}

#[tokio::test]
async fn unused_conversation_is_in_the_trash_for_its_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("store.db");
    let store = FileStore::open(&path, LIMITS).expect("a file");
    write(&store, "u", "a", 10).await;
    drop(store);
    pass(&path, 6);
    let mut left = Vec::new();
    for _ in 0..6 {
        let store = FileStore::open(&path, LIMITS).expect("a file");
        assert_eq!(ids(&store, "u").await, [""; 0]);
        let trashed = trash(&store, "u").await;
        assert!(trashed.iter().all(|thread| thread.reason == TrashReason::Age), "{trashed:?}");
        left.extend(trashed.into_iter().map(|thread| thread.days_left));
        drop(store);
        pass(&path, 6);
    }
    assert_eq!(left, [30, 24, 18, 12, 6], "deleted after 30 days of use");
}

#[tokio::test]
async fn file_of_the_first_version_keeps_its_conversations() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("store.db");
    let old = rusqlite::Connection::open(&path).expect("a database");
    old.execute_batch(include_str!("version_1.sql")).expect("the old file");
    drop(old);
    let store = FileStore::open(&path, LIMITS).expect("a file");
    assert_eq!(ids(&store, "u").await, ["b", "a"], "last used long before this start");
    let LastRun { record, .. } =
        store.last_run(&thread("u", "a")).await.expect("a read").expect("a run");
    assert_eq!(record.input.messages.len(), 1);
    assert_eq!(store.read("2", 0).await.expect("a read").expect("a run").frames.len(), 2);
    let session = store.recall(&thread("u", "a").text()).await.expect("a read");
    assert_eq!(session.as_deref(), Some("session"));
}
