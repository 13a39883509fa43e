//! The method of a type of parameters.
use jsonrpc_core::wire::{Object, Wire};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The parameters of a request, with its method and the type of its result.
pub trait RequestParams: Object {
    /// The method.
    const METHOD: &'static str;
    /// The name of the result's type in the schema.
    const RESPONSE: &'static str;
    /// The result.
    type Response: Wire + Serialize + DeserializeOwned;
}

/// The parameters of a notification, with its method.
pub trait NotificationParams: Object {
    /// The method.
    const METHOD: &'static str;
}

/// Declares the method of a request and its result. Methods common to both versions are in
/// [`shared`](crate::shared).
macro_rules! params {
    (shared $($rest:tt)*) => {};
    ($method:literal $Request:ident -> $Response:ident) => {
        impl $crate::params::RequestParams for $Request {
            const METHOD: &'static str = $method;
            const RESPONSE: &'static str = stringify!($Response);
            type Response = $Response;
        }
    };
}

pub(crate) use params;
