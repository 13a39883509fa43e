//! The driver: runs a machine between a stream and a sink of frames, with the handlers of its side.
use super::machine::{Machine, MachineEvent};
use super::shared::{SharedConnection, View};
use super::{ConnectionOptions, Context, Peer};
use crate::client::{Diagnostic, RequestKey};
use alloc::borrow::ToOwned;
use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::sync::Arc;
use core::pin::Pin;
use core::task::{Context as Task, Poll};
use futures::future::Future;
use futures::stream::{FuturesUnordered, Stream, StreamExt};
use futures::{FutureExt, Sink, SinkExt};
use jsonrpc_core::framing::{Frame, FrameError};
use jsonrpc_core::wire::Raw;
use jsonrpc_core::{ErrorCode, ErrorObject, RequestId};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Number of rounds before the driver yields to other tasks.
const BUDGET: usize = 128;

/// A side of a connection, with its handlers as futures.
pub(super) trait Serve<M: Machine> {
    /// The future of a response to a request.
    type Answer: Future<Output = Result<Raw, ErrorObject>> + Unpin;
    /// The future of the handling of a notification.
    type Handling: Future<Output = ()> + Unpin;

    fn request(&self, request: M::Request, context: Context) -> Self::Answer;
    fn notification(&self, notification: M::Notification, peer: Peer) -> Self::Handling;
    fn problem(&self, problem: &Diagnostic);
}

/// Runs a connection. It is `Send` if the stream, the sink and the side are.
#[must_use = "futures do nothing unless polled"]
pub(super) struct Driver<St, Si, M: Machine, S: Serve<M>> {
    /// `None` once it has ended.
    stream: Option<St>,
    sink: Si,
    side: S,
    options: ConnectionOptions,
    shared: Arc<SharedConnection<M>>,
    running: FuturesUnordered<RunningHandler<S::Answer>>,
    /// Requests that wait for a free handler.
    parked: VecDeque<(RequestKey, M::Request)>,
    handling: Option<S::Handling>,
    /// Notifications that wait to be handled.
    notifications: VecDeque<M::Notification>,
    is_congested: bool,
    is_flushed: bool,
    is_read_pending: bool,
    closing: CloseProgress,
}

/// The progress of closing the sink.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CloseProgress {
    NotStarted,
    /// All messages are written.
    Started,
    Done,
}

/// A request with its running handler.
struct RunningHandler<F> {
    key: RequestKey,
    answer: F,
}

impl<F: Future<Output = Result<Raw, ErrorObject>> + Unpin> Future for RunningHandler<F> {
    type Output = (RequestKey, HandlerEnd);

    fn poll(mut self: Pin<&mut Self>, task: &mut Task<'_>) -> Poll<Self::Output> {
        let key = self.key;
        let polled = poll_handler(&mut self.answer, task);
        polled.map(|outcome| (key, outcome))
    }
}

/// A panic of a handler: its message.
struct HandlerPanic(String);

/// The response of a handler, if it did not panic.
type HandlerEnd = Result<Result<Raw, ErrorObject>, HandlerPanic>;

/// Polls the future of a handler, unless it panics. It is not polled again then.
fn poll_handler<F: Future + Unpin>(
    handler: &mut F,
    task: &mut Task<'_>,
) -> Poll<Result<F::Output, HandlerPanic>> {
    // What the handler shares with others is theirs to guard, as with a thread that panics.
    let polled = catch_unwind(AssertUnwindSafe(|| handler.poll_unpin(task)));
    match polled {
        Ok(polled) => polled.map(Ok),
        Err(payload) => {
            let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
            let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
            Poll::Ready(Err(HandlerPanic(text.unwrap_or_default())))
        }
    }
}

// No field is pinned structurally.
impl<St, Si, M: Machine, S: Serve<M>> Unpin for Driver<St, Si, M, S> {}

impl<St, Si, M: Machine, S: Serve<M>> Driver<St, Si, M, S> {
    pub(super) fn new(
        stream: St,
        sink: Si,
        side: S,
        shared: Arc<SharedConnection<M>>,
        options: ConnectionOptions,
    ) -> Self {
        Self {
            stream: Some(stream),
            sink,
            side,
            options,
            shared,
            running: FuturesUnordered::new(),
            parked: VecDeque::new(),
            handling: None,
            notifications: VecDeque::new(),
            is_congested: false,
            is_flushed: true,
            is_read_pending: false,
            closing: CloseProgress::NotStarted,
        }
    }

