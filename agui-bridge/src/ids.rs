use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use serde::{Deserialize, Serialize};

/// Longest key of a peer's that becomes part of an identifier.
const KEY_BYTES: usize = 256;

/// Prefixes of our own identifiers; a peer's tool call id with one of them is not taken as it is.
const OURS: [&str; 6] = [MESSAGE, REASONING, SPAN, RESULT, ACTIVITY, INTERRUPT];

pub(crate) const MESSAGE: &str = "msg-";
pub(crate) const REASONING: &str = "rsn-";
pub(crate) const SPAN: &str = "rsp-";
pub(crate) const RESULT: &str = "res-";
pub(crate) const ACTIVITY: &str = "act-";
pub(crate) const INTERRUPT: &str = "int-";
const CALL: &str = "call-";

/// Identifiers of one thread: each is given out once, in an order that only depends on what was asked for.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Ids {
    /// How often each was asked for; a prefix alone counts the numbers given under it.
    used: BTreeMap<Box<str>, u64>,
    limit: usize,
    overflow: u64,
}

impl Ids {
    pub(crate) fn new(limit: usize) -> Self {
        Self { used: BTreeMap::new(), limit, overflow: 0 }
    }

    /// Never gives out `id`.
    pub(crate) fn reserve(&mut self, id: &str) {
        if self.used.len() < self.limit && id.len() <= KEY_BYTES && !self.used.contains_key(id) {
            self.used.insert(id.into(), 1);
        }
    }

    /// `prefix` and `key`, or that and a number when it was given out before.
    pub(crate) fn keyed(&mut self, prefix: &str, key: &str, separator: char) -> String {
        let wanted = format!("{prefix}{key}");
        if key.len() > KEY_BYTES || self.used.len() >= self.limit {
            return self.overflow(prefix);
        }
        if !self.used.contains_key(&*wanted) {
            self.used.insert(wanted.as_str().into(), 1);
            return wanted;
        }
        self.count_up(&wanted, |count| (count > 1).then(|| format!("{wanted}{separator}{count}")))
    }

    /// `prefix` and the next number.
    pub(crate) fn numbered(&mut self, prefix: &str) -> String {
        if self.used.len() >= self.limit {
            return self.overflow(prefix);
        }
        self.count_up(prefix, |count| Some(format!("{prefix}{count}")))
    }

    /// The id of a tool call: the agent's own, unless it was used before or could be taken for one of ours.
    pub(crate) fn tool_call(&mut self, id: &str) -> String {
        let prefix =
            if id.is_empty() || OURS.iter().any(|ours| id.starts_with(ours)) { CALL } else { "" };
        self.keyed(prefix, id, '~')
    }

    fn count_up(&mut self, counter: &str, spell: impl Fn(u64) -> Option<String>) -> String {
        let mut count = self.used.get(counter).copied().unwrap_or_default();
        let id = loop {
            count += 1;
            match spell(count) {
                Some(id) if !self.used.contains_key(&*id) => break id,
                _ => {}
            }
        };
        self.used.insert(counter.into(), count);
        self.used.insert(id.as_str().into(), 1);
        id
    }

    fn overflow(&mut self, prefix: &str) -> String {
        let prefix = if prefix.is_empty() { CALL } else { prefix };
        loop {
            self.overflow += 1;
            let id = format!("{prefix}more-{}", self.overflow);
            if !self.used.contains_key(&*id) {
                self.reserve(&id);
                return id;
            }
        }
    }
}
