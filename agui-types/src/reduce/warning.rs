//! Warnings of the reducer.
use crate::json_patch::PatchError;

/// An event that the reducer did not apply, or applied differently.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Warning {
    /// A chunk was not [expanded](crate::expand). It was not applied.
    #[error("a chunk was not expanded")]
    NotExpanded,
    /// An unknown event was not [dropped](crate::enforce). It was not applied.
    #[error("the event is unknown")]
    UnknownEvent,
    /// The message does not exist, or cannot hold an encrypted value. The event was not applied.
    #[error("the message does not exist")]
    NoMessage,
    /// The tool call does not exist. The event was not applied.
    #[error("the tool call does not exist")]
    NoToolCall,
    /// The message is an activity or has an unknown role, and holds no text. The event was not
    /// applied.
    #[error("the message holds no text")]
    NoText,
    /// The message is not an activity. The event was not applied.
    #[error("the message is not an activity")]
    NoActivity,
    /// The parent of a call is not an assistant message. The call was added to a new message with
    /// the call's identifier.
    #[error("the parent of the tool call is not an assistant message")]
    ParentNotAssistant,
    /// A call was opened again under another tool name, which it now has.
    #[error("the tool call was opened again under another name")]
    Renamed,
    /// A patch does not apply. Its target stays unchanged.
    ///
    /// Spec: [When a patch does not apply,
    /// 1.0](https://ag-ui.com/spec/1.0/basic/patterns/snapshots#when-a-patch-does-not-apply)
    #[error("the patch was not applied: {0}")]
    Patch(PatchError),
    /// A patch would replace the object that an activity's content has to be. It was not applied.
    #[error("the content of an activity has to remain an object")]
    NotAnObject,
    /// A value is nested too deeply or has a number outside the range of a double. It was not
    /// applied.
    #[error("the value is nested too deeply or has too large a number")]
    Unreadable,
    /// The limit would be exceeded. The excess was not applied.
    #[error("the limit is exceeded")]
    TooMuch,
}
