//! Conversion of a stream of AG-UI 1.0 for an older client.
use super::Profile;
use crate::content::Content;
use crate::event::{Event, RunErrorEvent, RunFinishedEvent, RunFinishedOutcome};
use crate::message::Message;
use alloc::format;
use alloc::vec::Vec;

/// Converts a stream of AG-UI 1.0 for an older client, and reports the losses.
///
/// The input has to be [enforced](crate::enforce) and [expanded](crate::expand).
///
/// | event | legacy client receives | loss |
/// |---|---|---|
/// | `SUBAGENT_*`, unknown ones | none; events of a subagent stay, as the agent's own | [`Event`](DowngradeLoss::Event) |
/// | `RUN_STARTED` with an input that lacks `tools` or `context` | the empty lists that their absence means | |
/// | `RUN_FINISHED` with `pendingToolCallIds` | the event without them | [`PendingToolCallIds`](DowngradeLoss::PendingToolCallIds) |
/// | `RUN_FINISHED`, `cancelled` or unknown | `RUN_ERROR` with the outcome's name as its code; never a success | [`Outcome`](DowngradeLoss::Outcome) |
/// | `RUN_FINISHED`, `interrupt` | unchanged; the client accepts it but does not answer | [`Interrupts`](DowngradeLoss::Interrupts) |
/// | any event after `RUN_ERROR`, including those of another run | none, since the client would fail | [`AfterError`](DowngradeLoss::AfterError) |
/// | tool results with parts, also in restated messages | their text | [`ResultParts`](DowngradeLoss::ResultParts) |
/// | `STATE_SNAPSHOT` of `null` or `false` | unchanged; the client ignores it | [`State`](DowngradeLoss::State) |
/// | any other | unchanged | |
///
/// A client of 1.0 receives each event without `encryptedValueType`, which was added in 1.1
/// ([`EncryptedValueType`](DowngradeLoss::EncryptedValueType)); so does a legacy client. A client
/// of 1.1 receives each event unchanged.
///
/// ```
/// use agui_types::event::{Event, RunFinishedCancelledOutcome, RunFinishedEvent, RunFinishedOutcome};
/// use agui_types::profile::{Downgrade, DowngradeLoss, Profile};
///
/// let mut finished = RunFinishedEvent::new("t", "r");
/// finished.outcome = Some(RunFinishedOutcome::Cancelled(RunFinishedCancelledOutcome::new()));
/// let (event, losses) = Downgrade::to(Profile::of(None)).handle(finished.into());
/// let Some(Event::RunError(error)) = event else { panic!("a success") };
/// assert_eq!(error.code.as_deref(), Some("cancelled"));
/// assert_eq!(losses, [DowngradeLoss::Outcome]);
/// ```
///
/// Spec: [Versioning, 1.0](https://ag-ui.com/spec/1.0/basic/versioning)
#[derive(Clone, Debug)]
pub struct Downgrade {
    profile: Profile,
    failed: bool,
}

/// A part of the stream that an older client does not receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum DowngradeLoss {
    /// The event, which the client does not know.
    #[error("the client does not know the event")]
    Event,
    /// The outcome of the run. The client learns only that the run did not succeed.
    #[error("the client does not know the outcome")]
    Outcome,
    /// The list of pending tool calls. The client determines it itself.
    #[error("the client does not know `pendingToolCallIds`")]
    PendingToolCallIds,
    /// The interrupts, which clients before 0.0.54 do not store.
    #[error("the client forgets interrupts")]
    Interrupts,
    /// Parts of a tool's result other than text.
    #[error("the client receives only the text of a tool's result")]
    ResultParts,
    /// A state that the client treats as absent.
    #[error("the client ignores a state that is null or false")]
    State,
    /// The kind of an encrypted value.
    #[error("the client does not know `encryptedValueType`")]
    EncryptedValueType,
    /// An event after a failed run.
    #[error("the client accepts no event after RUN_ERROR")]
    AfterError,
}

impl Downgrade {
    /// Creates a conversion for clients of this profile.
    pub fn to(profile: Profile) -> Self {
        Self { profile, failed: false }
    }

