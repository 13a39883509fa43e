//! Bounds of a translator.
use serde::{Deserialize, Serialize};

/// Limits of a [`Translator`](crate::Translator): memory, and sizes of single events.
///
/// All sizes are bytes of UTF-8. Truncated values are marked.
///
/// ```
/// let mut limits = agui_bridge::Limits::default();
/// limits.result = 1024;
/// assert_eq!(limits.tool_calls, agui_bridge::Limits::TOOL_CALLS);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Limits {
    /// Text of one event; longer text is split into several events.
    pub delta: usize,
    /// Text of one tool result; longer text is truncated and marked.
    pub result: usize,
    /// Arguments of one tool call; longer ones are replaced by `{"omittedBytes":…}`.
    pub arguments: usize,
    /// Content of one activity, and value of one custom event; a longer one is replaced by its size.
    pub value: usize,
    /// Text of a tool call before its end; of a longer text, the end.
    pub progress: usize,
    /// Message of a `RUN_ERROR`, and title of a tool call; a longer one is truncated and marked.
    pub message: usize,
    /// Number of kept tool calls. Another call removes the oldest one with a result, or completes the oldest one.
    pub tool_calls: usize,
    /// Size of all tool calls without results; beyond it the oldest receive their results.
    pub tool_call_bytes: usize,
    /// Number of terminals with kept output; the oldest are removed.
    pub terminals: usize,
    /// Size of the conversation, if [`Options::history`](crate::Options::history) keeps it.
    pub history: usize,
    /// Size of the member `/acp` of the shared state; further facts are shown by custom events.
    pub state: usize,
    /// Number of updates that wait while no run is open; the oldest are dropped, and the next run reports their number.
    pub waiting_updates: usize,
    /// Size of those updates as JSON; the oldest are dropped.
    pub waiting_bytes: usize,
    /// Number of open questions; another one is refused.
    pub permissions: usize,
    /// Number of remembered identifiers, so that none is reused; later ones are numbered.
    pub ids: usize,
}

impl Limits {
    /// Default of [`delta`](Self::delta): 64 KiB.
    pub const DELTA: usize = 64 << 10;
    /// Default of [`result`](Self::result): 64 KiB.
    pub const RESULT: usize = 64 << 10;
    /// Default of [`arguments`](Self::arguments): 1 MiB.
    pub const ARGUMENTS: usize = 1 << 20;
    /// Default of [`value`](Self::value): 1 MiB.
    pub const VALUE: usize = 1 << 20;
    /// Default of [`progress`](Self::progress): 4 KiB.
    pub const PROGRESS: usize = 4 << 10;
    /// Default of [`message`](Self::message): 4 KiB.
    pub const MESSAGE: usize = 4 << 10;
    /// Default of [`tool_calls`](Self::tool_calls).
    pub const TOOL_CALLS: usize = 1024;
    /// Default of [`tool_call_bytes`](Self::tool_call_bytes): 64 MiB.
    pub const TOOL_CALL_BYTES: usize = 64 << 20;
    /// Default of [`terminals`](Self::terminals).
    pub const TERMINALS: usize = 64;
    /// Default of [`history`](Self::history): 64 MiB.
    pub const HISTORY: usize = 64 << 20;
    /// Default of [`state`](Self::state): 64 KiB.
    pub const STATE: usize = 64 << 10;
    /// Default of [`waiting_updates`](Self::waiting_updates).
    pub const WAITING_UPDATES: usize = 4096;
    /// Default of [`waiting_bytes`](Self::waiting_bytes): 32 MiB.
    pub const WAITING_BYTES: usize = 32 << 20;
    /// Default of [`permissions`](Self::permissions).
    pub const PERMISSIONS: usize = 64;
    /// Default of [`ids`](Self::ids).
    pub const IDS: usize = 65_536;
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            delta: Self::DELTA,
            result: Self::RESULT,
            arguments: Self::ARGUMENTS,
            value: Self::VALUE,
            progress: Self::PROGRESS,
            message: Self::MESSAGE,
            tool_calls: Self::TOOL_CALLS,
            tool_call_bytes: Self::TOOL_CALL_BYTES,
            terminals: Self::TERMINALS,
            history: Self::HISTORY,
            state: Self::STATE,
            waiting_updates: Self::WAITING_UPDATES,
            waiting_bytes: Self::WAITING_BYTES,
            permissions: Self::PERMISSIONS,
            ids: Self::IDS,
        }
    }
}
