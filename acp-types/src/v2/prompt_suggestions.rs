//! **Unstable.** Prompts that an agent suggests.
//!
//! Spec: [`PromptSuggestionsUpdate`](https://agentclientprotocol.com/protocol/v2/draft/schema#promptsuggestionsupdate)
use super::content::ContentBlock;
use alloc::vec::Vec;
use jsonrpc_core::object;

object! {
    /// **Unstable.** The current suggestions, which replace the earlier ones. They are not part of
    /// the session's history.
    ///
    /// Spec: [`PromptSuggestionsUpdate`](https://agentclientprotocol.com/protocol/v2/draft/schema#promptsuggestionsupdate)
    pub struct PromptSuggestionsUpdate {
        /// The suggestions, the most likely one first; empty to withdraw them.
        suggestions: Vec<PromptSuggestion> = "suggestions" [skip_invalid_items] or "[]",
    }
    and "_meta"
}

object! {
    /// **Unstable.** A prompt that the user may send next.
    ///
    /// Spec: [`PromptSuggestion`](https://agentclientprotocol.com/protocol/v2/draft/schema#promptsuggestion)
    pub struct PromptSuggestion {
        /// Content of the prompt, not empty. Text and resource links are always valid; other content
        /// depends on the capabilities of both sides.
        prompt: Vec<ContentBlock> = "prompt",
    }
    and "_meta"
}
