//! Compaction: the same conversation and state in fewer events.
//!
//! Spec: [Open, content, close,
//! 1.0](https://ag-ui.com/spec/1.0/basic/patterns/streaming#open-content-close), [Snapshots,
//! 1.0](https://ag-ui.com/spec/1.0/basic/patterns/snapshots#snapshots)
use crate::event::{ActivitySnapshotEvent, Event, StateDeltaEvent, StateSnapshotEvent};
use crate::expand::Expander;
use crate::id::{MessageId, SubagentRunId, ToolCallId};
use crate::integer::SafeInteger;
use crate::json_patch::JsonDocument;
use crate::verify::Violation;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::mem;
use jsonrpc_core::wire::Raw;
use serde_json::Value;

mod join;

use join::join;

/// Shortens a stored stream for replay.
///
/// The result breaks no rule of the [verifier](crate::verify) that the stream keeps. It
/// [reduces](crate::reduce) to the same messages and state.
///
/// | in the stream | in the result |
/// |---|---|
/// | a chunk | the events it [expands](crate::expand) to |
/// | the deltas of a message or of a call's arguments | one delta, at the first one's position |
/// | within a run: a `STATE_SNAPSHOT` and each `STATE_DELTA` after it | one `STATE_SNAPSHOT`, at the last one's position |
/// | state events of the run before that snapshot | removed |
/// | successive snapshots of an activity that replace one another | the last, at the first one's position |
/// | any other event | unchanged |
///
/// Deltas stay separate where an event between them restates or replaces their target. Events with
/// a `rawEvent` or unknown members, and state events with metadata, stay as they are. State events
/// of a different owner also stay as they are. The metadata of joined deltas is merged. Joined
/// deltas keep the first timestamp, joined state events the last. A delta that does not apply to a
/// snapshot of the same run is removed.
///
/// ```
/// use agui_types::compact::compact;
/// use agui_types::event::Event;
/// use agui_types::jsonrpc_core::wire;
///
/// let events: Vec<Event> = wire::decode(
///     r#"[{"type":"RUN_STARTED","threadId":"t","runId":"r"},
///         {"type":"STATE_SNAPSHOT","snapshot":{}},
///         {"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"Hel"},
///         {"type":"TEXT_MESSAGE_CHUNK","delta":"lo"},
///         {"type":"STATE_DELTA","delta":[{"op":"add","path":"/done","value":true}]},
///         {"type":"RUN_FINISHED","threadId":"t","runId":"r"}]"#,
/// )?;
/// let shorter = compact(events)?;
/// assert_eq!(
///     serde_json::to_string(&shorter[2..5])?,
///     r#"[{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"Hello"},{"type":"TEXT_MESSAGE_END","messageId":"m"},{"type":"STATE_SNAPSHOT","snapshot":{"done":true}}]"#
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// A chunk cannot be expanded ([`Expander::handle`]).
pub fn compact(events: impl IntoIterator<Item = Event>) -> Result<Vec<Event>, Violation> {
    let mut expander = Expander::new();
    let mut expanded = Vec::new();
    let mut compaction = Compaction::default();
    for event in events {
        expander.handle(event, &mut expanded)?;
        expanded.drain(..).for_each(|event| compaction.take(event));
    }
    compaction.settle();
    Ok(compaction.events.into_iter().flatten().collect())
}

#[derive(Default)]
struct Compaction {
    /// `None` marks events that were merged into others.
    events: Vec<Option<Event>>,
    /// The last event of a message, if it is a delta.
    texts: BTreeMap<MessageId, usize>,
    /// The last event of a call's arguments, if it is a delta.
    arguments: BTreeMap<ToolCallId, usize>,
    /// Messages that are activities.
    activities: BTreeSet<MessageId>,
    /// The last event of an activity, if it is a snapshot.
    pictures: BTreeMap<MessageId, usize>,
    /// State events that a later snapshot makes redundant.
    spent: Vec<usize>,
    snapshot: Option<Snapshot>,
}

/// A snapshot of the state, with the deltas merged into it.
struct Snapshot {
    state: JsonDocument,
    /// Position of its last event.
    place: usize,
    /// Whether a delta was merged.
    followed: bool,
    owner: Option<SubagentRunId>,
    timestamp: Option<SafeInteger>,
}

impl Compaction {
    fn take(&mut self, mut event: Event) {
        let before = match &event {
            Event::TextMessageContent(e) => self.texts.get(&e.message_id),
            Event::ReasoningMessageContent(e) => self.texts.get(&e.message_id),
            Event::ToolCallArgs(e) => self.arguments.get(&e.tool_call_id),
            _ => None,
        };
        let before = before.and_then(|place| self.events.get_mut(*place)?.as_mut());
        if before.is_some_and(|before| join(before, &mut event)) {
            return;
        }
        if let Event::ActivitySnapshot(snapshot) = &event
            && let Some(place) = self.pictures.get(&snapshot.message_id)
            && let Some(Some(Event::ActivitySnapshot(before))) = self.events.get_mut(*place)
            && replaces(snapshot, before)
        {
            *before = snapshot.clone();
            return;
        }
        let place = self.events.len();
        match &event {
            Event::TextMessageContent(e) => {
                self.texts.insert(e.message_id.clone(), place);
            }
            Event::ReasoningMessageContent(e) => {
                self.texts.insert(e.message_id.clone(), place);
            }
            Event::ToolCallArgs(e) => {
                self.arguments.insert(e.tool_call_id.clone(), place);
            }
            Event::StateSnapshot(e) => self.restate(e),
            Event::StateDelta(e) => self.change(e),
            other => self.concern(other),
        }
        self.events.push(Some(event));
    }

