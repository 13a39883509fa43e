//! Runs a connection: reads, writes, calls handlers, and keeps requests and responses together. For any runtime.
//!
//! A [`Driver`] stands between a [`Stream`] and a [`Sink`] of [`Frame`]s, as the codecs of the feature `codec`, a
//! WebSocket with an adapter, or [`memory::duplex`](crate::memory::duplex) give them. It spawns nothing and has no clock:
//! it is a future, and everything happens while that is polled. A [`Client`] sends; a [`Handler`] takes what comes, or
//! a [`LocalHandler`] if its futures are not `Send`.
//!
//! An agent and its client:
//!
//! ```
//! use futures::executor::block_on;
//! use futures::join;
//! use jsonrpc_core::driver::{Client, Context, Driver, Handler, Options};
//! use jsonrpc_core::wire::Raw;
//! use jsonrpc_core::{CancelMethod, ErrorCode, ErrorObject, Notification, Request, memory};
//! use std::sync::{Arc, Mutex};
//!
//! /// Asks the client for a file in order to answer, and tells what it is doing.
//! struct Agent;
//!
//! #[async_trait::async_trait]
//! impl Handler for Agent {
//!     async fn request(&self, request: Request<'_>, context: Context) -> Result<Raw, ErrorObject> {
//!         let internal = |error: &dyn std::fmt::Display| {
//!             ErrorObject::new(ErrorCode::INTERNAL_ERROR, error.to_string())
//!         };
//!         match &*request.method {
//!             "prompt" => {
//!                 let client = context.client();
//!                 client.notify("update", None).await.map_err(|error| internal(&error))?;
//!                 client.request("read", request.params).await.map_err(|error| internal(&error))
//!             }
//!             _ => Err(ErrorObject::new(ErrorCode::METHOD_NOT_FOUND, "unknown method")),
//!         }
//!     }
//! }
//!
//! /// Has the file, and keeps what it is told.
//! #[derive(Default)]
//! struct Editor(Mutex<Vec<String>>);
//!
//! #[async_trait::async_trait]
//! impl Handler for Editor {
//!     async fn request(&self, _: Request<'_>, _: Context) -> Result<Raw, ErrorObject> {
//!         Raw::from_text(r#""fn main() {}""#).map_err(|_| unreachable!())
//!     }
//!
//!     async fn notification(&self, notification: Notification<'_>, _: Client) {
//!         self.0.lock().expect("not poisoned").push(notification.method.into_owned());
//!     }
//! }
//!
//! let ((agent_reads, agent_writes), (editor_reads, editor_writes)) = memory::duplex(8);
//! let (agent, _) = Driver::new(agent_reads, agent_writes, Arc::new(Agent), Options::new(CancelMethod::ACP));
//! let editor = Arc::new(Editor::default());
//! let (driver, client) =
//!     Driver::new(editor_reads, editor_writes, editor.clone(), Options::new(CancelMethod::ACP));
//!
//! let turn = async {
//!     let answer = client.request("prompt", None).await;
//!     client.shut_down();
//!     answer
//! };
//! let (agent, editor_end, answer) = block_on(async { join!(agent, driver, turn) });
//! assert_eq!(answer?.as_str(), r#""fn main() {}""#);
//! assert_eq!(*editor.0.lock().expect("not poisoned"), ["update"]);
//! agent?;
//! editor_end?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Order
//!
//! - Messages are taken in the order they came: the handling of each has begun before the next is read, except that
//!   requests wait while all [places](Options::handlers) are taken, and notifications for those before them.
//! - Messages leave in the order they were sent. What a handler sent leaves before its answer.
//! - A response is given to who waits for it when it is read. Notifications before it have then been handled if each of
//!   them was without waiting; [`Client::caught_up`] waits for the others.
//!
//! # Limits
//!
//! Whatever the peer does, no more is held than the [`Options`] say, and nothing waits for itself:
//!
//! - As many requests are handled at a time as there are [places](Options::handlers), and one more for each request of
//!   ours that is open: a handler that waits for the peer needs no place, so that handlers may ask each other in turn to
//!   any depth.
//! - As many requests may be open, handled or waiting, as [`Limits::theirs`](crate::Limits::theirs) says. When they are, reading stops, so that
//!   the peer is held back. While a request of ours is open it goes on instead, since the response may be next, and
//!   requests are refused until there is room.
//! - When [`Options::notifications`] wait for their turn, reading stops. If the one being handled waits for a response,
//!   or for room to send, that ends with [`RequestError::Congested`]. What it waits for on another task is not seen, and
//!   may then never come.
//! - When more answers than that wait to be written, reading stops, so that a peer that asks and does not read is held
//!   back.
//! - When [`Options::outgoing`] messages of clients wait to be written, clients wait.
//!
//! Messages are as long as the framing lets them be. A [batch](crate::Batch) has as many as [`Limits::theirs`](crate::Limits::theirs)
//! says; a longer one is answered with one error. While as many answers are kept for batches that are not answered yet,
//! requests in further batches are refused.
//!
//! # Batches
//!
//! The messages of a batch are taken one after the other, as if each had come alone. The answers are sent together, in one
//! array, when the last of them is there, and there is none if nothing is to be answered. Other messages overtake them
//! meanwhile. Nothing is sent in batches unless it answers one.
//!
//! # Taking requests back
//!
//! The handler of a request that the peer takes back [is told](Context::cancelled) while it runs, however many others run
//! or wait, as long as reading goes on; a request that has not begun is answered with
//! [`REQUEST_CANCELLED`](crate::ErrorCode::REQUEST_CANCELLED). A request of ours is taken back when nobody waits for it
//! any more. So a deadline is that of your runtime around [`Client::request`], and the request ends with it.
//!
//! # The end
//!
//! | what happens | what comes of it |
//! |---|---|
//! | [`Client::shut_down`] | no more requests of theirs are taken; when none is open on either side and all is written, the sink is closed, and the driver ends when the stream has |
//! | the stream ends | requests of ours end with [`RequestError::Closed`]; when those of theirs are answered, the sink is closed and the driver ends |
//! | the stream or the sink fails | the driver ends with the error |
//! | the driver is dropped | handlers are dropped, requests of ours end with [`RequestError::Closed`] |
//!
//! [`Frame`]: crate::framing::Frame
mod batch;
mod call;
mod cancel;
mod client;
mod handler;
mod incoming;
mod options;
mod outgoing;
mod replies;
mod shared;
mod worker;

