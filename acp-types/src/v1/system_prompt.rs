//! **Unstable.** What the client tells the model before anybody says anything.
//!
//! Spec: [Client System Prompt](https://agentclientprotocol.com/rfds/client-system-prompt)
use super::content::ContentBlock;
use alloc::vec::Vec;
use jsonrpc_core::{object, open_enum};

object! {
    /// **Unstable.** What the client tells the model.
    ///
    /// Spec: [`SystemPrompt`](https://agentclientprotocol.com/protocol/v1/draft/schema#systemprompt)
    pub struct SystemPrompt {
        /// What becomes of the agent's own instructions.
        mode: SystemPromptMode = "mode",
        /// The instructions; text only, and not empty.
        content: Vec<ContentBlock> = "content",
    }
    and "_meta"
}

open_enum! {
    /// **Unstable.** What becomes of the agent's own instructions. An agent refuses one that it does not know.
    ///
    /// Spec: [`SystemPromptMode`](https://agentclientprotocol.com/protocol/v1/draft/schema#systempromptmode)
    pub enum SystemPromptMode {
        /// They stay, and the client's follow.
        Append = "append",
        /// The client's take their place.
        Override = "override",
    }
}
