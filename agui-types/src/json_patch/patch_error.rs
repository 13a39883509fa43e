//! Errors of applying a patch.
use super::JsonPointer;

/// An error applying a patch.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("operation {index}: {} {:?}", problem.text(), pointer.as_str())]
#[non_exhaustive]
pub struct PatchError {
    /// Index of the operation that failed, from zero.
    pub index: usize,
    /// Place of the error: the operation's `path`, or its `from` if that failed.
    pub pointer: JsonPointer,
    /// The reason.
    pub problem: PatchProblem,
}

/// The reason why an operation cannot be applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PatchProblem {
    /// The place does not exist.
    Nothing,
    /// The source place does not exist.
    NothingToTake,
    /// The place is in an array, but its token is not a valid index.
    NotAnIndex,
    /// The value is not equal to the expected one.
    Different,
    /// The target place is within the source value.
    IntoItself,
    /// The document would be nested deeper than
    /// [`JsonDocument::MAX_DEPTH`](super::JsonDocument::MAX_DEPTH).
    TooDeep,
    /// The document would exceed its size limit.
    TooLarge,
    /// The value is nested deeper than [`JsonDocument::MAX_DEPTH`](super::JsonDocument::MAX_DEPTH),
    /// or has a number outside the range of a double.
    Unreadable,
    /// RFC 6902 does not define the operation.
    UnknownOperation,
}

impl PatchProblem {
    fn text(self) -> &'static str {
        match self {
            Self::Nothing | Self::NothingToTake => "no value exists at",
            Self::NotAnIndex => "the array has no such index:",
            Self::Different => "the expected value differs at",
            Self::IntoItself => "a value cannot be moved into itself, to",
            Self::TooDeep => "the document would be nested too deeply at",
            Self::TooLarge => "the document would be too large at",
            Self::Unreadable => "the value is unreadable for",
            Self::UnknownOperation => "the operation is unknown",
        }
    }
}
