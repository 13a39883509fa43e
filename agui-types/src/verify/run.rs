//! Items that are open within a run, and their owners.
use crate::event::{
    Event, ReasoningEncryptedValueEvent, ReasoningEncryptedValueSubtype, SubagentStartedEvent,
    ToolCallStartEvent,
};
use crate::id::{MessageId, Owner, SubagentRunId, ToolCallId};
use crate::message::Message;
use crate::rule::{Breach, Rule};
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use core::borrow::Borrow;

/// The open items of a run, and the owner of each.
#[derive(Clone, Debug, Default)]
pub(super) struct Run {
    texts: Items<MessageId>,
    reasoning: Items<MessageId>,
    spans: Items<MessageId>,
    calls: Items<ToolCallId>,
    activities: BTreeMap<MessageId, Owner>,
    steps: BTreeSet<(Box<str>, Owner)>,
    /// Invocations, and whether they are active.
    subagents: BTreeMap<SubagentRunId, bool>,
}

impl Run {
    /// Returns the number of kept items.
    pub(super) fn len(&self) -> usize {
        let items = self.texts.0.len() + self.reasoning.0.len() + self.spans.0.len();
        let rest = self.activities.len() + self.steps.len() + self.subagents.len();
        items + self.calls.0.len() + rest
    }

    /// Checks an event within the run against the open items.
    pub(super) fn check(&self, event: &Event) -> Result<(), Breach> {
        let tag = event.subagent_run_id();
        match event {
            Event::TextMessageStart(e) => {
                self.texts.check_opening(e.message_id.as_str(), tag, Rule::TextMessageOpen)
            }
            Event::TextMessageContent(e) => {
                self.texts.check_open(e.message_id.as_str(), tag, Rule::TextMessageNotOpen)
            }
            Event::TextMessageEnd(e) => {
                self.texts.check_open(e.message_id.as_str(), tag, Rule::TextMessageNotOpen)
            }
            Event::ToolCallStart(e) => self.check_call(e),
            Event::ToolCallArgs(e) => {
                self.calls.check_open(e.tool_call_id.as_str(), tag, Rule::ToolCallNotOpen)
            }
            Event::ToolCallEnd(e) => {
                self.calls.check_open(e.tool_call_id.as_str(), tag, Rule::ToolCallNotOpen)
            }
            Event::ReasoningStart(e) => {
                self.spans.check_opening(e.message_id.as_str(), None, Rule::ReasoningSpanOpen)
            }
            Event::ReasoningEnd(e) => {
                self.spans.check_open(e.message_id.as_str(), None, Rule::ReasoningSpanNotOpen)
            }
            Event::ReasoningMessageStart(e) => {
                self.reasoning.check_opening(e.message_id.as_str(), tag, Rule::ReasoningMessageOpen)
            }
            Event::ReasoningMessageContent(e) => {
                self.reasoning.check_open(e.message_id.as_str(), tag, Rule::ReasoningMessageNotOpen)
            }
            Event::ReasoningMessageEnd(e) => {
                self.reasoning.check_open(e.message_id.as_str(), tag, Rule::ReasoningMessageNotOpen)
            }
            Event::ReasoningEncryptedValue(e) => self.check_encrypted_value(e),
            Event::ActivityDelta(e) => {
                check_owner(self.activities.get(&e.message_id), tag, e.message_id.as_str())
            }
            Event::StepStarted(e) => {
                let open = self.steps.contains(&step(&e.step_name, tag));
                Rule::StepOpen.holds(!open, &e.step_name)
            }
            Event::StepFinished(e) => self.check_step_end(&e.step_name, tag),
            Event::SubagentStarted(e) => self.check_subagent(e),
            Event::SubagentFinished(e) => self.check_subagent_end(&e.subagent_run_id),
            Event::SubagentError(e) => self.check_subagent_end(&e.subagent_run_id),
            _ => Ok(()),
        }
    }

