//! Inputs: lines, time, and the end of the connection.
use super::pending_event::PendingEvent;
use super::poll::read;
use super::{
    CallError, CloseReason, Connection, Diagnostic, Limits, RequestKey, SessionKey, Token,
    TurnError,
};
use crate::endpoint::string;
use crate::inbox::Room;
use crate::spoken;
use crate::v1::session_setup::SessionId;
use crate::v2::prompt_lifecycle::MessageId;
use crate::{v1, v2};
use alloc::borrow::ToOwned;
use alloc::vec::Vec;
use core::time::Duration;
use jsonrpc_core::framing::FrameError;
use jsonrpc_core::wire::{DecodedValue, Raw};
use jsonrpc_core::{JsonStr, Kind as MessageKind, PeekedMessage, Peer, PeerMessage, peek};
use serde_json::value::RawValue;

impl Connection {
    /// Handles a line of the agent, as returned by
    /// [`Lines::next`](jsonrpc_core::framing::Lines::next).
    pub fn handle_line(&mut self, line: Result<&str, FrameError>, now: Duration) {
        match line.map(|text| (text, peek(text.as_bytes()))) {
            Ok((_, Ok(peeked))) => {
                self.handle_peeked(&peeked, now);
            }
            Ok((text, Err(_))) => {
                self.handle_other(|peer| peer.handle_line(Ok(text)), now);
            }
            Err(error) => {
                self.handle_other(|peer| peer.handle_line(Err(error)), now);
            }
        }
    }

    /// Handles a line of the agent that was peeked before, for telemetry or routing. Returns the
    /// key of the request, if the line is one for the program: its event follows.
    pub fn handle_peeked(&mut self, line: &PeekedMessage<'_>, now: Duration) -> Option<RequestKey> {
        if self.base.closed.is_none() && is_update(line) {
            self.handle_update(line);
            return None;
        }
        self.handle_other(|peer| peer.handle_peeked(line), now)
    }

