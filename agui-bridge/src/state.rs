//! What the session tells beside the conversation: usage, commands, mode, options, title, notices, compaction.
use crate::json::{self, Members};
use crate::limits::Limits;
use crate::translator::Translator;
use acp_types::v1::prompt_turn::{SessionNotification, SessionUpdate};
use acp_types::v1::session_setup::SessionId;
use acp_types::v2::prompt_lifecycle::{
    SessionUpdate as SessionUpdateV2, UpdateSessionNotification,
};
use agui_types::event::CustomEvent;
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::format;
use alloc::string::String;
use jsonrpc_core::wire::{Extra, Raw};
use serde::{Deserialize, Serialize};

/// An update that says the whole of one thing, so that a repetition says nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Kind {
    Plan,
    Commands,
    Mode,
    ConfigOptions,
    SessionInfo,
    Usage,
}

impl Kind {
    fn of(update: &Update) -> Option<Self> {
        match update {
            Update::V1(notification) => match notification.update {
                SessionUpdate::Plan(_) => Some(Self::Plan),
                SessionUpdate::AvailableCommandsUpdate(_) => Some(Self::Commands),
                SessionUpdate::CurrentModeUpdate(_) => Some(Self::Mode),
                SessionUpdate::ConfigOptionUpdate(_) => Some(Self::ConfigOptions),
                SessionUpdate::UsageUpdate(_) => Some(Self::Usage),
                _ => None,
            },
            Update::V2(notification) => match notification.update {
                SessionUpdateV2::AvailableCommandsUpdate(_) => Some(Self::Commands),
                SessionUpdateV2::ConfigOptionUpdate(_) => Some(Self::ConfigOptions),
                SessionUpdateV2::UsageUpdate(_) => Some(Self::Usage),
                _ => None,
            },
            Update::Extension(_) => None,
        }
    }

    fn event(self) -> &'static str {
        match self {
            Self::Plan => "acp.plan",
            Self::Commands => "acp.commands",
            Self::Mode => "acp.mode",
            Self::ConfigOptions => "acp.config_options",
            Self::SessionInfo => "acp.session_info",
            Self::Usage => "acp.usage",
        }
    }
}

/// A `session/update` of either version, or what the agent notifies of beside the protocol.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Update {
    V1(SessionNotification),
    V2(Box<UpdateSessionNotification>),
    Extension(Extension),
}

/// A notification of a method that is no part of ACP.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Extension {
    method: String,
    params: Raw,
}

impl Update {
    pub(crate) fn session(&self) -> SessionId {
        match self {
            Self::V1(notification) => notification.session_id.clone(),
            Self::V2(notification) => notification.session_id.as_str().into(),
            Self::Extension(extension) => {
                let params = extension.params.decode::<Extra>().unwrap_or_default();
                let session = params.get("sessionId").and_then(|id| id.decode().ok());
                session.unwrap_or_else(|| "".into())
            }
        }
    }

    /// Whether it is part of the conversation.
    pub(crate) fn is_conversation(&self) -> bool {
        let tag = self.tag();
        let parts =
            ["message", "thought", "tool_call", "plan", "terminal", "compaction", "subagent"];
        parts.iter().any(|part| tag.contains(part))
    }

    /// Whether it tells of a tool call.
    pub(crate) fn is_tool_call(&self) -> bool {
        self.tag().starts_with("tool_call")
    }

    fn tag(&self) -> &str {
        match self {
            Self::V1(notification) => notification.update.tag(),
            Self::V2(notification) => notification.update.tag(),
            Self::Extension(_) => "extension",
        }
    }
}

/// How many plans that have names are told apart.
const MAX_PLANS: usize = 256;

/// What the open run has told of the session.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Session {
    told: BTreeMap<Kind, Raw>,
    /// Plans that have names, and fingerprints of them.
    plans: BTreeMap<String, u64>,
    /// For clients that take only the last one.
    usage: Option<Raw>,
}

impl Session {
    /// Whether a plan that has a name is another than was told last.
    pub(crate) fn changes_plan(&mut self, id: &str, print: u64) -> bool {
        if self.plans.len() >= MAX_PLANS && !self.plans.contains_key(id) {
            self.plans.pop_first();
        }
        self.plans.insert(id.to_owned(), print) != Some(print)
    }

    /// Whether `value` is another than the one told last.
    pub(crate) fn changes(&mut self, kind: Kind, value: &Raw) -> bool {
        self.told.insert(kind, value.clone()).is_none_or(|last| last != *value)
    }
}

