//! Changes of terminals.
use super::patch::Patch;
use super::{Change, SessionState, TerminalState};
use crate::base64;
use crate::v2::terminals::{TerminalId, TerminalUpdate};
use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;
use jsonrpc_core::wire::Presence;

impl SessionState {
    fn terminal_mut(&mut self, id: &TerminalId) -> Option<&mut TerminalState> {
        if !self.terminals.contains_key(id) {
            if self.terminals.len() >= self.limits.names {
                self.lost(format!("/terminals/{id}"), "too many terminals");
                return None;
            }
            let update = TerminalUpdate::new(id.clone());
            let terminal = TerminalState { update, output: Vec::new(), is_truncated: false };
            self.terminals.insert(id.clone(), Box::new(terminal));
        }
        self.change(Change::Terminal(id.clone()));
        self.terminals.get_mut(id).map(Box::as_mut)
    }

    /// Adds or changes a terminal.
    pub(super) fn change_terminal(&mut self, update: &TerminalUpdate) {
        let id = &update.terminal_id;
        let Some(terminal) = self.terminal_mut(id) else { return };
        terminal.update.patch(update);
        match &update.output {
            Presence::Absent => {}
            Presence::Null => self.set_output(id, Vec::new(), false),
            Presence::Value(output) => match base64::decode(&output.data) {
                Some(bytes) => self.set_output(id, bytes, false),
                None => self.lost(format!("/terminals/{id}/output"), "expected base64"),
            },
        }
    }

    /// Replaces the output of a terminal.
    pub(super) fn set_output(&mut self, id: &TerminalId, bytes: Vec<u8>, is_truncated: bool) {
        if let Some(terminal) = self.terminal_mut(id) {
            terminal.output = Vec::new();
            terminal.is_truncated = is_truncated;
        }
        self.output(id, &bytes);
    }

    /// Appends output to a terminal.
    pub(super) fn output_chunk(&mut self, id: &TerminalId, data: &str) {
        match base64::decode(data) {
            Some(bytes) => self.output(id, &bytes),
            None => self.lost(format!("/terminals/{id}/output"), "expected base64"),
        }
    }

    fn output(&mut self, id: &TerminalId, bytes: &[u8]) {
        let limit = self.limits.terminal_output;
        let Some(terminal) = self.terminal_mut(id) else { return };
        terminal.output.extend_from_slice(bytes);
        let over = terminal.output.len().saturating_sub(limit);
        if over > 0 {
            terminal.output.drain(..over);
            terminal.is_truncated = true;
        }
    }
}
