//! Version 2: background work, and items that can be cancelled individually.
use super::report::{LintLimits, Report};
use super::rule;
use super::value::{Json, shown, text};
use alloc::borrow::ToOwned;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;

/// Items of a session that may work in the background.
#[derive(Clone, Debug, Default)]
pub(super) struct Background {
    /// By id, whether the item supports cancellation.
    calls: BTreeMap<String, bool>,
    terminals: BTreeMap<String, bool>,
    subagents: BTreeSet<String>,
    /// Whether the agent reports background work.
    is_reported: bool,
}

/// Records `capabilities.cancel` of an upsert.
fn announce(known: &mut BTreeMap<String, bool>, id: &str, update: Json<'_>, limits: &LintLimits) {
    if known.contains_key(id) || known.len() < limits.names {
        let can_cancel = known.entry(id.to_owned()).or_default();
        if let Some(capabilities) = update.get("capabilities") {
            *can_cancel = capabilities.get("cancel").is_some_and(Json::is_object);
        }
    }
}

impl Background {
    /// Records a new or changed tool call.
    pub(super) fn call(&mut self, update: Json<'_>, limits: &LintLimits) {
        if let Some(id) = text(update, "toolCallId") {
            announce(&mut self.calls, &id, update, limits);
        }
    }

    /// Records a new or changed terminal.
    pub(super) fn terminal(&mut self, update: Json<'_>, limits: &LintLimits) {
        if let Some(id) = text(update, "terminalId") {
            announce(&mut self.terminals, &id, update, limits);
        }
    }

    /// Records a new or changed subagent.
    pub(super) fn subagent(&mut self, update: Json<'_>, limits: &LintLimits) {
        if let Some(id) = text(update, "sessionId").filter(|_| self.subagents.len() < limits.names)
        {
            self.subagents.insert(id.into_owned());
        }
    }

    /// Checks the cancellation of a tool call or a terminal.
    pub(super) fn cancel(&self, method: &str, params: Json<'_>, report: &mut Report) {
        let (known, name) = match method {
            "tool_call/cancel" => (&self.calls, "toolCallId"),
            _ => (&self.terminals, "terminalId"),
        };
        let Some(id) = text(params, name) else { return };
        if known.get(&*id) != Some(&true) {
            let message = format!("`{}` does not support cancellation", shown(&id));
            report.add(&rule::CANCEL_NOT_OFFERED, format!("/params/{name}"), message);
        }
    }

    /// Checks a reported state of the session.
    pub(super) fn state(&mut self, update: Json<'_>, report: &mut Report) {
        let Some(work) = update.get("background").filter(|work| work.is_array()) else {
            if self.is_reported {
                report.add(&rule::BACKGROUND_MISSING, "/params/update", "no `background`");
            }
            return;
        };
        self.is_reported = true;
        for (index, item) in work.items().enumerate() {
            let name = match text(item, "type").as_deref() {
                Some("tool_call") => "toolCallId",
                Some("terminal") => "terminalId",
                Some("subagent") => "sessionId",
                _ => continue,
            };
            let is_known = |id: &str| match name {
                "toolCallId" => self.calls.contains_key(id),
                "terminalId" => self.terminals.contains_key(id),
                _ => self.subagents.contains(id),
            };
            if let Some(id) = text(item, name).filter(|id| !is_known(id)) {
                let message = format!("`{}` was not announced", shown(&id));
                let pointer = format!("/params/update/background/{index}/{name}");
                report.add(&rule::BACKGROUND_UNKNOWN, pointer, message);
            }
        }
    }
}
