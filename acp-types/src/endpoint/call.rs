//! Calls of a program, and its replies to the requests of the peer.
use crate::params::RequestParams;
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use core::time::Duration;
use jsonrpc_core::wire::Raw;
use jsonrpc_core::{ErrorCode, ErrorObject};
use serde::Serialize;

/// A call: any request of a client except those that open or prompt sessions.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Call {
    pub(crate) method: Cow<'static, str>,
    pub(crate) params: Raw,
    pub(crate) timeout: Option<Duration>,
}

impl Call {
    /// Creates a call of a typed method of either version, or of an extension.
    pub fn new<P: RequestParams>(params: &P) -> Self {
        Self { method: Cow::Borrowed(P::METHOD), params: Raw::of(params), timeout: None }
    }

    /// Creates a call by method name.
    pub fn raw(method: impl Into<Cow<'static, str>>, params: Raw) -> Self {
        Self { method: method.into(), params, timeout: None }
    }

    /// Returns the call in version 2: logins and logouts of version 1 have other method names
    /// there.
    #[must_use]
    pub fn in_v2(mut self) -> Self {
        self.method = match &*self.method {
            "authenticate" => Cow::Borrowed("auth/login"),
            "logout" => Cow::Borrowed("auth/logout"),
            _ => self.method,
        };
        self
    }

    /// Sets the time limit of the call, instead of
    /// [`Options::call_timeout`](crate::client::Options::call_timeout).
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }
}

/// A reply to a request of the agent: a result, or an error.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply(Result<Raw, ErrorObject>);

impl Reply {
    /// Creates a reply with a result. A result without a JSON form becomes an internal error.
    pub fn result<T: Serialize + ?Sized>(response: &T) -> Self {
        Self(
            Raw::from_value(response)
                .map_err(|error| ErrorObject::new(ErrorCode::INTERNAL_ERROR, error.to_string())),
        )
    }

    /// Creates the error reply for an unsupported method.
    pub fn method_not_found(method: &str) -> Self {
        Self::error(ErrorCode::METHOD_NOT_FOUND, format!("the method {method:?} is not supported"))
    }

    /// Creates an error reply.
    pub fn error(code: ErrorCode, message: impl Into<String>) -> Self {
        Self(Err(ErrorObject::new(code, message)))
    }

    pub(crate) fn into_outcome(self) -> Result<Raw, ErrorObject> {
        self.0
    }
}

impl From<Result<Raw, ErrorObject>> for Reply {
    fn from(outcome: Result<Raw, ErrorObject>) -> Self {
        Self(outcome)
    }
}

impl From<ErrorObject> for Reply {
    fn from(error: ErrorObject) -> Self {
        Self(Err(error))
    }
}
