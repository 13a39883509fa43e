//! The client, as the agent talks to it: what is written goes to a buffer.

use acp_types::methods::NotificationParams;
use acp_types::v1::prompt_turn::{SessionNotification, SessionUpdate};
use acp_types::v1::session_setup::SessionId;
use jsonrpc_core::framing::FrameError;
use jsonrpc_core::wire::Raw;
use jsonrpc_core::{
    CancelMethod, ErrorCode, ErrorObject, Incoming, Limits, Message, Notification, Peer, Request,
    RequestId, Response,
};
use serde::Serialize;

/// What is to be written, and which requests of both sides are open.
#[derive(Debug)]
pub(crate) struct Client {
    /// Lines for the client.
    pub(crate) out: Vec<u8>,
    peer: Peer<SessionId>,
}

impl Client {
    pub(crate) fn new() -> Self {
        Self { out: Vec::new(), peer: Peer::new(CancelMethod::ACP, Limits::default()) }
    }

    /// Reads a line of the client.
    pub(crate) fn read<'a>(
        &mut self,
        line: Result<&'a str, FrameError>,
    ) -> Incoming<'a, SessionId> {
        self.peer.handle_line(line)
    }

    /// Answers a request.
    pub(crate) fn answer<R: Serialize>(&mut self, id: &RequestId, outcome: Result<R, ErrorObject>) {
        let outcome = outcome.and_then(|result| to_raw(&result));
        let outcome = outcome.as_ref().map(AsRef::as_ref).map_err(Clone::clone);
        match self.peer.respond(id, outcome) {
            Ok(response) => Message::from(response).to_line(&mut self.out),
            Err(error) => eprintln!("demo-agent: request {id} cannot be answered: {error}"),
        }
    }

    /// Writes an answer that is ready.
    pub(crate) fn reply(&mut self, response: Response<'_>) {
        Message::from(response).to_line(&mut self.out);
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
    ///
    /// # Errors
    /// Too much was asked that is not answered.
    pub(crate) fn ask(
        &mut self,
        session: &SessionId,
        method: &str,
        params: &Raw,
    ) -> Result<RequestId, ErrorObject> {
        let id = self
            .peer
            .register(session.clone(), None)
            .map_err(|error| ErrorObject::new(ErrorCode::INTERNAL_ERROR, error.to_string()))?;
        Message::from(Request::new(id.clone(), method, params.as_ref())).to_line(&mut self.out);
        Ok(id)
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
