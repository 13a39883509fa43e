//! Unpolled events of a session or of the connection, and kept updates.
use super::{
    AgentNotification, AgentRequest, AgentResponse, CallError, CallKey, Initialization,
    NewSessionResponse, ReceivedValue, RequestKey, TurnEnd, TurnError, TurnKey,
};
use crate::endpoint;
use crate::inbox::{Inbox, Room, Weigh};
use crate::v1::session_setup::SessionId;
use crate::v2;
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use jsonrpc_core::wire::Raw;

/// An event that was not polled. Updates are decoded when polled, so a dropped update costs no more
/// than its text.
#[derive(Debug)]
pub(crate) enum PendingEvent {
    Initialized(Box<Initialization>),
    CallEnded(CallKey, Result<Box<ReceivedValue<AgentResponse>>, CallError>),
    Opened {
        response: Box<ReceivedValue<NewSessionResponse>>,
        session_id: SessionId,
        replay: RetainedUpdates,
    },
    Refused(CallError),
    Update(Raw),
    Request(RequestKey, Box<ReceivedValue<AgentRequest>>),
    Withdrawn(RequestKey),
    Notification(Box<ReceivedValue<AgentNotification>>),
    PromptAccepted(TurnKey, Box<ReceivedValue<v2::prompt_lifecycle::PromptResponse>>),
    TurnEnded(TurnKey, Result<Box<ReceivedValue<TurnEnd>>, TurnError>),
}

impl endpoint::Event for PendingEvent {
    type Response = AgentResponse;

    fn call_ended(
        key: CallKey,
        outcome: Result<Box<ReceivedValue<AgentResponse>>, CallError>,
    ) -> Self {
        Self::CallEnded(key, outcome)
    }
}

impl Weigh for PendingEvent {
    fn droppable(&self) -> Option<usize> {
        match self {
            Self::Update(raw) => Some(raw.as_str().len()),
            Self::Notification(notification) => Some(notification.raw.as_str().len()),
            _ => None,
        }
    }

    fn firm(&self) -> usize {
        match self {
            Self::Request(_, request) => request.raw.as_str().len(),
            _ => 0,
        }
    }
}

impl Inbox<PendingEvent> {
    /// Returns the number of dropped events, once; not before the session is known to be open.
    pub(super) fn take_dropped_of_session(&mut self) -> Option<u64> {
        if matches!(self.waiting.front(), Some(PendingEvent::Opened { .. })) {
            return None;
        }
        self.take_dropped()
    }

    /// Removes a request that was not polled, and returns whether it existed.
    pub(super) fn remove_request(&mut self, key: RequestKey) -> bool {
        self.remove(|event| matches!(event, PendingEvent::Request(other, _) if *other == key))
    }

    /// Removes all events except ends.
    pub(super) fn keep_ends(&mut self) {
        self.waiting.retain(|event| {
            matches!(
                event,
                PendingEvent::Opened { .. }
                    | PendingEvent::Refused(_)
                    | PendingEvent::TurnEnded(..)
            )
        });
        self.droppable = 0;
        self.bytes = 0;
        self.firm = 0;
        self.dropped = 0;
    }
}

/// Updates that are kept for later; the newest within limits.
#[derive(Debug, Default)]
pub(crate) struct RetainedUpdates {
    updates: VecDeque<Raw>,
    bytes: usize,
    left_out: u64,
}

impl RetainedUpdates {
    pub(super) fn push(&mut self, update: Raw, room: Room) {
        self.bytes += update.as_str().len();
        self.updates.push_back(update);
        while (self.updates.len() > room.count || self.bytes > room.bytes)
            && let Some(oldest) = self.updates.pop_front()
        {
            self.bytes -= oldest.as_str().len();
            self.left_out += 1;
        }
    }

    pub(super) fn left_out(&self) -> u64 {
        self.left_out
    }

    pub(super) fn into_updates(self) -> VecDeque<Raw> {
        self.updates
    }
}

/// The updates of a session that is loaded or resumed, before the response.
#[derive(Debug)]
pub(super) struct Replay {
    pub(super) session: SessionId,
    kept: RetainedUpdates,
    /// Version 2: updates after the end of the replay, if the agent has reported it.
    later: Option<RetainedUpdates>,
}

impl Replay {
    pub(super) fn new(session: SessionId) -> Self {
        Self { session, kept: RetainedUpdates::default(), later: None }
    }

    pub(super) fn push(&mut self, update: Raw, room: Room) {
        self.later.as_mut().unwrap_or(&mut self.kept).push(update, room);
    }

    /// Ends the replay: later updates are no history.
    pub(super) fn end(&mut self) {
        self.later.get_or_insert_default();
    }

    /// Returns the history, and the updates after it.
    pub(super) fn into_parts(self) -> (RetainedUpdates, RetainedUpdates) {
        (self.kept, self.later.unwrap_or_default())
    }
}

/// Updates of sessions that no response has named yet; the newest within limits.
#[derive(Debug, Default)]
pub(super) struct Early {
    updates: VecDeque<(SessionId, Raw)>,
    bytes: usize,
}

impl Early {
    pub(super) fn push(&mut self, session: SessionId, update: Raw) {
        self.bytes += update.as_str().len();
        self.updates.push_back((session, update));
    }

    /// Drops the oldest update if there are too many.
    pub(super) fn drop_oldest(&mut self, room: Room) -> Option<SessionId> {
        if self.updates.len() <= room.count && self.bytes <= room.bytes {
            return None;
        }
        let (session, update) = self.updates.pop_front()?;
        self.bytes -= update.as_str().len();
        Some(session)
    }

    /// Takes the updates of a session, in order.
    pub(super) fn take(&mut self, session: &SessionId) -> impl Iterator<Item = Raw> + use<> {
        let (taken, others) = core::mem::take(&mut self.updates)
            .into_iter()
            .partition::<VecDeque<_>, _>(|(other, _)| other == session);
        self.updates = others;
        self.bytes = self.updates.iter().map(|(_, update)| update.as_str().len()).sum();
        taken.into_iter().map(|(_, update)| update)
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}