    /// Records what a valid event opens, closes and owns.
    pub(super) fn record(&mut self, event: &Event) {
        let tag = event.subagent_run_id();
        match event {
            Event::TextMessageStart(e) => self.texts.open(&e.message_id, tag),
            Event::TextMessageEnd(e) => self.texts.close(e.message_id.as_str()),
            Event::ToolCallStart(e) => {
                let parent =
                    e.parent_message_id.as_ref().and_then(|id| self.texts.owner(id.as_str()));
                let owner = parent.cloned().unwrap_or_else(|| tag.cloned());
                self.calls.open(&e.tool_call_id, owner.as_ref());
            }
            Event::ToolCallEnd(e) => self.calls.close(e.tool_call_id.as_str()),
            Event::ToolCallResult(e) => self.texts.own(&e.message_id, tag, false),
            Event::ReasoningStart(e) => self.spans.open(&e.message_id, tag),
            Event::ReasoningEnd(e) => self.spans.close(e.message_id.as_str()),
            Event::ReasoningMessageStart(e) => self.reasoning.open(&e.message_id, tag),
            Event::ReasoningMessageEnd(e) => self.reasoning.close(e.message_id.as_str()),
            Event::ActivitySnapshot(e) => {
                let replaces = e.replace != Some(false);
                set_owner(&mut self.activities, &e.message_id, tag, replaces);
            }
            Event::StepStarted(e) => {
                self.steps.insert(step(&e.step_name, tag));
            }
            Event::StepFinished(e) => {
                self.steps.remove(&step(&e.step_name, tag));
            }
            Event::SubagentStarted(e) => {
                self.subagents.insert(e.subagent_run_id.clone(), true);
            }
            Event::SubagentFinished(e) => self.end_subagent(&e.subagent_run_id),
            Event::SubagentError(e) => self.end_subagent(&e.subagent_run_id),
            Event::MessagesSnapshot(e) => {
                e.messages.iter().for_each(|message| self.own_message(message, true));
            }
            _ => {}
        }
    }

    /// Checks that no item is open that has to be closed before the run finishes.
    pub(super) fn check_closed(&self) -> Result<(), Breach> {
        let open: [(Rule, Option<&str>); 6] = [
            (Rule::StepsOpen, self.steps.first().map(|(name, _)| &**name)),
            (Rule::TextMessagesOpen, self.texts.first_open()),
            (Rule::ReasoningMessagesOpen, self.reasoning.first_open()),
            (Rule::ReasoningSpansOpen, self.spans.first_open()),
            (Rule::ToolCallsOpen, self.calls.first_open()),
            (Rule::SubagentsOpen, self.active_subagent()),
        ];
        open.into_iter().try_for_each(|(rule, subject)| match subject {
            Some(subject) => Err(rule.broken_for(subject)),
            None => Ok(()),
        })
    }

    /// Returns whether a tool call is open.
    pub(super) fn is_call_open(&self, id: &ToolCallId) -> bool {
        self.calls.is_open(id.as_str())
    }

    /// Returns the owner of a reasoning span.
    pub(super) fn span_owner(&self, id: &MessageId) -> Option<&Owner> {
        self.spans.owner(id.as_str())
    }

    /// Returns the owner of a tool call of the run.
    pub(super) fn call_owner(&self, id: &ToolCallId) -> Option<&Owner> {
        self.calls.owner(id.as_str())
    }

    /// Records the owner of a message and its tool calls; `restated` replaces a known owner.
    pub(super) fn own_message(&mut self, message: &Message, restated: bool) {
        let (Some(id), tag) = (message.id(), message.subagent_run_id()) else { return };
        match message {
            Message::Activity(_) => set_owner(&mut self.activities, &id, tag, restated),
            Message::Reasoning(_) => self.reasoning.own(&id, tag, restated),
            Message::Assistant(assistant) => {
                self.texts.own(&id, tag, restated);
                for call in assistant.tool_calls.iter().flatten() {
                    self.calls.own(&call.id, tag, restated);
                }
            }
            _ => self.texts.own(&id, tag, restated),
        }
    }

    fn check_call(&self, event: &ToolCallStartEvent) -> Result<(), Breach> {
        let id = event.tool_call_id.as_str();
        let tag = event.subagent_run_id.as_ref();
        let parent = event.parent_message_id.as_ref().and_then(|id| self.texts.owner(id.as_str()));
        if let (Some(parent), Some(_)) = (parent, tag) {
            Rule::ToolCallParentOwner.holds(parent.as_ref() == tag, id)?;
        }
        self.calls.check_opening(id, tag, Rule::ToolCallOpen)
    }

    fn check_encrypted_value(&self, event: &ReasoningEncryptedValueEvent) -> Result<(), Breach> {
        let id = event.entity_id.as_str();
        let owner = match event.subtype {
            ReasoningEncryptedValueSubtype::ToolCall => self.calls.owner(id),
            _ => self.texts.owner(id).or(self.reasoning.owner(id)),
        };
        check_owner(owner, event.subagent_run_id.as_ref(), id)
    }

