//! Activity events: structured progress outside of the conversation.
//!
//! Spec: [Activity, 1.0](https://ag-ui.com/spec/1.0/events/activity)
use crate::id::MessageId;
use crate::json_patch::JsonPatch;
use alloc::string::String;
use jsonrpc_core::wire::Extra;

event! {
    /// Creates or replaces an activity message.
    ///
    /// Spec: [`ActivitySnapshotEvent`,
    /// 1.0](https://ag-ui.com/spec/1.0/events/activity#activity_snapshot)
    #[doc(alias = "ACTIVITY_SNAPSHOT")]
    pub struct ActivitySnapshotEvent {
        /// The activity message.
        message_id: MessageId = "messageId",
        /// Type of the activity, an open string.
        activity_type: String = "activityType",
        /// The content: an object, open by key.
        content: Extra = "content",
    }
    optional {
        /// Whether an existing activity is replaced; absent means `true`.
        replace: bool = "replace",
    }
    attributable
}

event! {
    /// Changes the content of an activity message.
    ///
    /// Spec: [`ActivityDeltaEvent`, 1.0](https://ag-ui.com/spec/1.0/events/activity#activity_delta)
    #[doc(alias = "ACTIVITY_DELTA")]
    pub struct ActivityDeltaEvent {
        /// The activity message.
        message_id: MessageId = "messageId",
        /// Type of the activity from now on.
        activity_type: String = "activityType",
        /// The change of the content, which has to remain an object.
        patch: JsonPatch = "patch",
    }
    attributable
}
