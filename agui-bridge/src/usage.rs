//! Token usage of a turn.
use acp_types::v1::prompt_turn::{Usage, UsageMembers};
use agui_types::integer::Count;
use agui_types::usage::TokenUsage;
use alloc::string::String;

/// Converts a turn's token counts to AG-UI.
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
/// Counts beyond the range of AG-UI are clamped.
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

/// Converts token counts to ACP, for the reverse bridge. Unknown counts are zero where ACP requires
/// a number.
pub(crate) fn turn_usage(tokens: &TokenUsage) -> Usage {
    let count = |count: Option<Count>| count.map(Count::get);
    let input_tokens = count(tokens.input_tokens).unwrap_or_default();
    let output_tokens = count(tokens.output_tokens).unwrap_or_default();
    let total_tokens =
        count(tokens.total_tokens).unwrap_or_else(|| input_tokens.saturating_add(output_tokens));
    let mut usage = Usage::from(UsageMembers { total_tokens, input_tokens, output_tokens });
    usage.thought_tokens = count(tokens.reasoning_tokens);
    usage.cached_read_tokens = count(tokens.cached_input_tokens);
    usage.cached_write_tokens = count(tokens.cache_write_input_tokens);
    usage
}

/// Returns the sum of two usages; provider and model are kept if equal.
pub(crate) fn sum(one: &TokenUsage, other: &TokenUsage) -> TokenUsage {
    let add = |one: Option<Count>, other: Option<Count>| match (one, other) {
        (Some(one), Some(other)) => {
            Some(Count::try_from(one.get().saturating_add(other.get())).unwrap_or(Count::MAX))
        }
        (one, other) => one.or(other),
    };
    let same = |one: &Option<String>, other: &Option<String>| one.clone().filter(|_| one == other);
    let mut total = TokenUsage::new();
    total.provider = same(&one.provider, &other.provider);
    total.model = same(&one.model, &other.model);
    total.input_tokens = add(one.input_tokens, other.input_tokens);
    total.output_tokens = add(one.output_tokens, other.output_tokens);
    total.total_tokens = add(one.total_tokens, other.total_tokens);
    total.reasoning_tokens = add(one.reasoning_tokens, other.reasoning_tokens);
    total.cached_input_tokens = add(one.cached_input_tokens, other.cached_input_tokens);
    total.cache_write_input_tokens =
        add(one.cache_write_input_tokens, other.cache_write_input_tokens);
    total
}
