use crate::json_patch::PatchError;

/// What the reducer did not do, or did in another way than an event has it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Warning {
    /// Chunks are [expanded](crate::expand) before; nothing was done.
    #[error("a chunk was not expanded")]
    NotExpanded,
    /// Unknown events are [dropped](crate::enforce) before; nothing was done.
    #[error("the event is unknown")]
    UnknownEvent,
    /// There is no such message; nothing was done.
    #[error("there is no such message")]
    NoMessage,
    /// There is no such tool call; nothing was done.
    #[error("there is no such tool call")]
    NoToolCall,
    /// The message is an activity, or of an unknown role, and takes no text; nothing was done.
    #[error("the message takes no text")]
    NoText,
    /// The message is no activity; nothing was done.
    #[error("the message is no activity")]
    NoActivity,
    /// The parent of a call is no assistant message; the call went into a new one that is named as the call.
    #[error("the parent of the tool call is no assistant message")]
    ParentNotAssistant,
    /// A call that was opened again has another name from now on.
    #[error("the tool call has another name now")]
    Renamed,
    /// A patch could not be done; what it was for is as it was.
    ///
    /// Spec: [When a patch does not apply,
    /// 1.0](https://ag-ui.com/spec/1.0/basic/patterns/snapshots#when-a-patch-does-not-apply)
    #[error("the patch was not done: {0}")]
    Patch(PatchError),
    /// A patch would make the content of an activity something else than an object; nothing was done.
    #[error("the content of an activity has to stay an object")]
    NotAnObject,
    /// A value is nested too deep or has a number that no double can be near; nothing was done.
    #[error("the value is nested too deep or has too large a number")]
    Unreadable,
    /// There would be more than the limit; what is over it was not done.
    #[error("there is more than the limit")]
    TooMuch,
}
