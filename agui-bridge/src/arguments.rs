//! Arguments of a tool call: when they go out, and in which pieces.
use crate::json;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::{Extra, Raw};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The time at which a tool call's arguments go out.
///
/// ACP agents send `rawInput` in various ways: an empty object first and then more and more members, again with the
/// permission request, only after the call has begun to run, or never. Arguments that never come go out as `{}` at the end
/// of the call, or of the run. Arguments that change after they went out are shown by `CUSTOM`
/// `acp.tool_call.args_changed`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum ArgsMode {
    /// Once, whole, when they are known and the call runs, needs permission or ends: always valid JSON.
    #[default]
    Hold,
    /// Member by member, each when the next one has come, so that it no longer grows; the rest as in
    /// [`Hold`](Self::Hold). Where the agent changes a member that went out, the object ends there, and the metadata of
    /// `TOOL_CALL_END` has the arguments under `acp.rawInput`.
    StreamKeys,
    /// Once, whole, when they are not empty for the first time: the earliest, for agents that send all at once.
    Eager,
}

/// The arguments of one tool call: the newest `rawInput`, until they went out.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Arguments {
    newest: Option<Raw>,
    /// Members that went out: their names, and fingerprints of their values.
    streamed: Vec<(String, u64)>,
    bytes: usize,
    /// A member that went out has changed: no more go out.
    frozen: bool,
    closed: bool,
    changed: bool,
}

impl Arguments {
    /// Takes another `rawInput`; says whether it comes too late to go out.
    pub(crate) fn update(&mut self, input: Raw, limit: usize) -> bool {
        let bytes = input.as_str().len();
        let input = if bytes > limit { json::omitted(bytes).into_raw() } else { input };
        let late = (self.closed || self.frozen)
            && !is_same(self.newest.as_ref().map_or(NONE, Raw::as_str), input.as_str());
        self.changed |= late;
        self.newest = Some(input);
        late && self.closed
    }

    /// Whether the agent has sent arguments.
    pub(crate) fn is_known(&self) -> bool {
        self.newest.is_some()
    }

    /// Whether there is anything in them.
    pub(crate) fn is_empty(&self) -> bool {
        self.newest.as_ref().is_none_or(|newest| is_same(newest.as_str(), NONE))
    }

    /// The members that will not grow any more, as the next piece of an object.
    pub(crate) fn stream(&mut self, limit: usize) -> Option<String> {
        let members: Extra = object(self.newest.as_ref().filter(|_| !self.closed)?)?;
        let members: Vec<_> = members.iter().collect();
        self.freeze_if_changed(&members);
        let ready = members.get(self.streamed.len()..members.len().saturating_sub(1))?;
        self.write(ready, limit)
    }

    /// What is left of the arguments, the first time. Together with what was streamed it is one JSON object; a value that
    /// is no object becomes its member `value`.
    pub(crate) fn close(&mut self, limit: usize) -> Option<String> {
        if core::mem::replace(&mut self.closed, true) {
            return None;
        }
        let text = self.newest.as_ref().map_or(NONE, Raw::as_str).trim();
        if self.streamed.is_empty() {
            let is_object = text.starts_with('{');
            return Some(if is_object { text.into() } else { format!("{{\"value\":{text}}}") });
        }
        let members = self.newest.as_ref().and_then(object).unwrap_or_default();
        let members: Vec<_> = members.iter().collect();
        self.freeze_if_changed(&members);
        let rest = members.get(self.streamed.len()..).unwrap_or_default();
        let mut rest = self.write(rest, limit).unwrap_or_default();
        rest.push('}');
        Some(rest)
    }

    /// What the agent says the arguments are, when that is not what went out.
    pub(crate) fn changed(&self) -> Option<&Raw> {
        self.newest.as_ref().filter(|_| self.changed || self.frozen)
    }

    /// Whether the object that went out is not what the agent meant when it ended.
    pub(crate) fn is_frozen(&self) -> bool {
        self.frozen
    }

    /// About how many bytes are kept.
    pub(crate) fn bytes(&self) -> usize {
        self.newest.as_ref().map_or(0, |newest| newest.as_str().len())
    }

    /// Lets go of the text of arguments that went out.
    pub(crate) fn forget(&mut self) {
        self.newest = None;
        self.streamed = Vec::new();
    }

    fn freeze_if_changed(&mut self, members: &[(&str, &Raw)]) {
        let same = |(number, (name, value)): (usize, &(String, u64))| {
            members.get(number).is_some_and(|(now, raw)| {
                now == name && json::fingerprint(&[raw.as_str()]) == *value
            })
        };
        self.frozen |= !self.streamed.iter().enumerate().all(same);
    }

    fn write(&mut self, members: &[(&str, &Raw)], limit: usize) -> Option<String> {
        let mut text = String::new();
        for (name, value) in members.iter().filter(|_| !self.frozen) {
            let name_text = json::raw(*name);
            let bytes = name_text.as_str().len() + value.as_str().len();
            if self.bytes.saturating_add(bytes) > limit {
                self.frozen = true;
                break;
            }
            self.bytes += bytes;
            text.push(if self.streamed.is_empty() { '{' } else { ',' });
            text.push_str(name_text.as_str());
            text.push(':');
            text.push_str(value.as_str());
            self.streamed.push(((*name).into(), json::fingerprint(&[value.as_str()])));
        }
        (!text.is_empty()).then_some(text)
    }
}

/// What goes out for a call without arguments.
const NONE: &str = "{}";

fn object(raw: &Raw) -> Option<Extra> {
    raw.as_str().trim_start().starts_with('{').then(|| raw.decode().ok())?
}

fn is_same(one: &str, other: &str) -> bool {
    let value = |text| serde_json::from_str::<Value>(text).ok();
    one == other || (value(one).is_some() && value(one) == value(other))
}