    fn peer(&self) -> Peer {
        Peer::new(self.shared.clone())
    }

    /// Handles the machine's events, and returns whether there were any.
    fn take(&mut self) -> bool {
        let mut is_any = false;
        while let Some(event) = self.shared.next() {
            is_any = true;
            match event {
                MachineEvent::Request(key, request) => self.parked.push_back((key, request)),
                MachineEvent::Notification(event) => self.notifications.push_back(event),
                MachineEvent::Cancelled(key) => self.cancel(key),
                MachineEvent::Problem(problem) => self.side.problem(&problem),
                MachineEvent::Ended(..) | MachineEvent::Initialized | MachineEvent::Closed => {}
            }
        }
        is_any
    }

    /// Reports a cancellation to the handler of a request, or answers the request if it has no
    /// handler yet.
    fn cancel(&mut self, key: RequestKey) {
        match self.parked.iter().position(|(parked, _)| *parked == key) {
            Some(at) => {
                self.parked.remove(at);
                let error = ErrorObject::new(ErrorCode::REQUEST_CANCELLED, "cancelled");
                self.shared.reply(key, Err(error));
            }
            None => self.shared.cancel(key),
        }
    }

    /// Polls the handlers, and returns whether there was progress.
    fn poll_handlers(&mut self, task: &mut Task<'_>) -> bool {
        let mut is_progress = false;
        while self.poll_notification(task) {
            is_progress = true;
        }
        while let Some((key, outcome)) = self.poll_answer(task) {
            let outcome = outcome.unwrap_or_else(|panic| {
                let request = Some(self.shared.lock().machine.request_id(key));
                self.report_panic(request, panic);
                Err(ErrorObject::new(ErrorCode::INTERNAL_ERROR, "the handler panicked"))
            });
            self.shared.reply(key, outcome);
            is_progress = true;
        }
        let calls = self.shared.lock().machine.base().open_calls();
        while self.running.len() < self.options.handlers.max(1).saturating_add(calls)
            && let Some((key, request)) = self.parked.pop_front()
        {
            let (id, cancel) = self.shared.begin(key);
            let context = Context::new(id, self.peer(), cancel);
            self.running.push(RunningHandler { key, answer: self.side.request(request, context) });
            is_progress = true;
        }
        is_progress
    }

    fn poll_answer(&mut self, task: &mut Task<'_>) -> Option<(RequestKey, HandlerEnd)> {
        if self.running.is_empty() {
            return None;
        }
        match self.running.poll_next_unpin(task) {
            Poll::Ready(answered) => answered,
            Poll::Pending => None,
        }
    }

    /// Polls the current notification, and returns whether one was handled.
    fn poll_notification(&mut self, task: &mut Task<'_>) -> bool {
        if self.handling.is_none() {
            let Some(next) = self.notifications.pop_front() else { return false };
            // Its first part runs before the first poll.
            self.shared.begin_handling();
            self.handling = Some(self.side.notification(next, self.peer()));
        }
        let Some(handling) = &mut self.handling else { return false };
        self.shared.begin_handling();
        let polled = poll_handler(handling, task);
        let is_handled = polled.is_ready();
        self.shared.end_handling(is_handled);
        if is_handled {
            self.handling = None;
        }
        if let Poll::Ready(Err(panic)) = polled {
            self.report_panic(None, panic);
        }
        is_handled
    }

    fn report_panic(&self, request: Option<RequestId>, HandlerPanic(message): HandlerPanic) {
        self.side.problem(&Diagnostic::HandlerPanicked { request, message });
    }

    /// Returns whether all messages are written, and none is to come.
    fn is_written(&self, view: &View) -> bool {
        let is_last = match self.stream {
            Some(_) => view.is_shutting_down && view.calls == 0,
            None => true,
        };
        is_last && self.is_idle() && view.requests == 0 && view.transmits == 0
    }

    fn is_idle(&self) -> bool {
        self.handling.is_none() && self.notifications.is_empty()
    }
}

