//! What is known of single agents, as data.
use crate::arguments::ArgsMode;
use crate::options::Options;
use acp_types::v1::initialization::Implementation;
use core::time::Duration;

/// What an agent does in a way of its own, and what to do about it.
///
/// The translator is right for an agent that is not known; what is here makes it sooner, or fuller.
///
/// ```
/// use agui_bridge::{ArgsMode, Options, quirks::Quirks};
/// use acp_types::v1::initialization::Implementation;
///
/// let info = Implementation::new("gemini-cli", "0.61.0");
/// let quirks = Quirks::of(Some(&info));
/// assert!(!quirks.sends_arguments);
/// let mut options = Options::new();
/// quirks.apply_to(&mut options);
/// assert_eq!(options.arguments, ArgsMode::Hold);
/// assert_eq!(Quirks::of(None).name, "");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Quirks {
    /// What `agentInfo.name` contains, in lower case; empty for an agent that is not known.
    pub name: &'static str,
    /// Whether it sends `rawInput` at all.
    pub sends_arguments: bool,
    /// How its arguments are best told.
    pub arguments: ArgsMode,
    /// Whether it says when a call begins to run; when not, its arguments [settle](crate::Times::settle).
    pub says_in_progress: bool,
    /// Whether it first tells of a tool that needs permission by asking for it.
    pub announces_by_asking: bool,
    /// Whether it repeats the prompt of a live turn as the user's words.
    pub echoes_prompt: bool,
    /// Which member of the client's `_meta` capabilities makes it tell the output of its terminals.
    pub terminal_capability: Option<&'static str>,
    /// After how long it gives up a call of an MCP tool, as far as it is known.
    pub mcp_timeout: Option<Duration>,
}

/// How long arguments wait for more where the agent does not say when a call begins to run.
pub const SETTLE: Duration = Duration::from_millis(500);

/// An agent that is not known.
const UNKNOWN: Quirks = Quirks {
    name: "",
    sends_arguments: true,
    arguments: ArgsMode::Hold,
    says_in_progress: true,
    announces_by_asking: false,
    echoes_prompt: false,
    terminal_capability: None,
    mcp_timeout: None,
};

impl Quirks {
    /// All agents that are known, the more special names first.
    ///
    /// | agent | arguments | in progress | else |
    /// |---|---|---|---|
    /// | `claude` | grow by members | not said before the end | terminals; MCP calls cut after a minute |
    /// | `codex` | whole at once | said | terminals; MCP calls cut after a minute |
    /// | `gemini` | never sent | said | asks before it announces; MCP calls cut after ten minutes |
    /// | `opencode` | whole, in an update | said | |
    /// | `cline` | whole at once | said, before it announces the call | asks before it announces |
    /// | `vibe` | whole at once | said | repeats the prompt |
    pub const ALL: &'static [Self] = &[
        Self {
            name: "claude",
            arguments: ArgsMode::StreamKeys,
            says_in_progress: false,
            terminal_capability: Some("terminal_output"),
            mcp_timeout: Some(Duration::from_secs(60)),
            ..UNKNOWN
        },
        Self {
            name: "codex",
            arguments: ArgsMode::Eager,
            terminal_capability: Some("terminal_output"),
            mcp_timeout: Some(Duration::from_secs(60)),
            ..UNKNOWN
        },
        Self {
            name: "gemini",
            sends_arguments: false,
            announces_by_asking: true,
            mcp_timeout: Some(Duration::from_secs(600)),
            ..UNKNOWN
        },
        Self { name: "opencode", ..UNKNOWN },
        Self { name: "cline", arguments: ArgsMode::Eager, announces_by_asking: true, ..UNKNOWN },
        Self { name: "vibe", arguments: ArgsMode::Eager, echoes_prompt: true, ..UNKNOWN },
    ];

    /// What is known of the agent that `initialize` named, by any part of its name.
    pub fn of(info: Option<&Implementation>) -> Self {
        let name = info.map(|info| info.name.to_ascii_lowercase()).unwrap_or_default();
        Self::ALL.iter().find(|quirks| name.contains(quirks.name)).copied().unwrap_or(UNKNOWN)
    }

    /// Sets what the translator can do about it.
    pub fn apply_to(&self, options: &mut Options) {
        options.arguments = self.arguments;
        options.times.settle = (!self.says_in_progress).then_some(SETTLE);
    }
}
