//! Errors of requests that cannot be read.
use axum::Json;
use axum::extract::FromRequestParts;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use serde_json::json;

/// A request that cannot be read: the status of the response, and the reason. The body of the
/// response is `{"error": …}`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct RequestError {
    /// The status of the response.
    pub status: StatusCode,
    /// The reason.
    pub message: String,
}

impl RequestError {
    pub(crate) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into() }
    }
}

impl From<PathRejection> for RequestError {
    fn from(rejection: PathRejection) -> Self {
        Self::new(rejection.status(), rejection.body_text())
    }
}

impl From<QueryRejection> for RequestError {
    fn from(rejection: QueryRejection) -> Self {
        Self::new(rejection.status(), rejection.body_text())
    }
}

impl IntoResponse for RequestError {
    fn into_response(self) -> Response {
        (self.status, Json(json!({ "error": self.message }))).into_response()
    }
}

/// Extracts a [`Path`](axum::extract::Path) or a [`Query`](axum::extract::Query), with a
/// [`RequestError`] as its rejection.
#[derive(Clone, Copy, Debug)]
pub struct Part<E>(pub E);

impl<S, E> FromRequestParts<S> for Part<E>
where
    S: Send + Sync,
    E: FromRequestParts<S>,
    RequestError: From<E::Rejection>,
{
    type Rejection = RequestError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, RequestError> {
        Ok(Self(E::from_request_parts(parts, state).await?))
    }
}
