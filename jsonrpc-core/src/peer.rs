use crate::decode_error::DecodeError;
use crate::framing::FrameError;
use crate::id_map::IdMap;
use crate::member_reader::peek_member;
use crate::message::{Kind, Message, Notification, Request, Response};
use crate::peek::Peeked;
use crate::pending::Pending;
use crate::wire::Raw;
use crate::{ErrorCode, ErrorObject, RequestId, encode};
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;
use serde_json::value::RawValue;

/// Keeps requests and responses together, ours and theirs, for one connection.
///
/// It sends nothing, reads nothing and has no clock: tell it what came and when, ask what follows, and send what it
/// gives. All times count from one moment of the caller's choosing.
///
/// What holds, whatever the peer does:
/// - Each request of ours ends once: by its response, by a response that cannot be read, at its deadline, or when the
///   connection closes.
/// - Each request of theirs gets one response, ours or the one that refuses it, unless the connection closes before.
/// - Messages come out in the order they came in. A response never overtakes a notification that was sent before it, as
///   long as the caller sends what it is given in the order it is given.
/// - Nothing grows past the [`Limits`].
///
/// It takes messages one by one. The messages of a [batch](crate::Batch) are given to it one after the other, as
/// [`Batch::texts`](crate::Batch::texts) has them, and their answers sent together with
/// [`Batch::to_line`](crate::Batch::to_line).
///
/// ```
/// use core::time::Duration;
/// use jsonrpc_core::framing::Lines;
/// use jsonrpc_core::{CancelMethod, Incoming, Limits, Message, Peer, Request, RequestId};
/// use serde_json::value::to_raw_value;
///
/// let (mut peer, mut lines) = (Peer::new(CancelMethod::ACP, Limits::default()), Lines::default());
/// let (mut out, mut now) = (Vec::new(), Duration::ZERO);
///
/// // Ask. The token comes back with the answer; here it is a name.
/// let id = peer.register("sum", Some(now + Duration::from_secs(30)))?;
/// let params = to_raw_value(&[1, 2])?;
/// Message::from(Request::new(id, "add", &*params)).to_line(&mut out);
///
/// // What the transport has read, and what it read it from.
/// lines.push(b"{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"name\"}\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":3}\n");
/// let mut sum = None;
/// while let Some(line) = lines.next() {
///     match peer.handle_line(line) {
///         Incoming::Request(request) => {
///             let name = to_raw_value("adder")?;
///             let response = peer.respond(&request.id, Ok(&name))?;
///             Message::from(response).to_line(&mut out);
///         }
///         Incoming::Response { token: "sum", outcome, .. } => sum = Some(outcome?.get().to_owned()),
///         Incoming::Response { .. } | Incoming::Unmatched(_) => {}
///         Incoming::Notification(_) | Incoming::Cancelled { .. } => {}
///         Incoming::Refused { response, .. } => Message::from(response).to_line(&mut out),
///         Incoming::Malformed { reply, .. } => {
///             reply.into_iter().for_each(|reply| Message::from(reply).to_line(&mut out));
///         }
///     }
/// }
/// assert_eq!(sum.as_deref(), Some("3"));
///
/// // Sleep until then, unless something comes first.
/// assert_eq!(peer.poll_timeout(), None);
/// now += Duration::from_secs(31);
/// while let Some(ended) = peer.poll_ended(now) {
///     println!("no answer to {}: {:?}", ended.token, ended.reason);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Peer<T> {
    ours: Pending<T>,
    theirs: IdMap<Open>,
    cancel_method: CancelMethod,
    limits: Limits,
    state: State,
}

/// How far the connection is on its way to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum State {
    Open,
    /// No more requests of theirs are taken.
    Draining,
    /// Nothing comes any more.
    Ended,
    /// And nothing can be sent.
    Closed,
}

/// How a request of theirs stands that has no response yet.
#[derive(Debug, Default)]
struct Open {
    is_cancelled: bool,
}

/// How many requests may be open at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Of ours: more are not [registered](Peer::register).
    pub ours: usize,
    /// Of theirs: more are [refused](Incoming::Refused).
    pub theirs: usize,
}

