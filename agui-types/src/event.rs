//! The events that an agent answers with.
//!
//! [`Event`] is one of the thirty-one of AG-UI 1.0, or one that is newer, kept whole. Members that all of them share
//! (`timestamp`, `rawEvent`, `metadata`, and `subagentRunId` where an event can belong to a subagent) are fields of
//! each.
//!
//! Spec: [Event Streams, 1.0](https://ag-ui.com/spec/1.0/events)
use crate::id::SubagentRunId;
use jsonrpc_core::open_union;

/// An event's struct: `object!` with the members of `BaseEvent`, and of `Attributable` where it says so.
macro_rules! event {
    (
        $(#[$attr:meta])*
        pub struct $Name:ident { $($required:tt)* }
        $(optional { $($optional:tt)* })?
        attributable
    ) => {
        event! { @object [$(#[$attr])*] $Name { $($required)* } {
            $($($optional)*)?
            /// The subagent's invocation that it belongs to; absent for the agent itself.
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
                /// When it was made: milliseconds since 1970 by convention. It says nothing about order.
                timestamp: $crate::integer::SafeInteger = "timestamp",
                /// The provider's event that this one was made from.
                raw_event: jsonrpc_core::wire::Raw = "rawEvent",
                /// Whatever the producer wants to add; it goes to the message or tool call that the event makes.
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

/// What every known event tells in the same way.
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

/// The union of all events, and what each of them tells in the same way.
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
            /// The subagent's invocation that the event belongs to, or is about; nothing for an unknown event.
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
    /// One event.
    ///
    /// ```
    /// use agui_types::event::{Event, TextMessageContentEvent};
    /// use jsonrpc_core::wire;
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
        /// A text message opens.
        TextMessageStart(TextMessageStartEvent) = "TEXT_MESSAGE_START",
        /// A text message goes on.
        TextMessageContent(TextMessageContentEvent) = "TEXT_MESSAGE_CONTENT",
        /// A text message closes.
        TextMessageEnd(TextMessageEndEvent) = "TEXT_MESSAGE_END",
        /// A text message opens, goes on, or both.
        TextMessageChunk(TextMessageChunkEvent) = "TEXT_MESSAGE_CHUNK",
        /// A tool call opens.
        ToolCallStart(ToolCallStartEvent) = "TOOL_CALL_START",
        /// A tool call's arguments go on.
        ToolCallArgs(ToolCallArgsEvent) = "TOOL_CALL_ARGS",
        /// A tool call's arguments are complete.
        ToolCallEnd(ToolCallEndEvent) = "TOOL_CALL_END",
        /// A tool call opens, goes on, or both.
        ToolCallChunk(ToolCallChunkEvent) = "TOOL_CALL_CHUNK",
        /// A tool answered.
        ToolCallResult(ToolCallResultEvent) = "TOOL_CALL_RESULT",
        /// The state is replaced.
        StateSnapshot(StateSnapshotEvent) = "STATE_SNAPSHOT",
        /// The state changes.
        StateDelta(StateDeltaEvent) = "STATE_DELTA",
        /// The messages are restated.
        MessagesSnapshot(MessagesSnapshotEvent) = "MESSAGES_SNAPSHOT",
        /// An activity appears or is replaced.
        ActivitySnapshot(ActivitySnapshotEvent) = "ACTIVITY_SNAPSHOT",
        /// An activity changes.
        ActivityDelta(ActivityDeltaEvent) = "ACTIVITY_DELTA",
        /// A provider's event, as it was.
        Raw(RawEvent) = "RAW",
        /// Something that the protocol does not describe.
        Custom(CustomEvent) = "CUSTOM",
        /// A run begins.
        RunStarted(RunStartedEvent) = "RUN_STARTED",
        /// A run ends without failure.
        RunFinished(RunFinishedEvent) = "RUN_FINISHED",
        /// A run fails.
        RunError(RunErrorEvent) = "RUN_ERROR",
        /// A phase begins.
        StepStarted(StepStartedEvent) = "STEP_STARTED",
        /// A phase ends.
        StepFinished(StepFinishedEvent) = "STEP_FINISHED",
        /// A stretch of reasoning opens.
        ReasoningStart(ReasoningStartEvent) = "REASONING_START",
        /// A reasoning message opens.
        ReasoningMessageStart(ReasoningMessageStartEvent) = "REASONING_MESSAGE_START",
        /// A reasoning message goes on.
        ReasoningMessageContent(ReasoningMessageContentEvent) = "REASONING_MESSAGE_CONTENT",
        /// A reasoning message closes.
        ReasoningMessageEnd(ReasoningMessageEndEvent) = "REASONING_MESSAGE_END",
        /// A reasoning message opens, goes on, or both.
        ReasoningMessageChunk(ReasoningMessageChunkEvent) = "REASONING_MESSAGE_CHUNK",
        /// A stretch of reasoning closes.
        ReasoningEnd(ReasoningEndEvent) = "REASONING_END",
        /// A provider's reasoning in its own cipher.
        ReasoningEncryptedValue(ReasoningEncryptedValueEvent) = "REASONING_ENCRYPTED_VALUE",
        /// A subagent begins.
        SubagentStarted(SubagentStartedEvent) = "SUBAGENT_STARTED",
        /// A subagent ends.
        SubagentFinished(SubagentFinishedEvent) = "SUBAGENT_FINISHED",
        /// A subagent fails.
        SubagentError(SubagentErrorEvent) = "SUBAGENT_ERROR",
    }
}
