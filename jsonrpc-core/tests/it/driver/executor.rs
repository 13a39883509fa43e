//! Runs futures on this thread, each only when it was woken, in an order that can be chosen.
use futures::future::{Future, LocalBoxFuture, poll_fn};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake};

#[derive(Default)]
struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

struct Task<'a> {
    /// Nothing once it has ended.
    future: Option<LocalBoxFuture<'a, ()>>,
    flag: Arc<Flag>,
}

#[derive(Default)]
pub(super) struct Tasks<'a>(Vec<Task<'a>>);

impl<'a> Tasks<'a> {
    pub(super) fn spawn(&mut self, future: impl Future<Output = ()> + 'a) -> usize {
        let flag = Arc::new(Flag(AtomicBool::new(true)));
        self.0.push(Task { future: Some(Box::pin(future)), flag });
        self.0.len() - 1
    }

    pub(super) fn drop_task(&mut self, at: usize) {
        self.0[at].future = None;
    }

    /// Runs what is woken until nothing is; `choose` picks one of so many. How many have not ended then.
    pub(super) fn run(&mut self, mut choose: impl FnMut(usize) -> usize) -> usize {
        for _ in 0..1_000_000 {
            let is_ready =
                |task: &&mut Task<'_>| task.future.is_some() && task.flag.0.load(Ordering::SeqCst);
            let mut ready: Vec<_> = self.0.iter_mut().filter(is_ready).collect();
            if ready.is_empty() {
                return self.0.iter().filter(|task| task.future.is_some()).count();
            }
            let chosen = choose(ready.len());
            let task = &mut ready[chosen];
            task.flag.0.store(false, Ordering::SeqCst);
            let waker = task.flag.clone().into();
            let ended = task
                .future
                .as_mut()
                .map(|future| future.as_mut().poll(&mut Context::from_waker(&waker)).is_ready());
            if ended == Some(true) {
                task.future = None;
            }
        }
        panic!("it does not come to rest");
    }

    pub(super) fn run_until_idle(&mut self) {
        self.run(|_| 0);
    }
}

/// Work in so many pieces.
pub(super) async fn yields(mut pieces: usize) {
    poll_fn(|task| {
        if pieces == 0 {
            return Poll::Ready(());
        }
        pieces -= 1;
        task.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
