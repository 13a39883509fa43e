//! Responses to refused requests.
use axum::Json;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use http_access::BodyError;
use run_store::{StoreError, TooManyReaders};
use serde_json::json;

/// A request is refused.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HistoryError {
    #[error("there is no such conversation")]
    Unknown,
    #[error("a run of this conversation is active; stop it, then try again")]
    Active,
    #[error("title: expected at least one character that is not a space")]
    EmptyTitle,
    #[error("{1}")]
    Request(StatusCode, String),
    #[error(transparent)]
    Readers(#[from] TooManyReaders),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<PathRejection> for HistoryError {
    fn from(rejection: PathRejection) -> Self {
        Self::Request(rejection.status(), rejection.body_text())
    }
}

impl From<QueryRejection> for HistoryError {
    fn from(rejection: QueryRejection) -> Self {
        Self::Request(rejection.status(), rejection.body_text())
    }
}

impl From<BodyError> for HistoryError {
    fn from(error: BodyError) -> Self {
        Self::Request(error.status, error.message)
    }
}

impl IntoResponse for HistoryError {
    fn into_response(self) -> Response {
        let status = match &self {
            Self::Unknown => StatusCode::NOT_FOUND,
            Self::Active => StatusCode::CONFLICT,
            Self::EmptyTitle => StatusCode::BAD_REQUEST,
            Self::Request(status, _) => *status,
            Self::Readers(_) => StatusCode::TOO_MANY_REQUESTS,
            Self::Store(_) => StatusCode::SERVICE_UNAVAILABLE,
        };
        (status, Json(json!({ "error": self.to_string() }))).into_response()
    }
}
