//! **Unstable.** Cursors: positions in the timeline of a session, such as places to fork at.
//!
//! Spec: [Session Cursors](https://agentclientprotocol.com/rfds/session-cursors)
use super::compaction::CompactionId;
use super::prompts::MessageId;
use super::tool_calls::ToolCallId;
use jsonrpc_core::wire::Meta;
use jsonrpc_core::{object, open_enum, open_union, string_id};

string_id! {
    /// **Unstable.** Identifies a cursor within its session. Only the agent knows its meaning.
    ///
    /// Spec: [`CursorId`](https://agentclientprotocol.com/protocol/v1/draft/schema#cursorid),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#cursorid)
    pub struct CursorId;
}

object! {
    /// **Unstable.** A cursor begins, or its capabilities change. Absent members keep the value,
    /// `null` clears the capabilities.
    ///
    /// Spec: [`CursorUpdate`](https://agentclientprotocol.com/protocol/v1/draft/schema#cursorupdate),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#cursorupdate)
    pub struct CursorUpdate {
        /// Identifier of the cursor. The first update with an id begins it.
        cursor_id: CursorId = "cursorId",
    }
    optional {
        /// Place of the cursor. The first update has one, and later ones have the same or none.
        anchor: CursorAnchor = "anchor",
    }
    patch {
        /// The methods that accept the cursor at present; initially none.
        capabilities: CursorCapabilities = "capabilities" [default_on_error],
        /// `_meta`: extension metadata.
        meta: Meta = "_meta",
    }
}

object! {
    /// **Unstable.** The methods that accept a cursor.
    ///
    /// Spec: [`CursorCapabilities`](https://agentclientprotocol.com/protocol/v1/draft/schema#cursorcapabilities),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#cursorcapabilities)
    pub struct CursorCapabilities {}
    optional {
        /// Present if `session/fork` accepts the cursor.
        fork: CursorForkCapabilities = "fork" [default_on_error],
    }
    and "_meta"
}

object! {
    /// **Unstable.** The session can be forked at a cursor.
    ///
    /// Spec: [`CursorForkCapabilities`](https://agentclientprotocol.com/protocol/v1/draft/schema#cursorforkcapabilities),
    /// [version
    /// 2](https://agentclientprotocol.com/protocol/v2/draft/schema#cursorforkcapabilities)
    pub struct CursorForkCapabilities {}
    and "_meta"
}

open_union! {
    /// **Unstable.** The place of a cursor: beside something that the client has. A cursor with an
    /// unknown anchor or position has no known place.
    ///
    /// Spec: [`CursorAnchor`](https://agentclientprotocol.com/protocol/v1/draft/schema#cursoranchor),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#cursoranchor)
    pub enum CursorAnchor by "type" {
        /// Beside a user message.
        UserMessage(CursorMessageAnchor) = "user_message" [shared],
        /// Beside an agent message.
        AgentMessage(CursorMessageAnchor) = "agent_message" [shared],
        /// Beside reasoning of the agent.
        AgentThought(CursorMessageAnchor) = "agent_thought" [shared],
        /// Beside a message from one session to another.
        SessionMessage(CursorMessageAnchor) = "session_message" [shared],
        /// Beside a tool call.
        ToolCall(CursorToolCallAnchor) = "tool_call",
        /// Beside a compaction.
        Compaction(CursorCompactionAnchor) = "compaction",
    }
}

open_enum! {
    /// **Unstable.** The side of its anchor on which a cursor is.
    ///
    /// Spec: [`CursorAnchorPosition`](https://agentclientprotocol.com/protocol/v1/draft/schema#cursoranchorposition),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#cursoranchorposition)
    pub enum CursorAnchorPosition {
        /// The history before the cursor ends before the anchor.
        Before = "before",
        /// The history before the cursor ends with the anchor.
        After = "after",
    }
}

object! {
    /// **Unstable.** A place beside a message.
    ///
    /// Spec: [`CursorMessageAnchor`](https://agentclientprotocol.com/protocol/v1/draft/schema#cursormessageanchor),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#cursormessageanchor)
    pub struct CursorMessageAnchor {
        /// Identifier of the message.
        message_id: MessageId = "messageId",
        /// The side of the message.
        position: CursorAnchorPosition = "position",
    }
    and "_meta"
}

object! {
    /// **Unstable.** A place beside a tool call.
    ///
    /// Spec: [`CursorToolCallAnchor`](https://agentclientprotocol.com/protocol/v1/draft/schema#cursortoolcallanchor),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#cursortoolcallanchor)
    pub struct CursorToolCallAnchor {
        /// Identifier of the tool call.
        tool_call_id: ToolCallId = "toolCallId",
        /// The side of the tool call.
        position: CursorAnchorPosition = "position",
    }
    and "_meta"
}

object! {
    /// **Unstable.** A place beside a compaction.
    ///
    /// Spec: [`CursorCompactionAnchor`](https://agentclientprotocol.com/protocol/v1/draft/schema#cursorcompactionanchor),
    /// [version
    /// 2](https://agentclientprotocol.com/protocol/v2/draft/schema#cursorcompactionanchor)
    pub struct CursorCompactionAnchor {
        /// Identifier of the compaction.
        compaction_id: CompactionId = "compactionId",
        /// The side of the compaction.
        position: CursorAnchorPosition = "position",
    }
    and "_meta"
}
