//! A session of a conversation.

use super::ItemKind;
use acp_types::session_state::{SessionState, StateLimits};
use acp_types::v2::agent_plan::PlanUpdateContent;
use acp_types::v2::session_config_options::SessionConfigKind;
use acp_types::v2::session_states::{StateUpdate, StopReason};
use core::time::Duration;
use std::collections::BTreeMap;

/// Maximum number of messages and tool calls of a session, of which the oldest are removed, and of
/// reports of its context.
const MAX_ENTRIES: usize = 100_000;

/// Maximum number of bytes of the contents of a session.
const MAX_SESSION_BYTES: usize = 32 << 20;

/// A session.
#[derive(Debug)]
pub(crate) struct Talk {
    pub(crate) id: String,
    pub(crate) state: SessionState,
    /// Number of permission requests without an answer.
    pub(super) questions: usize,
    pub(super) is_in_turn: bool,
    /// Index of the item with the plan of the turn.
    pub(super) plan_item: Option<usize>,
    /// Number of the next new entry.
    pub(super) next_entry: u64,
    /// Values of the mode and the options.
    values: BTreeMap<String, String>,
    /// Number of tokens in the context window over time.
    pub(crate) context: Vec<(Duration, f64)>,
}

impl Talk {
    pub(super) fn new(id: String) -> Self {
        let mut limits = StateLimits::default();
        limits.entries = MAX_ENTRIES;
        limits.bytes = MAX_SESSION_BYTES;
        Self {
            id,
            state: SessionState::new(limits),
            questions: 0,
            is_in_turn: false,
            plan_item: None,
            next_entry: 0,
            values: BTreeMap::new(),
            context: Vec::new(),
        }
    }

    /// Records the tokens in the context window.
    pub(super) fn measure(&mut self, time: Duration) {
        if let Some(usage) = self.state.usage()
            && self.context.len() < MAX_ENTRIES
        {
            self.context.push((time, usage.used as f64));
        }
    }

    /// Returns what the session waits for.
    pub(crate) fn waits_for(&self) -> &'static str {
        let is_busy = self.state.state().is_some_and(StateUpdate::is_busy);
        match (self.questions, is_busy) {
            (0, true) => "the agent works",
            (0, false) => "waits for a prompt",
            _ => "waits for a decision",
        }
    }

    /// Returns the reason for the end of the open turn, if it has ended.
    pub(super) fn end(&mut self) -> Option<String> {
        let Some(StateUpdate::Idle(idle)) = self.state.state() else { return None };
        let reason = match &idle.stop_reason {
            StopReason::Error(_) => "error".to_owned(),
            StopReason::NotReported(_) => "no reason".to_owned(),
            other => other.tag().to_owned(),
        };
        core::mem::take(&mut self.is_in_turn).then_some(reason)
    }

    /// Returns the changed values of the mode and the options. First values are not changes.
    pub(super) fn settings(&mut self) -> Vec<ItemKind> {
        let mut now = BTreeMap::new();
        if let Some(modes) = self.state.modes() {
            let id = &modes.current_mode_id;
            let mode = modes.available_modes.iter().find(|mode| mode.id == *id);
            let name = mode.map_or_else(|| id.to_string(), |mode| mode.name.clone());
            now.insert("Mode".to_owned(), name);
        }
        for option in self.state.config_options() {
            let value = match &option.kind {
                SessionConfigKind::Select(select) => select.current_value.to_string(),
                SessionConfigKind::Boolean(boolean) => boolean.current_value.to_string(),
                _ => continue,
            };
            now.insert(option.name.clone(), value);
        }
        let is_new = |(name, value): &(&String, &String)| {
            self.values.get(*name).is_some_and(|before| before != *value)
        };
        let changed = now.iter().filter(is_new);
        let changed =
            changed.map(|(name, value)| ItemKind::Setting(name.clone(), value.clone())).collect();
        self.values = now;
        changed
    }

    /// Returns the entries of the plans, with their status.
    pub(super) fn plan(&self) -> Vec<(String, String)> {
        let mut entries = Vec::new();
        for (_, plan) in self.state.plans() {
            match plan {
                PlanUpdateContent::Items(items) => {
                    let items = items.entries.iter();
                    entries.extend(items.map(|it| (it.status.to_string(), it.content.clone())));
                }
                PlanUpdateContent::Markdown(plan) => {
                    entries.push((String::new(), plan.content.clone()));
                }
                _ => {}
            }
        }
        entries
    }
}
