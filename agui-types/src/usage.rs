//! Token usage of a run.
//!
//! Spec: [Token usage, 1.0](https://ag-ui.com/spec/1.0/events/lifecycle#token-usage)
use crate::integer::Count;
use alloc::string::String;
use jsonrpc_core::object;

object! {
    /// Tokens that a run used, of one model of one provider.
    ///
    /// Input and output are totals. The other counts are parts of them: reasoning of the output,
    /// the two cache counts (which do not overlap) of the input. An absent count is unknown, not
    /// zero.
    ///
    /// Spec: [`TokenUsage`, 1.0](https://ag-ui.com/spec/1.0/schema#tokenusage)
    pub struct TokenUsage {}
    optional {
        /// Identifier of the vendor, in lower case.
        provider: String = "provider",
        /// Name of the model.
        model: String = "model",
        /// Prompt tokens in total.
        input_tokens: Count = "inputTokens",
        /// Generated tokens in total.
        output_tokens: Count = "outputTokens",
        /// Sum of input and output tokens.
        total_tokens: Count = "totalTokens",
        /// Generated tokens that were reasoning.
        reasoning_tokens: Count = "reasoningTokens",
        /// Prompt tokens that were read from a cache.
        cached_input_tokens: Count = "cachedInputTokens",
        /// Prompt tokens that were written to a cache.
        cache_write_input_tokens: Count = "cacheWriteInputTokens",
    }
}
