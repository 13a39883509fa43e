//! A client message. Its params are decoded once, for the routing of the transport and for the
//! server.
use crate::mcp::base::{RequestMetaObject, RequestParams};
use crate::mcp::dispatch::ClientRequest;
#[cfg(feature = "http")]
use alloc::borrow::Cow;
use jsonrpc_core::wire::{self, DecodeError, Meta};
use jsonrpc_core::{Message, Request};
use serde_json::value::RawValue;

/// A client message with decoded params.
#[derive(Debug)]
pub struct ReceivedMessage<'a> {
    pub(super) message: Message<'a>,
    pub(super) params: Option<Result<ReadParams, DecodeError>>,
}

/// The params of a request.
#[derive(Debug)]
pub(crate) struct ReadParams {
    /// The request decoded by its method, or the reason why it is invalid.
    pub(super) request: Result<ClientRequest, DecodeError>,
    pub(super) meta: Result<RequestMetaObject, DecodeError>,
}

impl<'a> From<Message<'a>> for ReceivedMessage<'a> {
    fn from(message: Message<'a>) -> Self {
        let params = match &message {
            Message::Request(request) => Some(ReadParams::of(request)),
            Message::Notification(_) | Message::Response(_) => None,
        };
        Self { message, params }
    }
}

impl<'a> ReceivedMessage<'a> {
    /// Returns the message.
    pub fn message(&self) -> &Message<'a> {
        &self.message
    }

    /// Returns the decoded request. `None` for other messages and for invalid params.
    pub fn request(&self) -> Option<&ClientRequest> {
        self.params()?.request()
    }

    /// Returns the `_meta` of a request. `None` for other messages and for an invalid `_meta`.
    pub fn meta(&self) -> Option<&RequestMetaObject> {
        self.params()?.meta.as_ref().ok()
    }

    pub(crate) fn params(&self) -> Option<&ReadParams> {
        self.params.as_ref()?.as_ref().ok()
    }
}

impl ReadParams {
    /// Decodes the params of a request.
    ///
    /// # Errors
    /// Returns an error if the params are not an object or their `_meta` is invalid.
    pub(crate) fn of(request: &Request<'_>) -> Result<Self, DecodeError> {
        let decoded = ClientRequest::decode(&request.method, request.params);
        let meta = match decoded.as_ref().ok().and_then(meta_of) {
            Some(meta) => RequestMetaObject::read(meta),
            None => {
                let params = request.params.map(RawValue::get).unwrap_or("{}");
                RequestMetaObject::read(wire::decode::<RequestParams>(params)?.meta.as_ref())
            }
        };
        Ok(Self { request: decoded, meta })
    }

    /// Returns the decoded request.
    pub(crate) fn request(&self) -> Option<&ClientRequest> {
        self.request.as_ref().ok()
    }

    /// Returns the protocol version that the request declares.
    #[cfg(feature = "http")]
    pub(crate) fn version(&self) -> Option<&str> {
        Some(self.meta.as_ref().ok()?.protocol_version.as_ref()?.as_str())
    }

    /// Returns the name of the tool, prompt or task, or the URI of the resource, that the request
    /// is about.
    #[cfg(feature = "http")]
    pub(crate) fn name(&self) -> Option<Cow<'_, str>> {
        Some(Cow::Borrowed(match self.request()? {
            ClientRequest::CallTool(params) => params.name.as_str(),
            ClientRequest::GetPrompt(params) => params.name.as_str(),
            ClientRequest::ReadResource(params) => params.uri.as_str(),
            ClientRequest::GetTask(params) | ClientRequest::CancelTask(params) => {
                params.task_id.as_str()
            }
            ClientRequest::UpdateTask(params) => params.task_id.as_str(),
            _ => return None,
        }))
    }
}

/// Returns the `_meta` of decoded params. The outer `None` stands for params that are not decoded.
fn meta_of(request: &ClientRequest) -> Option<Option<&Meta>> {
    Some(match request {
        ClientRequest::Initialize(params) => params.meta.as_ref(),
        ClientRequest::Discover(params) | ClientRequest::Ping(params) => params.meta.as_ref(),
        ClientRequest::ListTools(params)
        | ClientRequest::ListPrompts(params)
        | ClientRequest::ListResources(params)
        | ClientRequest::ListResourceTemplates(params)
        | ClientRequest::ListSkills(params)
        | ClientRequest::ListTasks(params) => params.meta.as_ref(),
        ClientRequest::CallTool(params) => params.meta.as_ref(),
        ClientRequest::GetPrompt(params) => params.meta.as_ref(),
        ClientRequest::ReadResource(params) => params.meta.as_ref(),
        ClientRequest::Subscribe(params)
        | ClientRequest::Unsubscribe(params)
        | ClientRequest::GetSkill(params) => params.meta.as_ref(),
        ClientRequest::ReadResourceDirectory(params) => params.meta.as_ref(),
        ClientRequest::Complete(params) => params.meta.as_ref(),
        ClientRequest::SetLevel(params) => params.meta.as_ref(),
        ClientRequest::SubscriptionsListen(params) => params.meta.as_ref(),
        ClientRequest::GetTask(params)
        | ClientRequest::GetTaskPayload(params)
        | ClientRequest::CancelTask(params) => params.meta.as_ref(),
        ClientRequest::UpdateTask(params) => params.meta.as_ref(),
        ClientRequest::Other { .. } => return None,
    })
}