impl Limits {
    /// The open requests that each side may have unless told otherwise.
    pub const DEFAULT_OPEN: usize = 1024;
}

impl Default for Limits {
    fn default() -> Self {
        Self { ours: Self::DEFAULT_OPEN, theirs: Self::DEFAULT_OPEN }
    }
}

/// The notification by which a protocol takes a request back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CancelMethod {
    /// Its method.
    pub method: &'static str,
    /// The member of its params that has the request's id.
    pub id_member: &'static str,
}

impl CancelMethod {
    /// `$/cancel_request`.
    ///
    /// Spec: [Cancellation](https://agentclientprotocol.com/protocol/v1/cancellation) (ACP v1)
    pub const ACP: Self = Self { method: "$/cancel_request", id_member: "requestId" };

    /// `notifications/cancelled`.
    ///
    /// Spec: [Cancellation](https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/cancellation)
    /// (MCP 2025-11-25)
    pub const MCP: Self = Self { method: "notifications/cancelled", id_member: "requestId" };
}

/// A notification to send: the peer may stop working on a request of ours.
#[derive(Clone, Debug, PartialEq)]
pub struct Cancellation {
    method: &'static str,
    params: Raw,
}

impl Cancellation {
    /// What to send.
    pub fn notification(&self) -> Notification<'_> {
        Notification::new(self.method, self.params.as_ref())
    }
}

/// What came from the peer.
#[derive(Debug)]
pub enum Incoming<'a, T> {
    /// A request of theirs, to be answered once with [`Peer::respond`].
    Request(Request<'a>),
    /// A notification. One that cancels a request which is not open comes as this too.
    Notification(Notification<'a>),
    /// The end of a request of ours.
    Response {
        /// The id of the request.
        id: RequestId,
        /// What the request was registered with.
        token: T,
        /// What came of it.
        outcome: Result<&'a RawValue, ErrorObject>,
    },
    /// They take back a request of theirs. It still has to be answered; [`ErrorCode::REQUEST_CANCELLED`] is for that.
    Cancelled {
        /// The id of the request.
        id: RequestId,
        /// As it came.
        notification: Notification<'a>,
    },
    /// A request of theirs that is not taken: too many are open, one of the same id is, or the connection is closing.
    Refused {
        /// The request.
        request: Request<'a>,
        /// The answer, to be sent.
        response: Response<'static>,
    },
    /// A response to no open request of ours: to none at all, to one that has ended, or an error about a message whose
    /// id the peer could not read.
    Unmatched(Response<'a>),
    /// A line that is not a message.
    Malformed {
        /// What is wrong with it.
        error: LineError,
        /// The answer that JSON-RPC asks for, to be sent.
        reply: Option<Response<'static>>,
        /// The request of ours that ends so: the line was its response.
        ended: Option<(RequestId, T)>,
    },
}

/// A line is not a message.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LineError {
    /// It could not be taken from the stream.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// It could not be read.
    #[error(transparent)]
    Decode(#[from] DecodeError),
}

impl LineError {
    /// What kind of message the line is, as far as that can be told.
    pub fn kind(&self) -> Option<Kind> {
        match self {
            Self::Frame(error) => error.kind(),
            Self::Decode(error) => error.kind(),
        }
    }

    /// The id of the message in the line, as far as that can be told.
    pub fn id(&self) -> Option<&RequestId> {
        match self {
            Self::Frame(error) => error.id(),
            Self::Decode(error) => error.id(),
        }
    }

    /// The error response that JSON-RPC asks for; notifications and responses are never answered.
    pub fn reply(&self) -> Option<Response<'static>> {
        match self {
            Self::Frame(error) => error.reply(),
            Self::Decode(error) => error.reply(),
        }
    }
}

/// A request of ours that ended without a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended<T> {
    /// The id of the request.
    pub id: RequestId,
    /// What the request was registered with.
    pub token: T,
    /// Why it ended.
    pub reason: EndReason,
}

/// Why a request ended without a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndReason {
    /// Its deadline passed. A response that comes later is [unmatched](Incoming::Unmatched).
    Expired,
    /// The connection closed, or nothing comes from it any more.
    Closed,
}

