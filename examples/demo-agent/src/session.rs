//! A session: its conversation and its running turn.

use crate::cursors::{Cursor, after_last};
use crate::script::{Scene, Step};
use crate::updates::Update;
use acp_types::v1::prompt_turn::{SessionUpdate, StopReason, Usage};
use acp_types::v1::session_cursors::CursorId;
use acp_types::v1::session_modes::{SessionMode, SessionModeState};
use acp_types::v1::session_setup::SessionId;
use acp_types::v1::terminals::TerminalId;
use acp_types::v1::tool_calls::{ToolCallId, ToolCallStatus};
use acp_types::v2::session_config_options::{
    SessionConfigKind, SessionConfigOption, SessionConfigOptionCategory, SessionConfigSelect,
    SessionConfigSelectOption, SessionConfigSelectOptions,
};
use core::time::Duration;
use std::collections::VecDeque;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// Number of updates that a session keeps for `session/load`; older ones are dropped.
const MAX_HISTORY: usize = 10_000;

/// Number of cursors of a session; older ones are no longer accepted.
const MAX_CURSORS: usize = 1_000;

/// The pause before a turn without a prompt.
pub(crate) const LATER: Duration = Duration::from_millis(50);

/// The option of version 2 with the modes.
pub(crate) const MODE: &str = "mode";

/// The mode in which edits need permission.
const ASK: &str = "ask";

/// The mode in which edits need no permission.
const AUTO: &str = "auto";

/// Identifiers, names and descriptions of the modes.
const MODES: [(&str, &str, &str); 2] =
    [(ASK, "Ask", "Asks before it edits a file"), (AUTO, "Auto", "Edits without asking")];

/// A session.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) scene: Scene,
    /// Cancels the running turn.
    turn: Option<CancellationToken>,
    /// Sessions and updates, in order.
    history: VecDeque<(SessionId, Update)>,
    /// Number of updates that are no longer kept.
    dropped: usize,
    cursors: VecDeque<Cursor>,
    /// Steps of a turn without a prompt.
    later: Vec<Step>,
    /// Dropped at the end of the running turn, if that has no prompt.
    own_turn: Option<watch::Sender<()>>,
    /// A prompt waits for the end of that turn.
    is_awaited: bool,
}

impl Session {
    pub(crate) fn new(scene: Scene) -> Self {
        Self {
            scene,
            turn: None,
            history: VecDeque::new(),
            dropped: 0,
            cursors: VecDeque::new(),
            later: Vec::new(),
            own_turn: None,
            is_awaited: false,
        }
    }

    /// Returns the modes and the current mode.
    pub(crate) fn modes(&self) -> SessionModeState {
        let modes = MODES.map(|(id, name, description)| {
            let mut mode = SessionMode::new(id, name);
            mode.description = Some(description.to_owned());
            mode
        });
        SessionModeState::new(self.mode(), modes)
    }

    /// Returns the modes as an option of version 2.
    pub(crate) fn options(&self) -> Vec<SessionConfigOption> {
        let values = MODES.map(|(id, name, description)| {
            let mut value = SessionConfigSelectOption::new(id, name);
            value.description = Some(description.to_owned());
            value
        });
        let values = SessionConfigSelectOptions::Ungrouped(values.into());
        let select = SessionConfigSelect::new(self.mode(), values);
        let mut option = SessionConfigOption::new(MODE, "Mode", SessionConfigKind::Select(select));
        option.category = Some(SessionConfigOptionCategory::Mode);
        vec![option]
    }

