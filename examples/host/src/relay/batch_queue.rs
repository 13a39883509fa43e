//! A batching queue between threads. Items gather before the consumer is woken, because a wake-up
//! costs more than most items.

use core::time::Duration;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Time for items to gather before they are taken, unless there are many.
const WHILE: Duration = Duration::from_millis(10);

/// A batch of items.
pub trait BatchItems {
    /// Returns whether the batch is empty.
    fn is_empty(&self) -> bool;

    /// Returns whether the batch is large enough to be taken at once.
    fn is_much(&self) -> bool;

    /// Returns whether no more items follow: the batch is taken at once, even if it is empty.
    fn is_closed(&self) -> bool;
}

/// A batch that one thread takes and other threads add to, without waiting for it.
#[derive(Debug, Default)]
pub struct BatchQueue<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State<T> {
    gathered: T,
    taker: Taker,
}

/// State of the consumer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Taker {
    /// Processing a batch, or woken.
    #[default]
    Busy,
    /// Waiting for the first item.
    Asleep,
    /// Waiting for more items.
    Gathering,
}

impl<T: BatchItems> BatchQueue<T> {
    /// Adds items. Returns whether the caller should [`wake`](Self::wake) the consumer, when it has
    /// time to.
    pub fn add(&self, add: impl FnOnce(&mut T)) -> bool {
        let mut state = self.lock();
        add(&mut state.gathered);
        let is_time = match state.taker {
            Taker::Busy => false,
            Taker::Asleep => !state.gathered.is_empty(),
            Taker::Gathering => state.gathered.is_much(),
        };
        if is_time {
            state.taker = Taker::Busy;
        }
        is_time
    }

    /// Reads the batch, or changes it without adding items.
    pub fn with<R>(&self, change: impl FnOnce(&mut T) -> R) -> R {
        change(&mut self.lock().gathered)
    }

    /// Wakes the consumer and the callers of [`wait_until`](Self::wait_until).
    pub fn wake(&self) {
        self.changed.notify_all();
    }

    /// Waits for an item, lets more items gather, and takes the batch.
    pub fn take<R>(&self, take: impl FnOnce(&mut T) -> R) -> R {
        let state = self
            .changed
            .wait_while(self.lock(), |State { gathered, taker }| {
                let sleeps = gathered.is_empty() && !gathered.is_closed();
                *taker = if sleeps { Taker::Asleep } else { Taker::Busy };
                sleeps
            })
            .unwrap_or_else(PoisonError::into_inner);
        let (mut state, _) = self
            .changed
            .wait_timeout_while(state, WHILE, |State { gathered, taker }| {
                let gathers = !gathered.is_closed() && !gathered.is_much();
                *taker = if gathers { Taker::Gathering } else { Taker::Busy };
                gathers
            })
            .unwrap_or_else(PoisonError::into_inner);
        state.taker = Taker::Busy;
        take(&mut state.gathered)
    }

    /// Waits until a condition holds, or until `deadline`; then reads the batch.
    pub fn wait_until<R>(
        &self,
        deadline: Instant,
        is_so: impl Fn(&T) -> bool,
        look: impl FnOnce(&T) -> R,
    ) -> R {
        let left = deadline.saturating_duration_since(Instant::now());
        let (state, _) = self
            .changed
            .wait_timeout_while(self.lock(), left, |state| !is_so(&state.gathered))
            .unwrap_or_else(PoisonError::into_inner);
        look(&state.gathered)
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[derive(Debug, Default)]
    struct Numbers {
        numbers: Vec<u32>,
        is_closed: bool,
    }

    impl BatchItems for Numbers {
        fn is_empty(&self) -> bool {
            self.numbers.is_empty()
        }

        fn is_much(&self) -> bool {
            self.numbers.len() >= 100
        }

        fn is_closed(&self) -> bool {
            self.is_closed
        }
    }

    /// No item is lost, in any state of the consumer.
    #[test]
    fn all_items_are_taken_in_order_and_then_the_end() {
        let gathering = BatchQueue::<Numbers>::default();
        let taken = thread::scope(|threads| {
            let taker = threads.spawn(|| {
                let mut taken = Vec::new();
                let mut is_closed = false;
                while !is_closed {
                    gathering.take(|it| {
                        is_closed = it.is_closed;
                        taken.append(&mut it.numbers);
                    });
                }
                taken
            });
            for number in 0..20_000 {
                if gathering.add(|it| it.numbers.push(number)) {
                    gathering.wake();
                }
            }
            gathering.with(|it| it.is_closed = true);
            gathering.wake();
            taker.join().unwrap()
        });
        assert!(taken.into_iter().eq(0..20_000));
    }

    #[test]
    fn busy_consumer_is_not_woken() {
        let gathering = BatchQueue::<Numbers>::default();
        assert!((0..200).all(|number| !gathering.add(|it| it.numbers.push(number))));
        assert_eq!(gathering.take(|it| core::mem::take(&mut it.numbers)).len(), 200);
        assert!(!gathering.add(|it| it.numbers.push(0)));
    }

    #[test]
    fn waiting_ends_at_the_deadline() {
        let gathering = BatchQueue::<Numbers>::default();
        let is_closed = gathering.wait_until(Instant::now(), |it| it.is_closed, |it| it.is_closed);
        assert!(!is_closed);
        let later = Instant::now() + Duration::from_secs(60);
        let is_closed = thread::scope(|threads| {
            threads.spawn(|| {
                gathering.with(|it| it.is_closed = true);
                gathering.wake();
            });
            gathering.wait_until(later, |it| it.is_closed, |it| it.is_closed)
        });
        assert!(is_closed);
    }
}
