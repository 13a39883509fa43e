//! A session: its conversation and its running turn.

use crate::script::{Scene, Step};
use acp_types::v1::content::ContentBlock;
use acp_types::v1::prompt_turn::{ContentChunk, SessionUpdate, StopReason, Usage};
use acp_types::v1::session_modes::{SessionMode, SessionModeState};
use acp_types::v1::session_setup::SessionId;
use acp_types::v1::terminals::TerminalId;
use acp_types::v1::tool_calls::{ToolCallId, ToolCallStatus};
use std::collections::VecDeque;
use tokio_util::sync::CancellationToken;

/// Number of updates that a session keeps for `session/load`; older ones are dropped.
const MAX_HISTORY: usize = 10_000;

/// The mode in which edits need permission.
const ASK: &str = "ask";

/// The mode in which edits need no permission.
const AUTO: &str = "auto";

/// A session.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) scene: Scene,
    /// Cancels the running turn.
    turn: Option<CancellationToken>,
    history: VecDeque<SessionUpdate>,
}

impl Session {
    pub(crate) fn new(scene: Scene) -> Self {
        Self { scene, turn: None, history: VecDeque::new() }
    }

    /// Returns the modes and the current mode.
    pub(crate) fn modes(&self) -> SessionModeState {
        let modes =
            [(ASK, "Ask", "Asks before it edits a file"), (AUTO, "Auto", "Edits without asking")];
        let modes = modes.map(|(id, name, description)| {
            let mut mode = SessionMode::new(id, name);
            mode.description = Some(description.to_owned());
            mode
        });
        SessionModeState::new(if self.scene.asks { ASK } else { AUTO }, modes)
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
    pub(crate) fn history(&self) -> impl Iterator<Item = &SessionUpdate> {
        self.history.iter()
    }

    /// Starts a turn with the user's message, unless one is running.
    pub(crate) fn begin(
        &mut self,
        prompt: &[ContentBlock],
        steps: impl FnOnce(&mut Scene) -> Vec<Step>,
    ) -> Option<Turn> {
        if self.turn.is_some() {
            return None;
        }
        for block in prompt {
            self.remember(SessionUpdate::UserMessageChunk(ContentChunk::new(block.clone())));
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

    /// Ends the running turn.
    pub(crate) fn end(&mut self) {
        self.turn = None;
    }

    /// Keeps an update that belongs to the conversation.
    pub(crate) fn remember(&mut self, update: SessionUpdate) {
        if self.history.len() == MAX_HISTORY {
            self.history.pop_front();
        }
        self.history.push_back(update);
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
