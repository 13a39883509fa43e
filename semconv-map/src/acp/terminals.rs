//! Output and exit codes of terminals, for the results of tool calls that show them. Content
//! capture only.
use crate::attribute::{clip, cut};
use crate::json::string;
use acp_types::v1::terminals::{TerminalOutputResponse, WaitForTerminalExitResponse};
use alloc::collections::VecDeque;
use alloc::string::{String, ToString};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use jsonrpc_core::{find_member, wire};

/// Maximum number of terminals of a session that are remembered. The oldest is forgotten first.
const MAX_TERMINALS: usize = 32;

/// The terminals of a session, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Terminals(VecDeque<Terminal>);

/// A terminal.
#[derive(Debug, Default)]
pub(crate) struct Terminal {
    id: String,
    /// The output so far, up to the limit for results of tools.
    pub(crate) output: String,
    pub(crate) exit_code: Option<i64>,
}

impl Terminals {
    /// Returns a terminal.
    pub(crate) fn get(&self, id: &str) -> Option<&Terminal> {
        self.0.iter().find(|terminal| terminal.id == id)
    }

    fn get_or_insert(&mut self, id: &str) -> Option<&mut Terminal> {
        let id = clip(id);
        if let Some(at) = self.0.iter().position(|terminal| terminal.id == id) {
            return self.0.get_mut(at);
        }
        if self.0.len() == MAX_TERMINALS {
            self.0.pop_front();
        }
        self.0.push_back(Terminal { id, ..Terminal::default() });
        self.0.back_mut()
    }

    /// Handles the result of `terminal/output`, which contains the complete output.
    pub(crate) fn on_output(&mut self, id: &str, result: &str, limit: usize) {
        let Ok(response) = wire::decode::<TerminalOutputResponse>(result) else { return };
        let Some(terminal) = self.get_or_insert(id) else { return };
        terminal.output = cut(&response.output, limit).to_string();
        let exit_code = response.exit_status.and_then(|status| status.exit_code);
        terminal.exit_code = exit_code.map(i64::from).or(terminal.exit_code);
    }

    /// Handles the result of `terminal/wait_for_exit`.
    pub(crate) fn on_exit(&mut self, id: &str, response: &WaitForTerminalExitResponse) {
        if let (Some(code), Some(terminal)) = (response.exit_code, self.get_or_insert(id)) {
            terminal.exit_code = Some(i64::from(code));
        }
    }

    /// Handles `terminal_update` and `terminal_output_chunk` of version 2.
    pub(crate) fn on_update(&mut self, update: &str, limit: usize) {
        let member = |path: &[&str]| find_member(update, path);
        let text = |path: &[&str]| member(path).and_then(string);
        let Some(terminal) = text(&["terminalId"]).and_then(|id| self.get_or_insert(&id)) else {
            return;
        };
        // Chunks may split a character. Its parts are replaced.
        let decoded = |data: &str| BASE64_STANDARD.decode(data).ok();
        if let Some(output) = text(&["output", "data"]).and_then(|data| decoded(&data)) {
            terminal.output = cut(&String::from_utf8_lossy(&output), limit).into();
        }
        if let Some(more) = text(&["data"]).and_then(|data| decoded(&data)) {
            let room = limit.saturating_sub(terminal.output.len());
            terminal.output.push_str(cut(&String::from_utf8_lossy(&more), room));
        }
        let exit_code = member(&["exitStatus", "exitCode"]);
        terminal.exit_code = exit_code.and_then(|code| code.parse().ok()).or(terminal.exit_code);
    }
}