impl<St, Si, M, S, E> Driver<St, Si, M, S>
where
    St: Stream<Item = Result<Result<Frame, FrameError>, E>> + Unpin,
    Si: Sink<Frame, Error = E> + Unpin,
    M: Machine,
    S: Serve<M>,
{
    /// Writes messages while the sink is ready, and returns whether there were any.
    fn poll_write(&mut self, task: &mut Task<'_>) -> Result<bool, E> {
        let mut is_progress = false;
        while self.shared.lock().machine.transmits() > 0
            && self.sink.poll_ready_unpin(task)?.is_ready()
            && let Some(mut line) = self.shared.next_line()
        {
            line.truncate(line.trim_ascii_end().len());
            self.sink.start_send_unpin(Frame::from(bytes::Bytes::from(line)))?;
            self.is_flushed = false;
            is_progress = true;
        }
        Ok(is_progress)
    }

    fn poll_flush(&mut self, task: &mut Task<'_>) -> Result<(), E> {
        if !self.is_flushed && self.closing == CloseProgress::NotStarted {
            self.is_flushed = self.sink.poll_flush_unpin(task)?.is_ready();
        }
        Ok(())
    }

    /// Reads one message if permitted, and returns whether there was one.
    fn poll_read(&mut self, view: &View, task: &mut Task<'_>) -> Result<bool, E> {
        if self.stream.is_none() || self.is_read_pending {
            return Ok(false);
        }
        let was_congested = self.is_congested;
        self.is_congested = self.notifications.len() >= self.options.notifications.max(1);
        if (was_congested || self.is_congested) && self.shared.set_congested(self.is_congested) {
            return Ok(true);
        }
        if self.is_congested || !view.may_read {
            return Ok(false);
        }
        match self.stream.as_mut().map(|stream| stream.poll_next_unpin(task)) {
            None => return Ok(false),
            Some(Poll::Pending) => {
                self.is_read_pending = true;
                return Ok(false);
            }
            Some(Poll::Ready(Some(item))) => match item? {
                Ok(frame) => self.shared.handle_line(frame.text()),
                Err(error) => self.shared.handle_line(Err(error)),
            },
            Some(Poll::Ready(None)) => {
                self.stream = None;
                self.shared.end(false);
            }
        }
        Ok(true)
    }

    /// Runs until no progress is possible.
    fn poll_end(&mut self, task: &mut Task<'_>) -> Poll<Result<(), E>> {
        self.is_read_pending = false;
        for _ in 0..BUDGET {
            let is_handled = self.take() | self.poll_handlers(task);
            let view = self.shared.view(task.waker());
            let is_written = self.poll_write(task)?;
            let is_read = self.poll_read(&view, task)?;
            if is_handled || is_read || is_written {
                continue;
            }
            match self.closing {
                CloseProgress::NotStarted if self.is_written(&view) => {
                    self.shared.end(true);
                    self.closing = CloseProgress::Started;
                }
                CloseProgress::NotStarted => {
                    self.poll_flush(task)?;
                    return Poll::Pending;
                }
                CloseProgress::Started => match self.sink.poll_close_unpin(task)? {
                    Poll::Ready(()) => self.closing = CloseProgress::Done,
                    Poll::Pending => return Poll::Pending,
                },
                CloseProgress::Done if self.stream.is_none() && self.is_idle() => {
                    return Poll::Ready(Ok(()));
                }
                CloseProgress::Done => return Poll::Pending,
            }
        }
        self.poll_flush(task)?;
        task.waker().wake_by_ref();
        Poll::Pending
    }
}

impl<St, Si, M, S, E> Future for Driver<St, Si, M, S>
where
    St: Stream<Item = Result<Result<Frame, FrameError>, E>> + Unpin,
    Si: Sink<Frame, Error = E> + Unpin,
    M: Machine,
    S: Serve<M>,
{
    type Output = Result<(), E>;

    fn poll(mut self: Pin<&mut Self>, task: &mut Task<'_>) -> Poll<Result<(), E>> {
        let end = self.poll_end(task);
        if end.is_ready() {
            self.shared.end(true);
        }
        end
    }
}

impl<St, Si, M: Machine, S: Serve<M>> Drop for Driver<St, Si, M, S> {
    fn drop(&mut self) {
        self.shared.end(true);
    }
}
