//! The part that the connections of both sides share: open requests and calls, and what waits to be
//! sent or polled.
mod call;
mod diagnostics;
mod error;
mod key;
mod outgoing;
mod received;

pub use call::{Call, Reply};
pub use diagnostics::{Diagnostic, Problem};
pub use error::{AuthMethods, CallError, CloseReason, RepeatedAnswer, UnsupportedVersion};
pub use key::{CallKey, RequestKey, SessionKey, TurnKey};
pub use outgoing::{Purpose, Transmit};
pub use received::ReceivedValue;

pub(crate) use diagnostics::Diagnostics;
pub(crate) use outgoing::{OutgoingLines, SessionClose, line, notification};
pub(crate) use received::{raw_or_empty, session_id, string};

use crate::inbox::{Inbox, Room, Weigh};
use crate::sorted_map::SortedMap;
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::string::ToString;
use alloc::vec::Vec;
use jsonrpc_core::wire::{DecodeError, DecodedValue, Raw};
use jsonrpc_core::{
    CancelMethod, ErrorCode, ErrorObject, Notification, Peer, PeerMessage, Request, RequestId,
};
use serde_json::value::RawValue;

/// Limits of an [`Endpoint`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    pub(crate) requests: usize,
    pub(crate) calls: usize,
    pub(crate) replies: usize,
    pub(crate) diagnostics: usize,
    pub(crate) events: Room,
}

/// An event that was not polled.
pub(crate) trait Event: Weigh {
    /// The result of a call.
    type Response;

    fn call_ended(
        key: CallKey,
        outcome: Result<Box<ReceivedValue<Self::Response>>, CallError>,
    ) -> Self;
}

/// A side of a connection. `T` is the purpose of an own request, `R` what is known of a request of
/// the peer, and `E` an event outside of sessions.
#[derive(Debug)]
pub(crate) struct Endpoint<T, R, E> {
    pub(crate) peer: Peer<T>,
    pub(crate) requests: Requests<R>,
    /// Calls that were sent.
    pub(crate) calls: SortedMap<CallKey, RequestId>,
    pub(crate) outgoing: OutgoingLines,
    pub(crate) inbox: Inbox<E>,
    pub(crate) diagnostics: Diagnostics,
    pub(crate) closed: Option<CloseReason>,
    pub(crate) is_closed_polled: bool,
    /// Number of calls with an end that was not polled.
    unpolled_calls: usize,
    pub(crate) next_key: u64,
    bounds: Bounds,
}

/// Open requests of the peer, by key and by id.
#[derive(Debug)]
pub(crate) struct Requests<R> {
    open: SortedMap<RequestKey, (RequestId, R)>,
    by_id: SortedMap<RequestId, RequestKey>,
}

/// A request that the machine answers, and its answer.
pub(crate) struct Refusal {
    pub(crate) problem: Problem,
    pub(crate) answer: Result<Raw, ErrorObject>,
}

impl Refusal {
    pub(crate) fn params(error: DecodeError) -> Self {
        let answer = Err(ErrorObject::new(ErrorCode::INVALID_PARAMS, error.to_string()));
        Self { problem: Problem::Params(error), answer }
    }

    /// Refuses a request for which there is no room.
    pub(crate) fn full() -> Self {
        let message = "too many messages are waiting";
        let answer = Err(ErrorObject::new(ErrorCode::INTERNAL_ERROR, message));
        Self { problem: Problem::Limit, answer }
    }
}

impl<T, R, E: Event> Endpoint<T, R, E> {
    pub(crate) fn new(bounds: Bounds) -> Self {
        // Calls have a limit of their own, and each session may have one open request and one to
        // close.
        let limits = jsonrpc_core::RequestLimits { ours: usize::MAX, theirs: bounds.requests };
        Self {
            peer: Peer::new(CancelMethod::ACP, limits),
            requests: Requests { open: SortedMap::default(), by_id: SortedMap::default() },
            calls: SortedMap::default(),
            outgoing: OutgoingLines::default(),
            inbox: Inbox::default(),
            diagnostics: Diagnostics::new(bounds.diagnostics),
            closed: None,
            is_closed_polled: false,
            unpolled_calls: 0,
            next_key: 0,
            bounds,
        }
    }

    /// Returns the number of a new key.
    pub(crate) fn number(&mut self) -> u64 {
        self.next_key += 1;
        self.next_key
    }

    pub(crate) fn push(&mut self, event: E) {
        self.inbox.push(event, self.bounds.events);
    }

    /// Returns whether a request of this size fits.
    pub(crate) fn has_room_for(&self, size: usize) -> bool {
        self.inbox.has_room_for(size, self.bounds.events)
    }

    /// Returns the number of own requests without an answer, and of calls with an end that was not
    /// polled.
    pub(crate) fn open_calls(&self) -> usize {
        self.peer.open_ours().max(self.unpolled_calls)
    }

    /// Records that the end of a call was polled.
    pub(crate) fn call_polled(&mut self) {
        self.unpolled_calls = self.unpolled_calls.saturating_sub(1);
    }

    /// Returns whether the peer sends requests without reading the answers.
    pub(crate) fn is_congested(&self) -> bool {
        self.outgoing.replies() > self.bounds.replies
    }

    pub(crate) fn check_open(&self) -> Result<(), CallError> {
        match &self.closed {
            Some(reason) => Err(CallError::Closed(reason.clone())),
            None => Ok(()),
        }
    }

