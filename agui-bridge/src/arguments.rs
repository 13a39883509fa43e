use crate::json;
use alloc::format;
use alloc::string::String;
use jsonrpc_core::wire::Raw;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// When a tool call's arguments go out.
///
/// ACP agents send `rawInput` in pieces of their own making: an empty object first, then more and more members, or the
/// same again with the permission request, or never.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum ArgsMode {
    /// Once, whole, when the call begins to run, asks for permission or ends: always valid JSON.
    #[default]
    Hold,
}

/// The arguments of one tool call: the newest `rawInput`, until they went out.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Arguments {
    newest: Option<Raw>,
    closed: bool,
    changed: bool,
}

impl Arguments {
    /// Takes another `rawInput`; says whether it comes too late to go out.
    pub(crate) fn update(&mut self, input: Raw) -> bool {
        let late =
            self.closed && !is_same(self.newest.as_ref().map_or(NONE, Raw::as_str), input.as_str());
        self.changed |= late;
        self.newest = Some(input);
        late
    }

    /// The arguments as one JSON object, the first time; a value that is no object becomes its member `value`.
    pub(crate) fn close(&mut self, limit: usize) -> Option<String> {
        if core::mem::replace(&mut self.closed, true) {
            return None;
        }
        let text = self.newest.as_ref().map_or(NONE, Raw::as_str).trim();
        if text.len() > limit {
            return Some(json::omitted(text.len()).into_raw().as_str().into());
        }
        Some(if text.starts_with('{') { text.into() } else { format!("{{\"value\":{text}}}") })
    }

    /// What the agent says the arguments are, when that is no longer what went out.
    pub(crate) fn changed(&self) -> Option<&Raw> {
        self.newest.as_ref().filter(|_| self.changed)
    }

    /// Lets go of the text of arguments that went out.
    pub(crate) fn forget(&mut self) {
        self.newest = None;
    }
}

/// What goes out for a call without arguments.
const NONE: &str = "{}";

fn is_same(one: &str, other: &str) -> bool {
    let value = |text| serde_json::from_str::<Value>(text).ok();
    one == other || (value(one).is_some() && value(one) == value(other))
}
