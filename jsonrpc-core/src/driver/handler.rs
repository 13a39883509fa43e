use super::worker::{Desk, Job};
use super::{Client, Context};
use crate::message::{Message, Notification, Request, Response};
use crate::wire::Raw;
use crate::{ErrorObject, LineError};
use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::sync::Arc;
use async_trait::async_trait;
use futures::future::{BoxFuture, Future, LocalBoxFuture};

/// What a program does with what its peer asks for and tells, on any thread.
///
/// Several requests are handled at the same time, and each may ask the peer in turn. Notifications are handled one after
/// the other, in the order they came. The [driver](super) has an example.
#[async_trait]
pub trait Handler: Send + Sync + 'static {
    /// Answers a request.
    async fn request(&self, request: Request<'_>, context: Context) -> Result<Raw, ErrorObject>;

    /// Takes a notification; ignores it unless told otherwise. Those behind it wait until it is handled.
    async fn notification(&self, notification: Notification<'_>, client: Client) {
        let _ = (notification, client);
    }

    /// Hears of something that went past the other two; ignores it unless told otherwise.
    fn stray(&self, stray: Stray<'_>) {
        let _ = stray;
    }
}

/// A [`Handler`] that stays on one thread: it may hold what is not `Send`, also while it waits.
#[async_trait(?Send)]
pub trait LocalHandler: 'static {
    /// Answers a request.
    async fn request(&self, request: Request<'_>, context: Context) -> Result<Raw, ErrorObject>;

    /// Takes a notification; ignores it unless told otherwise. Those behind it wait until it is handled.
    async fn notification(&self, notification: Notification<'_>, client: Client) {
        let _ = (notification, client);
    }

    /// Hears of something that went past the other two; ignores it unless told otherwise.
    fn stray(&self, stray: Stray<'_>) {
        let _ = stray;
    }
}

/// What came from the peer and reached no handler and no request of ours; for logs.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Stray<'a> {
    /// It is not a message; it was answered if that is called for.
    Malformed(&'a LineError),
    /// A response to no open request of ours, or to one that nobody waited for.
    Unmatched(&'a Response<'a>),
    /// It takes back a request that is not open: it was answered before that came, mostly.
    Late(&'a Notification<'a>),
    /// A request that was refused: too many are open, one of the same id is, or the connection is closing.
    Refused(&'a Request<'a>),
}

/// A handler as the driver holds it: [`Arc`] of a [`Handler`], or [`Rc`] of a [`LocalHandler`].
pub trait Serve: Unpin + sealed::Serve {}

impl<H: Handler> Serve for Arc<H> {}
impl<H: LocalHandler> Serve for Rc<H> {}

pub(super) mod sealed {
    use super::*;

    pub trait Serve {
        /// Never ends.
        type Work: Future<Output = ()> + Unpin;

        /// Handles what is put on the desk, one after the other.
        fn work(&self, desk: Arc<Desk>) -> Self::Work;
        fn hear(&self, stray: Stray<'_>);
    }

    macro_rules! serve {
        ($Shared:ident<$Handler:ident>, $Boxed:ident) => {
            impl<H: $Handler> Serve for $Shared<H> {
                type Work = $Boxed<'static, ()>;

                fn work(&self, desk: Arc<Desk>) -> Self::Work {
                    let handler = Self::clone(self);
                    Box::pin(async move {
                        let mut done = None;
                        loop {
                            let (call, job) = desk.next(done).await;
                            let answer = match (call.as_message(), job) {
                                (Message::Request(request), Job::Request(context)) => {
                                    Some(handler.request(request, context).await)
                                }
                                (Message::Notification(told), Job::Notification(client)) => {
                                    handler.notification(told, client).await;
                                    None
                                }
                                // A call is kept with the job that it makes.
                                _ => None,
                            };
                            done = Some((answer, call.into_text()));
                        }
                    })
                }

                fn hear(&self, stray: Stray<'_>) {
                    self.stray(stray);
                }
            }
        };
    }

    serve!(Arc<Handler>, BoxFuture);
    serve!(Rc<LocalHandler>, LocalBoxFuture);
}
