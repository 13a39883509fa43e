//! The order of messages in a session.
use super::background::Background;
use super::cursors::Cursors;
use super::options::Options;
use super::pending::PendingRequest;
use super::report::{LintLimits, Report};
use super::submissions::Submissions;
use super::terminals::Terminals;
use super::value::{Json, is_text, items, shown, text};
use super::{forms, options, rule};
use crate::session_state::STATE_META;
use alloc::borrow::Cow;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;

/// The stage of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum SessionStage {
    /// A message refers to it, but no response has named it.
    #[default]
    Early,
    /// The client resumes it, and the agent has not responded.
    Opening,
    Open,
    Closed,
}

/// A session.
#[derive(Clone, Debug, Default)]
pub(super) struct Session {
    pub(super) stage: SessionStage,
    /// Prompts that are open.
    pub(super) prompts: usize,
    /// Whether it belongs to another session, which has the prompts.
    pub(super) is_subagent: bool,
    is_cancelled: bool,
    /// Version 2: whether the agent has reported the state of the session since it was resumed.
    pub(super) has_told_state: bool,
    is_running: bool,
    calls: BTreeMap<String, Announcement>,
    terminals: Terminals,
    modes: Option<BTreeSet<String>>,
    options: Option<Options>,
    background: Background,
    subagent: Option<String>,
    cursors: Cursors,
    submissions: Submissions,
    /// Whether a response on this connection has created it.
    pub(super) is_new: bool,
    /// Version 2: whether an open request has asked for a replay, and whether its end came.
    replay: Option<bool>,
}

/// A tool call.
#[derive(Clone, Copy, Debug, Default)]
struct Announcement {
    is_announced: bool,
    is_over: bool,
    /// Whether it was reported as open or unknown.
    is_reported: bool,
    /// Whether a permission for it was granted. A later refusal may concern a part of it.
    is_permitted: bool,
    /// Whether a permission for it was refused, and none granted.
    is_refused: bool,
}

impl Session {
    /// Takes a session that an update has announced.
    pub(super) fn take_subagent(&mut self) -> Option<String> {
        self.subagent.take()
    }

    /// Records the modes and options of a response.
    pub(super) fn set_up(&mut self, result: Json<'_>, limits: &LintLimits) {
        if let Some(modes) = result.get("modes").filter(|modes| !modes.is_null()) {
            self.modes = Some(names(items(modes, "availableModes"), &["id"], limits));
        }
        self.take_options(result, limits);
    }

    fn take_options(&mut self, value: Json<'_>, limits: &LintLimits) {
        if let Some(options) = options::read(value, limits) {
            self.options = Some(options);
        }
    }

    /// Checks a request or a notification of this session.
    pub(super) fn message(
        &mut self,
        version: u16,
        name: &str,
        params: Json<'_>,
        limits: &LintLimits,
        report: &mut Report,
    ) {
        match name {
            "session/update" => {
                if let Some(update) = params.get("update") {
                    self.update(version, update, limits, report);
                }
            }
            "session/prompt" => {
                if version == 1 && self.prompts > 0 {
                    report.add(&rule::TURN_BUSY, "/method", "a prompt of this session is open");
                }
                if version == 2 {
                    self.submissions.prompt(params, limits, report);
                }
                self.prompts += 1;
            }
            "session/resume" if version == 2 => {
                let asks = params.get("replayFrom").is_some_and(|from| !from.is_null());
                self.replay = asks.then_some(false);
            }
            "session/fork" if self.is_new => self.cursors.fork(params, report),
            "session/cancel" => self.is_cancelled = self.prompts > 0 || self.is_running,
            "session/request_permission" => self.permission(version, params, limits, report),
            "session/set_mode" => {
                self.mode(params, "modeId", "/params/modeId", report);
            }
            "session/set_config_option" if self.stage == SessionStage::Open => {
                options::set(self.options.as_ref(), params, report);
            }
            "tool_call/cancel" | "terminal/cancel" => self.background.cancel(name, params, report),
            "terminal/output" | "terminal/wait_for_exit" | "terminal/kill" | "terminal/release" => {
                self.terminals.handle_request(name, params, report);
            }
            _ => {}
        }
    }

