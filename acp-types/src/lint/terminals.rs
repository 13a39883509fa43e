//! Terminals of a session in version 1.
use super::report::{LintLimits, Report};
use super::rule;
use super::value::{Json, is_text, items, shown, text};
use alloc::borrow::ToOwned;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;

/// Members of an update's `_meta` in which an agent describes its own terminals. They are not part
/// of the protocol; clients announce support as `_meta.terminal_output`.
const DESCRIPTIONS: &[&str] = &["terminal_info", "terminal_output", "terminal_exit"];

/// The terminals of a session.
#[derive(Clone, Debug, Default)]
pub(super) struct Terminals {
    /// Created and not released.
    open: BTreeSet<String>,
    /// Valid in tool calls: embedded before their release, or run by the agent itself.
    displayed: BTreeSet<String>,
}

impl Terminals {
    /// Handles the response to `terminal/create`.
    pub(super) fn handle_created(&mut self, result: Json<'_>, limits: &LintLimits) {
        if let Some(id) = text(result, "terminalId")
            && self.open.len() < limits.names
        {
            self.open.insert(id.into_owned());
        }
    }

    /// Checks a request about a terminal.
    pub(super) fn handle_request(&mut self, method: &str, params: Json<'_>, report: &mut Report) {
        let Some(id) = text(params, "terminalId") else { return };
        if !self.open.contains(&*id) {
            unknown(&id, "/params/terminalId", report);
        }
        if method == "terminal/release" {
            self.open.remove(&*id);
        }
    }

    /// Checks the terminals in the content of a tool call.
    pub(super) fn handle_tool_call(
        &mut self,
        update: Json<'_>,
        limits: &LintLimits,
        report: &mut Report,
    ) {
        if let Some(meta) = update.get("_meta") {
            let described = DESCRIPTIONS.iter().filter_map(|name| meta.get(name));
            for id in described.filter_map(|terminal| text(terminal, "terminal_id")) {
                self.display(&id, limits);
            }
        }
        for (index, content) in items(update, "content").enumerate() {
            let is_terminal = is_text(content, "type", "terminal");
            let Some(id) = text(content, "terminalId").filter(|_| is_terminal) else { continue };
            if self.open.contains(&*id) {
                self.display(&id, limits);
            } else if !self.displayed.contains(&*id) {
                unknown(&id, &format!("/params/update/content/{index}/terminalId"), report);
            }
        }
    }

    /// Reports terminals that a turn leaves open.
    pub(super) fn handle_turn_end(&mut self, report: &mut Report) {
        for id in core::mem::take(&mut self.open) {
            let message = format!("`{}` is not released", shown(&id));
            report.add(&rule::TERMINAL_OPEN, "", message);
        }
    }

    fn display(&mut self, id: &str, limits: &LintLimits) {
        if self.displayed.len() < limits.names {
            self.displayed.insert(id.to_owned());
        }
    }
}

fn unknown(id: &str, pointer: &str, report: &mut Report) {
    report.add(
        &rule::TERMINAL_UNKNOWN,
        pointer,
        format!("the terminal `{}` does not exist", shown(id)),
    );
}
