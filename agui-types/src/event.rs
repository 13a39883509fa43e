//! The events of a run.
//!
//! [`Event`] is one of the 31 events of AG-UI 1.0, or an unknown event of a newer version, kept
//! verbatim. Members common to all events (`timestamp`, `rawEvent`, `metadata`, and `subagentRunId`
//! where an event can belong to a subagent) are fields of each struct.
//!
//! Spec: [Event Streams, 1.0](https://ag-ui.com/spec/1.0/events)
use crate::id::SubagentRunId;
use jsonrpc_core::open_union;

/// Declares an event struct: `object!` with the members of `BaseEvent`, and of `Attributable` where
/// stated.
macro_rules! event {
    (
        $(#[$attr:meta])*
        pub struct $Name:ident { $($required:tt)* }
        $(optional { $($optional:tt)* })?
        attributable
    ) => {
        event! { @object [$(#[$attr])*] $Name { $($required)* } {
            $($($optional)*)?
            /// The subagent invocation that the event belongs to; absent for the agent itself.
            subagent_run_id: $crate::id::SubagentRunId = "subagentRunId",
        } }
        event! { @base $Name, |event| event.subagent_run_id.as_ref() }
    };
    (
        $(#[$attr:meta])*
        pub struct $Name:ident { $($required:tt)* }
        $(optional { $($optional:tt)* })?
        subagent
    ) => {
        event! { @object [$(#[$attr])*] $Name { $($required)* } { $($($optional)*)? } }
        event! { @base $Name, |event| Some(&event.subagent_run_id) }
    };
    (
        $(#[$attr:meta])*
        pub struct $Name:ident { $($required:tt)* }
        $(optional { $($optional:tt)* })?
    ) => {
        event! { @object [$(#[$attr])*] $Name { $($required)* } { $($($optional)*)? } }
        event! { @base $Name, |_event| None }
    };
    (@object [$($attr:tt)*] $Name:ident { $($required:tt)* } { $($optional:tt)* }) => {
        jsonrpc_core::object! {
            $($attr)*
            pub struct $Name { $($required)* }
            optional {
                $($optional)*
                /// Creation time, by convention in milliseconds since 1970. It does not define the
                /// order.
                timestamp: $crate::integer::SafeInteger = "timestamp",
                /// The provider's event that this one was created from.
                raw_event: jsonrpc_core::wire::Raw = "rawEvent",
                /// Metadata of the producer. It is merged into the resulting message or tool call.
                metadata: $crate::Metadata = "metadata",
            }
        }
    };
    (@base $Name:ident, |$event:ident| $subagent:expr) => {
        impl $crate::event::BaseEvent for $Name {
            fn subagent_run_id(&self) -> Option<&$crate::id::SubagentRunId> {
                let $event = self;
                $subagent
            }
        }
    };
}

/// Members common to all known events.
trait BaseEvent {
    fn subagent_run_id(&self) -> Option<&SubagentRunId>;
}

mod activity;
mod delta;
mod lifecycle;
mod reasoning;
mod special;
mod state;
mod subagent;
mod text_message;
mod tool_call;

pub use activity::{ActivityDeltaEvent, ActivitySnapshotEvent};
pub use delta::{DeltaKind, DeltaRef};
pub use lifecycle::{
    RunErrorEvent, RunFinishedCancelledOutcome, RunFinishedEvent, RunFinishedInterruptOutcome,
    RunFinishedOutcome, RunFinishedSuccessOutcome, RunStartedEvent, StepFinishedEvent,
    StepStartedEvent,
};
pub use reasoning::{
    ReasoningEncryptedValueEvent, ReasoningEncryptedValueSubtype, ReasoningEndEvent,
    ReasoningMessageChunkEvent, ReasoningMessageContentEvent, ReasoningMessageEndEvent,
    ReasoningMessageStartEvent, ReasoningRole, ReasoningStartEvent,
};
pub use special::{CustomEvent, RawEvent};
pub use state::{MessagesSnapshotEvent, StateDeltaEvent, StateSnapshotEvent};
pub use subagent::{
    SubagentErrorEvent, SubagentFinishedEvent, SubagentFinishedOutcome,
    SubagentFinishedSuccessOutcome, SubagentFinishedSuspendedOutcome, SubagentStartedEvent,
};
pub use text_message::{
    TextMessageChunkEvent, TextMessageContentEvent, TextMessageEndEvent, TextMessageRole,
    TextMessageStartEvent,
};
pub use tool_call::{
    ToolCallArgsEvent, ToolCallChunkEvent, ToolCallEndEvent, ToolCallResultEvent,
    ToolCallStartEvent, ToolRole,
};

/// Declares the union of all events and the accessors of their common members.
macro_rules! events {
    (
        $(#[$attr:meta])*
        pub enum $Event:ident by $tag:literal {
            $( $(#[$vattr:meta])* $Variant:ident($Payload:ident) = $wire:literal, )*
        }
    ) => {
        open_union! {
            $(#[$attr])*
            pub enum $Event by $tag {
                $( $(#[$vattr])* $Variant($Payload) = $wire, )*
            }
        }

        impl $Event {
            /// Returns the subagent invocation that the event belongs to or describes; `None` for
            /// an unknown event.
            pub fn subagent_run_id(&self) -> Option<&SubagentRunId> {
                match self {
                    $( Self::$Variant(event) => BaseEvent::subagent_run_id(event), )*
                    Self::Unknown(_) => None,
                }
            }
        }
    };
}

events! {
    /// An event of a run.
    ///
    /// ```
    /// use agui_types::event::{Event, TextMessageContentEvent};
    /// use agui_types::jsonrpc_core::wire;
    ///
    /// let text = r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m1","delta":"Hi"}"#;
    /// let event: Event = wire::decode(text)?;
    /// assert_eq!(event, TextMessageContentEvent::new("m1", "Hi").into());
    /// assert_eq!(serde_json::to_string(&event)?, text);
    ///
    /// let newer = r#"{"type":"TEXT_MESSAGE_REDACTED","messageId":"m1"}"#;
    /// let event: Event = wire::decode(newer)?;
    /// assert!(!event.is_known());
    /// assert_eq!(event.tag(), "TEXT_MESSAGE_REDACTED");
    /// assert_eq!(serde_json::to_string(&event)?, newer);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Spec: [`Event`, 1.0](https://ag-ui.com/spec/1.0/schema#event)
    pub enum Event by "type" {
        /// Opens a text message.
        TextMessageStart(TextMessageStartEvent) = "TEXT_MESSAGE_START",
        /// Appends to a text message.
        TextMessageContent(TextMessageContentEvent) = "TEXT_MESSAGE_CONTENT",
        /// Closes a text message.
        TextMessageEnd(TextMessageEndEvent) = "TEXT_MESSAGE_END",
        /// Opens a text message, appends to it, or both.
        TextMessageChunk(TextMessageChunkEvent) = "TEXT_MESSAGE_CHUNK",
        /// Opens a tool call.
        ToolCallStart(ToolCallStartEvent) = "TOOL_CALL_START",
        /// Appends to the arguments of a tool call.
        ToolCallArgs(ToolCallArgsEvent) = "TOOL_CALL_ARGS",
        /// Completes the arguments of a tool call.
        ToolCallEnd(ToolCallEndEvent) = "TOOL_CALL_END",
        /// Opens a tool call, appends to its arguments, or both.
        ToolCallChunk(ToolCallChunkEvent) = "TOOL_CALL_CHUNK",
        /// Reports the result of a tool call.
        ToolCallResult(ToolCallResultEvent) = "TOOL_CALL_RESULT",
        /// Replaces the state.
        StateSnapshot(StateSnapshotEvent) = "STATE_SNAPSHOT",
        /// Changes the state.
        StateDelta(StateDeltaEvent) = "STATE_DELTA",
        /// Restates the messages.
        MessagesSnapshot(MessagesSnapshotEvent) = "MESSAGES_SNAPSHOT",
        /// Creates or replaces an activity.
        ActivitySnapshot(ActivitySnapshotEvent) = "ACTIVITY_SNAPSHOT",
        /// Changes an activity.
        ActivityDelta(ActivityDeltaEvent) = "ACTIVITY_DELTA",
        /// Carries a provider's event unchanged.
        Raw(RawEvent) = "RAW",
        /// Carries application-defined data.
        Custom(CustomEvent) = "CUSTOM",
        /// Begins a run.
        RunStarted(RunStartedEvent) = "RUN_STARTED",
        /// Ends a run without an error.
        RunFinished(RunFinishedEvent) = "RUN_FINISHED",
        /// Ends a run with an error.
        RunError(RunErrorEvent) = "RUN_ERROR",
        /// Begins a step.
        StepStarted(StepStartedEvent) = "STEP_STARTED",
        /// Ends a step.
        StepFinished(StepFinishedEvent) = "STEP_FINISHED",
        /// Opens a reasoning span.
        ReasoningStart(ReasoningStartEvent) = "REASONING_START",
        /// Opens a reasoning message.
        ReasoningMessageStart(ReasoningMessageStartEvent) = "REASONING_MESSAGE_START",
        /// Appends to a reasoning message.
        ReasoningMessageContent(ReasoningMessageContentEvent) = "REASONING_MESSAGE_CONTENT",
        /// Closes a reasoning message.
        ReasoningMessageEnd(ReasoningMessageEndEvent) = "REASONING_MESSAGE_END",
        /// Opens a reasoning message, appends to it, or both.
        ReasoningMessageChunk(ReasoningMessageChunkEvent) = "REASONING_MESSAGE_CHUNK",
        /// Closes a reasoning span.
        ReasoningEnd(ReasoningEndEvent) = "REASONING_END",
        /// Carries a provider's encrypted reasoning.
        ReasoningEncryptedValue(ReasoningEncryptedValueEvent) = "REASONING_ENCRYPTED_VALUE",
        /// Begins a subagent invocation.
        SubagentStarted(SubagentStartedEvent) = "SUBAGENT_STARTED",
        /// Ends a subagent invocation.
        SubagentFinished(SubagentFinishedEvent) = "SUBAGENT_FINISHED",
        /// Ends a subagent invocation with an error.
        SubagentError(SubagentErrorEvent) = "SUBAGENT_ERROR",
    }
}
