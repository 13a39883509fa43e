//! Limits of the store: the room that a call takes, eviction, and dropped futures.
use crate::plugin::{World, answer, asked, begin, booked, booking, flight, seat, tipped};
use crate::plugin_session::NoArguments;
use futures::FutureExt;
use futures::executor::block_on;
use jsonrpc_core::wire::Raw;
use mcp_bridge::plugin::{
    MemoryStore, NewCall, NoElicitations, PluginContext, PluginHost, PluginTool, Resumption,
    SessionError, SessionRecord, SessionStatus, SessionStore, StoreError, StoreLimits,
    SuspendPolicy, Turn,
};
use proptest::prelude::*;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

/// Starts a call of `book_flight` that waits for its first answer.
fn call(host: &PluginHost, id: &str, principal: &str, note: &str) -> Result<Turn, SessionError> {
    let arguments = json!({ "from": "NYC", "destination": "LAX", "note": note }).to_string();
    let arguments = Raw::from_text(arguments).expect("JSON");
    let tool = "book_flight";
    let call_id = "c";
    block_on(
        host.call(
            NewCall { session_id: id, call_id, tool, arguments, principal, meta: None },
            None,
        ),
    )
}

fn is_full(turn: &Result<Turn, SessionError>) -> bool {
    matches!(turn, Err(SessionError::Store(StoreError::Full)))
}

fn world(limits: StoreLimits) -> World {
    World { store: Arc::new(MemoryStore::new(limits)), ..World::new() }
}

#[test]
fn hundred_thousand_calls_without_questions_hold_no_room() {
    let tool = PluginTool::builder("ok", "1").elicits::<NoElicitations>();
    let tool = tool.execute(|_: NoArguments, ctx: PluginContext<NoElicitations>| async move {
        ctx.step("work", || async { 1 }).await
    });
    let store = Arc::new(MemoryStore::new(StoreLimits::new(1, 1 << 16)));
    let shared = Arc::clone(&store);
    let clock = Arc::new(|| Duration::ZERO);
    let tools = [tool.expect("a schema")];
    let host = PluginHost::new(tools, SuspendPolicy::Replay, shared, "a", clock);
    for number in 0..100_000 {
        let id = number.to_string();
        let arguments = Raw::from_text("{}").expect("JSON");
        let session_id = &*id;
        let call_id = "c";
        let tool = "ok";
        let principal = "ada";
        let call = NewCall { session_id, call_id, tool, arguments, principal, meta: None };
        let turn = host.call(call, None).now_or_never().expect("it does not wait");
        assert!(matches!(turn, Ok(Turn::Done(_))), "{number}: {turn:?}");
    }
    assert_eq!(block_on(store.list()).expect("a store"), []);
}

#[test]
fn finished_calls_are_evicted() {
    let world = world(StoreLimits::new(40, 1 << 20));
    let host = world.host(SuspendPolicy::Replay, "a");
    for number in 0..1000 {
        let id = number.to_string();
        let (state, _) = asked(call(&host, &id, "ada", ""));
        let decline = ("pickFlight".into(), crate::plugin::value(&json!({ "action": "decline" })));
        crate::plugin::failure(answer(&host, &state, [decline]));
    }
    let kept = block_on(world.store.list()).expect("a store");
    assert_eq!(kept.len(), 10);
    // The newest results are kept.
    assert!(kept.iter().all(|record| record.id.parse::<u32>().is_ok_and(|id| id >= 990)));
}

#[test]
fn one_principal_fills_a_quarter() {
    let world = world(StoreLimits::new(40, 1 << 20));
    let host = world.host(SuspendPolicy::Replay, "a");
    for number in 0..10 {
        asked(call(&host, &format!("eve-{number}"), "eve", ""));
    }
    assert!(is_full(&call(&host, "eve-10", "eve", "")));
    for (principal, count) in [("ada", 10), ("bob", 10), ("cy", 10)] {
        for number in 0..count {
            asked(call(&host, &format!("{principal}-{number}"), principal, ""));
        }
    }
    assert!(is_full(&call(&host, "dan", "dan", "")));
    // Questions past their deadline are evicted without a sweep.
    world.time.pass(3600);
    asked(call(&host, "dan", "dan", ""));
    asked(call(&host, "eve-11", "eve", ""));
}

