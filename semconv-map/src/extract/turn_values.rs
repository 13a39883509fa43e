//! Values found by extractors, for a turn and for a tool call.
use super::{Active, Coverage, ExtractedValue, FoundValue, Message};
use crate::attribute::clip;
use acp_types::v1::prompt_turn::{Usage, UsageMembers};
use alloc::string::String;

/// Values of a turn.
#[derive(Clone, Debug, Default)]
pub(crate) struct TurnValues {
    input: Option<u64>,
    output: Option<u64>,
    total: Option<u64>,
    cache_read: Option<u64>,
    cache_write: Option<u64>,
    reasoning: Option<u64>,
    /// Whether the numbers of tokens are totals of the session.
    pub(crate) is_of_session: bool,
    /// A cost, and whether it is a total of the session.
    pub(crate) cost: Option<(f64, bool)>,
    pub(crate) model: Option<String>,
}

impl TurnValues {
    /// Reads the answer to a prompt.
    pub(crate) fn read_answer(&mut self, active: &Active, answer: &str) {
        self.read(active, |message| matches!(message, Message::Answer), answer);
    }

    /// Reads the params of a notification.
    pub(crate) fn read_notification(&mut self, active: &Active, method: &str, params: &str) {
        let is_read =
            |message: &Message| matches!(message, Message::Notification(it) if it == method);
        self.read(active, is_read, params);
    }

    fn read(&mut self, active: &Active, is_read: impl Fn(&Message) -> bool, json: &str) {
        active.each(
            is_read,
            |path| FoundValue::at(json, path),
            |row, found| {
                let slot = match row.value {
                    ExtractedValue::InputTokens => &mut self.input,
                    ExtractedValue::OutputTokens => &mut self.output,
                    ExtractedValue::TotalTokens => &mut self.total,
                    ExtractedValue::CacheReadTokens => &mut self.cache_read,
                    ExtractedValue::CacheWriteTokens => &mut self.cache_write,
                    ExtractedValue::ReasoningTokens => &mut self.reasoning,
                    ExtractedValue::Cost => {
                        let before = self
                            .cost
                            .map(|(cost, _)| cost)
                            .filter(|_| row.covers == Coverage::Call);
                        let cost = found.number().map(|cost| cost + before.unwrap_or_default());
                        self.cost = cost.map(|cost| (cost, row.covers == Coverage::Session));
                        return;
                    }
                    ExtractedValue::Model => {
                        self.model = Some(clip(&found.into_text()));
                        return;
                    }
                    _ => return,
                };
                let before = slot.filter(|_| row.covers == Coverage::Call).unwrap_or_default();
                *slot = found.tokens().map(|tokens| tokens.saturating_add(before));
                self.is_of_session = row.covers == Coverage::Session;
            },
        );
    }

    /// Returns the token counts, if input or output is known.
    pub(crate) fn usage(&self) -> Option<Usage> {
        self.input.or(self.output)?;
        let input = self.input.unwrap_or_default();
        let output = self.output.unwrap_or_default();
        // Without a total, cached and reasoning tokens are part of the counts, as the conventions
        // define.
        let total_tokens = self.total.unwrap_or_else(|| input.saturating_add(output));
        let members = UsageMembers { total_tokens, input_tokens: input, output_tokens: output };
        let mut usage = Usage::from(members);
        usage.cached_read_tokens = self.cache_read;
        usage.cached_write_tokens = self.cache_write;
        usage.thought_tokens = self.reasoning;
        Some(usage)
    }
}

/// Values of a message about a tool call.
#[derive(Clone, Debug, Default)]
pub(crate) struct ToolFacts {
    pub(crate) name: Option<String>,
    pub(crate) output: Option<String>,
    pub(crate) exit_code: Option<i64>,
}

impl ToolFacts {
    /// Reads a message. `lookup` returns the value at a path.
    pub(crate) fn read<'a>(
        active: &Active,
        announces: bool,
        lookup: impl Fn(&str) -> Option<FoundValue<'a>>,
    ) -> Self {
        let mut facts = Self::default();
        let is_read = |message: &Message| match message {
            Message::ToolCall => true,
            Message::Announcement => announces,
            _ => false,
        };
        active.each(is_read, lookup, |row, found| match row.value {
            ExtractedValue::ToolName => facts.name = Some(clip(&found.into_text())),
            ExtractedValue::ToolOutput => facts.output = Some(found.into_text()),
            ExtractedValue::ExitCode => facts.exit_code = found.integer(),
            _ => {}
        });
        facts
    }
}
