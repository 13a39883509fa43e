//! Futures that handle one message after the other, so that no message needs memory for one of its own.
use super::call::Call;
use super::{Client, Context, Serve};
use crate::wire::Raw;
use crate::{ErrorObject, RequestId};
use alloc::string::String;
use alloc::sync::Arc;
use core::future::poll_fn;
use core::mem;
use core::pin::Pin;
use core::task::{Context as Task, Poll};
use futures::FutureExt;
use futures::future::Future;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What came of a request; of a notification nothing does.
pub(super) type Answer = Option<Result<Raw, ErrorObject>>;

/// Where a worker finds its work, and puts what came of it.
#[derive(Debug, Default)]
pub struct Desk(Mutex<Work>);

#[derive(Debug, Default)]
enum Work {
    #[default]
    None,
    ToDo(Call, Job),
    Done(Answer, String),
}

/// What a handler is called with beside a message.
#[derive(Debug)]
pub(super) enum Job {
    Request(Context),
    Notification(Client),
}

impl Desk {
    fn lock(&self) -> MutexGuard<'_, Work> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts what came of the last work here, with memory for other work, and waits for work. It wakes nobody: who puts
    /// work here polls.
    pub(super) async fn next(&self, mut done: Option<(Answer, String)>) -> (Call, Job) {
        poll_fn(|_| {
            let mut work = self.lock();
            if let Some((answer, text)) = done.take() {
                *work = Work::Done(answer, text);
                return Poll::Pending;
            }
            match mem::take(&mut *work) {
                Work::ToDo(call, job) => Poll::Ready((call, job)),
                other => {
                    *work = other;
                    Poll::Pending
                }
            }
        })
        .await
    }
}

/// One of them, `F` being its future.
pub(super) struct Worker<F> {
    future: F,
    desk: Arc<Desk>,
}

impl<F: Future<Output = ()> + Unpin> Worker<F> {
    pub(super) fn new(handler: &impl Serve<Work = F>) -> Self {
        let desk = Arc::<Desk>::default();
        Self { future: handler.work(Arc::clone(&desk)), desk }
    }

    /// Gives it work, which it begins with when it is polled next. It must have none.
    pub(super) fn begin(&self, call: Call, job: Job) {
        *self.desk.lock() = Work::ToDo(call, job);
    }

    /// Lets it work; ready when that is done, with memory for other work.
    pub(super) fn poll_work(&mut self, task: &mut Task<'_>) -> Poll<(Answer, String)> {
        // It never ends.
        let _ = self.future.poll_unpin(task);
        let mut work = self.desk.lock();
        match mem::take(&mut *work) {
            Work::Done(answer, text) => Poll::Ready((answer, text)),
            other => {
                *work = other;
                Poll::Pending
            }
        }
    }
}

/// A worker with a request that it has begun.
pub(super) struct Busy<F> {
    pub(super) id: RequestId,
    /// Nothing once it is done.
    pub(super) worker: Option<Worker<F>>,
}

/// A request that is done, and its worker.
pub(super) struct Done<F> {
    pub(super) id: RequestId,
    pub(super) answer: Answer,
    pub(super) text: String,
    pub(super) worker: Worker<F>,
}

impl<F: Future<Output = ()> + Unpin> Future for Busy<F> {
    type Output = Done<F>;

    fn poll(mut self: Pin<&mut Self>, task: &mut Task<'_>) -> Poll<Done<F>> {
        let Some(mut worker) = self.worker.take() else { return Poll::Pending };
        match worker.poll_work(task) {
            Poll::Ready((answer, text)) => {
                Poll::Ready(Done { id: self.id.clone(), answer, text, worker })
            }
            Poll::Pending => {
                self.worker = Some(worker);
                Poll::Pending
            }
        }
    }
}
