//! The circumstances of a translated update.
use crate::limits::Limits;
use agui_types::id::SubagentRunId;
use core::time::Duration;

/// The run and the session of an update, with the limits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame<'a> {
    pub(crate) limits: &'a Limits,
    /// Whether the client speaks AG-UI 1.0.
    pub(crate) is_modern: bool,
    /// Number of the thread's last run.
    pub(crate) run: u64,
    /// Number of the turn during which, or after which, the update arrived.
    pub(crate) turn: u64,
    /// Number of the turn during or after which the update arrived.
    pub(crate) now: Option<Duration>,
    /// The session of the subagent; empty for the agent itself.
    pub(crate) lane: &'a str,
    /// The subagent invocation that owns the events.
    pub(crate) owner: Option<&'a SubagentRunId>,
}

impl<'a> Frame<'a> {
    /// Returns the same circumstances for another invocation.
    pub(crate) fn owned_by<'b>(self, owner: Option<&'b SubagentRunId>) -> Frame<'b>
    where
        'a: 'b,
    {
        Frame { owner, ..self }
    }

    /// Returns the time after `wait`, if the time is known.
    pub(crate) fn after(&self, wait: Duration) -> Option<Duration> {
        self.now.map(|now| now.saturating_add(wait))
    }
}