/// A request of ours cannot be sent now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegisterError {
    /// As many are open as [`Limits::ours`] allows.
    #[error("too many open requests")]
    Full,
    /// The connection is closed.
    #[error("connection closed")]
    Closed,
    /// One of this id is open, or the id is `null`.
    #[error("the id is taken")]
    Taken,
}

/// There is no open request of theirs with this id: it was answered, or never came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no open request has this id")]
pub struct NotOpen;

impl<T> Peer<T> {
    /// A connection on which nothing has happened yet.
    pub fn new(cancel_method: CancelMethod, limits: Limits) -> Self {
        let (ours, theirs) = (Pending::new(), IdMap::new());
        Self { ours, theirs, cancel_method, limits, state: State::Open }
    }

    /// Numbers a request of ours that is about to be sent, and keeps `token` for its end. At `deadline`, if there is
    /// one, it ends without a response.
    ///
    /// # Errors
    /// Too many requests are open, or the connection is closed; `token` is dropped.
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

    /// As [`register`](Self::register), under an id of the caller's: UUIDs, texts with a prefix, what another program
    /// gave out. Numbers that are given out pass over those that are taken so.
    ///
    /// ```
    /// use jsonrpc_core::{CancelMethod, Incoming, Limits, Peer, RegisterError};
    ///
    /// let mut peer = Peer::new(CancelMethod::ACP, Limits::default());
    /// peer.register_as("turn-7".into(), "prompt", None)?;
    /// assert_eq!(peer.register_as("turn-7".into(), "again", None), Err(RegisterError::Taken));
    /// let answer = peer.handle_line(Ok(r#"{"jsonrpc":"2.0","id":"turn-7","result":{}}"#));
    /// assert!(matches!(answer, Incoming::Response { token: "prompt", .. }));
    /// # Ok::<(), RegisterError>(())
    /// ```
    ///
    /// # Errors
    /// As of `register`, and [`RegisterError::Taken`] if a request of ours that is open has the id, or the id is `null`,
    /// by which peers tell of what belongs to no request.
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

    /// Takes a request of ours back, and gives the notification that says so; nothing if it has ended or was taken back
    /// before. The request stays open until it is answered: what was done before it stopped is in the response.
    pub fn cancel(&mut self, id: &RequestId) -> Option<Cancellation> {
        if !self.ours.cancel(id) {
            return None;
        }
        let CancelMethod { method, id_member } = self.cancel_method;
        let mut params = Vec::new();
        params.push(b'{');
        encode::string(id_member, &mut params);
        params.push(b':');
        id.write(&mut params);
        params.push(b'}');
        let params = Raw::from_text(String::from_utf8(params).ok()?).ok()?;
        Some(Cancellation { method, params })
    }

