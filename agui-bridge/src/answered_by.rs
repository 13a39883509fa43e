//! The origin of the answer to a request of the agent.
use core::fmt;
use serde::{Deserialize, Serialize};

/// The origin of the answer to a permission request or an elicitation.
///
/// Its text is the member `answeredBy` of `acp.permission`, `acp.permission.resolved`,
/// `acp.elicitation` and `acp.elicitation.resolved`.
///
/// ```
/// assert_eq!(agui_bridge::AnsweredBy::Policy.as_str(), "policy");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum AnsweredBy {
    /// `user`: an answer of the user, or a message that leaves the question open and goes on.
    User,
    /// `rule`: a decision that the program passed in with the request.
    Rule,
    /// `policy`: the policy of the options.
    Policy,
    /// `limit`: the request is too long, or too many are open.
    Limit,
    /// `time`: the question expired.
    Time,
    /// `agent`: the agent withdrew the request.
    Agent,
    /// `unasked`: no question can be sent to the user, because the turn has ended or the page does
    /// not support it.
    Unasked,
    /// `end`: the turn ended, or is being cancelled.
    End,
}

impl AnsweredBy {
    /// Returns the text of the origin.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Rule => "rule",
            Self::Policy => "policy",
            Self::Limit => "limit",
            Self::Time => "time",
            Self::Agent => "agent",
            Self::Unasked => "unasked",
            Self::End => "end",
        }
    }
}

impl fmt::Display for AnsweredBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