pub use client::{Client, Context, Reply, RequestError};
pub use handler::{Handler, LocalHandler, Serve, Stray};
pub use options::Options;

use crate::framing::{Frame, FrameError};
use crate::wire::Raw;
use crate::{ErrorCode, ErrorObject, RequestId};
use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use call::Call;
use cancel::Cancel;
use core::fmt;
use core::pin::Pin;
use core::task::{Context as Task, Poll};
use futures::future::Future;
use futures::stream::{FuturesUnordered, Stream, StreamExt};
use futures::{Sink, SinkExt};
use shared::{Shared, View};
use worker::{Busy, Done, Job, Worker};

/// How many messages are taken before others get their turn on the same thread.
const BUDGET: usize = 128;

/// How many workers are kept for requests to come, and how many texts for messages to come.
const IDLE: usize = 16;

/// How long a text is at most that is kept, in bytes.
const IDLE_TEXT: usize = 16 * 1024;

/// Runs a connection; see the [module](self).
///
/// Stream, sink and driver are `Send` or not as the handler is. A stream or sink that is not [`Unpin`] has to be boxed.
///
/// # Errors
/// That of the stream or the sink.
#[must_use = "nothing happens unless it is polled"]
pub struct Driver<St, Si, H: Serve> {
    /// Nothing once it has ended.
    stream: Option<St>,
    sink: Si,
    handler: H,
    options: Options,
    shared: Arc<Shared>,
    /// Requests whose handlers wait for something.
    running: FuturesUnordered<Busy<H::Work>>,
    /// Workers without work.
    idle: Vec<Worker<H::Work>>,
    /// Empty ones, whose memory is for messages to come.
    texts: Vec<String>,
    /// Requests that wait for a place.
    parked: VecDeque<Parked>,
    /// Handles notifications.
    teller: Worker<H::Work>,
    is_telling: bool,
    /// Notifications that wait for their turn.
    notifications: VecDeque<Call>,
    /// Whether as many notifications wait as may.
    is_congested: bool,
    is_flushed: bool,
    /// Nothing comes before the task is woken again.
    is_read_pending: bool,
    closing: Closing,
}

/// How far the writing side is on its way to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Closing {
    No,
    /// All is written.
    Begun,
    Done,
}

