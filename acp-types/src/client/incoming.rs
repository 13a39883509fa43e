//! Requests and notifications of the agent, except updates.
use super::pending_event::PendingEvent;
use super::request::{Kind, OpenRequest};
use super::{AgentNotification, AgentRequest, Connection, Problem, ReceivedValue, RequestKey};
use crate::endpoint::{Refusal, raw_or_empty, session_id};
use crate::v1;
use alloc::boxed::Box;
use jsonrpc_core::{ErrorObject, Notification, Request};

impl Connection {
    pub(super) fn handle_notification(&mut self, notification: &Notification<'_>) {
        let method = &*notification.method;
        let params = notification.params;
        let decoded = AgentNotification::decode(self.agent_version.is_v2(), method, params);
        if let Some(received) = self.base.read(notification, decoded) {
            let event = PendingEvent::Notification(received);
            match session_id(params).and_then(|id| self.sessions.find(&id)) {
                Some(key) => self.sessions.push(key, event),
                None => self.base.push(event),
            }
        }
    }

    pub(super) fn handle_request(&mut self, request: &Request<'_>) -> Option<RequestKey> {
        let method = &*request.method;
        let params = request.params;
        let key = RequestKey::new(self.base.number());
        let decoded = AgentRequest::decode(self.agent_version.is_v2(), method, params);
        let value = match self.base.diagnostics.tolerate(method, decoded) {
            Ok(value) => value,
            Err(error) => {
                self.base.refuse(key, request, Refusal::params(error));
                return None;
            }
        };
        let kind = Kind::of(method);
        let raw = raw_or_empty(params);
        let session_id = session_id(params);
        let session = session_id.as_ref().and_then(|id| self.sessions.find(id));
        let size = raw.as_str().len();
        if session_id.is_some() && session.is_none() {
            let answer = if kind.is_question() {
                kind.cancelled()
            } else {
                Err(ErrorObject::new(v1::error::RESOURCE_NOT_FOUND, "the session is not open"))
            };
            let refusal = Refusal { problem: Problem::UnknownSession, answer };
            self.base.refuse(key, request, refusal);
            return None;
        }
        let has_room = match session {
            Some(session) => self.sessions.has_room_for(session, size),
            None => self.base.has_room_for(size),
        };
        if !has_room {
            self.base.refuse(key, request, Refusal::full());
            return None;
        }
        let is_cancelled =
            session.and_then(|session| self.sessions.turn(session)).is_some_and(|t| t.is_cancelled);
        if is_cancelled && kind.is_question() {
            self.base.respond(key, &request.id, kind.cancelled());
            return None;
        }
        self.base.requests.insert(key, request.id.clone(), OpenRequest { session, kind });
        let event = PendingEvent::Request(key, Box::new(ReceivedValue { value, raw }));
        match session {
            Some(session) => self.sessions.push(session, event),
            None => self.base.push(event),
        }
        Some(key)
    }

    /// Gives up some requests.
    pub(super) fn give_up_all(&mut self, picks: impl Fn(&OpenRequest) -> bool) {
        for key in self.base.requests.keys(picks) {
            self.give_up(key);
        }
    }

    /// Answers a request by the machine, and reports that if the request was polled.
    pub(super) fn give_up(&mut self, key: RequestKey) {
        let Some((id, open)) = self.base.requests.remove(key) else { return };
        self.base.respond(key, &id, open.kind.cancelled());
        match open.session {
            Some(session) => {
                if !self.sessions.remove_request(session, key) {
                    self.sessions.push(session, PendingEvent::Withdrawn(key));
                }
            }
            None => {
                if !self.base.inbox.remove_request(key) {
                    self.base.push(PendingEvent::Withdrawn(key));
                }
            }
        }
    }
}
