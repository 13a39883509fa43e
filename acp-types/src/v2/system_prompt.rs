//! **Unstable.** What the client tells the model before anybody says anything.
//!
//! Spec: [Client System Prompt](https://agentclientprotocol.com/rfds/client-system-prompt)
use super::content::ContentBlock;
pub use crate::shared::system_prompt::SystemPromptMode;
use alloc::vec::Vec;
use jsonrpc_core::object;

object! {
    /// **Unstable.** What the client tells the model.
    ///
    /// Spec: [`SystemPrompt`](https://agentclientprotocol.com/protocol/v2/draft/schema#systemprompt)
    pub struct SystemPrompt {
        /// What becomes of the agent's own instructions.
        mode: SystemPromptMode = "mode",
        /// The instructions; text only, and not empty.
        content: Vec<ContentBlock> = "content",
    }
    and "_meta"
}
