//! What the driver and its clients share.
use super::batch::Batches;
use super::cancel::Cancel;
use super::outgoing::{Outgoing, Source};
use super::replies::{Outcome, Place, Replies};
use super::{Options, RequestError};
use crate::framing::Frame;
use crate::id_map::IdMap;
use crate::message::Message;
use crate::peer::RegisterError;
use crate::wire::{self, Raw};
use crate::{ErrorObject, Limits, Peer, RequestId, Response, encode};
use alloc::collections::BTreeSet;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::mem;
use core::sync::atomic::{AtomicUsize, Ordering};
use core::task::{Context as Task, Poll, Waker};
use serde::Serialize;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How much memory is kept for params that a client writes, in bytes.
const IDLE_PARAMS: usize = 256 * 1024;

/// How many marks of requests that were not taken back are kept for others.
const IDLE_CANCELS: usize = 16;

#[derive(Debug)]
pub(super) struct Shared {
    state: Mutex<State>,
    /// Names the thread where the driver handles a notification right now.
    notifying: AtomicUsize,
}

/// How it stands with a connection at a moment.
pub(super) struct View {
    pub(super) has_out: bool,
    /// How many requests of ours are open.
    pub(super) asking: usize,
    /// How many requests of theirs are open.
    pub(super) asked: usize,
    /// Whether what may come can be taken, apart from notifications.
    pub(super) has_room_for_requests: bool,
    pub(super) is_shutting_down: bool,
}

#[derive(Debug)]
pub(super) struct State {
    pub(super) peer: Peer<Place>,
    pub(super) replies: Replies,
    /// Requests of theirs that are open.
    theirs: IdMap<Theirs>,
    idle_cancels: Vec<Arc<Cancel>>,
    batches: Batches,
    out: Outgoing,
    /// Memory for params that a client writes.
    params: Vec<u8>,
    limits: Limits,
    outgoing: usize,
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

/// A request of theirs.
#[derive(Debug)]
struct Theirs {
    cancel: Arc<Cancel>,
    /// The batch that it came in.
    batch: Option<u64>,
}

/// Names this thread among those that run, by where it has something that each has for itself. Its id would be dearer to
/// ask for.
fn this_thread() -> usize {
    std::thread_local!(static HERE: u8 = const { 0 });
    HERE.with(|here| core::ptr::from_ref(here).addr())
}

impl Shared {
    pub(super) fn new(options: &Options) -> Self {
        let state = State {
            peer: Peer::new(options.cancel_method, options.limits),
            replies: Replies::default(),
            theirs: IdMap::new(),
            idle_cancels: Vec::new(),
            batches: Batches::default(),
            out: Outgoing::default(),
            params: Vec::new(),
            limits: options.limits,
            outgoing: options.outgoing,
            nested: BTreeSet::new(),
            is_congested: false,
            received: 0,
            handled: 0,
            driver: None,
            room: Vec::new(),
            behind: Vec::new(),
            is_shutting_down: false,
            is_closed: false,
        };
        Self { state: Mutex::new(state), notifying: AtomicUsize::new(0) }
    }

    /// Nothing of what is called while this is held panics half-way, so that what a panic elsewhere left is whole.
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How it stands now; what clients do from now on wakes the driver.
    pub(super) fn view(&self, driver: &Waker) -> View {
        let mut state = self.lock();
        state.set_driver(driver);
        let (asking, asked) = (state.peer.open_ours(), state.peer.open_theirs());
        // Responses to requests of ours have to come through; requests are then refused rather than left unread.
        let may_take = asked < state.limits.theirs || asking > 0;
        View {
            has_out: state.has_out(),
            asking,
            asked,
            has_room_for_requests: may_take && state.out.replies() <= state.limits.theirs,
            is_shutting_down: state.is_shutting_down,
        }
    }

    /// Writes params of a client, into memory to be [given back](Self::give_back).
    pub(super) fn write<T: Serialize + ?Sized>(&self, params: &T) -> Result<Vec<u8>, RequestError> {
        let mut text = mem::take(&mut self.lock().params);
        text.clear();
        wire::write(params, &mut text).map_err(RequestError::Unwritten)?;
        Ok(text)
    }

    pub(super) fn give_back(&self, params: Vec<u8>) {
        if params.capacity() <= IDLE_PARAMS {
            self.lock().params = params;
        }
    }

