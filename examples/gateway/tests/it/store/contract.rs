//! The contract of stores: any steps in any order have the same outcomes as with the memory store.
use bytes::Bytes;
use gateway::store::{AppendOutcome, Lease, LogBase, LogPart, RunRecord, RunStore, StoreError};
use jsonrpc_core::wire;
use proptest::prelude::*;
use std::sync::Arc;
use std::time::Duration;

/// Longer than any test.
pub(crate) const LONG: Duration = Duration::from_secs(600);

#[derive(Clone, Debug)]
pub(crate) enum Step {
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
    Cancel(u8, u8),
    Forget(u8),
    Watch(u8),
    IsWatched(u8),
    Remember(u8, Option<u8>),
    Recall(u8),
    Keep(u8, Option<u8>),
    Kept(u8),
}

pub(crate) fn step() -> impl Strategy<Value = Step> {
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
        1 => (name(), name()).prop_map(|(run, reason)| Step::Cancel(run, reason)),
        1 => name().prop_map(Step::Forget),
        1 => name().prop_map(Step::Watch),
        1 => name().prop_map(Step::IsWatched),
        1 => (name(), prop::option::of(name())).prop_map(|(thread, n)| Step::Remember(thread, n)),
        1 => name().prop_map(Step::Recall),
        1 => (name(), prop::option::of(name())).prop_map(|(name, what)| Step::Keep(name, what)),
        1 => name().prop_map(Step::Kept),
    ]
}

pub(crate) fn record() -> RunRecord {
    let input =
        r#"{"threadId":"t","runId":"r","messages":[{"id":"u","role":"user","content":"ü"}]}"#;
    let input = wire::decode(input).expect("an input");
    RunRecord {
        thread: "t".to_owned(),
        owner: "0".to_owned(),
        fingerprint: u64::MAX,
        input,
        cancel: None,
    }
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
        Step::Live(by) => outcome(store.owners().live(&name(by), LONG).await),
        Step::Lives(by) => outcome(store.owners().lives(&name(by)).await),
        Step::Leave(by) => outcome(store.owners().leave(&name(by)).await),
        Step::Take(thread, by) => outcome(store.owners().take(&name(thread), &name(by)).await),
        Step::Holders => outcome(store.owners().holders(&["0".to_owned(), "1".to_owned()]).await),
        Step::Release(thread, by, n) => {
            outcome(store.owners().release(&name(thread), &lease(by, n)).await)
        }
        Step::Restore(thread, by, n) => {
            outcome(store.owners().restore(&name(thread), &lease(by, n)).await)
        }
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
            if let Ok(AppendOutcome::Taken) = appended {
                *known = part.last().max(*known);
            }
            outcome(appended)
        }
        Step::Read(run, after) => outcome(store.read(&name(run), *after).await),
        Step::End(run, after) => {
            let ended = store.end_run(&name(run), *after, &frame(after + 1)).await;
            outcome(ended)
        }
        Step::Cancel(run, reason) => outcome(store.cancel_run(&name(run), &name(reason)).await),
        Step::Forget(run) => {
            last[usize::from(*run)] = 0;
            outcome(store.forget_run(&name(run)).await)
        }
        Step::Watch(run) => outcome(store.owners().watch_run(&name(run), LONG).await),
        Step::IsWatched(run) => outcome(store.owners().is_watched(&name(run)).await),
        Step::Remember(thread, what) => {
            let what = what.as_ref().map(name);
            outcome(store.remember(&name(thread), what.as_deref()).await)
        }
        Step::Recall(thread) => outcome(store.recall(&name(thread)).await),
        Step::Keep(text, what) => {
            let what = what.as_ref().map(name);
            outcome(store.keep(&name(text), what.as_deref()).await)
        }
        Step::Kept(text) => outcome(store.kept(&name(text)).await),
    }
}

/// Returns the outcomes of a sequence of steps.
pub(crate) async fn all(store: Arc<dyn RunStore>, steps: &[Step]) -> Vec<String> {
    let mut all = Vec::new();
    let mut last = [0; 2];
    for step in steps {
        all.push(take(&*store, &mut last, step).await);
    }
    all
}
