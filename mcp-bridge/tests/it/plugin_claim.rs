//! Repeated, reordered and concurrent answers: exactly one takes effect.
use crate::plugin::{
    World, accept, answer, asked, begin, book_flight, booked, booking, flight, seat, tipped,
};
use mcp_bridge::plugin::{
    MemoryStore, PluginHost, Resumption, SessionError, SessionRecord, SessionStatus, SessionStore,
    StoreError, SuspendPolicy, Turn,
};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

proptest! {
    /// For any programs, order and repetition of answers, one charge is made, and the booking is
    /// that of the first answers.
    #[test]
    fn session_ends_once(steps in prop::collection::vec((0..3usize, 0..5usize), 0..12)) {
        let world = World::new();
        let hosts = ["a", "b", "c"].map(|owner| world.host(SuspendPolicy::Replay, owner));
        let (state, _) = asked(begin(&hosts[0]));
        let late = ("pickFlight".into(), accept(&json!({ "flightId": "SH-142" })));
        let mut flight_id = None;
        let mut ended = Vec::new();
        let in_order = [(0, 0), (1, 1), (2, 2)];
        for (host, which) in steps.into_iter().chain(in_order) {
            let given = [flight(), seat(), tipped(), late.clone(), ("nobody".into(), seat().1)];
            match which {
                0 => _ = flight_id.get_or_insert("CA-287"),
                3 => _ = flight_id.get_or_insert("SH-142"),
                _ => {}
            }
            match answer(&hosts[host], &state, [given[which].clone()]) {
                Ok(Turn::Asks { .. }) => prop_assert!(ended.is_empty()),
                turn => ended.push(booked(turn)),
            }
        }
        prop_assert!(!ended.is_empty());
        prop_assert!(ended.iter().all(|booking| *booking == ended[0]));
        prop_assert_eq!(ended[0]["flight"].as_str(), flight_id);
        prop_assert_eq!(world.tickets.load(Ordering::SeqCst), 1);
    }

}

/// Of any number of concurrent answers, one runs the tool.
#[test]
fn concurrent_answers_run_the_tool_once() {
    for _ in 0..20 {
        let world = World::new();
        let hosts = ["a", "b", "c", "d"].map(|owner| world.host(SuspendPolicy::Replay, owner));
        let (state, _) = asked(begin(&hosts[0]));
        asked(answer(&hosts[0], &state, [flight()]));
        let start = std::sync::Barrier::new(hosts.len());
        std::thread::scope(|scope| {
            for host in &hosts {
                scope.spawn(|| {
                    start.wait();
                    match answer(host, &state, [seat()]) {
                        Ok(Turn::Asks { .. } | Turn::Taken) => {}
                        other => panic!("neither asked nor taken: {other:?}"),
                    }
                });
            }
        });
        assert_eq!(world.tickets.load(Ordering::SeqCst), 1);
        assert_eq!(booked(answer(&hosts[3], &state, [tipped()])), booking());
    }
}

/// A store that yields before each operation.
struct YieldingStore(Arc<MemoryStore>);

async fn yield_once() {
    let mut has_yielded = false;
    std::future::poll_fn(|_| match std::mem::replace(&mut has_yielded, true) {
        true => std::task::Poll::Ready(()),
        false => std::task::Poll::Pending,
    })
    .await;
}

#[async_trait::async_trait]
impl SessionStore for YieldingStore {
    async fn create(&self, record: &SessionRecord) -> Result<(), StoreError> {
        yield_once().await;
        self.0.create(record).await
    }

    async fn load(&self, id: &str) -> Result<Option<SessionRecord>, StoreError> {
        yield_once().await;
        self.0.load(id).await
    }

    async fn save(&self, record: &SessionRecord) -> Result<bool, StoreError> {
        yield_once().await;
        self.0.save(record).await
    }

    async fn remove(&self, id: &str) -> Result<(), StoreError> {
        self.0.remove(id).await
    }

    async fn list(&self) -> Result<Vec<SessionRecord>, StoreError> {
        self.0.list().await
    }

    async fn use_once(
        &self,
        principal: &str,
        name: &str,
        until: Duration,
        now: Duration,
    ) -> Result<bool, StoreError> {
        self.0.use_once(principal, name, until, now).await
    }
}

