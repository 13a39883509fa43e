//! Agents, tools, readiness, and the MCP servers of threads.
use crate::login::Logins;
use crate::refusal::Refusal;
use crate::run::StartError;
use crate::threads::Threads;
use agui_types::capabilities::AgentCapabilities;
use axum::Json;
use axum::extract::{Extension, Path, Query, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use host::files::FoundFiles;
use host::http::Part;
use host::http::{Access, Connection, Principal, RequestError};
use mcp_bridge::plugin::SessionError;
use mcp_bridge::registry::ToolList;
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::task::spawn_blocking;

/// `GET /api/tools`: the tools of the gateway, with their sources.
pub(super) async fn tools(State(threads): State<Arc<Threads>>) -> Json<ToolList> {
    Json(threads.toolbox().list().await)
}

/// `GET /api/tools/sessions`: the tool calls that run or wait for the user.
pub(super) async fn tool_sessions(
    State(threads): State<Arc<Threads>>,
    Extension(principal): Extension<Principal>,
) -> Result<Json<Value>, Refusal> {
    let sessions = threads.toolbox().sessions(principal.as_str()).await;
    let sessions =
        sessions.map_err(|error| Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, error))?;
    Ok(Json(json!({ "sessions": sessions })))
}

/// `DELETE /api/tools/sessions/{sessionId}`: ends a call of a tool.
pub(super) async fn abort_session(
    State(threads): State<Arc<Threads>>,
    Extension(principal): Extension<Principal>,
    Part(Path(session)): Part<Path<String>>,
) -> Result<StatusCode, Refusal> {
    match threads.toolbox().abort(&session, principal.as_str()).await {
        Ok(()) => Ok(StatusCode::NO_CONTENT),
        Err(error @ SessionError::NotFound) => Err(Refusal::new(StatusCode::NOT_FOUND, error)),
        Err(error) => Err(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, error)),
    }
}

/// `GET /api/ai/agents/{agent}/capabilities`
pub(super) async fn capabilities(
    State(threads): State<Arc<Threads>>,
    Extension(principal): Extension<Principal>,
    Part(Path(agent)): Part<Path<String>>,
) -> Result<Json<AgentCapabilities>, Refusal> {
    match threads.capabilities(&agent, &principal).await {
        None => {
            let error = StartError::UnknownAgent(agent);
            Err(Refusal::new(StatusCode::NOT_FOUND, error))
        }
        Some(Err(trouble)) => Err(Refusal::new(StatusCode::SERVICE_UNAVAILABLE, trouble)),
        Some(Ok(capabilities)) => Ok(Json(capabilities)),
    }
}

#[derive(Debug, serde::Deserialize)]
pub(super) struct Search {
    #[serde(default)]
    query: String,
}

/// `GET /api/ai/agents/{agent}/files?query=`: files below the root of the agent; none without a
/// root.
pub(super) async fn files(
    State(threads): State<Arc<Threads>>,
    Extension(principal): Extension<Principal>,
    Part(Path(agent)): Part<Path<String>>,
    Part(Query(search)): Part<Query<Search>>,
) -> Result<Json<FoundFiles>, Refusal> {
    let Some(found) = threads.agent(&agent) else {
        return Err(Refusal::new(StatusCode::NOT_FOUND, StartError::UnknownAgent(agent)));
    };
    let Some(root) = found.root(&principal) else { return Ok(Json(FoundFiles::default())) };
    let place = threads.file_searches().enter(principal.as_str()).await;
    // The place is free when the search has ended, also for a client that is gone.
    let found = spawn_blocking(move || {
        let _place = place;
        root.search(&search.query)
    })
    .await;
    found.map(Json).map_err(|error| Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, error))
}

/// `GET /readyz`: whether the agents can be reached. Only a request of a user tries it, which can
/// start them.
pub(super) async fn ready(
    State(threads): State<Arc<Threads>>,
    Extension(logins): Extension<Arc<Logins>>,
    Extension(access): Extension<Arc<Access>>,
    request: Request,
) -> (StatusCode, Json<Value>) {
    let (parts, _) = request.into_parts();
    let agents = match access.is_of_user(&parts).await {
        true => threads.readiness().await,
        false => threads.last_readiness(),
    };
    let store = threads.replicas().is_reached();
    let is_ready = store && agents.values().all(|is_ready| *is_ready);
    let status = if is_ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let login = logins.needing_login();
    let ready = json!({ "ready": is_ready, "agents": agents, "needsLogin": login, "store": store });
    (status, Json(ready))
}

/// The MCP server with the page's tools of one thread; it checks its own secret.
pub(super) async fn mcp_server(
    State(threads): State<Arc<Threads>>,
    connection: Option<Extension<Connection>>,
    name: Result<Part<Path<String>>, RequestError>,
    request: Request,
) -> Response {
    let name = name.map(|Part(Path(name))| name).unwrap_or_default();
    // The name of the server is a secret of the agent.
    if let Some(Extension(connection)) = connection.filter(|_| threads.page_servers().has(&name)) {
        connection.authenticated();
    }
    let response = threads.page_servers().handle(&name, request).await;
    let missing = || Refusal::new(StatusCode::NOT_FOUND, "there is nothing at this path");
    response.unwrap_or_else(|| missing().into_response())
}
