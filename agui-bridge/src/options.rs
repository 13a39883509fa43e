//! Options of a translator.
use crate::arguments::ArgsMode;
use crate::elicitation::ElicitationMode;
use crate::ids;
use crate::limits::Limits;
use crate::permission::PermissionMode;
use agui_types::profile::Profile;
use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;
use serde::{Deserialize, Serialize};

/// Options of a [`Translator`](crate::Translator).
///
/// ```
/// use agui_bridge::{Options, PermissionMode, Policy};
///
/// let mut options = Options::new();
/// options.permission = PermissionMode::Policy(Policy::allow_all());
/// assert_eq!(options.profile, None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Options {
    /// The profile of the client; `None` derives it from each run's `protocolVersion`.
    pub profile: Option<Profile>,
    /// The handling of permission requests. The default rejects them.
    pub permission: PermissionMode,
    /// The handling of elicitations. The default declines them.
    pub elicitation: ElicitationMode,
    /// Whether clients before 1.0 receive interrupts too. They support interrupts from 0.0.54 on
    /// (`@ag-ui/client`; CopilotKit and assistant-ui depend on it), but do not send their version.
    pub legacy_interrupts: bool,
    /// The handling of a run that leaves interrupts of the last run unanswered.
    pub unanswered: UnansweredPolicy,
    /// Whether facts about the session are kept in the shared state under `/acp` for clients of
    /// 1.0, instead of custom events. No other member of the state is written.
    pub state: bool,
    /// Whether the conversation is kept, so that a message that the agent rewrites (in ACP v2) can
    /// be restated with `MESSAGES_SNAPSHOT`. Otherwise `CUSTOM` `acp.message.changed` shows it.
    pub history: bool,
    /// The moment at which arguments of tool calls are sent.
    pub arguments: ArgsMode,
    /// Extension methods, `_vendor/…`, with notifications that are shown to the page; none by
    /// default. A name that ends in `*` matches all names with this prefix.
    pub extensions: Vec<String>,
    /// The prefix of interrupt ids, which makes them unique among the threads of a program; `int-`
    /// by default.
    pub interrupt_prefix: String,
    /// The part of numbered ids of messages before their number; empty by default. One that no
    /// other process of the thread has keeps a client from joining its messages with theirs.
    pub id_scope: String,
    /// Time limits.
    pub times: Times,
    /// Size limits.
    pub limits: Limits,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            profile: None,
            permission: PermissionMode::default(),
            elicitation: ElicitationMode::default(),
            legacy_interrupts: false,
            unanswered: UnansweredPolicy::default(),
            state: false,
            history: false,
            arguments: ArgsMode::default(),
            extensions: Vec::new(),
            interrupt_prefix: ids::INTERRUPT.to_owned(),
            id_scope: String::new(),
            times: Times::default(),
            limits: Limits::default(),
        }
    }
}

impl Options {
    /// Creates the default options.
    pub fn new() -> Self {
        Self::default()
    }
}

/// The handling of an input that does not [resume](agui_types::input::RunAgentInput::resume) the
/// interrupts of the last run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum UnansweredPolicy {
    /// With a prompt the run fails with `INTERRUPTS_OPEN`; without one it ends with the same
    /// interrupts.
    #[default]
    Reject,
    /// The questions are answered `cancelled`, as [by the user](crate::AnsweredBy::User), their
    /// turn is cancelled, and the prompt follows it.
    Abandon,
}

/// Time limits. They require [`Translator::handle_timeout`](crate::Translator::handle_timeout).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Times {
    /// Time that a run waits for further questions before it is interrupted; each question restarts
    /// it. Without a known time there is no wait.
    pub collect: Duration,
    /// Time that a question waits for its answer; `None` means no limit.
    pub answer: Option<Duration>,
    /// Time that the agent may be silent during a run, not counting waits for the user.
    pub idle: Option<Duration>,
    /// Time that a run may be open, not counting waits for the user.
    pub turn: Option<Duration>,
    /// Time after which unchanged arguments of a call are sent, for agents that do not report the
    /// beginning of a call.
    pub settle: Option<Duration>,
    /// Time that output of a terminal waits to be shown if it is less than a quarter of
    /// [`Limits::progress`](crate::Limits::progress). Without a known time it waits for more
    /// output, or for the end.
    pub output: Duration,
    /// Silence that ends the agent's own turn, if the agent does not report its end; see
    /// [`has_activity`](crate::Translator::has_activity). Without a known time each update is a
    /// turn.
    #[serde(default = "quiet")]
    pub quiet: Duration,
    /// Silence after the response to `session/load` that ends its replay. The prompt is sent then,
    /// since some agents repeat the conversation after their response, and nothing tells a repeated
    /// answer from a new one. Zero sends the prompt at once.
    #[serde(default = "replay")]
    pub replay: Duration,
    /// The Unix time of the epoch of [`handle_timeout`](crate::Translator::handle_timeout). If set,
    /// interrupts have `expiresAt`.
    pub epoch: Option<Duration>,
}

impl Times {
    /// Default of [`collect`](Self::collect): 50 ms.
    pub const COLLECT: Duration = Duration::from_millis(50);
    /// Default of [`output`](Self::output): 100 ms.
    pub const OUTPUT: Duration = Duration::from_millis(100);
    /// Default of [`quiet`](Self::quiet): 2 s.
    pub const QUIET: Duration = Duration::from_secs(2);
    /// Default of [`replay`](Self::replay): 200 ms.
    pub const REPLAY: Duration = Duration::from_millis(200);
    /// Maximum time that the prompt waits for the end of a replay: 10 s.
    pub const MAX_REPLAY: Duration = Duration::from_secs(10);
}

impl Default for Times {
    fn default() -> Self {
        Self {
            collect: Self::COLLECT,
            answer: None,
            idle: None,
            turn: None,
            settle: None,
            output: Self::OUTPUT,
            quiet: Self::QUIET,
            replay: Self::REPLAY,
            epoch: None,
        }
    }
}

fn quiet() -> Duration {
    Times::QUIET
}

fn replay() -> Duration {
    Times::REPLAY
}
