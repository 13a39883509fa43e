//! Inputs: lines, time, and the end of the connection.
use super::event::Waiting;
use super::version;
use super::{
    CallError, CallKey, ClientNotification, ClientRequest, ClientResponse, CloseReason, Connection,
    OpenRequest, Problem, Received, RequestKey,
};
use crate::endpoint::{Refusal, raw_or_empty, session_id};
use crate::v1::initialization::ProtocolVersion;
use crate::v1::session_setup::SessionId;
use alloc::boxed::Box;
use core::time::Duration;
use jsonrpc_core::framing::FrameError;
use jsonrpc_core::{Incoming, Notification, Request};
use serde_json::value::RawValue;

impl Connection {
    /// Handles a line of the client, as returned by
    /// [`Lines::next`](jsonrpc_core::framing::Lines::next).
    pub fn handle_line(&mut self, line: Result<&str, FrameError>) {
        if self.base.closed.is_some() {
            return;
        }
        match self.base.peer.handle_line(line) {
            Incoming::Request(request) => self.handle_request(&request),
            Incoming::Notification(notification) => self.handle_notification(&notification),
            Incoming::Response { token: (key, method), outcome, .. } => {
                let outcome = outcome.map_err(CallError::Answered);
                self.end_call(key, &method, outcome);
            }
            Incoming::Cancelled { id, .. } => {
                if let Some(key) = self.base.requests.find(&id) {
                    self.cancel(key);
                }
            }
            other => {
                if let Some(((key, method), error)) = self.base.handle_stray(other) {
                    self.end_call(key, &method, Err(error));
                }
            }
        }
        if self.base.is_congested() {
            self.close(CloseReason::Congested);
        }
    }

    /// Handles the end of the client's lines, while lines can still be sent. Calls end; open
    /// requests can still be answered.
    pub fn handle_end(&mut self) {
        self.base.peer.handle_end();
        self.end_calls(&CloseReason::ClientClosed);
    }

    /// Closes the connection: calls end, open requests are dropped, and
    /// [`Event::Closed`](super::Event::Closed) is the last event.
    pub fn handle_closed(&mut self, why: CloseReason) {
        self.close(why);
    }

    /// Ends calls that have reached their deadline.
    pub fn handle_timeout(&mut self, now: Duration) {
        while let Some(ended) = self.base.peer.poll_ended(now) {
            let (key, method) = ended.token;
            self.end_call(key, &method, Err(CallError::Timeout));
        }
    }

    fn close(&mut self, why: CloseReason) {
        if self.base.closed.is_some() {
            return;
        }
        self.base.closed = Some(why.clone());
        self.base.outgoing.clear();
        self.base.requests.clear();
        self.base.peer.handle_close();
        self.end_calls(&why);
    }

    fn end_calls(&mut self, why: &CloseReason) {
        while let Some(ended) = self.base.peer.poll_ended(Duration::MAX) {
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
        let key = RequestKey::new(self.base.number());
        let raw = raw_or_empty(request.params);
        let value = match self.read_request(request) {
            Ok(_) if !self.base.has_room_for(raw.as_str().len()) => Err(Refusal::full()),
            read => read,
        };
        match value {
            Ok(value) => {
                let turn = session_id(request.params)
                    .filter(|_| request.method == "session/prompt")
                    .map(|id| SessionId::from(&*id));
                let open = OpenRequest { turn, is_cancelled: false };
                self.base.requests.insert(key, request.id.clone(), open);
                self.base.push(Waiting::Request(key, Box::new(Received::new(value, raw))));
            }
            Err(refusal) => self.base.refuse(key, request, refusal),
        }
    }

    fn read_request(&mut self, request: &Request<'_>) -> Result<ClientRequest, Refusal> {
        let method = &*request.method;
        let params = request.params;
        if method == "initialize" {
            let params = params.unwrap_or(RawValue::NULL);
            return self.read_initialize(params);
        }
        let decoded = ClientRequest::decode(self.is_v2(), method, params);
        self.base.diagnostics.tolerate(method, decoded).map_err(Refusal::params)
    }

    /// Selects the version, and decodes the parameters in it.
    fn read_initialize(&mut self, params: &RawValue) -> Result<ClientRequest, Refusal> {
        let requested = version::requested(params).map_err(Refusal::params)?;
        let chosen = version::choose(&self.options.versions, requested)
            .map_err(|error| Refusal { problem: Problem::Version, answer: Err(error) })?;
        let decoded = version::read(params, requested, chosen);
        let request =
            self.base.diagnostics.tolerate("initialize", decoded).map_err(Refusal::params)?;
        self.version = Some(chosen);
        Ok(request)
    }

    fn handle_notification(&mut self, notification: &Notification<'_>) {
        let method = &*notification.method;
        let params = notification.params;
        let decoded = ClientNotification::decode(self.is_v2(), method, params);
        if let Some(received) = self.base.read(notification, decoded) {
            if method == "session/cancel" {
                session_id(params).into_iter().for_each(|session| self.cancel_turns(&session));
            }
            self.base.push(Waiting::Notification(received));
        }
    }

    /// Cancels the prompts of a session.
    fn cancel_turns(&mut self, session: &str) {
        let is_turn =
            |open: &OpenRequest| open.turn.as_ref().is_some_and(|id| id.as_str() == session);
        for key in self.base.requests.keys(is_turn) {
            self.cancel(key);
        }
    }

    /// Reports the cancellation of a request, once.
    fn cancel(&mut self, key: RequestKey) {
        if let Some(open) = self.base.requests.get_mut(key).filter(|open| !open.is_cancelled) {
            (open.is_cancelled, open.turn) = (true, None);
            self.base.push(Waiting::Cancelled(key));
        }
    }

    fn end_call(&mut self, key: CallKey, method: &str, outcome: Result<&RawValue, CallError>) {
        let is_v2 = self.is_v2();
        let decode = |method: &str, result: &_| ClientResponse::decode(is_v2, method, result);
        self.base.end_call(key, method, outcome, decode);
    }
}
