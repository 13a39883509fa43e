//! Views of a session in one version of the protocol.
use crate::{v1, v2};
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// A loss of a view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// The affected part of the session, as a path: `/toolCalls/call-1/status`.
    pub pointer: String,
    /// Description of the loss.
    pub problem: String,
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at {}: {}", self.pointer, self.problem)
    }
}

/// A session as an agent of version 1 sends it in response to `session/load`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ViewV1 {
    /// Updates before the response.
    pub updates: Vec<v1::prompt_turn::SessionUpdate>,
    /// The response.
    pub response: v1::session_setup::LoadSessionResponse,
    /// Parts that version 1 cannot express.
    pub losses: Vec<Loss>,
}

/// A session as an agent of version 2 sends it in response to `session/resume`, from the start.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ViewV2 {
    /// Updates before the response. The last one has the state of the session, if known.
    pub updates: Vec<v2::prompt_lifecycle::SessionUpdate>,
    /// The response.
    pub response: v2::session_setup::ResumeSessionResponse,
    /// Parts that version 2 cannot express, and values that had to be invented.
    pub losses: Vec<Loss>,
}

/// Losses of a view.
pub(super) struct Losses(pub(super) Vec<Loss>);

impl Losses {
    pub(super) fn add(&mut self, pointer: impl Into<String>, problem: impl Into<String>) {
        self.0.push(Loss { pointer: pointer.into(), problem: problem.into() });
    }
}
