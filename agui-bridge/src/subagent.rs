//! Sessions that the agent's session owns: their invocations, and whose words are whose.
use crate::json;
use crate::translator::Translator;
use acp_types::v1::session_setup::SessionId;
use acp_types::v1::subagents::{IdleStopReason, StateUpdate, SubagentUpdate};
use agui_types::event::{
    Event, SubagentErrorEvent, SubagentFinishedEvent, SubagentFinishedOutcome,
    SubagentFinishedSuccessOutcome, SubagentFinishedSuspendedOutcome, SubagentStartedEvent,
};
use agui_types::id::SubagentRunId;
use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::Presence;
use serde::{Deserialize, Serialize};

/// How many sessions are told apart; the words of further ones count as the agent's own.
const MAX_SUBAGENTS: usize = 256;
/// What a subagent is called that has no title.
const NAMELESS: &str = "subagent";

/// The sessions that are owned, by their ids.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Subagents {
    sessions: BTreeMap<String, Subagent>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Subagent {
    title: Option<String>,
    description: Option<String>,
    /// The session that owns it; empty for the agent itself.
    owner: String,
    /// The invocation that goes on.
    active: Option<SubagentRunId>,
}

impl Subagents {
    pub(crate) fn is_empty(&self) -> bool {
        self.sessions.is_empty()
    }

    /// The lane of a session: its own, or that of the agent itself.
    pub(crate) fn lane(&self, session: &SessionId) -> String {
        let known = self.sessions.contains_key(session.as_str());
        if known { session.as_str().to_owned() } else { String::new() }
    }

    pub(crate) fn active(&self, lane: &str) -> Option<&SubagentRunId> {
        self.sessions.get(lane)?.active.as_ref()
    }
}

impl Translator {
    /// Has what follows be said by one of those who speak.
    pub(crate) fn speak_as<T>(&mut self, lane: &str, say: impl FnOnce(&mut Self) -> T) -> T {
        let owner = self.subagents.active(lane).cloned();
        let lane = core::mem::replace(&mut self.lane, lane.to_owned());
        let said = self.own(owner, say);
        self.lane = lane;
        said
    }

    /// Has the events that follow belong to an invocation.
    pub(crate) fn own<T>(
        &mut self,
        owner: Option<SubagentRunId>,
        say: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let owner = core::mem::replace(&mut self.owner, owner);
        let said = say(self);
        self.owner = owner;
        said
    }

    /// Takes in what is said of an owned session.
    ///
    /// | it is | event |
    /// |---|---|
    /// | new and not idle, or busy again | `SUBAGENT_STARTED` |
    /// | idle, after an error | `SUBAGENT_ERROR` |
    /// | idle otherwise | `SUBAGENT_FINISHED`, success |
    /// | busy when the run ends | `SUBAGENT_FINISHED`, suspended |
    pub(crate) fn subagent_update(&mut self, update: SubagentUpdate) {
        let name = update.session_id.as_str().to_owned();
        let limit = self.options.limits.message;
        if !self.subagents.sessions.contains_key(&name)
            && self.subagents.sessions.len() >= MAX_SUBAGENTS
        {
            return self.custom("acp.unknown", json::bounded(&update, self.options.limits.value));
        }
        let owner = self.lane.clone();
        let entry = self.subagents.sessions.entry(name.clone());
        let subagent = entry.or_insert_with(|| Subagent { owner, ..Subagent::default() });
        let cut = |text: Presence<String>| match text {
            Presence::Value(text) => Presence::Value(json::cut(text, limit)),
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
                self.end_subagent(&name, failed);
            }
            Presence::Value(StateUpdate::UnknownState(_)) | Presence::Null => {}
            Presence::Value(_) | Presence::Absent => self.begin_subagent(&name),
        }
    }

    /// Begins an invocation of an owned session, unless one goes on.
    pub(crate) fn begin_subagent(&mut self, name: &str) {
        let Some(subagent) = self.subagents.sessions.get(name) else { return };
        if subagent.active.is_some() || !self.is_modern() {
            return;
        }
        let id = SubagentRunId::from(self.ids.keyed("sub-", name, '.'));
        let title = subagent.title.as_deref().filter(|title| !title.is_empty());
        let mut started = SubagentStartedEvent::new(id.clone(), title.unwrap_or(NAMELESS));
        started.description.clone_from(&subagent.description);
        started.parent_subagent_run_id = self.subagents.active(&subagent.owner).cloned();
        self.emit(started);
        if let Some(subagent) = self.subagents.sessions.get_mut(name) {
            subagent.active = Some(id);
        }
    }

    fn end_subagent(&mut self, name: &str, failed: Option<Option<String>>) {
        self.speak_as(name, Self::close_text);
        let subagent = self.subagents.sessions.get_mut(name);
        let Some(id) = subagent.and_then(|subagent| subagent.active.take()) else { return };
        match failed {
            Some(message) => {
                let message = message.unwrap_or_else(|| "The subagent failed.".to_owned());
                let message = json::cut(message, self.options.limits.message);
                self.emit(SubagentErrorEvent::new(id, message));
            }
            None => {
                let success = SubagentFinishedSuccessOutcome::new();
                self.finish_subagent(id, SubagentFinishedOutcome::Success(success));
            }
        }
    }

    /// Ends all invocations for this run; their sessions go on.
    pub(crate) fn suspend_subagents(&mut self) {
        let active: Vec<_> =
            self.subagents.sessions.values_mut().filter_map(|agent| agent.active.take()).collect();
        for id in active {
            let suspended = SubagentFinishedSuspendedOutcome::new();
            self.finish_subagent(id, SubagentFinishedOutcome::Suspended(suspended));
        }
    }

    fn finish_subagent(&mut self, id: SubagentRunId, outcome: SubagentFinishedOutcome) {
        let mut finished = SubagentFinishedEvent::new(id);
        finished.outcome = Some(outcome);
        self.emit(finished);
    }
}

/// Says whose an event is, where it says so.
pub(crate) fn attribute(event: &mut Event, owner: &SubagentRunId) {
    let place = match event {
        Event::ActivitySnapshot(event) => &mut event.subagent_run_id,
        Event::ActivityDelta(event) => &mut event.subagent_run_id,
        Event::Custom(event) => &mut event.subagent_run_id,
        Event::ReasoningStart(event) => &mut event.subagent_run_id,
        Event::ReasoningMessageStart(event) => &mut event.subagent_run_id,
        Event::ReasoningMessageContent(event) => &mut event.subagent_run_id,
        Event::ReasoningMessageEnd(event) => &mut event.subagent_run_id,
        Event::ReasoningEnd(event) => &mut event.subagent_run_id,
        Event::TextMessageStart(event) => &mut event.subagent_run_id,
        Event::TextMessageContent(event) => &mut event.subagent_run_id,
        Event::TextMessageEnd(event) => &mut event.subagent_run_id,
        Event::ToolCallStart(event) => &mut event.subagent_run_id,
        Event::ToolCallArgs(event) => &mut event.subagent_run_id,
        Event::ToolCallEnd(event) => &mut event.subagent_run_id,
        Event::ToolCallResult(event) => &mut event.subagent_run_id,
        _ => return,
    };
    *place = Some(owner.clone());
}
