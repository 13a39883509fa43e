//! Starting and reading runs.
use crate::history::event_stream;
use crate::refusal::Refusal;
use crate::replicas::ForwardedMark;
use crate::telemetry::{HttpSpan, remote};
use crate::threads::Threads;
use agui_types::input::RunAgentInput;
use axum::Json;
use axum::extract::{Extension, Path, Query, Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use host::http::Principal;
use host::http::{Part, read_json};
use serde::Deserialize;
use serde_json::json;
use std::borrow::Cow;
use std::sync::Arc;

/// `POST /api/ai/chat`: runs an AG-UI input and streams its events.
pub(super) async fn chat(
    State(threads): State<Arc<Threads>>,
    Extension(principal): Extension<Principal>,
    request: Request,
) -> Result<Response, Refusal> {
    run(&threads, principal, None, request).await
}

/// `POST /api/ai/agents/{agent}/chat`: the same with this agent.
pub(super) async fn chat_with(
    State(threads): State<Arc<Threads>>,
    Extension(principal): Extension<Principal>,
    Part(Path(agent)): Part<Path<String>>,
    request: Request,
) -> Result<Response, Refusal> {
    run(&threads, principal, Some(&agent), request).await
}

pub(super) async fn run(
    threads: &Arc<Threads>,
    principal: Principal,
    agent: Option<&str>,
    request: Request,
) -> Result<Response, Refusal> {
    let is_forwarded = request.extensions().get::<ForwardedMark>().is_some();
    let (parts, body) = request.into_parts();
    let caller = match parts.extensions.get::<HttpSpan>() {
        Some(HttpSpan(span)) => Some(span.clone()),
        None => remote(&parts.headers),
    };
    let input: RunAgentInput = read_json(&parts.headers, body).await?;
    let reader = threads.start(principal.clone(), agent, input, is_forwarded, caller).await?;
    if !is_forwarded {
        return Ok(event_stream(reader.read()));
    }
    // The gateway that forwarded the request reads the run.
    threads.read_elsewhere(&principal, reader.run_id().as_str()).await?;
    Ok(Json(json!({ "runId": reader.run_id() })).into_response())
}

/// `GET /api/ai/chat/runs/{runId}/spans`: the spans of a run as a stream; for another replica, the
/// spans so far.
pub(super) async fn spans(
    State(threads): State<Arc<Threads>>,
    Extension(principal): Extension<Principal>,
    forwarded: Option<Extension<ForwardedMark>>,
    Part(Path(run_id)): Part<Path<String>>,
) -> Result<Response, Refusal> {
    let nothing = || Refusal::new(StatusCode::NOT_FOUND, "no spans of such a run are known here");
    let timeline = threads.timeline(&principal, &run_id)?.ok_or_else(nothing)?;
    if forwarded.is_some() {
        return Ok(Json(timeline.so_far()).into_response());
    }
    Ok(event_stream(timeline.read()))
}

/// The position of a reader.
#[derive(Debug, Deserialize)]
pub(super) struct After {
    /// The id of the last received event.
    after: Option<String>,
}

/// `GET /api/ai/chat/runs/{runId}/events`: follows a run from its beginning, or after the event in
/// the `Last-Event-ID` header or in `after`.
pub(super) async fn follow(
    State(threads): State<Arc<Threads>>,
    Extension(principal): Extension<Principal>,
    Part(Path(run_id)): Part<Path<String>>,
    Part(Query(After { after })): Part<Query<After>>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let log = threads
        .find(&principal, &run_id)
        .await?
        .ok_or_else(|| Refusal::new(StatusCode::NOT_FOUND, "no such run is going on or kept"))?;
    let header = headers.get("last-event-id").map(|id| String::from_utf8_lossy(id.as_bytes()));
    let after = match header.map(Cow::into_owned).or(after).filter(|id| !id.is_empty()) {
        None => 0,
        Some(id) => {
            threads.event_number(&principal, &run_id, &log, &id).await.ok_or_else(|| {
                Refusal::new(StatusCode::CONFLICT, format!("the run has no event `{id}`"))
            })?
        }
    };
    if log.is_read(after) {
        // This status stops the reconnection of an `EventSource`.
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let reader =
        log.follow(after).map_err(|error| Refusal::new(StatusCode::TOO_MANY_REQUESTS, error))?;
    Ok(event_stream(reader.read()))
}
