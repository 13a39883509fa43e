//! Open connections: which have a request at work, and which have an authenticated user.
use axum::body::{Body, Bytes};
use axum::response::Response;
use http_body::{Body as HttpBody, Frame, SizeHint};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::{Sleep, sleep};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

/// The connection of a request, as an extension of the request. The connection is at work until the
/// last copy is dropped.
#[derive(Clone, Debug)]
pub struct Connection(Arc<WorkGuard>);

#[derive(Debug)]
struct WorkGuard(Arc<OpenConnection>);

/// An open connection.
#[derive(Debug)]
pub(crate) struct OpenConnection {
    peer: SocketAddr,
    number: u64,
    all: Weak<Connections>,
    at_work: AtomicUsize,
    has_worked: AtomicBool,
    is_authenticated: AtomicBool,
    changed: Notify,
    /// Closes the connection in favour of another.
    pub(crate) evicted: CancellationToken,
    /// The server ends after its connections, including those that were upgraded.
    _tracked: TaskTrackerToken,
}

/// All open connections, by number: the lowest is the oldest.
#[derive(Debug)]
pub(crate) struct Connections {
    /// Maximum number of connections.
    limit: usize,
    /// Maximum number of those without an authenticated user.
    strangers: usize,
    open: Mutex<(u64, BTreeMap<u64, Weak<OpenConnection>>)>,
    refused: AtomicUsize,
    /// Connections that are open.
    pub(crate) tracker: TaskTracker,
}

impl Connection {
    /// Returns the address of the peer.
    #[must_use]
    pub fn peer(&self) -> SocketAddr {
        self.0.0.peer
    }

    /// Marks the connection as that of a known client. It is not closed in favour of unknown ones.
    pub fn authenticated(&self) {
        self.0.0.is_authenticated.store(true, Ordering::Relaxed);
    }
}

impl Drop for WorkGuard {
    fn drop(&mut self) {
        self.0.at_work.fetch_sub(1, Ordering::Relaxed);
        self.0.changed.notify_waiters();
    }
}

impl OpenConnection {
    /// Counts a request.
    pub(crate) fn begin(self: &Arc<Self>) -> Connection {
        self.at_work.fetch_add(1, Ordering::Relaxed);
        self.has_worked.store(true, Ordering::Relaxed);
        self.changed.notify_waiters();
        Connection(Arc::new(WorkGuard(self.clone())))
    }

    /// Returns when no request was at work for a time: `first` before the first request, `next`
    /// afterwards.
    pub(crate) async fn is_idle(&self, first: Duration, next: Duration) {
        loop {
            let mut changed = pin!(self.changed.notified());
            changed.as_mut().enable();
            if self.is_at_work() {
                changed.await;
                continue;
            }
            let has_worked = self.has_worked.load(Ordering::Relaxed);
            tokio::select! {
                () = sleep(if has_worked { next } else { first }) => return,
                () = changed => {}
            }
        }
    }

    fn is_at_work(&self) -> bool {
        self.at_work.load(Ordering::Relaxed) > 0
    }

    fn is_stranger(&self) -> bool {
        !self.is_authenticated.load(Ordering::Relaxed)
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        if let Some(all) = self.all.upgrade() {
            all.lock().1.remove(&self.number);
        }
    }
}

impl Connections {
    pub(crate) fn new(limit: usize, strangers: usize) -> Self {
        let open = Mutex::default();
        let refused = AtomicUsize::new(0);
        Self { limit, strangers, open, refused, tracker: TaskTracker::new() }
    }

    /// Enters a connection. The oldest one without a user is closed if there are too many of those,
    /// and the oldest without a request if there are too many in total. Returns `None` if all are
    /// at work.
    pub(crate) fn enter(self: &Arc<Self>, peer: SocketAddr) -> Option<Arc<OpenConnection>> {
        let mut open = self.lock();
        // Dropped after the lock is released: the last reference takes the lock.
        let connections: Vec<_> = open.1.values().filter_map(Weak::upgrade).collect();
        let oldest =
            |is_it: &dyn Fn(&OpenConnection) -> bool| connections.iter().find(|open| is_it(open));
        let strangers = connections.iter().filter(|open| open.is_stranger()).count();
        let evicted = if strangers >= self.strangers {
            oldest(&OpenConnection::is_stranger)
        } else if open.1.len() >= self.limit {
            let Some(idle) = oldest(&|open| !open.is_at_work()) else {
                self.report();
                drop(open);
                return None;
            };
            Some(idle)
        } else {
            None
        };
        if let Some(evicted) = evicted {
            evicted.evicted.cancel();
            open.1.remove(&evicted.number);
            self.report();
        }
        open.0 += 1;
        let number = open.0;
        let entered = Arc::new(OpenConnection {
            peer,
            number,
            all: Arc::downgrade(self),
            at_work: AtomicUsize::new(0),
            has_worked: AtomicBool::new(false),
            is_authenticated: AtomicBool::new(false),
            changed: Notify::new(),
            evicted: CancellationToken::new(),
            _tracked: self.tracker.token(),
        });
        open.1.insert(number, Arc::downgrade(&entered));
        drop(open);
        Some(entered)
    }

    /// Logs a closed connection. The log grows with the logarithm of their number.
    fn report(&self) {
        let refused = self.refused.fetch_add(1, Ordering::Relaxed) + 1;
        if refused.is_power_of_two() {
            tracing::warn!(refused, "too many connections; closed as many so far");
        }
    }

    fn lock(&self) -> MutexGuard<'_, (u64, BTreeMap<u64, Weak<OpenConnection>>)> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A body that took longer than its limit.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("not complete after {} s", .0.as_secs_f64())]
pub struct BodyTimeout(Duration);

/// The body of a request, with a limit of time.
pub(crate) struct TimedBody {
    body: Incoming,
    limit: Duration,
    end: Pin<Box<Sleep>>,
}

impl TimedBody {
    pub(crate) fn new(body: Incoming, limit: Duration) -> Self {
        Self { body, limit, end: Box::pin(sleep(limit)) }
    }
}

impl HttpBody for TimedBody {
    type Data = Bytes;
    type Error = axum::BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::BoxError>>> {
        match Pin::new(&mut self.body).poll_frame(cx) {
            Poll::Ready(frame) => Poll::Ready(frame.map(|frame| frame.map_err(Into::into))),
            Poll::Pending => {
                let late = BodyTimeout(self.limit);
                self.end.as_mut().poll(cx).map(|()| Some(Err(late.into())))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Keeps something until the body of a response has ended.
pub fn hold(response: Response, kept: impl Send + 'static) -> Response {
    response.map(|body| Body::new(held(body, kept)))
}

/// Returns a body that keeps something until its end.
pub(crate) fn held(
    body: Body,
    kept: impl Send + 'static,
) -> impl HttpBody<Data = Bytes, Error = axum::Error> + Send + 'static {
    body.map_err(move |error| {
        let _kept = &kept;
        error
    })
}
