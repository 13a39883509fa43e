//! The extractors of known agents. The documentation of the parent module has them as a table.
use super::{Covers, Extracted, Extractor, Message};
use alloc::borrow::Cow;

const ANY: &str = "*";
const QUOTA_MODEL: &str = "/_meta/quota/model_usage/0/model";
const STATUS_LINE: &str = "/_meta/field_meta/openhands.dev~1metrics/status_line";

pub(super) const AGENTS: &[Extractor] = &[
    of_answer("gemini", "/_meta/quota/token_count/input_tokens", Extracted::InputTokens),
    of_answer("gemini", "/_meta/quota/token_count/output_tokens", Extracted::OutputTokens),
    of_answer("gemini", QUOTA_MODEL, Extracted::Model),
    of_answer("codex", QUOTA_MODEL, Extracted::Model),
    word("fast-agent", Message::Answer, STATUS_LINE, " in", Extracted::InputTokens),
    word("fast-agent", Message::Answer, STATUS_LINE, " out", Extracted::OutputTokens),
    of_tool_call(ANY, "/_meta/claudeCode/toolName", Extracted::ToolName),
    of_tool_call(ANY, "/_meta/x.ai~1tool/name", Extracted::ToolName),
    of_tool_call(ANY, "/_meta/toolName", Extracted::ToolName),
    of_tool_call(ANY, "/_meta/tool_name", Extracted::ToolName),
    word("gemini", Message::ToolCall, "/toolCallId", "__", Extracted::ToolName),
    word("cline", Message::ToolCall, "/title", ": ", Extracted::ToolName),
    of_announcement("fast-agent"),
    of_announcement("opencode"),
    of_tool_call(ANY, "/_meta/terminal_output/data", Extracted::ToolOutput),
    of_tool_call(ANY, "/_meta/terminal_exit/exit_code", Extracted::ExitCode),
    of_tool_call(ANY, "/rawOutput/exit_code", Extracted::ExitCode),
    of_tool_call("opencode", "/rawOutput/metadata/exit", Extracted::ExitCode),
    of_call("/update/_meta/usage/inputTokens", Extracted::InputTokens),
    of_call("/update/_meta/usage/outputTokens", Extracted::OutputTokens),
    of_call("/update/_meta/usage/totalTokens", Extracted::TotalTokens),
    of_call("/update/_meta/usage/cachedReadTokens", Extracted::CacheReadTokens),
    of_call("/update/_meta/usage/thoughtTokens", Extracted::ReasoningTokens),
    of_session("/_meta/openhands.dev~1metrics/input_tokens", Extracted::InputTokens),
    of_session("/_meta/openhands.dev~1metrics/output_tokens", Extracted::OutputTokens),
    of_session("/_meta/openhands.dev~1metrics/cache_read_tokens", Extracted::CacheReadTokens),
    of_session("/_meta/openhands.dev~1metrics/reasoning_tokens", Extracted::ReasoningTokens),
    of_session("/_meta/openhands.dev~1metrics/cost", Extracted::Cost),
    of_session("/_meta/field_meta/openhands.dev~1metrics/input_tokens", Extracted::InputTokens),
    of_session("/_meta/field_meta/openhands.dev~1metrics/output_tokens", Extracted::OutputTokens),
    of_session(
        "/_meta/field_meta/openhands.dev~1metrics/cache_read_tokens",
        Extracted::CacheReadTokens,
    ),
    of_session(
        "/_meta/field_meta/openhands.dev~1metrics/reasoning_tokens",
        Extracted::ReasoningTokens,
    ),
    of_session("/_meta/field_meta/openhands.dev~1metrics/cost", Extracted::Cost),
    of_grok("/update/usage/inputTokens", Extracted::InputTokens),
    of_grok("/update/usage/outputTokens", Extracted::OutputTokens),
    of_grok("/update/usage/cachedReadTokens", Extracted::CacheReadTokens),
    of_grok("/update/usage/reasoningTokens", Extracted::ReasoningTokens),
];

const fn row(
    agent: &'static str,
    message: Message,
    path: &'static str,
    value: Extracted,
) -> Extractor {
    let agent = Cow::Borrowed(agent);
    let path = Cow::Borrowed(path);
    Extractor { agent, message, path, before: None, value, covers: Covers::Turn }
}

const fn of_answer(agent: &'static str, path: &'static str, value: Extracted) -> Extractor {
    row(agent, Message::Answer, path, value)
}

const fn of_tool_call(agent: &'static str, path: &'static str, value: Extracted) -> Extractor {
    row(agent, Message::ToolCall, path, value)
}

/// The title of an announcement is the name of the tool; later titles are sentences.
const fn of_announcement(agent: &'static str) -> Extractor {
    row(agent, Message::Announcement, "/title", Extracted::ToolName)
}

/// Qwen Code reports the usage of each model call with an empty text.
const fn of_call(path: &'static str, value: Extracted) -> Extractor {
    const UPDATE: Message = Message::Notification(Cow::Borrowed("session/update"));
    covering(Covers::Call, row("qwen", UPDATE, path, value))
}

/// OpenHands reports the totals of the conversation with each update.
const fn of_session(path: &'static str, value: Extracted) -> Extractor {
    const UPDATE: Message = Message::Notification(Cow::Borrowed("session/update"));
    covering(Covers::Session, row("openhands", UPDATE, path, value))
}

/// Grok reports the usage of the turn at its end.
const fn of_grok(path: &'static str, value: Extracted) -> Extractor {
    const NOTIFICATION: Message =
        Message::Notification(Cow::Borrowed("_x.ai/session_notification"));
    row(ANY, NOTIFICATION, path, value)
}

const fn covering(covers: Covers, row: Extractor) -> Extractor {
    let mut row = row;
    row.covers = covers;
    row
}

const fn word(
    agent: &'static str,
    message: Message,
    path: &'static str,
    before: &'static str,
    value: Extracted,
) -> Extractor {
    let agent = Cow::Borrowed(agent);
    let path = Cow::Borrowed(path);
    let before = Some(Cow::Borrowed(before));
    Extractor { agent, message, path, before, value, covers: Covers::Turn }
}
