//! Token counts of a turn.
use super::count;
use crate::attribute::Attributes;
use crate::keys;
use crate::policy::{Policy, UsagePolicy};
use acp_types::v1::prompt_turn::Usage;

/// Token counts, for differences between turns.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tokens {
    input: u64,
    output: u64,
    cached_read: Option<u64>,
    cached_write: Option<u64>,
    thought: Option<u64>,
}

pub(super) fn set(
    policy: &Policy,
    covers: UsagePolicy,
    usage: &Usage,
    before: &mut Tokens,
    attributes: &mut Attributes,
) {
    let now = Tokens::of(usage);
    let turn = match covers {
        UsagePolicy::PerTurn => now,
        UsagePolicy::Cumulative => now.since(before),
    };
    *before = now;
    attributes.set(keys::GEN_AI_USAGE_INPUT_TOKENS, count(turn.input));
    attributes.set(keys::GEN_AI_USAGE_OUTPUT_TOKENS, count(turn.output));
    for (key, tokens) in [
        (policy.profile.cache_read_tokens, turn.cached_read),
        (policy.profile.cache_write_tokens, turn.cached_write),
        (policy.profile.reasoning_tokens, turn.thought),
    ] {
        if let Some(key) = key {
            attributes.set_some(key, tokens.map(count));
        }
    }
}

impl Tokens {
    /// The conventions count cached tokens as input and reasoning as output, but agents may not.
    /// The total decides: counts that it otherwise lacks are added.
    fn of(usage: &Usage) -> Self {
        let read = usage.cached_read_tokens;
        let write = usage.cached_write_tokens;
        let cached = read.unwrap_or_default().saturating_add(write.unwrap_or_default());
        let thought = usage.thought_tokens.unwrap_or_default();
        let more = usage
            .total_tokens
            .saturating_sub(usage.input_tokens)
            .saturating_sub(usage.output_tokens);
        let apart = [(0, 0), (cached, thought), (cached, 0), (0, thought)];
        let is_total = |(cached, thought): &(u64, u64)| cached.saturating_add(*thought) == more;
        let (cached, thought) = apart.into_iter().find(is_total).unwrap_or_default();
        Self {
            input: usage.input_tokens.saturating_add(cached),
            output: usage.output_tokens.saturating_add(thought),
            cached_read: read,
            cached_write: write,
            thought: usage.thought_tokens,
        }
    }

    fn since(self, before: &Self) -> Self {
        let since = |now: Option<u64>, before: Option<u64>| {
            now.map(|now| now.saturating_sub(before.unwrap_or_default()))
        };
        Self {
            input: self.input.saturating_sub(before.input),
            output: self.output.saturating_sub(before.output),
            cached_read: since(self.cached_read, before.cached_read),
            cached_write: since(self.cached_write, before.cached_write),
            thought: since(self.thought, before.thought),
        }
    }
}
