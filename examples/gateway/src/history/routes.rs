//! Requests and responses.
use crate::history::conversations::History;
use crate::history::error::HistoryError;
use crate::store::{ThreadPage, ThreadQuery, ThreadSummary, TrashedThread};
use agui_types::input::RunAgentInput;
use axum::body::{Body, Bytes};
use axum::extract::{Extension, Path, Query};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post};
use axum::{Json, Router};
use futures::{Stream, StreamExt};
use host::http::{Part, Principal, read_json};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::{Deserialize, Serialize};
use std::convert::Infallible;
use std::sync::Arc;

/// Selects a part of the list.
#[derive(Deserialize)]
struct ListQuery {
    search: Option<String>,
    after: Option<String>,
    limit: Option<usize>,
}

/// Selects one of several conversations with the same id.
#[derive(Deserialize)]
struct AgentQuery {
    agent: Option<String>,
}

/// A new title.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rename {
    title: String,
}

/// The trash of a user.
#[derive(Serialize)]
struct Trash {
    threads: Vec<TrashedThread>,
}

/// Returns the routes for callers with a [`Principal`].
pub fn router<S: Clone + Send + Sync + 'static>(history: Arc<History>) -> Router<S> {
    Router::new()
        .route("/api/ai/threads", get(list))
        .route("/api/ai/threads/{thread}", get(find).patch(rename).delete(remove))
        .route("/api/ai/trash", get(trash))
        .route("/api/ai/trash/{number}", delete(delete_trashed))
        .route("/api/ai/trash/{number}/restore", post(restore))
        .route("/api/ai/agents/{agent}/connect", post(connect))
        .layer(Extension(history))
}

/// Returns the path for runs with an agent.
pub fn chat_path(agent: &str) -> String {
    format!("/api/ai/agents/{}/chat", utf8_percent_encode(agent, NON_ALPHANUMERIC))
}

/// Returns a response with server-sent events, which no proxy delays.
pub fn event_stream(events: impl Stream<Item = Bytes> + Send + 'static) -> Response {
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform")),
        (header::HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no")),
    ];
    (headers, Body::from_stream(events.map(Ok::<_, Infallible>))).into_response()
}

/// `GET /api/ai/threads`
async fn list(
    Extension(history): Extension<Arc<History>>,
    Extension(user): Extension<Principal>,
    Part(Query(ListQuery { search, after, limit })): Part<Query<ListQuery>>,
) -> Result<Json<ThreadPage>, HistoryError> {
    Ok(Json(history.list(&user, ThreadQuery { search, after, limit }).await?))
}

/// `GET /api/ai/threads/{threadId}`
async fn find(
    Extension(history): Extension<Arc<History>>,
    Extension(user): Extension<Principal>,
    Part(Path(id)): Part<Path<String>>,
    Part(Query(AgentQuery { agent })): Part<Query<AgentQuery>>,
) -> Result<Json<ThreadSummary>, HistoryError> {
    Ok(Json(history.find(&user, agent.as_deref(), &id).await?))
}

/// `PATCH /api/ai/threads/{threadId}`
async fn rename(
    Extension(history): Extension<Arc<History>>,
    Extension(user): Extension<Principal>,
    Part(Path(id)): Part<Path<String>>,
    Part(Query(AgentQuery { agent })): Part<Query<AgentQuery>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<ThreadSummary>, HistoryError> {
    let Rename { title } = read_json(&headers, body).await?;
    Ok(Json(history.rename(&user, agent.as_deref(), &id, &title).await?))
}

/// `DELETE /api/ai/threads/{threadId}`
async fn remove(
    Extension(history): Extension<Arc<History>>,
    Extension(user): Extension<Principal>,
    Part(Path(id)): Part<Path<String>>,
    Part(Query(AgentQuery { agent })): Part<Query<AgentQuery>>,
) -> Result<StatusCode, HistoryError> {
    history.remove(&user, agent.as_deref(), &id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `GET /api/ai/trash`
async fn trash(
    Extension(history): Extension<Arc<History>>,
    Extension(user): Extension<Principal>,
) -> Result<Json<Trash>, HistoryError> {
    Ok(Json(Trash { threads: history.trash(&user).await? }))
}

/// `POST /api/ai/trash/{number}/restore`
async fn restore(
    Extension(history): Extension<Arc<History>>,
    Extension(user): Extension<Principal>,
    Part(Path(number)): Part<Path<i64>>,
) -> Result<Json<ThreadSummary>, HistoryError> {
    Ok(Json(history.restore(&user, number).await?))
}

/// `DELETE /api/ai/trash/{number}`
async fn delete_trashed(
    Extension(history): Extension<Arc<History>>,
    Extension(user): Extension<Principal>,
    Part(Path(number)): Part<Path<i64>>,
) -> Result<StatusCode, HistoryError> {
    history.delete_trashed(&user, number).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `POST /api/ai/agents/{agent}/connect`: the conversation of an input's thread as events, then
/// those of its active run.
async fn connect(
    Extension(history): Extension<Arc<History>>,
    Extension(user): Extension<Principal>,
    Part(Path(agent)): Part<Path<String>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, HistoryError> {
    let input: RunAgentInput = read_json(&headers, body).await?;
    Ok(event_stream(history.connect(&user, &agent, input).await?.read()))
}