    fn mode(&self) -> &'static str {
        if self.scene.asks { ASK } else { AUTO }
    }

    /// Switches the mode; returns `false` for an unknown mode.
    pub(crate) fn set_mode(&mut self, mode: &str) -> bool {
        let known = [ASK, AUTO].contains(&mode);
        if known {
            self.scene.asks = mode == ASK;
        }
        known
    }

    /// Returns the conversation so far, of both sides.
    pub(crate) fn history(&self) -> impl Iterator<Item = &(SessionId, Update)> {
        self.history.iter()
    }

    /// Returns whether a turn is running.
    pub(crate) fn is_busy(&self) -> bool {
        self.turn.is_some()
    }

    /// Returns whether a turn without a prompt is to follow.
    pub(crate) fn has_later(&self) -> bool {
        !self.later.is_empty()
    }

    /// Keeps the steps of a turn without a prompt.
    pub(crate) fn keep_for_later(&mut self, steps: Vec<Step>) {
        self.later = steps;
    }

    /// Starts the turn without a prompt, unless a turn is running.
    pub(crate) fn begin_later(&mut self) -> Option<Turn> {
        if self.turn.is_some() || self.later.is_empty() {
            return None;
        }
        let steps = core::mem::take(&mut self.later);
        self.own_turn = Some(watch::Sender::new(()));
        self.begin::<Update>([], |_| steps)
    }

    /// Starts a turn with the user's messages, unless one is running.
    pub(crate) fn begin<U: Into<Update>>(
        &mut self,
        prompt: impl IntoIterator<Item = U>,
        steps: impl FnOnce(&mut Scene) -> Vec<Step>,
    ) -> Option<Turn> {
        if self.turn.is_some() {
            return None;
        }
        for said in prompt {
            self.remember(self.scene.session_id.clone(), said.into());
        }
        let cancel = CancellationToken::new();
        self.turn = Some(cancel.clone());
        Some(Turn {
            session_id: self.scene.session_id.clone(),
            steps: steps(&mut self.scene).into(),
            cancel,
            usage: None,
            terminal: None,
            open_calls: Vec::new(),
        })
    }

    /// Cancels the running turn, if any.
    pub(crate) fn cancel(&self) {
        self.turn.iter().for_each(CancellationToken::cancel);
    }

    /// Returns a channel that closes with the running turn, for a prompt to wait for; `None` unless
    /// that turn has no prompt.
    pub(crate) fn await_own_turn(&mut self) -> Option<watch::Receiver<()>> {
        self.is_awaited = self.own_turn.is_some();
        self.own_turn.as_ref().map(watch::Sender::subscribe)
    }

    /// Ends the running turn, and returns whether a prompt continues it.
    pub(crate) fn end(&mut self) -> bool {
        self.turn = None;
        self.own_turn = None;
        core::mem::take(&mut self.is_awaited)
    }

    /// Creates a cursor at the end of the conversation, and returns its update; `None` if the client
    /// has no cursors, or the last entry has no id.
    pub(crate) fn add_cursor(&mut self) -> Option<SessionUpdate> {
        if !self.scene.shows.cursors {
            return None;
        }
        let own = self.history.iter().filter(|(session, _)| *session == self.scene.session_id);
        let anchor = after_last(own.map(|(_, update)| update))?;
        self.scene.ids += 1;
        let id = format!("cursor-{}", self.scene.ids).into();
        let updates = self.dropped + self.history.len();
        let cursor = Cursor::new(id, anchor, updates, self.scene.prompts.len());
        let update = cursor.update();
        if self.cursors.len() == MAX_CURSORS {
            self.cursors.pop_front();
        }
        self.cursors.push_back(cursor);
        Some(update)
    }

    /// Returns the updates of all cursors.
    pub(crate) fn cursors(&self) -> Vec<SessionUpdate> {
        self.cursors.iter().map(Cursor::update).collect()
    }

    /// Returns a session with the conversation up to a cursor, or with all of it, in another scene;
    /// `None` if the cursor is unknown.
    pub(crate) fn fork(&self, cursor: Option<&CursorId>, mut scene: Scene) -> Option<Self> {
        let at = match cursor {
            Some(id) => Some(self.cursors.iter().position(|cursor| cursor.id == *id)?),
            None => None,
        };
        let cursor = at.and_then(|at| self.cursors.get(at));
        let prompts = cursor.map_or(usize::MAX, |cursor| cursor.prompts);
        let updates = cursor.map_or(usize::MAX, |cursor| cursor.updates);
        scene.asks = self.scene.asks;
        scene.ids = self.scene.ids;
        scene.prompts = self.scene.prompts.iter().take(prompts).cloned().collect();
        let own = scene.session_id.clone();
        let history = self.history.iter().take(updates.saturating_sub(self.dropped));
        let history = history.map(|(session, update)| {
            let is_own = *session == self.scene.session_id;
            (if is_own { own.clone() } else { session.clone() }, update.clone())
        });
        let mut fork = Self::new(scene);
        fork.history = history.collect();
        fork.dropped = self.dropped;
        fork.cursors =
            self.cursors.iter().take(at.map_or(usize::MAX, |at| at + 1)).cloned().collect();
        Some(fork)
    }

    /// Keeps an update that belongs to the conversation.
    pub(crate) fn remember(&mut self, session: SessionId, update: Update) {
        // A notice is not part of the history.
        if matches!(update, Update::Both(SessionUpdate::Notice(_))) {
            return;
        }
        if self.history.len() == MAX_HISTORY {
            self.history.pop_front();
            self.dropped += 1;
        }
        self.history.push_back((session, update));
    }
}

/// A turn with its remaining steps.
#[derive(Debug)]
pub(crate) struct Turn {
    pub(crate) session_id: SessionId,
    steps: VecDeque<Step>,
    /// Returns whether the turn is cancelled.
    pub(crate) cancel: CancellationToken,
    pub(crate) usage: Option<Usage>,
    pub(crate) terminal: Option<TerminalId>,
    open_calls: Vec<ToolCallId>,
}

impl Turn {
    /// Returns the next step; after the last, the end of the turn.
    pub(crate) fn next(&mut self) -> Step {
        self.steps.pop_front().unwrap_or(Step::Stop(StopReason::EndTurn))
    }

    /// Inserts steps before the remaining ones.
    pub(crate) fn go_on(&mut self, steps: Vec<Step>) {
        for step in steps.into_iter().rev() {
            self.steps.push_front(step);
        }
    }

    /// Tracks open tool calls.
    pub(crate) fn track_calls(&mut self, update: &SessionUpdate) {
        let (id, status) = match update {
            SessionUpdate::ToolCall(call) => (&call.tool_call_id, call.status.as_ref()),
            SessionUpdate::ToolCallUpdate(call) => (&call.tool_call_id, call.status.value()),
            _ => return,
        };
        self.open_calls.retain(|open| open != id);
        if !matches!(status, Some(ToolCallStatus::Completed | ToolCallStatus::Failed)) {
            self.open_calls.push(id.clone());
        }
    }

    /// Returns the open tool calls.
    pub(crate) fn take_open_calls(&mut self) -> Vec<ToolCallId> {
        core::mem::take(&mut self.open_calls)
    }
}
