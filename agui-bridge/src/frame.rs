//! The circumstances under which an update is translated.
use crate::limits::Limits;
use agui_types::id::SubagentRunId;
use core::time::Duration;

/// The run and the session that an update belongs to, with the bounds that hold.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame<'a> {
    pub(crate) limits: &'a Limits,
    /// Whether the client speaks AG-UI 1.0.
    pub(crate) is_modern: bool,
    /// Number of the thread's last run.
    pub(crate) run: u64,
    /// Number of the turn during which, or after which, the update arrived.
    pub(crate) turn: u64,
    /// The last known time.
    pub(crate) now: Option<Duration>,
    /// The session of the subagent that speaks; empty for the agent itself.
    pub(crate) lane: &'a str,
    /// The subagent's invocation that the events are attributed to.
    pub(crate) owner: Option<&'a SubagentRunId>,
}

impl<'a> Frame<'a> {
    /// Returns the same circumstances for events of another invocation.
    pub(crate) fn owned_by<'b>(self, owner: Option<&'b SubagentRunId>) -> Frame<'b>
    where
        'a: 'b,
    {
        Frame { owner, ..self }
    }

    /// Returns the time after `wait`, where the time is known.
    pub(crate) fn after(&self, wait: Duration) -> Option<Duration> {
        self.now.map(|now| now.saturating_add(wait))
    }
}
