//! State events, and snapshots of the conversation.
//!
//! Spec: [State, 1.0](https://ag-ui.com/spec/1.0/events/state)
use crate::json_patch::JsonPatch;
use crate::message::Message;
use alloc::vec::Vec;
use jsonrpc_core::wire::Raw;

event! {
    /// Replaces the state.
    ///
    /// Spec: [`StateSnapshotEvent`, 1.0](https://ag-ui.com/spec/1.0/events/state#state_snapshot)
    #[doc(alias = "STATE_SNAPSHOT")]
    pub struct StateSnapshotEvent {
        /// The whole state: any JSON value.
        snapshot: Raw = "snapshot",
    }
    attributable
}

event! {
    /// Changes the state.
    ///
    /// Spec: [`StateDeltaEvent`, 1.0](https://ag-ui.com/spec/1.0/events/state#state_delta)
    #[doc(alias = "STATE_DELTA")]
    pub struct StateDeltaEvent {
        /// The change.
        delta: JsonPatch = "delta",
    }
    attributable
}

event! {
    /// Restates all messages that the producer owns.
    ///
    /// Spec: [`MessagesSnapshotEvent`,
    /// 1.0](https://ag-ui.com/spec/1.0/events/state#messages_snapshot)
    #[doc(alias = "MESSAGES_SNAPSHOT")]
    pub struct MessagesSnapshotEvent {
        /// The messages, in order.
        messages: Vec<Message> = "messages",
    }
}
