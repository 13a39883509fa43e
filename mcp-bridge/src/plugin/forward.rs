//! Answers for the program that has a call in memory, and what came of them, as text between programs.
use super::context::Ask;
use super::journal::{EntryKind, Outcome};
use super::store::StoreError;
use super::turn::{Resumption, SessionError, Turn};
use crate::context::ModelContext;
use crate::mcp::dispatch::ServerRequest;
use crate::mcp::tools::CallToolResult;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use jsonrpc_core::wire::{DecodeError, Raw};
use serde::{Deserialize, Serialize};

/// A [`Resumption`] on its way to another program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ForwardedResumption {
    state: String,
    tool: String,
    arguments: Option<Raw>,
    principal: String,
    answers: Vec<(String, Outcome)>,
}

impl ForwardedResumption {
    /// The same.
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

/// What came of it, on its way back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ForwardedTurn(Forwarded);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Forwarded {
    Done(CallToolResult),
    Asks {
        state: String,
        asks: Vec<ForwardedAsk>,
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
    /// What the store said, or that there is no JSON form.
    Broken(String),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct ForwardedAsk {
    key: String,
    kind: EntryKind,
    method: String,
    params: Option<Raw>,
    context: Option<Raw>,
}

impl ForwardedAsk {
    fn of(ask: &Ask) -> Result<Self, serde_json::Error> {
        Ok(Self {
            key: ask.key.clone(),
            kind: ask.kind,
            method: ask.request.method().into(),
            params: ask.request.to_params()?,
            context: ask.context.as_ref().map(|context| context.as_raw().clone()),
        })
    }

    fn read(self) -> Result<Ask, DecodeError> {
        let params = self.params.as_ref().map(AsRef::as_ref);
        let request = ServerRequest::decode(&self.method, params)?;
        // What was a context there is one here.
        let context = self.context.and_then(|raw| ModelContext::from_text(raw.as_str()).ok());
        Ok(Ask { key: self.key, kind: self.kind, request, context })
    }
}

impl ForwardedTurn {
    /// To be sent.
    pub fn of(turn: &Result<Turn, SessionError>) -> Self {
        Self(match turn {
            Ok(Turn::Done(result)) => Forwarded::Done(result.clone()),
            Ok(Turn::Asks { state, asks }) => {
                let asks: Result<_, _> = asks.iter().map(ForwardedAsk::of).collect();
                let state = state.clone();
                asks.map_or_else(
                    |error: serde_json::Error| Forwarded::Broken(error.to_string()),
                    |asks| Forwarded::Asks { state, asks },
                )
            }
            Ok(Turn::Taken) => Forwarded::Taken,
            Err(SessionError::UnknownTool(tool)) => Forwarded::UnknownTool(tool.clone()),
            Err(SessionError::NotFound) => Forwarded::NotFound,
            Err(SessionError::Elsewhere { owner }) => Forwarded::Elsewhere(owner.clone()),
            Err(SessionError::Expired) => Forwarded::Expired,
            Err(SessionError::Aborted) => Forwarded::Aborted,
            Err(SessionError::OtherCode { expected, actual }) => {
                Forwarded::OtherCode { expected: expected.clone(), actual: actual.clone() }
            }
            Err(SessionError::OtherArguments) => Forwarded::OtherArguments,
            Err(SessionError::Superseded) => Forwarded::Superseded,
            Err(SessionError::Contended) => Forwarded::Contended,
            Err(SessionError::Failed(reason)) => Forwarded::Failed(reason.clone()),
            Err(error @ (SessionError::Store(_) | SessionError::Unwritable)) => {
                Forwarded::Broken(error.to_string())
            }
        })
    }

    /// The same; of a store that failed there, the words only.
    ///
    /// # Errors
    /// What came of it.
    pub fn into_turn(self) -> Result<Turn, SessionError> {
        let broken = |text: String| SessionError::Store(StoreError::Failed(text));
        Err(match self.0 {
            Forwarded::Done(result) => return Ok(Turn::Done(result)),
            Forwarded::Asks { state, asks } => {
                let asks: Result<_, _> = asks.into_iter().map(ForwardedAsk::read).collect();
                let asks = asks.map_err(|error: DecodeError| broken(error.to_string()))?;
                return Ok(Turn::Asks { state, asks });
            }
            Forwarded::Taken => return Ok(Turn::Taken),
            Forwarded::UnknownTool(tool) => SessionError::UnknownTool(tool),
            Forwarded::NotFound => SessionError::NotFound,
            Forwarded::Elsewhere(owner) => SessionError::Elsewhere { owner },
            Forwarded::Expired => SessionError::Expired,
            Forwarded::Aborted => SessionError::Aborted,
            Forwarded::OtherCode { expected, actual } => {
                SessionError::OtherCode { expected, actual }
            }
            Forwarded::OtherArguments => SessionError::OtherArguments,
            Forwarded::Superseded => SessionError::Superseded,
            Forwarded::Contended => SessionError::Contended,
            Forwarded::Failed(reason) => SessionError::Failed(reason),
            Forwarded::Broken(text) => broken(text),
        })
    }
}
