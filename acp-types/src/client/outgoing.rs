//! Lines that wait to be transmitted.
use super::{CallKey, RequestKey, SessionKey, TurnKey};
use crate::methods::NotificationParams;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use jsonrpc_core::{Message, RequestId};

/// A line to transmit, with its line end and its purpose.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Transmit {
    /// The line.
    pub line: Vec<u8>,
    /// The purpose, for example to find the telemetry span of the line.
    pub purpose: Purpose,
}

/// The purpose of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Purpose {
    /// `initialize`.
    Initialize,
    /// A session request, or the `session/close` of a released session.
    Session(SessionKey),
    /// The prompt that begins a turn.
    Prompt(SessionKey, TurnKey),
    /// The cancellation of a turn.
    Cancel(SessionKey, TurnKey),
    /// A call.
    Call(CallKey),
    /// A notification of the program.
    Notification,
    /// The response to a request of the agent.
    Reply(RequestKey),
    /// A response of the machine to an invalid or refused message.
    Refusal,
}

/// Lines that wait to be transmitted.
#[derive(Debug, Default)]
pub(crate) struct Outgoing {
    lines: VecDeque<Transmit>,
    /// Calls that wait for the response to `initialize`.
    held: VecDeque<(RequestId, Transmit)>,
    /// Number of responses to the agent.
    replies: usize,
}

impl Outgoing {
    pub(crate) fn push<'a>(&mut self, message: impl Into<Message<'a>>, purpose: Purpose) {
        self.push_line(line(message), purpose);
    }

    /// Queues a line with its line end.
    pub(crate) fn push_line(&mut self, line: Vec<u8>, purpose: Purpose) {
        self.replies += usize::from(purpose.is_reply());
        self.lines.push_back(Transmit { line, purpose });
    }

    /// Queues a call that is sent after the response to `initialize`.
    pub(crate) fn hold<'a>(
        &mut self,
        id: RequestId,
        message: impl Into<Message<'a>>,
        purpose: Purpose,
    ) {
        self.held.push_back((id, Transmit { line: line(message), purpose }));
    }

    /// Sends the held calls.
    pub(crate) fn release(&mut self) {
        self.lines.extend(self.held.drain(..).map(|(_, transmit)| transmit));
    }

    /// Drops a held call.
    pub(crate) fn forget(&mut self, id: &RequestId) -> bool {
        let before = self.held.len();
        self.held.retain(|(held, _)| held != id);
        self.held.len() < before
    }

    pub(crate) fn pop(&mut self) -> Option<Transmit> {
        let transmit = self.lines.pop_front()?;
        self.replies -= usize::from(transmit.purpose.is_reply());
        Some(transmit)
    }

    /// Returns the number of waiting lines.
    #[cfg(feature = "async")]
    pub(crate) fn len(&self) -> usize {
        self.lines.len()
    }

    pub(crate) fn replies(&self) -> usize {
        self.replies
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}

impl Purpose {
    fn is_reply(self) -> bool {
        matches!(self, Self::Reply(_) | Self::Refusal)
    }
}

pub(crate) fn line<'a>(message: impl Into<Message<'a>>) -> Vec<u8> {
    let mut line = Vec::new();
    message.into().to_line(&mut line);
    line
}

/// Encodes a notification as a line.
pub(crate) fn notification<P: NotificationParams>(params: &P) -> Vec<u8> {
    let mut line = Vec::with_capacity(LINE);
    jsonrpc_core::write_notification(P::METHOD, params, &mut line);
    line
}

/// Initial capacity of a line, in bytes: that of most pieces of a text.
const LINE: usize = 512;