    /// Queues a notification of a client, once there is room. `params` is JSON text.
    pub(super) fn poll_notify(
        &self,
        method: &str,
        params: Option<&[u8]>,
        task: &mut Task<'_>,
    ) -> Poll<Result<(), RequestError>> {
        let mut state = self.lock();
        if !state.poll_room(|| self.is_notifying(), task)? {
            return Poll::Pending;
        }
        state.out.write(Source::Client, |out| encode::call(None, method, params, out));
        let driver = state.driver.take();
        drop(state);
        wake(driver);
        Poll::Ready(Ok(()))
    }

    /// Registers a request of ours and queues it, once there is room. `params` is JSON text.
    pub(super) fn poll_request(
        &self,
        method: &str,
        params: Option<&[u8]>,
        task: &mut Task<'_>,
    ) -> Poll<Result<(RequestId, Place), RequestError>> {
        let mut state = self.lock();
        if !state.poll_room(|| self.is_notifying(), task)? {
            return Poll::Pending;
        }
        let place = state.replies.open();
        let id = match state.peer.register(place, None) {
            Ok(id) => id,
            Err(error) => {
                state.replies.close(place);
                return Poll::Ready(Err(match error {
                    RegisterError::Full => RequestError::Full,
                    // Numbers are never taken.
                    RegisterError::Closed | RegisterError::Taken => RequestError::Closed,
                }));
            }
        };
        if self.is_notifying() {
            state.nested.insert(id.clone());
        }
        state.out.write(Source::Client, |out| encode::call(Some(&id), method, params, out));
        let driver = state.driver.take();
        drop(state);
        wake(driver);
        Poll::Ready(Ok((id, place)))
    }

    /// Takes a request of ours back.
    pub(super) fn cancel(&self, id: &RequestId) {
        let mut state = self.lock();
        state.cancel(id);
        let driver = state.driver.take();
        drop(state);
        wake(driver);
    }

    /// Takes a request of ours back, unless it has ended, and forgets it, since nobody waits for its outcome.
    pub(super) fn forget(&self, id: &RequestId, place: Place) {
        let mut state = self.lock();
        state.cancel(id);
        state.nested.remove(id);
        state.peer.forget(id);
        let outcome = state.replies.close(place);
        let driver = state.driver.take();
        drop(state);
        drop(outcome);
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
            wakers.append(&mut state.room);
            wakers.append(&mut state.behind);
        } else {
            state.peer.handle_end();
        }
        while let Some(ended) = state.peer.poll_ended(core::time::Duration::MAX) {
            wakers.extend(state.replies.put(ended.token, Err(RequestError::Closed)));
        }
        state.nested.clear();
        let mut cancels = Vec::new();
        while is_closed && let Some((_, request)) = state.theirs.pop_first() {
            cancels.push(request.cancel);
        }
        drop(state);
        cancels.iter().for_each(|cancel| cancel.set());
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
        let mut wakers = if is_new { mem::take(&mut state.room) } else { Vec::new() };
        let mut is_any = false;
        for id in mem::take(&mut state.nested) {
            state.cancel(&id);
            if let Some(place) = state.peer.forget(&id) {
                is_any = true;
                wakers.extend(state.replies.put(place, Err(RequestError::Congested)));
            }
        }
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
        is_any
    }

    /// Answers a request of theirs, unless it is not open any more.
    pub(super) fn respond(&self, id: &RequestId, outcome: Result<Raw, ErrorObject>) {
        let mut state = self.lock();
        let request = state.theirs.remove(id).map(|(_, request)| request);
        let batch = request.as_ref().and_then(|request| request.batch);
        let outcome = match &outcome {
            Ok(result) => Ok(result.as_ref()),
            Err(error) => Err(error.clone()),
        };
        if let Ok(response) = state.peer.respond(id, outcome) {
            state.answer(&response.into(), batch);
        }
        state.finish(batch);
        request.into_iter().for_each(|request| state.keep(request.cancel));
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

    /// How many notifications have to be handled for those that came before now to be. Whoever handles one has those
    /// before it behind itself.
    pub(super) fn mark(&self) -> u64 {
        let state = self.lock();
        if self.is_notifying() { state.handled } else { state.received }
    }

    /// Tells that all messages of a batch are read.
    pub(super) fn end_batch(&self, batch: u64) {
        self.lock().finish(Some(batch));
    }

    /// The next message to write, and whether there are more.
    pub(super) fn next_out(&self) -> Option<(Frame, bool)> {
        let mut state = self.lock();
        let frame = state.out.pop()?;
        let is_more = state.has_out();
        let is_roomy = state.out.of_clients() <= state.outgoing / 2;
        let wakers = if is_roomy { mem::take(&mut state.room) } else { Vec::new() };
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
        Some((frame, is_more))
    }

    /// Begins the time in which the driver handles a notification, on this thread.
    pub(super) fn begin_notifying(&self) {
        self.notifying.store(this_thread(), Ordering::Relaxed);
    }

    /// Whether this is called where the driver handles a notification. A thread finds its own name only where it was the
    /// last that wrote, so that no order between threads is needed.
    fn is_notifying(&self) -> bool {
        self.notifying.load(Ordering::Relaxed) == this_thread()
    }

    /// Ends the time in which the driver handles a notification; tells whether that one is handled.
    pub(super) fn end_notifying(&self, is_handled: bool) {
        self.notifying.store(0, Ordering::Relaxed);
        if is_handled {
            let mut state = self.lock();
            state.handled += 1;
            let wakers = mem::take(&mut state.behind);
            drop(state);
            wakers.into_iter().for_each(Waker::wake);
        }
    }
}

impl State {
    fn set_driver(&mut self, waker: &Waker) {
        match &mut self.driver {
            Some(driver) => driver.clone_from(waker),
            None => self.driver = Some(waker.clone()),
        }
    }