    fn permission(
        &mut self,
        version: u16,
        params: Json<'_>,
        limits: &LintLimits,
        report: &mut Report,
    ) {
        if version == 1 && self.is_cancelled && self.prompts > 0 {
            report.add(&rule::PERMISSION_AFTER_CANCEL, "/method", "the turn is cancelled");
        }
        if version == 2 {
            self.work("a permission request", "/method", report);
        }
        let call = match version {
            2 => params.get("subject").and_then(|subject| subject.get("toolCall")),
            _ => params.get("toolCall"),
        };
        if let Some(call) = call.filter(|_| version == 2) {
            self.background.call(call, limits);
        }
        let Some(id) = call.and_then(|call| text(call, "toolCallId")) else { return };
        if self.calls.len() < limits.names {
            let known = self.calls.entry(id.into_owned()).or_default();
            // In version 2 a permission request announces or changes a tool call, as an update
            // does.
            known.is_announced |= version == 2;
            if let Some(status) = call.and_then(|call| text(call, "status")) {
                known.is_over = is_final(&status);
            }
        }
    }

    fn mode(&self, value: Json<'_>, name: &str, pointer: &str, report: &mut Report) {
        let Some(mode) = text(value, name) else { return };
        let is_known = self.modes.as_ref().is_some_and(|modes| modes.contains(&*mode));
        if !is_known && matches!(self.stage, SessionStage::Open) {
            let message = format!("the session has no mode `{}`", shown(&mode));
            report.add(&rule::MODE_UNKNOWN, pointer, message);
        }
    }

    fn update(&mut self, version: u16, update: Json<'_>, limits: &LintLimits, report: &mut Report) {
        let kind = text(update, "sessionUpdate").unwrap_or_default();
        let kind = &*kind;
        let is_work = matches!(
            kind,
            "agent_thought_chunk"
                | "agent_thought"
                | "tool_call_update"
                | "tool_call_content_chunk"
        );
        if version == 2 && is_work {
            self.work(&format!("`{kind}`"), "/params/update", report);
        }
        let is_of_turn = matches!(
            kind,
            "user_message_chunk"
                | "agent_message_chunk"
                | "agent_thought_chunk"
                | "tool_call"
                | "tool_call_update"
                | "plan"
        );
        if version == 1
            && is_of_turn
            && self.prompts == 0
            && !self.is_running
            && !self.is_subagent
            && self.stage == SessionStage::Open
        {
            let message = format!("`{kind}` while no prompt is open");
            report.add(&rule::UPDATE_LATE, "/params/update", message);
        }
        match kind {
            "tool_call" | "tool_call_update" | "tool_call_content_chunk" => {
                self.call(version, kind, update, limits, report);
            }
            "current_mode_update" => {
                self.mode(update, "currentModeId", "/params/update/currentModeId", report);
            }
            "config_option_update" => self.take_options(update, limits),
            "state_update" => self.state(update, report),
            "cursor_update" => self.cursors.update(update, limits, report),
            "replay_complete" => self.replay_complete(report),
            // The state of a version 2 agent behind a bridge.
            "session_info_update" if version == 1 => {
                let meta = update.get("_meta");
                if let Some(state) = meta.and_then(|meta| meta.get(STATE_META)) {
                    self.state(state, report);
                }
            }
            "terminal_update" | "terminal_output_chunk" => self.background.terminal(update, limits),
            "subagent_update" => {
                self.background.subagent(update, limits);
                self.subagent = text(update, "sessionId").map(Cow::into_owned);
            }
            _ => {}
        }
    }

    /// Checks work in version 2. A new session is idle until it reports another state. Messages
    /// alone need no work.
    fn work(&mut self, what: &str, pointer: &str, report: &mut Report) {
        let is_open = self.stage == SessionStage::Open && self.is_new && !self.is_subagent;
        if is_open && !self.has_told_state {
            self.has_told_state = true;
            let message = format!("{what} before any `state_update`");
            report.add(&rule::STATE_MISSING, pointer, message);
        }
    }

    fn replay_complete(&mut self, report: &mut Report) {
        let message = match self.replay {
            Some(false) => {
                self.replay = Some(true);
                return;
            }
            Some(true) => "the replay is already complete",
            None => "no open request with `replayFrom`",
        };
        report.add(&rule::REPLAY_END_UNASKED, "/params/update", message);
    }

    /// Returns whether an idle state with this background ends cancelled work that a request
    /// belongs to. Requests of background work stay open.
    pub(super) fn ends_work_of(&self, update: Json<'_>, request: &PendingRequest) -> bool {
        let mut background = items(update, "background");
        let is_background = call_of(request)
            .is_some_and(|call| background.any(|work| is_text(work, "toolCallId", &call)));
        self.is_cancelled && is_text(update, "state", "idle") && !is_background
    }

