//! Bounds of a translator.
use serde::{Deserialize, Serialize};

/// Limits of a [`Translator`](crate::Translator): memory, and sizes of single events.
///
/// All sizes are bytes of UTF-8. Truncated values are marked.
///
/// ```
/// let mut limits = agui_bridge::Limits::default();
/// limits.result = 1024;
/// assert_eq!(limits.tool_calls, 1024);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Limits {
    /// Text of one event, 64 KiB by default; longer text is split into several events.
    pub delta: usize,
    /// Text of one tool result, 64 KiB by default; longer text is truncated and marked.
    pub result: usize,
    /// Arguments of one tool call, 1 MiB by default; longer ones are replaced by
    /// `{"omittedBytes":…}`.
    pub arguments: usize,
    /// Content of one activity, and value of one custom event, 1 MiB by default; a longer one is
    /// replaced by its size.
    pub value: usize,
    /// Text of a tool call before its end, 4 KiB by default; of a longer text, the end.
    pub progress: usize,
    /// Message of a `RUN_ERROR`, and title of a tool call, 4 KiB by default; a longer one is
    /// truncated and marked.
    pub message: usize,
    /// Number of kept tool calls, 1024 by default. Another call removes the oldest one with a
    /// result, or completes the oldest one.
    pub tool_calls: usize,
    /// Size of all tool calls without results, 64 MiB by default; beyond it the oldest receive
    /// their results.
    pub tool_call_bytes: usize,
    /// Number of terminals with kept output, 64 by default; the oldest are removed.
    pub terminals: usize,
    /// Size of the conversation, 64 MiB by default, if
    /// [`Options::history`](crate::Options::history) keeps it.
    pub history: usize,
    /// Size of the member `/acp` of the shared state, 64 KiB by default; further facts are shown by
    /// custom events.
    pub state: usize,
    /// Number of updates that wait while no run is open, 4096 by default; the oldest are dropped,
    /// and the next run reports their number.
    pub waiting_updates: usize,
    /// Size of those updates as JSON, 32 MiB by default; the oldest are dropped.
    pub waiting_bytes: usize,
    /// Number of open questions, 64 by default; another one is refused.
    pub permissions: usize,
    /// Number of remembered identifiers, 65,536 by default, so that none is reused; later ones are
    /// numbered.
    pub ids: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            delta: 64 << 10,
            result: 64 << 10,
            arguments: 1 << 20,
            value: 1 << 20,
            progress: 4 << 10,
            message: 4 << 10,
            tool_calls: 1024,
            tool_call_bytes: 64 << 20,
            terminals: 64,
            history: 64 << 20,
            state: 64 << 10,
            waiting_updates: 4096,
            waiting_bytes: 32 << 20,
            permissions: 64,
            ids: 65_536,
        }
    }
}
