//! **Unstable.** The system prompt that a client sets.
//!
//! Spec: [Client System Prompt](https://agentclientprotocol.com/rfds/client-system-prompt)
use jsonrpc_core::open_enum;

open_enum! {
    /// **Unstable.** What becomes of the agent's own instructions. An agent refuses one that it does not know.
    ///
    /// Spec: [`SystemPromptMode`](https://agentclientprotocol.com/protocol/v1/draft/schema#systempromptmode), [version 2](https://agentclientprotocol.com/protocol/v2/draft/schema#systempromptmode)
    pub enum SystemPromptMode {
        /// They stay, and the client's follow.
        Append = "append",
        /// The client's take their place.
        Override = "override",
    }
}
