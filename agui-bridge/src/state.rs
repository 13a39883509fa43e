//! What the session tells beside the conversation: usage, commands, mode, options, title, notices, compaction.
use crate::json::{self, Members};
use crate::limits::Limits;
use crate::translator::Translator;
use acp_types::v1::prompt_turn::{SessionNotification, SessionUpdate};
use agui_types::event::CustomEvent;
use alloc::collections::{BTreeMap, VecDeque};
use jsonrpc_core::wire::Raw;
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
    fn of(update: &SessionUpdate) -> Option<Self> {
        match update {
            SessionUpdate::Plan(_) => Some(Self::Plan),
            SessionUpdate::AvailableCommandsUpdate(_) => Some(Self::Commands),
            SessionUpdate::CurrentModeUpdate(_) => Some(Self::Mode),
            SessionUpdate::ConfigOptionUpdate(_) => Some(Self::ConfigOptions),
            SessionUpdate::UsageUpdate(_) => Some(Self::Usage),
            _ => None,
        }
    }
}

/// What the open run has told of the session.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Session {
    told: BTreeMap<Kind, Raw>,
    /// For clients that take only the last one.
    usage: Option<Raw>,
}

impl Session {
    /// Whether `value` is another than the one told last.
    pub(crate) fn changes(&mut self, kind: Kind, value: &Raw) -> bool {
        self.told.insert(kind, value.clone()).is_none_or(|last| last != *value)
    }
}

impl Translator {
    /// Tells what has a custom event of its own.
    ///
    /// | update | event | value |
    /// |---|---|---|
    /// | `usage_update` | `acp.usage` | the update without its tag |
    /// | `available_commands_update` | `acp.commands` | the same |
    /// | `current_mode_update` | `acp.mode` | the same |
    /// | `config_option_update` | `acp.config_options` | the same |
    /// | `session_info_update` | `acp.session_info` | the same |
    /// | `notice` | `acp.notice` | the same |
    /// | `compaction_update`, `compaction_summary_chunk` | `acp.compaction` | the update with its tag |
    /// | anything else | `acp.unknown` | the update with its tag |
    pub(crate) fn tell(&mut self, update: &SessionUpdate) {
        let limit = self.options.limits.value;
        match update {
            SessionUpdate::UsageUpdate(usage) => {
                let value = json::bounded(usage, limit);
                if self.is_modern() {
                    self.upsert(Kind::Usage, "acp.usage", value);
                } else {
                    self.session.usage = Some(value);
                }
            }
            SessionUpdate::AvailableCommandsUpdate(commands) => {
                self.upsert(Kind::Commands, "acp.commands", json::bounded(commands, limit));
            }
            SessionUpdate::CurrentModeUpdate(mode) => {
                self.upsert(Kind::Mode, "acp.mode", json::bounded(mode, limit));
            }
            SessionUpdate::ConfigOptionUpdate(options) => {
                self.upsert(
                    Kind::ConfigOptions,
                    "acp.config_options",
                    json::bounded(options, limit),
                );
            }
            SessionUpdate::SessionInfoUpdate(info) => {
                self.upsert(Kind::SessionInfo, "acp.session_info", json::bounded(info, limit));
            }
            SessionUpdate::Notice(notice) => {
                self.custom("acp.notice", json::bounded(notice, limit));
            }
            SessionUpdate::CompactionUpdate(_) | SessionUpdate::CompactionSummaryChunk(_) => {
                self.custom("acp.compaction", json::bounded(update, limit));
            }
            other => self.custom("acp.unknown", json::bounded(other, limit)),
        }
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

    fn upsert(&mut self, kind: Kind, name: &'static str, value: Raw) {
        if self.session.changes(kind, &value) {
            self.custom(name, value);
        }
    }

    /// Tells what was held back for the end of the run.
    pub(crate) fn tell_last(&mut self) {
        if let Some(usage) = self.session.usage.take() {
            self.emit(CustomEvent::new("acp.usage", usage));
        }
    }
}

/// Updates that came while no run was open, for the head of the next one.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Waiting {
    updates: VecDeque<(usize, SessionNotification)>,
    bytes: usize,
    pub(crate) dropped: u64,
}

impl Waiting {
    /// Keeps an update. A newer one of what an update says the whole of takes its place.
    pub(crate) fn push(&mut self, notification: SessionNotification, limits: &Limits) {
        if let Some(kind) = Kind::of(&notification.update) {
            let bytes = &mut self.bytes;
            self.updates.retain(|(size, waiting)| {
                let stays = Kind::of(&waiting.update) != Some(kind)
                    || waiting.session_id != notification.session_id;
                if !stays {
                    *bytes -= size;
                }
                stays
            });
        }
        let size = serde_json::to_vec(&notification).map_or(0, |json| json.len());
        self.bytes += size;
        self.updates.push_back((size, notification));
        while self.updates.len() > limits.waiting_updates || self.bytes > limits.waiting_bytes {
            let Some((size, _)) = self.updates.pop_front() else { break };
            self.bytes -= size;
            self.dropped += 1;
        }
    }

    /// What was kept, in the order it came.
    pub(crate) fn into_updates(self) -> impl Iterator<Item = SessionNotification> {
        self.updates.into_iter().map(|(_, notification)| notification)
    }
}
