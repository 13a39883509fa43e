//! The system prompt, as set by a client.
//!
//! Spec: [Client System Prompt](https://agentclientprotocol.com/rfds/client-system-prompt)
use jsonrpc_core::open_enum;

open_enum! {
    /// The effect on the agent's own instructions. An agent refuses an unknown name.
    ///
    /// Spec: [`SystemPromptMode`](https://agentclientprotocol.com/protocol/v1/schema#systempromptmode),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/schema#systempromptmode)
    pub enum SystemPromptMode {
        /// The client's instructions are appended.
        Append = "append",
        /// The client's instructions replace the agent's.
        Override = "override",
    }
}
