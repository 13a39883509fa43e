//! The HTTP side: one endpoint that runs, two that steer a run, and the page.
use crate::page;
use crate::thread::StartError;
use crate::threads::{Started, Threads};
use agui_bridge::{AnswerError, PermissionAnswer};
use agui_types::input::RunAgentInput;
use axum::Json;
use axum::Router;
use axum::body::{Body, BodyDataStream};
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use futures::StreamExt;
use jsonrpc_core::wire;
use serde_json::json;
use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// The most bytes of a request body.
const MAX_BODY: usize = 4 * 1024 * 1024;

/// The most bytes that are read of a larger one, so that its client gets as far as the answer.
const MAX_DISCARDED: usize = 64 * 1024 * 1024;

/// How long that may take.
const DISCARD_TIME: Duration = Duration::from_secs(10);

/// The routes.
pub(crate) fn router(threads: Arc<Threads>) -> Router {
    Router::new()
        .route("/", get(page::index))
        .route("/assets/{name}", get(page::asset))
        .route("/healthz", get(|| async { "ok" }))
        .route("/api/ai/chat", post(chat))
        .route("/api/ai/chat/runs/{run_id}/cancel", post(cancel))
        .route("/api/ai/chat/interrupts/{interrupt_id}", post(answer))
        .fallback(async || Refusal::new(StatusCode::NOT_FOUND, "there is nothing at this path"))
        .method_not_allowed_fallback(async || {
            Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "the path does not take this method")
        })
        .layer(from_fn(only_this_site))
        .with_state(threads)
}

/// A request that is answered before there is a stream.
#[derive(Debug)]
pub(crate) struct Refusal(StatusCode, String);

impl Refusal {
    pub(crate) fn new(status: StatusCode, message: impl ToString) -> Self {
        Self(status, message.to_string())
    }
}

impl From<PathRejection> for Refusal {
    fn from(rejection: PathRejection) -> Self {
        Self::new(rejection.status(), rejection.body_text())
    }
}

/// A part of the path.
pub(crate) type Part = Result<Path<String>, PathRejection>;

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        (self.0, Json(json!({ "error": self.1 }))).into_response()
    }
}

/// Keeps other sites' pages out: a browser says where a page is from, and a name that was rebound to this address is
/// not an address.
async fn only_this_site(request: Request, next: Next) -> Response {
    match foreign(request.headers()) {
        Some(refusal) => refusal.into_response(),
        None => next.run(request).await,
    }
}

fn foreign(headers: &HeaderMap) -> Option<Refusal> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let host = text(header::HOST).unwrap_or_default();
    let is_local = |host: &Authority| {
        let name = host.host();
        name == "localhost" || name.trim_matches(['[', ']']).parse::<IpAddr>().is_ok()
    };
    if !host.parse().is_ok_and(|host| is_local(&host)) {
        return Some(Refusal::new(
            StatusCode::FORBIDDEN,
            "the Host header must be an address or localhost",
        ));
    }
    let origin =
        text(header::ORIGIN).map(|origin| origin.split_once("://").map(|(_, origin)| origin));
    let from_elsewhere = origin.is_some_and(|origin| origin != Some(host));
    from_elsewhere.then(|| {
        Refusal::new(StatusCode::FORBIDDEN, "pages of other sites may not use this gateway")
    })
}

/// Reads a JSON body.
async fn read_json<T: serde::de::DeserializeOwned>(
    headers: &HeaderMap,
    body: Body,
) -> Result<T, Refusal> {
    let kind =
        headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if !kind.eq_ignore_ascii_case("application/json") {
        let message = format!("expected Content-Type application/json, got `{kind}`");
        return Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, message));
    }
    let body = read_body(headers, body).await?;
    let text = str::from_utf8(&body)
        .map_err(|error| Refusal::new(StatusCode::BAD_REQUEST, format!("the body: {error}")))?;
    wire::decode(text)
        .map_err(|error| Refusal::new(StatusCode::BAD_REQUEST, format!("the body: {error}")))
}

