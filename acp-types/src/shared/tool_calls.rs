//! Identifiers and kinds of tool calls.
//!
//! Spec: [Tool Calls](https://agentclientprotocol.com/protocol/v1/tool-calls), [version
//! 2](https://agentclientprotocol.com/protocol/v2/tool-calls)
use super::session_setup::SessionId;
use super::terminals::TerminalId;
use jsonrpc_core::{object, open_enum, string_id};

string_id! {
    /// Identifies a tool call within its session.
    ///
    /// Spec: [`ToolCallId`](https://agentclientprotocol.com/protocol/v1/schema#toolcallid),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/schema#toolcallid)
    pub struct ToolCallId;
}

open_enum! {
    /// The kind of a tool, for example for icons.
    ///
    /// Spec: [`ToolKind`](https://agentclientprotocol.com/protocol/v1/schema#toolkind), [version
    /// 2](https://agentclientprotocol.com/protocol/v2/schema#toolkind)
    pub enum ToolKind {
        /// Reads files or data.
        Read = "read",
        /// Changes files or content.
        Edit = "edit",
        /// Deletes files or data.
        Delete = "delete",
        /// Moves or renames files.
        Move = "move",
        /// Searches.
        Search = "search",
        /// Runs commands or code.
        Execute = "execute",
        /// Reasons or plans.
        Think = "think",
        /// Fetches external data.
        Fetch = "fetch",
        /// Switches the session's mode.
        SwitchMode = "switch_mode",
        /// Anything else.
        Other = "other",
    }
}

impl ToolKind {
    /// Returns the kind, with `other` for an unknown name.
    pub fn or_other(&self) -> &Self {
        if self.is_known() { self } else { &Self::Other }
    }
}

object! {
    /// A terminal with its output for display. In version 1 the client runs it, in version 2 the
    /// agent.
    ///
    /// Spec: [`Terminal`](https://agentclientprotocol.com/protocol/v1/schema#terminal), [version
    /// 2](https://agentclientprotocol.com/protocol/v2/schema#terminal)
    pub struct Terminal {
        /// Identifier of the terminal, from `terminal/create` or (version 2) `terminal_update`.
        terminal_id: TerminalId = "terminalId",
    }
    and "_meta"
}

object! {
    /// A reference to another session that a tool call works with, such as a subagent, for display.
    ///
    /// Spec: [`SessionReference`](https://agentclientprotocol.com/protocol/v1/schema#sessionreference),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/schema#sessionreference)
    pub struct SessionReference {
        /// Identifier of the session, which the client already knows.
        session_id: SessionId = "sessionId",
    }
    and "_meta"
}
