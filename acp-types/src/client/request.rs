//! Open requests of the agent.
use super::{RequestKey, SessionKey};
use crate::ordered::Ordered;
use crate::v1::elicitation::{CreateElicitationResponse, ElicitationAction};
use crate::v1::tool_calls::{RequestPermissionOutcome, RequestPermissionResponse};
use alloc::string::ToString;
use alloc::vec::Vec;
use jsonrpc_core::wire::{Extra, Raw};
use jsonrpc_core::{ErrorCode, ErrorObject, RequestId};

/// Open requests of the agent.
#[derive(Debug, Default)]
pub(super) struct Requests {
    open: Ordered<RequestKey, OpenRequest>,
    by_id: Ordered<RequestId, RequestKey>,
}

/// An open request of the agent.
#[derive(Clone, Debug)]
pub(super) struct OpenRequest {
    pub(super) id: RequestId,
    pub(super) session: Option<SessionKey>,
    pub(super) kind: Kind,
}

/// The kind of a request, which determines the machine's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
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

impl Requests {
    pub(super) fn insert(&mut self, key: RequestKey, request: OpenRequest) {
        self.by_id.insert(request.id.clone(), key);
        self.open.insert(key, request);
    }

    pub(super) fn remove(&mut self, key: RequestKey) -> Option<OpenRequest> {
        let request = self.open.remove(&key)?;
        self.by_id.remove(&request.id);
        Some(request)
    }

    pub(super) fn find(&self, id: &RequestId) -> Option<RequestKey> {
        self.by_id.get(id).copied()
    }

    pub(super) fn get(&self, key: RequestKey) -> Option<&OpenRequest> {
        self.open.get(&key)
    }

    pub(super) fn len(&self) -> usize {
        self.open.len()
    }

    /// Returns the requests of a session, or all of them.
    pub(super) fn keys(
        &self,
        session: Option<SessionKey>,
        only_questions: bool,
    ) -> Vec<RequestKey> {
        let of_session = |request: &OpenRequest| session.is_none() || request.session == session;
        let wanted = |request: &OpenRequest| {
            of_session(request) && (!only_questions || request.kind.is_question())
        };
        self.open.iter().filter(|(_, request)| wanted(request)).map(|(key, _)| *key).collect()
    }
}
