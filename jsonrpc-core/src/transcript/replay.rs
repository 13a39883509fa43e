//! Replay of transcripts.
use super::{Direction, Entry};
use crate::framing::FrameError;
use crate::message::{Kind, Message, Notification, Request, Response};
use crate::peer::{LineError, Peer, PeerMessage, RegisterError, RespondError};
use crate::{ErrorCode, ErrorObject, RequestId};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

/// Replays a transcript on a [`Peer`], entry by entry: sent messages are registered again, and
/// received ones are handled again.
///
/// The same transcript and peer state give the same steps. Recorded requests receive new ids from
/// the peer, so that a transcript of any program can be replayed; their responses are matched.
///
/// To let deadlines pass, call [`Peer::poll_ended`] with the time of each step.
pub struct Replay<'a> {
    entries: alloc::vec::IntoIter<Entry<'a>>,
    entry: Option<Entry<'a>>,
    /// The peer's ids of sent requests, by recorded id.
    sent: BTreeMap<RequestId, RequestId>,
}

/// The result of a replayed entry.
#[derive(Debug)]
#[expect(
    clippy::exhaustive_enums,
    reason = "each kind of message, sent or received, has its variant"
)]
pub enum ReplayStep<'a, T> {
    /// The peer's result for a received message.
    Received(PeerMessage<'a, T>),
    /// An own request, with its new id.
    Request {
        /// The recorded request.
        request: Request<'a>,
        /// The new id, or why the request could not be sent.
        id: Result<RequestId, RegisterError>,
    },
    /// An own response.
    Response {
        /// The recorded response.
        response: Response<'a>,
        /// Whether there was a request to answer.
        outcome: Result<(), RespondError>,
    },
    /// An own notification.
    Notification(Notification<'a>),
    /// Sent bytes that are not a message.
    Sent(LineError),
}

impl<'a> Replay<'a> {
    /// Creates a replay of `entries`, in order.
    pub fn new(entries: impl IntoIterator<Item = Entry<'a>>) -> Self {
        let entries: Vec<_> = entries.into_iter().collect();
        Self { entries: entries.into_iter(), entry: None, sent: BTreeMap::new() }
    }

    /// Replays the next entry, and returns its time and result; `None` at the end. `token` provides
    /// the peer's token for an own request.
    pub fn step<T>(
        &mut self,
        peer: &mut Peer<T>,
        token: impl FnOnce(&Request<'_>) -> T,
    ) -> Option<(Duration, ReplayStep<'_, T>)> {
        let entry = self.entry.insert(self.entries.next()?);
        let bytes = &*entry.bytes;
        let line = core::str::from_utf8(bytes);
        let line = line.map_err(|error| FrameError::utf8(error.valid_up_to(), bytes));
        let replayed = match entry.direction {
            Direction::Sent => send(line, &mut self.sent, peer, token),
            Direction::Received => ReplayStep::Received(receive(line, &mut self.sent, peer)),
        };
        Some((entry.time, replayed))
    }
}

impl fmt::Debug for Replay<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replay").field("left", &self.entries.len()).finish_non_exhaustive()
    }
}

type Sent = BTreeMap<RequestId, RequestId>;

fn send<'a, T>(
    line: Result<&'a str, FrameError>,
    sent: &mut Sent,
    peer: &mut Peer<T>,
    token: impl FnOnce(&Request<'_>) -> T,
) -> ReplayStep<'a, T> {
    match line.map_err(LineError::from).and_then(|text| Ok(Message::decode(text)?)) {
        Ok(Message::Request(request)) => {
            let id = peer.register(token(&request), None);
            id.iter().for_each(|id| drop(sent.insert(request.id.clone(), id.clone())));
            ReplayStep::Request { request, id }
        }
        Ok(Message::Response(response)) => {
            let outcome = peer.respond(&response.id, response.outcome.clone()).map(drop);
            ReplayStep::Response { response, outcome }
        }
        Ok(Message::Notification(notification)) => ReplayStep::Notification(notification),
        Err(error) => ReplayStep::Sent(error),
    }
}

fn receive<'a, T>(
    line: Result<&'a str, FrameError>,
    sent: &mut Sent,
    peer: &mut Peer<T>,
) -> PeerMessage<'a, T> {
    match line.map_err(LineError::from).and_then(|text| Ok(Message::decode(text)?)) {
        Ok(Message::Response(response)) => match sent.remove(&response.id) {
            Some(id) => peer.handle_message(Response { id, ..response }.into()),
            None => PeerMessage::Unmatched(response),
        },
        Ok(message) => peer.handle_message(message),
        Err(error) => {
            let ended = error.id().filter(|_| error.kind() == Some(Kind::Response));
            let ended = ended.and_then(|id| sent.remove(id)).and_then(|id| end(&id, peer));
            PeerMessage::Malformed { reply: error.reply(), ended, error }
        }
    }
}

/// Ends an own request with an unreadable response.
fn end<T>(id: &RequestId, peer: &mut Peer<T>) -> Option<(RequestId, T)> {
    let error = ErrorObject::new(ErrorCode::INTERNAL_ERROR, "the response cannot be read");
    match peer.handle_message(Response::new(id.clone(), Err(error)).into()) {
        PeerMessage::Response { id, token, .. } => Some((id, token)),
        _ => None,
    }
}
