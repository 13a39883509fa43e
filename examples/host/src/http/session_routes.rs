//! The sessions of a user over HTTP.
use crate::http::access::{AUDIT, Access};
use crate::http::grant::Grant;
use crate::http::request_refusal::RequestRefusal;
use crate::http::sessions::CurrentSession;
use crate::http::{Part, Principal, RequestError};
use axum::extract::{Extension, Path, Request};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get};
use axum::{Json, Router};
use serde_json::{Value, json};
use std::sync::Arc;

/// Returns the routes of sessions, for the API that [`authenticate`](crate::http::authenticate)
/// protects.
///
/// | route | effect |
/// |---|---|
/// | `GET /api/sessions` | the name of the user, the current session, and the sessions of the user |
/// | `POST /api/sessions` | begins a session for the bearer token of the request: a cookie, and its key |
/// | `DELETE /api/sessions/{id}` | ends a session of the user with its streams |
pub fn session_routes<S: Clone + Send + Sync + 'static>(access: Arc<Access>) -> Router<S> {
    Router::new()
        .route("/api/sessions", get(list).post(begin))
        .route("/api/sessions/{id}", delete(end))
        .layer(Extension(access))
}

/// `GET /api/sessions`
async fn list(
    Extension(access): Extension<Arc<Access>>,
    Extension(user): Extension<Principal>,
    current: Option<Extension<CurrentSession>>,
) -> Json<Value> {
    let current = current.map(|Extension(current)| current.id);
    let sessions = access.sessions.list(&user);
    Json(json!({ "user": user.as_str(), "current": current, "sessions": sessions }))
}

/// `POST /api/sessions`
async fn begin(
    Extension(access): Extension<Arc<Access>>,
    Extension(grant): Extension<Grant>,
    request: Request,
) -> Response {
    if grant.credential.is_empty() {
        return RequestRefusal::malformed("expected a bearer token").into_response();
    }
    let (parts, _) = request.into_parts();
    match access.begin_session(&parts, &grant).await {
        Ok(secrets) => {
            let cookie = [(header::SET_COOKIE, access.cookie(&parts, &secrets))];
            (StatusCode::CREATED, cookie, Json(json!({ "key": secrets.key }))).into_response()
        }
        Err(refused) => refused.into_response(),
    }
}

/// `DELETE /api/sessions/{id}`
async fn end(
    Extension(access): Extension<Arc<Access>>,
    Extension(user): Extension<Principal>,
    Part(Path(id)): Part<Path<String>>,
) -> Result<StatusCode, RequestError> {
    if !access.sessions.end(&user, &id).await {
        return Err(RequestError::new(StatusCode::NOT_FOUND, "there is no such session of yours"));
    }
    tracing::info!(target: AUDIT, event = "logout", user = user.as_str(), session = id);
    Ok(StatusCode::NO_CONTENT)
}
