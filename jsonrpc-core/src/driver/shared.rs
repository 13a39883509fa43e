//! What the driver and its clients share.
use super::batch::Batches;
use super::{Options, RequestError};
use crate::framing::Frame;
use crate::message::Message;
use crate::peer::RegisterError;
use crate::wire::Raw;
use crate::{ErrorObject, Limits, Notification, Peer, Request, RequestId, Response, encode};
use alloc::collections::{BTreeSet, VecDeque};
use alloc::sync::Arc;
use alloc::vec::Vec;
use bytes::Bytes;
use core::task::{Context as Task, Poll, Waker};
use futures::channel::oneshot;
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

pub(super) type Outcome = Result<Raw, RequestError>;

/// Where the outcome of a request of ours goes.
pub(super) type Token = oneshot::Sender<Outcome>;

/// How much memory is kept for the next message to write, in bytes.
const IDLE_SCRATCH: usize = 256 * 1024;

#[derive(Debug)]
pub(super) struct Shared(Mutex<State>);

#[derive(Debug)]
pub(super) struct State {
    pub(super) peer: Peer<Token>,
    /// Requests of theirs that are open.
    cancels: HashMap<RequestId, Arc<Cancel>>,
    batches: Batches,
    out: VecDeque<(Frame, Source)>,
    /// The message that is put into `out`, in memory that stays.
    scratch: Vec<u8>,
    /// How many of `out` are answers.
    replies: usize,
    limits: Limits,
    outgoing: usize,
    /// Where the driver handles a notification right now.
    notifying: Option<ThreadId>,
    /// Requests of ours that the handling of a notification made.
    nested: BTreeSet<RequestId>,
    /// Whether the notifications that may wait do.
    is_congested: bool,
    received: u64,
    handled: u64,
    driver: Option<Waker>,
    /// Who waits for room in `out`.
    room: Vec<Waker>,
    /// Who waits for notifications to be handled.
    behind: Vec<Waker>,
    is_shutting_down: bool,
    is_closed: bool,
}

/// Who a message on its way out is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// From a client, which waits for room.
    Client,
    /// From the driver: an answer.
    Reply,
}

impl Shared {
    pub(super) fn new(options: &Options) -> Self {
        Self(Mutex::new(State {
            peer: Peer::new(options.cancel_method, options.limits),
            cancels: HashMap::new(),
            batches: Batches::default(),
            out: VecDeque::new(),
            scratch: Vec::new(),
            replies: 0,
            limits: options.limits,
            outgoing: options.outgoing,
            notifying: None,
            nested: BTreeSet::new(),
            is_congested: false,
            received: 0,
            handled: 0,
            driver: None,
            room: Vec::new(),
            behind: Vec::new(),
            is_shutting_down: false,
            is_closed: false,
        }))
    }

    /// Nothing of what is called while this is held panics half-way, so that what a panic elsewhere left is whole.
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues a notification of a client, once there is room.
    pub(super) fn poll_notify(
        &self,
        method: &str,
        params: Option<&RawValue>,
        task: &mut Task<'_>,
    ) -> Poll<Result<(), RequestError>> {
        let mut state = self.lock();
        if !state.poll_room(task)? {
            return Poll::Pending;
        }
        state.push(&Notification::new(method, params).into(), Source::Client);
        let driver = state.driver.take();
        drop(state);
        wake(driver);
        Poll::Ready(Ok(()))
    }

    /// Registers a request of ours and queues it, once there is room.
    pub(super) fn poll_request(
        &self,
        method: &str,
        params: Option<&RawValue>,
        task: &mut Task<'_>,
    ) -> Poll<Result<(RequestId, oneshot::Receiver<Outcome>), RequestError>> {
        let mut state = self.lock();
        if !state.poll_room(task)? {
            return Poll::Pending;
        }
        let (token, outcome) = oneshot::channel();
        let id = state.peer.register(token, None).map_err(|error| match error {
            RegisterError::Full => RequestError::Full,
            // Numbers are never taken.
            RegisterError::Closed | RegisterError::Taken => RequestError::Closed,
        })?;
        if state.notifying == Some(thread::current().id()) {
            state.nested.insert(id.clone());
        }
        state.push(&Request::new(id.clone(), method, params).into(), Source::Client);
        let driver = state.driver.take();
        drop(state);
        wake(driver);
        Poll::Ready(Ok((id, outcome)))
    }

