use super::Profile;
use crate::content::Content;
use crate::event::{Event, RunErrorEvent, RunFinishedEvent, RunFinishedOutcome};
use crate::message::Message;
use alloc::format;
use alloc::vec::Vec;

/// Makes of a stream of 1.0 one that an older client takes, and says what it does not get.
///
/// It wants events that were [enforced](crate::enforce) and [expanded](crate::expand).
///
/// | event | a legacy client gets | loss |
/// |---|---|---|
/// | `SUBAGENT_*`, unknown ones | nothing; what belongs to a subagent stays, as the agent's | [`Event`](Loss::Event) |
/// | `RUN_STARTED` whose input lacks `tools` or `context` | the empty lists that their absence means | |
/// | `RUN_FINISHED` with `pendingToolCallIds` | it without them | [`PendingToolCallIds`](Loss::PendingToolCallIds) |
/// | `RUN_FINISHED`, `cancelled` or unknown | `RUN_ERROR`, with the outcome's name as its code: never a success | [`Outcome`](Loss::Outcome) |
/// | `RUN_FINISHED`, `interrupt` | itself; the client takes it, but nobody answers | [`Interrupts`](Loss::Interrupts) |
/// | anything after `RUN_ERROR`, another run too | nothing: the client would fail | [`AfterError`](Loss::AfterError) |
/// | tool results of parts, also in restated messages | their text | [`ResultParts`](Loss::ResultParts) |
/// | `STATE_SNAPSHOT` of `null` or `false` | itself; the client ignores it | [`State`](Loss::State) |
/// | any other | itself | |
///
/// A client of 1.0 gets every event as it is, but without `encryptedValueType`, which came with 1.1
/// ([`EncryptedValueType`](Loss::EncryptedValueType)); so does a legacy one. A client of 1.1 gets every event as it is.
///
/// ```
/// use agui_types::event::{Event, RunFinishedCancelledOutcome, RunFinishedEvent, RunFinishedOutcome};
/// use agui_types::profile::{Downgrade, Loss, Profile};
///
/// let mut finished = RunFinishedEvent::new("t", "r");
/// finished.outcome = Some(RunFinishedOutcome::Cancelled(RunFinishedCancelledOutcome::new()));
/// let (event, losses) = Downgrade::to(Profile::of(None)).handle(finished.into());
/// let Some(Event::RunError(error)) = event else { panic!("a success") };
/// assert_eq!(error.code.as_deref(), Some("cancelled"));
/// assert_eq!(losses, [Loss::Outcome]);
/// ```
///
/// Spec: [Versioning, 1.0](https://ag-ui.com/spec/1.0/basic/versioning)
#[derive(Clone, Debug)]
pub struct Downgrade {
    profile: Profile,
    failed: bool,
}

/// What an older client does not get.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum Loss {
    /// The event, which the client does not know.
    #[error("the client does not know the event")]
    Event,
    /// How the run ended: all that it can be told is that it did not succeed.
    #[error("the client does not know the outcome")]
    Outcome,
    /// Which calls wait for the application; the client finds out itself.
    #[error("the client does not know `pendingToolCallIds`")]
    PendingToolCallIds,
    /// What the run asks for: the client does not keep it.
    #[error("the client forgets interrupts")]
    Interrupts,
    /// Parts of a tool's result, beside their text.
    #[error("the client gets the text of a tool's result only")]
    ResultParts,
    /// A state that the client takes for none.
    #[error("the client ignores a state that is null or false")]
    State,
    /// What kind of value an encrypted value is.
    #[error("the client does not know `encryptedValueType`")]
    EncryptedValueType,
    /// Whatever comes after a failed run.
    #[error("the client takes nothing after RUN_ERROR")]
    AfterError,
}

impl Downgrade {
    /// For a client of this profile.
    pub fn to(profile: Profile) -> Self {
        Self { profile, failed: false }
    }

    /// Takes the next event; gives what the client gets of it, and what it does not.
    pub fn handle(&mut self, mut event: Event) -> (Option<Event>, Vec<Loss>) {
        let mut losses = Vec::new();
        if self.profile != Profile::V1_1 && strip_types(&mut event) {
            losses.push(Loss::EncryptedValueType);
        }
        if self.profile != Profile::Legacy {
            return (Some(event), losses);
        }
        if self.failed {
            return (None, Vec::from([Loss::AfterError]));
        }
        if !self.profile.event_types().contains(&event.tag()) {
            return (None, Vec::from([Loss::Event]));
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
                matches!(snapshot.snapshot.as_str(), "null" | "false").then_some(Loss::State)
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

/// Takes out what 1.1 says of encrypted values; says whether there was any.
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

/// Takes out of the end of a run what the client does not know; gives an error where it cannot be said in another way.
fn finish(finished: &mut RunFinishedEvent) -> (Option<RunErrorEvent>, Option<Loss>) {
    match &mut finished.outcome {
        None => (None, None),
        Some(RunFinishedOutcome::Success(success)) => {
            let listed = success.pending_tool_call_ids.take();
            (None, listed.map(|_| Loss::PendingToolCallIds))
        }
        Some(RunFinishedOutcome::Interrupt(_)) => (None, Some(Loss::Interrupts)),
        Some(other) => {
            let name = other.tag();
            let mut error = RunErrorEvent::new(format!("the run did not succeed: {name}"));
            error.code = Some(name.into());
            error.usage.clone_from(&finished.usage);
            error.timestamp = finished.timestamp;
            error.raw_event.clone_from(&finished.raw_event);
            error.metadata.clone_from(&finished.metadata);
            (Some(error), Some(Loss::Outcome))
        }
    }
}

fn flatten_messages(messages: &mut [Message]) -> Option<Loss> {
    let tools = messages.iter_mut().filter_map(|message| match message {
        Message::Tool(message) => flatten(&mut message.content),
        _ => None,
    });
    tools.last()
}

fn flatten(content: &mut Content) -> Option<Loss> {
    if matches!(content, Content::Text(_)) {
        return None;
    }
    *content = Content::Text(content.text());
    Some(Loss::ResultParts)
}