#[test]
fn bytes_are_limited() {
    let world = world(StoreLimits::new(1000, 400_000));
    let host = world.host(SuspendPolicy::Replay, "a");
    let note = "x".repeat(30_000);
    let stored =
        (0..100).take_while(|number| !is_full(&call(&host, &number.to_string(), "eve", &note)));
    assert_eq!(stored.count(), 3);
    asked(call(&host, "ada", "ada", &note));
    let large = "x".repeat(100_000);
    assert!(is_full(&call(&host, "bob", "bob", &large)));
}

#[test]
fn used_names_are_limited_for_each_principal_until_their_end() {
    let mut limits = StoreLimits::default();
    limits.used_names = 8;
    let store = MemoryStore::new(limits);
    let end = Duration::from_secs(10);
    let end_of_all = Duration::from_secs(20);
    let use_once =
        |who: &str, name: &str, until, now| block_on(store.use_once(who, name, until, now));
    assert!(use_once("eve", "1", end, Duration::ZERO).expect("room"));
    assert!(use_once("eve", "2", end_of_all, Duration::ZERO).expect("room"));
    assert!(!use_once("eve", "1", end, Duration::ZERO).expect("known"));
    assert!(matches!(use_once("eve", "3", end, Duration::ZERO), Err(StoreError::Full)));
    assert!(use_once("ada", "1", end, Duration::ZERO).expect("room"));
    assert!(use_once("eve", "3", end_of_all, end).expect("room again"));
    assert!(!use_once("eve", "2", end_of_all, end).expect("known"));
}

/// Polls a resumption once and drops it while its tool waits for something other than an answer.
fn resume_and_drop(host: &PluginHost, state: &str) {
    let tool = "book_flight";
    let arguments = None;
    let principal = "ada";
    let answers = vec![seat()];
    let resumption = Resumption { state, tool, arguments, principal, answers };
    let pending = host.resume(resumption, None).now_or_never();
    assert!(pending.is_none(), "{pending:?}");
}

/// Creates a world with a tool that completes a charge only on demand, and a call that waits for
/// the seat.
fn slow_world(policy: &SuspendPolicy) -> (World, PluginHost, String) {
    let world = World::new();
    let host = world.host_that_stalls(policy.clone(), "a");
    let (state, _) = asked(begin(&host));
    let (state, _) = asked(answer(&host, &state, [flight()]));
    (world, host, state)
}

#[test]
fn dropped_run_is_replaced_at_once() {
    for policy in [SuspendPolicy::Replay, SuspendPolicy::ParkOrReplay, SuspendPolicy::Park] {
        let (world, host, state) = slow_world(&policy);
        resume_and_drop(&host, &state);
        assert_eq!(world.record(&state).status, SessionStatus::Running);
        world.stalls.store(false, std::sync::atomic::Ordering::SeqCst);
        let (_, asks) = asked(answer(&host, &state, [seat()]));
        assert_eq!(asks, ["tip"], "{policy:?}");
        assert_eq!(booked(answer(&host, &state, [tipped()])), booking());
    }
}

#[test]
fn dropped_run_is_replaced_elsewhere_once_it_is_released() {
    let (world, host, state) = slow_world(&SuspendPolicy::Replay);
    resume_and_drop(&host, &state);
    world.stalls.store(false, std::sync::atomic::Ordering::SeqCst);
    let other = world.host(SuspendPolicy::Replay, "b");
    assert!(matches!(answer(&other, &state, []), Ok(Turn::Taken)));
    block_on(host.release()).expect("a store");
    assert_eq!(asked(answer(&other, &state, [])).1, ["tip"]);
}

#[test]
fn run_in_progress_is_not_replaced() {
    let (_, host, state) = slow_world(&SuspendPolicy::Replay);
    let tool = "book_flight";
    let principal = "ada";
    let first =
        Resumption { state: &state, tool, arguments: None, principal, answers: vec![seat()] };
    let mut running = Box::pin(host.resume(first, None));
    assert!((&mut running).now_or_never().is_none());
    assert!(matches!(answer(&host, &state, [seat()]), Ok(Turn::Taken)));
}