proptest! {
    /// For any interleaving of programs that answer concurrently, one of them runs the tool.
    #[test]
    fn one_claim_wins(schedule in prop::collection::vec(0..3usize, 0..40)) {
        let world = World::new();
        let store: Arc<dyn SessionStore> = Arc::new(YieldingStore(Arc::clone(&world.store)));
        let (state, _) = asked(begin(&world.host(SuspendPolicy::Replay, "a")));
        asked(answer(&world.host(SuspendPolicy::Replay, "a"), &state, [flight()]));
        let hosts = ["a", "b", "c"].map(|owner| {
            let time = world.time.clone();
            let tool = book_flight("1", &world.tickets);
            let store = Arc::clone(&store);
            PluginHost::new([tool], SuspendPolicy::Replay, store, owner, Arc::new(move || time.now()))
        });
        let mut racing: Vec<_> = hosts.iter().map(|host| {
            let tool = "book_flight";
            let arguments = None;
            let principal = "ada";
            let answers = vec![seat()];
            Some(Box::pin(host.resume(Resumption { state: &state, tool, arguments, principal, answers }, None)))
        }).collect();
        let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
        let to_the_end = (0..3).flat_map(|which| std::iter::repeat_n(which, 200));
        for which in schedule.into_iter().chain(to_the_end) {
            let Some(future) = &mut racing[which] else { continue };
            if let std::task::Poll::Ready(turn) = future.as_mut().poll(&mut cx) {
                prop_assert!(matches!(turn, Ok(Turn::Asks { .. } | Turn::Taken)), "{:?}", turn);
                racing[which] = None;
            }
        }
        prop_assert!(racing.iter().all(Option::is_none));
        prop_assert_eq!(world.tickets.load(Ordering::SeqCst), 1);
    }
}

/// Outcome of one answer.
#[derive(Clone, Debug, PartialEq)]
enum Arrival {
    To(Value),
    Nowhere(String),
}

proptest! {
    /// For any interleaving with programs that run past their lease, all programs that complete
    /// have the same outcome, which is stored with the last epoch.
    #[test]
    fn runner_with_an_expired_lease_has_no_effect(
        schedule in prop::collection::vec((0..4usize, prop::bool::weighted(0.1)), 0..40),
    ) {
        let world = World::new();
        let store: Arc<dyn SessionStore> = Arc::new(YieldingStore(Arc::clone(&world.store)));
        let first = world.host(SuspendPolicy::Replay, "first");
        let (state, _) = asked(begin(&first));
        asked(answer(&first, &state, [flight()]));
        asked(answer(&first, &state, [seat()]));
        let before = world.record(&state).epoch;
        let hosts = ["a", "b", "c", "d"].map(|owner| {
            let time = world.time.clone();
            let tool = book_flight("1", &world.tickets);
            let store = Arc::clone(&store);
            PluginHost::new([tool], SuspendPolicy::Replay, store, owner, Arc::new(move || time.now()))
        });
        let mut racing: Vec<_> = hosts.iter().map(|host| {
            let tool = "book_flight";
            let arguments = None;
            let principal = "ada";
            let answers = vec![tipped()];
            Some(Box::pin(host.resume(Resumption { state: &state, tool, arguments, principal, answers }, None)))
        }).collect();
        let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
        let to_the_end = (0..4).flat_map(|which| std::iter::repeat_n((which, false), 200));
        let mut came = Vec::new();
        let mut epoch = before;
        for (which, is_late) in schedule.into_iter().chain(to_the_end) {
            if is_late && world.time.now() < Duration::from_secs(3000) {
                // Longer than a lease, but in total shorter than the time limit of an answer.
                world.time.pass(400);
            }
            let Some(future) = &mut racing[which] else { continue };
            if let std::task::Poll::Ready(turn) = future.as_mut().poll(&mut cx) {
                came.push(match turn {
                    Ok(Turn::Taken) => Arrival::Nowhere("taken".into()),
                    Err(SessionError::Superseded) => Arrival::Nowhere("superseded".into()),
                    turn => Arrival::To(booked(turn)),
                });
                racing[which] = None;
            }
            let now = world.record(&state).epoch;
            prop_assert!(now >= epoch, "epochs increase");
            epoch = now;
        }
        prop_assert_eq!(came.len(), 4);
        prop_assert!(came.iter().any(|came| *came == Arrival::To(booking())), "{:?}", came);
        prop_assert!(came.iter().all(|came| matches!(came, Arrival::Nowhere(_)) || *came == Arrival::To(booking())), "{:?}", came);
        let record = world.record(&state);
        prop_assert_eq!(record.status, SessionStatus::Completed);
        prop_assert_eq!(world.tickets.load(Ordering::SeqCst), 1);
    }
}
