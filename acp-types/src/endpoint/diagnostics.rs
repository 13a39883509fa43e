//! The diagnostics of a connection.
use super::error::CallError;
use crate::v1::initialization::ProtocolVersion;
use crate::v1::session_setup::SessionId;
use alloc::borrow::ToOwned;
use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::RequestId;
use jsonrpc_core::wire::{self, DecodeError, DecodedValue};

/// A tolerated deviation, or a dropped message.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Diagnostic {
    /// A line is not a valid message. It was answered if JSON-RPC requires that.
    Malformed {
        /// The reason.
        error: String,
    },
    /// A response without an open call, for example a late one.
    Unmatched {
        /// The id of the response.
        id: RequestId,
    },
    /// A notification was dropped, since its parameters are invalid.
    Undecodable {
        /// The method.
        method: String,
        /// The reason.
        error: DecodeError,
    },
    /// Parts of parameters or of a result were invalid, and were replaced as the schema defines.
    Lenient {
        /// The method.
        method: String,
        /// The replacements.
        diagnostics: Vec<wire::Diagnostic>,
    },
    /// A notification was dropped, since its session is not open.
    UnknownSession {
        /// The session.
        session_id: String,
    },
    /// The machine answered a request of the agent.
    Refused {
        /// The method.
        method: String,
        /// The reason.
        problem: Problem,
    },
    /// Too many updates arrived for sessions that are not open yet. The oldest was dropped.
    EarlyDropped {
        /// The session of the update.
        session_id: SessionId,
    },
    /// Notifications outside of sessions were not polled. This number of the oldest was dropped.
    Dropped {
        /// Number of notifications.
        count: u64,
    },
    /// The `session/close` of a released session failed.
    CloseFailed {
        /// The session.
        session_id: SessionId,
        /// The reason.
        error: CallError,
    },
    /// The agent uses a different version than the one in its response.
    OtherVersion {
        /// The version in the agent's response.
        claimed: ProtocolVersion,
        /// The version that it uses.
        spoken: ProtocolVersion,
    },
    /// A handler of the program panicked, in a connection with handlers. A request was answered
    /// with an internal error.
    HandlerPanicked {
        /// The request; `None` for a notification.
        request: Option<RequestId>,
        /// The message of the panic, if it is a text.
        message: String,
    },
    /// Further diagnostics were dropped.
    Missed {
        /// Number of diagnostics.
        count: u64,
    },
}

/// The reason why the machine answered a request of the agent.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// The parameters are invalid.
    Params(DecodeError),
    /// The session is not open.
    UnknownSession,
    /// The requested version is not supported.
    Version,
    /// Too many requests are open, another open request has the same id, or too many messages wait
    /// in its session.
    Limit,
}

/// Diagnostics that wait to be polled, in order. Beyond the limit, further ones are counted.
#[derive(Debug)]
pub(crate) struct Diagnostics {
    waiting: VecDeque<Diagnostic>,
    missed: u64,
    limit: usize,
}

impl Diagnostics {
    pub(crate) fn new(limit: usize) -> Self {
        Self { waiting: VecDeque::new(), missed: 0, limit }
    }

    pub(crate) fn push(&mut self, diagnostic: Diagnostic) {
        if self.waiting.len() < self.limit {
            self.waiting.push_back(diagnostic);
        } else {
            self.missed += 1;
        }
    }

    pub(crate) fn pop(&mut self) -> Option<Diagnostic> {
        if let Some(diagnostic) = self.waiting.pop_front() {
            return Some(diagnostic);
        }
        let count = core::mem::take(&mut self.missed);
        (count > 0).then_some(Diagnostic::Missed { count })
    }

    /// Takes a decoded value, and reports the values that were left out.
    pub(crate) fn tolerate<T>(
        &mut self,
        method: &str,
        decoded: Result<DecodedValue<T>, DecodeError>,
    ) -> Result<T, DecodeError> {
        let DecodedValue { value, diagnostics, .. } = decoded?;
        self.report(method, diagnostics);
        Ok(value)
    }

    fn report(&mut self, method: &str, diagnostics: Vec<wire::Diagnostic>) {
        if !diagnostics.is_empty() {
            self.push(Diagnostic::Lenient { method: method.to_owned(), diagnostics });
        }
    }
}