/// A request that waits for a place.
struct Parked {
    id: RequestId,
    request: Call,
    cancel: Arc<Cancel>,
}

impl<St, Si, H: Serve> Driver<St, Si, H> {
    /// A connection on which nothing has happened yet, and its sending side.
    ///
    /// `handler` is an [`Arc`] of a [`Handler`], or an [`Rc`](alloc::rc::Rc) of a [`LocalHandler`]; it is shared with
    /// the futures that it gives.
    pub fn new(stream: St, sink: Si, handler: H, options: Options) -> (Self, Client) {
        let shared = Arc::new(Shared::new(&options));
        let client = Client { shared: Arc::clone(&shared) };
        let teller = Worker::new(&handler);
        let driver = Self {
            stream: Some(stream),
            sink,
            handler,
            options,
            shared,
            running: FuturesUnordered::new(),
            idle: Vec::new(),
            texts: Vec::new(),
            parked: VecDeque::new(),
            teller,
            is_telling: false,
            notifications: VecDeque::new(),
            is_congested: false,
            is_flushed: true,
            is_read_pending: false,
            closing: Closing::No,
        };
        (driver, client)
    }

    fn client(&self) -> Client {
        Client { shared: Arc::clone(&self.shared) }
    }

    /// Whether one more request may be handled, while so many of ours are open.
    fn has_place(&self, asking: usize) -> bool {
        self.running.len() < self.options.handlers.max(1).saturating_add(asking)
    }

    /// Lets a handler begin with a request, and keeps it if it does not end with it at once.
    fn begin(&mut self, Parked { id, request, cancel }: Parked, task: &mut Task<'_>) {
        let mut worker = self.idle.pop().unwrap_or_else(|| Worker::new(&self.handler));
        worker.begin(request, Job::Request(Context { client: self.client(), cancel }));
        match worker.poll_work(task) {
            Poll::Ready((answer, text)) => self.finish(Done { id, answer, text, worker }),
            Poll::Pending => self.running.push(Busy { id, worker: Some(worker) }),
        }
    }

    fn finish(&mut self, Done { id, answer, text, worker }: Done<H::Work>) {
        self.shared.respond(&id, answer.unwrap_or_else(not_answered));
        self.keep(text);
        if self.idle.len() < IDLE {
            self.idle.push(worker);
        }
    }

    fn keep(&mut self, text: String) {
        if self.texts.len() < IDLE && text.capacity() <= IDLE_TEXT {
            self.texts.push(text);
        }
    }

    /// Lets handlers work, as far as they can; whether anything came of it.
    fn poll_handlers(&mut self, task: &mut Task<'_>) -> bool {
        let mut is_progress = false;
        while self.poll_notification(task) {
            is_progress = true;
        }
        loop {
            while !self.running.is_empty()
                && let Poll::Ready(Some(done)) = self.running.poll_next_unpin(task)
            {
                self.finish(done);
                is_progress = true;
            }
            if self.parked.is_empty() || !self.has_place(self.shared.lock().peer.open_ours()) {
                return is_progress;
            }
            let Some(parked) = self.parked.pop_front() else { return is_progress };
            self.begin(parked, task);
            is_progress = true;
        }
    }

    /// Whether a notification has been handled.
    fn poll_notification(&mut self, task: &mut Task<'_>) -> bool {
        if !self.is_telling {
            let Some(next) = self.notifications.pop_front() else { return false };
            self.tell(next);
        }
        self.shared.begin_notifying();
        let told = self.teller.poll_work(task);
        self.shared.end_notifying(told.is_ready());
        match told {
            Poll::Ready((_, text)) => {
                self.keep(text);
                self.is_telling = false;
                true
            }
            Poll::Pending => false,
        }
    }

    /// Lets the handler begin with a notification when it is polled next. It must have none.
    fn tell(&mut self, notification: Call) {
        self.teller.begin(notification, Job::Notification(self.client()));
        self.is_telling = true;
    }

    /// Whether nothing is left to write, and nothing is to come.
    fn is_written(&self, view: &View) -> bool {
        let is_last = match self.stream {
            Some(_) => view.is_shutting_down && view.asking == 0,
            None => true,
        };
        is_last && self.is_idle() && view.asked == 0 && !view.has_out
    }

    /// Whether nothing is left but to wait for the peer, when all is written.
    fn has_all_done(&self, view: &View) -> bool {
        self.is_read_pending && self.running.is_empty() && self.is_idle() && !view.is_shutting_down
    }

