//! The routes.
use crate::history::History;
use crate::login::Logins;
use crate::page;
use crate::refusal::Refusal;
use crate::session;
use crate::socket;
use crate::telemetry::traced;
use crate::threads::Threads;
use crate::tools::page_server;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::from_fn_with_state;
use axum::response::Response;
use axum::routing::{any, delete, get, post};
use axum::{Extension, Router};
use host::http::{Access, authenticate, check_site, session_routes, sign_in};
use std::sync::Arc;
use tower::ServiceExt;

mod about;
mod inputs;
mod owners;
mod runs;

pub(crate) use owners::serve_replica;
use owners::to_its_owner;

/// The routes for authenticated callers.
fn api() -> Router<Arc<Threads>> {
    Router::new()
        .route("/api/tools", get(about::tools))
        .route("/api/tools/sessions", get(about::tool_sessions))
        .route("/api/tools/sessions/{session}", delete(about::abort_session))
        .route("/api/ai/ws", get(socket::open))
        .route("/api/ai/agents/{agent}/capabilities", get(about::capabilities))
        .route("/api/ai/agents/{agent}/chat", post(runs::chat_with))
        .route("/api/ai/agents/{agent}/files", get(about::files))
        .route("/api/ai/chat", post(runs::chat))
        .route("/api/ai/chat/runs/{run_id}/events", get(runs::follow))
        .route("/api/ai/chat/runs/{run_id}/spans", get(runs::spans))
        .route(
            "/api/ai/agents/{agent}/threads/{thread}/settings",
            get(session::get).post(session::set),
        )
        .route("/api/ai/agents/{agent}/threads/{thread}/session", post(session::prepare))
        .route("/api/ai/agents/{agent}/threads/{thread}/activity", get(session::activity))
        .route("/api/ai/chat/runs/{run_id}/cancel", post(inputs::cancel))
        .route("/api/ai/chat/runs/{run_id}/tools/{call_id}", post(inputs::tool_result))
        .route("/api/ai/chat/interrupts/{interrupt_id}", post(inputs::answer_question))
}

/// The routes.
pub(crate) fn router(
    threads: Arc<Threads>,
    logins: Arc<Logins>,
    history: Option<Arc<History>>,
    access: Arc<Access>,
) -> Router {
    let api = api()
        .merge(crate::login::router(logins.clone()))
        .merge(history.map_or_else(Router::new, crate::history::router))
        .route_layer(from_fn_with_state(threads.clone(), to_its_owner))
        .route_layer(from_fn_with_state(access.clone(), authenticate))
        .route_layer(from_fn_with_state(threads.telemetry().clone(), traced));
    // Each gateway answers these itself.
    let own = Router::new()
        .route("/api/ai/markdown", post(page::markdown))
        .merge(session_routes(access.clone()))
        .route_layer(from_fn_with_state(access.clone(), authenticate));
    let probed = (Extension(logins.clone()), Extension(access.clone()));
    let mcp = page_server::ROUTES;
    let mcp = mcp.iter().fold(Router::new(), |it, path| it.route(path, any(about::mcp_server)));
    Router::new()
        .route("/", get(page::index).layer(from_fn_with_state(access.clone(), sign_in)))
        .route("/c/{thread}", get(page::index).layer(from_fn_with_state(access.clone(), sign_in)))
        .route("/assets/{name}", get(page::asset))
        .route("/healthz", get(|| async { "ok" }))
        .route("/readyz", get(about::ready).layer(probed))
        .merge(crate::login::callback_router(logins))
        .merge(mcp)
        .merge(api)
        .merge(own)
        .fallback(async || Refusal::new(StatusCode::NOT_FOUND, "there is nothing at this path"))
        .method_not_allowed_fallback(async || {
            Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "the path does not take this method")
        })
        .layer(access.cors())
        .layer(from_fn_with_state(access, check_site))
        .with_state(threads)
}

/// Answers a request that another gateway has authenticated.
async fn answer(threads: &Arc<Threads>, request: Request) -> Response {
    match api().with_state(threads.clone()).oneshot(request).await {
        Ok(response) => response,
        Err(never) => match never {},
    }
}
