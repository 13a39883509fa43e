//! Updates, in the version of the connection.

use acp_types::v1::prompt_turn::SessionUpdate as UpdateV1;
use acp_types::v1::tool_calls::ToolCallContent as ContentV1;
use acp_types::v2::agent_plan::{PlanItems, PlanUpdate, PlanUpdateContent};
use acp_types::v2::content::ContentBlock;
use acp_types::v2::prompt_lifecycle::SessionUpdate;
use acp_types::v2::tool_calls::{Content, ToolCallContent, ToolCallUpdate};
use jsonrpc_core::wire::{DecodeError, Presence, Raw, Wire};

/// The plan of a session. Version 1 has one plan, without an id.
const PLAN: &str = "plan";

/// An update of the script.
#[derive(Clone, Debug)]
pub(crate) enum Update {
    /// An update that both versions have.
    Both(UpdateV1),
    /// An update that only version 2 has.
    V2(Box<SessionUpdate>),
}

impl From<UpdateV1> for Update {
    fn from(update: UpdateV1) -> Self {
        Self::Both(update)
    }
}

impl From<SessionUpdate> for Update {
    fn from(update: SessionUpdate) -> Self {
        Self::V2(Box::new(update))
    }
}

impl Update {
    /// Returns the update in version 2.
    ///
    /// # Errors
    /// Version 2 has no such update.
    pub(crate) fn in_v2(self) -> Result<SessionUpdate, DecodeError> {
        match self {
            Self::Both(update) => converted(update),
            Self::V2(update) => Ok(*update),
        }
    }
}

/// Converts an update to version 2.
fn converted(update: UpdateV1) -> Result<SessionUpdate, DecodeError> {
    match update {
        UpdateV1::ToolCall(mut call) => {
            let content = call.content.take().map_or(Presence::Absent, Presence::from);
            tool_call(&*call, content)
        }
        UpdateV1::ToolCallUpdate(mut call) => {
            let content = core::mem::take(&mut call.content);
            tool_call(&*call, content)
        }
        UpdateV1::Plan(plan) => {
            let entries = plan.entries.iter().map(|entry| Raw::of(entry).decode());
            let items = PlanItems::new(PLAN, entries.collect::<Result<Vec<_>, _>>()?);
            let plan = PlanUpdate::new(PlanUpdateContent::Items(items));
            Ok(SessionUpdate::PlanUpdate(Box::new(plan)))
        }
        // The JSON is the same in both versions.
        other => Raw::of(&other).decode(),
    }
}

/// Converts a tool call, announced or changed, and its content.
fn tool_call(
    call: &dyn Wire,
    content: Presence<Vec<ContentV1>>,
) -> Result<SessionUpdate, DecodeError> {
    let mut update: ToolCallUpdate = Raw::of(call).decode()?;
    update.content = match content {
        Presence::Absent => Presence::Absent,
        Presence::Null => Presence::Null,
        Presence::Value(content) => {
            let content = content.into_iter().map(|content| match content {
                ContentV1::Diff(diff) => Ok(ToolCallContent::Diff(Box::new((*diff).into()))),
                other => Raw::of(&other).decode(),
            });
            content.collect::<Result<Vec<_>, _>>()?.into()
        }
    };
    Ok(SessionUpdate::ToolCallUpdate(Box::new(update)))
}

/// Text as content of a tool call of version 2.
pub(crate) fn text(text: &str) -> ToolCallContent {
    ToolCallContent::Content(Box::new(Content::new(ContentBlock::from(text))))
}