    /// Records the effect of an event on the targets of deltas.
    fn concern(&mut self, event: &Event) {
        match event {
            Event::TextMessageStart(e) => self.part(&e.message_id),
            Event::TextMessageEnd(e) => self.part(&e.message_id),
            Event::ReasoningMessageStart(e) => self.part(&e.message_id),
            Event::ReasoningMessageEnd(e) => self.part(&e.message_id),
            Event::ToolCallResult(e) => self.part(&e.message_id),
            Event::ActivityDelta(e) => self.part(&e.message_id),
            Event::ActivitySnapshot(e) => {
                self.part(&e.message_id);
                self.pictures.insert(e.message_id.clone(), self.events.len());
                if self.activities.insert(e.message_id.clone()) {
                    // The snapshot may replace a message that has calls.
                    self.arguments.clear();
                }
            }
            Event::ToolCallStart(e) => {
                self.arguments.remove(&e.tool_call_id);
                // The event may create a message with one of these identifiers.
                self.part(&MessageId::from(e.tool_call_id.as_str()));
                e.parent_message_id.iter().for_each(|parent| self.part(parent));
            }
            Event::ToolCallEnd(e) => {
                self.arguments.remove(&e.tool_call_id);
            }
            Event::MessagesSnapshot(_) => self.forget(),
            Event::RunStarted(_) | Event::RunFinished(_) | Event::RunError(_) => {
                self.forget();
                self.settle();
                self.spent.clear();
            }
            _ => {}
        }
    }

    fn part(&mut self, message: &MessageId) {
        self.texts.remove(message);
        self.pictures.remove(message);
    }

    fn forget(&mut self) {
        self.texts.clear();
        self.arguments.clear();
        self.activities.clear();
        self.pictures.clear();
    }

    /// Handles a snapshot, which supersedes all earlier state events of the run.
    fn restate(&mut self, event: &StateSnapshotEvent) {
        let mut state = JsonDocument::new(Value::Null);
        let read = event.snapshot.decode().map(|value| state.replace(value));
        if !is_plain_snapshot(event) || !matches!(read, Ok(Ok(()))) {
            // A consumer ignores this event, but earlier events may not move past it.
            return self.settle();
        }
        self.settle();
        for useless in mem::take(&mut self.spent) {
            if let Some(slot) = self.events.get_mut(useless) {
                *slot = None;
            }
        }
        let owner = event.subagent_run_id.clone();
        let timestamp = event.timestamp;
        let place = self.events.len();
        self.snapshot = Some(Snapshot { state, place, followed: false, owner, timestamp });
    }

    /// Applies a delta to the run's snapshot, if it may be merged.
    fn change(&mut self, event: &StateDeltaEvent) {
        let place = self.events.len();
        let is_plain = is_plain_delta(event);
        match &mut self.snapshot {
            Some(snapshot) if is_plain && event.subagent_run_id == snapshot.owner => {
                // A delta that does not apply changes nothing at the consumer either.
                let _ = snapshot.state.apply(&event.delta);
                snapshot.followed = true;
                snapshot.timestamp = event.timestamp.or(snapshot.timestamp);
                let before = mem::replace(&mut snapshot.place, place);
                if let Some(slot) = self.events.get_mut(before) {
                    *slot = None;
                }
            }
            _ => {
                self.settle();
                if is_plain {
                    self.spent.push(place);
                }
            }
        }
    }

    /// Writes the merged snapshot and closes it.
    fn settle(&mut self) {
        let Some(snapshot) = self.snapshot.take() else { return };
        self.spent.push(snapshot.place);
        if !snapshot.followed {
            return;
        }
        let Ok(state) = Raw::from_value(snapshot.state.value()) else { return };
        let mut event = StateSnapshotEvent::new(state);
        event.subagent_run_id = snapshot.owner;
        event.timestamp = snapshot.timestamp;
        if let Some(slot) = self.events.get_mut(snapshot.place) {
            *slot = Some(event.into());
        }
    }
}

/// Returns whether `after` leaves nothing of `before`.
fn replaces(after: &ActivitySnapshotEvent, before: &ActivitySnapshotEvent) -> bool {
    let is_plain = |event: &ActivitySnapshotEvent| {
        event.replace != Some(false)
            && event.raw_event.is_none()
            && event.metadata.is_none()
            && event.extra.is_empty()
    };
    is_plain(after) && is_plain(before) && after.subagent_run_id == before.subagent_run_id
}

fn is_plain_snapshot(event: &StateSnapshotEvent) -> bool {
    event.raw_event.is_none() && event.metadata.is_none() && event.extra.is_empty()
}

fn is_plain_delta(event: &StateDeltaEvent) -> bool {
    event.raw_event.is_none() && event.metadata.is_none() && event.extra.is_empty()
}
