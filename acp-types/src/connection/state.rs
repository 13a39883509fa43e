//! A machine between its driver and waiting tasks.
use super::cancel::{Cancel, wait};
use super::machine::{Done, Machine};
use super::{ConnectionOptions, RequestError};
use crate::client::{CallError, CloseReason, RequestKey};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::mem;
use core::task::{Context as Task, Poll, Waker};

/// A machine, and the tasks that wait for it.
#[derive(Debug)]
pub(super) struct State<M> {
    pub(super) machine: M,
    pub(super) options: ConnectionOptions,
    /// Ends of calls that were not taken.
    pub(super) slots: BTreeMap<u64, Slot>,
    /// Calls made by the handler of a notification.
    pub(super) nested: BTreeSet<u64>,
    pub(super) cancels: BTreeMap<RequestKey, Arc<Cancel>>,
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

/// The slot for the end of a call.
#[derive(Debug)]
pub(super) enum Slot {
    Awaited(Option<Waker>),
    Done(Result<Done, RequestError>),
}

impl<M: Machine> State<M> {
    pub(super) fn new(machine: M, options: ConnectionOptions) -> Self {
        Self {
            machine,
            options,
            slots: BTreeMap::new(),
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

    /// Adds a slot for the end of a call.
    pub(super) fn await_end(&mut self, call: u64) {
        self.slots.insert(call, Slot::Awaited(None));
    }

    pub(super) fn end_call(
        &mut self,
        call: u64,
        outcome: Result<Done, RequestError>,
    ) -> Vec<Waker> {
        self.nested.remove(&call);
        match self.slots.get_mut(&call) {
            Some(slot @ Slot::Awaited(_)) => match mem::replace(slot, Slot::Done(outcome)) {
                Slot::Awaited(waker) => waker.into_iter().collect(),
                Slot::Done(_) => Vec::new(),
            },
            _ => Vec::new(),
        }
    }

    /// Takes the end of a call, and removes its slot.
    pub(super) fn take_end(&mut self, call: u64) -> Option<Result<Done, RequestError>> {
        match self.slots.remove(&call)? {
            Slot::Done(outcome) => Some(outcome),
            awaited @ Slot::Awaited(_) => {
                self.slots.insert(call, awaited);
                None
            }
        }
    }

    /// Removes the slot of a call, and returns whether its end was pending.
    pub(super) fn give_up(&mut self, call: u64) -> bool {
        matches!(self.slots.remove(&call), Some(Slot::Awaited(_)))
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
