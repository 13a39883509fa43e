//! Open items of a run, which its end closes.
use crate::event::{
    Event, ReasoningEndEvent, ReasoningMessageEndEvent, StepFinishedEvent, SubagentErrorEvent,
    SubagentFinishedEvent, SubagentFinishedOutcome, SubagentFinishedSuspendedOutcome,
    TextMessageEndEvent, ToolCallEndEvent,
};
use crate::id::{MessageId, SubagentRunId, ToolCallId};
use crate::interrupt::Interrupt;
use alloc::string::String;
use alloc::vec::Vec;

/// An item that has to be closed before the run ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum OpenItem {
    Text(MessageId),
    Reasoning(MessageId),
    Span(MessageId),
    Call(ToolCallId),
    Step(String, Option<SubagentRunId>),
    Subagent(SubagentRunId),
}

/// The end of a run, as far as it concerns open items.
#[derive(Debug)]
pub(super) enum EndKind {
    Finish,
    Interrupt(Vec<Interrupt>),
    Cancel,
    Fail,
}

impl OpenItem {
    /// Returns the closing event. It names no owner where the protocol allows that, and so matches
    /// any owner.
    pub(super) fn end(self, ending: &EndKind) -> Event {
        match self {
            Self::Text(id) => TextMessageEndEvent::new(id).into(),
            Self::Reasoning(id) => ReasoningMessageEndEvent::new(id).into(),
            Self::Span(id) => ReasoningEndEvent::new(id).into(),
            Self::Call(id) => ToolCallEndEvent::new(id).into(),
            Self::Step(name, owner) => {
                let mut end = StepFinishedEvent::new(name);
                end.subagent_run_id = owner;
                end.into()
            }
            Self::Subagent(id) => match ending {
                EndKind::Finish => SubagentFinishedEvent::new(id).into(),
                EndKind::Interrupt(interrupts) => {
                    let asks =
                        |interrupt: &&Interrupt| interrupt.subagent_run_id.as_ref() == Some(&id);
                    let ids: Vec<_> =
                        interrupts.iter().filter(asks).map(|it| it.id.clone()).collect();
                    let mut suspended = SubagentFinishedSuspendedOutcome::new();
                    suspended.interrupt_ids = Some(ids).filter(|ids| !ids.is_empty());
                    let mut end = SubagentFinishedEvent::new(id);
                    end.outcome = Some(SubagentFinishedOutcome::Suspended(suspended));
                    end.into()
                }
                EndKind::Cancel => SubagentErrorEvent::new(id, "the run was cancelled").into(),
                EndKind::Fail => SubagentErrorEvent::new(id, "the run failed").into(),
            },
        }
    }
}

/// The open items, in order of opening.
#[derive(Debug, Default)]
pub(super) struct OpenItems(Vec<OwnedItem>);

#[derive(Debug)]
struct OwnedItem {
    open: OpenItem,
    /// Whether the item belongs to the agent itself, not to a subagent.
    own: bool,
}

impl OpenItems {
    pub(super) fn has(&self, open: &OpenItem) -> bool {
        self.0.iter().any(|item| item.open == *open)
    }

    /// Returns the item that was opened last.
    pub(super) fn last(&self) -> Option<OpenItem> {
        self.0.last().map(|item| item.open.clone())
    }

    /// Returns the agent's own text and reasoning messages, last first.
    pub(super) fn words(&self) -> Vec<OpenItem> {
        let own = self.0.iter().rev().filter(|item| item.own);
        let words = own.filter(|item| {
            matches!(item.open, OpenItem::Text(_) | OpenItem::Reasoning(_) | OpenItem::Span(_))
        });
        words.map(|item| item.open.clone()).collect()
    }

    /// Records what an event opens or closes.
    pub(super) fn record(&mut self, event: &Event) {
        let (open, opens) = match event {
            Event::TextMessageStart(e) => (OpenItem::Text(e.message_id.clone()), true),
            Event::TextMessageEnd(e) => (OpenItem::Text(e.message_id.clone()), false),
            Event::ReasoningMessageStart(e) => (OpenItem::Reasoning(e.message_id.clone()), true),
            Event::ReasoningMessageEnd(e) => (OpenItem::Reasoning(e.message_id.clone()), false),
            Event::ReasoningStart(e) => (OpenItem::Span(e.message_id.clone()), true),
            Event::ReasoningEnd(e) => (OpenItem::Span(e.message_id.clone()), false),
            Event::ToolCallStart(e) => (OpenItem::Call(e.tool_call_id.clone()), true),
            Event::ToolCallEnd(e) => (OpenItem::Call(e.tool_call_id.clone()), false),
            Event::StepStarted(e) => {
                (OpenItem::Step(e.step_name.clone(), e.subagent_run_id.clone()), true)
            }
            Event::StepFinished(e) => {
                (OpenItem::Step(e.step_name.clone(), e.subagent_run_id.clone()), false)
            }
            Event::SubagentStarted(e) => (OpenItem::Subagent(e.subagent_run_id.clone()), true),
            Event::SubagentFinished(e) => (OpenItem::Subagent(e.subagent_run_id.clone()), false),
            Event::SubagentError(e) => (OpenItem::Subagent(e.subagent_run_id.clone()), false),
            _ => return,
        };
        if opens {
            self.0.push(OwnedItem { open, own: event.subagent_run_id().is_none() });
        } else {
            self.0.retain(|item| item.open != open);
        }
    }
}

/// Returns the number of items that an event may open or create.
pub(super) fn weight(event: &Event) -> usize {
    match event {
        Event::TextMessageStart(_)
        | Event::ReasoningMessageStart(_)
        | Event::ReasoningStart(_)
        | Event::ToolCallStart(_)
        | Event::StepStarted(_)
        | Event::SubagentStarted(_)
        | Event::ActivitySnapshot(_) => 1,
        Event::MessagesSnapshot(snapshot) => snapshot.messages.len(),
        _ => 0,
    }
}
