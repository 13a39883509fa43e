//! A request or a notification on its way to its handler.
use crate::message::{Message, Notification, Request};
use crate::{MessageBuf, RequestId, checked};
use alloc::string::String;

/// A message that its handler borrows from.
#[derive(Debug)]
pub(super) enum Call {
    /// Nearly all are so: nothing but these members.
    Usual {
        /// Of a request.
        id: Option<RequestId>,
        /// The method, and the params as JSON text behind it.
        text: String,
        method: usize,
        has_params: bool,
    },
    Other(MessageBuf),
}

impl Call {
    /// Copies a message into `text`, which is empty.
    pub(super) fn new(message: Message<'_>, mut text: String) -> Self {
        let (id, method, params) = match &message {
            Message::Request(request) if request.envelope.is_usual() => {
                (Some(request.id.clone()), &request.method, request.params)
            }
            Message::Notification(notification) if notification.envelope.is_usual() => {
                (None, &notification.method, notification.params)
            }
            _ => return Self::Other(message.into()),
        };
        let written = params.map_or("", |params| params.get());
        text.reserve_exact(method.len() + written.len());
        text.push_str(method);
        text.push_str(written);
        Self::Usual { id, text, method: method.len(), has_params: params.is_some() }
    }

    /// The message, borrowed.
    pub(super) fn as_message(&self) -> Message<'_> {
        match self {
            Self::Other(message) => message.as_message(),
            Self::Usual { id, text, method, has_params } => {
                let (method, params) = text.split_at_checked(*method).unwrap_or_default();
                let params = has_params.then_some(params).and_then(checked::raw);
                match id {
                    Some(id) => Request::new(id.clone(), method, params).into(),
                    None => Notification::new(method, params).into(),
                }
            }
        }
    }

    /// Memory for the next one.
    pub(super) fn into_text(self) -> String {
        match self {
            Self::Usual { mut text, .. } => {
                text.clear();
                text
            }
            Self::Other(_) => String::new(),
        }
    }
}
