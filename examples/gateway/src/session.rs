//! Settings of an agent's session, over HTTP.
use crate::refusal::Refusal;
use crate::run::StartError;
use crate::threads::Threads;
use agui_bridge::conversation::{SessionSettings, Setting, SettingError, config_value};
use agui_types::tool::Tool;
use axum::Json;
use axum::body::Body;
use axum::extract::{Extension, Path, State};
use axum::http::{HeaderMap, StatusCode};
use host::http::read_json;
use host::http::{Part, Principal};
use jsonrpc_core::wire::Raw;
use std::sync::Arc;

/// `GET /api/ai/agents/{agent}/threads/{threadId}/settings`: the settings of the agent's session;
/// empty without a session.
pub(crate) async fn get(
    State(threads): State<Arc<Threads>>,
    Extension(principal): Extension<Principal>,
    Part(Path((agent, thread))): Part<Path<(String, String)>>,
) -> Result<Json<SessionSettings>, Refusal> {
    if !threads.has_agent(&agent) {
        return Err(Refusal::new(StatusCode::NOT_FOUND, StartError::UnknownAgent(agent)));
    }
    let settings = threads.settings(&principal, &agent, &thread);
    Ok(Json(settings.unwrap_or_default()))
}

/// `POST` to the same path: sets the mode or an option, and returns the resulting settings.
pub(crate) async fn set(
    State(threads): State<Arc<Threads>>,
    Extension(principal): Extension<Principal>,
    Part(Path((agent, thread))): Part<Path<(String, String)>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<SessionSettings>, Refusal> {
    let set: Set = read_json(&headers, body).await?;
    let setting = set.setting().ok_or_else(|| {
        let message = "expected `modeId`, or `configId` and `value`: a text or a boolean";
        Refusal::new(StatusCode::BAD_REQUEST, message)
    })?;
    match threads.set(&principal, &agent, &thread, setting).await {
        None => return Err(no_session()),
        Some(Ok(())) => {}
        Some(Err(error @ SettingError::Refused(_))) => {
            return Err(Refusal::new(StatusCode::BAD_REQUEST, error));
        }
        Some(Err(error)) => return Err(Refusal::new(StatusCode::SERVICE_UNAVAILABLE, error)),
    }
    let settings = threads.settings(&principal, &agent, &thread);
    settings.map(Json).ok_or_else(no_session)
}

/// `POST /api/ai/agents/{agent}/threads/{threadId}/session`: opens the session of a thread before
/// its first run, and returns its settings.
pub(crate) async fn prepare(
    State(threads): State<Arc<Threads>>,
    Extension(principal): Extension<Principal>,
    Part(Path((agent, thread))): Part<Path<(String, String)>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<SessionSettings>, Refusal> {
    let NewSession { tools, .. } = read_json(&headers, body).await?;
    let tools = tools.unwrap_or_default();
    Ok(Json(threads.prepare(&principal, &agent, &thread, &tools).await?))
}

/// `GET /api/ai/agents/{agent}/threads/{threadId}/activity`: waits a while for a turn without a
/// prompt. Without one: 204.
pub(crate) async fn activity(
    State(threads): State<Arc<Threads>>,
    Extension(principal): Extension<Principal>,
    Part(Path((agent, thread))): Part<Path<(String, String)>>,
) -> Result<StatusCode, Refusal> {
    match threads.activity(&principal, &agent, &thread).await {
        Some(Ok(active)) => Ok(if active { StatusCode::OK } else { StatusCode::NO_CONTENT }),
        Some(Err(error)) => Err(Refusal::new(StatusCode::TOO_MANY_REQUESTS, error)),
        None => Err(Refusal::new(StatusCode::NOT_FOUND, StartError::UnknownAgent(agent))),
    }
}

fn no_session() -> Refusal {
    Refusal::new(StatusCode::NOT_FOUND, "the thread has no session of this agent")
}

jsonrpc_core::object! {
    /// A session that is opened before the first run.
    pub struct NewSession {}
    optional {
        /// Tools of the page.
        tools: Vec<Tool> = "tools",
    }
}

jsonrpc_core::object! {
    /// A change of a setting.
    pub struct Set {}
    optional {
        /// Id of a mode.
        mode_id: String = "modeId",
        /// Id of an option.
        config_id: String = "configId",
        /// Value of the option.
        value: Raw = "value",
    }
}

impl Set {
    /// Returns the change, if the body has exactly one.
    fn setting(self) -> Option<Setting> {
        match (self.mode_id, self.config_id, self.value) {
            (Some(mode), None, None) => Some(Setting::Mode(mode.into())),
            (None, Some(config), Some(value)) => {
                Some(Setting::ConfigOption(config.into(), config_value(&value)?))
            }
            _ => None,
        }
    }
}
