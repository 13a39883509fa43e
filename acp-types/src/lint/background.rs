//! Version 2: work that goes on in the background, and what can be cancelled by itself.
use super::report::{Limits, Report};
use super::rule;
use super::value::{Json, shown, text};
use alloc::borrow::ToOwned;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;

/// What a session has that can go on by itself.
#[derive(Clone, Debug, Default)]
pub(super) struct Background {
    /// By id, whether it offers to be cancelled.
    calls: BTreeMap<String, bool>,
    terminals: BTreeMap<String, bool>,
    subagents: BTreeSet<String>,
    /// The agent says what goes on in the background.
    is_reported: bool,
}

/// Takes what an upsert says of `capabilities.cancel`.
fn announce(known: &mut BTreeMap<String, bool>, id: &str, update: Json<'_>, limits: &Limits) {
    if known.contains_key(id) || known.len() < limits.names {
        let can_cancel = known.entry(id.to_owned()).or_default();
        if let Some(capabilities) = update.get("capabilities") {
            *can_cancel = capabilities.get("cancel").is_some_and(Json::is_object);
        }
    }
}

impl Background {
    /// A tool call is new or has changed.
    pub(super) fn call(&mut self, update: Json<'_>, limits: &Limits) {
        if let Some(id) = text(update, "toolCallId") {
            announce(&mut self.calls, &id, update, limits);
        }
    }

    /// A terminal is new or has changed.
    pub(super) fn terminal(&mut self, update: Json<'_>, limits: &Limits) {
        if let Some(id) = text(update, "terminalId") {
            announce(&mut self.terminals, &id, update, limits);
        }
    }

    /// A subagent is new or has changed.
    pub(super) fn subagent(&mut self, update: Json<'_>, limits: &Limits) {
        if let Some(id) = text(update, "sessionId").filter(|_| self.subagents.len() < limits.names)
        {
            self.subagents.insert(id.into_owned());
        }
    }

    /// The client cancels a tool call or a terminal.
    pub(super) fn cancel(&self, method: &str, params: Json<'_>, report: &mut Report) {
        let (known, name) = match method {
            "tool_call/cancel" => (&self.calls, "toolCallId"),
            _ => (&self.terminals, "terminalId"),
        };
        let Some(id) = text(params, name) else { return };
        if known.get(&*id) != Some(&true) {
            let message = format!("`{}` does not offer to be cancelled", shown(&id));
            report.add(&rule::CANCEL_NOT_OFFERED, format!("/params/{name}"), message);
        }
    }

    /// The agent says what the session is at.
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
