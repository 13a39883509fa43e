//! The bodies of requests.
use crate::http::{BodyTimeout, RequestError};
use axum::body::{Body, BodyDataStream};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, StatusCode, Version, header};
use futures::StreamExt;
use jsonrpc_core::wire;
use std::time::Duration;
use tokio::time::timeout;

/// Maximum size of a request body, in bytes.
pub const MAX_BODY: usize = 4 * 1024 * 1024;

/// Maximum number of bytes that are read of a larger body, so that its client can read the
/// response.
const MAX_DISCARDED: usize = 64 * 1024 * 1024;

/// Timeout for reading the rest of such a body.
const DISCARD_TIME: Duration = Duration::from_secs(10);

/// Reads a JSON body of at most [`MAX_BODY`] bytes.
///
/// # Errors
/// The body has another type, is too large or too slow, or is no such JSON.
pub async fn read_json<T: serde::de::DeserializeOwned>(
    headers: &HeaderMap,
    body: Body,
) -> Result<T, RequestError> {
    let kind =
        headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if !kind.eq_ignore_ascii_case("application/json") {
        let message = format!("expected Content-Type application/json, got `{kind}`");
        return Err(RequestError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, message));
    }
    let body = read_body(headers, body).await?;
    let text = str::from_utf8(&body).map_err(|error| {
        RequestError::new(StatusCode::BAD_REQUEST, format!("the body: {error}"))
    })?;
    wire::decode_serde(text)
        .map_err(|error| RequestError::new(StatusCode::BAD_REQUEST, format!("the body: {error}")))
}

/// Reads a body of at most [`MAX_BODY`] bytes.
///
/// # Errors
/// The body is too large or too slow, or the connection is lost.
pub async fn read_body(headers: &HeaderMap, body: Body) -> Result<Vec<u8>, RequestError> {
    let mut fits = declared_length(headers).is_none_or(|length| length <= MAX_BODY);
    let mut chunks = body.into_data_stream();
    let mut read = Vec::new();
    while fits && let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|error| {
            let message = format!("the body: {error}");
            let is_late = error.into_inner().is::<BodyTimeout>();
            let status =
                if is_late { StatusCode::REQUEST_TIMEOUT } else { StatusCode::BAD_REQUEST };
            RequestError::new(status, message)
        })?;
        fits = read.len() + chunk.len() <= MAX_BODY;
        read.extend_from_slice(&chunk);
    }
    if fits {
        return Ok(read);
    }
    // Many clients read the response after they have sent the whole body, unless they expect `100
    // Continue`.
    if !headers.contains_key(header::EXPECT) {
        tokio::spawn(timeout(DISCARD_TIME, discard(chunks)));
    }
    let message = format!("the body has more than {MAX_BODY} bytes");
    Err(RequestError::new(StatusCode::PAYLOAD_TOO_LARGE, message))
}

/// Returns how many bytes of a body are read at most: its length if that is declared, and the
/// maximum otherwise.
pub(crate) fn body_length(request: &Parts) -> usize {
    if let Some(declared) = declared_length(&request.headers) {
        return declared.min(MAX_DISCARDED);
    }
    // Before HTTP/2, a body without a length is in chunks.
    let may_have_body = match request.version {
        Version::HTTP_09 | Version::HTTP_10 | Version::HTTP_11 => {
            request.headers.contains_key(header::TRANSFER_ENCODING)
        }
        _ => {
            !matches!(request.method, Method::GET | Method::HEAD | Method::DELETE | Method::OPTIONS)
        }
    };
    if may_have_body { MAX_BODY } else { 0 }
}

fn declared_length(headers: &HeaderMap) -> Option<usize> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// Reads the rest of a rejected body.
async fn discard(mut chunks: BodyDataStream) {
    let mut discarded = 0;
    while discarded < MAX_DISCARDED
        && let Some(Ok(chunk)) = chunks.next().await
    {
        discarded += chunk.len();
    }
}
