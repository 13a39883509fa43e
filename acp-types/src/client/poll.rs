//! Outputs: lines, events and deadlines.
use super::pending_event::{PendingEvent, RetainedUpdates};
use super::{
    Connection, Diagnostic, Event, OpenedSession, ReceivedValue, SessionEvent, SessionKey,
    Transmit, Update,
};
use crate::v1::session_setup::SessionId;
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::time::Duration;
use jsonrpc_core::wire::Wire;
use jsonrpc_core::wire::{self, DecodeError, DecodedValue, Mode, Raw};

impl Connection {
    /// Returns the next line to send. Call until it returns `None`.
    pub fn poll_transmit(&mut self) -> Option<Transmit> {
        let line = self.base.outgoing.pop();
        if line.is_some() || !self.base.outgoing.has_closings() {
            return line;
        }
        let created = self.sessions.first_unnamed();
        let next = SessionKey::new(self.base.next_key + 1);
        self.base.outgoing.send_closings(created, next);
        self.base.outgoing.pop()
    }

    /// Returns the next event: those of the connection first, then those of sessions in turn. Call
    /// until it returns `None`.
    pub fn poll_event(&mut self) -> Option<Event> {
        if let Some(event) = self.poll_connection() {
            return Some(event);
        }
        while let Some(key) = self.sessions.next_ready() {
            let event = self.poll_session_event(key);
            self.sessions.put_back(key);
            if let Some(event) = event {
                return Some(Event::Session(key, event));
            }
        }
        let diagnostic = self.base.diagnostics.pop().map(Event::Diagnostic);
        diagnostic.or_else(|| self.base.poll_closed().map(Event::Closed))
    }

    /// Returns the next event of one session. A session that is not polled delays no other.
    pub fn poll_session_event(&mut self, session: SessionKey) -> Option<SessionEvent> {
        let event = loop {
            let event = match self.sessions.pop(session)? {
                Err(dropped) => break SessionEvent::Lagged { dropped },
                Ok(event) => event,
            };
            if let Some(event) = self.session_event(event) {
                break event;
            }
        };
        self.sessions.put_back(session);
        Some(event)
    }

    /// Returns when [`handle_timeout`](Self::handle_timeout) has to be called next.
    pub fn poll_timeout(&self) -> Option<Duration> {
        if self.base.closed.is_some() {
            return None;
        }
        let calls = self.base.peer.poll_timeout();
        let turns = self.sessions.next_timer();
        calls.into_iter().chain(turns).min()
    }

    fn poll_connection(&mut self) -> Option<Event> {
        if let Some(count) = self.base.inbox.take_dropped() {
            return Some(Event::Diagnostic(Diagnostic::Dropped { count }));
        }
        let event = match self.base.inbox.pop()? {
            PendingEvent::Initialized(initialized) => Event::Initialized(initialized),
            PendingEvent::CallEnded(key, outcome) => {
                self.base.call_polled();
                Event::CallEnded(key, outcome)
            }
            PendingEvent::Request(key, request) => Event::Request(key, request),
            PendingEvent::Withdrawn(key) => Event::Withdrawn(key),
            PendingEvent::Notification(notification) => Event::Notification(notification),
            // Other events belong to sessions.
            _ => return None,
        };
        Some(event)
    }

    /// Returns the event; `None` for an update that cannot be decoded, which becomes a diagnostic.
    fn session_event(&mut self, event: PendingEvent) -> Option<SessionEvent> {
        Some(match event {
            PendingEvent::Opened { session_id, response, replay } => {
                SessionEvent::Opened(Box::new(self.opened_event(session_id, *response, replay)))
            }
            PendingEvent::Refused(error) => SessionEvent::Refused(error),
            PendingEvent::Update(raw) => SessionEvent::Update(self.read_update(raw)?),
            PendingEvent::Request(key, request) => SessionEvent::Request(key, request),
            PendingEvent::Withdrawn(key) => SessionEvent::Withdrawn(key),
            PendingEvent::Notification(notification) => SessionEvent::Notification(notification),
            PendingEvent::PromptAccepted(key, response) => {
                SessionEvent::PromptAccepted(key, response)
            }
            PendingEvent::TurnEnded(key, outcome) => {
                SessionEvent::TurnEnded(key, outcome.map(|end| *end))
            }
            // Events of the connection.
            PendingEvent::Initialized(_) | PendingEvent::CallEnded(..) => return None,
        })
    }

    fn opened_event(
        &mut self,
        session_id: SessionId,
        response: ReceivedValue<super::NewSessionResponse>,
        replay: RetainedUpdates,
    ) -> OpenedSession {
        let left_out = replay.left_out();
        let updates = replay.into_updates().into_iter();
        let replay: Vec<_> = updates.filter_map(|raw| self.read_update(raw)).collect();
        OpenedSession { session_id, response, replay, left_out }
    }

    fn read_update(&mut self, raw: Raw) -> Option<ReceivedValue<Update>> {
        let update = if self.agent_version.is_v2() {
            self.base.diagnostics.tolerate("session/update", read(raw.as_str())).map(Update::V2)
        } else {
            self.base.diagnostics.tolerate("session/update", read(raw.as_str())).map(Update::V1)
        };
        match update {
            Ok(value) => Some(ReceivedValue { value, raw }),
            Err(error) => {
                let method = "session/update".to_owned();
                self.base.diagnostics.push(Diagnostic::Undecodable { method, error });
                None
            }
        }
    }
}

/// Decodes a text leniently, as the schema defines.
pub(super) fn read<T: Wire>(text: &str) -> Result<DecodedValue<T>, DecodeError> {
    wire::decode_with(text, Mode::SpecLenient)
}
