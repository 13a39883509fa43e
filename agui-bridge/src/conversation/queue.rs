//! Runs that wait for the end of the open run.
use alloc::collections::VecDeque;
use core::time::Duration;
use serde::{Deserialize, Serialize};

/// Treatment of a run that arrives while another one of its thread is open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum WhenBusy {
    /// The run is refused. One run may wait for the end of a run that is being cancelled.
    #[default]
    Reject,
    /// The run waits, in order of arrival.
    Queue,
    /// The open run is cancelled, waiting runs are refused, and the new run follows.
    Supersede,
}

/// Waiting runs, with the rule that admits them.
///
/// `T` describes a run to the caller. Times are offsets from an epoch of the caller's choice.
///
/// ```
/// use agui_bridge::conversation::{Admission, RunQueue, WhenBusy};
/// use core::time::Duration;
///
/// let mut queue = RunQueue::new(WhenBusy::Queue, 1);
/// assert!(matches!(queue.push("second", None, false), Admission::Waits));
/// assert!(matches!(queue.push("third", None, false), Admission::Refused("third")));
/// assert_eq!(queue.pop(), Some("second"));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunQueue<T> {
    rule: WhenBusy,
    capacity: usize,
    waiting: VecDeque<Entry<T>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Entry<T> {
    run: T,
    until: Option<Duration>,
}

/// Outcome of [`RunQueue::push`].
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Admission<T> {
    /// The run waits.
    Waits,
    /// The run waits, the open run is to be cancelled, and these runs no longer wait.
    Supersedes(VecDeque<T>),
    /// The queue refuses the run.
    Refused(T),
}

impl<T> RunQueue<T> {
    /// Creates an empty queue that admits at most `capacity` runs under [`WhenBusy::Queue`].
    pub fn new(rule: WhenBusy, capacity: usize) -> Self {
        Self { rule, capacity, waiting: VecDeque::new() }
    }

    /// Admits a run while another one is open. `until` is the end of the wait; `is_ending` is
    /// whether the open run is being cancelled.
    pub fn push(&mut self, run: T, until: Option<Duration>, is_ending: bool) -> Admission<T> {
        let (is_admitted, superseded) = match self.rule {
            WhenBusy::Reject => (is_ending && self.waiting.is_empty(), None),
            WhenBusy::Queue => (self.waiting.len() < self.capacity, None),
            WhenBusy::Supersede => (true, Some(core::mem::take(&mut self.waiting))),
        };
        if !is_admitted {
            return Admission::Refused(run);
        }
        self.waiting.push_back(Entry { run, until });
        match superseded {
            Some(entries) => {
                Admission::Supersedes(entries.into_iter().map(|entry| entry.run).collect())
            }
            None => Admission::Waits,
        }
    }

    /// Returns the run that has waited longest.
    pub fn pop(&mut self) -> Option<T> {
        self.waiting.pop_front().map(|entry| entry.run)
    }

    /// Returns a run with an expired wait. Call it until it returns `None`.
    pub fn poll_expired(&mut self, now: Duration) -> Option<T> {
        let is_over = |entry: &Entry<T>| entry.until.is_some_and(|until| until <= now);
        let index = self.waiting.iter().position(is_over)?;
        self.waiting.remove(index).map(|entry| entry.run)
    }

    /// Returns the time at which the next wait expires.
    pub fn poll_timeout(&self) -> Option<Duration> {
        self.waiting.iter().filter_map(|entry| entry.until).min()
    }

    /// Iterates over the waiting runs in order.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.waiting.iter_mut().map(|entry| &mut entry.run)
    }

    /// Returns the number of waiting runs.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Returns whether no run waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}