    /// Takes a line, as [`Lines::next`](crate::framing::Lines::next) gives it or as any other transport has it.
    pub fn handle_line<'a>(&mut self, line: Result<&'a str, FrameError>) -> Incoming<'a, T> {
        match line.map_err(LineError::Frame).and_then(|text| Ok(Message::decode(text)?)) {
            Ok(message) => self.handle_message(message),
            Err(error) => self.handle_malformed(error),
        }
    }

    /// Takes a line that was looked at before.
    pub fn handle_peeked<'a>(&mut self, peeked: &Peeked<'a>) -> Incoming<'a, T> {
        match peeked.message() {
            Ok(message) => self.handle_message(message),
            Err(error) => self.handle_malformed(LineError::Decode(error)),
        }
    }

    fn handle_malformed<'a>(&mut self, error: LineError) -> Incoming<'a, T> {
        let response_id = error.id().filter(|_| error.kind() == Some(Kind::Response));
        let ended = response_id.and_then(|id| self.ours.remove(id));
        Incoming::Malformed { reply: error.reply(), ended, error }
    }

    /// Takes a message.
    pub fn handle_message<'a>(&mut self, message: Message<'a>) -> Incoming<'a, T> {
        match message {
            Message::Request(request) => self.handle_request(request),
            Message::Notification(notification) => self.handle_notification(notification),
            Message::Response(response) => match self.ours.remove(&response.id) {
                Some((_, token)) => {
                    Incoming::Response { id: response.id, token, outcome: response.outcome }
                }
                None => Incoming::Unmatched(response),
            },
        }
    }

    /// Answers a request of theirs, and gives the response to send. Its id is written as the peer wrote it.
    ///
    /// # Errors
    /// No request of this id is open, so that no response may be sent.
    pub fn respond<'a>(
        &mut self,
        id: &RequestId,
        outcome: Result<&'a RawValue, ErrorObject>,
    ) -> Result<Response<'a>, NotOpen> {
        let (id, _) = self.theirs.remove(id).ok_or(NotOpen)?;
        Ok(Response::new(id, outcome))
    }

    /// Ends a request of ours that nobody waits for any more, and gives what it was registered with; nothing if it has
    /// ended. A response that comes later is [unmatched](Incoming::Unmatched).
    pub fn forget(&mut self, id: &RequestId) -> Option<T> {
        self.ours.remove(id).map(|(_, token)| token)
    }

    /// How many requests of ours are open.
    pub fn open_ours(&self) -> usize {
        self.ours.len()
    }

    /// How many requests of theirs are open.
    pub fn open_theirs(&self) -> usize {
        self.theirs.len()
    }

    /// Takes no more requests of theirs: each that comes from now on is [refused](Incoming::Refused). What is open stays
    /// so, and more of ours can be registered.
    pub fn drain(&mut self) {
        self.state = self.state.max(State::Draining);
    }

    /// Tells that nothing comes any more, while something can still be sent. Requests of ours end, see
    /// [`poll_ended`](Self::poll_ended); those of theirs can still be answered.
    pub fn handle_end(&mut self) {
        self.state = self.state.max(State::Ended);
    }

    /// Tells that nothing can be sent or received any more. Requests of ours end, see [`poll_ended`](Self::poll_ended);
    /// those of theirs are forgotten.
    pub fn handle_close(&mut self) {
        self.state = State::Closed;
        self.theirs.clear();
    }

    /// Takes a request of ours that ended without a response: its deadline has passed, or the connection is closed. Call
    /// it until it gives `None`.
    pub fn poll_ended(&mut self, now: Duration) -> Option<Ended<T>> {
        let ended = |reason| move |(id, token)| Ended { id, token, reason };
        if self.state >= State::Ended {
            return self.ours.remove_first().map(ended(EndReason::Closed));
        }
        self.ours.remove_expired(now).map(ended(EndReason::Expired))
    }

    /// When [`poll_ended`](Self::poll_ended) next has something to give, unless something happens before.
    pub fn poll_timeout(&self) -> Option<Duration> {
        if self.state >= State::Ended && self.ours.len() > 0 {
            return Some(Duration::ZERO);
        }
        self.ours.first_deadline()
    }

    /// Whether one more request of ours may be open.
    fn check_room(&self) -> Result<(), RegisterError> {
        if self.state >= State::Ended {
            return Err(RegisterError::Closed);
        }
        if self.ours.len() >= self.limits.ours {
            return Err(RegisterError::Full);
        }
        Ok(())
    }

    fn handle_request<'a>(&mut self, request: Request<'a>) -> Incoming<'a, T> {
        let error = if self.state >= State::Draining {
            ErrorObject::new(ErrorCode::INTERNAL_ERROR, "connection closing")
        } else if self.theirs.contains(&request.id) {
            ErrorObject::new(ErrorCode::INVALID_REQUEST, "a request of this id is open")
        } else if self.theirs.len() >= self.limits.theirs {
            ErrorObject::new(ErrorCode::INTERNAL_ERROR, "too many open requests")
        } else {
            self.theirs.insert(request.id.clone(), Open::default());
            return Incoming::Request(request);
        };
        let response = Response::new(request.id.clone(), Err(error));
        Incoming::Refused { request, response }
    }

    fn handle_notification<'a>(&mut self, notification: Notification<'a>) -> Incoming<'a, T> {
        match self.cancelled_by(&notification) {
            Some(id) => Incoming::Cancelled { id, notification },
            None => Incoming::Notification(notification),
        }
    }

    /// The request of theirs that a notification takes back, unless that was done before.
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
