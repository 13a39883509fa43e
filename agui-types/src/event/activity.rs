//! Progress that is not conversation.
//!
//! Spec: [Activity, 1.0](https://ag-ui.com/spec/1.0/events/activity)
use crate::id::MessageId;
use crate::json_patch::JsonPatch;
use alloc::string::String;
use jsonrpc_core::wire::Extra;

event! {
    /// Makes or replaces an activity message.
    ///
    /// Spec: [`ActivitySnapshotEvent`, 1.0](https://ag-ui.com/spec/1.0/events/activity#activity_snapshot)
    pub struct ActivitySnapshotEvent {
        /// The activity message.
        message_id: MessageId = "messageId",
        /// What kind of progress, as an open string.
        activity_type: String = "activityType",
        /// An object, open by key.
        content: Extra = "content",
    }
    optional {
        /// Whether it replaces an activity that is there; absent means that it does.
        replace: bool = "replace",
    }
    attributable
}

event! {
    /// Changes the content of an activity message.
    ///
    /// Spec: [`ActivityDeltaEvent`, 1.0](https://ag-ui.com/spec/1.0/events/activity#activity_delta)
    pub struct ActivityDeltaEvent {
        /// The activity message.
        message_id: MessageId = "messageId",
        /// What kind of progress it is from now on.
        activity_type: String = "activityType",
        /// The change of its content, which has to stay an object.
        patch: JsonPatch = "patch",
    }
    attributable
}