    fn check_step_end(&self, name: &str, tag: Option<&SubagentRunId>) -> Result<(), Breach> {
        if self.steps.contains(&step(name, tag)) {
            return Ok(());
        }
        let elsewhere = self.steps.iter().any(|(step, _)| &**step == name);
        Err(if elsewhere { Rule::StepOwner } else { Rule::StepNotOpen }.broken_for(name))
    }

    fn check_subagent(&self, event: &SubagentStartedEvent) -> Result<(), Breach> {
        let id = &event.subagent_run_id;
        match self.subagents.get(id) {
            Some(true) => return Err(Rule::SubagentActive.broken_for(id.as_str())),
            Some(false) => return Err(Rule::SubagentEnded.broken_for(id.as_str())),
            None => {}
        }
        match &event.parent_subagent_run_id {
            Some(parent) => {
                Rule::SubagentParent.holds(self.subagents.contains_key(parent), parent.as_str())
            }
            None => Ok(()),
        }
    }

    fn check_subagent_end(&self, id: &SubagentRunId) -> Result<(), Breach> {
        Rule::SubagentNotActive.holds(self.subagents.get(id) == Some(&true), id.as_str())
    }

    fn end_subagent(&mut self, id: &SubagentRunId) {
        if let Some(active) = self.subagents.get_mut(id) {
            *active = false;
        }
    }

    fn active_subagent(&self) -> Option<&str> {
        self.subagents.iter().find(|(_, active)| **active).map(|(id, _)| id.as_str())
    }
}

/// Items that open and close, by identifier.
#[derive(Clone, Debug)]
struct Items<K>(BTreeMap<K, Item>);

#[derive(Clone, Debug)]
struct Item {
    open: bool,
    owner: Owner,
}

impl<K> Default for Items<K> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<K: Ord + Clone + Borrow<str>> Items<K> {
    fn check_opening(
        &self,
        id: &str,
        tag: Option<&SubagentRunId>,
        already_open: Rule,
    ) -> Result<(), Breach> {
        let Some(item) = self.0.get(id) else { return Ok(()) };
        already_open.holds(!item.open, id)?;
        check_owner(Some(&item.owner), tag, id)
    }

    fn check_open(
        &self,
        id: &str,
        tag: Option<&SubagentRunId>,
        not_open: Rule,
    ) -> Result<(), Breach> {
        match self.0.get(id) {
            Some(item) if item.open => check_owner(Some(&item.owner), tag, id),
            _ => Err(not_open.broken_for(id)),
        }
    }

    /// Opens `id`. It belongs to `owner` unless it already has an owner.
    fn open(&mut self, id: &K, owner: Option<&SubagentRunId>) {
        self.own(id, owner, false);
        if let Some(item) = self.0.get_mut(id.borrow()) {
            item.open = true;
        }
    }

    fn close(&mut self, id: &str) {
        if let Some(item) = self.0.get_mut(id) {
            item.open = false;
        }
    }

    /// Records the owner of `id` if it is unknown or `replaces` is set.
    fn own(&mut self, id: &K, owner: Option<&SubagentRunId>, replaces: bool) {
        match self.0.get_mut(id.borrow()) {
            Some(item) if replaces => item.owner = owner.cloned(),
            Some(_) => {}
            None => {
                self.0.insert(id.clone(), Item { open: false, owner: owner.cloned() });
            }
        }
    }

    fn owner(&self, id: &str) -> Option<&Owner> {
        self.0.get(id).map(|item| &item.owner)
    }

    fn is_open(&self, id: &str) -> bool {
        self.0.get(id).is_some_and(|item| item.open)
    }

    fn first_open(&self) -> Option<&str> {
        self.0.iter().find(|(_, item)| item.open).map(|(id, _)| id.borrow())
    }
}

fn step(name: &str, tag: Option<&SubagentRunId>) -> (Box<str>, Owner) {
    (name.into(), tag.cloned())
}

fn set_owner(
    owners: &mut BTreeMap<MessageId, Owner>,
    id: &MessageId,
    tag: Option<&SubagentRunId>,
    replaces: bool,
) {
    if replaces || !owners.contains_key(id) {
        owners.insert(id.clone(), tag.cloned());
    }
}

/// Checks that an event with `tag` may continue an item of `owner`. An unknown item has no owner.
fn check_owner(
    owner: Option<&Owner>,
    tag: Option<&SubagentRunId>,
    subject: &str,
) -> Result<(), Breach> {
    let agrees = match (owner, tag) {
        (Some(owner), Some(_)) => owner.as_ref() == tag,
        _ => true,
    };
    Rule::OwnerMismatch.holds(agrees, subject)
}
