//! The Redis store behaves as the memory store. The tests need a server at `REDIS_URL`.
use crate::store::contract::{LONG, all, step};
use crate::store::conversations::{
    answer, continues_after_waiting, continues_with_answers, continues_with_new_messages, frame,
    keeps_messages, keeps_missed_answers, keeps_places, recognizes_prompts, record, run, thread,
    user_message,
};
use agui_types::message::Message;
use gateway::store::{LogPart, MemoryStore, Owners, RedisStore, RunStore};
use proptest::prelude::*;
use redis::AsyncCommands;
use std::sync::Arc;

/// Connects to the server with keys of its own; returns the prefix of the keys as well.
async fn connect() -> (RedisStore, String) {
    let url = url();
    let prefix = format!("{:x}", getrandom::u64().expect("randomness"));
    (RedisStore::connect(&url, &prefix, LONG).await.expect("a server"), prefix)
}

fn url() -> String {
    std::env::var("REDIS_URL").expect("REDIS_URL names a Redis server")
}

/// Makes the store count as one that was not found empty.
async fn grow(prefix: &str) {
    let client = redis::Client::open(url()).expect("a URL");
    let mut connection = client.get_multiplexed_async_connection().await.expect("a server");
    let _: () = connection.set(format!("{prefix}:known"), 1).await.expect("a server");
}

/// A store that counts as not found empty.
async fn grown() -> RedisStore {
    let (store, prefix) = connect().await;
    grow(&prefix).await;
    store
}

proptest! {
    /// For any steps in any order, the Redis store behaves as the memory store.
    #[test]
    fn redis_behaves_as_memory(steps in prop::collection::vec(step(), 0..40)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let (expected, got) = runtime.expect("a runtime").block_on(async {
            let memory = all(Arc::new(MemoryStore::default()), &steps).await;
            (memory, all(Arc::new(grown().await), &steps).await)
        });
        prop_assert_eq!(got, expected);
    }
}

#[tokio::test]
async fn owners_count_as_alive_in_a_store_found_empty() {
    let (store, prefix) = connect().await;
    let first = store.owners().take("thread", "one").await.expect("a lease");
    assert_eq!(store.owners().take("thread", "other").await.expect("a lease"), first);
    grow(&prefix).await;
    assert!(store.owners().lives("one").await.expect("an answer"), "it is young for a while");
    assert!(!grown().await.lives("one").await.expect("an answer"));
}

#[tokio::test]
async fn conversation_continues_with_new_messages_alone() {
    continues_with_new_messages(&grown().await).await;
}

#[tokio::test]
async fn answers_without_the_conversation_keep_it() {
    continues_with_answers(&grown().await).await;
}

#[tokio::test]
async fn conversation_keeps_its_messages() {
    keeps_messages(&grown().await).await;
}

#[tokio::test]
async fn missed_answers_are_kept() {
    keeps_missed_answers(&grown().await).await;
}

#[tokio::test]
async fn prompts_are_recognized_by_their_contents() {
    recognizes_prompts(&grown().await).await;
}

#[tokio::test]
async fn repeated_conversation_stays_at_its_place() {
    keeps_places(&grown().await).await;
}

#[tokio::test]
async fn waiting_run_has_the_whole_answer_before_it() {
    continues_after_waiting(&grown().await).await;
}

/// The messages of runs are known to the next ones after the runs expired, and if their owner was
/// lost.
#[tokio::test]
async fn messages_outlive_their_runs() {
    let store = grown().await;
    let name = thread("u", "a");
    assert!(store.begin_run("0", &record(&name, &user_message("z", "No"))).await.expect("a run"));
    store.forget_run("0").await.expect("a change");
    run(&store, "1", &name, &user_message("m", "Hi"), &answer("n", "Ho")).await;
    store.forget_run("1").await.expect("a change");
    assert!(store.begin_run("2", &record(&name, &user_message("o", "More"))).await.expect("a run"));
    let part = LogPart {
        base: None,
        after: 0,
        frames: answer("p", "Ha").iter().map(frame).collect(),
        has_ended: false,
    };
    store.append("2", &part, LONG).await.expect("a place");
    assert!(store.begin_run("3", &record(&name, &user_message("q", "And"))).await.expect("a run"));
    let record = store.run("3").await.expect("a read").expect("a run");
    let ids: Vec<_> = record.input.messages.iter().filter_map(Message::id).collect();
    assert_eq!(ids, ["m", "n", "o", "p", "q"].map(Into::into));
}
