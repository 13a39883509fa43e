//! What a run's model calls cost.
//!
//! Spec: [Token usage, 1.0](https://ag-ui.com/spec/1.0/events/lifecycle#token-usage)
use crate::integer::Count;
use alloc::string::String;
use jsonrpc_core::object;

object! {
    /// Tokens that a run used of one model of one provider.
    ///
    /// Input and output are totals, and the other counts are parts of them: reasoning of the output, the two cache
    /// counts (which do not overlap) of the input. An absent count is unknown, not zero.
    ///
    /// Spec: [`TokenUsage`, 1.0](https://ag-ui.com/spec/1.0/schema#tokenusage)
    pub struct TokenUsage {}
    optional {
        /// The vendor's identifier, in lower case.
        provider: String = "provider",
        /// The model.
        model: String = "model",
        /// All prompt tokens, in tokens.
        input_tokens: Count = "inputTokens",
        /// All generated tokens, in tokens.
        output_tokens: Count = "outputTokens",
        /// Input and output together, in tokens.
        total_tokens: Count = "totalTokens",
        /// Generated tokens that were reasoning, in tokens.
        reasoning_tokens: Count = "reasoningTokens",
        /// Prompt tokens that were read from a cache, in tokens.
        cached_input_tokens: Count = "cachedInputTokens",
        /// Prompt tokens that were written to a cache, in tokens.
        cache_write_input_tokens: Count = "cacheWriteInputTokens",
    }
}
