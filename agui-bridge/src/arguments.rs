//! Arguments of a tool call, and the moment at which they are sent.
use crate::json;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::{Extra, Raw};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The moment at which a tool call's arguments are sent.
///
/// ACP agents send `rawInput` in different ways: an empty object that grows member by member, again
/// with the permission request, only after the call has begun, or never. Arguments that never
/// arrive are sent as `{}` at the end of the call or of the run. Arguments that change after they
/// were sent are shown as `CUSTOM` `acp.tool_call.args_changed`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum ArgsMode {
    /// Once and complete, when the call runs, needs permission or ends. The arguments are always
    /// valid JSON.
    #[default]
    Hold,
    /// Member by member, each when the next one has arrived and it no longer grows; otherwise as
    /// [`Hold`](Self::Hold). If the agent changes a member that was sent, the object ends there,
    /// and the metadata of `TOOL_CALL_END` has the arguments as `acp.rawInput`.
    StreamKeys,
    /// Once and complete, when they are first not empty. This is the earliest mode, for agents that
    /// send all arguments at once.
    Eager,
}

/// The arguments of one tool call: the latest `rawInput`, until it is sent.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Arguments {
    newest: Option<Raw>,
    /// Fingerprint of the latest `rawInput`.
    #[serde(default)]
    print: Option<u64>,
    /// Members that were sent: names, and fingerprints of the values.
    streamed: Vec<(String, u64)>,
    bytes: usize,
    /// A member that was sent has changed, so no further members are sent.
    frozen: bool,
    closed: bool,
    changed: bool,
}

impl Arguments {
    /// Sets the latest `rawInput`, and returns whether it is too late to be sent.
    pub(crate) fn update(&mut self, input: Raw, limit: usize) -> bool {
        self.print = Some(json::fingerprint(&[input.as_str()]));
        let bytes = input.as_str().len();
        let input = if bytes > limit { json::omitted(bytes).into_raw() } else { input };
        let late = (self.closed || self.frozen)
            && !is_same(self.newest.as_ref().map_or(NONE, Raw::as_str), input.as_str());
        self.changed |= late;
        self.newest = Some(input);
        late && self.closed
    }

    /// Returns the latest `rawInput`.
    pub(crate) fn latest(&self) -> Option<&Raw> {
        self.newest.as_ref()
    }

    /// Returns whether a `rawInput` is the latest one, also after [`forget`](Self::forget).
    pub(crate) fn is_latest(&self, input: &Raw) -> bool {
        self.print == Some(json::fingerprint(&[input.as_str()]))
    }

    /// Returns whether the agent has sent arguments.
    pub(crate) fn is_known(&self) -> bool {
        self.newest.is_some()
    }

    /// Returns whether the arguments are empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.newest.as_ref().is_none_or(|newest| is_same(newest.as_str(), NONE))
    }

    /// Returns the members that no longer grow, as the next piece of an object.
    pub(crate) fn stream(&mut self, limit: usize) -> Option<String> {
        let members: Extra = object(self.newest.as_ref().filter(|_| !self.closed)?)?;
        let members: Vec<_> = members.iter().collect();
        self.freeze_if_changed(&members);
        let ready = members.get(self.streamed.len()..members.len().saturating_sub(1))?;
        self.write(ready, limit)
    }

    /// Returns the rest of the arguments, once. Together with the streamed pieces it is one JSON
    /// object. A value that is not an object becomes the member `value`.
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

    /// Returns the agent's arguments if they differ from those sent.
    pub(crate) fn changed(&self) -> Option<&Raw> {
        self.newest.as_ref().filter(|_| self.changed || self.frozen)
    }

    /// Returns whether the sent object differs from the agent's final arguments.
    pub(crate) fn is_frozen(&self) -> bool {
        self.frozen
    }

    /// Returns the approximate size in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.newest.as_ref().map_or(0, |newest| newest.as_str().len())
    }

    /// Releases the text of arguments that were sent.
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

/// Arguments of a call without any.
const NONE: &str = "{}";

fn object(raw: &Raw) -> Option<Extra> {
    raw.as_str().trim_start().starts_with('{').then(|| raw.decode().ok())?
}

fn is_same(one: &str, other: &str) -> bool {
    let value = |text| serde_json::from_str::<Value>(text).ok();
    one == other || (value(one).is_some() && value(one) == value(other))
}
