//! Sessions owned by the agent's session, and their invocations.
use crate::frame::Frame;
use crate::json;
use crate::outbox::Outbox;
use acp_types::v1::subagents::{IdleStopReason, StateUpdate, SubagentUpdate};
use acp_types::v2::session_states::{StateUpdate as StateUpdateV2, StopReason};
use agui_types::event::{
    SubagentErrorEvent, SubagentFinishedEvent, SubagentFinishedOutcome,
    SubagentFinishedSuccessOutcome, SubagentFinishedSuspendedOutcome, SubagentStartedEvent,
};
use agui_types::id::SubagentRunId;
use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::Presence;
use serde::{Deserialize, Serialize};

/// Largest number of distinguished sessions; updates of further ones count as the agent's own.
const MAX_SUBAGENTS: usize = 256;
/// The name of a subagent without a title.
const NAMELESS: &str = "subagent";

/// The owned sessions, by id.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Subagents {
    sessions: BTreeMap<String, Subagent>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Subagent {
    title: Option<String>,
    description: Option<String>,
    /// The owning session; empty for the agent itself.
    owner: String,
    /// The active invocation.
    active: Option<SubagentRunId>,
}

impl Subagents {
    pub(crate) fn is_empty(&self) -> bool {
        self.sessions.is_empty()
    }

    /// Returns the lane of a session: its own id, or empty for the agent itself.
    pub(crate) fn lane<'a>(&self, session: &'a str) -> &'a str {
        if self.sessions.contains_key(session) { session } else { "" }
    }

    /// Returns the active invocation of a lane.
    pub(crate) fn active(&self, lane: &str) -> Option<&SubagentRunId> {
        self.sessions.get(lane)?.active.as_ref()
    }

    /// Handles an update about an owned session.
    ///
    /// | state | event |
    /// |---|---|
    /// | new and not idle, or busy again | `SUBAGENT_STARTED` |
    /// | idle, after an error | `SUBAGENT_ERROR` |
    /// | idle otherwise | `SUBAGENT_FINISHED`, success |
    /// | busy when the run ends | `SUBAGENT_FINISHED`, suspended |
    pub(crate) fn handle_update(
        &mut self,
        frame: &Frame<'_>,
        out: &mut Outbox,
        update: SubagentUpdate,
    ) {
        let name = update.session_id.as_str().to_owned();
        if !self.sessions.contains_key(&name) && self.sessions.len() >= MAX_SUBAGENTS {
            return out.custom(frame, "acp.unknown", json::bounded(&update, frame.limits.value));
        }
        let owner = frame.lane.to_owned();
        let entry = self.sessions.entry(name.clone());
        let subagent = entry.or_insert_with(|| Subagent { owner, ..Subagent::default() });
        let cut = |text: Presence<String>| match text {
            Presence::Value(text) => Presence::Value(json::cut(text, frame.limits.message)),
            other => other,
        };
        cut(update.title).apply_to(&mut subagent.title);
        cut(update.description).apply_to(&mut subagent.description);
        match update.state {
            Presence::Value(StateUpdate::Idle(idle)) => {
                let failed = match idle.stop_reason {
                    IdleStopReason::Error(error) => Some(error.error.map(|error| error.message)),
                    _ => None,
                };
                self.end(frame, out, &name, failed);
            }
            Presence::Value(StateUpdate::UnknownState(_)) | Presence::Null => {}
            Presence::Value(_) | Presence::Absent => self.begin(frame, out, &name),
        }
    }

    /// Handles a state that an owned session reports of itself, as in version 2.
    pub(crate) fn handle_state(
        &mut self,
        frame: &Frame<'_>,
        out: &mut Outbox,
        name: &str,
        state: StateUpdateV2,
    ) {
        match state {
            StateUpdateV2::Idle(idle) => {
                let failed = match idle.stop_reason {
                    StopReason::Error(error) => Some(error.error.map(|error| error.message)),
                    _ => None,
                };
                self.end(frame, out, name, failed);
            }
            StateUpdateV2::UnknownState(_) => {}
            _ => self.begin(frame, out, name),
        }
    }

    /// Returns the active invocation of the session that owns another one.
    pub(crate) fn owner(&self, name: &str) -> Option<&SubagentRunId> {
        self.active(&self.sessions.get(name)?.owner)
    }

    /// Begins an invocation of an owned session, unless one is active.
    pub(crate) fn begin(&mut self, frame: &Frame<'_>, out: &mut Outbox, name: &str) {
        let Some(subagent) = self.sessions.get(name) else { return };
        if subagent.active.is_some() || !frame.is_modern {
            return;
        }
        let id = SubagentRunId::from(out.ids().keyed("sub-", name, '.'));
        let title = subagent.title.as_deref().filter(|title| !title.is_empty());
        let mut started = SubagentStartedEvent::new(id.clone(), title.unwrap_or(NAMELESS));
        started.description.clone_from(&subagent.description);
        started.parent_subagent_run_id = self.active(&subagent.owner).cloned();
        out.emit(frame, started);
        if let Some(subagent) = self.sessions.get_mut(name) {
            subagent.active = Some(id);
        }
    }

    fn end(
        &mut self,
        frame: &Frame<'_>,
        out: &mut Outbox,
        name: &str,
        failed: Option<Option<String>>,
    ) {
        out.close_text(name);
        let subagent = self.sessions.get_mut(name);
        let Some(id) = subagent.and_then(|subagent| subagent.active.take()) else { return };
        match failed {
            Some(message) => {
                let message = message.unwrap_or_else(|| "The subagent failed.".to_owned());
                let message = json::cut(message, frame.limits.message);
                out.emit(frame, SubagentErrorEvent::new(id, message));
            }
            None => {
                let success = SubagentFinishedSuccessOutcome::new();
                finish(frame, out, id, SubagentFinishedOutcome::Success(success));
            }
        }
    }

    /// Suspends all invocations at the end of the run; their sessions continue.
    pub(crate) fn suspend(&mut self, frame: &Frame<'_>, out: &mut Outbox) {
        let active: Vec<_> =
            self.sessions.values_mut().filter_map(|subagent| subagent.active.take()).collect();
        for id in active {
            let suspended = SubagentFinishedSuspendedOutcome::new();
            finish(frame, out, id, SubagentFinishedOutcome::Suspended(suspended));
        }
    }
}

fn finish(
    frame: &Frame<'_>,
    out: &mut Outbox,
    id: SubagentRunId,
    outcome: SubagentFinishedOutcome,
) {
    let mut finished = SubagentFinishedEvent::new(id);
    finished.outcome = Some(outcome);
    out.emit(frame, finished);
}
