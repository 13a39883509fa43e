//! The system prompt, as set by a client.
//!
//! Spec: [Client System Prompt](https://agentclientprotocol.com/rfds/client-system-prompt)
use super::content::ContentBlock;
pub use crate::shared::system_prompt::SystemPromptMode;
use alloc::vec::Vec;
use jsonrpc_core::object;

object! {
    /// Instructions for the model.
    ///
    /// Spec: [`SystemPrompt`](https://agentclientprotocol.com/protocol/v2/schema#systemprompt)
    pub struct SystemPrompt {
        /// The effect on the agent's own instructions.
        mode: SystemPromptMode = "mode",
        /// The instructions; text content only, not empty.
        content: Vec<ContentBlock> = "content",
    }
    and "_meta"
}
