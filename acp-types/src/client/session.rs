//! The sessions of a connection: stages, turns, timers and inboxes.
use super::pending_event::{PendingEvent, Replay};
use super::{CallError, ReceivedValue, SessionKey, TurnEnd, TurnError, TurnKey};
use crate::inbox::{Inbox, Room};
use crate::sorted_map::SortedMap;
use crate::v1::session_setup::SessionId;
use crate::v2;
use crate::v2::prompt_lifecycle::{IdempotencyKey, MessageId};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use core::time::Duration;
use jsonrpc_core::RequestId;

/// Number of bytes of an id of a message that is recorded.
const MAX_MESSAGE_ID: usize = 1024;

/// Sessions, by key and by id.
#[derive(Debug)]
pub(super) struct Sessions {
    all: SortedMap<SessionKey, Box<Session>>,
    /// Ids of open and loading sessions, and of the sessions that they own.
    by_id: SortedMap<SessionId, SessionKey>,
    /// Sessions with events, each listed once.
    ready: VecDeque<SessionKey>,
    /// Deadlines of turns.
    timers: SortedMap<(Duration, SessionKey), ()>,
    /// Number of sessions without an id.
    unnamed: usize,
    room: Room,
}

/// A session.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) stage: Stage,
    /// Version 2: the session works, also without a prompt.
    is_busy: bool,
    /// Version 2: the last idle state.
    idle: Option<Box<ReceivedValue<TurnEnd>>>,
    /// Version 2: the last message of the user.
    message: Option<MessageId>,
    turn: Option<Turn>,
    inbox: Inbox<PendingEvent>,
    is_ready: bool,
}

/// The stage of a session.
#[derive(Debug)]
pub(super) enum Stage {
    /// The agent has not answered.
    Opening(SessionSetup),
    Open(SessionId),
    /// It was refused or released, or the connection is closed. It is removed when its events are
    /// polled.
    Over,
}

impl Stage {
    fn is_unnamed(&self) -> bool {
        matches!(self, Self::Opening(SessionSetup { replay: None, .. }))
    }
}

/// A session that is being opened.
#[derive(Debug)]
pub(super) struct SessionSetup {
    pub(super) request: RequestId,
    /// Whether the request is of version 2.
    pub(super) is_v2: bool,
    /// The loaded or resumed session, and its updates before the response; `None` if the agent
    /// assigns the id.
    pub(super) replay: Option<Replay>,
}

/// A turn with an end that was not polled.
#[derive(Debug)]
pub(super) struct Turn {
    pub(super) key: TurnKey,
    /// The prompt, until it is answered.
    pub(super) request: Option<RequestId>,
    /// The deadline of the turn.
    deadline: Duration,
    pub(super) is_cancelled: bool,
    is_ended: bool,
    /// Version 2: the session was busy with other work when the prompt was sent.
    was_busy: bool,
    /// Version 2: the session was busy since the prompt.
    is_busy: bool,
    /// Version 2: the session became idle since the prompt.
    idle: Option<Box<ReceivedValue<TurnEnd>>>,
    /// Version 2: the last message of the user before the prompt. A repeated prompt has its id.
    message_before: Option<MessageId>,
    /// Version 2: the key of the prompt.
    prompt_key: Option<IdempotencyKey>,
}

impl Turn {
    pub(super) fn new(
        key: TurnKey,
        request: RequestId,
        deadline: Duration,
        prompt_key: Option<IdempotencyKey>,
    ) -> Self {
        Self {
            key,
            request: Some(request),
            deadline,
            is_cancelled: false,
            is_ended: false,
            was_busy: false,
            is_busy: false,
            idle: None,
            message_before: None,
            prompt_key,
        }
    }
}