#[test]
fn dropped_run_is_swept() {
    for policy in [SuspendPolicy::Replay, SuspendPolicy::Park] {
        let (world, host, state) = slow_world(&policy);
        resume_and_drop(&host, &state);
        world.time.pass(3600);
        block_on(host.sweep()).expect("a store");
        world.time.pass(3600);
        block_on(host.sweep()).expect("a store");
        assert_eq!(world.record(&state).status, SessionStatus::Expired);
        assert!(format!("{host:?}").contains("parked: 0"));
        world.time.pass(600);
        block_on(host.sweep()).expect("a store");
        assert_eq!(block_on(world.store.list()).expect("a store"), []);
    }
}

#[test]
fn parked_tools_without_a_session_are_dropped_without_a_sweep() {
    let world = world(StoreLimits::new(400, 1 << 24));
    let host = world.host(SuspendPolicy::Park, "a");
    for number in 0..5000 {
        asked(call(&host, &number.to_string(), &(number % 8).to_string(), ""));
        // The next call finds the store full of sessions past their deadline.
        world.time.pass(60);
    }
    let shown = format!("{host:?}");
    let parked = shown.split("parked: ").nth(1).and_then(|rest| rest.split(',').next());
    assert!(
        parked.and_then(|count| count.parse::<usize>().ok()).is_some_and(|count| count < 1024),
        "{shown}"
    );
}

fn record(id: u8, revision: u64, status: &str, since: u64, size: usize) -> SessionRecord {
    let principal = ["ada", "bob", "eve"][usize::from(id % 3)];
    let time = |secs: u64| json!({ "secs": secs, "nanos": 0 });
    let text = json!({
        "id": id.to_string(), "call_id": "c", "tool": "t", "fingerprint": "f",
        "principal": principal, "arguments": "x".repeat(size),
        "status": status, "journal": { "entries": {}, "told": 0 }, "result": null, "reason": null,
        "revision": revision, "epoch": 0, "owner": "a", "created": time(0), "deadline": time(since + 5),
        "active": time(0), "waited": time(0), "since": time(since),
    });
    serde_json::from_value(text).expect("a record")
}

fn status() -> impl Strategy<Value = &'static str> {
    prop_oneof![Just("running"), Just("awaiting_elicit"), Just("completed")]
}

proptest! {
    /// For any steps, the sessions of each principal and of all stay within the limits, their
    /// memory is known, and only sessions that have ended or are past their deadline are evicted.
    #[test]
    fn store_stays_within_its_limits(
        steps in prop::collection::vec((0..12u8, 0..3u64, status(), 0..3u64, 0..400usize), 0..60),
    ) {
        let mut limits = StoreLimits::new(6, 5000);
        limits.principal_divisor = 2;
        let store = MemoryStore::new(limits);
        let mut now = 0;
        for (id, revision, status, passed, size) in steps {
            now += passed;
            let before = block_on(store.list()).expect("a store");
            let given = record(id, revision, status, now, size);
            let stored = match revision {
                0 => block_on(store.create(&given)).map(|()| true),
                _ => block_on(store.save(&given)),
            };
            let after = block_on(store.list()).expect("a store");
            let is_stored = matches!(stored, Ok(true));
            prop_assert_eq!(after.contains(&given), is_stored || before.contains(&given));
            for gone in before.iter().filter(|it| after.iter().all(|kept| kept.id != it.id)) {
                prop_assert!(gone.status.is_over() || gone.deadline <= Duration::from_secs(now));
            }
            for principal in ["ada", "bob", "eve"] {
                let own: Vec<_> = after.iter().filter(|it| it.principal == principal).collect();
                let bytes = own.iter().map(|it| it.size()).sum::<usize>();
                prop_assert!(own.len() <= 3 && bytes <= 2500);
                prop_assert_eq!(store.memory(principal).principal, bytes);
            }
            let total = after.iter().map(SessionRecord::size).sum::<usize>();
            prop_assert_eq!(store.memory("").total, total);
            prop_assert!(after.len() <= 6 && after.iter().map(SessionRecord::size).sum::<usize>() <= 5000);
            if matches!(stored, Err(StoreError::Full)) {
                prop_assert!(after.iter().all(|kept| before.contains(kept)));
            }
        }
    }
}
