//! Identifiers and kinds of tool calls.
//!
//! Spec: [Tool Calls](https://agentclientprotocol.com/protocol/v1/tool-calls), [version 2](https://agentclientprotocol.com/protocol/v2/tool-calls)
use super::terminals::TerminalId;
use jsonrpc_core::{object, open_enum, string_id};

string_id! {
    /// Names a tool call within its session.
    ///
    /// Spec: [`ToolCallId`](https://agentclientprotocol.com/protocol/v1/schema#toolcallid), [version 2](https://agentclientprotocol.com/protocol/v2/schema#toolcallid)
    pub struct ToolCallId;
}

open_enum! {
    /// What kind of tool it is; for icons and the like.
    ///
    /// Spec: [`ToolKind`](https://agentclientprotocol.com/protocol/v1/schema#toolkind), [version 2](https://agentclientprotocol.com/protocol/v2/schema#toolkind)
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
        /// Gets data from elsewhere.
        Fetch = "fetch",
        /// Switches the session's mode.
        SwitchMode = "switch_mode",
        /// Anything else.
        Other = "other",
    }
}

impl ToolKind {
    /// The kind to show: one that is unknown is `other`.
    pub fn or_other(&self) -> &Self {
        if self.is_known() { self } else { &Self::Other }
    }
}

object! {
    /// A terminal whose output is shown. In version 1 the client runs it, in version 2 the agent.
    ///
    /// Spec: [`Terminal`](https://agentclientprotocol.com/protocol/v1/schema#terminal), [version 2](https://agentclientprotocol.com/protocol/v2/schema#terminal)
    pub struct Terminal {
        /// Which one: from `terminal/create`, in version 2 from `terminal_update`.
        terminal_id: TerminalId = "terminalId",
    }
    and "_meta"
}
