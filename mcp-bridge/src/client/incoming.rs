//! Requests and notifications of the server.
use super::{CallError, Client, ClientEvent, UpstreamCall};
use crate::mcp::base::EmptyResult;
use crate::mcp::dispatch::{ServerNotification, ServerRequest};
use crate::mcp::subscriptions::ServerChange;
use crate::server::{Needs, missing_capability};
use alloc::format;
use alloc::string::ToString;
use jsonrpc_core::wire::Raw;
use jsonrpc_core::{ErrorCode, ErrorObject, Notification, Request, RequestId};

impl Client {
    pub(super) fn handle_request(&mut self, request: &Request<'_>, related: Option<UpstreamCall>) {
        let id = &request.id;
        let refusal = match ServerRequest::decode(&request.method, request.params) {
            Ok(ServerRequest::Ping(_)) => {
                let empty = Raw::from_value(&EmptyResult::new());
                return self.respond(id, empty.as_ref().map_err(|_| internal()));
            }
            Ok(
                request @ (ServerRequest::Elicit(_)
                | ServerRequest::CreateMessage(_)
                | ServerRequest::ListRoots(_)),
            ) => match self.handle_input_request(id, request, related) {
                Ok(()) => return,
                Err(refusal) => refusal,
            },
            Ok(other) => not_found(other.method()),
            Err(error) => ErrorObject::new(ErrorCode::INVALID_PARAMS, error.to_string()),
        };
        self.respond(id, Err(refusal));
    }

    /// Returns the call that a message of the server belongs to. `related` is the call that the
    /// transport names. A message that names no call belongs to the only open call of a connection
    /// with one user. A call that has ended has no messages.
    fn call_of(&self, related: Option<UpstreamCall>) -> Option<UpstreamCall> {
        match related {
            Some(call) => self.calls.contains_key(&call).then_some(call),
            None if self.options.is_shared => None,
            None => {
                let mut open = self.calls.keys();
                let first = open.next().copied();
                first.filter(|_| open.next().is_none())
            }
        }
    }

    /// Handles a request of a server up to 2025-11-25.
    fn handle_input_request(
        &mut self,
        id: &RequestId,
        request: ServerRequest,
        related: Option<UpstreamCall>,
    ) -> Result<(), ErrorObject> {
        if missing_capability(&self.options.capabilities, &request).is_some() {
            return Err(not_found(request.method()));
        }
        let max_rounds = u64::from(self.options.max_rounds);
        let call = self.call_of(related);
        let open = call.and_then(|call| Some((call, self.calls.get_mut(&call)?)));
        let Some((call, open)) = open else {
            let open_calls = self.calls.len();
            let method = request.method().to_string();
            self.events.push_back(ClientEvent::Unassigned { method, open_calls });
            let text = match (related, open_calls) {
                (Some(_), _) => "the call of this stream has ended",
                (None, 0) => "no open call could need this request",
                (None, _) if self.options.is_shared => {
                    "the request names no call, and the connection has several users"
                }
                (None, _) => "the request names no call, and several calls are open",
            };
            return Err(ErrorObject::new(ErrorCode::INVALID_REQUEST, text));
        };
        open.server_request_count += 1;
        if open.server_request_count > max_rounds {
            let cancelled = self.cancel(call);
            debug_assert!(cancelled.is_ok(), "the call is open");
            let error = CallError::TooManyRounds;
            self.events.push_back(ClientEvent::Failed { call, error });
            return Err(ErrorObject::new(
                ErrorCode::INVALID_REQUEST,
                "the call requested input too often",
            ));
        }
        let key = format!("{}", open.server_request_count);
        open.server_requests.insert(key.clone(), id.clone());
        self.events.push_back(ClientEvent::Needs { call, needs: Needs::new([(key, request)]) });
        Ok(())
    }

    /// Handles the cancellation of a request by the server. No response is sent.
    pub(super) fn handle_withdrawn(&mut self, id: &RequestId) {
        let cancelled = ErrorObject::new(ErrorCode::REQUEST_CANCELLED, "cancelled");
        let _unsent = self.peer.respond(id, Err(cancelled));
        for (call, open) in &mut self.calls {
            let key = open
                .server_requests
                .iter()
                .find(|(_, request)| *request == id)
                .map(|(key, _)| key.clone());
            if let Some(key) = key {
                open.server_requests.remove(&key);
                self.events.push_back(ClientEvent::Withdrawn { call: *call, key });
                return;
            }
        }
    }

    fn changed(&mut self, change: ServerChange) {
        self.events.push_back(ClientEvent::Changed(change));
    }

    pub(super) fn handle_notification(
        &mut self,
        notification: &Notification<'_>,
        related: Option<UpstreamCall>,
    ) {
        match ServerNotification::decode(&notification.method, notification.params) {
            Ok(ServerNotification::ToolListChanged(_)) => self.changed(ServerChange::Tools),
            Ok(ServerNotification::PromptListChanged(_)) => self.changed(ServerChange::Prompts),
            Ok(ServerNotification::ResourceListChanged(_)) => self.changed(ServerChange::Resources),
            Ok(ServerNotification::ResourceUpdated(params)) => {
                self.changed(ServerChange::Resource(params.uri));
            }
            Ok(ServerNotification::SubscriptionsAcknowledged(params)) => {
                self.handle_acknowledged(params.meta.as_ref());
            }
            Ok(ServerNotification::Cancelled(_)) => {}
            Ok(ServerNotification::Progress(params)) => {
                let token = params.progress_token.as_i64().and_then(|it| u64::try_from(it).ok());
                let call = token.map(UpstreamCall).filter(|call| self.calls.contains_key(call));
                // The token and the stream name the same call.
                let is_same = |call: &UpstreamCall| related.is_none_or(|related| related == *call);
                if let Some(call) = call.filter(is_same) {
                    self.events.push_back(ClientEvent::Progress { call, params });
                }
            }
            Ok(ServerNotification::LoggingMessage(params)) => {
                let call = self.call_of(related);
                self.events.push_back(ClientEvent::Log { call, params });
            }
            Ok(other) => self.events.push_back(ClientEvent::Notification(other)),
            Err(error) => {
                let problem = format!("{}: {error}", notification.method);
                self.events.push_back(ClientEvent::Malformed(problem));
            }
        }
    }
}

fn not_found(method: &str) -> ErrorObject {
    ErrorObject::new(ErrorCode::METHOD_NOT_FOUND, format!("unknown method: {method}"))
}

fn internal() -> ErrorObject {
    ErrorObject::new(ErrorCode::INTERNAL_ERROR, "result has no JSON form")
}
