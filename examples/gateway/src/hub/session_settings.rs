//! Lifetime of an agent's sessions, and settings that pages may send.
use agui_bridge::input::{AllowedMembers, Rules, SessionScope};
use serde::{Deserialize, Serialize};

/// Lifetime of an agent's session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Sessions {
    /// As long as the thread.
    #[default]
    Thread,
    /// One turn; the next session receives the conversation so far as text.
    Turn,
}

/// Members of `forwardedProps.acp` that are accepted from pages; none by default.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[non_exhaustive]
pub struct ForwardedSettings {
    /// The member `mode`: the mode of the session.
    pub mode: bool,
    /// Permitted members of `config`: options of the session.
    pub config: Vec<String>,
    /// Permitted members of `meta`, for the `_meta` of the prompt.
    pub meta: Vec<String>,
}

/// Returns the rules for inputs of pages.
pub fn input_rules(sessions: Sessions, forwarded: &ForwardedSettings) -> Rules {
    let mut rules = Rules::new();
    rules.session = match sessions {
        Sessions::Thread => SessionScope::Thread,
        Sessions::Turn => SessionScope::Turn,
    };
    // Scripts, and pages without history, send only new messages.
    rules.new_alone = true;
    let mut allowed = AllowedMembers::default();
    let ForwardedSettings { mode, config, meta } = forwarded.clone();
    allowed.mode = mode;
    allowed.config = config;
    allowed.meta = meta;
    rules.forwarded = allowed;
    rules
}
