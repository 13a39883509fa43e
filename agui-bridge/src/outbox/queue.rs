//! The queue of events for the client, and their identifiers.
use super::history::History;
use crate::ids::Ids;
use agui_types::event::Event;
use agui_types::id::SubagentRunId;
use alloc::collections::VecDeque;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Queue {
    events: VecDeque<Event>,
    history: Option<History>,
    ids: Ids,
}

impl Queue {
    pub(super) fn new(ids: Ids) -> Self {
        Self { events: VecDeque::new(), history: None, ids }
    }

    pub(super) fn set_history(&mut self, history: Option<History>) {
        self.history = history;
    }

    pub(super) fn history(&self) -> Option<&History> {
        self.history.as_ref()
    }

    pub(super) fn ids(&mut self) -> &mut Ids {
        &mut self.ids
    }

    pub(super) fn into_ids(self) -> Ids {
        self.ids
    }

    pub(super) fn poll(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Appends an event, attributed to a subagent invocation if its type supports that.
    pub(super) fn push(&mut self, owner: Option<&SubagentRunId>, event: impl Into<Event>) {
        self.events.push_back(event.into());
        let Some(event) = self.events.back_mut() else { return };
        if let Some(owner) = owner
            && let Some(place) = attribution(event)
        {
            *place = Some(owner.clone());
        }
        if let Some(history) = &mut self.history {
            history.handle(event);
        }
    }
}

/// Returns the member of an event that names its invocation.
fn attribution(event: &mut Event) -> Option<&mut Option<SubagentRunId>> {
    Some(match event {
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
        _ => return None,
    })
}
