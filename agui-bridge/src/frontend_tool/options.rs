//! Options of frontend tools: modes, times and limits.
use crate::contextual_tools::PREFIX;
use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;
use serde::{Deserialize, Serialize};

/// The way a frontend tool is run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ToolMode {
    /// The agent is answered when the page has the call.
    Ack,
    /// The agent waits while the run ends. A later run's input has the result.
    #[default]
    Park,
    /// The agent waits while the run continues. The result arrives outside of the stream.
    Sync,
}

impl ToolMode {
    /// Returns the mode with this name: `ack`, `park` or `sync`.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "ack" => Self::Ack,
            "park" => Self::Park,
            "sync" => Self::Sync,
            _ => return None,
        })
    }
}

/// The answer to a call that was parked for too long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Expiry {
    /// [`Outcome::Pending`](super::Outcome::Pending): a later result is part of a later prompt
    /// ([`Action::PrefixPrompt`](super::Action::PrefixPrompt)).
    #[default]
    Pending,
    /// [`Outcome::TimedOut`](super::Outcome::TimedOut).
    TimedOut,
}

/// Options of [`FrontendTools`](super::FrontendTools).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FrontendToolOptions {
    /// The default mode of a tool; `Park` by default.
    ///
    /// The first of these applies: `metadata.execution` of the tool (`ack`, `park` or `sync`), an
    /// entry of `modes`, this field.
    pub mode: ToolMode,
    /// Modes by tool name. A name that ends in `*` matches all names with this prefix. The first
    /// match applies.
    pub modes: Vec<(String, ToolMode)>,
    /// Name of the binding's MCP server; `ui` by default. Keep it short, since agents prefix tool
    /// names with it.
    pub server: String,
    /// Prefix of contextual tool names; [`PREFIX`] by default.
    pub prefix: String,
    /// Time after which a synchronous call without a result is parked; 30 s by default.
    pub sync_wait: Duration,
    /// Time after which a parked call expires; 50 s by default, since agents time out after a
    /// minute or later.
    pub park_wait: Duration,
    /// The answer to an expired call.
    pub expiry: Expiry,
    /// Quiet time of the agent before a run with parked calls ends, so that parallel calls share a
    /// run; 100 ms by default.
    pub park_quiet: Duration,
    /// Quiet time while the agent's own calls are announced but have not begun; 10 s by default.
    /// Some agents make calls one after the other, so these calls wait for the parked ones. Calls
    /// that run keep the run open.
    pub stalled_quiet: Duration,
    /// Interval of keep-alives to the agent for a waiting call; 15 s by default.
    pub keep_alive: Duration,
    /// Largest number of parked calls, and of calls that wait for the next run; 32 by default.
    pub max_parked: usize,
    /// Largest number of remembered calls, including those with results; 1024 by default.
    pub max_calls: usize,
    /// Largest size of a call's arguments, in bytes; 1 MiB by default.
    pub max_arguments: usize,
    /// Whether arguments are validated against the tool's schema, so that the model receives errors
    /// instead of the page; true by default. Checked are types, required and unknown members,
    /// enumerations and sizes.
    pub check_arguments: bool,
}

impl Default for FrontendToolOptions {
    fn default() -> Self {
        Self {
            mode: ToolMode::default(),
            modes: Vec::new(),
            server: "ui".to_owned(),
            prefix: PREFIX.to_owned(),
            sync_wait: Duration::from_secs(30),
            park_wait: Duration::from_secs(50),
            expiry: Expiry::default(),
            park_quiet: Duration::from_millis(100),
            stalled_quiet: Duration::from_secs(10),
            keep_alive: Duration::from_secs(15),
            max_parked: 32,
            max_calls: 1024,
            max_arguments: 1 << 20,
            check_arguments: true,
        }
    }
}

impl FrontendToolOptions {
    /// Creates the default options.
    pub fn new() -> Self {
        Self::default()
    }
}
