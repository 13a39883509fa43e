//! A side of a connection in either version: its trait, and the functions that connect it.
use alloc::format;
use jsonrpc_core::{ErrorCode, ErrorObject};

/// Declares a side: its trait, with and without `Send`, and the functions that connect it.
macro_rules! side {
    (
        $kind:tt;
        $(#[$attr:meta])* $Trait:ident by $(#[$cattr:meta])* $connect:ident with $Handles:ident,
        $(#[$lattr:meta])* $Local:ident by $(#[$clattr:meta])* $connect_local:ident
            with $HandlesLocal:ident;
        required { $( $(#[$qattr:meta])* $qfn:ident($QRequest:ident) -> $QResponse:ident; )* }
        optional { $( $(#[$oattr:meta])* $ofn:ident($ORequest:ident) -> $OResponse:ident; )* }
        taken { $( $(#[$tattr:meta])* $tfn:ident($TNotification:ident); )* }
        may_be_taken { $( $(#[$nattr:meta])* $nfn:ident($Notification:ident); )* }
    ) => {
        side! { @both
            [$kind $(#[$attr])*] $Trait, [Send + Sync + 'static], [], BoxFuture,
            [$(#[$cattr])*] $connect, $Handles, [Arc], [+ Send];
            [$kind $(#[$lattr])*] $Local, ['static], [(?Send)], LocalBoxFuture,
            [$(#[$clattr])*] $connect_local, $HandlesLocal, [Rc], [];
            {
                required { $( [$(#[$qattr])*] $qfn $QRequest $QResponse; )* }
                optional { $( [$(#[$oattr])*] $ofn $ORequest $OResponse; )* }
                taken { $( [$(#[$tattr])*] $tfn $TNotification; )* }
                may_be_taken { $( [$(#[$nattr])*] $nfn $Notification; )* }
            }
        }
    };
    (@both $($first:tt)*) => { side! { @split [] $($first)* } };
    (@split [$($one:tt)*] ; $($rest:tt)*) => { side! { @second [$($one)*] [] $($rest)* } };
    (@split [$($one:tt)*] $next:tt $($rest:tt)*) => { side! { @split [$($one)* $next] $($rest)* } };
    (@second [$($one:tt)*] [$($two:tt)*] ; $members:tt) => {
        side! { @one $($one)* $members }
        side! { @one $($two)* $members }
    };
    (@second $one:tt [$($two:tt)*] $next:tt $($rest:tt)*) => {
        side! { @second $one [$($two)* $next] $($rest)* }
    };
    (@one
        [
            {
                $connected:ident $Machine:ty, $version:ident,
                $Request:ty, $Requests:ty, $Event:ty, $Events:ty
            }
            $(#[$attr:meta])*
        ] $Trait:ident, [$($bound:tt)*], [$($send:tt)*],
        $Boxed:ident, [$(#[$cattr:meta])*] $connect:ident, $Handles:ident, [$Pointer:ident],
        [$($sends:tt)*]
        {
            required { $( [$(#[$qattr:meta])*] $qfn:ident $QRequest:ident $QResponse:ident; )* }
            optional { $( [$(#[$oattr:meta])*] $ofn:ident $ORequest:ident $OResponse:ident; )* }
            taken { $( [$(#[$tattr:meta])*] $tfn:ident $TNotification:ident; )* }
            may_be_taken { $( [$(#[$nattr:meta])*] $nfn:ident $Notification:ident; )* }
        }
    ) => {
        $(#[$attr])*
        #[async_trait::async_trait $($send)*]
        pub trait $Trait: $($bound)* {
            $(
                $(#[$qattr])*
                async fn $qfn(&self, request: $QRequest, context: Context) -> Result<$QResponse, ErrorObject>;
            )*
            $(
                $(#[$tattr])*
                async fn $tfn(&self, notification: $TNotification, peer: Peer);
            )*
            $(
                $(#[$oattr])*
                ///
                /// Responds with "method not found" by default.
                async fn $ofn(&self, request: $ORequest, context: Context) -> Result<$OResponse, ErrorObject> {
                    let _ = (request, context);
                    Err($crate::connection::side::method_not_found(<$ORequest as RequestParams>::METHOD))
                }
            )*
            $(
                $(#[$nattr])*
                ///
                /// Does nothing by default.
                async fn $nfn(&self, notification: $Notification, peer: Peer) {
                    let _ = (notification, peer);
                }
            )*
            /// Handles a request of a method that the version does not define.
            ///
            /// Responds with "method not found" by default.
            async fn extension(&self, request: Extension, context: Context) -> Result<Raw, ErrorObject> {
                let _ = context;
                Err($crate::connection::side::method_not_found(request.method()))
            }

            /// Handles a notification of a method that the version does not define. Later
            /// notifications wait.
            ///
            /// Does nothing by default.
            async fn extension_notification(&self, notification: Extension, peer: Peer) {
                let _ = (notification, peer);
            }

            /// Receives tolerated deviations and dropped messages; for logs.
            fn problem(&self, problem: &Diagnostic) {
                let _ = problem;
            }
        }

        /// The side in the form of the driver.
        pub(super) struct $Handles<S>(pub(super) $Pointer<S>);

        impl<S: $Trait> Serve<$Machine> for $Handles<S> {
            type Answer = $Boxed<'static, Result<Raw, ErrorObject>>;
            type Handling = $Boxed<'static, ()>;

            fn request(&self, request: $Request, context: Context) -> Self::Answer {
                type Versions = $Request;
                type Requests = $Requests;
                let side = $Pointer::clone(&self.0);
                Box::pin(async move {
                    let Versions::$version(request) = request else {
                        return Err($crate::connection::side::method_not_found(request.method()));
                    };
                    match request {
                        $( Requests::$QRequest(params) => {
                            Ok(Raw::of(&side.$qfn(*params, context).await?))
                        } )*
                        $( Requests::$ORequest(params) => {
                            Ok(Raw::of(&side.$ofn(*params, context).await?))
                        } )*
                        Requests::Other { method, params } => {
                            side.extension(Extension { method, params }, context).await
                        }
                    }
                })
            }

            fn notification(&self, notification: $Event, peer: Peer) -> Self::Handling {
                type Versions = $Event;
                type Events = $Events;
                let side = $Pointer::clone(&self.0);
                Box::pin(async move {
                    let Versions::$version(notification) = notification else { return };
                    match notification {
                        $( Events::$TNotification(params) => side.$tfn(params, peer).await, )*
                        $( Events::$Notification(params) => side.$nfn(params, peer).await, )*
                        // It refers to no open request.
                        Events::CancelRequestNotification(_) => {}
                        Events::Other { method, params } => {
                            side.extension_notification(Extension { method, params }, peer).await;
                        }
                    }
                })
            }

            fn problem(&self, problem: &Diagnostic) {
                self.0.problem(problem);
            }
        }

        side! { @connect $connected
            [$(#[$cattr])*] $connect $Trait $Machine, [$($sends)*];
            side, stream, sink, options, machine => {
                let shared = Arc::new(SharedConnection::new(machine, options));
                (Driver::new(stream, sink, $Handles($Pointer::new(side)), shared.clone(), options), shared)
            }
        }
    };
    (@connect agent
        [$(#[$cattr:meta])*] $connect:ident $Trait:ident $Machine:ty, [$($sends:tt)*];
        $side:ident, $stream:ident, $sink:ident, $options:ident, $machine:ident => $body:block
    ) => {
        $(#[$cattr])*
        pub fn $connect<St, Si, E, S>(
            $side: S,
            $stream: St,
            $sink: Si,
            $options: ConnectionOptions,
        ) -> (impl Future<Output = Result<(), E>> + Unpin $($sends)* + use<St, Si, E, S>, Peer)
        where
            St: Stream<Item = Result<Result<Frame, FrameError>, E>> + Unpin $($sends)*,
            Si: Sink<Frame, Error = E> + Unpin $($sends)*,
            S: $Trait,
        {
            let $machine = $options.agent(&[VERSION]);
            let (driver, shared) = $body;
            (driver, Peer::new(shared))
        }
    };
    (@connect client
        [$(#[$cattr:meta])*] $connect:ident $Trait:ident $Machine:ty, [$($sends:tt)*];
        $side:ident, $stream:ident, $sink:ident, $options:ident, $machine:ident => $body:block
    ) => {
        $(#[$cattr])*
        pub fn $connect<St, Si, E, S>(
            $side: S,
            $stream: St,
            $sink: Si,
            initialize: InitializeRequest,
            $options: ConnectionOptions,
        ) -> (impl Future<Output = Result<(), E>> + Unpin $($sends)* + use<St, Si, E, S>, Sessions)
        where
            St: Stream<Item = Result<Result<Frame, FrameError>, E>> + Unpin $($sends)*,
            Si: Sink<Frame, Error = E> + Unpin $($sends)*,
            S: $Trait,
        {
            let $machine = $options.client(offer(initialize));
            let (driver, shared) = $body;
            (driver, Sessions::new(shared))
        }
    };
}

pub(super) use side;

/// Returns the error for an unsupported method.
pub(super) fn method_not_found(method: &str) -> ErrorObject {
    ErrorObject::new(ErrorCode::METHOD_NOT_FOUND, format!("the method {method:?} is not supported"))
}
