//! What a turn cost.
use acp_types::v1::prompt_turn::Usage;
use agui_types::integer::Count;
use agui_types::usage::TokenUsage;

/// A turn's token counts in AG-UI's words.
///
/// | ACP | AG-UI |
/// |---|---|
/// | `inputTokens` | `inputTokens` |
/// | `outputTokens` | `outputTokens` |
/// | `totalTokens` | `totalTokens` |
/// | `thoughtTokens` | `reasoningTokens` |
/// | `cachedReadTokens` | `cachedInputTokens` |
/// | `cachedWriteTokens` | `cacheWriteInputTokens` |
///
/// Counts beyond what AG-UI's numbers hold are the highest that they hold.
pub(crate) fn token_usage(usage: &Usage) -> TokenUsage {
    let count = |tokens: u64| Count::try_from(tokens).unwrap_or(Count::MAX);
    let mut tokens = TokenUsage::new();
    tokens.input_tokens = Some(count(usage.input_tokens));
    tokens.output_tokens = Some(count(usage.output_tokens));
    tokens.total_tokens = Some(count(usage.total_tokens));
    tokens.reasoning_tokens = usage.thought_tokens.map(count);
    tokens.cached_input_tokens = usage.cached_read_tokens.map(count);
    tokens.cache_write_input_tokens = usage.cached_write_tokens.map(count);
    tokens
}
