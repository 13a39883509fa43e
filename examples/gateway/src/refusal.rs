//! Responses to requests that are refused before a stream begins.
use crate::run::StartError;
use crate::store::{StoreError, TooManyReaders};
use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use host::http::RequestError;
use serde_json::json;

/// Seconds after which a client may repeat a request that met a limit.
const RETRY_AFTER: u16 = 5;

/// A response without a stream.
#[derive(Debug)]
pub(crate) struct Refusal(StatusCode, String);

impl Refusal {
    pub(crate) fn new(status: StatusCode, message: impl ToString) -> Self {
        Self(status, message.to_string())
    }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, error)
    }
}

impl From<RequestError> for Refusal {
    fn from(error: RequestError) -> Self {
        Self(error.status, error.message)
    }
}

impl From<StartError> for Refusal {
    fn from(error: StartError) -> Self {
        let status = match &error {
            StartError::Busy
            | StartError::OtherRun
            | StartError::Known
            | StartError::Resumed(_) => StatusCode::CONFLICT,
            StartError::UnknownAgent(_) => StatusCode::NOT_FOUND,
            StartError::Readers(_) | StartError::UserLimit(..) => StatusCode::TOO_MANY_REQUESTS,
            StartError::LongId { .. } => StatusCode::BAD_REQUEST,
            StartError::Moved => StatusCode::MISDIRECTED_REQUEST,
            StartError::Overloaded
            | StartError::Ending
            | StartError::NoAgent(_)
            | StartError::Store(_) => StatusCode::SERVICE_UNAVAILABLE,
            StartError::Input(error) => {
                StatusCode::from_u16(error.status()).unwrap_or(StatusCode::BAD_REQUEST)
            }
            StartError::Elsewhere(status, _) => {
                StatusCode::from_u16(*status).unwrap_or(StatusCode::BAD_GATEWAY)
            }
        };
        Self::new(status, error)
    }
}

impl From<TooManyReaders> for Refusal {
    fn from(error: TooManyReaders) -> Self {
        Self::new(StatusCode::TOO_MANY_REQUESTS, error)
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let mut response = (self.0, Json(json!({ "error": self.1 }))).into_response();
        if matches!(self.0, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE) {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(RETRY_AFTER));
        }
        response
    }
}
