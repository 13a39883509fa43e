//! A machine between its driver and waiting tasks.
use super::machine::{Done, Machine};
use super::{ConnectionOptions, RequestError};
use crate::client::{CallError, CloseReason, RequestKey};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::task::{Context as Task, Poll, Waker};
use futures::channel::oneshot::{self, Canceled, Receiver, Sender};

/// A machine, and the tasks that wait for it.
#[derive(Debug)]
pub(super) struct State<M> {
    pub(super) machine: M,
    pub(super) options: ConnectionOptions,
    /// Calls without an end.
    pub(super) calls: BTreeMap<u64, Sender<End>>,
    /// Calls made by the handler of a notification.
    pub(super) nested: BTreeSet<u64>,
    /// Requests with a handler that were not cancelled.
    pub(super) cancels: BTreeMap<RequestKey, Sender<()>>,
    pub(super) received: u64,
    pub(super) handled: u64,
    pub(super) driver: Option<Waker>,
    /// Tasks that wait to send.
    pub(super) room: Vec<Waker>,
    /// Tasks that wait for notifications to be handled, or for `initialize`.
    pub(super) behind: Vec<Waker>,
    pub(super) is_congested: bool,
    pub(super) is_shutting_down: bool,
    pub(super) is_closed: bool,
}

/// The end of a call.
pub(super) type End = Result<Done, RequestError>;

/// Returns the end of a call, which is the end of the connection if there was no other.
pub(super) fn ended(end: Result<End, Canceled>) -> End {
    end.unwrap_or_else(|_| Err(CallError::Closed(CloseReason::ClientClosed).into()))
}

impl<M: Machine> State<M> {
    pub(super) fn new(machine: M, options: ConnectionOptions) -> Self {
        Self {
            machine,
            options,
            calls: BTreeMap::new(),
            nested: BTreeSet::new(),
            cancels: BTreeMap::new(),
            received: 0,
            handled: 0,
            driver: None,
            room: Vec::new(),
            behind: Vec::new(),
            is_congested: false,
            is_shutting_down: false,
            is_closed: false,
        }
    }

    /// Returns the receiver of the end of a call.
    pub(super) fn await_end(&mut self, call: u64) -> Receiver<End> {
        let (sender, receiver) = oneshot::channel();
        if !self.is_closed {
            self.calls.insert(call, sender);
        }
        receiver
    }

    /// Ends a call. Send its end without the lock.
    pub(super) fn end_call(&mut self, call: u64) -> Option<Sender<End>> {
        self.nested.remove(&call);
        self.calls.remove(&call)
    }

    /// Polls for room to queue a message.
    pub(super) fn poll_room(
        &mut self,
        is_handling: bool,
        task: &Task<'_>,
    ) -> Poll<Result<(), RequestError>> {
        if self.is_closed {
            let closed = CallError::Closed(CloseReason::ClientClosed);
            return Poll::Ready(Err(closed.into()));
        }
        if self.machine.transmits() < self.options.outgoing.max(1) {
            return Poll::Ready(Ok(()));
        }
        if is_handling && self.is_congested {
            return Poll::Ready(Err(RequestError::Congested));
        }
        wait(&mut self.room, task);
        Poll::Pending
    }
}

/// Adds a task to those that wait.
pub(super) fn wait(waiting: &mut Vec<Waker>, task: &Task<'_>) {
    if !waiting.iter().any(|waker| waker.will_wake(task.waker())) {
        waiting.push(task.waker().clone());
    }
}
