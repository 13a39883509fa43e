//! Messages: requests, notifications and responses.
use crate::json_str::JsonStr;
use crate::{ErrorObject, RequestId, checked};
use alloc::borrow::Cow;
use alloc::vec::Vec;
use serde_json::value::RawValue;

/// One JSON-RPC message, borrowed from its text.
///
/// Spec: [JSON-RPC 2.0](https://www.jsonrpc.org/specification)
///
/// `params`, `result` and `data` remain text until they are decoded, so forwarded messages are
/// unchanged. Decoding is tolerant, encoding strict; the [crate documentation](crate#odd-input) has
/// the table.
///
/// ```
/// use jsonrpc_core::{Message, Response};
///
/// let line = r#"{"jsonrpc":"2.0","id":7,"method":"add","params":[1,2]}"#;
/// let Message::Request(request) = Message::decode(line)? else { panic!("not a request") };
/// assert_eq!((&*request.method, request.params.map(|params| params.get())), ("add", Some("[1,2]")));
///
/// let sum = serde_json::value::to_raw_value(&3)?;
/// let mut out = Vec::new();
/// Message::from(Response::new(request.id, Ok(&sum))).to_line(&mut out);
/// assert_eq!(out, b"{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":3}\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_enums, reason = "JSON-RPC has these three kinds of messages")]
pub enum Message<'a> {
    /// A request, which has to be answered once.
    Request(Request<'a>),
    /// A notification, which is never answered.
    Notification(Notification<'a>),
    /// A response to a request.
    Response(Response<'a>),
}

/// The kinds of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "JSON-RPC has these three kinds of messages")]
pub enum Kind {
    /// Has a `method` and an `id`.
    Request,
    /// Has a `method` and no `id`.
    Notification,
    /// Has a `result` or an `error`.
    Response,
}

/// A call that requires a response.
///
/// Spec: [Request object](https://www.jsonrpc.org/specification#request_object) (JSON-RPC 2.0)
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Request<'a> {
    /// Identifier, repeated by the response.
    pub id: RequestId,
    /// The method.
    pub method: Cow<'a, str>,
    /// The parameters: an object or an array.
    pub params: Option<&'a RawValue>,
    pub(crate) envelope: Extras<'a>,
}

/// A call without a response.
///
/// Spec: [Notification](https://www.jsonrpc.org/specification#notification) (JSON-RPC 2.0)
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Notification<'a> {
    /// The method.
    pub method: Cow<'a, str>,
    /// The parameters: an object or an array.
    pub params: Option<&'a RawValue>,
    pub(crate) envelope: Extras<'a>,
}

/// The response to a request.
///
/// Spec: [Response object](https://www.jsonrpc.org/specification#response_object) (JSON-RPC 2.0)
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Response<'a> {
    /// The id of the request; `null` in an error about a message with an unreadable id.
    pub id: RequestId,
    /// `result`, or `error`.
    pub outcome: Result<&'a RawValue, ErrorObject>,
    pub(crate) envelope: Extras<'a>,
}

/// Members of an envelope besides those of JSON-RPC 2.0.
#[derive(Clone, Debug, Default)]
pub(crate) struct Extras<'a> {
    pub(crate) version: Version<'a>,
    pub(crate) members: Vec<(Cow<'a, str>, &'a RawValue)>,
}

/// The `jsonrpc` member of a message.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::exhaustive_enums, reason = "`Other` covers each further value")]
pub enum Version<'a> {
    /// `"2.0"`, which is always written.
    #[default]
    V2,
    /// The member is absent.
    Missing,
    /// Any other value.
    Other(&'a RawValue),
}

impl<'a> Version<'a> {
    /// Returns the version for the text of a JSON value.
    #[inline]
    pub(crate) fn of(text: &'a str) -> Self {
        let is_2 = || JsonStr::new(text).is_some_and(|version| version == "2.0");
        if text == r#""2.0""# || is_2() {
            return Self::V2;
        }
        checked::raw(text).map_or(Self::Missing, Self::Other)
    }
}

impl<'a> Message<'a> {
    /// The largest number of unknown members of a message.
    pub const MAX_EXTRA: usize = 64;

    /// Returns the kind of message.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Request(_) => Kind::Request,
            Self::Notification(_) => Kind::Notification,
            Self::Response(_) => Kind::Response,
        }
    }

    /// Returns the id, if it has one.
    pub fn id(&self) -> Option<&RequestId> {
        match self {
            Self::Request(request) => Some(&request.id),
            Self::Notification(_) => None,
            Self::Response(response) => Some(&response.id),
        }
    }

    /// Returns the received `jsonrpc` member. It is always written as `"2.0"`.
    pub fn version(&self) -> Version<'a> {
        self.envelope().version
    }

    /// Returns the unknown members, in order.
    pub fn extra(&self) -> impl Iterator<Item = (&str, &'a RawValue)> {
        self.envelope().members.iter().map(|(name, value)| (&**name, *value))
    }

    fn envelope(&self) -> &Extras<'a> {
        match self {
            Self::Request(request) => &request.envelope,
            Self::Notification(notification) => &notification.envelope,
            Self::Response(response) => &response.envelope,
        }
    }
}

impl<'a> Request<'a> {
    /// Creates a request. `params` has to be an object or an array.
    pub fn new(
        id: impl Into<RequestId>,
        method: impl Into<Cow<'a, str>>,
        params: impl Into<Option<&'a RawValue>>,
    ) -> Self {
        let id = id.into();
        let method = method.into();
        let params = params.into();
        Self { id, method, params, envelope: Extras::default() }
    }
}

impl<'a> Notification<'a> {
    /// Creates a notification. `params` has to be an object or an array.
    pub fn new(method: impl Into<Cow<'a, str>>, params: impl Into<Option<&'a RawValue>>) -> Self {
        Self { method: method.into(), params: params.into(), envelope: Extras::default() }
    }
}

impl<'a> Response<'a> {
    /// Creates a response.
    pub fn new(id: impl Into<RequestId>, outcome: Result<&'a RawValue, ErrorObject>) -> Self {
        Self { id: id.into(), outcome, envelope: Extras::default() }
    }
}

impl<'a> From<Request<'a>> for Message<'a> {
    fn from(request: Request<'a>) -> Self {
        Self::Request(request)
    }
}

impl<'a> From<Notification<'a>> for Message<'a> {
    fn from(notification: Notification<'a>) -> Self {
        Self::Notification(notification)
    }
}

impl<'a> From<Response<'a>> for Message<'a> {
    fn from(response: Response<'a>) -> Self {
        Self::Response(response)
    }
}
