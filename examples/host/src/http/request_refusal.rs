//! Responses to requests that are refused.
use crate::http::oidc::TokenError;
use axum::Json;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;
use std::fmt::Display;
use std::time::Duration;

/// A request that is refused: the response is JSON with an `error`.
#[derive(Debug)]
pub(crate) struct RequestRefusal {
    status: StatusCode,
    message: String,
    header: Option<(HeaderName, HeaderValue)>,
}

impl RequestRefusal {
    pub(crate) fn malformed(message: &str) -> Self {
        Self { status: StatusCode::BAD_REQUEST, message: message.to_owned(), header: None }
    }

    pub(crate) fn foreign(message: &str) -> Self {
        Self { status: StatusCode::FORBIDDEN, message: message.to_owned(), header: None }
    }

    /// There are no valid credentials, or a token of the OpenID provider is invalid for a reason.
    ///
    /// Spec: [RFC 6750, section 3](https://www.rfc-editor.org/rfc/rfc6750#section-3)
    pub(crate) fn unknown(invalid: Option<&TokenError>) -> Self {
        let scheme = if invalid.is_some() { r#"Bearer error="invalid_token""# } else { "Bearer" };
        let scheme = Some((header::WWW_AUTHENTICATE, HeaderValue::from_static(scheme)));
        let message = invalid.map_or("a bearer token is needed".to_owned(), ToString::to_string);
        Self { status: StatusCode::UNAUTHORIZED, message, header: scheme }
    }

    /// The user of a valid token has no access.
    pub(crate) fn forbidden(why: &TokenError) -> Self {
        let scheme = HeaderValue::from_static(r#"Bearer error="insufficient_scope""#);
        let header = Some((header::WWW_AUTHENTICATE, scheme));
        Self { status: StatusCode::FORBIDDEN, message: why.to_string(), header }
    }

    /// Tokens cannot be verified. The caller may repeat the request after `wait`.
    pub(crate) fn without_keys(why: &TokenError, wait: Duration) -> Self {
        Self { status: StatusCode::SERVICE_UNAVAILABLE, ..Self::later(why, wait) }
    }

    /// The system has no random numbers.
    pub(crate) fn failed(why: &impl Display) -> Self {
        let message = format!("cannot begin a session: {why}");
        Self { status: StatusCode::INTERNAL_SERVER_ERROR, message, header: None }
    }

    /// A limit is reached. The caller may repeat the request after `wait`.
    pub(crate) fn later(why: &impl Display, wait: Duration) -> Self {
        let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
        let message = format!("{why}; try again in {seconds} s");
        let header = Some((header::RETRY_AFTER, HeaderValue::from(seconds)));
        Self { status: StatusCode::TOO_MANY_REQUESTS, message, header }
    }
}

impl IntoResponse for RequestRefusal {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(json!({ "error": self.message }))).into_response();
        response.headers_mut().extend(self.header);
        response
    }
}
