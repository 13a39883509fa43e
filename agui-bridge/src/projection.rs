//! The session as a part of the shared state.
use crate::json::{self, Members};
use crate::state::Kind;
use crate::translator::Translator;
use acp_types::v1::agent_plan::PlanEntry;
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

/// How often the usage goes out at most.
const USAGE_EVERY: Duration = Duration::from_secs(1);

/// What the client's state has under `/acp`, which only this crate writes.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Projection {
    members: BTreeMap<String, Raw>,
    /// Whether the client's state has just this; nothing where no state can have it, for it is no object.
    there: Option<bool>,
    /// A usage that is held back, and when the last one went out.
    usage: Option<Raw>,
    usage_told: Option<Duration>,
}

impl Projection {
    fn document(&self) -> Value {
        let value = |raw: &Raw| serde_json::from_str(raw.as_str()).unwrap_or(Value::Null);
        let members = self.members.iter().map(|(name, raw)| (name.clone(), value(raw)));
        Value::Object(members.collect::<Map<_, _>>())
    }

    fn bytes(&self) -> usize {
        self.members.iter().map(|(name, raw)| name.len() + raw.as_str().len()).sum()
    }
}

impl Kind {
    /// Where it is under `/acp`, and which member of the update it is; the whole update where it says none.
    fn place(self) -> (&'static str, Option<&'static str>) {
        match self {
            Self::Plan => ("plan", None),
            Self::Commands => ("commands", Some("availableCommands")),
            Self::Mode => ("mode", Some("currentModeId")),
            Self::ConfigOptions => ("configOptions", Some("configOptions")),
            Self::SessionInfo => ("session", None),
            Self::Usage => ("usage", None),
        }
    }
}

impl Translator {
    /// Looks at the state that a run begins with, and makes its `/acp` what it has to be.
    pub(crate) fn begin_state(&mut self, input: &RunAgentInput, whole: bool) {
        if !self.projects() {
            return;
        }
        let given = input.state.as_ref().map_or("{}", Raw::as_str);
        let given = serde_json::from_str::<Value>(given).unwrap_or(Value::Null);
        let acp = given.as_object().map(|members| members.get("acp"));
        // Whatever else is there, the first write takes its place.
        self.projection.there = acp.map(|_| false);
        self.projection.usage_told = None;
        if self.projection.members.is_empty() {
            return;
        }
        let document = self.projection.document();
        match acp {
            None => {}
            Some(acp) if acp == Some(&document) => {}
            Some(_) if whole && given.as_object().is_some_and(|members| members.len() < 2) => {
                let state = Members::new().with("acp", &document).into_raw();
                self.emit(StateSnapshotEvent::new(state));
            }
            Some(_) => self.add_to_state("/acp", json::raw(&document)),
        }
        self.projection.there = acp.map(|_| true);
    }

    fn projects(&self) -> bool {
        self.options.state && self.is_modern()
    }

    /// Puts the whole of something into the state; says whether it is there now.
    pub(crate) fn project(&mut self, kind: Kind, update: &Raw) -> bool {
        let Some(there) = self.projection.there.filter(|_| self.projects()) else { return false };
        let (name, member) = kind.place();
        let value = match member {
            Some(member) => update.decode::<Extra>().ok().and_then(|all| all.get(member).cloned()),
            None => Some(update.clone()),
        };
        let value = value.unwrap_or_else(|| update.clone());
        let before = self.projection.members.insert(name.to_owned(), value.clone());
        if before.as_ref() == Some(&value) {
            return true;
        }
        if self.projection.bytes() > self.options.limits.state {
            self.projection.members.remove(name);
            if let (Some(_), true, Ok(path)) =
                (before, there, JsonPointer::try_from(&*format!("/acp/{name}")))
            {
                let remove = JsonPatchOperation::Remove(RemoveOperation::new(path));
                self.emit(StateDeltaEvent::new(vec![remove]));
            }
            return false;
        }
        if there {
            self.add_to_state(&format!("/acp/{name}"), value);
        } else {
            self.projection.there = Some(true);
            let all = json::raw(&self.projection.document());
            self.add_to_state("/acp", all);
        }
        true
    }

    /// Puts the usage into the state, now or soon.
    pub(crate) fn project_usage(&mut self, usage: Raw) -> bool {
        if !self.projects() || self.projection.there.is_none() {
            return false;
        }
        let soon = self.projection.usage_told.zip(self.now);
        if soon.is_some_and(|(told, now)| now < told.saturating_add(USAGE_EVERY)) {
            self.projection.usage = Some(usage);
            return true;
        }
        self.projection.usage_told = self.now;
        self.projection.usage = None;
        self.project(Kind::Usage, &usage)
    }

    /// Puts what was held back into the state.
    pub(crate) fn flush_state(&mut self) {
        if let Some(usage) = self.projection.usage.take() {
            self.project(Kind::Usage, &usage);
        }
    }

    pub(crate) fn project_plan(&mut self, entries: &[PlanEntry]) {
        let plan = Members::new().with("entries", entries).into_raw();
        self.project(Kind::Plan, &plan);
    }

    /// Puts what is known of the session into the state: absent members stay, `null` clears.
    pub(crate) fn project_session(&mut self, info: &SessionInfoUpdate) {
        let known = self.projection.members.get("session");
        let known = known.and_then(|known| known.decode::<Extra>().ok()).unwrap_or_default();
        let mut session = Members::new();
        for (name, change) in [("title", &info.title), ("updatedAt", &info.updated_at)] {
            session = match (change, known.get(name)) {
                (Presence::Value(text), _) => session.with(name, text),
                (Presence::Absent, Some(known)) => session.with(name, known),
                (Presence::Null, _) | (Presence::Absent, None) => session,
            };
        }
        self.project(Kind::SessionInfo, &session.into_raw());
    }

    /// `add` sets a member whether or not it is there.
    fn add_to_state(&mut self, path: &str, value: Raw) {
        if let Ok(path) = JsonPointer::try_from(path) {
            let add = JsonPatchOperation::Add(AddOperation::new(path, value));
            self.emit(StateDeltaEvent::new(vec![add]));
        }
    }
}
