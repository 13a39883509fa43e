//! Inputs: lines, time, and the end of the connection.
use super::event::PendingEvent;
use super::openings::Surroundings;
use super::version;
use super::{
    CallError, CallKey, ClientNotification, ClientRequest, ClientResponse, CloseReason, Connection,
    Kind, OpenRequest, Problem, PromptKey, Purpose, ReceivedValue, RepeatedAnswer, RequestKey,
};
use crate::endpoint::{Refusal, raw_or_empty, session_id, string};
use crate::v1::initialization::ProtocolVersion;
use crate::v1::session_setup::SessionId;
use crate::v2::dispatch;
use crate::v2::prompt_lifecycle::{MessageId, PromptResponse};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::time::Duration;
use jsonrpc_core::framing::FrameError;
use jsonrpc_core::wire::Raw;
use jsonrpc_core::{ErrorCode, ErrorObject, Notification, PeerMessage, Request};
use serde_json::value::RawValue;

impl Connection {
    /// Handles a line of the client, as returned by
    /// [`Lines::next`](jsonrpc_core::framing::Lines::next).
    pub fn handle_line(&mut self, line: Result<&str, FrameError>) {
        if self.base.closed.is_some() {
            return;
        }
        match self.base.peer.handle_line(line) {
            PeerMessage::Request(request) => self.handle_request(&request),
            PeerMessage::Notification(notification) => self.handle_notification(&notification),
            PeerMessage::Response { token: (key, method), outcome, .. } => {
                let outcome = outcome.map_err(CallError::Answered);
                self.end_call(key, &method, outcome);
            }
            PeerMessage::Cancelled { id, .. } => {
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
        self.openings.clear();
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
                let kind = self.kind(request, &value);
                if self.is_repetition(key, request, &kind) {
                    return;
                }
                if self.is_v2() {
                    self.openings.begin(key, &request.method, raw.as_str());
                }
                let open = OpenRequest { kind, is_cancelled: false };
                self.base.requests.insert(key, request.id.clone(), open);
                self.base
                    .push(PendingEvent::Request(key, Box::new(ReceivedValue::new(value, raw))));
            }
            Err(refusal) => self.base.refuse(key, request, refusal),
        }
    }

    fn kind(&self, request: &Request<'_>, value: &ClientRequest) -> Kind {
        let Some(session) = session_id(request.params).map(|id| SessionId::from(&*id)) else {
            return Kind::Other;
        };
        match (&*request.method, value) {
            (
                "session/prompt",
                ClientRequest::V2(dispatch::ClientRequest::PromptRequest(prompt)),
            ) => match &prompt.idempotency_key {
                Some(key) => Kind::KeyedPrompt((session, key.clone())),
                None => Kind::Prompt(session),
            },
            ("session/prompt", _) => Kind::Prompt(session),
            ("session/close" | "session/delete", ClientRequest::V2(_)) => Kind::Close(session),
            _ => Kind::Other,
        }
    }

    /// Version 2: answers a repetition of an answered prompt, or records that of an open one.
    /// Returns whether the request is a repetition.
    fn is_repetition(&mut self, key: RequestKey, request: &Request<'_>, kind: &Kind) -> bool {
        let Kind::KeyedPrompt(prompt) = kind else { return false };
        if let Some(message) = self.messages.get(prompt) {
            let response = Raw::of(&PromptResponse::new(message.clone()));
            self.base.respond(key, &request.id, Ok(response));
            return true;
        }
        let is_open =
            |open: &OpenRequest| matches!(&open.kind, Kind::KeyedPrompt(other) if other == prompt);
        if self.base.requests.keys(is_open).is_empty() {
            return false;
        }
        let open = OpenRequest { kind: Kind::Repetition(prompt.clone()), is_cancelled: false };
        self.base.requests.insert(key, request.id.clone(), open);
        true
    }

