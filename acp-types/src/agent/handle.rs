//! Inputs: lines, time, and the end of the connection.
use super::event::Waiting;
use super::version;
use super::{
    CallError, CallKey, ClientNotification, ClientRequest, ClientResponse, CloseReason, Connection,
    Diagnostic, OpenRequest, Problem, Purpose, Received, RequestKey,
};
use crate::client::{raw_or_empty, session_id};
use crate::v1::initialization::ProtocolVersion;
use crate::v1::session_setup::SessionId;
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::string::ToString;
use core::time::Duration;
use jsonrpc_core::framing::FrameError;
use jsonrpc_core::wire::{DecodeError, Raw};
use jsonrpc_core::{ErrorCode, ErrorObject, Incoming, Notification, Request, RequestId};
use serde_json::value::RawValue;

/// A request that the machine answers, and its answer.
struct Refusal {
    problem: Problem,
    answer: ErrorObject,
}

impl Refusal {
    fn params(error: DecodeError) -> Self {
        let answer = ErrorObject::new(ErrorCode::INVALID_PARAMS, error.to_string());
        Self { problem: Problem::Params(error), answer }
    }
}

impl Connection {
    /// Handles a line of the client, as returned by [`Lines::next`](jsonrpc_core::framing::Lines::next).
    pub fn handle_line(&mut self, line: Result<&str, FrameError>) {
        if self.closed.is_some() {
            return;
        }
        match self.peer.handle_line(line) {
            Incoming::Request(request) => self.handle_request(&request),
            Incoming::Notification(notification) => self.handle_notification(&notification),
            Incoming::Response { token: (key, method), outcome, .. } => {
                let outcome = outcome.map_err(CallError::Answered);
                self.end_call(key, &method, outcome);
            }
            Incoming::Cancelled { id, .. } => {
                if let Some(key) = self.by_id.get(&id) {
                    self.cancel(*key);
                }
            }
            Incoming::Refused { request, response } => {
                self.outgoing.push(response, Purpose::Refusal);
                let method = request.method.into_owned();
                self.diagnostics.push(Diagnostic::Refused { method, problem: Problem::Limit });
            }
            Incoming::Unmatched(response) => {
                self.diagnostics.push(Diagnostic::Unmatched { id: response.id });
            }
            Incoming::Malformed { error, reply, ended } => {
                if let Some(reply) = reply {
                    self.outgoing.push(reply, Purpose::Refusal);
                }
                let error = error.to_string();
                if let Some((_, (key, method))) = ended {
                    self.end_call(key, &method, Err(CallError::Malformed(error.clone())));
                }
                self.diagnostics.push(Diagnostic::Malformed { error });
            }
        }
        if self.outgoing.replies() > self.options.limits.replies {
            self.close(CloseReason::Congested);
        }
    }

    /// Handles the end of the client's lines, while lines can still be sent. Calls end; open requests can still be
    /// answered.
    pub fn handle_end(&mut self) {
        self.peer.handle_end();
        self.end_calls(&CloseReason::ClientClosed);
    }

    /// Closes the connection: calls end, open requests are dropped, and [`Event::Closed`](super::Event::Closed) is the
    /// last event.
    pub fn handle_closed(&mut self, why: CloseReason) {
        self.close(why);
    }

    /// Ends calls that have reached their deadline.
    pub fn handle_timeout(&mut self, now: Duration) {
        while let Some(ended) = self.peer.poll_ended(now) {
            let (key, method) = ended.token;
            self.end_call(key, &method, Err(CallError::Timeout));
        }
    }

    fn close(&mut self, why: CloseReason) {
        if self.closed.is_some() {
            return;
        }
        self.closed = Some(why.clone());
        self.outgoing.clear();
        self.requests.clear();
        self.by_id.clear();
        self.peer.handle_close();
        self.end_calls(&why);
    }

    fn end_calls(&mut self, why: &CloseReason) {
        while let Some(ended) = self.peer.poll_ended(Duration::MAX) {
            let (key, method) = ended.token;
            self.end_call(key, &method, Err(CallError::Closed(why.clone())));
        }
    }

    fn is_v2(&self) -> bool {
        match self.version {
            Some(version) => version == ProtocolVersion::V2,
            // The client has not sent `initialize`.
            None => !self.options.versions.contains(&ProtocolVersion::V1),
        }
    }

