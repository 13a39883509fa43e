//! The cancellation of a request, for its handler.
use alloc::vec::Vec;
use core::task::{Context as Task, Poll, Waker};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Whether a request is cancelled, and the tasks that wait for it.
#[derive(Debug, Default)]
pub(super) struct Cancel(Mutex<(bool, Vec<Waker>)>);

impl Cancel {
    fn lock(&self) -> MutexGuard<'_, (bool, Vec<Waker>)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn set(&self) {
        let wakers = {
            let mut state = self.lock();
            state.0 = true;
            core::mem::take(&mut state.1)
        };
        wakers.into_iter().for_each(Waker::wake);
    }

    pub(super) fn is_set(&self) -> bool {
        self.lock().0
    }

    pub(super) fn poll(&self, task: &Task<'_>) -> Poll<()> {
        let mut state = self.lock();
        if state.0 {
            return Poll::Ready(());
        }
        wait(&mut state.1, task);
        Poll::Pending
    }
}

/// Adds a task to the waiting ones.
pub(super) fn wait(waiting: &mut Vec<Waker>, task: &Task<'_>) {
    if !waiting.iter().any(|waker| waker.will_wake(task.waker())) {
        waiting.push(task.waker().clone());
    }
}
