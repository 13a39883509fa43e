//! Which version a peer really speaks, by the shape of its messages.
//!
//! The number that an agent answers is a claim: there are agents that repeat any number that they are asked for, and go on
//! in version 1. The first message whose shape belongs to one version only decides.
use crate::{v1, v2};

/// The versions that a message may be of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    V1,
    V2,
    Either,
}

/// The shape of parameters of `initialize`, by the version that they ask for and the members that they have.
#[cfg(feature = "lint")]
pub(crate) fn of_initialize(asked: Option<u64>, has: impl Fn(&str) -> bool) -> Shape {
    if asked.unwrap_or(1) >= 2 && has("info") { Shape::V2 } else { Shape::V1 }
}

/// The shape of a result of `initialize`, by the version that it names and the members that it has.
pub(crate) fn of_initialized(answered: Option<u64>, has: impl Fn(&str) -> bool) -> Shape {
    if has("info") || has("capabilities") {
        Shape::V2
    } else if has("agentInfo") || has("agentCapabilities") || answered.unwrap_or(1) < 2 {
        Shape::V1
    } else {
        Shape::Either
    }
}

/// The shape of a `session/update`, by its tag.
pub(crate) fn of_update(tag: &str) -> Shape {
    let is_v1 = v1::prompt_turn::SessionUpdate::NAMES.contains(&tag);
    let is_v2 = v2::prompt_lifecycle::SessionUpdate::NAMES.contains(&tag);
    match (is_v1, is_v2) {
        (true, false) => Shape::V1,
        (false, true) => Shape::V2,
        _ => Shape::Either,
    }
}

/// The shape of a result of `session/prompt`, by the members that it has.
pub(crate) fn of_prompted(has: impl Fn(&str) -> bool) -> Shape {
    match (has("stopReason"), has("messageId")) {
        (true, _) => Shape::V1,
        (false, true) => Shape::V2,
        (false, false) => Shape::Either,
    }
}
