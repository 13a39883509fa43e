//! Correlation of requests and responses.
mod cancel;
mod ended;
mod incoming;

pub use cancel::{CancelMethod, Cancellation};
pub use ended::{EndReason, RegisterError, RespondError, UnansweredRequest};
pub use incoming::{LineError, PeerMessage};

use crate::framing::FrameError;
use crate::id_map::IdMap;
use crate::member_reader::peek_member;
use crate::message::{Kind, Message, Notification, Request, Response};
use crate::peek::PeekedMessage;
use crate::pending::PendingRequests;
use crate::wire::Raw;
use crate::{ErrorCode, ErrorObject, RequestId, json_text};
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;
use serde_json::value::RawValue;

/// Correlates requests and responses of one connection, in both directions.
///
/// It performs no I/O and reads no clock: pass in received messages with their time, and send what
/// it returns. All times are offsets from one epoch of the caller's choice.
///
/// The machine guarantees, for any peer:
/// - Each own request ends once: by its response, by an unreadable response, at its deadline, when
///   the caller forgets it, or when the connection closes.
/// - Each request of the peer has one response, from the caller or a refusal, unless the connection
///   closes first.
/// - Messages are returned in order of arrival. A response never overtakes an earlier notification,
///   if the caller sends everything in the order it was returned.
/// - Memory is bounded by the [`RequestLimits`].
///
/// It handles messages one by one. Pass in the messages of a [batch](crate::Batch) in order, from
/// [`Batch::texts`](crate::Batch::texts), and send their responses together with
/// [`Batch::to_line`](crate::Batch::to_line).
///
/// ```
/// use core::time::Duration;
/// use jsonrpc_core::framing::Lines;
/// use jsonrpc_core::{CancelMethod, Message, Peer, PeerMessage, Request, RequestId, RequestLimits};
/// use serde_json::value::to_raw_value;
///
/// let (mut peer, mut lines) = (Peer::new(CancelMethod::ACP, RequestLimits::default()), Lines::default());
/// let (mut out, mut now) = (Vec::new(), Duration::ZERO);
///
/// // Send a request. Its token, here a name, is returned with the response.
/// let id = peer.register("sum", Some(now + Duration::from_secs(30)))?;
/// let params = to_raw_value(&[1, 2])?;
/// Message::from(Request::new(id, "add", &*params)).to_line(&mut out);
///
/// // Bytes that the transport has read.
/// lines.push(b"{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"name\"}\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":3}\n");
/// let mut sum = None;
/// while let Some(line) = lines.next() {
///     match peer.handle_line(line) {
///         PeerMessage::Request(request) => {
///             let name = to_raw_value("adder")?;
///             let response = peer.respond(&request.id, Ok(&name))?;
///             Message::from(response).to_line(&mut out);
///         }
///         PeerMessage::Response { token: "sum", outcome, .. } => sum = Some(outcome?.get().to_owned()),
///         PeerMessage::Response { .. } | PeerMessage::Unmatched(_) => {}
///         PeerMessage::Notification(_) | PeerMessage::Cancelled { .. } => {}
///         PeerMessage::Refused { response, .. } => Message::from(response).to_line(&mut out),
///         PeerMessage::Malformed { reply, .. } => {
///             reply.into_iter().for_each(|reply| Message::from(reply).to_line(&mut out));
///         }
///     }
/// }
/// assert_eq!(sum.as_deref(), Some("3"));
///
/// // Sleep until the deadline, unless a message arrives first.
/// assert_eq!(peer.poll_timeout(), None);
/// now += Duration::from_secs(31);
/// while let Some(ended) = peer.poll_ended(now) {
///     println!("no answer to {}: {:?}", ended.token, ended.reason);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Peer<T> {
    ours: PendingRequests<T>,
    theirs: IdMap<PeerRequest>,
    cancel_method: CancelMethod,
    limits: RequestLimits,
    closing: ConnectionState,
}

/// The state of closing the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ConnectionState {
    Open,
    /// Further requests of the peer are refused.
    Draining,
    /// No further message arrives.
    Ended,
    /// No message can be sent either.
    Closed,
}

/// An open request of the peer.
#[derive(Debug, Default)]
struct PeerRequest {
    is_cancelled: bool,
}

/// Largest numbers of open requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestLimits {
    /// Own requests: further ones are not [registered](Peer::register).
    pub ours: usize,
    /// Requests of the peer: further ones are [refused](PeerMessage::Refused).
    pub theirs: usize,
}

impl RequestLimits {
    /// Default largest number of open requests of each side.
    pub const DEFAULT_OPEN: usize = 1024;
}

