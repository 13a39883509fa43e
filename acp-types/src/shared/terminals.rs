//! Terminal identifiers.
//!
//! Spec: [Terminals](https://agentclientprotocol.com/protocol/v1/terminals), [version
//! 2](https://agentclientprotocol.com/protocol/v2/tool-calls#terminals)
use jsonrpc_core::string_id;

string_id! {
    /// Identifies a terminal within its session.
    ///
    /// Spec: [`TerminalId`](https://agentclientprotocol.com/protocol/v1/schema#terminalid),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/schema#terminalid)
    pub struct TerminalId;
}
