//! The extractors of known agents. The documentation of the parent module has them as a table.
use super::{Coverage, ExtractedValue, Extractor, Message};
use alloc::borrow::Cow;

const ANY: &str = "*";
const QUOTA_MODEL: &str = "/_meta/quota/model_usage/0/model";
const STATUS_LINE: &str = "/_meta/field_meta/openhands.dev~1metrics/status_line";

pub(super) const AGENTS: &[Extractor] = &[
    of_answer("gemini", "/_meta/quota/token_count/input_tokens", ExtractedValue::InputTokens),
    of_answer("gemini", "/_meta/quota/token_count/output_tokens", ExtractedValue::OutputTokens),
    of_answer("gemini", QUOTA_MODEL, ExtractedValue::Model),
    of_answer("codex", QUOTA_MODEL, ExtractedValue::Model),
    word("fast-agent", Message::Answer, STATUS_LINE, " in", ExtractedValue::InputTokens),
    word("fast-agent", Message::Answer, STATUS_LINE, " out", ExtractedValue::OutputTokens),
    of_tool_call(ANY, "/_meta/claudeCode/toolName", ExtractedValue::ToolName),
    of_tool_call(ANY, "/_meta/x.ai~1tool/name", ExtractedValue::ToolName),
    of_tool_call(ANY, "/_meta/toolName", ExtractedValue::ToolName),
    of_tool_call(ANY, "/_meta/tool_name", ExtractedValue::ToolName),
    word("gemini", Message::ToolCall, "/toolCallId", "__", ExtractedValue::ToolName),
    word("cline", Message::ToolCall, "/title", ": ", ExtractedValue::ToolName),
    of_announcement("fast-agent"),
    of_announcement("opencode"),
    of_tool_call(ANY, "/_meta/terminal_output/data", ExtractedValue::ToolOutput),
    of_tool_call(ANY, "/_meta/terminal_exit/exit_code", ExtractedValue::ExitCode),
    of_tool_call(ANY, "/rawOutput/exit_code", ExtractedValue::ExitCode),
    of_tool_call("opencode", "/rawOutput/metadata/exit", ExtractedValue::ExitCode),
    of_call("/update/_meta/usage/inputTokens", ExtractedValue::InputTokens),
    of_call("/update/_meta/usage/outputTokens", ExtractedValue::OutputTokens),
    of_call("/update/_meta/usage/totalTokens", ExtractedValue::TotalTokens),
    of_call("/update/_meta/usage/cachedReadTokens", ExtractedValue::CacheReadTokens),
    of_call("/update/_meta/usage/thoughtTokens", ExtractedValue::ReasoningTokens),
    of_session("/_meta/openhands.dev~1metrics/input_tokens", ExtractedValue::InputTokens),
    of_session("/_meta/openhands.dev~1metrics/output_tokens", ExtractedValue::OutputTokens),
    of_session("/_meta/openhands.dev~1metrics/cache_read_tokens", ExtractedValue::CacheReadTokens),
    of_session("/_meta/openhands.dev~1metrics/reasoning_tokens", ExtractedValue::ReasoningTokens),
    of_session("/_meta/openhands.dev~1metrics/cost", ExtractedValue::Cost),
    of_session(
        "/_meta/field_meta/openhands.dev~1metrics/input_tokens",
        ExtractedValue::InputTokens,
    ),
    of_session(
        "/_meta/field_meta/openhands.dev~1metrics/output_tokens",
        ExtractedValue::OutputTokens,
    ),
    of_session(
        "/_meta/field_meta/openhands.dev~1metrics/cache_read_tokens",
        ExtractedValue::CacheReadTokens,
    ),
    of_session(
        "/_meta/field_meta/openhands.dev~1metrics/reasoning_tokens",
        ExtractedValue::ReasoningTokens,
    ),
    of_session("/_meta/field_meta/openhands.dev~1metrics/cost", ExtractedValue::Cost),
    of_grok("/update/usage/inputTokens", ExtractedValue::InputTokens),
    of_grok("/update/usage/outputTokens", ExtractedValue::OutputTokens),
    of_grok("/update/usage/cachedReadTokens", ExtractedValue::CacheReadTokens),
    of_grok("/update/usage/reasoningTokens", ExtractedValue::ReasoningTokens),
];

const fn row(
    agent: &'static str,
    message: Message,
    path: &'static str,
    value: ExtractedValue,
) -> Extractor {
    let agent = Cow::Borrowed(agent);
    let path = Cow::Borrowed(path);
    Extractor { agent, message, path, before: None, value, covers: Coverage::Turn }
}

const fn of_answer(agent: &'static str, path: &'static str, value: ExtractedValue) -> Extractor {
    row(agent, Message::Answer, path, value)
}

const fn of_tool_call(agent: &'static str, path: &'static str, value: ExtractedValue) -> Extractor {
    row(agent, Message::ToolCall, path, value)
}

/// The title of an announcement is the name of the tool; later titles are sentences.
const fn of_announcement(agent: &'static str) -> Extractor {
    row(agent, Message::Announcement, "/title", ExtractedValue::ToolName)
}

/// Qwen Code reports the usage of each model call with an empty text.
const fn of_call(path: &'static str, value: ExtractedValue) -> Extractor {
    const UPDATE: Message = Message::Notification(Cow::Borrowed("session/update"));
    covering(Coverage::Call, row("qwen", UPDATE, path, value))
}

/// OpenHands reports the totals of the conversation with each update.
const fn of_session(path: &'static str, value: ExtractedValue) -> Extractor {
    const UPDATE: Message = Message::Notification(Cow::Borrowed("session/update"));
    covering(Coverage::Session, row("openhands", UPDATE, path, value))
}

/// Grok reports the usage of the turn at its end.
const fn of_grok(path: &'static str, value: ExtractedValue) -> Extractor {
    const NOTIFICATION: Message =
        Message::Notification(Cow::Borrowed("_x.ai/session_notification"));
    row(ANY, NOTIFICATION, path, value)
}

const fn covering(covers: Coverage, row: Extractor) -> Extractor {
    let mut row = row;
    row.covers = covers;
    row
}

const fn word(
    agent: &'static str,
    message: Message,
    path: &'static str,
    before: &'static str,
    value: ExtractedValue,
) -> Extractor {
    let agent = Cow::Borrowed(agent);
    let path = Cow::Borrowed(path);
    let before = Some(Cow::Borrowed(before));
    Extractor { agent, message, path, before, value, covers: Coverage::Turn }
}