    fn call(
        &mut self,
        version: u16,
        kind: &str,
        update: Json<'_>,
        limits: &LintLimits,
        report: &mut Report,
    ) {
        if version == 1 {
            self.terminals.handle_tool_call(update, limits, report);
        }
        let Some(id) = text(update, "toolCallId") else { return };
        if !self.calls.contains_key(&*id) && self.calls.len() >= limits.names {
            return;
        }
        let call = self.calls.entry(id.clone().into_owned()).or_default();
        let pointer = "/params/update/toolCallId";
        if version == 2 {
            call.is_announced = true;
            self.background.call(update, limits);
        } else if kind == "tool_call" {
            if call.is_announced && self.stage != SessionStage::Opening {
                let ended = if call.is_over {
                    ", and has ended: each call needs an id of its own"
                } else {
                    ""
                };
                let message = format!("`{}` was announced before{ended}", shown(&id));
                report.add(&rule::TOOL_CALL_AGAIN, pointer, message);
            }
            call.is_announced = true;
        } else if !call.is_announced && !call.is_reported {
            call.is_reported = true;
            let message = format!("`{}` was not announced", shown(&id));
            report.add(&rule::TOOL_CALL_UNKNOWN, pointer, message);
        }
        let Some(status) = text(update, "status") else { return };
        let is_over = is_final(&status);
        if call.is_refused && matches!(&*status, "in_progress" | "completed") {
            call.is_refused = false;
            let message = format!("the permission for `{}` was not granted", shown(&id));
            report.add(&rule::PERMISSION_IGNORED, "/params/update/status", message);
        }
        // The replay of a resumed session repeats earlier states.
        if call.is_over && !is_over && self.stage != SessionStage::Opening {
            let message = format!("`{}` had ended: each call needs an id of its own", shown(&id));
            report.add(&rule::TOOL_CALL_REOPENED, "/params/update/status", message);
        }
        call.is_over = is_over;
    }

    fn state(&mut self, update: Json<'_>, report: &mut Report) {
        self.has_told_state = true;
        self.background.state(update, report);
        if !is_text(update, "state", "idle") {
            self.is_running = true;
            return;
        }
        let stopped = core::mem::take(&mut self.is_running);
        match text(update, "stopReason").as_deref() {
            None if stopped => {
                report.add(&rule::IDLE_WITHOUT_REASON, "/params/update", "no `stopReason`");
            }
            Some(reason) if stopped && self.is_cancelled && reason != "cancelled" => {
                let pointer = "/params/update/stopReason";
                report.add(&rule::CANCEL_IGNORED, pointer, "expected `cancelled`");
            }
            _ => {}
        }
        self.is_cancelled |= is_text(update, "stopReason", "cancelled");
        let background: BTreeSet<_> =
            items(update, "background").filter_map(|work| text(work, "toolCallId")).collect();
        self.turn_ends(&background, report);
    }

    /// Reports items that a turn leaves open.
    fn turn_ends(&mut self, background: &BTreeSet<Cow<'_, str>>, report: &mut Report) {
        // A cancellation ends tool calls without an update.
        let is_cancelled = core::mem::take(&mut self.is_cancelled);
        for (id, call) in &mut self.calls {
            if !call.is_over && !call.is_reported && !is_cancelled && !background.contains(&**id) {
                call.is_reported = true;
                if call.is_announced {
                    let message = format!("`{}` has no final status", shown(id));
                    report.add(&rule::TOOL_CALL_OPEN, "", message);
                }
            }
        }
        self.terminals.handle_turn_end(report);
    }

