//! What a side of a connection is made of, in either version.
use super::Problem;
use crate::dispatch::object;
use alloc::format;
use jsonrpc_core::wire::{Mode, Raw, decode_with};
use jsonrpc_core::{ErrorCode, ErrorObject};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

/// A side: its trait, once for any thread and once for one, and the functions that connect it.
macro_rules! side {
    (
        $(#[$attr:meta])* $Trait:ident by $(#[$cattr:meta])* $connect:ident,
        $(#[$lattr:meta])* $Local:ident by $(#[$clattr:meta])* $connect_local:ident;
        required { $( $(#[$qattr:meta])* $qfn:ident($QRequest:ident) -> $QResponse:ident; )* }
        optional { $( $(#[$oattr:meta])* $ofn:ident($ORequest:ident) -> $OResponse:ident; )* }
        told { $( $(#[$tattr:meta])* $tfn:ident($TNotification:ident); )* }
        may_be_told { $( $(#[$nattr:meta])* $nfn:ident($Notification:ident); )* }
    ) => {
        side! { @both
            [$(#[$attr])*] $Trait, [Send + Sync + 'static], [], Handler,
            [$(#[$cattr])*] $connect, [Arc], [+ Send];
            [$(#[$lattr])*] $Local, ['static], [(?Send)], LocalHandler,
            [$(#[$clattr])*] $connect_local, [Rc], [];
            {
                required { $( [$(#[$qattr])*] $qfn $QRequest $QResponse; )* }
                optional { $( [$(#[$oattr])*] $ofn $ORequest $OResponse; )* }
                told { $( [$(#[$tattr])*] $tfn $TNotification; )* }
                may_be_told { $( [$(#[$nattr])*] $nfn $Notification; )* }
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
        [$(#[$attr:meta])*] $Trait:ident, [$($bound:tt)*], [$($send:tt)*], $Handler:ident,
        [$(#[$cattr:meta])*] $connect:ident, [$Pointer:ident], [$($sends:tt)*]
        {
            required { $( [$(#[$qattr:meta])*] $qfn:ident $QRequest:ident $QResponse:ident; )* }
            optional { $( [$(#[$oattr:meta])*] $ofn:ident $ORequest:ident $OResponse:ident; )* }
            told { $( [$(#[$tattr:meta])*] $tfn:ident $TNotification:ident; )* }
            may_be_told { $( [$(#[$nattr:meta])*] $nfn:ident $Notification:ident; )* }
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
                /// Refused as an unknown method unless told otherwise.
                async fn $ofn(&self, request: $ORequest, context: Context) -> Result<$OResponse, ErrorObject> {
                    let _ = (request, context);
                    Err($crate::connection::side::method_not_found(<$ORequest as RequestParams>::METHOD))
                }
            )*
            $(
                $(#[$nattr])*
                ///
                /// Ignored unless told otherwise.
                async fn $nfn(&self, notification: $Notification, peer: Peer) {
                    let _ = (notification, peer);
                }
            )*
            /// Answers a request of a method that the version does not have: an extension, or something newer.
            ///
            /// Refused as an unknown method unless told otherwise.
            async fn extension(&self, request: Extension, context: Context) -> Result<Raw, ErrorObject> {
                let _ = context;
                Err($crate::connection::side::method_not_found(request.method()))
            }

            /// Takes a notification of a method that the version does not have. Those behind it wait until it is handled.
            ///
            /// Ignored unless told otherwise.
            async fn extension_notification(&self, notification: Extension, peer: Peer) {
                let _ = (notification, peer);
            }

            /// Hears of what was taken differently from how it came, or not at all; for logs.
            fn problem(&self, problem: Problem<'_>) {
                let _ = problem;
            }
        }

        $(#[$cattr])*
        pub fn $connect<St, Si, E, S>(
            side: S,
            stream: St,
            sink: Si,
            options: Options,
        ) -> (impl Future<Output = Result<(), E>> + Unpin $($sends)* + use<St, Si, E, S>, Peer)
        where
            St: Stream<Item = Result<Result<Frame, FrameError>, E>> + Unpin $($sends)*,
            Si: Sink<Frame, Error = E> + Unpin $($sends)*,
            S: $Trait,
        {
            /// The side as the driver takes it.
        struct Handles<S>(S);

        #[async_trait::async_trait $($send)*]
        impl<S: $Trait> $Handler for Handles<S> {
            async fn request(&self, request: Request<'_>, context: driver::Context) -> Result<Raw, ErrorObject> {
                let side = &self.0;
                let context = Context::from(context);
                let problem = |problem: Problem<'_>| side.problem(problem);
                match &*request.method {
                    $( <$QRequest as RequestParams>::METHOD => {
                        let params = read(<$QRequest as RequestParams>::METHOD, request.params, problem)?;
                        answer(&side.$qfn(params, context).await?)
                    } )*
                    $( <$ORequest as RequestParams>::METHOD => {
                        let params = read(<$ORequest as RequestParams>::METHOD, request.params, problem)?;
                        answer(&side.$ofn(params, context).await?)
                    } )*
                    method => side.extension(Extension::new(method, request.params), context).await,
                }
            }

            async fn notification(&self, notification: Notification<'_>, client: driver::Client) {
                let side = &self.0;
                let peer = Peer::from(client);
                let problem = |problem: Problem<'_>| side.problem(problem);
                match &*notification.method {
                    $( <$TNotification as NotificationParams>::METHOD => {
                        let method = <$TNotification as NotificationParams>::METHOD;
                        if let Some(params) = read_notification(method, notification.params, problem) {
                            side.$tfn(params, peer).await;
                        }
                    } )*
                    $( <$Notification as NotificationParams>::METHOD => {
                        let method = <$Notification as NotificationParams>::METHOD;
                        if let Some(params) = read_notification(method, notification.params, problem) {
                            side.$nfn(params, peer).await;
                        }
                    } )*
                    method => {
                        side.extension_notification(Extension::new(method, notification.params), peer).await;
                    }
                }
            }

            fn stray(&self, stray: Stray<'_>) {
                self.0.problem(Problem::Stray(stray));
            }
        }

            let (driver, client) = Driver::new(stream, sink, $Pointer::new(Handles(side)), options);
            (driver, Peer::from(client))
        }
    };
}

pub(super) use side;

/// The answer to a request of a method that nobody has.
pub(super) fn method_not_found(method: &str) -> ErrorObject {
    ErrorObject::new(ErrorCode::METHOD_NOT_FOUND, format!("no method {method:?} here"))
}

/// Reads the parameters of a request.
pub(super) fn read<T: Serialize + DeserializeOwned>(
    method: &'static str,
    params: Option<&RawValue>,
    problem: impl FnOnce(Problem<'_>),
) -> Result<T, ErrorObject> {
    match decode_with(object(params), Mode::SpecLenient) {
        Ok(decoded) => {
            if !decoded.diagnostics.is_empty() {
                problem(Problem::Lenient { method, diagnostics: &decoded.diagnostics });
            }
            Ok(decoded.value)
        }
        Err(error) => {
            let message = format!("params of {method}: {error}");
            Err(ErrorObject::new(ErrorCode::INVALID_PARAMS, message))
        }
    }
}

/// Reads the parameters of a notification, which nobody can be told about if they are wrong.
pub(super) fn read_notification<T: Serialize + DeserializeOwned>(
    method: &'static str,
    params: Option<&RawValue>,
    problem: impl Fn(Problem<'_>),
) -> Option<T> {
    match read(method, params, &problem) {
        Ok(params) => Some(params),
        Err(error) => {
            problem(Problem::Undecodable { method, error: &error });
            None
        }
    }
}

/// Writes a result.
pub(super) fn answer<T: Serialize>(result: &T) -> Result<Raw, ErrorObject> {
    Raw::from_value(result)
        .map_err(|error| ErrorObject::new(ErrorCode::INTERNAL_ERROR, format!("{error}")))
}
