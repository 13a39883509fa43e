//! The error of an answer that does not fit.
use alloc::string::String;

/// An answer was not accepted; the question stays open.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AnswerError {
    /// No question has this id.
    #[error("nothing was asked under this id")]
    Unknown,
    /// The question has its answer.
    #[error("the question has its answer already")]
    Answered,
    /// The permission request does not offer this option.
    #[error("the permission request does not offer this option")]
    Option,
    /// A permission request was answered as an elicitation, or the other way round.
    #[error("the question is of another kind")]
    Kind,
    /// The content does not fit the form.
    #[error("at {pointer}: expected {expected}")]
    Content {
        /// The place, as a JSON pointer into the content.
        pointer: String,
        /// The expected value.
        expected: String,
    },
}
