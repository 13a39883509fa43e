//! The settings and counts of a thread that all events depend on.
use crate::frame::Frame;
use crate::options::Options;
use agui_types::id::SubagentRunId;
use agui_types::profile::Profile;
use alloc::string::String;
use core::time::Duration;
use serde::{Deserialize, Serialize};

/// Options, profile, time and counts, from which a [`Frame`] is created.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Basis {
    pub(super) options: Options,
    pub(super) profile: Profile,
    /// Number of runs so far.
    pub(super) runs: u64,
    /// Number of turns so far.
    pub(super) turns: u64,
    /// The last known time.
    pub(super) now: Option<Duration>,
}

/// The session that an update belongs to.
#[derive(Clone, Debug, Default)]
pub(super) struct Lane {
    /// The session of a subagent; empty for the agent itself.
    pub(super) name: String,
    /// The active invocation.
    pub(super) owner: Option<SubagentRunId>,
}

impl Basis {
    pub(super) fn new(options: Options) -> Self {
        let profile = options.profile.unwrap_or(Profile::V1);
        Self { options, profile, runs: 0, turns: 0, now: None }
    }

    /// Returns the frame of the agent itself.
    pub(super) fn root(&self) -> Frame<'_> {
        self.frame_of("", None)
    }

    pub(super) fn frame<'a>(&'a self, lane: &'a Lane) -> Frame<'a> {
        self.frame_of(&lane.name, lane.owner.as_ref())
    }

    pub(super) fn is_modern(&self) -> bool {
        self.profile != Profile::Legacy
    }

    fn frame_of<'a>(&'a self, lane: &'a str, owner: Option<&'a SubagentRunId>) -> Frame<'a> {
        Frame {
            limits: &self.options.limits,
            is_modern: self.is_modern(),
            run: self.runs,
            turn: self.turns,
            now: self.now,
            lane,
            owner,
        }
    }
}