impl Default for RequestLimits {
    fn default() -> Self {
        Self { ours: Self::DEFAULT_OPEN, theirs: Self::DEFAULT_OPEN }
    }
}

impl<T> Peer<T> {
    /// Creates a connection in its initial state.
    pub fn new(cancel_method: CancelMethod, limits: RequestLimits) -> Self {
        let ours = PendingRequests::new();
        let theirs = IdMap::new();
        Self { ours, theirs, cancel_method, limits, closing: ConnectionState::Open }
    }

    /// Assigns an id to a request that is about to be sent, and stores `token` until its end. It
    /// ends without a response at `deadline`, if given.
    ///
    /// # Errors
    /// Too many requests are open, or the connection is closed. `token` is dropped.
    pub fn register(
        &mut self,
        token: T,
        deadline: Option<Duration>,
    ) -> Result<RequestId, RegisterError> {
        self.check_room()?;
        let id = self.ours.number();
        self.ours.insert(id.clone(), token, deadline);
        Ok(id)
    }

    /// As [`register`](Self::register), with an id of the caller's choice, such as a UUID or an id
    /// of another program. Assigned numbers skip the ids in use.
    ///
    /// ```
    /// use jsonrpc_core::{CancelMethod, Peer, PeerMessage, RegisterError, RequestLimits};
    ///
    /// let mut peer = Peer::new(CancelMethod::ACP, RequestLimits::default());
    /// peer.register_as("turn-7".into(), "prompt", None)?;
    /// assert_eq!(peer.register_as("turn-7".into(), "again", None), Err(RegisterError::Taken));
    /// let answer = peer.handle_line(Ok(r#"{"jsonrpc":"2.0","id":"turn-7","result":{}}"#));
    /// assert!(matches!(answer, PeerMessage::Response { token: "prompt", .. }));
    /// # Ok::<(), RegisterError>(())
    /// ```
    ///
    /// # Errors
    /// As for `register`, and [`RegisterError::Taken`] if an open own request has the id, or the id
    /// is `null`, which peers use for messages without a request.
    pub fn register_as(
        &mut self,
        id: RequestId,
        token: T,
        deadline: Option<Duration>,
    ) -> Result<(), RegisterError> {
        self.check_room()?;
        if id.is_null() || self.ours.is_waiting(&id) {
            return Err(RegisterError::Taken);
        }
        self.ours.insert(id, token, deadline);
        Ok(())
    }

    /// Cancels an own request, and returns the notification to send; `None` if the request has
    /// ended or is already cancelled. The request stays open until it is answered, since the
    /// response may have a partial result.
    pub fn cancel(&mut self, id: &RequestId) -> Option<Cancellation> {
        if !self.ours.cancel(id) {
            return None;
        }
        let CancelMethod { method, id_member } = self.cancel_method;
        let mut params = Vec::new();
        params.push(b'{');
        json_text::string(id_member, &mut params);
        params.push(b':');
        id.write(&mut params);
        params.push(b'}');
        let params = Raw::from_text(String::from_utf8(params).ok()?).ok()?;
        Some(Cancellation { method, params })
    }

