//! Responses to refused requests.
use crate::store::{StoreError, TooManyReaders};
use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use host::http::RequestError;
use serde_json::json;

/// A request is refused.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HistoryError {
    #[error("there is no such conversation")]
    Unknown,
    #[error("a run of this conversation is active; stop it, then try again")]
    Active,
    #[error("another conversation has the id of this one; delete that, then try again")]
    Occupied,
    #[error("title: expected at least one character that is not a space")]
    EmptyTitle,
    #[error(transparent)]
    Request(#[from] RequestError),
    #[error(transparent)]
    Readers(#[from] TooManyReaders),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl IntoResponse for HistoryError {
    fn into_response(self) -> Response {
        let status = match &self {
            Self::Unknown => StatusCode::NOT_FOUND,
            Self::Active | Self::Occupied => StatusCode::CONFLICT,
            Self::EmptyTitle => StatusCode::BAD_REQUEST,
            Self::Request(error) => error.status,
            Self::Readers(_) => StatusCode::TOO_MANY_REQUESTS,
            Self::Store(_) => StatusCode::SERVICE_UNAVAILABLE,
        };
        (status, Json(json!({ "error": self.to_string() }))).into_response()
    }
}
