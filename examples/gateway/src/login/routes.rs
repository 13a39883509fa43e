//! Requests about agents and logins, and their responses.
use crate::login::attempt::Progress;
use crate::login::error::LoginError;
use crate::login::logins::{List, LoginDescription, Logins};
use axum::body::Body;
use axum::extract::{Extension, Path, Query};
use axum::http::{HeaderMap, StatusCode};
use axum::routing::{get, post};
use axum::{Json, Router};
use core::time::Duration;
use host::http::{Part, Principal, read_json};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::time::{sleep, timeout};

/// Time for which a request waits for a change.
const WAIT: Duration = Duration::from_secs(20);

/// Time in which changes are collected for one response.
const COLLECT: Duration = Duration::from_millis(150);

/// A login to begin.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LoginRequest {
    method_id: String,
    #[serde(default)]
    variables: BTreeMap<String, String>,
}

/// Keys for a terminal.
#[derive(Deserialize)]
struct InputRequest {
    text: String,
}

/// The position of a follower.
#[derive(Deserialize)]
struct After {
    after: Option<u64>,
}

/// Returns the routes below `/api/ai/agents` and `/api/ai/mcp-servers`, for callers with a
/// [`Principal`].
pub fn router<S: Clone + Send + Sync + 'static>(logins: Arc<Logins>) -> Router<S> {
    Router::new()
        .route("/api/ai/agents", get(list))
        .route("/api/ai/agents/{agent}/login", get(describe).post(begin).delete(cancel))
        .route("/api/ai/agents/{agent}/login/progress", get(progress))
        .route("/api/ai/agents/{agent}/login/input", post(input))
        .route("/api/ai/agents/{agent}/logout", post(log_out))
        .merge(crate::login::servers::router())
        .layer(Extension(logins))
}

async fn list(
    Extension(logins): Extension<Arc<Logins>>,
    Extension(user): Extension<Principal>,
) -> Json<List> {
    Json(logins.list(user.as_str()))
}

async fn describe(
    Extension(logins): Extension<Arc<Logins>>,
    Extension(user): Extension<Principal>,
    Part(Path(agent)): Part<Path<String>>,
) -> Result<Json<LoginDescription>, LoginError> {
    Ok(Json(logins.describe(&agent, user.as_str()).await?))
}

async fn begin(
    Extension(logins): Extension<Arc<Logins>>,
    Extension(user): Extension<Principal>,
    Part(Path(agent)): Part<Path<String>>,
    headers: HeaderMap,
    body: Body,
) -> Result<(StatusCode, Json<Progress>), LoginError> {
    let LoginRequest { method_id, variables } = read_json(&headers, body).await?;
    let begun = logins.begin(&agent, user.as_str(), &method_id, variables).await?;
    Ok((StatusCode::ACCEPTED, Json(begun)))
}

async fn cancel(
    Extension(logins): Extension<Arc<Logins>>,
    Extension(user): Extension<Principal>,
    Part(Path(agent)): Part<Path<String>>,
) -> Result<StatusCode, LoginError> {
    logins.cancel(&agent, user.as_str())?;
    Ok(StatusCode::ACCEPTED)
}

/// Returns the progress of the user's login, once it has a change after the given version.
async fn progress(
    Extension(logins): Extension<Arc<Logins>>,
    Extension(user): Extension<Principal>,
    Part(Path(agent)): Part<Path<String>>,
    Part(Query(After { after })): Part<Query<After>>,
) -> Result<Json<Progress>, LoginError> {
    let mut progress = logins.follow(&agent, user.as_str())?;
    if let Some(after) = after {
        let changed = timeout(WAIT, progress.wait_for(|now| now.version > after)).await.is_ok();
        if changed {
            sleep(COLLECT).await;
        }
    }
    let now = progress.borrow().clone();
    Ok(Json(now))
}

async fn input(
    Extension(logins): Extension<Arc<Logins>>,
    Extension(user): Extension<Principal>,
    Part(Path(agent)): Part<Path<String>>,
    headers: HeaderMap,
    body: Body,
) -> Result<StatusCode, LoginError> {
    let InputRequest { text } = read_json(&headers, body).await?;
    logins.type_text(&agent, user.as_str(), text)?;
    Ok(StatusCode::ACCEPTED)
}

async fn log_out(
    Extension(logins): Extension<Arc<Logins>>,
    Extension(user): Extension<Principal>,
    Part(Path(agent)): Part<Path<String>>,
) -> Result<StatusCode, LoginError> {
    logins.log_out(&agent, user.as_str()).await?;
    Ok(StatusCode::NO_CONTENT)
}