/// Reads a body, unless it is over the limit.
async fn read_body(headers: &HeaderMap, body: Body) -> Result<Vec<u8>, Refusal> {
    let declared = headers
        .get(header::CONTENT_LENGTH)
        .and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    let mut fits = declared.is_none_or(|length| length <= MAX_BODY);
    let (mut chunks, mut read) = (body.into_data_stream(), Vec::new());
    while fits && let Some(chunk) = chunks.next().await {
        let chunk = chunk
            .map_err(|error| Refusal::new(StatusCode::BAD_REQUEST, format!("the body: {error}")))?;
        fits = read.len() + chunk.len() <= MAX_BODY;
        read.extend_from_slice(&chunk);
    }
    if fits {
        return Ok(read);
    }
    // Many clients hear nothing before they have sent all; those that ask first have sent nothing.
    if !headers.contains_key(header::EXPECT) {
        tokio::spawn(timeout(DISCARD_TIME, discard(chunks)));
    }
    let message = format!("the body has more than {MAX_BODY} bytes");
    Err(Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, message))
}

/// Reads what is left of a body that is not wanted.
async fn discard(mut chunks: BodyDataStream) {
    let mut discarded = 0;
    while discarded < MAX_DISCARDED
        && let Some(Ok(chunk)) = chunks.next().await
    {
        discarded += chunk.len();
    }
}

/// `POST /api/ai/chat`: runs an AG-UI input and streams its events.
async fn chat(
    State(threads): State<Arc<Threads>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refusal> {
    let input: RunAgentInput = read_json(&headers, body).await?;
    let Started { log, reader } = threads.start(input).await.map_err(|error| {
        let status = match &error {
            StartError::Busy | StartError::SameRun => StatusCode::CONFLICT,
            StartError::Overloaded | StartError::Ending => StatusCode::SERVICE_UNAVAILABLE,
            StartError::Input(error) => {
                StatusCode::from_u16(error.status()).unwrap_or(StatusCode::BAD_REQUEST)
            }
        };
        Refusal::new(status, error)
    })?;
    // The reader goes with the stream: when the client goes away, the turn is cancelled.
    let events = log.read().map(move |bytes| {
        let _reader = &reader;
        Ok::<_, Infallible>(bytes)
    });
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform")),
        (header::HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no")),
    ];
    Ok((headers, Body::from_stream(events)).into_response())
}

/// `POST /api/ai/chat/runs/{runId}/cancel`
async fn cancel(State(threads): State<Arc<Threads>>, run_id: Part) -> Result<StatusCode, Refusal> {
    let Path(run_id) = run_id?;
    if threads.cancel(&run_id) {
        return Ok(StatusCode::ACCEPTED);
    }
    Err(Refusal::new(StatusCode::NOT_FOUND, "no such run is going on"))
}

/// `POST /api/ai/chat/interrupts/{interruptId}`
async fn answer(
    State(threads): State<Arc<Threads>>,
    interrupt_id: Part,
    headers: HeaderMap,
    body: Body,
) -> Result<StatusCode, Refusal> {
    let Path(interrupt_id) = interrupt_id?;
    let body: Answer = read_json(&headers, body).await?;
    let answer = match (body.option_id, body.cancelled) {
        (Some(option_id), None | Some(false)) => PermissionAnswer::Selected(option_id.into()),
        (None, Some(true)) => PermissionAnswer::Cancelled,
        _ => {
            return Err(Refusal::new(
                StatusCode::BAD_REQUEST,
                "expected either `optionId` or `cancelled: true`",
            ));
        }
    };
    match threads.answer(&interrupt_id, answer).await {
        Ok(()) => Ok(StatusCode::ACCEPTED),
        Err(error @ AnswerError::Unknown) => Err(Refusal::new(StatusCode::NOT_FOUND, error)),
        Err(error @ AnswerError::Answered) => Err(Refusal::new(StatusCode::CONFLICT, error)),
        Err(error) => Err(Refusal::new(StatusCode::BAD_REQUEST, error)),
    }
}

jsonrpc_core::object! {
    /// The answer to a permission request.
    pub struct Answer {}
    optional {
        /// The option that was chosen.
        option_id: String = "optionId",
        /// No option was chosen.
        cancelled: bool = "cancelled",
    }
}
