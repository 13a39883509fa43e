//! The messages of a socket. It is read all the time, also during an answer, so that pings are
//! answered and a client that leaves is noticed.
use futures::{SinkExt, StreamExt};
use std::collections::VecDeque;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at, timeout};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_util::sync::CancellationToken;

/// Interval of pings.
pub(crate) const PING_TIME: Duration = Duration::from_secs(5);

/// Time without any frame after which the client has left.
pub(crate) const SILENCE: Duration = Duration::from_secs(11);

/// Maximum number of messages that wait for the end of an answer.
pub(crate) const MAX_WAITING: usize = 4;

/// Time for the last frame of a socket to be sent.
const CLOSE_TIME: Duration = Duration::from_secs(2);

/// Limits of a socket.
#[derive(Clone, Debug)]
pub struct SocketLimits {
    /// Time without a message and without an answer after which the socket is closed.
    pub idle: Duration,
    /// Closes the socket after the current answer and the waiting messages.
    pub ending: CancellationToken,
}

/// Reason of the end of a socket.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SocketEnd {
    #[error("the client has left")]
    Left,
    #[error("the client answers no pings")]
    Silent,
    #[error("no message arrived for a long time")]
    Idle,
    #[error("the server is ending")]
    Ending,
    #[error("more than {MAX_WAITING} messages wait for the end of an answer")]
    Overrun,
    #[error(transparent)]
    Failed(#[from] Error),
}

impl SocketEnd {
    /// Returns the code that the client receives, if it can receive one.
    fn code(&self) -> Option<CloseCode> {
        match self {
            Self::Idle => Some(CloseCode::Away),
            Self::Ending => Some(CloseCode::Restart),
            Self::Overrun => Some(CloseCode::Policy),
            Self::Failed(Error::Capacity(_)) => Some(CloseCode::Size),
            Self::Left | Self::Silent | Self::Failed(_) => None,
        }
    }
}

/// The messages of a socket.
pub(crate) struct Link<S> {
    socket: WebSocketStream<S>,
    limits: SocketLimits,
    waiting: VecDeque<Message>,
    pings: Interval,
    /// Time of the last frame of the client.
    seen: Instant,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Link<S> {
    pub(crate) fn new(socket: WebSocketStream<S>, limits: SocketLimits) -> Self {
        let now = Instant::now();
        let mut pings = interval_at(now + PING_TIME, PING_TIME);
        pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self { socket, limits, waiting: VecDeque::new(), pings, seen: now }
    }

    /// Returns the next message: text or binary.
    pub(crate) async fn next(&mut self) -> Result<Message, SocketEnd> {
        if let Some(message) = self.waiting.pop_front() {
            return Ok(message);
        }
        let SocketLimits { idle, ending } = self.limits.clone();
        tokio::select! {
            message = timeout(idle, self.read()) => message.unwrap_or(Err(SocketEnd::Idle)),
            () = ending.cancelled() => Err(SocketEnd::Ending),
        }
    }

    /// Waits for the end of the socket during an answer. Messages of the client wait.
    pub(crate) async fn closed(&mut self) -> SocketEnd {
        loop {
            match self.read().await {
                Ok(_) if self.waiting.len() == MAX_WAITING => return SocketEnd::Overrun,
                Ok(message) => self.waiting.push_back(message),
                Err(ended) => return ended,
            }
        }
    }

    pub(crate) async fn send(&mut self, text: String) -> Result<(), SocketEnd> {
        Ok(self.socket.send(Message::text(text)).await?)
    }

    /// Reads up to the next message, and sends pings in between.
    async fn read(&mut self) -> Result<Message, SocketEnd> {
        loop {
            tokio::select! {
                frame = self.socket.next() => {
                    self.seen = Instant::now();
                    match frame {
                        Some(Ok(message @ (Message::Text(_) | Message::Binary(_)))) => return Ok(message),
                        Some(Ok(Message::Close(_))) | None => return Err(SocketEnd::Left),
                        Some(Err(error)) => return Err(error.into()),
                        Some(Ok(_)) => {}
                    }
                }
                _ = self.pings.tick() => {
                    if self.seen.elapsed() >= SILENCE {
                        return Err(SocketEnd::Silent);
                    }
                    self.socket.send(Message::Ping(bytes::Bytes::new())).await?;
                }
            }
        }
    }

    /// Closes the socket with the code of its end.
    pub(crate) async fn close(mut self, ended: &SocketEnd) {
        let Some(code) = ended.code() else { return };
        let frame = CloseFrame { code, reason: ended.to_string().into() };
        let closing = async {
            self.socket.close(Some(frame)).await?;
            // The close frame of the client ends the stream. Data that is not read would reset the
            // connection before.
            while self.socket.next().await.transpose()?.is_some() {}
            Ok::<_, Error>(())
        };
        if !matches!(timeout(CLOSE_TIME, closing).await, Ok(Ok(()))) {
            tracing::debug!("the client has not confirmed the end of its WebSocket");
        }
    }
}
