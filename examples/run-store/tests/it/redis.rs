//! The Redis store behaves as the memory store. The tests need a server at `REDIS_URL`.
use crate::contract::{LONG, all, step};
use proptest::prelude::*;
use redis::AsyncCommands;
use run_store::{MemoryStore, RedisStore, RunStore};
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
    let first = store.take("thread", "one").await.expect("a lease");
    assert_eq!(store.take("thread", "other").await.expect("a lease"), first);
    grow(&prefix).await;
    assert!(store.lives("one").await.expect("an answer"), "it is young for a while");
    assert!(!grown().await.lives("one").await.expect("an answer"));
}
