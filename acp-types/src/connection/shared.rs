//! State shared by the driver of a connection and its users.
use super::machine::{Client, Machine, MachineEvent};
use super::state::{End, State, wait};
use super::{ConnectionOptions, RequestError};
use crate::client::{Call, CallError, CallKey, RequestKey};
use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::mem;
use core::sync::atomic::{AtomicUsize, Ordering};
use core::task::{Context as Task, Poll, Waker};
use futures::channel::oneshot::{self, Receiver};
use jsonrpc_core::framing::FrameError;
use jsonrpc_core::wire::Raw;
use jsonrpc_core::{ErrorObject, RequestId};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A connection, and the tasks that wait for it.
#[derive(Debug)]
pub(super) struct SharedConnection<M: Machine> {
    state: Mutex<State<M>>,
    /// The thread that handles a notification at present.
    handling: AtomicUsize,
}

/// The state of a connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct View {
    pub(super) transmits: usize,
    pub(super) requests: usize,
    pub(super) calls: usize,
    pub(super) may_read: bool,
    pub(super) is_shutting_down: bool,
}

/// A connection as seen by its users.
pub(super) trait Link: Send + Sync + fmt::Debug {
    fn poll_call(
        &self,
        call: &mut Option<Call>,
        task: &Task<'_>,
    ) -> Poll<Result<(u64, Receiver<End>), RequestError>>;
    fn poll_notify(&self, line: &mut Vec<u8>, task: &Task<'_>) -> Poll<Result<(), RequestError>>;
    /// Withdraws a call. Its end still follows.
    fn withdraw(&self, call: u64);
    /// Withdraws a call without waiting for its end.
    fn forget(&self, call: u64);
    fn shut_down(&self);
    /// Returns the number of notifications that have to be handled before those received so far are
    /// done.
    fn mark(&self) -> u64;
    fn poll_handled(&self, mark: u64, task: &Task<'_>) -> Poll<()>;
}

/// Identifies this thread among the running ones, by the address of a thread-local.
fn this_thread() -> usize {
    std::thread_local!(static HERE: u8 = const { 0 });
    HERE.with(|here| core::ptr::from_ref(here).addr())
}

fn wake(waker: Option<Waker>) {
    waker.into_iter().for_each(Waker::wake);
}

impl<M: Machine> SharedConnection<M> {
    pub(super) fn new(machine: M, options: ConnectionOptions) -> Self {
        let state = State::new(machine, options);
        Self { state: Mutex::new(state), handling: AtomicUsize::new(0) }
    }

    /// A poisoned lock holds valid state, since no call under the lock panics between related
    /// changes.
    pub(super) fn lock(&self) -> MutexGuard<'_, State<M>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the machine, and wakes the driver.
    pub(super) fn with<R>(&self, change: impl FnOnce(&mut State<M>) -> R) -> R {
        let mut state = self.lock();
        let result = change(&mut state);
        let driver = state.driver.take();
        drop(state);
        wake(driver);
        result
    }

    /// Returns the current state. Later changes wake the driver.
    pub(super) fn view(&self, driver: &Waker) -> View {
        let mut state = self.lock();
        state.driver = Some(driver.clone());
        let requests = state.machine.base().requests.len();
        let calls = state.machine.base().open_calls();
        let transmits = state.machine.transmits();
        // Ends of calls have to be read. Requests are then refused instead of left unread.
        let may_take = requests < state.options.requests || calls > 0;
        let may_read = may_take && transmits <= state.options.requests + state.options.outgoing;
        View { transmits, requests, calls, may_read, is_shutting_down: state.is_shutting_down }
    }

    pub(super) fn handle_line(&self, line: Result<&str, FrameError>) {
        self.lock().machine.handle_line(line);
    }

    /// Returns the next event for a handler. Ends of calls are passed to their waiting tasks.
    pub(super) fn next(&self) -> Option<MachineEvent<M::Request, M::Notification>> {
        loop {
            let mut state = self.lock();
            let event = state.machine.poll()?;
            match event {
                MachineEvent::Ended(call, outcome) => {
                    let call = state.end_call(call);
                    drop(state);
                    if let Some(call) = call {
                        let _ = call.send(outcome);
                    }
                }
                MachineEvent::Initialized => {
                    let wakers = mem::take(&mut state.behind);
                    drop(state);
                    wakers.into_iter().for_each(Waker::wake);
                }
                other => {
                    state.received += u64::from(matches!(other, MachineEvent::Notification(_)));
                    return Some(other);
                }
            }
        }
    }

    /// Records that a request is about to be handled.
    pub(super) fn begin(&self, key: RequestKey) -> (RequestId, Receiver<()>) {
        let mut state = self.lock();
        let (cancel, cancelled) = oneshot::channel();
        state.cancels.insert(key, cancel);
        (state.machine.request_id(key), cancelled)
    }

    pub(super) fn cancel(&self, key: RequestKey) {
        let cancel = self.lock().cancels.remove(&key);
        if let Some(cancel) = cancel {
            let _ = cancel.send(());
        }
    }

    pub(super) fn reply(&self, key: RequestKey, outcome: Result<Raw, ErrorObject>) {
        // Dropped without the lock, since that wakes tasks.
        let _cancel = self.lock().cancels.remove(&key);
        self.lock().machine.reply(key, outcome);
    }

    /// Returns the next line to write.
    pub(super) fn next_line(&self) -> Option<Vec<u8>> {
        let mut state = self.lock();
        let line = state.machine.poll_transmit()?;
        let is_roomy = state.machine.transmits() <= state.options.outgoing / 2;
        let wakers = if is_roomy { mem::take(&mut state.room) } else { Vec::new() };
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
        Some(line)
    }

    /// Ends everything that waits for the peer; with `is_closed` everything.
    pub(super) fn end(&self, is_closed: bool) {
        let mut state = self.lock();
        let mut wakers = Vec::new();
        let mut cancels = BTreeMap::new();
        let mut calls = BTreeMap::new();
        if is_closed {
            state.machine.handle_closed();
            state.is_closed = true;
            wakers.append(&mut state.room);
            wakers.append(&mut state.behind);
            cancels = mem::take(&mut state.cancels);
            calls = mem::take(&mut state.calls);
        } else {
            state.machine.handle_end();
        }
        drop(state);
        drop(calls);
        for cancel in cancels.into_values() {
            let _ = cancel.send(());
        }
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Records whether the maximum number of notifications waits. If so, calls of the current
    /// handler end; returns whether there were any.
    pub(super) fn set_congested(&self, is_congested: bool) -> bool {
        let mut state = self.lock();
        let is_new = is_congested && !state.is_congested;
        state.is_congested = is_congested;
        if !is_congested {
            return false;
        }
        let wakers = if is_new { mem::take(&mut state.room) } else { Vec::new() };
        let nested = mem::take(&mut state.nested);
        let is_any = !nested.is_empty();
        let calls: Vec<_> = nested
            .into_iter()
            .filter_map(|call| {
                state.machine.base().withdraw(CallKey::new(call));
                state.end_call(call)
            })
            .collect();
        drop(state);
        calls.into_iter().for_each(|call| drop(call.send(Err(RequestError::Congested))));
        wakers.into_iter().for_each(Waker::wake);
        is_any
    }

    /// Records that this thread handles a notification.
    pub(super) fn begin_handling(&self) {
        self.handling.store(this_thread(), Ordering::Relaxed);
    }

    /// Returns whether the current thread handles a notification. A thread finds its own identity
    /// only if it was the last writer, so no ordering between threads is required.
    fn is_handling(&self) -> bool {
        self.handling.load(Ordering::Relaxed) == this_thread()
    }

    pub(super) fn end_handling(&self, is_handled: bool) {
        self.handling.store(0, Ordering::Relaxed);
        if is_handled {
            let mut state = self.lock();
            state.handled += 1;
            let wakers = mem::take(&mut state.behind);
            drop(state);
            wakers.into_iter().for_each(Waker::wake);
        }
    }
}

impl<M: Machine> Link for SharedConnection<M> {
    fn poll_call(
        &self,
        call: &mut Option<Call>,
        task: &Task<'_>,
    ) -> Poll<Result<(u64, Receiver<End>), RequestError>> {
        let is_handling = self.is_handling();
        let mut state = self.lock();
        match state.poll_room(is_handling, task) {
            Poll::Pending => return Poll::Pending,
            Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
            Poll::Ready(Ok(())) => {}
        }
        let Some(call) = call.take() else { return Poll::Pending };
        let key = state.machine.call(call);
        let end = state.await_end(key);
        if is_handling {
            state.nested.insert(key);
        }
        let driver = state.driver.take();
        drop(state);
        wake(driver);
        Poll::Ready(Ok((key, end)))
    }

    fn poll_notify(&self, line: &mut Vec<u8>, task: &Task<'_>) -> Poll<Result<(), RequestError>> {
        let is_handling = self.is_handling();
        let mut state = self.lock();
        match state.poll_room(is_handling, task) {
            Poll::Ready(Ok(())) => {}
            other => return other,
        }
        let outcome = state.machine.notify(mem::take(line)).map_err(RequestError::from);
        let driver = state.driver.take();
        drop(state);
        wake(driver);
        Poll::Ready(outcome)
    }

    fn withdraw(&self, call: u64) {
        self.with(|state| state.machine.base().withdraw(CallKey::new(call)));
    }

    fn forget(&self, call: u64) {
        self.with(|state| {
            let pending = state.end_call(call);
            if pending.is_some() {
                state.machine.base().withdraw(CallKey::new(call));
            }
            pending
        });
    }

    fn shut_down(&self) {
        self.with(|state| {
            state.is_shutting_down = true;
            state.machine.base().peer.drain();
        });
    }

    fn mark(&self) -> u64 {
        let state = self.lock();
        if self.is_handling() { state.handled } else { state.received }
    }

    fn poll_handled(&self, mark: u64, task: &Task<'_>) -> Poll<()> {
        let mut state = self.lock();
        if state.is_closed || state.handled >= mark {
            return Poll::Ready(());
        }
        wait(&mut state.behind, task);
        Poll::Pending
    }
}

/// The program of a client. The connection is shut down when it has no handle of it.
#[derive(Debug)]
pub(super) struct Program {
    shared: Arc<SharedConnection<Client>>,
}

impl Program {
    pub(super) fn new(shared: Arc<SharedConnection<Client>>) -> Self {
        Self { shared }
    }

    pub(super) fn shared(&self) -> &Arc<SharedConnection<Client>> {
        &self.shared
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.shared.shut_down();
    }
}

impl SharedConnection<Client> {
    /// Polls for the response to `initialize`.
    pub(super) fn poll_initialized(
        &self,
        task: &Task<'_>,
    ) -> Poll<Result<crate::client::Initialization, RequestError>> {
        let mut state = self.lock();
        if let Some(initialized) = state.machine.machine.initialized() {
            return Poll::Ready(Ok(initialized.clone()));
        }
        if let Some(reason) = state.machine.machine.close_reason() {
            return Poll::Ready(Err(CallError::Closed(reason.clone()).into()));
        }
        wait(&mut state.behind, task);
        Poll::Pending
    }
}
