//! The error of sending an event.
use crate::enforce::Removal;
use crate::verify::Violation;
use alloc::vec::Vec;

/// An error sending an event. The event was not sent, and the run continues unchanged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SendError {
    /// The run has ended.
    #[error("the run has ended")]
    Ended,
    /// The event would break a rule.
    #[error(transparent)]
    Violation(#[from] Violation),
    /// The event begins or ends a run, or is a chunk. Methods begin and end runs, and deltas need
    /// no chunks.
    #[error("events of this type are sent by the run itself")]
    NotByHand,
    /// The event contains material that AG-UI 1.0 does not describe.
    #[error("the event contains material that AG-UI 1.0 does not describe")]
    Undescribed(Vec<Removal>),
    /// The run has opened [the largest number of items](super::Run::MAX_ITEMS).
    #[error("the run has opened too many items")]
    TooMuch,
}
