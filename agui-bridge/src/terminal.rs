//! Commands that the agent runs: their output, told by ACP v2 or in `_meta`.
use crate::ids;
use crate::json::{self, Members};
use crate::limits::Limits;
use crate::state::Update;
use crate::translator::Translator;
use acp_types::v1::session_setup::SessionId;
use acp_types::v2::prompt_lifecycle::{SessionUpdate, UpdateSessionNotification};
use acp_types::v2::terminals::{TerminalExitStatus, TerminalOutputChunk, TerminalUpdate};
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
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
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Terminals {
    terminals: BTreeMap<String, Terminal>,
    begun: u64,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Terminal {
    /// Counts the terminals of the thread.
    number: u64,
    command: Option<String>,
    cwd: Option<String>,
    /// The end of the output, of which all but so many bytes were dropped.
    tail: Vec<u8>,
    dropped: u64,
    exit: Option<TerminalExitStatus>,
    /// Bytes of output that no event has told.
    untold: usize,
    /// When an event tells them at the latest, where the time is known.
    due: Option<Duration>,
    /// A fingerprint of what was shown last.
    shown: Option<u64>,
}

impl Terminal {
    fn append(&mut self, bytes: &[u8], limit: usize) {
        self.untold = self.untold.saturating_add(bytes.len());
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

    /// The exit, where it is worth a word.
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
    /// Whether this was shown last of a terminal; now it is.
    fn shows_again(&mut self, id: &str, print: u64) -> bool {
        let terminal = self.terminals.get_mut(id);
        terminal.is_some_and(|terminal| terminal.shown.replace(print) == Some(print))
    }

    /// What a terminal came to, if it is known and said anything.
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
        (!text.is_empty()).then_some(text)
    }

    /// When the next of them is to be shown, if no more comes.
    pub(crate) fn due(&self) -> Option<Duration> {
        self.terminals.values().filter_map(|terminal| terminal.due).min()
    }

    /// Whether a terminal is known and has written anything.
    pub(crate) fn wrote(&self, id: &str) -> bool {
        self.terminals.get(id).is_some_and(|terminal| !terminal.text().is_empty())
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
}

impl Translator {
    /// Takes in what has become of a command that the client itself runs for the agent (`terminal/create` of ACP v1), as v2
    /// tells it of those of agents: `ACTIVITY_SNAPSHOT` `acp.terminal`, and the result of a tool call that shows the
    /// terminal.
    ///
    /// Spec: [Terminals](https://agentclientprotocol.com/protocol/v1/terminals)
    pub fn handle_terminal_update(&mut self, session_id: &SessionId, update: TerminalUpdate) {
        self.client_terminal(session_id, SessionUpdate::TerminalUpdate(Box::new(update)));
    }

    /// Takes in a piece of its output, as [`handle_terminal_update`](Self::handle_terminal_update).
    pub fn handle_terminal_output(&mut self, session_id: &SessionId, chunk: TerminalOutputChunk) {
        self.client_terminal(session_id, SessionUpdate::TerminalOutputChunk(Box::new(chunk)));
    }

    fn client_terminal(&mut self, session_id: &SessionId, update: SessionUpdate) {
        self.heard();
        let notification = UpdateSessionNotification::new(session_id.as_str(), update);
        self.take(Update::V2(Box::new(notification)));
    }

    pub(crate) fn terminal_update(&mut self, update: TerminalUpdate) {
        let (id, limit) = (update.terminal_id.as_str().to_owned(), self.options.limits.result);
        let message = self.options.limits.message;
        let terminal = self.terminals.get(&id, &self.options.limits);
        if let Presence::Value(command) = update.command {
            terminal.command = Some(json::cut(command, message));
        }
        if let Presence::Value(cwd) = update.cwd {
            terminal.cwd = Some(json::head(cwd.as_str(), message).to_owned());
        }
        match update.output {
            Presence::Value(output) => terminal.replace(&decode(&output.data), limit),
            Presence::Null => terminal.replace(&[], limit),
            Presence::Absent => {}
        }
        update.exit_status.apply_to(&mut terminal.exit);
        self.show_terminal(&id);
    }

    pub(crate) fn terminal_output(&mut self, chunk: &TerminalOutputChunk) {
        let (id, limit) = (chunk.terminal_id.as_str(), self.options.limits.result);
        self.terminals.get(id, &self.options.limits).append(&decode(&chunk.data), limit);
        self.show_terminal_if_due(id);
    }

    /// Reads what agents say of terminals beside a tool call.
    ///
    /// | `_meta` member | is |
    /// |---|---|
    /// | `terminal_info` `{terminal_id, cwd?}` | a terminal begins |
    /// | `terminal_output` `{terminal_id, data}` | all of its output so far |
    /// | `terminal_output_delta` `{terminal_id, data}` | a piece of its output |
    /// | `terminal_exit` `{terminal_id, exit_code, signal}` | it ended |
    pub(crate) fn terminal_meta(&mut self, meta: &Meta) {
        if !meta.as_str().contains("\"terminal_") {
            return;
        }
        let limits = self.options.limits;
        let members = |name: &str| meta.get(name).and_then(|value| value.decode::<Extra>().ok());
        let text = |members: &Extra, name: &str| members.get(name)?.decode::<String>().ok();
        let mut told = None;
        if let Some(info) = members("terminal_info")
            && let Some(id) = text(&info, "terminal_id")
        {
            let terminal = self.terminals.get(&id, &limits);
            terminal.cwd = text(&info, "cwd").map(|cwd| json::cut(cwd, limits.message));
            told = Some((id, true));
        }
        for (name, whole) in [("terminal_output", true), ("terminal_output_delta", false)] {
            if let Some(output) = members(name)
                && let (Some(id), Some(data)) =
                    (text(&output, "terminal_id"), text(&output, "data"))
            {
                let terminal = self.terminals.get(&id, &limits);
                if whole {
                    terminal.replace(data.as_bytes(), limits.result);
                } else {
                    terminal.append(data.as_bytes(), limits.result);
                }
                told = Some((id, whole));
            }
        }
        if let Some(exit) = members("terminal_exit")
            && let Some(id) = text(&exit, "terminal_id")
        {
            let mut status = TerminalExitStatus::new();
            status.exit_code = exit.get("exit_code").and_then(|code| code.decode().ok());
            status.signal = text(&exit, "signal");
            self.terminals.get(&id, &limits).exit = Some(status);
            told = Some((id, true));
        }
        match told {
            Some((id, true)) => self.show_terminal(&id),
            Some((id, false)) => self.show_terminal_if_due(&id),
            None => {}
        }
    }

    /// Shows what terminals said that no event has told.
    pub(crate) fn show_terminals(&mut self) {
        self.show_each_terminal(|terminal| terminal.untold > 0);
    }

    /// Shows what terminals said long enough ago.
    pub(crate) fn show_due_terminals(&mut self, now: Duration) {
        self.show_each_terminal(|terminal| terminal.due.is_some_and(|due| due <= now));
    }

    fn show_each_terminal(&mut self, is_to_be: impl Fn(&Terminal) -> bool) {
        let shown = self.terminals.terminals.iter().filter(|(_, terminal)| is_to_be(terminal));
        let shown: Vec<_> = shown.map(|(id, _)| id.clone()).collect();
        shown.iter().for_each(|id| self.show_terminal(id));
    }

    /// Shows a terminal when it has said enough, or lets it wait for more: what is shown is its end, again and again.
    fn show_terminal_if_due(&mut self, id: &str) {
        let enough = self.options.limits.progress / 4;
        let due = self.now.map(|now| now.saturating_add(self.options.times.output));
        match self.terminals.terminals.get_mut(id) {
            Some(terminal) if terminal.untold >= enough => self.show_terminal(id),
            Some(terminal) if terminal.untold > 0 => terminal.due = terminal.due.or(due),
            _ => {}
        }
    }

    fn show_terminal(&mut self, id: &str) {
        let Some(terminal) = self.terminals.terminals.get_mut(id) else { return };
        (terminal.untold, terminal.due) = (0, None);
        if !self.is_modern() {
            return;
        }
        let key = id;
        let Some(terminal) = self.terminals.terminals.get(key) else { return };
        let text = terminal.text();
        let output = json::tail(&text, self.options.limits.progress);
        let exit = terminal.exit.as_ref().map(json::raw);
        let id = json::head(id, self.options.limits.message);
        let content = Members::new()
            .with("terminalId", id)
            .with_some("command", terminal.command.as_ref())
            .with_some("cwd", terminal.cwd.as_ref())
            .with("output", output)
            .with_some("exitStatus", exit.as_ref());
        let print = json::fingerprint(&[content.clone().into_raw().as_str()]);
        if self.terminals.shows_again(key, print) {
            return;
        }
        self.activity(format!("{}terminal-{id}", ids::ACTIVITY), "acp.terminal", content);
    }
}

/// The bytes of base64 text; of broken text, none.
fn decode(text: &str) -> Vec<u8> {
    STANDARD.decode(text).unwrap_or_default()
}
