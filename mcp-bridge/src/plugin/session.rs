//! A call of a tool that waits, as it is kept.
use super::ask::Ask;
use super::journal::Journal;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;
use jsonrpc_core::ErrorObject;
use jsonrpc_core::wire::Raw;
use serde::{Deserialize, Serialize};

/// Where a call of a tool is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SessionStatus {
    /// The tool runs.
    Running,
    /// It waits for the user.
    AwaitingElicit,
    /// It waits for the model, and for nobody else.
    AwaitingSample,
    /// It is done.
    Completed,
    /// It is done, and failed.
    Failed,
    /// Somebody ended it.
    Aborted,
    /// Nobody answered in time.
    Expired,
    /// It was parked in a program that has no memory of it.
    Lost,
}

impl SessionStatus {
    /// Whether nothing more happens to it.
    pub fn is_over(self) -> bool {
        !matches!(self, Self::Running | Self::AwaitingElicit | Self::AwaitingSample)
    }

    /// Whether it waits for answers.
    pub fn is_awaiting(self) -> bool {
        matches!(self, Self::AwaitingElicit | Self::AwaitingSample)
    }
}

/// A call of a tool that may wait, as it is kept. All times count from one moment that all who share the store agree on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SessionRecord {
    /// Names it. Whoever knows it can answer, so that it has to be hard to guess.
    pub id: String,
    /// The call that it belongs to, as the model has it.
    pub call_id: String,
    /// The tool.
    pub tool: String,
    /// The tool's code, by [`PluginTool::fingerprint`](super::PluginTool::fingerprint).
    pub fingerprint: String,
    /// Who called. Nobody else is let in.
    pub principal: String,
    /// The arguments of the call.
    pub arguments: Raw,
    /// Where it is.
    pub status: SessionStatus,
    /// What was asked and answered.
    pub journal: Journal,
    /// The result, once there is one.
    pub result: Option<Raw>,
    /// Why it ended, where it did before it was done.
    pub reason: Option<String>,
    /// The error of the protocol that it ended with, where it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorObject>,
    /// Whether it is a task, of which clients ask how it stands.
    #[serde(default)]
    pub is_task: bool,
    /// What it waits for, if it is a task.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asks: Vec<Ask>,
    /// One more each time it is kept.
    pub revision: u64,
    /// One more each time somebody begins to run it: who was before may no longer change it.
    pub epoch: u64,
    /// Who keeps it in memory or runs it.
    pub owner: String,
    /// When it began.
    pub created: Duration,
    /// When it ends by itself: who runs it is then taken for dead, nobody has answered, or it is over and may be forgotten.
    pub deadline: Duration,
    /// How long the tool ran, all in all.
    pub active: Duration,
    /// How long it waited, all in all.
    pub waited: Duration,
    /// Since when it runs, waits or is over.
    pub since: Duration,
}

/// How long things may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionLimits {
    /// How long a tool may run, all in all; the time for which it waits is not counted. It is looked at whenever the tool
    /// stops, and a tool is not stopped by it.
    pub active: Duration,
    /// How long an answer may take.
    pub waiting: Duration,
    /// How long a result is kept for those who answer twice.
    pub kept: Duration,
    /// How long whoever runs a tool is not taken for dead.
    pub lease: Duration,
    /// How long those who ask how a task stands should wait before they ask again.
    pub poll: Duration,
}

impl Default for SessionLimits {
    fn default() -> Self {
        let minutes = |minutes: u64| Duration::from_secs(60 * minutes);
        let poll = Duration::from_secs(1);
        Self {
            active: minutes(5),
            waiting: minutes(60),
            kept: minutes(10),
            lease: minutes(6),
            poll,
        }
    }
}
