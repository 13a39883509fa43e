//! The client, as the agent talks to it: what is written goes to a buffer.

use acp_types::methods::NotificationParams;
use acp_types::v1::prompt_turn::{SessionNotification, SessionUpdate};
use acp_types::v1::session_setup::SessionId;
use jsonrpc_core::wire::Raw;
use jsonrpc_core::{ErrorCode, ErrorObject, Message, Notification, Request, RequestId, Response};
use serde::Serialize;
use std::collections::BTreeMap;

/// What is to be written, and what was asked.
#[derive(Debug, Default)]
pub(crate) struct Client {
    /// Lines for the client.
    pub(crate) out: Vec<u8>,
    asked: BTreeMap<RequestId, SessionId>,
    last_id: i64,
}

impl Client {
    /// Answers a request.
    pub(crate) fn answer<R: Serialize>(&mut self, id: RequestId, outcome: Result<R, ErrorObject>) {
        let outcome = outcome.and_then(|result| to_raw(&result));
        let outcome = outcome.as_ref().map(AsRef::as_ref).map_err(Clone::clone);
        Message::from(Response::new(id, outcome)).to_line(&mut self.out);
    }

    /// Writes the answer to a message that cannot be read, if it gets one.
    pub(crate) fn complain(&mut self, reply: Option<Response<'_>>) {
        if let Some(reply) = reply {
            Message::from(reply).to_line(&mut self.out);
        }
    }

    /// Tells what happens in a session.
    pub(crate) fn update(&mut self, session: &SessionId, update: SessionUpdate) {
        let params = SessionNotification::new(session.clone(), update);
        match to_raw(&params) {
            Ok(params) => {
                let message = Notification::new(SessionNotification::METHOD, params.as_ref());
                Message::from(message).to_line(&mut self.out);
            }
            Err(error) => eprintln!("demo-agent: an update cannot be written: {error}"),
        }
    }

    /// Asks for something in a session.
    pub(crate) fn ask(&mut self, session: &SessionId, method: &str, params: &Raw) -> RequestId {
        self.last_id += 1;
        let id = RequestId::from(self.last_id);
        self.asked.insert(id.clone(), session.clone());
        Message::from(Request::new(id.clone(), method, params.as_ref())).to_line(&mut self.out);
        id
    }

    /// The session in which the question was asked that has this answer.
    pub(crate) fn answered(&mut self, id: &RequestId) -> Option<SessionId> {
        self.asked.remove(id)
    }

    /// Writes a line that is no message.
    pub(crate) fn noise(&mut self, line: &str) {
        self.out.extend_from_slice(line.as_bytes());
        self.out.push(b'\n');
    }
}

fn to_raw<T: Serialize>(value: &T) -> Result<Raw, ErrorObject> {
    Raw::from_value(value)
        .map_err(|error| ErrorObject::new(ErrorCode::INTERNAL_ERROR, error.to_string()))
}
