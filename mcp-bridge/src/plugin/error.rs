//! Errors of tools.
use super::journal::ReplayMismatch;
use crate::context::ModelContextError;
use crate::schema::SchemaViolation;
use alloc::string::{String, ToString};
use core::fmt::Display;
use jsonrpc_core::ErrorObject;
use jsonrpc_core::wire::DecodeError;

/// An error of a tool.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PluginError {
    /// The replayed tool deviates from its journal.
    #[error(transparent)]
    Replay(#[from] ReplayMismatch),
    /// The answer type of a question has no form.
    #[error(transparent)]
    Form(#[from] SchemaViolation),
    /// A context is not an object.
    #[error(transparent)]
    Context(#[from] ModelContextError),
    /// The outcome of a question or step cannot be decoded.
    #[error("the outcome of `{key}` is invalid")]
    Outcome {
        /// Key of the question or step.
        key: String,
        /// The reason.
        #[source]
        source: DecodeError,
    },
    /// The outcome of a step has no JSON form or exceeds
    /// [`Journal::MAX_OUTCOME_BYTES`](super::Journal::MAX_OUTCOME_BYTES).
    #[error("the outcome of step `{0}` cannot be stored")]
    Step(String),
    /// The client answered a question with an error.
    #[error("the client answered `{key}` with an error: {message}")]
    Client {
        /// Key of the question.
        key: String,
        /// Message of the error.
        message: String,
    },
    /// The [configuration](super::Sampling) rejects a request to the model or its response.
    #[error("the request `{key}` to the model is rejected: {reason}")]
    Sampling {
        /// Key of the request.
        key: String,
        /// The reason.
        reason: String,
    },
    /// All answers to a question were invalid.
    #[error("no valid answer to `{0}`")]
    Unanswerable(String),
    /// A request cannot be serialized.
    #[error("the request `{0}` has no JSON form")]
    Request(String),
    /// An error specific to the tool.
    #[error("{0}")]
    Failed(String),
    /// A protocol error that ends the call. The model does not receive it.
    #[error(transparent)]
    Protocol(ErrorObject),
}

impl PluginError {
    /// Creates an error with a text for the model: a message, or any other error.
    ///
    /// ```
    /// use mcp_bridge::plugin::PluginError;
    ///
    /// fn parse(port: &str) -> Result<u16, PluginError> {
    ///     port.parse().map_err(PluginError::failed)
    /// }
    ///
    /// assert_eq!(parse("x").unwrap_err().to_string(), "invalid digit found in string");
    /// ```
    pub fn failed(message: impl Display) -> Self {
        Self::Failed(message.to_string())
    }
}
