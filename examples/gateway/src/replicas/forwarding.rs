//! Requests between gateways, as messages.
use crate::store::{Replica, StoreError};
use axum::http::{Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};

/// A request of HTTP to another gateway, with its user.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct ForwardedRequest {
    pub(crate) principal: String,
    #[serde(with = "method")]
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) body: String,
    /// The span of the caller, as `traceparent` and `tracestate`.
    #[serde(default)]
    pub(crate) trace: Option<(String, Option<String>)>,
}

/// The response of another gateway.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct ForwardedResponse {
    pub(crate) status: u16,
    pub(crate) body: String,
}

impl ForwardedRequest {
    /// Sends the request to its owner. Returns `None` if that is dead.
    pub(crate) async fn send(
        &self,
        replicas: &Replica,
        owner: &str,
    ) -> Result<Option<ForwardedResponse>, StoreError> {
        let invalid = |error: serde_json::Error| StoreError(error.to_string());
        let request = serde_json::to_string(self).map_err(invalid)?;
        let response = replicas.request(owner, request).await?;
        response.map(|text| serde_json::from_str(&text).map_err(invalid)).transpose()
    }
}

/// A method of HTTP as text.
mod method {
    use super::Method;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(method: &Method, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(method.as_str())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Method, D::Error> {
        String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
    }
}

/// Marks a request that another gateway has forwarded to this one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ForwardedMark;

impl IntoResponse for ForwardedResponse {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::BAD_GATEWAY);
        (status, [(header::CONTENT_TYPE, "application/json")], self.body).into_response()
    }
}
