//! What came of each question and each step of a tool.
use alloc::collections::BTreeMap;
use alloc::string::String;
use jsonrpc_core::wire::Raw;
use serde::{Deserialize, Serialize};

/// What an entry of a [`Journal`] is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum EntryKind {
    /// A question to the user.
    Elicit,
    /// A request to the model.
    Sample,
    /// Work of the tool that is not to be done twice.
    Step,
}

/// What came of a question or of a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// A result of its method, or what the step gave.
    Value(Raw),
    /// The client answered with an error; this is its message.
    Error(String),
}

/// One question or step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Entry {
    kind: EntryKind,
    /// A digest of what was asked, so that another question is not given this one's answer.
    request: u64,
    outcome: Option<Outcome>,
}

/// What came of each question and each step of a tool, by key: running the tool again with it comes to the same point.
///
/// It is bounded by [`MAX_ENTRIES`](Self::MAX_ENTRIES) and [`MAX_OUTCOME_BYTES`](Self::MAX_OUTCOME_BYTES).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Journal {
    entries: BTreeMap<String, Entry>,
    /// How many notices the tool has given.
    pub(super) told: u64,
}

/// What became of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answered {
    /// It counts.
    Recorded,
    /// There was an answer before, which still counts.
    Already,
    /// Nobody asked.
    Unasked,
    /// It has more than [`Journal::MAX_OUTCOME_BYTES`]; the question is still open.
    TooLarge,
}

/// A tool, run again, does not do what its journal says: its code is not the same, or it depends on something that is not in
/// the journal.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the tool does not do at `{key}` what its journal says: {problem}")]
#[non_exhaustive]
pub struct ReplayMismatch {
    /// The key of the question or step.
    pub key: String,
    /// What is not the same.
    pub problem: &'static str,
}

impl Journal {
    /// The most questions and steps of one call.
    pub const MAX_ENTRIES: usize = 256;

    /// The most bytes of one answer, or of what one step gave.
    pub const MAX_OUTCOME_BYTES: usize = 1 << 20;

    /// Takes an answer. The first one counts.
    pub fn answer(&mut self, key: &str, outcome: Outcome) -> Answered {
        let Some(entry) = self.entries.get_mut(key) else { return Answered::Unasked };
        if entry.kind == EntryKind::Step {
            return Answered::Unasked;
        }
        if entry.outcome.is_some() {
            return Answered::Already;
        }
        if !is_small(&outcome) {
            return Answered::TooLarge;
        }
        entry.outcome = Some(outcome);
        Answered::Recorded
    }

    /// Whether there is something that nobody has answered.
    pub fn is_waiting(&self) -> bool {
        self.open().next().is_some()
    }

    /// The keys that nobody has answered, each with its kind.
    pub fn open(&self) -> impl Iterator<Item = (&str, EntryKind)> {
        let open = self.entries.iter().filter(|(_, entry)| entry.outcome.is_none());
        open.map(|(key, entry)| (key.as_str(), entry.kind))
            .filter(|(_, kind)| *kind != EntryKind::Step)
    }

    /// Begins a question or a step, or gives what came of it.
    pub(super) fn begin(
        &mut self,
        key: &str,
        kind: EntryKind,
        request: u64,
    ) -> Result<Option<&Outcome>, ReplayMismatch> {
        let mismatch = |problem| ReplayMismatch { key: key.into(), problem };
        if !self.entries.contains_key(key) {
            if self.entries.len() >= Self::MAX_ENTRIES {
                return Err(mismatch("there are too many questions and steps"));
            }
            self.entries.insert(key.into(), Entry { kind, request, outcome: None });
            return Ok(None);
        }
        match self.entries.get(key) {
            Some(entry) if entry.kind != kind => Err(mismatch("it is something of another kind")),
            Some(entry) if entry.request != request => Err(mismatch("it asks for something else")),
            Some(entry) => Ok(entry.outcome.as_ref()),
            None => Ok(None),
        }
    }

    /// Approximate size in bytes.
    pub(super) fn size(&self) -> usize {
        let outcome = |entry: &Entry| entry.outcome.as_ref().map_or(0, outcome_size);
        self.entries.iter().map(|(key, entry)| 64 + key.len() + outcome(entry)).sum()
    }

    /// Keeps what a step gave; whether there was room for it.
    pub(super) fn end_step(&mut self, key: &str, value: Raw) -> bool {
        let outcome = Outcome::Value(value);
        match self.entries.get_mut(key).filter(|_| is_small(&outcome)) {
            Some(entry) => {
                entry.outcome = Some(outcome);
                true
            }
            None => false,
        }
    }

    /// Takes answers to its own open questions from a journal of the same call; whether there were any.
    pub(super) fn take_answers(&mut self, other: &Self) -> bool {
        let mut is_changed = false;
        for (key, entry) in &mut self.entries {
            let theirs = other.entries.get(key).and_then(|theirs| theirs.outcome.as_ref());
            if let (None, Some(outcome)) = (&entry.outcome, theirs) {
                entry.outcome = Some(outcome.clone());
                is_changed = true;
            }
        }
        is_changed
    }
}

fn is_small(outcome: &Outcome) -> bool {
    outcome_size(outcome) <= Journal::MAX_OUTCOME_BYTES
}

fn outcome_size(outcome: &Outcome) -> usize {
    match outcome {
        Outcome::Value(value) => value.as_str().len(),
        Outcome::Error(message) => message.len(),
    }
}

/// A digest that is the same everywhere (FNV-1a, 64 bits). It tells code that changed from code that did not; it is no
/// protection from somebody who wants two texts with one digest.
pub(super) fn digest<'a>(parts: impl IntoIterator<Item = &'a str>) -> u64 {
    let bytes = parts.into_iter().flat_map(|part| part.bytes().chain([0xff]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