    /// Takes a request of ours back, and forgets it if nobody waits for its outcome.
    pub(super) fn cancel(&self, id: &RequestId, is_forgotten: bool) {
        let mut state = self.lock();
        state.cancel(id);
        let token = is_forgotten.then(|| state.forget(id)).flatten();
        let driver = state.driver.take();
        drop(state);
        drop(token);
        wake(driver);
    }

    pub(super) fn shut_down(&self) {
        let mut state = self.lock();
        state.is_shutting_down = true;
        state.peer.drain();
        let driver = state.driver.take();
        drop(state);
        wake(driver);
    }

    /// Ends all that waits for something from the peer; `true` if nothing can be sent either.
    pub(super) fn end(&self, is_closed: bool) {
        let mut state = self.lock();
        let mut wakers = Vec::new();
        if is_closed {
            state.is_closed = true;
            state.peer.handle_close();
            state.out.clear();
            state.batches.clear();
            state.replies = 0;
            wakers.append(&mut state.room);
            wakers.append(&mut state.behind);
        } else {
            state.peer.handle_end();
        }
        let ended = core::iter::from_fn(|| state.peer.poll_ended(core::time::Duration::MAX));
        let tokens: Vec<_> = ended.map(|ended| ended.token).collect();
        state.nested.clear();
        let cancels = if is_closed { core::mem::take(&mut state.cancels) } else { HashMap::new() };
        drop(state);
        for token in tokens {
            // Nobody may be waiting any more.
            let _ = token.send(Err(RequestError::Closed));
        }
        cancels.values().for_each(|cancel| cancel.set());
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Takes note of whether as many notifications wait as may. If they do, what the handling of one waits for ends;
    /// whether there was anything.
    pub(super) fn set_congested(&self, is_congested: bool) -> bool {
        let mut state = self.lock();
        let is_new = is_congested && !state.is_congested;
        state.is_congested = is_congested;
        if !is_congested {
            return false;
        }
        let mut tokens = Vec::new();
        for id in core::mem::take(&mut state.nested) {
            state.cancel(&id);
            tokens.extend(state.peer.forget(&id));
        }
        let wakers = if is_new { core::mem::take(&mut state.room) } else { Vec::new() };
        drop(state);
        let is_any = !tokens.is_empty();
        for token in tokens {
            // Nobody may be waiting any more.
            let _ = token.send(Err(RequestError::Congested));
        }
        wakers.into_iter().for_each(Waker::wake);
        is_any
    }

    /// Answers a request of theirs, unless it is not open any more.
    pub(super) fn respond(&self, id: &RequestId, outcome: Result<Raw, ErrorObject>) {
        let mut state = self.lock();
        state.cancels.remove(id);
        let outcome = outcome.as_ref().map(AsRef::as_ref).map_err(Clone::clone);
        let batch = state.batches.close(id);
        if let Ok(response) = state.peer.respond(id, outcome) {
            state.answer(&response.into(), batch);
        }
        state.finish(batch);
    }

    /// Answers what never became an open request.
    pub(super) fn reply(&self, reply: Response<'_>, batch: Option<u64>) {
        self.lock().answer(&reply.into(), batch);
    }

    /// Begins to read a batch; and whether so many answers wait that its requests are to be refused.
    pub(super) fn begin_batch(&self) -> (u64, bool) {
        let mut state = self.lock();
        let is_full = state.batches.held() >= state.limits.theirs;
        (state.batches.begin(), is_full)
    }

    /// Tells that all messages of a batch are read.
    pub(super) fn end_batch(&self, batch: u64) {
        self.lock().finish(Some(batch));
    }

    /// The next message to write, and whether there are more.
    pub(super) fn next_out(&self) -> Option<(Frame, bool)> {
        let mut state = self.lock();
        let (frame, source) = state.out.pop_front()?;
        if source == Source::Reply {
            state.replies -= 1;
        }
        let is_more = state.has_out();
        let is_roomy = state.out.len() - state.replies <= state.outgoing / 2;
        let wakers = if is_roomy { core::mem::take(&mut state.room) } else { Vec::new() };
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
        Some((frame, is_more))
    }

    /// Tells that one more notification is handled.
    pub(super) fn count_handled(&self) {
        let mut state = self.lock();
        state.handled += 1;
        let wakers = core::mem::take(&mut state.behind);
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
    }
}

impl State {
    pub(super) fn set_driver(&mut self, waker: &Waker) {
        match &mut self.driver {
            Some(driver) => driver.clone_from(waker),
            None => self.driver = Some(waker.clone()),
        }
    }

    /// Marks the time in which the driver handles a notification.
    pub(super) fn set_notifying(&mut self, is_notifying: bool) {
        self.notifying = is_notifying.then(|| thread::current().id());
    }

