//! The runs of a conversation: waiting, open, and recently ended.
use super::RememberedSession;
use crate::CancelReason;
use crate::input::{InputError, MAX_MESSAGES, follows};
use crate::json;
use agui_types::id::RunId;
use agui_types::input::RunAgentInput;
use agui_types::message::Message;
use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use jsonrpc_core::wire::Extra;
use serde::{Deserialize, Serialize};

/// A requested run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RunRequest {
    /// Input of the run.
    pub input: RunAgentInput,
    /// Members of `_meta` for the run's requests to the agent, such as `traceparent`.
    pub meta: Extra,
    /// The conversation with the new messages as the program has stored it, if the input leaves
    /// some of it out: a client that sends its new messages alone, or that has missed a part of a
    /// stream. A new session receives it as text.
    #[serde(default)]
    pub history: Vec<Message>,
    /// The remembered session of the thread that this one branches off from, as it is when the run
    /// is requested. The first session of the thread is a fork of it if the agent can fork it, at a
    /// cursor if the other thread has gone on; otherwise the agent receives the conversation as
    /// text. The other thread keeps its session. Settings that were chosen there count here as
    /// well. Later runs ignore it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch_of: Option<Box<RememberedSession>>,
    /// Why the run was cancelled before it reaches the conversation, if it was. It begins and ends
    /// without a prompt.
    #[serde(default)]
    pub cancel: Option<CancelReason>,
}

impl RunRequest {
    /// Returns the input with the whole conversation, the latest of at most [`MAX_MESSAGES`].
    pub(super) fn whole(&self) -> Cow<'_, RunAgentInput> {
        if self.history.is_empty() {
            return Cow::Borrowed(&self.input);
        }
        let mut input = self.input.clone();
        let left_out = self.history.len().saturating_sub(MAX_MESSAGES);
        input.messages = self.history.iter().skip(left_out).cloned().collect();
        Cow::Owned(input)
    }
}

impl From<RunAgentInput> for RunRequest {
    fn from(input: RunAgentInput) -> Self {
        Self { input, meta: Extra::new(), history: Vec::new(), branch_of: None, cancel: None }
    }
}

/// Outcome of [`Conversation::handle_run`](super::Conversation::handle_run).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Acceptance {
    /// The run has begun.
    Begun,
    /// The run has begun, and continues the turn of an interrupted one.
    Resumed,
    /// The run waits for the agent, its session, or another run. `RUN_STARTED` follows,
    /// [`RunOutput::Again`](super::RunOutput::Again) or
    /// [`RunOutput::Refused`](super::RunOutput::Refused).
    Queued,
    /// No run begins: this run has the same input, had the same answers, or is open and to be
    /// followed. Its events are the response.
    Again(RunId),
}

/// A run does not begin.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[non_exhaustive]
pub enum RunRefused {
    /// Another run of the thread is open, or too many runs wait.
    #[error("another run of the thread is open")]
    Busy,
    /// A run with this id and another input exists.
    #[error("another run has this id")]
    OtherRun,
    /// The input cannot be mapped to a prompt.
    #[error(transparent)]
    Input(#[from] InputError),
}

/// A run that has not begun.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct PendingRun {
    pub(super) request: RunRequest,
    /// Why the run ends immediately after its beginning, if it does.
    #[serde(default)]
    pub(super) cancel: Option<CancelReason>,
}

impl PendingRun {
    pub(super) fn run_id(&self) -> &RunId {
        &self.request.input.run_id
    }

    /// Returns whether the run has no prompt by request, and no answers.
    pub(super) fn follows(&self) -> bool {
        let input = &self.request.input;
        input.resume.as_ref().is_none_or(Vec::is_empty) && follows(input)
    }
}

/// A bounded set of runs, with fingerprints of their inputs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct KnownRuns {
    runs: VecDeque<KnownRun>,
    capacity: usize,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct KnownRun {
    run_id: RunId,
    fingerprint: u64,
    progress: Progress,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Progress {
    Live,
    Interrupted,
    Ended,
}

/// Relation of an input to the known runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Novelty {
    /// No known run has the id, or an interrupted one has it and the input answers its questions.
    New,
    /// A known run has the id and the input.
    Same,
    /// A known run has the id and another input.
    Other,
}

impl KnownRuns {
    pub(super) fn new(capacity: usize) -> Self {
        Self { runs: VecDeque::new(), capacity }
    }

    /// Returns the relation. Clients such as CopilotKit resume an interrupted run under its own id.
    pub(super) fn novelty(&self, input: &RunAgentInput) -> Novelty {
        let Some(known) = self.runs.iter().find(|known| known.run_id == input.run_id) else {
            return Novelty::New;
        };
        let answers = input.resume.as_ref().is_some_and(|answers| !answers.is_empty());
        if known.fingerprint == fingerprint(input) {
            Novelty::Same
        } else if known.progress == Progress::Interrupted && answers {
            Novelty::New
        } else {
            Novelty::Other
        }
    }

    pub(super) fn insert(&mut self, input: &RunAgentInput) {
        self.remove(&input.run_id);
        let run_id = input.run_id.clone();
        let fingerprint = fingerprint(input);
        self.runs.push_back(KnownRun { run_id, fingerprint, progress: Progress::Live });
        while self.runs.len() > self.capacity {
            let ended = self.runs.iter().position(|known| known.progress != Progress::Live);
            // The queue bounds the number of live runs.
            let Some(oldest) = ended else { return };
            self.runs.remove(oldest);
        }
    }

    pub(super) fn remove(&mut self, run_id: &RunId) {
        self.runs.retain(|known| known.run_id != *run_id);
    }

    pub(super) fn end(&mut self, run_id: &RunId, is_interrupted: bool) {
        if let Some(known) = self.runs.iter_mut().find(|known| known.run_id == *run_id) {
            known.progress = if is_interrupted { Progress::Interrupted } else { Progress::Ended };
        }
    }
}

/// Returns a hash of the input.
fn fingerprint(input: &RunAgentInput) -> u64 {
    json::fingerprint(&[&serde_json::to_string(input).unwrap_or_default()])
}
