//! The HTTP side: endpoints that run and steer runs, some that tell of the gateway, and the page.
use crate::access::{Principal, Site, only_our_pages, only_who_is_known};
use crate::page;
use crate::replicas::{Forwarded, to_its_owner};
use crate::run::{ResultError, StartError};
use crate::session;
use crate::socket;
use crate::threads::Threads;
use acp_types::v1::elicitation::ElicitationAction;
use agent_tools::page_server;
use agui_bridge::conversation::UserAnswer;
use agui_bridge::frontend_tool::ToolResult;
use agui_bridge::{AnswerError, PermissionAnswer};
use agui_types::capabilities::AgentCapabilities;
use agui_types::content::Content;
use agui_types::input::RunAgentInput;
use axum::Json;
use axum::Router;
use axum::body::Body;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Extension, Path, Query, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{any, delete, get, post};
use bytes::Bytes;
use futures::{Stream, StreamExt};
use hyper::service::Service;
use hyper_util::service::TowerToHyperService;
use jsonrpc_core::wire::Raw;
use mcp_bridge::plugin::SessionError;
use mcp_bridge::registry::ToolList;
use run_store::{Reader, StoreError, TooManyReaders};
use run_telemetry::{HttpSpan, remote, traced};
use serde::Deserialize;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::convert::Infallible;
use std::sync::Arc;

mod body;

pub(crate) use body::{MAX_BODY, read_body, read_json};

/// The routes for those who are known.
fn api() -> Router<Arc<Threads>> {
    Router::new()
        .route("/api/tools", get(tools))
        .route("/api/tools/sessions", get(tool_sessions))
        .route("/api/tools/sessions/{session}", delete(abort_session))
        .route("/api/ai/ws", get(socket::open))
        .route("/api/ai/agents", get(agents))
        .route("/api/ai/agents/{agent}/capabilities", get(capabilities))
        .route("/api/ai/agents/{agent}/chat", post(chat_with))
        .route("/api/ai/chat", post(chat))
        .route("/api/ai/chat/runs/{run_id}/events", get(follow))
        .route("/api/ai/chat/runs/{run_id}/spans", get(spans))
        .route(
            "/api/ai/agents/{agent}/threads/{thread}/settings",
            get(session::get).post(session::set),
        )
        .route("/api/ai/chat/runs/{run_id}/cancel", post(cancel))
        .route("/api/ai/chat/runs/{run_id}/tools/{call_id}", post(tool_result))
        .route("/api/ai/chat/interrupts/{interrupt_id}", post(answer_question))
}

/// The routes.
pub(crate) fn router(threads: Arc<Threads>, site: Arc<Site>) -> Router {
    let api = api()
        .route_layer(from_fn_with_state(threads.clone(), to_its_owner))
        .route_layer(from_fn_with_state(site.clone(), only_who_is_known))
        .route_layer(from_fn_with_state(threads.telemetry().clone(), traced));
    Router::new()
        .route("/", get(page::index))
        .route("/assets/{name}", get(page::asset))
        .route("/healthz", get(|| async { "ok" }))
        .route("/readyz", get(ready))
        .route(&format!("{}{{name}}", page_server::PATH), any(mcp_server))
        .merge(api)
        .fallback(async || Refusal::new(StatusCode::NOT_FOUND, "there is nothing at this path"))
        .method_not_allowed_fallback(async || {
            Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "the path does not take this method")
        })
        .layer(site.cors())
        .layer(from_fn_with_state(site, only_our_pages))
        .with_state(threads)
}

/// Answers a request that another gateway has let in.
pub(crate) async fn answer(threads: &Arc<Threads>, request: Request) -> Response {
    let service = TowerToHyperService::new(api().with_state(threads.clone()));
    match service.call(request).await {
        Ok(response) => response,
        Err(never) => match never {},
    }
}

/// A request that is answered before there is a stream.
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

