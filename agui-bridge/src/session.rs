//! Facts about the session: usage, commands, mode, options, title.
use crate::frame::Frame;
use crate::json::{self, Members};
use crate::outbox::Outbox;
use crate::projection::Projection;
use crate::update::Kind;
use acp_types::v1::agent_plan::PlanEntry;
use acp_types::v1::prompt_turn::SessionUpdate;
use agui_types::input::RunAgentInput;
use alloc::collections::BTreeMap;
use jsonrpc_core::wire::Raw;
use serde::{Deserialize, Serialize};

/// Facts that the open run has shown, and their projection into the shared state.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SessionFacts {
    shown: BTreeMap<Kind, Raw>,
    /// The last usage, for clients that support only that.
    usage: Option<Raw>,
    projection: Projection,
}

impl SessionFacts {
    /// Creates facts that are part of the shared state if `in_state`.
    pub(crate) fn new(in_state: bool) -> Self {
        Self { shown: BTreeMap::new(), usage: None, projection: Projection::new(in_state) }
    }

    /// Reads the state that a run begins with, and updates its `/acp`.
    pub(crate) fn begin_run(
        &mut self,
        frame: &Frame<'_>,
        out: &mut Outbox,
        input: &RunAgentInput,
        is_whole: bool,
    ) {
        self.projection.begin_run(frame, out, input, is_whole);
    }

    /// Shows each fact again for another turn.
    pub(crate) fn begin_turn(&mut self) {
        self.shown.clear();
        self.usage = None;
    }

    /// Shows an update that has a custom event of its own.
    ///
    /// | update | event | value | in the state |
    /// |---|---|---|---|
    /// | `usage_update` | `acp.usage` | the update without its tag | `/acp/usage`, at most once a second |
    /// | `available_commands_update` | `acp.commands` | the same | `/acp/commands`, the list |
    /// | `current_mode_update` | `acp.mode` | the same | `/acp/mode`, the id |
    /// | `config_option_update` | `acp.config_options` | the same | `/acp/configOptions`, the list |
    /// | `prompt_suggestions_update` | `acp.suggestions` | the same | `/acp/suggestions`, the list |
    /// | `session_info_update` | `acp.session_info` | the same | `/acp/session`, and the event |
    /// | `notice` | `acp.notice` | the same | |
    /// | `cursor_update` | `acp.cursor` | the same | |
    /// | any other | `acp.unknown` | the update with its tag | |
    pub(crate) fn handle_update(
        &mut self,
        frame: &Frame<'_>,
        out: &mut Outbox,
        update: &SessionUpdate,
    ) {
        let limit = frame.limits.value;
        let (kind, value) = match update {
            SessionUpdate::UsageUpdate(usage) => (Kind::Usage, json::bounded(usage, limit)),
            SessionUpdate::AvailableCommandsUpdate(commands) => {
                (Kind::Commands, json::bounded(commands, limit))
            }
            SessionUpdate::CurrentModeUpdate(mode) => (Kind::Mode, json::bounded(mode, limit)),
            SessionUpdate::ConfigOptionUpdate(options) => {
                (Kind::ConfigOptions, json::bounded(options, limit))
            }
            SessionUpdate::PromptSuggestionsUpdate(suggestions) => {
                (Kind::Suggestions, json::bounded(suggestions, limit))
            }
            SessionUpdate::SessionInfoUpdate(info) => {
                self.projection.merge_session(frame, out, info);
                (Kind::SessionInfo, json::bounded(info, limit))
            }
            SessionUpdate::Notice(notice) => {
                return out.custom(frame, "acp.notice", json::bounded(notice, limit));
            }
            SessionUpdate::CursorUpdate(cursor) => {
                return out.custom(frame, "acp.cursor", json::bounded(cursor, limit));
            }
            other => return out.custom(frame, "acp.unknown", json::bounded(other, limit)),
        };
        self.show(frame, out, kind, value);
    }

    /// Shows a fact that differs from the last one shown: in the state, or as a custom event. The
    /// title of a thread is shown in both.
    pub(crate) fn show(&mut self, frame: &Frame<'_>, out: &mut Outbox, kind: Kind, value: Raw) {
        let in_state = match kind {
            Kind::Usage => self.projection.set_usage(frame, out, value.clone()),
            Kind::SessionInfo => false,
            _ => self.projection.set(frame, out, kind, &value),
        };
        if in_state {
            return;
        }
        if kind == Kind::Usage && !frame.is_modern {
            self.usage = Some(value);
        } else if self.shown.insert(kind, value.clone()).is_none_or(|last| last != value) {
            out.custom(frame, kind.event(), value);
        }
    }

    /// Writes the plan to the state.
    pub(crate) fn set_plan(&mut self, frame: &Frame<'_>, out: &mut Outbox, entries: &[PlanEntry]) {
        if self.projection.is_active(frame) {
            let plan = Members::new().with("entries", entries).into_raw();
            self.projection.set(frame, out, Kind::Plan, &plan);
        }
    }

    /// Shows delayed facts at the end of the run.
    pub(crate) fn flush(&mut self, frame: &Frame<'_>, out: &mut Outbox) {
        self.projection.flush(frame, out);
        if let Some(usage) = self.usage.take() {
            out.custom(frame, Kind::Usage.event(), usage);
        }
    }
}