    /// Handles a line, as returned by [`Lines::next`](crate::framing::Lines::next) or another
    /// transport.
    pub fn handle_line<'a>(&mut self, line: Result<&'a str, FrameError>) -> PeerMessage<'a, T> {
        match line.map_err(LineError::Frame).and_then(|text| Ok(Message::decode(text)?)) {
            Ok(message) => self.handle_message(message),
            Err(error) => self.handle_malformed(error),
        }
    }

    /// Handles a peeked line.
    pub fn handle_peeked<'a>(&mut self, peeked: &PeekedMessage<'a>) -> PeerMessage<'a, T> {
        match peeked.message() {
            Ok(message) => self.handle_message(message),
            Err(error) => self.handle_malformed(LineError::Decode(error)),
        }
    }

    fn handle_malformed<'a>(&mut self, error: LineError) -> PeerMessage<'a, T> {
        let response_id = error.id().filter(|_| error.kind() == Some(Kind::Response));
        let ended = response_id.and_then(|id| self.ours.remove(id));
        PeerMessage::Malformed { reply: error.reply(), ended, error }
    }

    /// Handles a message.
    pub fn handle_message<'a>(&mut self, message: Message<'a>) -> PeerMessage<'a, T> {
        match message {
            Message::Request(request) => self.handle_request(request),
            Message::Notification(notification) => self.handle_notification(notification),
            Message::Response(response) => match self.ours.remove(&response.id) {
                Some((_, token)) => {
                    PeerMessage::Response { id: response.id, token, outcome: response.outcome }
                }
                None => PeerMessage::Unmatched(response),
            },
        }
    }

    /// Answers a request of the peer, and returns the response to send. The id is written as the
    /// peer wrote it.
    ///
    /// # Errors
    /// No request with this id is open, so no response may be sent.
    pub fn respond<'a>(
        &mut self,
        id: &RequestId,
        outcome: Result<&'a RawValue, ErrorObject>,
    ) -> Result<Response<'a>, RespondError> {
        let (id, _) = self.theirs.remove(id).ok_or(RespondError)?;
        Ok(Response::new(id, outcome))
    }

    /// Ends an own request without waiting for its response, and returns its token; `None` if it
    /// has ended. A later response is [unmatched](PeerMessage::Unmatched).
    pub fn forget(&mut self, id: &RequestId) -> Option<T> {
        self.ours.remove(id).map(|(_, token)| token)
    }

    /// Returns the number of open own requests.
    pub fn open_ours(&self) -> usize {
        self.ours.len()
    }

    /// Returns the number of open requests of the peer.
    pub fn open_theirs(&self) -> usize {
        self.theirs.len()
    }

    /// Refuses further requests of the peer: each is [refused](PeerMessage::Refused). Open requests
    /// stay open, and own requests can still be registered.
    pub fn drain(&mut self) {
        self.closing = self.closing.max(ConnectionState::Draining);
    }

    /// Handles the end of the peer's messages, while messages can still be sent. Own requests end,
    /// see [`poll_ended`](Self::poll_ended); requests of the peer can still be answered.
    pub fn handle_end(&mut self) {
        self.closing = self.closing.max(ConnectionState::Ended);
    }

    /// Handles the end of the connection. Own requests end, see [`poll_ended`](Self::poll_ended);
    /// requests of the peer are dropped.
    pub fn handle_close(&mut self) {
        self.closing = ConnectionState::Closed;
        self.theirs.clear();
    }

    /// Returns an own request that ended without a response: its deadline has passed, or the
    /// connection is closed. Call until it returns `None`.
    pub fn poll_ended(&mut self, now: Duration) -> Option<UnansweredRequest<T>> {
        let ended = |reason| move |(id, token)| UnansweredRequest { id, token, reason };
        if self.closing >= ConnectionState::Ended {
            return self.ours.remove_first().map(ended(EndReason::Closed));
        }
        self.ours.remove_expired(now).map(ended(EndReason::Expired))
    }

    /// Returns when [`poll_ended`](Self::poll_ended) has to be called next.
    pub fn poll_timeout(&self) -> Option<Duration> {
        if self.closing >= ConnectionState::Ended && self.ours.len() > 0 {
            return Some(Duration::ZERO);
        }
        self.ours.first_deadline()
    }

    /// Checks that another own request may be open.
    fn check_room(&self) -> Result<(), RegisterError> {
        if self.closing >= ConnectionState::Ended {
            return Err(RegisterError::Closed);
        }
        if self.ours.len() >= self.limits.ours {
            return Err(RegisterError::Full);
        }
        Ok(())
    }

    fn handle_request<'a>(&mut self, request: Request<'a>) -> PeerMessage<'a, T> {
        let error = if self.closing >= ConnectionState::Draining {
            ErrorObject::new(ErrorCode::INTERNAL_ERROR, "connection closing")
        } else if self.theirs.contains(&request.id) {
            ErrorObject::new(ErrorCode::INVALID_REQUEST, "a request with this id is open")
        } else if self.theirs.len() >= self.limits.theirs {
            ErrorObject::new(ErrorCode::INTERNAL_ERROR, "too many open requests")
        } else {
            self.theirs.insert(request.id.clone(), PeerRequest::default());
            return PeerMessage::Request(request);
        };
        let response = Response::new(request.id.clone(), Err(error));
        PeerMessage::Refused { request, response }
    }

    fn handle_notification<'a>(&mut self, notification: Notification<'a>) -> PeerMessage<'a, T> {
        match self.cancelled_by(&notification) {
            Some(id) => PeerMessage::Cancelled { id, notification },
            None => PeerMessage::Notification(notification),
        }
    }

    /// Returns the peer's request that a notification cancels, unless it was cancelled before.
    fn cancelled_by(&mut self, notification: &Notification<'_>) -> Option<RequestId> {
        if notification.method != self.cancel_method.method {
            return None;
        }
        let id = peek_member(notification.params?.get(), self.cancel_method.id_member).ok()??;
        let id = RequestId::from_text(id)?;
        let open = self.theirs.get_mut(&id).filter(|open| !open.is_cancelled)?;
        open.is_cancelled = true;
        Some(id)
    }
}