    /// Answers a request for the program, with what belongs to the answer.
    pub(crate) fn answer(
        &mut self,
        key: RequestKey,
        outcome: Result<Raw, ErrorObject>,
    ) -> Result<(), RepeatedAnswer> {
        let (id, open) = self.base.requests.remove(key).ok_or(RepeatedAnswer)?;
        if let Kind::Close(session) = &open.kind
            && outcome.is_ok()
        {
            self.stop(session);
        }
        let Surroundings { before, after } = self.openings.end(key, outcome.as_ref().ok());
        for line in before {
            self.base.outgoing.push_line(line, Purpose::Notification);
        }
        self.base.respond(key, &id, outcome.clone());
        if let Some(line) = after {
            self.base.outgoing.push_line(line, Purpose::Notification);
        }
        if let Kind::KeyedPrompt(prompt) = open.kind {
            self.settle(prompt, &outcome);
        }
        Ok(())
    }

    /// Remembers the message of a prompt, and answers its repetitions.
    fn settle(&mut self, prompt: PromptKey, outcome: &Result<Raw, ErrorObject>) {
        let is_it =
            |open: &OpenRequest| matches!(&open.kind, Kind::Repetition(other) if *other == prompt);
        for key in self.base.requests.keys(is_it) {
            if let Some((id, _)) = self.base.requests.remove(key) {
                self.base.respond(key, &id, outcome.clone());
            }
        }
        let message =
            outcome.as_ref().ok().and_then(|result| string(result.as_str(), &["messageId"]));
        if let Some(message) = message {
            self.messages.insert(prompt, MessageId::from(&*message));
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
            if method == "session/cancel"
                && let Some(session) = session_id(params).map(|id| SessionId::from(&*id))
            {
                if self.is_v2() {
                    self.stop(&session);
                } else {
                    self.cancel_turns(&session);
                }
            }
            self.base.push(PendingEvent::Notification(received));
        }
    }

    /// Version 1: cancels the prompts of a session.
    fn cancel_turns(&mut self, session: &SessionId) {
        for key in self.base.requests.keys(|open| open.kind.prompted() == Some(session)) {
            self.cancel(key);
        }
    }

    /// Version 2: refuses the prompts of a session without an answer, and withdraws its calls.
    fn stop(&mut self, session: &SessionId) {
        for key in self.base.requests.keys(|open| open.kind.prompted() == Some(session)) {
            self.refuse_prompt(key);
        }
        let calls = self.questions.iter().filter(|(_, question)| question.session == *session);
        let calls: Vec<_> = calls.map(|(call, _)| *call).collect();
        for call in calls {
            self.base.withdraw(call);
        }
    }

    /// Version 2: refuses a prompt that was cancelled before it was answered. One that was polled
    /// is reported.
    fn refuse_prompt(&mut self, key: RequestKey) {
        let Some((id, open)) = self.base.requests.remove(key) else { return };
        let cancelled = ErrorObject::new(ErrorCode::REQUEST_CANCELLED, "cancelled");
        self.base.respond(key, &id, Err(cancelled));
        let is_it = |event: &PendingEvent| matches!(event, PendingEvent::Request(other, _) if *other == key);
        if matches!(open.kind, Kind::Repetition(_)) {
            return;
        }
        if self.base.inbox.remove(is_it) {
            let is_end = |event: &PendingEvent| matches!(event, PendingEvent::Cancelled(other) if *other == key);
            self.base.inbox.remove(is_end);
        } else if !open.is_cancelled {
            self.base.push(PendingEvent::Cancelled(key));
        }
    }

    /// Reports the cancellation of a request, once. A repetition is refused instead.
    fn cancel(&mut self, key: RequestKey) {
        let Some(open) = self.base.requests.get_mut(key).filter(|open| !open.is_cancelled) else {
            return;
        };
        if matches!(open.kind, Kind::Repetition(_)) {
            return self.refuse_prompt(key);
        }
        open.is_cancelled = true;
        self.base.push(PendingEvent::Cancelled(key));
    }

    fn end_call(&mut self, key: CallKey, method: &str, outcome: Result<&RawValue, CallError>) {
        let is_v2 = self.is_v2();
        let question = self.questions.remove(&key);
        let outcome = outcome.and_then(|result| match &question {
            Some(question) => question.check(result),
            None => Ok(result),
        });
        let decode = |method: &str, result: &_| ClientResponse::decode(is_v2, method, result);
        self.base.end_call(key, method, outcome, decode);
    }
}