impl Translator {
    /// Tells what has a custom event of its own.
    ///
    /// | update | event | value | in the state |
    /// |---|---|---|---|
    /// | `usage_update` | `acp.usage` | the update without its tag | `/acp/usage`, at most once a second |
    /// | `available_commands_update` | `acp.commands` | the same | `/acp/commands`, the list |
    /// | `current_mode_update` | `acp.mode` | the same | `/acp/mode`, the id |
    /// | `config_option_update` | `acp.config_options` | the same | `/acp/configOptions`, the list |
    /// | `session_info_update` | `acp.session_info` | the same | `/acp/session`, and the event |
    /// | `notice` | `acp.notice` | the same | |
    /// | anything else | `acp.unknown` | the update with its tag | |
    pub(crate) fn tell(&mut self, update: &SessionUpdate) {
        let limit = self.options.limits.value;
        match update {
            SessionUpdate::UsageUpdate(usage) => {
                self.tell_whole(Kind::Usage, json::bounded(usage, limit));
            }
            SessionUpdate::AvailableCommandsUpdate(commands) => {
                self.tell_whole(Kind::Commands, json::bounded(commands, limit));
            }
            SessionUpdate::CurrentModeUpdate(mode) => {
                self.tell_whole(Kind::Mode, json::bounded(mode, limit));
            }
            SessionUpdate::ConfigOptionUpdate(options) => {
                self.tell_whole(Kind::ConfigOptions, json::bounded(options, limit));
            }
            SessionUpdate::SessionInfoUpdate(info) => {
                self.project_session(info);
                self.tell_whole(Kind::SessionInfo, json::bounded(info, limit));
            }
            SessionUpdate::Notice(notice) => {
                self.custom("acp.notice", json::bounded(notice, limit));
            }
            other => self.custom("acp.unknown", json::bounded(other, limit)),
        }
    }

    /// Takes in a notification of a method that is no part of ACP, `_vendor/…`: `CUSTOM` `acp.ext:METHOD` with its
    /// parameters, where [`Options::extensions`](crate::Options::extensions) lists the method; else nothing.
    ///
    /// Spec: [Extensibility](https://agentclientprotocol.com/protocol/v1/extensibility)
    pub fn handle_extension(&mut self, method: &str, params: Option<Raw>) {
        self.heard();
        let listed = |known: &String| match known.strip_suffix('*') {
            Some(start) => method.starts_with(start),
            None => method == known,
        };
        if self.options.extensions.iter().any(listed) {
            let params = params.unwrap_or_else(|| json::raw(&Extra::new()));
            self.take(Update::Extension(Extension { method: method.to_owned(), params }));
        }
    }

    pub(crate) fn extension(&mut self, extension: &Extension) {
        let limits = self.options.limits;
        let name = format!("acp.ext:{}", json::head(&extension.method, limits.message));
        self.emit(CustomEvent::new(name, json::bounded(&extension.params, limits.value)));
    }

    /// Says in the stream that the agent's session is a new one, which has seen nothing of the conversation so far, as
    /// `CUSTOM` `acp.notice`. Does nothing while no run is open.
    ///
    /// For the run that opens the session, when its prompt leaves out [unseen](crate::input::Prompt::unseen) messages.
    pub fn handle_new_session(&mut self) {
        if self.is_running() {
            self.warn("The agent does not know what was said before: its session is new.");
        }
    }

    /// Tells what the agent does not say itself.
    pub(crate) fn warn(&mut self, title: &str) {
        let notice = Members::new().with("severity", "warning").with("title", title);
        self.custom("acp.notice", notice.into_raw());
    }

    /// Tells the whole of something, unless it is what was told last: in the state, or as a custom event. What names a
    /// thread is told in both.
    pub(crate) fn tell_whole(&mut self, kind: Kind, value: Raw) {
        let in_state = match kind {
            Kind::Usage => self.project_usage(value.clone()),
            Kind::SessionInfo => false,
            _ => self.project(kind, &value),
        };
        if in_state {
            return;
        }
        if kind == Kind::Usage && !self.is_modern() {
            self.session.usage = Some(value);
        } else if self.session.changes(kind, &value) {
            self.custom(kind.event(), value);
        }
    }

    /// Tells what was held back for the end of the run.
    pub(crate) fn tell_last(&mut self) {
        self.flush_state();
        if let Some(usage) = self.session.usage.take() {
            self.emit(CustomEvent::new("acp.usage", usage));
        }
    }
}

/// Updates that came while no run was open, for the head of the next one.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Waiting {
    updates: VecDeque<(usize, Update)>,
    bytes: usize,
    pub(crate) dropped: u64,
}

impl Waiting {
    /// Keeps an update. A newer one of what an update says the whole of takes its place.
    pub(crate) fn push(&mut self, update: Update, limits: &Limits) {
        let size = match &update {
            Update::V1(update) => serde_json::to_vec(update).map_or(0, |json| json.len()),
            Update::V2(update) => serde_json::to_vec(update).map_or(0, |json| json.len()),
            Update::Extension(extension) => {
                extension.method.len().saturating_add(extension.params.as_str().len())
            }
        };
        let kind = Kind::of(&update);
        let same = |waiting: &Update| {
            kind.is_some() && Kind::of(waiting) == kind && waiting.session() == update.session()
        };
        self.bytes = self.bytes.saturating_add(size);
        match self.updates.iter().position(|(_, waiting)| same(waiting)) {
            Some(at) => {
                if let Some(place) = self.updates.get_mut(at) {
                    self.bytes = self.bytes.saturating_sub(place.0);
                    *place = (size, update);
                }
            }
            None => self.updates.push_back((size, update)),
        }
        while self.updates.len() > limits.waiting_updates || self.bytes > limits.waiting_bytes {
            let Some((size, _)) = self.updates.pop_front() else { break };
            self.bytes -= size;
            self.dropped += 1;
        }
    }

    /// What was kept, in the order it came.
    pub(crate) fn into_updates(self) -> impl Iterator<Item = Update> {
        self.updates.into_iter().map(|(_, update)| update)
    }
}
