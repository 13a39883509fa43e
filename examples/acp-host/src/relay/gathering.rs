//! Batches for another thread: waking a thread costs more than most items.

use core::time::Duration;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Time for which items gather before they are taken, unless they are many.
const WHILE: Duration = Duration::from_millis(10);

/// What gathers.
pub trait Gathers {
    /// There is nothing to be taken.
    fn is_empty(&self) -> bool;

    /// There is so much that it is taken at once.
    fn is_much(&self) -> bool;

    /// Nothing more comes: what there is is taken at once, even if it is nothing.
    fn is_closed(&self) -> bool;
}

/// Items that gather until one thread takes all of them. The other threads never wait for it.
#[derive(Debug, Default)]
pub struct Gathering<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State<T> {
    gathered: T,
    taker: Taker,
}

/// State of the thread that takes the items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Taker {
    /// It is busy with what it took, or has been woken.
    #[default]
    Busy,
    /// It waits for the first thing.
    Asleep,
    /// It lets things gather.
    Gathering,
}

impl<T: Gathers> Gathering<T> {
    /// Adds an item. Returns `true` if the caller is to [`wake`](Self::wake) the taker.
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

    /// Looks at what is there, or changes it without adding to it.
    pub fn with<R>(&self, change: impl FnOnce(&mut T) -> R) -> R {
        change(&mut self.lock().gathered)
    }

    /// Wakes the waiting threads, after an item was added or a [condition](Self::wait_until) holds.
    pub fn wake(&self) {
        self.changed.notify_all();
    }

    /// Waits for something, lets more of it gather, and takes it.
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

    /// Waits for something to be so, and no longer than `deadline`; then looks at it.
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

    impl Gathers for Numbers {
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

    /// No item is lost in any state of the taker.
    #[test]
    fn all_is_taken_in_order_and_the_end_is_seen() {
        let gathering = Gathering::<Numbers>::default();
        let taken = thread::scope(|threads| {
            let taker = threads.spawn(|| {
                let (mut taken, mut is_closed) = (Vec::new(), false);
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
    fn nobody_is_woken_who_is_busy() {
        let gathering = Gathering::<Numbers>::default();
        assert!((0..200).all(|number| !gathering.add(|it| it.numbers.push(number))));
        assert_eq!(gathering.take(|it| core::mem::take(&mut it.numbers)).len(), 200);
        assert!(!gathering.add(|it| it.numbers.push(0)));
    }

    #[test]
    fn who_waits_for_something_looks_at_it_at_the_latest_at_the_deadline() {
        let gathering = Gathering::<Numbers>::default();
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
