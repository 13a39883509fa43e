//! Turns of users at work that all share.
//!
//! A [`FairQueue`] has a limited number of places, of which each user has a smaller number.
//! Requests of one user are served in their order, and users in turn. Waiting requests are not
//! bounded here: the limits of requests and runs of a user bound them.
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;

/// Limits of a [`FairQueue`].
#[derive(Clone, Copy, Debug)]
pub struct FairLimits {
    /// Number of places.
    pub at_once: usize,
    /// Number of places that one user may have.
    pub of_user: usize,
}

/// Places for work that users share.
#[derive(Debug)]
pub struct FairQueue {
    limits: FairLimits,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    at_work: usize,
    users: HashMap<String, User>,
    /// Users with waiting requests, the next one first.
    turns: VecDeque<String>,
}

#[derive(Debug, Default)]
struct User {
    at_work: usize,
    waiting: VecDeque<oneshot::Sender<Place>>,
}

/// A place at the work, which ends when dropped.
#[derive(Debug)]
pub struct Place {
    queue: Arc<FairQueue>,
    user: String,
}

impl FairQueue {
    /// Creates a queue with free places.
    pub fn new(limits: FairLimits) -> Arc<Self> {
        Arc::new(Self { limits, state: Mutex::default() })
    }

    /// Waits for a place of this user. A dropped future gives up its turn.
    pub async fn enter(self: &Arc<Self>, user: &str) -> Place {
        let (give, given) = oneshot::channel();
        let ready = {
            let mut state = self.state();
            let entry = state.users.entry(user.to_owned()).or_default();
            entry.waiting.push_back(give);
            if entry.waiting.len() == 1 {
                state.turns.push_back(user.to_owned());
            }
            self.next(&mut state)
        };
        hand_over(ready);
        // The queue keeps the sender until it sends.
        given.await.unwrap_or_else(|_| Place { queue: self.clone(), user: user.to_owned() })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Assigns free places, a user after the other.
    fn next(self: &Arc<Self>, state: &mut State) -> Vec<(oneshot::Sender<Place>, Place)> {
        let mut ready = Vec::new();
        let mut passed = 0;
        while state.at_work < self.limits.at_once && passed < state.turns.len() {
            let Some(name) = state.turns.pop_front() else { break };
            let Some(user) = state.users.get_mut(&name) else { continue };
            user.waiting.retain(|waiting| !waiting.is_closed());
            if user.at_work >= self.limits.of_user && !user.waiting.is_empty() {
                state.turns.push_back(name);
                passed += 1;
                continue;
            }
            if let Some(waiting) = user.waiting.pop_front() {
                user.at_work += 1;
                state.at_work += 1;
                passed = 0;
                ready.push((waiting, Place { queue: self.clone(), user: name.clone() }));
            }
            if !user.waiting.is_empty() {
                state.turns.push_back(name);
            } else if user.at_work == 0 {
                state.users.remove(&name);
            }
        }
        ready
    }
}

/// Hands places over, without a lock. A place of a dropped request returns to the queue.
fn hand_over(ready: Vec<(oneshot::Sender<Place>, Place)>) {
    for (waiting, place) in ready {
        let _gone = waiting.send(place);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let ready = {
            let mut state = self.queue.state();
            state.at_work = state.at_work.saturating_sub(1);
            if let Some(user) = state.users.get_mut(&self.user) {
                user.at_work = user.at_work.saturating_sub(1);
                if user.at_work == 0 && user.waiting.is_empty() {
                    state.users.remove(&self.user);
                }
            }
            self.queue.next(&mut state)
        };
        hand_over(ready);
    }
}

#[cfg(test)]
mod tests {
    use super::{FairLimits, FairQueue, Place};
    use proptest::prelude::*;
    use std::future::Future;
    use std::pin::Pin;
    use std::sync::Arc;
    use std::task::{Context, Poll, Waker};

    /// A request in a queue, which the test polls.
    struct Request {
        user: usize,
        place: Pin<Box<dyn Future<Output = Place>>>,
        held: Option<Place>,
    }

    fn request(queue: &Arc<FairQueue>, user: usize) -> Request {
        let queue = queue.clone();
        let place = Box::pin(async move { queue.enter(&user.to_string()).await });
        let mut request = Request { user, place, held: None };
        poll(&mut request);
        request
    }

    fn poll(request: &mut Request) {
        if request.held.is_none()
            && let Poll::Ready(place) =
                request.place.as_mut().poll(&mut Context::from_waker(Waker::noop()))
        {
            request.held = Some(place);
        }
    }

    #[test]
    fn users_take_turns() {
        let queue = FairQueue::new(FairLimits { at_once: 1, of_user: 1 });
        let mut requests: Vec<_> = (0..100).map(|_| request(&queue, 0)).collect();
        requests.push(request(&queue, 1));
        let mut order = Vec::new();
        while let Some(at) = requests.iter().position(|request| request.held.is_some()) {
            order.push(requests.remove(at).user);
            requests.iter_mut().for_each(poll);
        }
        assert_eq!(order.len(), 101);
        let place = order.iter().position(|user| *user == 1).expect("a turn");
        assert!(place <= 2, "after the work of one request of the other user, not {place}");
        assert!(queue.state().users.is_empty());
    }

    proptest! {
        /// For any arrivals, ends and cancellations, places are within the limits, none is free
        /// that a request may have, and nothing is left at the end.
        #[test]
        fn places_are_used_within_their_limits(
            at_once in 1..4_usize,
            of_user in 1..3_usize,
            steps in prop::collection::vec((0..3_u8, 0..4_usize), 0..60),
        ) {
            let queue = FairQueue::new(FairLimits { at_once, of_user });
            let mut requests: Vec<Request> = Vec::new();
            for (step, number) in steps {
                match step {
                    0 | 1 => requests.push(request(&queue, number)),
                    _ if number < requests.len() => drop(requests.remove(number)),
                    _ => {}
                }
                requests.iter_mut().for_each(poll);
                let held = |user: Option<usize>| {
                    let of_user = requests.iter().filter(|it| user.is_none_or(|user| it.user == user));
                    of_user.filter(|it| it.held.is_some()).count()
                };
                prop_assert!(held(None) <= at_once);
                for request in &requests {
                    prop_assert!(held(Some(request.user)) <= of_user);
                    let may_have = held(None) < at_once && held(Some(request.user)) < of_user;
                    prop_assert!(request.held.is_some() || !may_have);
                }
            }
            requests.clear();
            prop_assert!(queue.state().users.is_empty());
            prop_assert_eq!(queue.state().at_work, 0);
        }
    }
}