    pub(super) fn is_shutting_down(&self) -> bool {
        self.is_shutting_down
    }

    pub(super) fn has_out(&self) -> bool {
        !self.out.is_empty()
    }

    /// Whether what may come can be taken, apart from notifications.
    pub(super) fn has_room_for_requests(&self) -> bool {
        // Responses to requests of ours have to come through; requests are then refused rather than left unread.
        let may_refuse = self.peer.open_ours() > 0;
        self.replies <= self.limits.theirs
            && (self.peer.open_theirs() < self.limits.theirs || may_refuse)
    }

    pub(super) fn count_received(&mut self) {
        self.received += 1;
    }

    pub(super) fn open(&mut self, id: RequestId, batch: Option<u64>) -> Arc<Cancel> {
        if let Some(batch) = batch {
            self.batches.open(batch, id.clone());
        }
        let cancel = Arc::new(Cancel::default());
        self.cancels.insert(id, Arc::clone(&cancel));
        cancel
    }

    pub(super) fn cancelled(&self, id: &RequestId) -> Option<Arc<Cancel>> {
        self.cancels.get(id).cloned()
    }

    pub(super) fn forget(&mut self, id: &RequestId) -> Option<Token> {
        self.nested.remove(id);
        self.peer.forget(id)
    }

    pub(super) fn answered(&mut self, id: &RequestId) {
        self.nested.remove(id);
    }

    /// How many notifications have to be handled for those that came before now to be. Whoever handles one has those
    /// before it behind itself.
    pub(super) fn mark(&self) -> u64 {
        if self.notifying == Some(thread::current().id()) { self.handled } else { self.received }
    }

    pub(super) fn poll_handled(&mut self, mark: u64, task: &mut Task<'_>) -> Poll<()> {
        if self.is_closed || self.handled >= mark {
            return Poll::Ready(());
        }
        wait(&mut self.behind, task);
        Poll::Pending
    }

    /// Whether a client may queue a message.
    fn poll_room(&mut self, task: &mut Task<'_>) -> Result<bool, RequestError> {
        if self.is_closed {
            return Err(RequestError::Closed);
        }
        let has_room = self.out.len() - self.replies < self.outgoing.max(1);
        if has_room {
            return Ok(true);
        }
        if self.is_congested && self.notifying == Some(thread::current().id()) {
            return Err(RequestError::Congested);
        }
        wait(&mut self.room, task);
        Ok(false)
    }

    /// Queues an answer, or keeps it for the batch that it belongs to.
    fn answer(&mut self, answer: &Message<'_>, batch: Option<u64>) {
        match batch {
            Some(batch) => self.batches.answer(batch, answer),
            None => self.push(answer, Source::Reply),
        }
    }

    /// Queues the answer to a batch if it is whole now.
    fn finish(&mut self, batch: Option<u64>) {
        if let Some(answers) = batch.and_then(|batch| self.batches.finish(batch)) {
            self.push_frame(Bytes::from(answers).into(), Source::Reply);
        }
    }

    /// Queues a message, as long as something can be sent.
    fn push(&mut self, message: &Message<'_>, source: Source) {
        self.scratch.clear();
        self.scratch.shrink_to(IDLE_SCRATCH);
        encode::message(message, &mut self.scratch);
        self.push_frame(Bytes::copy_from_slice(&self.scratch).into(), source);
    }

    fn push_frame(&mut self, frame: Frame, source: Source) {
        if self.is_closed {
            return;
        }
        if source == Source::Reply {
            self.replies += 1;
        }
        self.out.push_back((frame, source));
    }

    /// Tells the peer that a request of ours is taken back. There is room for that: a request is taken back once.
    fn cancel(&mut self, id: &RequestId) {
        if let Some(cancellation) = self.peer.cancel(id) {
            self.push(&cancellation.notification().into(), Source::Client);
        }
    }
}

/// Whether a request of theirs was taken back, and who waits to know.
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

    pub(super) fn poll(&self, task: &mut Task<'_>) -> Poll<()> {
        let mut state = self.lock();
        if state.0 {
            return Poll::Ready(());
        }
        wait(&mut state.1, task);
        Poll::Pending
    }
}

fn wait(wakers: &mut Vec<Waker>, task: &Task<'_>) {
    if !wakers.iter().any(|waker| waker.will_wake(task.waker())) {
        wakers.push(task.waker().clone());
    }
}

fn wake(waker: Option<Waker>) {
    waker.into_iter().for_each(Waker::wake);
}
