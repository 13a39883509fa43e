//! Peculiarities of agents, as data.
use crate::arguments::ArgsMode;
use crate::options::Options;
use acp_types::v1::initialization::Implementation;
use core::time::Duration;

/// Peculiarities of an agent.
///
/// The translator is correct for unknown agents; the peculiarities let it send events sooner or
/// with more detail.
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
    /// A part of `agentInfo.name` in lower case; empty for unknown agents.
    pub name: &'static str,
    /// Whether the agent sends `rawInput`.
    pub sends_arguments: bool,
    /// The best mode for its arguments.
    pub arguments: ArgsMode,
    /// Whether it reports that a call begins to run. Otherwise its arguments
    /// [settle](crate::Times::settle).
    pub says_in_progress: bool,
    /// Whether it announces a tool that needs permission by the permission request.
    pub announces_by_asking: bool,
    /// Whether it repeats the prompt of a live turn as a user message.
    pub echoes_prompt: bool,
    /// The member of the client's `_meta` capabilities that enables terminal output.
    pub terminal_capability: Option<&'static str>,
    /// Its timeout for calls of MCP tools, if known.
    pub mcp_timeout: Option<Duration>,
}

/// Time that arguments wait for more if the agent does not report the beginning of a call.
pub const SETTLE: Duration = Duration::from_millis(500);

/// An unknown agent.
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
    /// All known agents, the more specific names first.
    ///
    /// | agent | arguments | in progress | other |
    /// |---|---|---|---|
    /// | `claude` | grow by members | not reported before the end | terminals; MCP calls time out after a minute |
    /// | `codex` | complete at once | reported | terminals; MCP calls time out after a minute |
    /// | `gemini` | never sent | reported | requests permission before the announcement; MCP calls time out after ten minutes |
    /// | `opencode` | complete, in an update | reported | |
    /// | `cline` | complete at once | reported, before the announcement of the call | requests permission before the announcement |
    /// | `vibe` | complete at once | reported | repeats the prompt |
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

    /// Returns the peculiarities of the agent that `initialize` named, by any part of its name.
    pub fn of(info: Option<&Implementation>) -> Self {
        let name = info.map(|info| info.name.to_ascii_lowercase()).unwrap_or_default();
        Self::ALL.iter().find(|quirks| name.contains(quirks.name)).copied().unwrap_or(UNKNOWN)
    }

    /// Applies the peculiarities to options.
    pub fn apply_to(&self, options: &mut Options) {
        options.arguments = self.arguments;
        options.times.settle = (!self.says_in_progress).then_some(SETTLE);
    }
}