    /// Makes a call by `send`, which sends its request. An error is reported as the end of the
    /// call.
    pub(crate) fn call(
        &mut self,
        call: Call,
        send: impl FnOnce(&mut Self, CallKey, Call) -> Result<RequestId, CallError>,
    ) -> CallKey {
        let key = CallKey::new(self.number());
        if self.is_closed_polled {
            return key;
        }
        self.unpolled_calls += 1;
        let request = match self.check_open() {
            Ok(()) if self.unpolled_calls > self.bounds.calls => Err(CallError::Full),
            open => open.and_then(|()| send(self, key, call)),
        };
        match request {
            Ok(id) => self.calls.insert(key, id),
            Err(error) => self.push(E::call_ended(key, Err(error))),
        }
        key
    }

    /// Ends a call with the result of `method`, which `decode` reads.
    pub(crate) fn end_call(
        &mut self,
        key: CallKey,
        method: &str,
        outcome: Result<&RawValue, CallError>,
        decode: impl FnOnce(&str, &RawValue) -> Result<DecodedValue<E::Response>, DecodeError>,
    ) {
        self.calls.remove(&key);
        let outcome = outcome.and_then(|result| {
            let value = self.diagnostics.tolerate(method, decode(method, result));
            let value = value.map_err(CallError::Invalid)?;
            Ok(Box::new(ReceivedValue::new(value, Raw::from(result))))
        });
        self.push(E::call_ended(key, outcome));
    }

    /// Withdraws a call, once. Its end still follows.
    pub(crate) fn withdraw(&mut self, call: CallKey) {
        let cancellation = self.calls.get(&call).and_then(|id| self.peer.cancel(id));
        if let Some(cancellation) = cancellation {
            self.outgoing.push(cancellation.notification(), Purpose::Notification);
        }
    }

    /// Sends a complete notification line.
    pub(crate) fn notify_line(&mut self, line: Vec<u8>) -> Result<(), CallError> {
        self.check_open()?;
        self.outgoing.push_line(line, Purpose::Notification);
        Ok(())
    }

    /// Answers a request for the program.
    pub(crate) fn reply(&mut self, key: RequestKey, reply: Reply) -> Result<(), RepeatedAnswer> {
        let (id, _) = self.requests.remove(key).ok_or(RepeatedAnswer)?;
        self.respond(key, &id, reply.into_outcome());
        Ok(())
    }

    pub(crate) fn respond(
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

    pub(crate) fn refuse(&mut self, key: RequestKey, request: &Request<'_>, refusal: Refusal) {
        let Refusal { problem, answer } = refusal;
        let method = request.method.clone().into_owned();
        self.diagnostics.push(Diagnostic::Refused { method, problem });
        self.respond(key, &request.id, answer);
    }

    /// Takes a decoded notification, or reports that it is invalid.
    pub(crate) fn read<N>(
        &mut self,
        notification: &Notification<'_>,
        decoded: Result<DecodedValue<N>, DecodeError>,
    ) -> Option<Box<ReceivedValue<N>>> {
        let method = &*notification.method;
        match self.diagnostics.tolerate(method, decoded) {
            Ok(value) => {
                Some(Box::new(ReceivedValue::new(value, raw_or_empty(notification.params))))
            }
            Err(error) => {
                self.diagnostics.push(Diagnostic::Undecodable { method: method.to_owned(), error });
                None
            }
        }
    }

    /// Handles a message that belongs to nothing open. Returns the purpose of the own request that
    /// a malformed line ends.
    pub(crate) fn handle_stray(&mut self, incoming: PeerMessage<'_, T>) -> Option<(T, CallError)> {
        match incoming {
            PeerMessage::Refused { request, response } => {
                self.outgoing.push(response, Purpose::Refusal);
                let method = request.method.into_owned();
                let problem = Problem::Limit;
                self.diagnostics.push(Diagnostic::Refused { method, problem });
            }
            PeerMessage::Unmatched(response) => {
                self.diagnostics.push(Diagnostic::Unmatched { id: response.id });
            }
            PeerMessage::Malformed { error, reply, ended } => {
                if let Some(reply) = reply {
                    self.outgoing.push(reply, Purpose::Refusal);
                }
                let error = error.to_string();
                self.diagnostics.push(Diagnostic::Malformed { error: error.clone() });
                return ended.map(|(_, token)| (token, CallError::Malformed(error)));
            }
            _ => {}
        }
        None
    }

    /// Returns why the connection is closed, once, as its last event.
    pub(crate) fn poll_closed(&mut self) -> Option<CloseReason> {
        let reason = self.closed.as_ref().filter(|_| !self.is_closed_polled)?.clone();
        self.is_closed_polled = true;
        Some(reason)
    }
}

impl<R> Requests<R> {
    pub(crate) fn insert(&mut self, key: RequestKey, id: RequestId, request: R) {
        self.by_id.insert(id.clone(), key);
        self.open.insert(key, (id, request));
    }

    pub(crate) fn remove(&mut self, key: RequestKey) -> Option<(RequestId, R)> {
        let (id, request) = self.open.remove(&key)?;
        self.by_id.remove(&id);
        Some((id, request))
    }

    pub(crate) fn find(&self, id: &RequestId) -> Option<RequestKey> {
        self.by_id.get(id).copied()
    }

    pub(crate) fn id(&self, key: RequestKey) -> Option<&RequestId> {
        self.open.get(&key).map(|(id, _)| id)
    }

    pub(crate) fn get_mut(&mut self, key: RequestKey) -> Option<&mut R> {
        self.open.get_mut(&key).map(|(_, request)| request)
    }

    pub(crate) fn len(&self) -> usize {
        self.open.len()
    }

    /// Returns the keys of some requests.
    pub(crate) fn keys(&self, picks: impl Fn(&R) -> bool) -> Vec<RequestKey> {
        let picked = self.open.iter().filter(|(_, (_, request))| picks(request));
        picked.map(|(key, _)| *key).collect()
    }

    pub(crate) fn clear(&mut self) {
        self.open.clear();
        self.by_id.clear();
    }
}