    fn has_out(&self) -> bool {
        !self.out.is_empty()
    }

    pub(super) fn count_received(&mut self) {
        self.received += 1;
    }

    pub(super) fn open(&mut self, id: RequestId, batch: Option<u64>) -> Arc<Cancel> {
        batch.into_iter().for_each(|batch| self.batches.open(batch));
        let cancel = self.idle_cancels.pop().unwrap_or_default();
        self.theirs.insert(id, Theirs { cancel: Arc::clone(&cancel), batch });
        cancel
    }

    pub(super) fn cancelled(&mut self, id: &RequestId) -> Option<Arc<Cancel>> {
        self.theirs.get_mut(id).map(|request| Arc::clone(&request.cancel))
    }

    /// Keeps the mark of a request that has ended for another, if nobody looks at it any more.
    fn keep(&mut self, mut cancel: Arc<Cancel>) {
        if self.idle_cancels.len() < IDLE_CANCELS
            && let Some(unused) = Arc::get_mut(&mut cancel)
        {
            *unused = Cancel::default();
            self.idle_cancels.push(cancel);
        }
    }

    /// Puts what came of a request of ours where somebody waits for it, and gives who does.
    pub(super) fn answered(
        &mut self,
        id: &RequestId,
        place: Place,
        outcome: Outcome,
    ) -> Option<Waker> {
        self.nested.remove(id);
        self.replies.put(place, outcome)
    }

    pub(super) fn poll_handled(&mut self, mark: u64, task: &mut Task<'_>) -> Poll<()> {
        if self.is_closed || self.handled >= mark {
            return Poll::Ready(());
        }
        wait(&mut self.behind, task);
        Poll::Pending
    }

    /// Whether a client may queue a message.
    fn poll_room(
        &mut self,
        is_notifying: impl FnOnce() -> bool,
        task: &mut Task<'_>,
    ) -> Result<bool, RequestError> {
        if self.is_closed {
            return Err(RequestError::Closed);
        }
        let has_room = self.out.of_clients() < self.outgoing.max(1);
        if has_room {
            return Ok(true);
        }
        if self.is_congested && is_notifying() {
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
        let answers = batch.and_then(|batch| self.batches.finish(batch));
        if let Some(answers) = answers.filter(|_| !self.is_closed) {
            self.out.push_frame(Frame::one_line(answers.into()), Source::Reply);
        }
    }

    /// Queues a message, as long as something can be sent.
    fn push(&mut self, message: &Message<'_>, source: Source) {
        if !self.is_closed {
            self.out.push(message, source);
        }
    }

    /// Tells the peer that a request of ours is taken back. There is room for that: a request is taken back once.
    fn cancel(&mut self, id: &RequestId) {
        if let Some(cancellation) = self.peer.cancel(id) {
            self.push(&cancellation.notification().into(), Source::Client);
        }
    }
}

/// Has a task woken later.
pub(super) fn wait(wakers: &mut Vec<Waker>, task: &Task<'_>) {
    if !wakers.iter().any(|waker| waker.will_wake(task.waker())) {
        wakers.push(task.waker().clone());
    }
}

fn wake(waker: Option<Waker>) {
    waker.into_iter().for_each(Waker::wake);
}
