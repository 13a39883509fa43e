//! Journal of a call: the outcomes of its questions and steps.
use alloc::collections::BTreeMap;
use alloc::string::String;
use jsonrpc_core::wire::Raw;
use serde::{Deserialize, Serialize};

/// Kind of an entry of a [`Journal`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum EntryKind {
    /// A question to the user.
    Elicit,
    /// A request to the model.
    Sample,
    /// A request for the folders and files that the client works in.
    Roots,
    /// A step of the tool that must not run twice.
    Step,
}

/// Outcome of a question or step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(clippy::exhaustive_enums, reason = "JSON-RPC has results and errors")]
pub enum Outcome {
    /// The result of the request, or the value of the step.
    Value(Raw),
    /// The client responded with an error that has this message.
    Error(String),
}

/// One question or step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Entry {
    kind: EntryKind,
    /// Digest of the request, so that an answer is never used for a different question.
    request: u64,
    outcome: Option<Outcome>,
}

/// The outcomes of the questions and steps of a call, by key. A tool that runs again with its
/// journal reaches the same point.
///
/// Its size is bounded by [`MAX_ENTRIES`](Self::MAX_ENTRIES) and
/// [`MAX_OUTCOME_BYTES`](Self::MAX_OUTCOME_BYTES).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Journal {
    entries: BTreeMap<String, Entry>,
    /// Number of notices that the tool has sent.
    #[serde(rename = "told")]
    pub(super) notices: u64,
}

/// Result of [`Journal::answer`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AnswerOutcome {
    /// The answer was recorded.
    Recorded,
    /// The question already has an answer, which is kept.
    Already,
    /// There is no such question.
    Unasked,
    /// The answer exceeds [`Journal::MAX_OUTCOME_BYTES`]. The question stays open.
    TooLarge,
}

/// A replayed tool deviates from its journal: its code has changed, or depends on state outside the
/// journal.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the tool deviates from its journal at `{key}`: {problem}")]
#[non_exhaustive]
pub struct ReplayMismatch {
    /// The key of the question or step.
    pub key: String,
    /// The difference.
    pub problem: &'static str,
}

impl Journal {
    /// Maximum number of questions and steps of a call.
    pub const MAX_ENTRIES: usize = 256;

    /// Maximum size of one outcome, in bytes.
    pub const MAX_OUTCOME_BYTES: usize = 1 << 20;

    /// Records an answer. The first answer to a question is kept.
    pub fn answer(&mut self, key: &str, outcome: Outcome) -> AnswerOutcome {
        let Some(entry) = self.entries.get_mut(key) else { return AnswerOutcome::Unasked };
        if entry.kind == EntryKind::Step {
            return AnswerOutcome::Unasked;
        }
        if entry.outcome.is_some() {
            return AnswerOutcome::Already;
        }
        if !is_small(&outcome) {
            return AnswerOutcome::TooLarge;
        }
        entry.outcome = Some(outcome);
        AnswerOutcome::Recorded
    }

    /// Returns whether a question has no outcome.
    pub fn is_waiting(&self) -> bool {
        self.open().next().is_some()
    }

    /// Returns the keys and kinds of the questions without an outcome.
    pub fn open(&self) -> impl Iterator<Item = (&str, EntryKind)> {
        let open = self.entries.iter().filter(|(_, entry)| entry.outcome.is_none());
        open.map(|(key, entry)| (key.as_str(), entry.kind))
            .filter(|(_, kind)| *kind != EntryKind::Step)
    }

    /// Starts a question or step, or returns its recorded outcome.
    pub(super) fn begin(
        &mut self,
        key: &str,
        kind: EntryKind,
        request: u64,
    ) -> Result<Option<&Outcome>, ReplayMismatch> {
        let mismatch = |problem| ReplayMismatch { key: key.into(), problem };
        if !self.entries.contains_key(key) {
            if self.entries.len() >= Self::MAX_ENTRIES {
                return Err(mismatch("too many questions and steps"));
            }
            self.entries.insert(key.into(), Entry { kind, request, outcome: None });
            return Ok(None);
        }
        match self.entries.get(key) {
            Some(entry) if entry.kind != kind => Err(mismatch("the entry is of another kind")),
            Some(entry) if entry.request != request => Err(mismatch("the request is different")),
            Some(entry) => Ok(entry.outcome.as_ref()),
            None => Ok(None),
        }
    }

    /// Returns the approximate size in bytes.
    pub(super) fn size(&self) -> usize {
        let outcome = |entry: &Entry| entry.outcome.as_ref().map_or(0, outcome_size);
        self.entries.iter().map(|(key, entry)| 64 + key.len() + outcome(entry)).sum()
    }

    /// Records the outcome of a step. Returns whether it is within the size limit.
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

    /// Copies answers to open questions from a journal of the same call. Returns whether there were
    /// any.
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

/// A digest that is stable across programs (FNV-1a, 64 bits). It detects changed code and is not
/// collision-resistant against an attacker.
pub(super) fn digest<'a>(parts: impl IntoIterator<Item = &'a str>) -> u64 {
    let bytes = parts.into_iter().flat_map(|part| part.bytes().chain([0xff]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
