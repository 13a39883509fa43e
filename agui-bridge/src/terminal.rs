//! Commands that the agent runs, and the end of their output.
use crate::frame::Frame;
use crate::ids;
use crate::json::{self, Members};
use crate::limits::Limits;
use crate::outbox::Outbox;
use acp_types::v2::terminals::{TerminalExitStatus, TerminalOutputChunk, TerminalUpdate};
use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use core::time::Duration;
use jsonrpc_core::wire::{Extra, Meta, Presence};
use serde::{Deserialize, Serialize};

/// The terminals of a thread, by the agent's ids.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Terminals {
    terminals: BTreeMap<String, Terminal>,
    begun: u64,
    /// Time that output waits to be shown.
    wait: Duration,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Terminal {
    /// Sequence number within the thread; the oldest has the lowest.
    number: u64,
    command: Option<String>,
    cwd: Option<String>,
    /// The end of the output.
    tail: Vec<u8>,
    /// Number of bytes before the tail.
    dropped: u64,
    exit: Option<TerminalExitStatus>,
    /// Number of bytes that were not shown.
    unshown: usize,
    /// The time at which they have to be shown, if the time is known.
    due: Option<Duration>,
    /// Fingerprint of the last shown content.
    shown: Option<u64>,
}

impl Terminal {
    fn append(&mut self, bytes: &[u8], limit: usize) {
        self.unshown = self.unshown.saturating_add(bytes.len());
        self.tail.extend_from_slice(bytes);
        let surplus = self.tail.len().saturating_sub(limit);
        self.tail.drain(..surplus);
        self.dropped = self.dropped.saturating_add(u64::try_from(surplus).unwrap_or(u64::MAX));
    }

    fn replace(&mut self, bytes: &[u8], limit: usize) {
        self.tail.clear();
        self.dropped = 0;
        self.append(bytes, limit);
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.tail).into_owned()
    }

    /// Returns the exit status as text, unless it is 0.
    fn exit_text(&self) -> Option<String> {
        let exit = self.exit.as_ref()?;
        match (&exit.signal, exit.exit_code) {
            (Some(signal), _) => Some(format!("[ended by {}]", json::head(signal, 64))),
            (None, Some(code)) if code != 0 => Some(format!("[exit code {code}]")),
            _ => None,
        }
    }
}

impl Terminals {
    /// Creates terminals; output is shown after `wait` at the latest.
    pub(crate) fn new(wait: Duration) -> Self {
        Self { terminals: BTreeMap::new(), begun: 0, wait }
    }

    /// Handles a terminal update of ACP v2.
    pub(crate) fn handle_update(
        &mut self,
        frame: &Frame<'_>,
        out: &mut Outbox,
        update: TerminalUpdate,
    ) {
        let id = update.terminal_id.as_str().to_owned();
        let limits = frame.limits;
        let terminal = self.get(&id, limits);
        if let Presence::Value(command) = update.command {
            terminal.command = Some(json::cut(command, limits.message));
        }
        if let Presence::Value(cwd) = update.cwd {
            terminal.cwd = Some(json::head(cwd.as_str(), limits.message).to_owned());
        }
        match update.output {
            Presence::Value(output) => terminal.replace(&decode(&output.data), limits.result),
            Presence::Null => terminal.replace(&[], limits.result),
            Presence::Absent => {}
        }
        update.exit_status.apply_to(&mut terminal.exit);
        self.show(frame, out, &id);
    }

    /// Handles a piece of terminal output of ACP v2.
    pub(crate) fn handle_output(
        &mut self,
        frame: &Frame<'_>,
        out: &mut Outbox,
        chunk: &TerminalOutputChunk,
    ) {
        let id = chunk.terminal_id.as_str();
        self.get(id, frame.limits).append(&decode(&chunk.data), frame.limits.result);
        self.show_if_due(frame, out, id);
    }

    /// Handles the terminals in the `_meta` of a tool call, as in ACP v1.
    ///
    /// | `_meta` member | meaning |
    /// |---|---|
    /// | `terminal_info` `{terminal_id, cwd?}` | a terminal begins |
    /// | `terminal_output` `{terminal_id, data}` | its output so far |
    /// | `terminal_output_delta` `{terminal_id, data}` | a piece of its output |
    /// | `terminal_exit` `{terminal_id, exit_code, signal}` | the terminal ends |
    pub(crate) fn handle_meta(&mut self, frame: &Frame<'_>, out: &mut Outbox, meta: &Meta) {
        if !meta.as_str().contains("\"terminal_") {
            return;
        }
        let limits = frame.limits;
        let members = |name: &str| meta.get(name).and_then(|value| value.decode::<Extra>().ok());
        let text = |members: &Extra, name: &str| members.get(name)?.decode::<String>().ok();
        let mut changed = None;
        if let Some(info) = members("terminal_info")
            && let Some(id) = text(&info, "terminal_id")
        {
            let terminal = self.get(&id, limits);
            terminal.cwd = text(&info, "cwd").map(|cwd| json::cut(cwd, limits.message));
            changed = Some((id, true));
        }
        for (name, is_whole) in [("terminal_output", true), ("terminal_output_delta", false)] {
            if let Some(output) = members(name)
                && let (Some(id), Some(data)) =
                    (text(&output, "terminal_id"), text(&output, "data"))
            {
                let terminal = self.get(&id, limits);
                if is_whole {
                    terminal.replace(data.as_bytes(), limits.result);
                } else {
                    terminal.append(data.as_bytes(), limits.result);
                }
                changed = Some((id, is_whole));
            }
        }
        if let Some(exit) = members("terminal_exit")
            && let Some(id) = text(&exit, "terminal_id")
        {
            let mut status = TerminalExitStatus::new();
            status.exit_code = exit.get("exit_code").and_then(|code| code.decode().ok());
            status.signal = text(&exit, "signal");
            self.get(&id, limits).exit = Some(status);
            changed = Some((id, true));
        }
        match changed {
            Some((id, true)) => self.show(frame, out, &id),
            Some((id, false)) => self.show_if_due(frame, out, &id),
            None => {}
        }
    }

