//! Terminals of an agent, which an editor of version 1 gets as text.
//!
//! Spec: [Terminals](https://agentclientprotocol.com/protocol/v2/tool-calls#terminals)
use crate::base64;
use crate::convert::recent::Recent;
use crate::convert::{MAX_TERMINAL_OUTPUT, MAX_TERMINALS};
use crate::v2::terminals::{TerminalExitStatus, TerminalOutputChunk, TerminalUpdate};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::Presence;

/// The terminals of a session.
#[derive(Debug)]
pub(super) struct Terminals(Recent<Terminal>);

/// A terminal.
#[derive(Debug, Default)]
struct Terminal {
    command: Option<String>,
    /// The end of the output.
    output: Vec<u8>,
    is_cut: bool,
    exit: Option<TerminalExitStatus>,
}

impl Default for Terminals {
    fn default() -> Self {
        Self(Recent::new(MAX_TERMINALS))
    }
}

impl Terminals {
    fn terminal(&mut self, id: &str) -> &mut Terminal {
        self.0.entry(id, |_| true, Terminal::default)
    }

    pub(super) fn update(&mut self, update: &TerminalUpdate) {
        let terminal = self.terminal(update.terminal_id.as_str());
        update.command.clone().apply_to(&mut terminal.command);
        update.exit_status.clone().apply_to(&mut terminal.exit);
        match &update.output {
            Presence::Absent => {}
            Presence::Null => {
                terminal.output = Vec::new();
                terminal.is_cut = false;
            }
            Presence::Value(output) => {
                terminal.output = Vec::new();
                terminal.is_cut = false;
                terminal.append(&base64::decode(&output.data).unwrap_or_default());
            }
        }
    }

    pub(super) fn append(&mut self, chunk: &TerminalOutputChunk) {
        let bytes = base64::decode(&chunk.data).unwrap_or_default();
        self.terminal(chunk.terminal_id.as_str()).append(&bytes);
    }

    /// Returns the command, the output and the exit status as a code block.
    pub(super) fn text(&self, id: &str) -> String {
        let unknown = Terminal::default();
        let terminal = self.0.get(id).unwrap_or(&unknown);
        let mut text = String::new();
        if let Some(command) = &terminal.command {
            text.push_str(&format!("$ {command}\n"));
        }
        if terminal.is_cut {
            text.push_str("[…]\n");
        }
        text.push_str(&String::from_utf8_lossy(&terminal.output));
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        match terminal.exit.as_ref().map(|exit| (exit.exit_code, &exit.signal)) {
            Some((_, Some(signal))) => text.push_str(&format!("[ended by signal {signal}]\n")),
            Some((Some(code), None)) => text.push_str(&format!("[exit code {code}]\n")),
            Some((None, None)) => text.push_str("[ended]\n"),
            None => {}
        }
        let longest = text.split(|character| character != '`').map(str::len).max();
        let fence = "`".repeat(longest.map_or(3, |longest| longest + 1).max(3));
        format!("{fence}console\n{text}{fence}")
    }
}

impl Terminal {
    /// Appends output, of which the end is kept.
    fn append(&mut self, bytes: &[u8]) {
        self.output.extend_from_slice(bytes);
        if let Some(over) = self.output.len().checked_sub(MAX_TERMINAL_OUTPUT + 1) {
            self.output.drain(..=over);
            self.is_cut = true;
        }
    }
}
