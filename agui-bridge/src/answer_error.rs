//! The error of answering a question of the agent.
use alloc::string::String;

/// An error answering a question. The question stays open.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AnswerError {
    /// No question has this id.
    #[error("no question has this id")]
    Unknown,
    /// The question is already answered.
    #[error("the question is already answered")]
    Answered,
    /// The permission request does not offer this option.
    #[error("the permission request does not offer this option")]
    Option,
    /// A permission request was answered as an elicitation, or vice versa.
    #[error("the question is of another kind")]
    Kind,
    /// The content does not match the form.
    #[error("at {pointer}: expected {expected}")]
    Content {
        /// Place of the value, as a JSON pointer into the content.
        pointer: String,
        /// The expected value.
        expected: String,
    },
}
