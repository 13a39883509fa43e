//! Unique identifiers of a thread.
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use serde::{Deserialize, Serialize};

/// Longest key of a peer that becomes part of an identifier.
const KEY_BYTES: usize = 256;

/// Prefixes of the bridge's identifiers. A peer's tool call id with one of them is replaced.
const OURS: [&str; 6] = [MESSAGE, REASONING, SPAN, RESULT, ACTIVITY, INTERRUPT];

pub(crate) const MESSAGE: &str = "msg-";
pub(crate) const REASONING: &str = "rsn-";
pub(crate) const SPAN: &str = "rsp-";
pub(crate) const RESULT: &str = "res-";
pub(crate) const ACTIVITY: &str = "act-";
pub(crate) const INTERRUPT: &str = "int-";
const CALL: &str = "call-";

/// The identifiers of one thread. Each is used once, and the sequence is deterministic.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Ids {
    /// Number of requests for each; a prefix alone counts its numbers.
    used: BTreeMap<Box<str>, u64>,
    limit: usize,
    overflow: u64,
    /// Between the prefix and the number of an id.
    #[serde(default)]
    scope: Box<str>,
}

impl Ids {
    pub(crate) fn new(limit: usize) -> Self {
        Self { used: BTreeMap::new(), limit, overflow: 0, scope: Box::default() }
    }

    /// Sets the part of numbered ids between their prefix and their number.
    pub(crate) fn with_scope(self, scope: &str) -> Self {
        Self { scope: scope.into(), ..self }
    }

    /// Excludes the id of a message from use. Without a prefix of the bridge it equals none of its
    /// own.
    pub(crate) fn reserve_message(&mut self, id: &str) {
        if OURS.iter().any(|ours| id.starts_with(ours)) {
            self.reserve(id);
        }
    }

    /// Excludes `id` from use.
    pub(crate) fn reserve(&mut self, id: &str) {
        if self.used.len() < self.limit && id.len() <= KEY_BYTES && !self.used.contains_key(id) {
            self.used.insert(id.into(), 1);
        }
    }

    /// Returns `prefix` and `key`, followed by a number if that was used before.
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

    /// Returns `prefix` and the next number.
    pub(crate) fn numbered(&mut self, prefix: &str) -> String {
        if self.used.len() >= self.limit {
            return self.overflow(prefix);
        }
        let scope = self.scope.clone();
        self.count_up(prefix, |count| Some(format!("{prefix}{scope}{count}")))
    }

    /// Returns the id of a tool call: the agent's own, unless it was used before or has a prefix of
    /// the bridge.
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