    fn handle_other<'a>(
        &mut self,
        handle: impl FnOnce(&mut Peer<Token>) -> PeerMessage<'a, Token>,
        now: Duration,
    ) -> Option<RequestKey> {
        if self.base.closed.is_some() {
            return None;
        }
        let incoming = handle(&mut self.base.peer);
        let request = self.handle_incoming(incoming, now);
        if self.base.is_congested() {
            self.close(CloseReason::Congested);
        }
        request
    }

    /// Closes the connection: everything open ends, and [`Event::Closed`](super::Event::Closed) is
    /// the last event. Pass in all received lines first.
    pub fn handle_closed(&mut self, why: CloseReason) {
        self.close(why);
    }

    /// Ends calls and turns that have reached their deadline.
    pub fn handle_timeout(&mut self, now: Duration) {
        while let Some(ended) = self.base.peer.poll_ended(now) {
            self.base.outgoing.forget(&ended.id);
            self.handle_response(ended.token, Err(CallError::Timeout), now);
        }
        while let Some(session) = self.sessions.next_overdue(now) {
            let is_cancelled = self.sessions.turn(session).is_some_and(|turn| turn.is_cancelled);
            let error = if is_cancelled {
                TurnError::GraceOver
            } else {
                TurnError::Call(CallError::Timeout)
            };
            if let Some(request) = self.sessions.end_turn(session, Err(error)) {
                let _ = self.base.peer.forget(&request);
            }
        }
    }

    pub(super) fn close(&mut self, why: CloseReason) {
        if self.base.closed.is_some() {
            return;
        }
        self.base.closed = Some(why.clone());
        self.base.outgoing.clear();
        self.give_up_all(|_| true);
        self.base.outgoing.clear();
        self.early.clear();
        self.base.calls.clear();
        self.base.peer.handle_close();
        let sessions: Vec<_> = self.sessions.keys().collect();
        for session in sessions {
            let error = TurnError::Call(CallError::Closed(why.clone()));
            self.sessions.end_turn(session, Err(error));
            if let Some(super::session::Stage::Opening(_)) = self.sessions.end(session) {
                self.sessions.push(session, PendingEvent::Refused(CallError::Closed(why.clone())));
            }
            self.sessions.put_back(session);
        }
        while let Some(ended) = self.base.peer.poll_ended(Duration::MAX) {
            if let Token::Call(key, _) = ended.token {
                self.base.push(PendingEvent::CallEnded(key, Err(CallError::Closed(why.clone()))));
            }
        }
    }

    fn handle_update(&mut self, line: &PeekedMessage<'_>) {
        let Some(params) = line.raw_params() else { return };
        let string = |path: &[&str]| JsonStr::new(line.param(path)?)?.decode();
        let tag = string(&["update", "sessionUpdate"]).unwrap_or_default();
        self.settle(spoken::of_update(&tag));
        let Some(id) = string(&["sessionId"]) else {
            // The decoder reports the defect.
            if let Err(error) = read::<v1::prompt_turn::SessionNotification>(params.get()) {
                let method = "session/update".to_owned();
                self.base.diagnostics.push(Diagnostic::Undecodable { method, error });
            }
            return;
        };
        let Some(key) = self.sessions.find(&id) else { return self.keep_early(&id, params) };
        self.handle_known(key, &tag, params);
    }

    /// Handles an update of a session with a name.
    pub(super) fn handle_known(&mut self, key: SessionKey, tag: &str, params: &RawValue) {
        self.deliver(key, Raw::from(params));
        match tag {
            "subagent_update" => self.add_subagent(key, params),
            "state_update" | "replay_complete" | "user_message" | "user_message_chunk"
                if self.agent_version.is_v2() =>
            {
                self.handle_progress(key, tag, params);
            }
            _ => {}
        }
    }

    /// Passes an update to its session, or to the session's replay.
    fn deliver(&mut self, key: SessionKey, update: Raw) {
        let room = self.replay_room();
        match self.sessions.replay(key) {
            Some(replay) => replay.push(update, room),
            None => self.sessions.push(key, PendingEvent::Update(update)),
        }
    }

    /// Records that a session owns another.
    fn add_subagent(&mut self, key: SessionKey, params: &RawValue) {
        let Some(id) = string(params.get(), &["update", "sessionId"]) else { return };
        let id = SessionId::from(&*id);
        if self.sessions.add_subagent(key, &id, self.options.limits.sessions) {
            for update in self.early.take(&id) {
                self.deliver(key, update);
            }
        }
    }

    /// Version 2: handles what changes the turn or the replay of a session.
    fn handle_progress(&mut self, key: SessionKey, tag: &str, params: &RawValue) {
        use v2::prompt_lifecycle::{SessionUpdate, UpdateSessionNotification};
        let session = self.sessions.get(key).and_then(|session| session.id());
        let id = string(params.get(), &["sessionId"]);
        if id.is_none() || id.as_deref() != session {
            return;
        }
        match tag {
            "state_update" => {
                if let Ok(DecodedValue { value, .. }) =
                    read::<UpdateSessionNotification>(params.get())
                    && let SessionUpdate::StateUpdate(state) = value.update
                {
                    let state = super::ReceivedValue::new(state, Raw::from(params));
                    self.sessions.change_state(key, state);
                }
            }
            "replay_complete" => {
                if let Some(replay) = self.sessions.replay(key) {
                    replay.end();
                }
            }
            _ => {
                if let Some(message) = string(params.get(), &["update", "messageId"]) {
                    self.sessions.add_message(key, MessageId::from(&*message));
                }
            }
        }
    }

    /// Keeps an update of an unknown session, if a session without a name is open.
    fn keep_early(&mut self, id: &str, params: &RawValue) {
        if !self.sessions.has_unnamed() {
            let session_id = id.to_owned();
            return self.base.diagnostics.push(Diagnostic::UnknownSession { session_id });
        }
        self.early.push(SessionId::from(id), Raw::from(params));
        let Limits { early, early_bytes, .. } = self.options.limits;
        while let Some(session_id) =
            self.early.drop_oldest(Room { count: early, bytes: early_bytes })
        {
            self.base.diagnostics.push(Diagnostic::EarlyDropped { session_id });
        }
    }

    /// Drops early updates when no session without a name is left.
    pub(super) fn drop_early(&mut self) {
        if !self.sessions.has_unnamed() {
            self.early.clear();
        }
    }

    fn handle_incoming(
        &mut self,
        incoming: PeerMessage<'_, Token>,
        now: Duration,
    ) -> Option<RequestKey> {
        match incoming {
            PeerMessage::Request(request) => return self.handle_request(&request),
            PeerMessage::Notification(notification) => self.handle_notification(&notification),
            PeerMessage::Response { token, outcome, .. } => {
                let outcome = outcome.map_err(|error| self.refused(error));
                self.handle_response(token, outcome, now);
            }
            PeerMessage::Cancelled { id, .. } => {
                if let Some(key) = self.base.requests.find(&id) {
                    self.give_up(key);
                }
            }
            other => {
                if let Some((token, error)) = self.base.handle_stray(other) {
                    self.handle_response(token, Err(error), now);
                }
            }
        }
        None
    }
}

fn is_update(line: &PeekedMessage<'_>) -> bool {
    line.kind() == MessageKind::Notification
        && line.method().is_some_and(|method| method == "session/update")
}
