//! Answers and outcomes in serialized form, for the program that has a call in memory.
use super::ask::Ask;
use super::journal::Outcome;
use super::store::StoreError;
use super::turn::{Resumption, SessionError, Turn};
use crate::mcp::tools::CallToolResult;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use jsonrpc_core::ErrorObject;
use jsonrpc_core::wire::Raw;
use serde::{Deserialize, Serialize};

/// A serializable [`Resumption`], to be forwarded to another program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ForwardedResumption {
    state: String,
    tool: String,
    arguments: Option<Raw>,
    principal: String,
    answers: Vec<(String, Outcome)>,
}

impl ForwardedResumption {
    /// Returns the resumption.
    pub fn as_resumption(&self) -> Resumption<'_> {
        Resumption {
            state: &self.state,
            tool: &self.tool,
            arguments: self.arguments.as_ref(),
            principal: &self.principal,
            answers: self.answers.clone(),
        }
    }
}

impl From<&Resumption<'_>> for ForwardedResumption {
    fn from(resumption: &Resumption<'_>) -> Self {
        Self {
            state: resumption.state.into(),
            tool: resumption.tool.into(),
            arguments: resumption.arguments.cloned(),
            principal: resumption.principal.into(),
            answers: resumption.answers.clone(),
        }
    }
}

/// The serializable outcome of a [`ForwardedResumption`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ForwardedTurn(SerializedTurn);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SerializedTurn {
    Done(CallToolResult),
    Asks {
        state: String,
        asks: Vec<Ask>,
    },
    Taken,
    UnknownTool(String),
    NotFound,
    Elsewhere(String),
    Expired,
    Aborted,
    OtherCode {
        expected: String,
        actual: String,
    },
    OtherArguments,
    Superseded,
    Contended,
    Failed(String),
    Protocol(ErrorObject),
    /// Message of a store error, or of a serialization error.
    Broken(String),
}

impl ForwardedTurn {
    /// Creates the serializable form of an outcome.
    pub fn of(turn: &Result<Turn, SessionError>) -> Self {
        Self(match turn {
            Ok(Turn::Done(result)) => SerializedTurn::Done(result.clone()),
            Ok(Turn::Asks { state, asks }) => {
                SerializedTurn::Asks { state: state.clone(), asks: asks.clone() }
            }
            Ok(Turn::Taken) => SerializedTurn::Taken,
            Err(SessionError::UnknownTool(tool)) => SerializedTurn::UnknownTool(tool.clone()),
            Err(SessionError::NotFound) => SerializedTurn::NotFound,
            Err(SessionError::Elsewhere { owner }) => SerializedTurn::Elsewhere(owner.clone()),
            Err(SessionError::Expired) => SerializedTurn::Expired,
            Err(SessionError::Aborted) => SerializedTurn::Aborted,
            Err(SessionError::OtherCode { expected, actual }) => {
                SerializedTurn::OtherCode { expected: expected.clone(), actual: actual.clone() }
            }
            Err(SessionError::OtherArguments) => SerializedTurn::OtherArguments,
            Err(SessionError::Superseded) => SerializedTurn::Superseded,
            Err(SessionError::Contended) => SerializedTurn::Contended,
            Err(SessionError::Failed(reason)) => SerializedTurn::Failed(reason.clone()),
            Err(SessionError::Protocol(error)) => SerializedTurn::Protocol(error.clone()),
            Err(
                error @ (SessionError::Store(_)
                | SessionError::Unwritable
                | SessionError::NoTask(_)),
            ) => SerializedTurn::Broken(error.to_string()),
        })
    }

    /// Returns the outcome. A store error of the other program keeps only its message.
    ///
    /// # Errors
    /// Returns the error of the other program.
    pub fn into_turn(self) -> Result<Turn, SessionError> {
        let broken = |text: String| SessionError::Store(StoreError::Failed(text));
        Err(match self.0 {
            SerializedTurn::Done(result) => return Ok(Turn::Done(result)),
            SerializedTurn::Asks { state, asks } => return Ok(Turn::Asks { state, asks }),
            SerializedTurn::Taken => return Ok(Turn::Taken),
            SerializedTurn::UnknownTool(tool) => SessionError::UnknownTool(tool),
            SerializedTurn::NotFound => SessionError::NotFound,
            SerializedTurn::Elsewhere(owner) => SessionError::Elsewhere { owner },
            SerializedTurn::Expired => SessionError::Expired,
            SerializedTurn::Aborted => SessionError::Aborted,
            SerializedTurn::OtherCode { expected, actual } => {
                SessionError::OtherCode { expected, actual }
            }
            SerializedTurn::OtherArguments => SessionError::OtherArguments,
            SerializedTurn::Superseded => SessionError::Superseded,
            SerializedTurn::Contended => SessionError::Contended,
            SerializedTurn::Failed(reason) => SessionError::Failed(reason),
            SerializedTurn::Protocol(error) => SessionError::Protocol(error),
            SerializedTurn::Broken(text) => broken(text),
        })
    }
}
