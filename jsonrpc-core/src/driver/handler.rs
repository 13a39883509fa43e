use super::{Client, Context};
use crate::message::{Message, Notification, Request, Response};
use crate::wire::Raw;
use crate::{ErrorCode, ErrorObject, LineError, MessageBuf};
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
        type Request: Future<Output = Result<Raw, ErrorObject>> + Unpin;
        type Notification: Future<Output = ()> + Unpin;

        fn begin_request(&self, request: MessageBuf, context: Context) -> Self::Request;
        fn begin_notification(&self, message: MessageBuf, client: Client) -> Self::Notification;
        fn hear(&self, stray: Stray<'_>);
    }

    /// Of a message that was kept as one kind and reads as another, which none does.
    fn not_a_request() -> ErrorObject {
        ErrorObject::new(ErrorCode::INTERNAL_ERROR, "not a request")
    }

    impl<H: Handler> Serve for Arc<H> {
        type Request = BoxFuture<'static, Result<Raw, ErrorObject>>;
        type Notification = BoxFuture<'static, ()>;

        fn begin_request(&self, request: MessageBuf, context: Context) -> Self::Request {
            let handler = Self::clone(self);
            Box::pin(async move {
                match request.as_message() {
                    Message::Request(request) => handler.request(request, context).await,
                    _ => Err(not_a_request()),
                }
            })
        }

        fn begin_notification(&self, message: MessageBuf, client: Client) -> Self::Notification {
            let handler = Self::clone(self);
            Box::pin(async move {
                if let Message::Notification(notification) = message.as_message() {
                    handler.notification(notification, client).await;
                }
            })
        }

        fn hear(&self, stray: Stray<'_>) {
            self.stray(stray);
        }
    }

    impl<H: LocalHandler> Serve for Rc<H> {
        type Request = LocalBoxFuture<'static, Result<Raw, ErrorObject>>;
        type Notification = LocalBoxFuture<'static, ()>;

        fn begin_request(&self, request: MessageBuf, context: Context) -> Self::Request {
            let handler = Self::clone(self);
            Box::pin(async move {
                match request.as_message() {
                    Message::Request(request) => handler.request(request, context).await,
                    _ => Err(not_a_request()),
                }
            })
        }

        fn begin_notification(&self, message: MessageBuf, client: Client) -> Self::Notification {
            let handler = Self::clone(self);
            Box::pin(async move {
                if let Message::Notification(notification) = message.as_message() {
                    handler.notification(notification, client).await;
                }
            })
        }

        fn hear(&self, stray: Stray<'_>) {
            self.stray(stray);
        }
    }
}