impl Sessions {
    pub(super) fn new(room: Room) -> Self {
        Self {
            all: SortedMap::default(),
            by_id: SortedMap::default(),
            ready: VecDeque::new(),
            timers: SortedMap::default(),
            unnamed: 0,
            room,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = SessionKey> + '_ {
        self.all.iter().map(|(key, _)| *key)
    }

    pub(super) fn get(&self, key: SessionKey) -> Option<&Session> {
        self.all.get(&key).map(Box::as_ref)
    }

    /// Returns the session that receives updates and requests with this id.
    pub(super) fn find(&self, id: &str) -> Option<SessionKey> {
        self.by_id.get(id).copied()
    }

    /// Returns whether a session with this id is open or being loaded. An owned session may still
    /// be loaded.
    pub(super) fn is_in_use(&self, id: &str) -> bool {
        let key = self.find(id);
        key.and_then(|key| self.get(key)).is_some_and(|session| session.id() == Some(id))
    }

    /// Returns whether the agent may refer to sessions without an id in a response.
    pub(super) fn has_unnamed(&self) -> bool {
        self.unnamed > 0
    }

    /// Returns the first session without an id.
    pub(super) fn first_unnamed(&self) -> Option<SessionKey> {
        let mut unnamed = self.all.iter().filter(|(_, session)| session.stage.is_unnamed());
        unnamed.next().map(|(key, _)| *key)
    }

    pub(super) fn insert(&mut self, key: SessionKey, stage: Stage) {
        if let Stage::Opening(SessionSetup { replay: Some(replay), .. }) = &stage {
            self.by_id.insert(replay.session.clone(), key);
        }
        self.unnamed += usize::from(stage.is_unnamed());
        let session = Session {
            stage,
            is_busy: false,
            idle: None,
            message: None,
            turn: None,
            inbox: Inbox::default(),
            is_ready: false,
        };
        self.all.insert(key, Box::new(session));
    }

    /// Opens the session under this id, and returns its early updates.
    pub(super) fn open(&mut self, key: SessionKey, id: SessionId) -> Option<Replay> {
        let session = self.all.get_mut(&key)?;
        self.unnamed -= usize::from(session.stage.is_unnamed());
        self.by_id.insert(id.clone(), key);
        match core::mem::replace(&mut session.stage, Stage::Open(id)) {
            Stage::Opening(opening) => opening.replay,
            _ => None,
        }
    }

    /// Records that the session owns another, with updates delivered together, and returns whether
    /// that is new.
    pub(super) fn add_subagent(&mut self, key: SessionKey, id: &SessionId, limit: usize) -> bool {
        let is_new = self.by_id.len() < limit && !self.by_id.contains_key(id);
        if is_new {
            self.by_id.insert(id.clone(), key);
        }
        is_new
    }

    /// Ends a session. Its unpolled events are dropped, except for ends.
    pub(super) fn end(&mut self, key: SessionKey) -> Option<Stage> {
        let session = self.all.get_mut(&key)?;
        self.unnamed -= usize::from(session.stage.is_unnamed());
        self.by_id.retain(|_, owner| *owner != key);
        Some(core::mem::replace(&mut session.stage, Stage::Over))
    }

    /// Drops the unpolled events of a session, except for ends.
    pub(super) fn drop_events(&mut self, key: SessionKey) {
        if let Some(session) = self.all.get_mut(&key) {
            session.inbox.keep_ends();
        }
    }

    pub(super) fn refuse(&mut self, key: SessionKey, error: CallError) {
        self.end(key);
        self.push(key, PendingEvent::Refused(error));
    }

    pub(super) fn push(&mut self, key: SessionKey, event: PendingEvent) {
        let Some(session) = self.all.get_mut(&key) else { return };
        session.inbox.push(event, self.room);
        if !session.is_ready {
            session.is_ready = true;
            self.ready.push_back(key);
        }
    }

    /// Returns whether a request of this size fits.
    pub(super) fn has_room_for(&self, key: SessionKey, size: usize) -> bool {
        self.get(key).is_some_and(|session| session.inbox.has_room_for(size, self.room))
    }

    /// Removes a request that was not polled, and returns whether it existed.
    pub(super) fn remove_request(&mut self, key: SessionKey, request: super::RequestKey) -> bool {
        self.all.get_mut(&key).is_some_and(|session| session.inbox.remove_request(request))
    }

    /// Returns the next session with events.
    pub(super) fn next_ready(&mut self) -> Option<SessionKey> {
        while let Some(key) = self.ready.pop_front() {
            let Some(session) = self.all.get_mut(&key) else { continue };
            session.is_ready = false;
            if !session.inbox.is_empty() {
                return Some(key);
            }
            self.sweep(key);
        }
        None
    }

    /// Re-queues a session that still has events, and removes one that is over.
    pub(super) fn put_back(&mut self, key: SessionKey) {
        let Some(session) = self.all.get_mut(&key) else { return };
        if session.inbox.is_empty() {
            self.sweep(key);
        } else if !session.is_ready {
            session.is_ready = true;
            self.ready.push_back(key);
        }
    }

    fn sweep(&mut self, key: SessionKey) {
        if let Some(Session { stage: Stage::Over, turn: None, is_ready, .. }) = self.get(key) {
            if *is_ready {
                self.ready.retain(|ready| *ready != key);
            }
            self.all.remove(&key);
        }
    }

    /// Counts updates that were dropped before the next event of a session.
    pub(super) fn add_dropped(&mut self, key: SessionKey, count: u64) {
        if let Some(session) = self.all.get_mut(&key) {
            session.inbox.dropped += count;
        }
    }

    /// Returns the next event of a session, or the number of events dropped before it.
    pub(super) fn pop(&mut self, key: SessionKey) -> Option<Result<PendingEvent, u64>> {
        let session = self.all.get_mut(&key)?;
        if let Some(dropped) = session.inbox.take_dropped_of_session() {
            return Some(Err(dropped));
        }
        let event = session.inbox.pop()?;
        if matches!(event, PendingEvent::TurnEnded(..)) {
            session.turn = None;
        }
        Some(Ok(event))
    }

    /// Returns the kept updates of a session that is being loaded.
    pub(super) fn replay(&mut self, key: SessionKey) -> Option<&mut Replay> {
        match &mut self.all.get_mut(&key)?.stage {
            Stage::Opening(SessionSetup { replay: Some(replay), .. }) => Some(replay),
            _ => None,
        }
    }

    pub(super) fn begin_turn(&mut self, key: SessionKey, mut turn: Turn) {
        if let Some(session) = self.all.get_mut(&key) {
            turn.was_busy = session.is_busy;
            turn.message_before.clone_from(&session.message);
            self.timers.insert((turn.deadline, key), ());
            session.turn = Some(turn);
        }
    }

    /// Returns the turn that has not ended.
    pub(super) fn turn(&mut self, key: SessionKey) -> Option<&mut Turn> {
        self.all.get_mut(&key)?.turn.as_mut().filter(|turn| !turn.is_ended)
    }

    /// Sets the deadline of the turn, unless it has an earlier one.
    pub(super) fn set_deadline(&mut self, key: SessionKey, deadline: Duration) {
        let Some(turn) = self.turn(key) else { return };
        let before = turn.deadline;
        let after = deadline.min(turn.deadline);
        turn.deadline = after;
        self.timers.remove(&(before, key));
        self.timers.insert((after, key), ());
    }

    /// Ends the turn, and returns the unanswered prompt.
    pub(super) fn end_turn(
        &mut self,
        key: SessionKey,
        outcome: Result<Box<ReceivedValue<TurnEnd>>, TurnError>,
    ) -> Option<RequestId> {
        let turn = self.turn(key)?;
        turn.is_ended = true;
        let turn_key = turn.key;
        let deadline = turn.deadline;
        let request = turn.request.take();
        self.timers.remove(&(deadline, key));
        self.push(key, PendingEvent::TurnEnded(turn_key, outcome));
        request
    }

    /// Version 2: records the acceptance of the prompt as this message.
    pub(super) fn accept(&mut self, key: SessionKey, message: &MessageId) {
        let Some(session) = self.all.get_mut(&key) else { return };
        let Some(turn) = session.turn.as_mut().filter(|turn| !turn.is_ended) else { return };
        turn.request = None;
        let mut idle = turn.idle.take();
        if turn.message_before.as_ref() == Some(message) {
            // The prompt repeats one that the session works on, or has worked on.
            turn.is_busy |= session.is_busy;
            idle = idle.or_else(|| session.idle.clone()).filter(|_| !session.is_busy);
        }
        if let Some(idle) = idle {
            self.end_turn(key, Ok(idle));
        }
    }

    /// Version 2: records a message of the user.
    pub(super) fn add_message(&mut self, key: SessionKey, message: MessageId) {
        if let Some(session) = self.all.get_mut(&key) {
            session.message = Some(message).filter(|id| id.as_str().len() <= MAX_MESSAGE_ID);
        }
    }

    /// Version 2: records a new state of the session.
    pub(super) fn change_state(
        &mut self,
        key: SessionKey,
        state: ReceivedValue<v2::session_states::StateUpdate>,
    ) {
        use v2::session_states::{StateUpdate, StopReason};
        let Some(session) = self.all.get_mut(&key) else { return };
        session.is_busy = state.value.is_busy();
        if let StateUpdate::Idle(idle) = &state.value {
            let value = TurnEnd::V2(idle.clone());
            session.idle = Some(Box::new(ReceivedValue { value, raw: state.raw.clone() }));
        }
        let Some(turn) = self.turn(key) else { return };
        turn.is_busy |= state.value.is_busy();
        let StateUpdate::Idle(idle) = state.value else { return };
        let has_reason = !matches!(idle.stop_reason, StopReason::NotReported(_));
        let is_earlier = turn.was_busy && turn.request.is_some();
        if !turn.is_busy && (!has_reason || is_earlier) {
            // The state precedes the prompt, or ends the work before it.
            turn.was_busy = false;
            return;
        }
        let end = Box::new(ReceivedValue { value: TurnEnd::V2(idle), raw: state.raw });
        if turn.request.is_some() {
            turn.idle = Some(end);
        } else {
            self.end_turn(key, Ok(end));
        }
    }

    pub(super) fn next_timer(&self) -> Option<Duration> {
        self.timers.first().map(|((at, _), ())| *at)
    }

    /// Returns a session with a turn that has reached its deadline.
    pub(super) fn next_overdue(&self, now: Duration) -> Option<SessionKey> {
        self.timers.first().filter(|((at, _), ())| *at <= now).map(|((_, key), ())| *key)
    }
}

impl Session {
    /// Returns the id, once known.
    pub(super) fn id(&self) -> Option<&str> {
        match &self.stage {
            Stage::Opening(opening) => {
                opening.replay.as_ref().map(|replay| replay.session.as_str())
            }
            Stage::Open(id) => Some(id.as_str()),
            Stage::Over => None,
        }
    }

    /// Version 2: returns whether the session works, also without a prompt.
    pub(super) fn is_busy(&self) -> bool {
        self.is_busy
    }

    pub(super) fn turn_key(&self) -> Option<TurnKey> {
        self.turn.as_ref().map(|turn| turn.key)
    }

    pub(super) fn prompt_key(&self) -> Option<&IdempotencyKey> {
        self.turn.as_ref()?.prompt_key.as_ref()
    }
}