    /// Shows the output that was not shown yet.
    pub(crate) fn show_all(&mut self, frame: &Frame<'_>, out: &mut Outbox) {
        self.show_each(frame, out, |terminal| terminal.unshown > 0);
    }

    /// Shows the output that has waited long enough.
    pub(crate) fn show_due(&mut self, frame: &Frame<'_>, out: &mut Outbox, now: Duration) {
        self.show_each(frame, out, |terminal| terminal.due.is_some_and(|due| due <= now));
    }

    /// Returns the end of a terminal's output and its exit status, if either is known.
    pub(crate) fn result(&self, id: &str) -> Option<String> {
        let terminal = self.terminals.get(id)?;
        let mut text = String::new();
        if terminal.dropped > 0 {
            text.push_str(&format!("[{} bytes before]\n", terminal.dropped));
        }
        text.push_str(&terminal.text());
        if let Some(exit) = terminal.exit_text() {
            if !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
            text.push_str(&exit);
        }
        let has_succeeded = || terminal.exit.as_ref().is_some_and(|exit| exit.exit_code == Some(0));
        if text.is_empty() && has_succeeded() {
            text.push_str("[exit code 0]");
        }
        (!text.is_empty()).then_some(text)
    }

    /// Returns the time at which output has to be shown next.
    pub(crate) fn due(&self) -> Option<Duration> {
        self.terminals.values().filter_map(|terminal| terminal.due).min()
    }

    /// Returns whether a terminal is known and has output.
    pub(crate) fn has_output(&self, id: &str) -> bool {
        self.terminals.get(id).is_some_and(|terminal| !terminal.tail.is_empty())
    }

    fn get(&mut self, id: &str, limits: &Limits) -> &mut Terminal {
        if !self.terminals.contains_key(id) {
            while self.terminals.len() >= limits.terminals.max(1) {
                let oldest = self.terminals.iter().min_by_key(|(_, terminal)| terminal.number);
                let Some(oldest) = oldest.map(|(id, _)| id.clone()) else { break };
                self.terminals.remove(&oldest);
            }
            self.begun += 1;
        }
        let number = self.begun;
        let terminal = self.terminals.entry(id.to_owned());
        terminal.or_insert_with(|| Terminal { number, ..Terminal::default() })
    }

    fn show_each(
        &mut self,
        frame: &Frame<'_>,
        out: &mut Outbox,
        is_due: impl Fn(&Terminal) -> bool,
    ) {
        let due = self.terminals.iter().filter(|(_, terminal)| is_due(terminal));
        let due: Vec<_> = due.map(|(id, _)| id.clone()).collect();
        due.iter().for_each(|id| self.show(frame, out, id));
    }

    /// Shows a terminal with much new output. Less output waits, since each event repeats the end
    /// of it.
    fn show_if_due(&mut self, frame: &Frame<'_>, out: &mut Outbox, id: &str) {
        let due = frame.after(self.wait);
        match self.terminals.get_mut(id) {
            Some(terminal) if terminal.unshown >= frame.limits.progress / 4 => {
                self.show(frame, out, id);
            }
            Some(terminal) if terminal.unshown > 0 => terminal.due = terminal.due.or(due),
            _ => {}
        }
    }

    fn show(&mut self, frame: &Frame<'_>, out: &mut Outbox, id: &str) {
        let Some(terminal) = self.terminals.get_mut(id) else { return };
        terminal.unshown = 0;
        terminal.due = None;
        if !frame.is_modern {
            return;
        }
        let text = terminal.text();
        let exit = terminal.exit.as_ref().map(json::raw);
        let id = json::head(id, frame.limits.message);
        let content = Members::new()
            .with("terminalId", id)
            .with_some("command", terminal.command.as_ref())
            .with_some("cwd", terminal.cwd.as_ref())
            .with("output", json::tail(&text, frame.limits.progress))
            .with_some("exitStatus", exit.as_ref());
        let print = json::fingerprint(&[content.to_raw().as_str()]);
        if terminal.shown.replace(print) != Some(print) {
            out.activity(frame, format!("{}terminal-{id}", ids::ACTIVITY), "acp.terminal", content);
        }
    }
}

/// Decodes base64 text; invalid text counts as empty.
fn decode(text: &str) -> Vec<u8> {
    STANDARD.decode(text).unwrap_or_default()
}
