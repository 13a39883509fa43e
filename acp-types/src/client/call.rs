//! Values that a client sends: session requests, prompts, calls and replies.
use crate::methods::RequestParams;
use crate::{v1, v2};
use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::time::Duration;
use jsonrpc_core::wire::{Meta, Raw};
use jsonrpc_core::{ErrorCode, ErrorObject};
use serde::Serialize;

/// A request that opens a session.
///
/// The agent's capabilities state whether it supports the method; see [`capabilities`](mod@crate::capabilities).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Open {
    /// `session/new`, version 1.
    New(Box<v1::session_setup::NewSessionRequest>),
    /// `session/load`, version 1.
    Load(Box<v1::session_setup::LoadSessionRequest>),
    /// `session/resume`, version 1.
    Resume(Box<v1::session_setup::ResumeSessionRequest>),
    /// `session/fork`, version 1.
    Fork(Box<v1::session_setup::ForkSessionRequest>),
    /// `session/new`, version 2.
    NewV2(Box<v2::session_setup::NewSessionRequest>),
    /// `session/resume`, version 2.
    ResumeV2(Box<v2::session_setup::ResumeSessionRequest>),
    /// `session/fork`, version 2.
    ForkV2(Box<v2::session_setup::ForkSessionRequest>),
}

macro_rules! open_from {
    ($($Request:ty => $Variant:ident,)+) => { $(
        impl From<$Request> for Open {
            fn from(request: $Request) -> Self {
                Self::$Variant(Box::new(request))
            }
        }
    )+ };
}

open_from! {
    v1::session_setup::NewSessionRequest => New,
    v1::session_setup::LoadSessionRequest => Load,
    v1::session_setup::ResumeSessionRequest => Resume,
    v1::session_setup::ForkSessionRequest => Fork,
    v2::session_setup::NewSessionRequest => NewV2,
    v2::session_setup::ResumeSessionRequest => ResumeV2,
    v2::session_setup::ForkSessionRequest => ForkV2,
}

/// A prompt of the user.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Prompt {
    /// The content.
    pub content: PromptContent,
    /// The `_meta` of the request, for example for trace context.
    pub meta: Option<Meta>,
}

/// The content of a prompt, by version.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum PromptContent {
    /// Version 1.
    V1(Vec<v1::content::ContentBlock>),
    /// Version 2.
    V2(Vec<v2::content::ContentBlock>),
}

impl Prompt {
    /// Creates a prompt of version 1.
    pub fn v1(content: impl IntoIterator<Item = v1::content::ContentBlock>) -> Self {
        Self { content: PromptContent::V1(content.into_iter().collect()), meta: None }
    }

    /// Creates a prompt of version 2.
    pub fn v2(content: impl IntoIterator<Item = v2::content::ContentBlock>) -> Self {
        Self { content: PromptContent::V2(content.into_iter().collect()), meta: None }
    }

    /// Sets the `_meta` of the request.
    #[must_use]
    pub fn with_meta(mut self, meta: Meta) -> Self {
        self.meta = Some(meta);
        self
    }
}

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

    /// Returns the call in version 2: logins and logouts of version 1 have other method names there.
    #[must_use]
    pub fn in_v2(mut self) -> Self {
        self.method = match &*self.method {
            "authenticate" => Cow::Borrowed("auth/login"),
            "logout" => Cow::Borrowed("auth/logout"),
            _ => self.method,
        };
        self
    }

    /// Sets the time limit of the call, instead of [`Options::call_timeout`](super::Options::call_timeout).
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
