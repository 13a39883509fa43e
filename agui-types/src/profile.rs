//! Profiles of older clients: the events that they accept.
//!
//! A client of 1.0 drops unknown events; a client of 0.x fails on them. Most deployed clients are
//! of 0.x, so a producer checks a profile before it sends, or passes its stream through
//! [`Downgrade`].
//!
//! Spec: [Versioning, 1.0](https://ag-ui.com/spec/1.0/basic/versioning)
use crate::content::Content;
use crate::event::{Event, RunFinishedOutcome};
use alloc::string::String;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

mod downgrade;

pub use downgrade::{Downgrade, DowngradeLoss};

/// The protocol versions that a peer understands.
///
/// ```
/// use agui_types::event::{Event, RunFinishedCancelledOutcome, RunFinishedEvent, RunFinishedOutcome};
/// use agui_types::profile::{Profile, ProfileRefusal};
///
/// let mut finished = RunFinishedEvent::new("t", "r");
/// finished.outcome = Some(RunFinishedOutcome::Cancelled(RunFinishedCancelledOutcome::new()));
/// let event = Event::from(finished);
///
/// assert_eq!(Profile::of(Some("1.0")).refuses(&event), None);
/// assert_eq!(Profile::of(None).refuses(&event), Some(ProfileRefusal::Outcome));
/// ```
///
/// Spec: [Versioning, 1.0](https://ag-ui.com/spec/1.0/basic/versioning#version-negotiation)
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Profile {
    /// Clients of 0.0.46 to 0.0.59, which send no `protocolVersion`.
    Legacy,
    /// Clients of 1.0.
    V1,
    /// Clients of 1.1 and later.
    V1_1,
}

impl Profile {
    const NAMES: &'static [&'static str] = &["Legacy", "V1", "V1_1"];

    fn name(self) -> &'static str {
        match self {
            Self::Legacy => "Legacy",
            Self::V1 => "V1",
            Self::V1_1 => "V1_1",
        }
    }

    /// Returns the profile of a client that sent this `protocolVersion`. Any value implies at least
    /// 1.0, including one that is not of the form `MAJOR.MINOR`.
    pub fn of(protocol_version: Option<&str>) -> Self {
        let Some(version) = protocol_version else { return Self::Legacy };
        let numbers = version.split_once('.').map(|(major, minor)| (major.parse(), minor.parse()));
        match numbers {
            Some((Ok(major), Ok(minor))) if (major, minor) >= (1_u32, 1_u32) => Self::V1_1,
            _ => Self::V1,
        }
    }

    /// Returns the events that the peer knows, by `type`.
    ///
    /// Subagents were added in 0.0.58. A client does not state which 0.x version it implements, so
    /// [`Legacy`](Self::Legacy) leaves them out.
    pub fn event_types(self) -> &'static [&'static str] {
        match self {
            Self::Legacy => LEGACY_EVENT_TYPES,
            Self::V1 | Self::V1_1 => Event::NAMES,
        }
    }

    /// Returns why the peer would fail on an event, or `None` if it would not.
    ///
    /// | event | fails a legacy client when |
    /// |---|---|
    /// | any | its type is not one of [`event_types`](Self::event_types) |
    /// | `RUN_STARTED` | its `input` lacks `tools` or `context` |
    /// | `RUN_FINISHED` | its outcome is `cancelled` or unknown, or has `pendingToolCallIds` |
    /// | `TOOL_CALL_RESULT` | its `content` is a list of parts |
    ///
    /// A client of 1.0 or later fails on none of these.
    ///
    /// Two more failures do not depend on one event. After `RUN_ERROR`, a legacy client fails on
    /// any further event, including those of another run. A client before 0.0.54 accepts an
    /// interrupt outcome but does not store the interrupts, so they stay unanswered.
    pub fn refuses(self, event: &Event) -> Option<ProfileRefusal> {
        if self != Self::Legacy {
            return None;
        }
        match event {
            Event::RunStarted(started) => {
                let input = started.input.as_ref()?;
                (input.tools.is_none() || input.context.is_none()).then_some(ProfileRefusal::Input)
            }
            Event::RunFinished(finished) => match finished.outcome.as_ref()? {
                RunFinishedOutcome::Success(success) => success
                    .pending_tool_call_ids
                    .as_ref()
                    .map(|_| ProfileRefusal::PendingToolCallIds),
                RunFinishedOutcome::Interrupt(_) => None,
                RunFinishedOutcome::Cancelled(_) | RunFinishedOutcome::Unknown(_) => {
                    Some(ProfileRefusal::Outcome)
                }
            },
            Event::ToolCallResult(result) => {
                matches!(result.content, Content::Parts(_)).then_some(ProfileRefusal::ResultParts)
            }
            other => {
                (!self.event_types().contains(&other.tag())).then_some(ProfileRefusal::EventType)
            }
        }
    }
}

impl Serialize for Profile {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.name().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Profile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let profile = [Self::Legacy, Self::V1, Self::V1_1].into_iter().find(|it| it.name() == name);
        profile.ok_or_else(|| D::Error::unknown_variant(&name, Self::NAMES))
    }
}

/// The reason why a client would fail on an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum ProfileRefusal {
    /// The client does not know the event.
    #[error("the client does not know the event")]
    EventType,
    /// The client requires `tools` and `context` in the input of `RUN_STARTED`. Provide both, or
    /// omit the input.
    #[error("the client requires `tools` and `context` in the input of RUN_STARTED")]
    Input,
    /// The client does not know the outcome. Send `RUN_ERROR` for a cancelled run, since success
    /// would be wrong.
    #[error("the client does not know the outcome of RUN_FINISHED")]
    Outcome,
    /// The client does not know `pendingToolCallIds`, and determines the calls without a result
    /// itself.
    #[error("the client does not know `pendingToolCallIds`")]
    PendingToolCallIds,
    /// The client requires a string as the result of a tool. Send [`Content::text`].
    #[error("the client requires a string as the result of a tool")]
    ResultParts,
}

const LEGACY_EVENT_TYPES: &[&str] = &[
    "TEXT_MESSAGE_START",
    "TEXT_MESSAGE_CONTENT",
    "TEXT_MESSAGE_END",
    "TEXT_MESSAGE_CHUNK",
    "TOOL_CALL_START",
    "TOOL_CALL_ARGS",
    "TOOL_CALL_END",
    "TOOL_CALL_CHUNK",
    "TOOL_CALL_RESULT",
    "STATE_SNAPSHOT",
    "STATE_DELTA",
    "MESSAGES_SNAPSHOT",
    "ACTIVITY_SNAPSHOT",
    "ACTIVITY_DELTA",
    "RAW",
    "CUSTOM",
    "RUN_STARTED",
    "RUN_FINISHED",
    "RUN_ERROR",
    "STEP_STARTED",
    "STEP_FINISHED",
    "REASONING_START",
    "REASONING_MESSAGE_START",
    "REASONING_MESSAGE_CONTENT",
    "REASONING_MESSAGE_END",
    "REASONING_MESSAGE_CHUNK",
    "REASONING_END",
    "REASONING_ENCRYPTED_VALUE",
];
