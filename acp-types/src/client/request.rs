//! Open requests of the agent.
use super::SessionKey;
use crate::v1::elicitation::{CreateElicitationResponse, ElicitationAction};
use crate::v1::tool_calls::{RequestPermissionOutcome, RequestPermissionResponse};
use alloc::string::ToString;
use jsonrpc_core::wire::{Extra, Raw};
use jsonrpc_core::{ErrorCode, ErrorObject};

/// An open request of the agent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenRequest {
    pub(super) session: Option<SessionKey>,
    pub(super) kind: Kind,
}

/// The kind of a request, which determines the machine's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Permission,
    Elicitation,
    Other,
}

impl Kind {
    pub(super) fn of(method: &str) -> Self {
        match method {
            "session/request_permission" => Self::Permission,
            "elicitation/create" => Self::Elicitation,
            _ => Self::Other,
        }
    }

    /// Returns whether the request waits for a person, so that a cancelled turn answers it.
    pub(super) fn is_question(self) -> bool {
        self != Self::Other
    }

    /// Returns the machine's answer, which is the same in both versions.
    pub(super) fn cancelled(self) -> Result<Raw, ErrorObject> {
        let result = match self {
            Self::Permission => Raw::from_value(&RequestPermissionResponse::new(
                RequestPermissionOutcome::Cancelled(Extra::new()),
            )),
            Self::Elicitation => Raw::from_value(&CreateElicitationResponse::new(
                ElicitationAction::Cancel(Extra::new()),
            )),
            Self::Other => {
                return Err(ErrorObject::new(ErrorCode::REQUEST_CANCELLED, "cancelled"));
            }
        };
        result.map_err(|error| ErrorObject::new(ErrorCode::INTERNAL_ERROR, error.to_string()))
    }
}
