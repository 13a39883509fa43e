//! Responses that are not streams.
use crate::connection::error_text;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use jsonrpc_core::{ErrorCode, ErrorObject, RequestId};

pub(super) fn json(status: StatusCode, body: String) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], body).into_response()
}

pub(super) fn error_response(
    status: StatusCode,
    id: Option<&RequestId>,
    error: &ErrorObject,
) -> Response {
    json(status, error_text(id, error))
}

pub(super) fn refuse(status: StatusCode, text: &'static str) -> Response {
    error_response(status, None, &ErrorObject::new(ErrorCode::INVALID_REQUEST, text))
}

pub(super) fn session_not_found(id: Option<&RequestId>) -> Response {
    let error = ErrorObject::new(ErrorCode::INVALID_REQUEST, "session not found");
    error_response(StatusCode::NOT_FOUND, id, &error)
}

pub(super) fn not_allowed(methods: &'static str) -> Response {
    let mut response = refuse(StatusCode::METHOD_NOT_ALLOWED, "method not allowed");
    response.headers_mut().insert(header::ALLOW, HeaderValue::from_static(methods));
    response
}
