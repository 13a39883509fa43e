//! Facts about the session as a part of the shared state.
use crate::frame::Frame;
use crate::json::{self, Members};
use crate::outbox::Outbox;
use crate::update::Kind;
use acp_types::v1::session_list::SessionInfoUpdate;
use agui_types::event::{StateDeltaEvent, StateSnapshotEvent};
use agui_types::input::RunAgentInput;
use agui_types::json_patch::{AddOperation, JsonPatchOperation, JsonPointer, RemoveOperation};
use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use core::time::Duration;
use jsonrpc_core::wire::{Extra, Presence, Raw};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Shortest interval between two usage updates in the state.
const USAGE_EVERY: Duration = Duration::from_secs(1);

/// The member `/acp` of the client's state. Only this crate writes it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Projection {
    is_enabled: bool,
    members: BTreeMap<String, Raw>,
    /// Whether the client's state has these members; `None` if the state is not an object and
    /// cannot have them.
    is_there: Option<bool>,
    /// A delayed usage update.
    usage: Option<Raw>,
    /// The time of the last usage update.
    usage_sent: Option<Duration>,
}

impl Projection {
    pub(crate) fn new(is_enabled: bool) -> Self {
        Self { is_enabled, members: BTreeMap::new(), is_there: None, usage: None, usage_sent: None }
    }

    /// Returns whether facts are part of the client's state.
    pub(crate) fn is_active(&self, frame: &Frame<'_>) -> bool {
        self.is_enabled && frame.is_modern && self.is_there.is_some()
    }

    /// Reads the state that a run begins with, and updates its `/acp`.
    pub(crate) fn begin_run(
        &mut self,
        frame: &Frame<'_>,
        out: &mut Outbox,
        input: &RunAgentInput,
        is_whole: bool,
    ) {
        if !self.is_enabled || !frame.is_modern {
            return;
        }
        let given = input.state.as_ref().map_or("{}", Raw::as_str);
        let given = serde_json::from_str::<Value>(given).unwrap_or(Value::Null);
        let acp = given.as_object().map(|members| members.get("acp"));
        // The first write replaces any other value.
        self.is_there = acp.map(|_| false);
        self.usage_sent = None;
        if self.members.is_empty() {
            return;
        }
        let document = self.document();
        match acp {
            None => {}
            Some(acp) if acp == Some(&document) => {}
            Some(_) if is_whole && given.as_object().is_some_and(|members| members.len() < 2) => {
                let state = Members::new().with("acp", &document).into_raw();
                out.emit(frame, StateSnapshotEvent::new(state));
            }
            Some(_) => add(frame, out, "/acp", json::raw(&document)),
        }
        self.is_there = acp.map(|_| true);
    }

    /// Writes a fact to the state, and returns whether the state has it now.
    pub(crate) fn set(
        &mut self,
        frame: &Frame<'_>,
        out: &mut Outbox,
        kind: Kind,
        update: &Raw,
    ) -> bool {
        let Some(is_there) = self.is_there.filter(|_| self.is_active(frame)) else { return false };
        let (name, member) = place(kind);
        let value = match member {
            Some(member) => update.decode::<Extra>().ok().and_then(|all| all.get(member).cloned()),
            None => Some(update.clone()),
        };
        let value = value.unwrap_or_else(|| update.clone());
        let before = self.members.insert(name.to_owned(), value.clone());
        if before.as_ref() == Some(&value) {
            return true;
        }
        if self.bytes() > frame.limits.state {
            self.members.remove(name);
            if let (Some(_), true, Ok(path)) =
                (before, is_there, JsonPointer::try_from(&*format!("/acp/{name}")))
            {
                let remove = JsonPatchOperation::Remove(RemoveOperation::new(path));
                out.emit(frame, StateDeltaEvent::new(vec![remove]));
            }
            return false;
        }
        if is_there {
            add(frame, out, &format!("/acp/{name}"), value);
        } else {
            self.is_there = Some(true);
            add(frame, out, "/acp", json::raw(&self.document()));
        }
        true
    }

    /// Writes the usage to the state, now or soon, and returns whether the state has or will have
    /// it.
    pub(crate) fn set_usage(&mut self, frame: &Frame<'_>, out: &mut Outbox, usage: Raw) -> bool {
        if !self.is_active(frame) {
            return false;
        }
        let soon = self.usage_sent.zip(frame.now);
        if soon.is_some_and(|(sent, now)| now < sent.saturating_add(USAGE_EVERY)) {
            self.usage = Some(usage);
            return true;
        }
        self.usage_sent = frame.now;
        self.usage = None;
        self.set(frame, out, Kind::Usage, &usage)
    }

    /// Writes the delayed facts to the state.
    pub(crate) fn flush(&mut self, frame: &Frame<'_>, out: &mut Outbox) {
        if let Some(usage) = self.usage.take() {
            self.set(frame, out, Kind::Usage, &usage);
        }
    }

    /// Merges the session's information into the state: absent members stay, `null` clears.
    pub(crate) fn merge_session(
        &mut self,
        frame: &Frame<'_>,
        out: &mut Outbox,
        info: &SessionInfoUpdate,
    ) {
        let known = self.members.get("session");
        let known = known.and_then(|known| known.decode::<Extra>().ok()).unwrap_or_default();
        let mut session = Members::new();
        for (name, change) in [("title", &info.title), ("updatedAt", &info.updated_at)] {
            session = match (change, known.get(name)) {
                (Presence::Value(text), _) => session.with(name, text),
                (Presence::Absent, Some(known)) => session.with(name, known),
                (Presence::Null, _) | (Presence::Absent, None) => session,
            };
        }
        self.set(frame, out, Kind::SessionInfo, &session.into_raw());
    }

    fn document(&self) -> Value {
        let value = |raw: &Raw| serde_json::from_str(raw.as_str()).unwrap_or(Value::Null);
        let members = self.members.iter().map(|(name, raw)| (name.clone(), value(raw)));
        Value::Object(members.collect::<Map<_, _>>())
    }

    fn bytes(&self) -> usize {
        self.members.iter().map(|(name, raw)| name.len() + raw.as_str().len()).sum()
    }
}

/// Returns the member of `/acp` for a fact, and the member of the update with its value; `None` for
/// the whole update.
fn place(kind: Kind) -> (&'static str, Option<&'static str>) {
    match kind {
        Kind::Plan => ("plan", None),
        Kind::Commands => ("commands", Some("availableCommands")),
        Kind::Mode => ("mode", Some("currentModeId")),
        Kind::ConfigOptions => ("configOptions", Some("configOptions")),
        Kind::Suggestions => ("suggestions", Some("suggestions")),
        Kind::SessionInfo => ("session", None),
        Kind::Usage => ("usage", None),
    }
}

/// Sets a member of the state; `add` works for present and absent members.
fn add(frame: &Frame<'_>, out: &mut Outbox, path: &str, value: Raw) {
    if let Ok(path) = JsonPointer::try_from(path) {
        let add = JsonPatchOperation::Add(AddOperation::new(path, value));
        out.emit(frame, StateDeltaEvent::new(vec![add]));
    }
}
