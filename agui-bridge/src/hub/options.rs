//! Configuration of a hub.
use crate::conversation::ConversationOptions;
use agui_types::run_log::RunLogLimits;
use core::time::Duration;

/// Configuration of a [`Hub`](super::Hub), and its bounds.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HubOptions {
    /// Configuration of the conversations that runs begin.
    pub conversation: ConversationOptions,
    /// Bounds of the log of one run.
    pub log: RunLogLimits,
    /// Threads at most; 1024. Past it a run of a new thread is [refused](super::HubRefused::TooManyThreads).
    pub max_threads: usize,
    /// Logs of runs at most; 1024. Past it the oldest of runs that have ended are forgotten, and a run is
    /// [refused](super::HubRefused::TooManyRuns) while all are open.
    pub max_runs: usize,
    /// Bytes of all logs; 256 MiB. Past it the oldest of runs that have ended are forgotten.
    pub max_log_bytes: usize,
    /// Time after which a thread without runs is removed; 30 minutes.
    pub idle: Duration,
    /// Whether the agent runs on this machine, so that it can start MCP servers of the program; `true`.
    pub agent_is_local: bool,
    /// Whether sessions are loaded; `true`. Not to be set for a transport on which the answer to `session/load` may overtake
    /// the updates before it.
    pub can_load: bool,
}

impl HubOptions {
    /// Creates the default bounds.
    pub fn new(conversation: ConversationOptions) -> Self {
        Self {
            conversation,
            log: RunLogLimits { events: 20_000, bytes: 8 << 20 },
            max_threads: 1024,
            max_runs: 1024,
            max_log_bytes: 256 << 20,
            idle: Duration::from_secs(30 * 60),
            agent_is_local: true,
            can_load: true,
        }
    }
}