impl From<StartError> for Refusal {
    fn from(error: StartError) -> Self {
        let status = match &error {
            StartError::Busy
            | StartError::OtherRun
            | StartError::Known
            | StartError::Resumed(_) => StatusCode::CONFLICT,
            StartError::UnknownAgent(_) => StatusCode::NOT_FOUND,
            StartError::Readers(_) => StatusCode::TOO_MANY_REQUESTS,
            StartError::Moved => StatusCode::MISDIRECTED_REQUEST,
            StartError::Overloaded | StartError::Ending | StartError::Store(_) => {
                StatusCode::SERVICE_UNAVAILABLE
            }
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

impl From<PathRejection> for Refusal {
    fn from(rejection: PathRejection) -> Self {
        Self::new(rejection.status(), rejection.body_text())
    }
}

impl From<QueryRejection> for Refusal {
    fn from(rejection: QueryRejection) -> Self {
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

/// `POST /api/ai/chat`: runs an AG-UI input and streams its events.
async fn chat(
    State(threads): State<Arc<Threads>>,
    Extension(principal): Extension<Principal>,
    request: Request,
) -> Result<Response, Refusal> {
    run(&threads, principal, None, request).await
}

/// `POST /api/ai/agents/{agent}/chat`: the same with an agent of the caller's choice.
async fn chat_with(
    State(threads): State<Arc<Threads>>,
    Extension(principal): Extension<Principal>,
    agent: Part,
    request: Request,
) -> Result<Response, Refusal> {
    let Path(agent) = agent?;
    run(&threads, principal, Some(&agent), request).await
}

async fn run(
    threads: &Arc<Threads>,
    principal: Principal,
    agent: Option<&str>,
    request: Request,
) -> Result<Response, Refusal> {
    let is_forwarded = request.extensions().get::<Forwarded>().is_some();
    let (parts, body) = request.into_parts();
    let caller = match parts.extensions.get::<HttpSpan>() {
        Some(HttpSpan(span)) => Some(span.clone()),
        None => remote(&parts.headers),
    };
    let input: RunAgentInput = read_json(&parts.headers, body).await?;
    let reader = threads.start(principal.clone(), agent, input, is_forwarded, caller).await?;
    if !is_forwarded {
        return Ok(stream(reader));
    }
    // It is read where it was asked for.
    threads.read_elsewhere(&principal, reader.run_id().as_str()).await?;
    Ok(Json(json!({ "runId": reader.run_id() })).into_response())
}

fn stream(reader: Reader) -> Response {
    event_stream(reader.read())
}

fn event_stream(events: impl Stream<Item = Bytes> + Send + 'static) -> Response {
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform")),
        (header::HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no")),
    ];
    (headers, Body::from_stream(events.map(Ok::<_, Infallible>))).into_response()
}

/// `GET /api/ai/chat/runs/{runId}/spans`: the spans of a run, as they begin and end; another gateway is told what there is.
async fn spans(
    State(threads): State<Arc<Threads>>,
    Extension(principal): Extension<Principal>,
    forwarded: Option<Extension<Forwarded>>,
    run_id: Part,
) -> Result<Response, Refusal> {
    let Path(run_id) = run_id?;
    let nothing = || Refusal::new(StatusCode::NOT_FOUND, "no spans of such a run are known here");
    let timeline = threads.timeline(&principal, &run_id)?.ok_or_else(nothing)?;
    if forwarded.is_some() {
        return Ok(Json(timeline.so_far()).into_response());
    }
    Ok(event_stream(timeline.read()))
}

/// `GET /api/ai/agents`
async fn agents(State(threads): State<Arc<Threads>>) -> Json<serde_json::Value> {
    let agents = threads.agents().map(|name| json!({ "name": name })).collect::<Vec<_>>();
    Json(json!({ "agents": agents }))
}

/// `GET /api/tools`: the tools of the gateway, and where each is from.
async fn tools(State(threads): State<Arc<Threads>>) -> Json<ToolList> {
    Json(threads.toolbox().list())
}

/// `GET /api/tools/sessions`: the calls of tools that wait for somebody's answer, or go on.
async fn tool_sessions(
    State(threads): State<Arc<Threads>>,
    Extension(principal): Extension<Principal>,
) -> Result<Json<Value>, Refusal> {
    let sessions = threads.toolbox().questions().sessions(principal.as_str()).await;
    let sessions =
        sessions.map_err(|error| Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, error))?;
    Ok(Json(json!({ "sessions": sessions })))
}

/// `DELETE /api/tools/sessions/{sessionId}`: ends a call of a tool.
async fn abort_session(
    State(threads): State<Arc<Threads>>,
    Extension(principal): Extension<Principal>,
    session: Part,
) -> Result<StatusCode, Refusal> {
    let Path(session) = session?;
    match threads.toolbox().questions().abort(&session, principal.as_str()).await {
        Ok(()) => Ok(StatusCode::NO_CONTENT),
        Err(error @ SessionError::NotFound) => Err(Refusal::new(StatusCode::NOT_FOUND, error)),
        Err(error) => Err(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, error)),
    }
}

/// `GET /api/ai/agents/{agent}/capabilities`
async fn capabilities(
    State(threads): State<Arc<Threads>>,
    agent: Part,
) -> Result<Json<AgentCapabilities>, Refusal> {
    let Path(agent) = agent?;
    match threads.capabilities(&agent).await {
        None => {
            let error = StartError::UnknownAgent(agent);
            Err(Refusal::new(StatusCode::NOT_FOUND, error))
        }
        Some(Err(trouble)) => Err(Refusal::new(StatusCode::SERVICE_UNAVAILABLE, trouble)),
        Some(Ok(capabilities)) => Ok(Json(capabilities)),
    }
}

/// `GET /readyz`: whether the agents can be reached.
async fn ready(State(threads): State<Arc<Threads>>) -> (StatusCode, Json<Value>) {
    let agents = threads.readiness().await;
    let store = threads.replicas().is_reached();
    let is_ready = store && agents.values().all(|is_ready| *is_ready);
    let status = if is_ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, Json(json!({ "ready": is_ready, "agents": agents, "store": store })))
}

/// Where a reader has got to.
#[derive(Debug, Deserialize)]
struct After {
    /// The id of the last event that was read.
    after: Option<String>,
}

/// `GET /api/ai/chat/runs/{runId}/events`: follows a run from its beginning, or from behind the event that the
/// `Last-Event-ID` header or `after` names.
async fn follow(
    State(threads): State<Arc<Threads>>,
    Extension(principal): Extension<Principal>,
    run_id: Part,
    after: Result<Query<After>, QueryRejection>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let (Path(run_id), Query(After { after })) = (run_id?, after?);
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
        // To an `EventSource` this says that it need not come again.
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let reader =
        log.follow(after).map_err(|error| Refusal::new(StatusCode::TOO_MANY_REQUESTS, error))?;
    Ok(stream(reader))
}

/// `POST /api/ai/chat/runs/{runId}/cancel`
async fn cancel(
    State(threads): State<Arc<Threads>>,
    Extension(principal): Extension<Principal>,
    run_id: Part,
) -> Result<StatusCode, Refusal> {
    let Path(run_id) = run_id?;
    if threads.cancel(&principal, &run_id) {
        return Ok(StatusCode::ACCEPTED);
    }
    Err(Refusal::new(StatusCode::NOT_FOUND, "no such run is going on"))
}

/// `POST /api/ai/chat/runs/{runId}/tools/{toolCallId}`: the result of a tool of the page's, while the run goes on.
async fn tool_result(
    State(threads): State<Arc<Threads>>,
    Extension(principal): Extension<Principal>,
    path: Result<Path<(String, String)>, PathRejection>,
    headers: HeaderMap,
    body: Body,
) -> Result<StatusCode, Refusal> {
    let Path((run_id, call_id)) = path?;
    let PageResult { content, error, .. } = read_json(&headers, body).await?;
    let mut result = ToolResult::new(content);
    result.is_error = error.is_some();
    match threads.tool_result(&principal, &run_id, &call_id.into(), result) {
        Ok(()) => Ok(StatusCode::ACCEPTED),
        Err(error @ ResultError::Unknown) => Err(Refusal::new(StatusCode::NOT_FOUND, error)),
        Err(error @ ResultError::AlreadyDone) => Err(Refusal::new(StatusCode::CONFLICT, error)),
    }
}

jsonrpc_core::object! {
    /// The result of a tool of the page's.
    pub struct PageResult {
        /// What it says.
        content: Content = "content",
    }
    optional {
        /// What went wrong.
        error: String = "error",
    }
}

/// The MCP server with the page's tools of one thread; it knows itself who may use it.
async fn mcp_server(State(threads): State<Arc<Threads>>, name: Part, request: Request) -> Response {
    let endpoint = name.ok().and_then(|Path(name)| threads.page_servers().find(&name));
    match endpoint {
        Some(endpoint) => endpoint.handle(request).await,
        None => {
            Refusal::new(StatusCode::NOT_FOUND, "there is nothing at this path").into_response()
        }
    }
}

/// `POST /api/ai/chat/interrupts/{interruptId}`
async fn answer_question(
    State(threads): State<Arc<Threads>>,
    Extension(principal): Extension<Principal>,
    interrupt_id: Part,
    headers: HeaderMap,
    body: Body,
) -> Result<StatusCode, Refusal> {
    let Path(interrupt_id) = interrupt_id?;
    let body: Answer = read_json(&headers, body).await?;
    let answer = body.answer().ok_or_else(|| {
        let message = "expected one of `optionId`, `action`, and `cancelled: true`";
        Refusal::new(StatusCode::BAD_REQUEST, message)
    })?;
    match threads.answer(&principal, &interrupt_id, answer) {
        Ok(()) => Ok(StatusCode::ACCEPTED),
        Err(error @ AnswerError::Unknown) => Err(Refusal::new(StatusCode::NOT_FOUND, error)),
        Err(error @ AnswerError::Answered) => Err(Refusal::new(StatusCode::CONFLICT, error)),
        Err(error) => Err(Refusal::new(StatusCode::BAD_REQUEST, error)),
    }
}

jsonrpc_core::object! {
    /// The answer to what the agent asked.
    pub struct Answer {}
    optional {
        /// The option of a permission request that was chosen.
        option_id: String = "optionId",
        /// What was done about an elicitation: `accept`, `decline` or `cancel`.
        action: String = "action",
        /// What its form was filled in with.
        content: Raw = "content",
        /// There is no answer.
        cancelled: bool = "cancelled",
    }
}

impl Answer {
    /// What it says, if that is one thing.
    fn answer(self) -> Option<UserAnswer> {
        match (&self.option_id, &self.action, self.cancelled.unwrap_or_default()) {
            (Some(option_id), None, false) if self.content.is_none() => {
                let selected = PermissionAnswer::Selected(option_id.as_str().into());
                Some(UserAnswer::Permission(selected))
            }
            (None, Some(_), false) => {
                let action = Raw::from_value(&self).ok()?.decode::<ElicitationAction>().ok()?;
                let is_known = !matches!(action, ElicitationAction::Unknown(_));
                is_known.then_some(UserAnswer::Elicitation(action))
            }
            (None, None, true) => Some(UserAnswer::Cancelled),
            _ => None,
        }
    }
}