    fn is_idle(&self) -> bool {
        !self.is_telling && self.notifications.is_empty()
    }
}

impl<St, Si, H, E> Driver<St, Si, H>
where
    St: Stream<Item = Result<Result<Frame, FrameError>, E>> + Unpin,
    Si: Sink<Frame, Error = E> + Unpin,
    H: Serve,
{
    /// Gives the sink what it has room for; whether that was anything.
    fn poll_write(&mut self, view: &View, task: &mut Task<'_>) -> Result<bool, E> {
        let (mut is_progress, mut is_more) = (false, view.has_out);
        while is_more && self.sink.poll_ready_unpin(task)?.is_ready() {
            let Some((frame, is_more_behind)) = self.shared.next_out() else { break };
            self.sink.start_send_unpin(frame)?;
            (self.is_flushed, is_progress, is_more) = (false, true, is_more_behind);
        }
        Ok(is_progress)
    }

    fn poll_flush(&mut self, task: &mut Task<'_>) -> Result<(), E> {
        if !self.is_flushed && self.closing == Closing::No {
            self.is_flushed = self.sink.poll_flush_unpin(task)?.is_ready();
        }
        Ok(())
    }

    /// Takes one message, if there is one and room for it; whether there was.
    fn poll_read(&mut self, view: &View, task: &mut Task<'_>) -> Result<bool, E> {
        if self.stream.is_none() || self.is_read_pending {
            return Ok(false);
        }
        let was_congested = self.is_congested;
        self.is_congested = self.notifications.len() >= self.options.notifications.max(1);
        if (was_congested || self.is_congested) && self.shared.set_congested(self.is_congested) {
            return Ok(true);
        }
        if self.is_congested || !view.has_room_for_requests {
            return Ok(false);
        }
        match self.stream.as_mut().map(|stream| stream.poll_next_unpin(task)) {
            None => return Ok(false),
            Some(Poll::Pending) => {
                self.is_read_pending = true;
                return Ok(false);
            }
            Some(Poll::Ready(Some(item))) => self.handle(item?, task),
            Some(Poll::Ready(None)) => {
                self.stream = None;
                self.shared.end(false);
            }
        }
        Ok(true)
    }

    /// Does all that can be done now.
    fn poll_end(&mut self, task: &mut Task<'_>) -> Poll<Result<(), E>> {
        self.is_read_pending = false;
        for _ in 0..BUDGET {
            let is_handled = self.poll_handlers(task);
            let view = self.shared.view(task.waker());
            let is_written = self.poll_write(&view, task)?;
            let is_read = self.poll_read(&view, task)?;
            if is_handled || is_read || (is_written && !self.has_all_done(&view)) {
                continue;
            }
            match self.closing {
                Closing::No if self.is_written(&view) => {
                    self.shared.end(true);
                    self.closing = Closing::Begun;
                }
                Closing::No => {
                    self.poll_flush(task)?;
                    return Poll::Pending;
                }
                Closing::Begun => match self.sink.poll_close_unpin(task)? {
                    Poll::Ready(()) => self.closing = Closing::Done,
                    Poll::Pending => return Poll::Pending,
                },
                Closing::Done if self.stream.is_none() && self.is_idle() => {
                    return Poll::Ready(Ok(()));
                }
                Closing::Done => return Poll::Pending,
            }
        }
        self.poll_flush(task)?;
        task.waker().wake_by_ref();
        Poll::Pending
    }
}

impl<St, Si, H, E> Future for Driver<St, Si, H>
where
    St: Stream<Item = Result<Result<Frame, FrameError>, E>> + Unpin,
    Si: Sink<Frame, Error = E> + Unpin,
    H: Serve,
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

/// Of a handler that ended without an answer, which none does.
fn not_answered() -> Result<Raw, ErrorObject> {
    Err(ErrorObject::new(ErrorCode::INTERNAL_ERROR, "not answered"))
}

impl<St, Si, H: Serve> Drop for Driver<St, Si, H> {
    fn drop(&mut self) {
        self.shared.end(true);
    }
}

impl<St, Si, H: Serve> fmt::Debug for Driver<St, Si, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Driver")
            .field("options", &self.options)
            .field("handled", &self.running.len())
            .field("parked", &self.parked.len())
            .field("notifications", &self.notifications.len())
            .finish_non_exhaustive()
    }
}
