//! The Redis store behaves as the memory store. The tests need a server at `REDIS_URL`.
use bytes::Bytes;
use jsonrpc_core::wire;
use proptest::prelude::*;
use redis::AsyncCommands;
use run_store::{
    Appended, Lease, LogBase, LogPart, MemoryStore, RedisStore, RunRecord, RunStore, StoreError,
};
use std::sync::Arc;
use std::time::Duration;

/// Longer than any test.
const LONG: Duration = Duration::from_secs(600);

#[derive(Clone, Debug)]
enum Step {
    Live(u8),
    Lives(u8),
    Leave(u8),
    Take(u8, u8),
    Holders,
    Release(u8, u8, u64),
    Restore(u8, u8, u64),
    Begin(u8),
    Run(u8),
    /// The events with these numbers, after some compacted ones, possibly with the end.
    Append(u8, u64, u8, Option<u64>, bool),
    Read(u8, u64),
    End(u8, u64),
    Forget(u8),
    Watch(u8),
    IsWatched(u8),
    Remember(u8, Option<u8>),
    Recall(u8),
}

fn step() -> impl Strategy<Value = Step> {
    let name = || 0..2_u8;
    let append = (name(), 0..6_u64, 0..4_u8, prop::option::of(1..4_u64), any::<bool>());
    prop_oneof![
        1 => name().prop_map(Step::Live),
        1 => name().prop_map(Step::Lives),
        1 => name().prop_map(Step::Leave),
        1 => (name(), name()).prop_map(|(thread, by)| Step::Take(thread, by)),
        1 => Just(Step::Holders),
        1 => (name(), name(), 1..4_u64).prop_map(|(thread, by, n)| Step::Release(thread, by, n)),
        1 => (name(), name(), 1..4_u64).prop_map(|(thread, by, n)| Step::Restore(thread, by, n)),
        3 => name().prop_map(Step::Begin),
        1 => name().prop_map(Step::Run),
        6 => append.prop_map(|(run, after, count, folded, ends)| {
            Step::Append(run, after, count, folded, ends)
        }),
        3 => (name(), 0..8_u64).prop_map(|(run, after)| Step::Read(run, after)),
        1 => (name(), 0..8_u64).prop_map(|(run, after)| Step::End(run, after)),
        1 => name().prop_map(Step::Forget),
        1 => name().prop_map(Step::Watch),
        1 => name().prop_map(Step::IsWatched),
        1 => (name(), prop::option::of(name())).prop_map(|(thread, n)| Step::Remember(thread, n)),
        1 => name().prop_map(Step::Recall),
    ]
}

fn record() -> RunRecord {
    let input =
        r#"{"threadId":"t","runId":"r","messages":[{"id":"u","role":"user","content":"ü"}]}"#;
    let input = wire::decode(input).expect("an input");
    RunRecord { thread: "t".to_owned(), owner: "0".to_owned(), fingerprint: u64::MAX, input }
}

fn frame(number: u64) -> Bytes {
    // Any bytes.
    vec![b'e', u8::try_from(number).unwrap_or_default(), 0xff, 0].into()
}

/// Returns the outcome of a store, for comparison.
fn outcome<T: std::fmt::Debug>(outcome: Result<T, StoreError>) -> String {
    format!("{outcome:?}")
}

async fn take(store: &dyn RunStore, last: &mut [u64; 2], step: &Step) -> String {
    let name = |name: &u8| name.to_string();
    let lease = |by: &u8, number: &u64| Lease { owner: by.to_string(), number: *number };
    match step {
        Step::Live(by) => outcome(store.live(&name(by), LONG).await),
        Step::Lives(by) => outcome(store.lives(&name(by)).await),
        Step::Leave(by) => outcome(store.leave(&name(by)).await),
        Step::Take(thread, by) => outcome(store.take(&name(thread), &name(by)).await),
        Step::Holders => outcome(store.holders(&["0".to_owned(), "1".to_owned()]).await),
        Step::Release(thread, by, n) => outcome(store.release(&name(thread), &lease(by, n)).await),
        Step::Restore(thread, by, n) => outcome(store.restore(&name(thread), &lease(by, n)).await),
        Step::Begin(run) => outcome(store.begin_run(&name(run), &record()).await),
        Step::Run(run) => {
            let run = store.run(&name(run)).await;
            outcome(run.map(|run| run.map(|run| serde_json::to_string(&run).expect("JSON"))))
        }
        Step::Append(run, after, count, folded, ends) => {
            // A gateway appends without gaps, but may repeat events.
            let known = &mut last[usize::from(*run)];
            let base = folded.filter(|folded| *folded >= *after && folded <= known);
            let after = base.unwrap_or(*after).min(*known);
            let frames = (1..=u64::from(*count)).map(|n| frame(after + n)).collect();
            let base = base.map(|last| LogBase { last, frames: vec![frame(last), frame(100)] });
            let is_whole = after + u64::from(*count) >= *known;
            let part = LogPart { base, after, frames, has_ended: *ends && is_whole };
            let appended = store.append(&name(run), &part, LONG).await;
            if let Ok(Appended::Taken) = appended {
                *known = part.last().max(*known);
            }
            outcome(appended)
        }
        Step::Read(run, after) => outcome(store.read(&name(run), *after).await),
        Step::End(run, after) => {
            let ended = store.end_run(&name(run), *after, &frame(after + 1)).await;
            outcome(ended)
        }
        Step::Forget(run) => {
            last[usize::from(*run)] = 0;
            outcome(store.forget_run(&name(run)).await)
        }
        Step::Watch(run) => outcome(store.watch_run(&name(run), LONG).await),
        Step::IsWatched(run) => outcome(store.is_watched(&name(run)).await),
        Step::Remember(thread, what) => {
            let what = what.as_ref().map(name);
            outcome(store.remember(&name(thread), what.as_deref()).await)
        }
        Step::Recall(thread) => outcome(store.recall(&name(thread)).await),
    }
}

/// Returns the outcomes of a sequence of steps.
async fn all(store: Arc<dyn RunStore>, steps: &[Step]) -> Vec<String> {
    let (mut all, mut last) = (Vec::new(), [0; 2]);
    for step in steps {
        all.push(take(&*store, &mut last, step).await);
    }
    all
}

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
