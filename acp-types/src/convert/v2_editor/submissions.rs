//! Prompts with keys, which the editor may repeat.
//!
//! Spec: [Retrying a Prompt](https://agentclientprotocol.com/protocol/v2/prompt-lifecycle#retrying-a-prompt)
use crate::convert::outbox::Outbox;
use crate::convert::recent::Recent;
use crate::convert::side::Side;
use crate::convert::{MAX_MESSAGES, MAX_PROMPTS};
use crate::v2::prompt_lifecycle::{IdempotencyKey, MessageId, PromptResponse};
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::{ErrorObject, RequestId};

/// The prompts of a session, by key.
#[derive(Debug)]
pub(super) struct Submissions(Recent<Submission>);

/// A prompt, and its repetitions.
#[derive(Debug)]
struct Submission {
    request: RequestId,
    /// The message, once the agent has it.
    message: Option<MessageId>,
    /// Repetitions that wait for the message.
    repetitions: Vec<RequestId>,
}

/// The treatment of a prompt with a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Repetition {
    /// The key is new.
    First,
    /// The prompt is a repetition, which is answered as the first one is.
    Repeated,
    /// The prompt is one repetition too many.
    Full,
}

impl Submission {
    /// Returns whether this request waits for the agent to have the prompt.
    fn is_open(&self, request: &RequestId) -> bool {
        self.message.is_none() && self.request == *request
    }
}

impl Default for Submissions {
    fn default() -> Self {
        Self(Recent::new(MAX_MESSAGES))
    }
}

impl Submissions {
    /// Handles a prompt with a key. The response to a repetition has the original message.
    pub(super) fn submit(
        &mut self,
        key: &IdempotencyKey,
        id: &RequestId,
        out: &mut Outbox,
    ) -> Repetition {
        let Some(submission) = self.0.get_mut(key.as_str()) else {
            let is_over = |submission: &Submission| submission.message.is_some();
            self.0.entry(key.as_str(), is_over, || Submission {
                request: id.clone(),
                message: None,
                repetitions: Vec::new(),
            });
            return Repetition::First;
        };
        if let Some(message) = &submission.message {
            out.result(Side::Editor, id, &PromptResponse::new(message.clone()));
            return Repetition::Repeated;
        }
        if submission.repetitions.len() >= MAX_PROMPTS {
            return Repetition::Full;
        }
        submission.repetitions.push(id.clone());
        Repetition::Repeated
    }

    /// Answers the repetitions of a prompt that the agent has.
    pub(super) fn accept(&mut self, request: &RequestId, message: &MessageId, out: &mut Outbox) {
        let mut submissions = self.0.iter_mut();
        let submission = submissions.find(|(_, submission)| submission.is_open(request));
        let Some((_, submission)) = submission else { return };
        submission.message = Some(message.clone());
        for id in submission.repetitions.drain(..) {
            out.result(Side::Editor, &id, &PromptResponse::new(message.clone()));
        }
    }

    /// Forgets a prompt that the agent does not have, and refuses its repetitions.
    pub(super) fn refuse(&mut self, request: &RequestId, error: &ErrorObject, out: &mut Outbox) {
        let Some(key) = self.open_key(request) else { return };
        let Some(submission) = self.0.remove(&key) else { return };
        for id in &submission.repetitions {
            out.error(Side::Editor, id, error.clone());
        }
    }

    fn open_key(&self, request: &RequestId) -> Option<String> {
        let mut submissions = self.0.iter();
        let submission = submissions.find(|(_, submission)| submission.is_open(request))?;
        Some(String::from(submission.0))
    }

    /// Removes a repetition that waits, and returns whether there was one.
    pub(super) fn cancel(&mut self, id: &RequestId) -> bool {
        let mut submissions = self.0.iter_mut();
        submissions.any(|(_, submission)| {
            let before = submission.repetitions.len();
            submission.repetitions.retain(|repetition| repetition != id);
            submission.repetitions.len() < before
        })
    }
}