    /// Handles the next event. Returns the event to send, if any, and the losses.
    pub fn handle(&mut self, mut event: Event) -> (Option<Event>, Vec<DowngradeLoss>) {
        let mut losses = Vec::new();
        if self.profile != Profile::V1_1 && strip_types(&mut event) {
            losses.push(DowngradeLoss::EncryptedValueType);
        }
        if self.profile != Profile::Legacy {
            return (Some(event), losses);
        }
        if self.failed {
            return (None, Vec::from([DowngradeLoss::AfterError]));
        }
        if !self.profile.event_types().contains(&event.tag()) {
            return (None, Vec::from([DowngradeLoss::Event]));
        }
        let loss = match &mut event {
            Event::RunStarted(started) => started.input.as_mut().and_then(|input| {
                input.tools.get_or_insert_default();
                input.context.get_or_insert_default();
                flatten_messages(&mut input.messages)
            }),
            Event::MessagesSnapshot(snapshot) => flatten_messages(&mut snapshot.messages),
            Event::ToolCallResult(result) => flatten(&mut result.content),
            Event::StateSnapshot(snapshot) => {
                matches!(snapshot.snapshot.as_str(), "null" | "false")
                    .then_some(DowngradeLoss::State)
            }
            Event::RunFinished(finished) => {
                let (instead, loss) = finish(finished);
                if let Some(error) = instead {
                    event = error.into();
                }
                loss
            }
            _ => None,
        };
        self.failed = matches!(event, Event::RunError(_));
        losses.extend(loss);
        (Some(event), losses)
    }
}

/// Removes `encryptedValueType`, and returns whether it was present.
fn strip_types(event: &mut Event) -> bool {
    match event {
        Event::ReasoningEncryptedValue(value) => value.encrypted_value_type.take().is_some(),
        Event::RunStarted(started) => {
            started.input.as_mut().is_some_and(|input| strip_message_types(&mut input.messages))
        }
        Event::MessagesSnapshot(snapshot) => strip_message_types(&mut snapshot.messages),
        _ => false,
    }
}

fn strip_message_types(messages: &mut [Message]) -> bool {
    let mut stripped = false;
    for message in messages {
        let slot = match message {
            Message::Developer(message) => &mut message.encrypted_value_type,
            Message::System(message) => &mut message.encrypted_value_type,
            Message::User(message) => &mut message.encrypted_value_type,
            Message::Tool(message) => &mut message.encrypted_value_type,
            Message::Reasoning(message) => &mut message.encrypted_value_type,
            Message::Assistant(message) => {
                let calls = message.tool_calls.iter_mut().flatten();
                stripped |= calls.filter_map(|call| call.encrypted_value_type.take()).count() > 0;
                &mut message.encrypted_value_type
            }
            Message::Activity(_) | Message::Unknown(_) => continue,
        };
        stripped |= slot.take().is_some();
    }
    stripped
}

/// Removes unknown members from the end of a run, or returns an error event where the end has no
/// equivalent.
fn finish(finished: &mut RunFinishedEvent) -> (Option<RunErrorEvent>, Option<DowngradeLoss>) {
    match &mut finished.outcome {
        None => (None, None),
        Some(RunFinishedOutcome::Success(success)) => {
            let listed = success.pending_tool_call_ids.take();
            (None, listed.map(|_| DowngradeLoss::PendingToolCallIds))
        }
        Some(RunFinishedOutcome::Interrupt(_)) => (None, Some(DowngradeLoss::Interrupts)),
        Some(other) => {
            let name = other.tag();
            let mut error = RunErrorEvent::new(format!("the run did not succeed: {name}"));
            error.code = Some(name.into());
            error.usage.clone_from(&finished.usage);
            error.timestamp = finished.timestamp;
            error.raw_event.clone_from(&finished.raw_event);
            error.metadata.clone_from(&finished.metadata);
            (Some(error), Some(DowngradeLoss::Outcome))
        }
    }
}

fn flatten_messages(messages: &mut [Message]) -> Option<DowngradeLoss> {
    let tools = messages.iter_mut().filter_map(|message| match message {
        Message::Tool(message) => flatten(&mut message.content),
        _ => None,
    });
    tools.last()
}

fn flatten(content: &mut Content) -> Option<DowngradeLoss> {
    if matches!(content, Content::Text(_)) {
        return None;
    }
    *content = Content::Text(content.text());
    Some(DowngradeLoss::ResultParts)
}
