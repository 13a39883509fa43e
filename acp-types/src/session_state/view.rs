//! A session as one version tells it.
use crate::{v1, v2};
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// Something that is not as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// What of the session, as a path: `/toolCalls/call-1/status`.
    pub pointer: String,
    /// What became of it.
    pub problem: String,
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at {}: {}", self.pointer, self.problem)
    }
}

/// A session as an agent of version 1 tells it to a client that comes back with `session/load`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ViewV1 {
    /// What it tells before it answers.
    pub updates: Vec<v1::prompt_turn::SessionUpdate>,
    /// What it answers.
    pub response: v1::session_setup::LoadSessionResponse,
    /// What version 1 cannot say.
    pub losses: Vec<Loss>,
}

/// A session as an agent of version 2 tells it to a client that comes back with `session/resume`, from the start.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ViewV2 {
    /// What it tells before it answers; the last says what the session is at, if that is known.
    pub updates: Vec<v2::prompt_lifecycle::SessionUpdate>,
    /// What it answers.
    pub response: v2::session_setup::ResumeSessionResponse,
    /// What version 2 cannot say, or what had to be made up.
    pub losses: Vec<Loss>,
}

/// Losses of a view.
pub(super) struct Losses(pub(super) Vec<Loss>);

impl Losses {
    pub(super) fn add(&mut self, pointer: impl Into<String>, problem: impl Into<String>) {
        self.0.push(Loss { pointer: pointer.into(), problem: problem.into() });
    }
}
