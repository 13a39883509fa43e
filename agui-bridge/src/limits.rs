use serde::{Deserialize, Serialize};

/// Bounds on what a [`Translator`](crate::Translator) keeps and on what it puts into one event.
///
/// All sizes are bytes of UTF-8. Where something is cut, the event says so.
///
/// ```
/// let mut limits = agui_bridge::Limits::default();
/// limits.result = 1024;
/// assert_eq!(limits.tool_calls, agui_bridge::Limits::TOOL_CALLS);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Limits {
    /// Text of one event; a longer text comes in several.
    pub delta: usize,
    /// Text of one tool result; a longer one is cut and marked.
    pub result: usize,
    /// Arguments of one tool call; longer ones are replaced by `{"omittedBytes":…}`.
    pub arguments: usize,
    /// Content of one activity, and value of one custom event; what is longer is left out and its size given.
    pub value: usize,
    /// Text that a tool call shows before it ends; of a longer one, the end.
    pub progress: usize,
    /// Message of a `RUN_ERROR`, and title of a tool call; a longer one is cut and marked.
    pub message: usize,
    /// Tool calls that are kept. One more forgets the oldest that has its result, or gives the oldest its result.
    pub tool_calls: usize,
    /// What is kept of all tool calls without results together; the oldest get their results when it is more.
    pub tool_call_bytes: usize,
    /// Terminals of which the end of the output is kept; the oldest are forgotten.
    pub terminals: usize,
    /// The conversation, where [`Options::history`](crate::Options::history) has it kept.
    pub history: usize,
    /// What the shared state has under `/acp`; what does not fit is told by custom events.
    pub state: usize,
    /// Updates that are kept while no run is open; the oldest go first, and the next run says how many went.
    pub waiting_updates: usize,
    /// Size of those updates as JSON; the oldest go first here too.
    pub waiting_bytes: usize,
    /// Questions that wait for a person; one more is refused.
    pub permissions: usize,
    /// Identifiers that are remembered, so that none is used twice; later ones are numbers of our own.
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
