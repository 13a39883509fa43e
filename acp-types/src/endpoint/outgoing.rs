//! Lines that wait to be transmitted.
use super::key::{CallKey, RequestKey, SessionKey, TurnKey};
use crate::params::NotificationParams;
use crate::v1::session_setup::SessionId;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::mem;
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
pub(crate) struct OutgoingLines {
    lines: VecDeque<Transmit>,
    /// Calls that wait for the response to `initialize`.
    held: VecDeque<(RequestId, Transmit)>,
    closings: VecDeque<SessionClose>,
    /// Number of responses to the agent.
    replies: usize,
}

/// A `session/close`. It waits for the answer to a `session/new`, since some agents lose a session
/// that they create while they close another one, and to a `session/fork`, which needs its source.
#[derive(Debug)]
pub(crate) struct SessionClose {
    pub(crate) request: RequestId,
    pub(crate) session: SessionId,
    pub(crate) transmit: Transmit,
    /// The first session that does not delay it, once it could be sent.
    pub(crate) before: Option<SessionKey>,
}

impl OutgoingLines {
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

    pub(crate) fn push_closing(&mut self, closing: SessionClose) {
        self.closings.push_back(closing);
    }

    pub(crate) fn has_closings(&self) -> bool {
        !self.closings.is_empty()
    }

    /// Sends each `session/close` that waits for no session. `created` is the first session that
    /// waits for the answer to `session/new`, and `next` the key of the next session.
    pub(crate) fn send_closings(&mut self, created: Option<SessionKey>, next: SessionKey) {
        for mut closing in mem::take(&mut self.closings) {
            let before = *closing.before.get_or_insert(next);
            if created.is_some_and(|created| created < before) {
                self.closings.push_back(closing);
            } else {
                self.lines.push_back(closing.transmit);
            }
        }
    }

    /// Sends the waiting `session/close` of a session.
    pub(crate) fn send_closing_of(&mut self, session: &str) {
        while let Some(at) = self.closing_of(session)
            && let Some(closing) = self.closings.remove(at)
        {
            self.lines.push_back(closing.transmit);
        }
    }

    /// Lets the waiting `session/close` of a session wait for sessions that are being created now.
    pub(crate) fn delay_closing_of(&mut self, session: &str) {
        let closings = self.closings.iter_mut();
        closings.filter(|it| it.session.as_str() == session).for_each(|it| it.before = None);
    }

    fn closing_of(&self, session: &str) -> Option<usize> {
        self.closings.iter().position(|closing| closing.session.as_str() == session)
    }

    /// Drops the waiting `session/close` of a session.
    pub(crate) fn take_closing(&mut self, session: &str) -> Option<RequestId> {
        let at = self.closing_of(session)?;
        self.closings.remove(at).map(|closing| closing.request)
    }

    /// Drops a call that was not sent.
    pub(crate) fn forget(&mut self, id: &RequestId) -> bool {
        let before = self.held.len() + self.closings.len();
        self.held.retain(|(held, _)| held != id);
        self.closings.retain(|closing| closing.request != *id);
        self.held.len() + self.closings.len() < before
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
