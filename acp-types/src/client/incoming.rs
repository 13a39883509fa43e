//! Requests and notifications of the agent, except updates.
use super::request::{Kind, OpenRequest};
use super::waiting::Waiting;
use super::{
    AgentNotification, AgentRequest, Connection, Diagnostic, Problem, Purpose, Received, RequestKey,
};
use crate::dispatch::object;
use crate::v1;
use alloc::borrow::{Cow, ToOwned};
use alloc::boxed::Box;
use alloc::string::ToString;
use jsonrpc_core::wire::Raw;
use jsonrpc_core::{
    ErrorCode, ErrorObject, JsonStr, Notification, Request, RequestId, find_member,
};
use serde_json::value::RawValue;

impl Connection {
    pub(super) fn handle_notification(&mut self, notification: &Notification<'_>) {
        let (method, params) = (&*notification.method, notification.params);
        let decoded = AgentNotification::decode(self.spoken.is_v2(), method, params);
        match self.diagnostics.tolerate(method, decoded) {
            Ok(value) => {
                let received = Box::new(Received { value, raw: raw_or_empty(params) });
                let session = session_id(params).and_then(|id| self.sessions.find(&id));
                let event = Waiting::Notification(received);
                match session {
                    Some(key) => self.sessions.push(key, event),
                    None => self.push(event),
                }
            }
            Err(error) => {
                self.diagnostics.push(Diagnostic::Undecodable { method: method.to_owned(), error });
            }
        }
    }

    pub(super) fn handle_request(&mut self, request: &Request<'_>) {
        let (id, method, params) = (&request.id, &*request.method, request.params);
        let key = RequestKey::new(self.number());
        let decoded = AgentRequest::decode(self.spoken.is_v2(), method, params);
        let value = match self.diagnostics.tolerate(method, decoded) {
            Ok(value) => value,
            Err(error) => {
                let answer = ErrorObject::new(ErrorCode::INVALID_PARAMS, error.to_string());
                return self.refuse(key, request, Problem::Params(error), Err(answer));
            }
        };
        let (kind, raw) = (Kind::of(method), raw_or_empty(params));
        let named = session_id(params);
        let session = named.as_ref().and_then(|id| self.sessions.find(id));
        let size = raw.as_str().len();
        if named.is_some() && session.is_none() {
            let answer = if kind.is_question() {
                kind.cancelled()
            } else {
                Err(ErrorObject::new(v1::error::RESOURCE_NOT_FOUND, "the session is not open"))
            };
            return self.refuse(key, request, Problem::UnknownSession, answer);
        }
        let has_room = match session {
            Some(session) => self.sessions.has_room_for(session, size),
            None => self.inbox.has_room_for(size, self.room()),
        };
        if !has_room {
            let answer =
                ErrorObject::new(ErrorCode::INTERNAL_ERROR, "too many messages are waiting");
            return self.refuse(key, request, Problem::Limit, Err(answer));
        }
        let is_cancelled =
            session.and_then(|session| self.sessions.turn(session)).is_some_and(|t| t.is_cancelled);
        if is_cancelled && kind.is_question() {
            return self.send_reply(key, id, kind.cancelled());
        }
        self.requests.insert(key, OpenRequest { id: id.clone(), session, kind });
        let event = Waiting::Request(key, Box::new(Received { value, raw }));
        match session {
            Some(session) => self.sessions.push(session, event),
            None => self.push(event),
        }
    }

    fn refuse(
        &mut self,
        key: RequestKey,
        request: &Request<'_>,
        problem: Problem,
        answer: Result<Raw, ErrorObject>,
    ) {
        let method = request.method.clone().into_owned();
        self.diagnostics.push(Diagnostic::Refused { method, problem });
        self.send_reply(key, &request.id, answer);
    }

    pub(super) fn send_reply(
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

    /// Answers a request by the machine, and reports that if the request was polled.
    pub(super) fn give_up(&mut self, key: RequestKey) {
        let Some(open) = self.requests.remove(key) else { return };
        self.send_reply(key, &open.id, open.kind.cancelled());
        match open.session {
            Some(session) => {
                if !self.sessions.remove_request(session, key) {
                    self.sessions.push(session, Waiting::Withdrawn(key));
                }
            }
            None => {
                if !self.inbox.remove_request(key) {
                    self.push(Waiting::Withdrawn(key));
                }
            }
        }
    }
}

/// Returns the session id of parameters.
pub(crate) fn session_id(params: Option<&RawValue>) -> Option<Cow<'_, str>> {
    JsonStr::new(find_member(params?.get(), &["sessionId"])?)?.decode()
}

pub(crate) fn raw_or_empty(params: Option<&RawValue>) -> Raw {
    match params {
        Some(params) => Raw::from(params),
        None => Raw::from_text(object(None)).unwrap_or_else(|_| Raw::from(RawValue::NULL)),
    }
}