    /// Checks the response to a request of this session.
    pub(super) fn answered(
        &mut self,
        version: u16,
        pending: &PendingRequest,
        is_result: bool,
        result: Json<'_>,
        limits: &LintLimits,
        report: &mut Report,
    ) {
        match &*pending.method {
            "session/prompt" => {
                if version == 2 && is_result {
                    self.submissions.accepted(pending.params(), result, report);
                } else if version == 2 {
                    self.submissions.refused(pending.params());
                }
                self.prompt_answered(version, is_result, result, report);
            }
            "session/load" | "session/resume" if is_result => {
                self.stage = SessionStage::Open;
                self.set_up(result, limits);
                if version == 2 && !self.has_told_state {
                    let message = "no `state_update` before this answer";
                    report.add(&rule::REPLAY_WITHOUT_STATE, "", message);
                }
                if self.replay.take() == Some(false) {
                    let message = "no `replay_complete` before this answer";
                    report.add(&rule::REPLAY_UNFINISHED, "", message);
                }
                // A replay may leave out final states.
                self.calls.values_mut().for_each(|call| call.is_reported = true);
            }
            "session/load" | "session/resume" => {
                self.stage = SessionStage::Early;
                self.replay = None;
            }
            "session/close" | "session/delete" if is_result => {
                if version == 2 && self.is_running && pending.method == "session/close" {
                    report.add(
                        &rule::CLOSED_RUNNING,
                        "",
                        "no idle `state_update` before this answer",
                    );
                }
                self.stage = SessionStage::Closed;
            }
            "session/set_config_option" if is_result => self.take_options(result, limits),
            "terminal/create" if is_result => self.terminals.handle_created(result, limits),
            "elicitation/create" if is_result => forms::answered(pending.params(), result, report),
            "session/request_permission" => {
                self.permitted(pending, is_result.then_some(result));
                if is_result {
                    permission_answered(version, pending, result, report);
                }
            }
            _ => {}
        }
    }

    /// Records whether a permission was granted: by an option of the request that allows.
    fn permitted(&mut self, pending: &PendingRequest, result: Option<Json<'_>>) {
        let Some(call) = call_of(pending).and_then(|id| self.calls.get_mut(&*id)) else { return };
        let outcome = result.and_then(|result| result.get("outcome"));
        let chosen = outcome.and_then(|outcome| text(outcome, "optionId"));
        let is_granted = chosen.is_some_and(|chosen| {
            let mut options = items(pending.params(), "options");
            let option = options.find(|option| is_text(*option, "optionId", &chosen));
            let kind = option.and_then(|option| text(option, "kind"));
            kind.is_some_and(|kind| matches!(&*kind, "allow_once" | "allow_always"))
        });
        call.is_permitted |= is_granted;
        call.is_refused = !call.is_permitted;
    }

    fn prompt_answered(
        &mut self,
        version: u16,
        is_result: bool,
        result: Json<'_>,
        report: &mut Report,
    ) {
        self.prompts = self.prompts.saturating_sub(1);
        if version == 2 {
            return;
        }
        if self.is_cancelled && !is_text(result, "stopReason", "cancelled") {
            let (pointer, message) = match (is_result, result.get("stopReason")) {
                (false, _) => ("/error", "expected `cancelled`"),
                (true, Some(_)) => ("/result/stopReason", "expected `cancelled`"),
                (true, None) => ("/result/stopReason", "expected `cancelled`, got none"),
            };
            report.add(&rule::CANCEL_IGNORED, pointer, message);
        }
        self.is_cancelled |= is_text(result, "stopReason", "cancelled");
        if self.prompts == 0 {
            self.turn_ends(&BTreeSet::new(), report);
        }
    }
}

/// Returns the tool call that a permission request concerns.
fn call_of(request: &PendingRequest) -> Option<Cow<'_, str>> {
    let params = request.params();
    let subject = params.get("subject").unwrap_or(params);
    text(subject.get("toolCall").unwrap_or(subject), "toolCallId")
}

fn is_final(status: &str) -> bool {
    matches!(status, "completed" | "failed" | "cancelled")
}

fn permission_answered(
    version: u16,
    pending: &PendingRequest,
    result: Json<'_>,
    report: &mut Report,
) {
    let Some(outcome) = result.get("outcome") else { return };
    if version == 1 && pending.is_cancelled && !is_text(outcome, "outcome", "cancelled") {
        let message = match outcome.get("outcome") {
            Some(_) => "the turn was cancelled: expected `cancelled`",
            None => "the turn was cancelled: expected `cancelled`, got none",
        };
        report.add(&rule::PERMISSION_NOT_CANCELLED, "/result/outcome/outcome", message);
    }
    if let Some(chosen) = text(outcome, "optionId") {
        let mut options = items(pending.params(), "options");
        if !options.any(|option| is_text(option, "optionId", &chosen)) {
            let message = format!("`{}` is not among the choices", shown(&chosen));
            report.add(&rule::OPTION_UNKNOWN, "/result/outcome/optionId", message);
        }
    }
}

fn names<'a>(
    items: impl Iterator<Item = Json<'a>>,
    keys: &[&str],
    limits: &LintLimits,
) -> BTreeSet<String> {
    let name = |item: Json<'a>| keys.iter().find_map(|key| text(item, key)).map(Cow::into_owned);
    items.filter_map(name).take(limits.names).collect()
}