    fn handle_request(&mut self, request: &Request<'_>) {
        let key = RequestKey::new(self.number());
        let id = request.id.clone();
        match self.read_request(request) {
            Ok(value) => {
                let raw = raw_or_empty(request.params);
                if !self.inbox.has_room_for(raw.as_str().len(), self.room()) {
                    let message = "too many messages are waiting";
                    let answer = ErrorObject::new(ErrorCode::INTERNAL_ERROR, message);
                    return self.refuse(key, request, Refusal { problem: Problem::Limit, answer });
                }
                let turn = session_id(request.params)
                    .filter(|_| request.method == "session/prompt")
                    .map(|id| SessionId::from(&*id));
                self.by_id.insert(id.clone(), key);
                self.requests.insert(key, OpenRequest { id, turn, is_cancelled: false });
                self.push(Waiting::Request(key, Box::new(Received::new(value, raw))));
            }
            Err(refusal) => self.refuse(key, request, refusal),
        }
    }

    fn read_request(&mut self, request: &Request<'_>) -> Result<ClientRequest, Refusal> {
        let (method, params) = (&*request.method, request.params);
        if method == "initialize" {
            let params = params.unwrap_or(RawValue::NULL);
            return self.read_initialize(params);
        }
        let decoded = ClientRequest::decode(self.is_v2(), method, params);
        self.diagnostics.tolerate(method, decoded).map_err(Refusal::params)
    }

    /// Selects the version, and decodes the parameters in it.
    fn read_initialize(&mut self, params: &RawValue) -> Result<ClientRequest, Refusal> {
        let requested = version::requested(params).map_err(Refusal::params)?;
        let chosen = version::choose(&self.options.versions, requested)
            .map_err(|answer| Refusal { problem: Problem::Version, answer })?;
        let decoded = version::read(params, requested, chosen);
        let request = self.diagnostics.tolerate("initialize", decoded).map_err(Refusal::params)?;
        self.version = Some(chosen);
        Ok(request)
    }

    fn handle_notification(&mut self, notification: &Notification<'_>) {
        let (method, params) = (&*notification.method, notification.params);
        let decoded = ClientNotification::decode(self.is_v2(), method, params);
        match self.diagnostics.tolerate(method, decoded) {
            Ok(value) => {
                if method == "session/cancel" {
                    session_id(params).into_iter().for_each(|session| self.cancel_turns(&session));
                }
                let received = Received::new(value, raw_or_empty(params));
                self.push(Waiting::Notification(Box::new(received)));
            }
            Err(error) => {
                self.diagnostics.push(Diagnostic::Undecodable { method: method.to_owned(), error });
            }
        }
    }

    /// Cancels the prompts of a session.
    fn cancel_turns(&mut self, session: &str) {
        let is_turn =
            |open: &OpenRequest| open.turn.as_ref().is_some_and(|id| id.as_str() == session);
        let open = self.requests.iter().filter(|(_, open)| is_turn(open)).map(|(key, _)| *key);
        for key in open.collect::<alloc::vec::Vec<_>>() {
            self.cancel(key);
        }
    }

    /// Reports the cancellation of a request, once.
    fn cancel(&mut self, key: RequestKey) {
        let Some(open) = self.requests.get_mut(&key).filter(|open| !open.is_cancelled) else {
            return;
        };
        open.is_cancelled = true;
        open.turn = None;
        self.push(Waiting::Cancelled(key));
    }

    fn end_call(&mut self, key: CallKey, method: &str, outcome: Result<&RawValue, CallError>) {
        self.calls.remove(&key);
        let outcome = outcome.and_then(|result| {
            let decoded = ClientResponse::decode(self.is_v2(), method, result);
            let value = self.diagnostics.tolerate(method, decoded).map_err(CallError::Invalid)?;
            Ok(Box::new(Received::new(value, Raw::from(result))))
        });
        self.push(Waiting::CallEnded(key, outcome));
    }

    fn refuse(&mut self, key: RequestKey, request: &Request<'_>, refusal: Refusal) {
        let method = request.method.clone().into_owned();
        self.diagnostics.push(Diagnostic::Refused { method, problem: refusal.problem });
        self.respond(key, &request.id, Err(refusal.answer));
    }

    pub(super) fn respond(
        &mut self,
        key: RequestKey,
        id: &RequestId,
        outcome: Result<Raw, ErrorObject>,
    ) {
        let outcome = outcome.as_ref().map(Raw::as_ref).map_err(Clone::clone);
        if let Ok(response) = self.peer.respond(id, outcome) {
            self.outgoing.push(response, Purpose::Reply(key));
        }
    }
}
