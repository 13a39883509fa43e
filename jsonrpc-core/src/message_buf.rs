//! Owned messages.
use crate::message::{Extras, Kind, Message, Notification, Request, Response, Version};
use crate::wire::Raw;
use crate::{ErrorObject, RequestId};
use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::vec::Vec;

/// An owned message, to be stored or sent to another thread.
///
/// It preserves all parts of a [`Message`], byte for byte. Creating one copies each part once;
/// borrowing it copies only the error of a response.
///
/// ```
/// use jsonrpc_core::{Message, MessageBuf};
///
/// let line = String::from(r#"{"jsonrpc":"2.0","id":1.0,"method":"add","params":[1.50]}"#);
/// let kept: MessageBuf = Message::decode(&line)?.into_owned();
/// drop(line);
/// let mut out = Vec::new();
/// kept.as_message().to_line(&mut out);
/// assert_eq!(out, b"{\"jsonrpc\":\"2.0\",\"id\":1.0,\"method\":\"add\",\"params\":[1.50]}\n");
/// # Ok::<(), jsonrpc_core::MessageError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct MessageBuf {
    content: Content,
    version: VersionBuf,
    extra: Vec<(Box<str>, Raw)>,
}

#[derive(Clone, Debug, PartialEq)]
enum Content {
    Request { id: RequestId, method: Box<str>, params: Option<Raw> },
    Notification { method: Box<str>, params: Option<Raw> },
    Response { id: RequestId, outcome: Result<Raw, ErrorObject> },
}

#[derive(Clone, Debug, PartialEq)]
enum VersionBuf {
    V2,
    Missing,
    Other(Raw),
}

impl Message<'_> {
    /// Copies the message and everything it borrows.
    pub fn into_owned(self) -> MessageBuf {
        self.into()
    }
}

impl MessageBuf {
    /// Borrows the message.
    pub fn as_message(&self) -> Message<'_> {
        let raw = Option::as_ref;
        let envelope = self.envelope();
        match &self.content {
            Content::Request { id, method, params } => Message::Request(Request {
                id: id.clone(),
                method: Cow::Borrowed(method),
                params: raw(params).map(Raw::as_ref),
                envelope,
            }),
            Content::Notification { method, params } => Message::Notification(Notification {
                method: Cow::Borrowed(method),
                params: raw(params).map(Raw::as_ref),
                envelope,
            }),
            Content::Response { id, outcome } => Message::Response(Response {
                id: id.clone(),
                outcome: outcome.as_ref().map(Raw::as_ref).map_err(Clone::clone),
                envelope,
            }),
        }
    }

    /// Returns the kind of message.
    pub fn kind(&self) -> Kind {
        match self.content {
            Content::Request { .. } => Kind::Request,
            Content::Notification { .. } => Kind::Notification,
            Content::Response { .. } => Kind::Response,
        }
    }

    /// Returns the id, if it has one.
    pub fn id(&self) -> Option<&RequestId> {
        match &self.content {
            Content::Request { id, .. } | Content::Response { id, .. } => Some(id),
            Content::Notification { .. } => None,
        }
    }

    /// Returns the method of a request or a notification.
    pub fn method(&self) -> Option<&str> {
        match &self.content {
            Content::Request { method, .. } | Content::Notification { method, .. } => Some(method),
            Content::Response { .. } => None,
        }
    }

    fn envelope(&self) -> Extras<'_> {
        let version = match &self.version {
            VersionBuf::V2 => Version::V2,
            VersionBuf::Missing => Version::Missing,
            VersionBuf::Other(raw) => Version::Other(raw.as_ref()),
        };
        let members = self.extra.iter();
        let members = members.map(|(name, value)| (Cow::Borrowed(&**name), value.as_ref()));
        Extras { version, members: members.collect() }
    }
}

impl From<Message<'_>> for MessageBuf {
    fn from(message: Message<'_>) -> Self {
        let (content, envelope) = match message {
            Message::Request(Request { id, method, params, envelope }) => {
                let method = method.into();
                let params = params.map(Raw::from);
                (Content::Request { id, method, params }, envelope)
            }
            Message::Notification(Notification { method, params, envelope }) => {
                let method = method.into();
                let params = params.map(Raw::from);
                (Content::Notification { method, params }, envelope)
            }
            Message::Response(Response { id, outcome, envelope }) => {
                (Content::Response { id, outcome: outcome.map(Raw::from) }, envelope)
            }
        };
        let version = match envelope.version {
            Version::V2 => VersionBuf::V2,
            Version::Missing => VersionBuf::Missing,
            Version::Other(raw) => VersionBuf::Other(raw.into()),
        };
        let extra = envelope.members.into_iter();
        let extra = extra.map(|(name, value)| (name.into(), value.into())).collect();
        Self { content, version, extra }
    }
}

impl<'a> From<&'a MessageBuf> for Message<'a> {
    fn from(message: &'a MessageBuf) -> Self {
        message.as_message()
    }
}
