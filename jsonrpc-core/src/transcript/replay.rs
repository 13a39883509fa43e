use super::{Direction, Entry};
use crate::framing::FrameError;
use crate::message::{Kind, Message, Notification, Request, Response};
use crate::peer::{Incoming, LineError, NotOpen, Peer, RegisterError};
use crate::{ErrorCode, ErrorObject, RequestId};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

/// Plays a transcript to a [`Peer`], entry by entry: what was sent is sent again as far as the peer keeps account of it,
/// what was received comes in again.
///
/// The same transcript and a peer in the same state give the same steps. The recorded requests get the ids that the peer
/// gives them, so that a transcript of any program can be replayed; their responses find them all the same.
///
/// Deadlines pass if the caller lets them: call [`Peer::poll_ended`] with the time of each step.
pub struct Replay<'a> {
    entries: alloc::vec::IntoIter<Entry<'a>>,
    entry: Option<Entry<'a>>,
    /// The peer's id of each request that was sent, by the recorded one.
    sent: BTreeMap<RequestId, RequestId>,
}

/// What an entry of a transcript came out as.
#[derive(Debug)]
pub enum Replayed<'a, T> {
    /// What the peer made of something received.
    Received(Incoming<'a, T>),
    /// A request of ours, and the id that it has now.
    Asked {
        /// As it was recorded.
        request: Request<'a>,
        /// Its id now; or why it could not be sent.
        id: Result<RequestId, RegisterError>,
    },
    /// A response of ours.
    Answered {
        /// As it was recorded.
        response: Response<'a>,
        /// Whether there was a request to answer.
        outcome: Result<(), NotOpen>,
    },
    /// A notification of ours.
    Told(Notification<'a>),
    /// Something that we sent, and that was no message.
    Sent(LineError),
}

impl<'a> Replay<'a> {
    /// Plays `entries` in their order.
    pub fn new(entries: impl IntoIterator<Item = Entry<'a>>) -> Self {
        let entries: Vec<_> = entries.into_iter().collect();
        Self { entries: entries.into_iter(), entry: None, sent: BTreeMap::new() }
    }

    /// Plays the next entry, and tells when it was recorded and what came of it; nothing at the end. `token` gives what
    /// the peer keeps for a request of ours.
    pub fn step<T>(
        &mut self,
        peer: &mut Peer<T>,
        token: impl FnOnce(&Request<'_>) -> T,
    ) -> Option<(Duration, Replayed<'_, T>)> {
        let entry = self.entry.insert(self.entries.next()?);
        let bytes = &*entry.bytes;
        let line = core::str::from_utf8(bytes);
        let line = line.map_err(|error| FrameError::utf8(error.valid_up_to(), bytes));
        let replayed = match entry.direction {
            Direction::Sent => send(line, &mut self.sent, peer, token),
            Direction::Received => Replayed::Received(receive(line, &mut self.sent, peer)),
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
) -> Replayed<'a, T> {
    match line.map_err(LineError::from).and_then(|text| Ok(Message::decode(text)?)) {
        Ok(Message::Request(request)) => {
            let id = peer.register(token(&request), None);
            id.iter().for_each(|id| drop(sent.insert(request.id.clone(), id.clone())));
            Replayed::Asked { request, id }
        }
        Ok(Message::Response(response)) => {
            let outcome = peer.respond(&response.id, response.outcome.clone()).map(drop);
            Replayed::Answered { response, outcome }
        }
        Ok(Message::Notification(notification)) => Replayed::Told(notification),
        Err(error) => Replayed::Sent(error),
    }
}

fn receive<'a, T>(
    line: Result<&'a str, FrameError>,
    sent: &mut Sent,
    peer: &mut Peer<T>,
) -> Incoming<'a, T> {
    match line.map_err(LineError::from).and_then(|text| Ok(Message::decode(text)?)) {
        Ok(Message::Response(response)) => match sent.remove(&response.id) {
            Some(id) => peer.handle_message(Response { id, ..response }.into()),
            None => Incoming::Unmatched(response),
        },
        Ok(message) => peer.handle_message(message),
        Err(error) => {
            let ended = error.id().filter(|_| error.kind() == Some(Kind::Response));
            let ended = ended.and_then(|id| sent.remove(id)).and_then(|id| end(&id, peer));
            Incoming::Malformed { reply: error.reply(), ended, error }
        }
    }
}

/// Ends a request of ours whose response cannot be read.
fn end<T>(id: &RequestId, peer: &mut Peer<T>) -> Option<(RequestId, T)> {
    let error = ErrorObject::new(ErrorCode::INTERNAL_ERROR, "the response cannot be read");
    match peer.handle_message(Response::new(id.clone(), Err(error)).into()) {
        Incoming::Response { id, token, .. } => Some((id, token)),
        _ => None,
    }
}
