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

/// How a [`Translator`](crate::Translator) works.
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
    /// What the client understands; when it is not given, what each run's `protocolVersion` says.
    pub profile: Option<Profile>,
    /// Who answers permission requests. The default rejects them.
    pub permission: PermissionMode,
    /// Who answers elicitations. The default declines them.
    pub elicitation: ElicitationMode,
    /// Whether clients before 1.0 are asked by interrupts as well, where that is how the others are asked. They know
    /// interrupts from 0.0.54 on (`@ag-ui/client`; CopilotKit and assistant-ui stand on it), but none of them says which
    /// version it has.
    pub legacy_interrupts: bool,
    /// What becomes of a run whose input does not answer what the run before asked.
    pub unanswered: Unanswered,
    /// Whether what the session tells of itself is kept in the shared state under `/acp`, for clients of 1.0, instead of
    /// being told by custom events. Nothing else of the state is ever written.
    pub state: bool,
    /// Whether the conversation is kept, so that a message which the agent rewrites, as it may in ACP v2, can be restated
    /// with `MESSAGES_SNAPSHOT`; otherwise `CUSTOM` `acp.message.changed` tells.
    pub history: bool,
    /// When tool calls' arguments go out.
    pub arguments: ArgsMode,
    /// Methods that are no part of ACP, `_vendor/…`, whose notifications the page is told; none unless they are listed. A
    /// name that ends in `*` stands for all that begin as it does.
    pub extensions: Vec<String>,
    /// What the ids of questions begin with, so that they are unique among the threads of a program; `int-` unless it
    /// is set.
    pub interrupt_prefix: String,
    /// How long things may take.
    pub times: Times,
    /// What is kept and sent at most.
    pub limits: Limits,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            profile: None,
            permission: PermissionMode::default(),
            elicitation: ElicitationMode::default(),
            legacy_interrupts: false,
            unanswered: Unanswered::default(),
            state: false,
            history: false,
            arguments: ArgsMode::default(),
            extensions: Vec::new(),
            interrupt_prefix: ids::INTERRUPT.to_owned(),
            times: Times::default(),
            limits: Limits::default(),
        }
    }
}

impl Options {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }
}

/// What becomes of a run whose input does not [resume](agui_types::input::RunAgentInput::resume) what the run before
/// was interrupted for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Unanswered {
    /// With a prompt it fails, code `INTERRUPTS_OPEN`; without one it is interrupted for the same again.
    #[default]
    Reject,
    /// The questions are answered `cancelled`, the turn that asked them is to be cancelled, and the prompt follows it.
    Abandon,
}

/// How long things may take. All of it needs [`Translator::tick`](crate::Translator::tick).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Times {
    /// How long a run that is to be interrupted waits for further questions; each begins the time anew. When nobody
    /// ever tells the time, it does not wait.
    pub collect: Duration,
    /// How long a question waits for its answer; for ever unless it is set.
    pub answer: Option<Duration>,
    /// How long an open run may be without news from the agent, while nothing waits for a person.
    pub idle: Option<Duration>,
    /// How long a run may be open, without the time in which something waited for a person.
    pub turn: Option<Duration>,
    /// How long a call's arguments may stay unchanged before they go out, for agents that do not say when a call begins
    /// to run.
    pub settle: Option<Duration>,
    /// How long what a terminal wrote may wait to be shown, where it is less than a quarter of
    /// [`Limits::progress`](crate::Limits::progress). When nobody ever tells the time, it waits for more, or for the end.
    pub output: Duration,
    /// The Unix time at which the times that are told begin. When it is set, interrupts say `expiresAt`.
    pub epoch: Option<Duration>,
}

impl Times {
    /// Default of [`collect`](Self::collect): 50 ms.
    pub const COLLECT: Duration = Duration::from_millis(50);
    /// Default of [`output`](Self::output): 100 ms.
    pub const OUTPUT: Duration = Duration::from_millis(100);
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
            epoch: None,
        }
    }
}
