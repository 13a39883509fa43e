//! Detection of a peer's version by the shape of its messages.
//!
//! The number in an agent's response is a claim: some agents repeat any requested number and
//! continue in version 1. The first message with a shape of exactly one version decides.
use crate::{v1, v2};

/// The versions that a message matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    V1,
    V2,
    Either,
}

/// Returns the shape of parameters of `initialize`, by the requested version and the members.
#[cfg(any(feature = "convert", feature = "lint"))]
pub(crate) fn of_initialize(requested: Option<u64>, has: impl Fn(&str) -> bool) -> Shape {
    if requested.unwrap_or(1) >= 2 && has("info") { Shape::V2 } else { Shape::V1 }
}

/// Returns the shape of a result of `initialize`, by the version and the members.
pub(crate) fn of_initialized(answered: Option<u64>, has: impl Fn(&str) -> bool) -> Shape {
    if has("info") || has("capabilities") {
        Shape::V2
    } else if has("agentInfo") || has("agentCapabilities") || answered.unwrap_or(1) < 2 {
        Shape::V1
    } else {
        Shape::Either
    }
}

/// Returns the shape of a `session/update`, by its tag.
pub(crate) fn of_update(tag: &str) -> Shape {
    let is_v1 = v1::prompt_turn::SessionUpdate::NAMES.contains(&tag);
    let is_v2 = v2::prompt_lifecycle::SessionUpdate::NAMES.contains(&tag);
    match (is_v1, is_v2) {
        (true, false) => Shape::V1,
        (false, true) => Shape::V2,
        _ => Shape::Either,
    }
}

/// Returns the shape of a result of `session/prompt`, by its members.
pub(crate) fn of_prompted(has: impl Fn(&str) -> bool) -> Shape {
    match (has("stopReason"), has("messageId")) {
        (true, _) => Shape::V1,
        (false, true) => Shape::V2,
        (false, false) => Shape::Either,
    }
}
