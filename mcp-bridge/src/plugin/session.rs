//! Records of sessions and their time limits.
use super::ask::Ask;
use super::journal::Journal;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;
use jsonrpc_core::ErrorObject;
use jsonrpc_core::wire::{Meta, Raw};
use serde::{Deserialize, Serialize};

/// Status of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SessionStatus {
    /// The tool runs.
    Running,
    /// The tool waits for the user.
    AwaitingElicit,
    /// The tool waits for the model or the client, not for the user.
    AwaitingSample,
    /// The tool returned a result.
    Completed,
    /// The tool returned an error.
    Failed,
    /// The call was aborted.
    Aborted,
    /// The answers did not arrive in time.
    Expired,
    /// The call was parked in a program that has ended.
    Lost,
}

impl SessionStatus {
    /// Returns whether the status is final.
    pub fn is_over(self) -> bool {
        !matches!(self, Self::Running | Self::AwaitingElicit | Self::AwaitingSample)
    }

    /// Returns whether the tool waits for answers.
    pub fn is_awaiting(self) -> bool {
        matches!(self, Self::AwaitingElicit | Self::AwaitingSample)
    }
}

/// Stored state of a call. Times are offsets from an epoch shared by all programs that use the
/// store.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SessionRecord {
    /// Id of the session. It has to be unpredictable, because its holder can answer.
    pub id: String,
    /// Id of the tool call, as used by the model.
    pub call_id: String,
    /// Name of the tool.
    pub tool: String,
    /// [`PluginTool::fingerprint`](super::PluginTool::fingerprint) of the tool's code.
    pub fingerprint: String,
    /// The caller. Other principals have no access to the session.
    pub principal: String,
    /// The `_meta` of the first request, without the members that the protocol defines for each
    /// request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
    /// Arguments of the call.
    pub arguments: Raw,
    /// Current status.
    pub status: SessionStatus,
    /// Outcomes of questions and steps.
    pub journal: Journal,
    /// The result, if the call has ended with one.
    pub result: Option<Raw>,
    /// The reason why the call ended without a result.
    pub reason: Option<String>,
    /// The protocol error that ended the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorObject>,
    /// Whether the call is a [task](crate::mcp::tasks).
    #[serde(default)]
    pub is_task: bool,
    /// Open questions of a task.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asks: Vec<Ask>,
    /// Number of times the record was saved.
    pub revision: u64,
    /// Number of times the session was claimed. A runner with an older epoch can no longer save.
    pub epoch: u64,
    /// The program that runs or parks the session.
    pub owner: String,
    /// Start of the call.
    pub created: Duration,
    /// End of the current status: of a runner's lease, of the wait for answers, or of the retention
    /// of a result.
    pub deadline: Duration,
    /// Total time that the tool ran.
    pub active: Duration,
    /// Total time that the tool waited.
    pub waited: Duration,
    /// Start of the current status.
    pub since: Duration,
}

impl SessionRecord {
    /// Fixed part of [`size`](Self::size): the members of constant size.
    const BASE_SIZE: usize = 512;

    /// Returns the approximate size in bytes, as counted by the limits of stores.
    pub fn size(&self) -> usize {
        let texts = [&self.id, &self.call_id, &self.tool, &self.principal, &self.owner];
        let texts: usize = texts.into_iter().chain(&self.reason).map(String::len).sum();
        let error = self.error.as_ref().map_or(0, |error| {
            error.message.len() + error.data.as_ref().map_or(0, |data| data.as_str().len())
        });
        let result = self.result.as_ref().map_or(0, |result| result.as_str().len());
        let asks: usize = self.asks.iter().map(Ask::size).sum();
        let meta = self.meta.as_ref().map_or(0, |meta| meta.as_str().len());
        let content = self.arguments.as_str().len() + self.journal.size() + result;
        Self::BASE_SIZE + texts + error + asks + meta + content
    }
}

/// Time limits of sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionLimits {
    /// Maximum total running time of a tool, excluding waits. Checked whenever the tool stops.
    pub active: Duration,
    /// Maximum time to wait for an answer.
    pub waiting: Duration,
    /// Retention of a result for repeated answers.
    pub kept: Duration,
    /// Time after which a running session may be taken over by another program.
    pub lease: Duration,
    /// Suggested interval between polls of a task.
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
