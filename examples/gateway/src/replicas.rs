//! This gateway among those that share a store.
use crate::settings::{Settings, SettingsError, shares};
use agent_tools::mcp_bridge::plugin::{Clock, SessionStore};
use agent_tools::mcp_bridge_http::{random_id, since_1970};
use agui_types::event::RunErrorEvent;
use chat_history::{CallLimits, OpenStore, ParkedCalls, PlaceError, PlaceOptions};
use http_access::Secret;
use run_store::{FileLimits, FileStore, Replica, ReplicaOptions, RunStore};
use std::sync::Arc;
use std::time::Duration;

mod forwarding;

pub(crate) use forwarding::{Forwarded, ForwardedRequest, ForwardedResponse, serve, to_its_owner};

/// The code of a run of a gateway that is dead, or counts as dead.
const GATEWAY_LOST: &str = "GATEWAY_LOST";

/// Opens the configured store.
pub(crate) async fn open(settings: &Settings) -> Result<OpenStore, SettingsError> {
    let limits = FileLimits { bytes: settings.limits.history_bytes, age: settings.times.history.0 };
    let (prefix, default_name) = (settings.replicas.prefix.clone(), "gateway.db");
    let options = PlaceOptions { limits, prefix, lifetime: lifetime(settings), default_name };
    Ok(chat_history::open(settings.store.as_ref(), &options).await?)
}

/// Joins the gateways of a store. With a store of its own the gateway is alone.
pub(crate) async fn join(
    settings: &Settings,
    runs: Arc<dyn RunStore>,
) -> Result<Arc<Replica>, SettingsError> {
    let mut lost = RunErrorEvent::new("The gateway that had the run is gone.");
    lost.code = Some(GATEWAY_LOST.to_owned());
    let (id, keep, lost) = (random_id()?, settings.times.keep.0, lost.into());
    let options = ReplicaOptions { id, lifetime: lifetime(settings), keep, lost };
    let replica = Replica::new(runs, options);
    replica.beat().await.map_err(PlaceError::from)?;
    Ok(Arc::new(replica))
}

/// Returns the time that a gateway counts as alive after its last beat.
fn lifetime(settings: &Settings) -> Duration {
    settings.replicas.lease.0.max(Duration::from_millis(100))
}

/// Returns the store of suspended tool calls, and the clock for their expiry. Gateways with a shared store use the time
/// of day. A single gateway uses a monotonic clock.
pub(crate) async fn tool_sessions(
    settings: &Settings,
    file: Option<Arc<FileStore>>,
) -> Result<(Arc<dyn SessionStore>, Clock), SettingsError> {
    let Some(file) = file else {
        let url = settings.shared_store().map(Secret::reveal).unwrap_or_default();
        let prefix = format!("{}:tools", settings.replicas.prefix);
        return Ok((shared_sessions(url, &prefix).await?, Arc::new(since_1970)));
    };
    let (start, began) = (since_1970(), std::time::Instant::now());
    let limits = CallLimits { memory: settings.limits.kept_bytes, shares: shares(&settings.auth) };
    let calls = ParkedCalls::open(file, start, limits).await.map_err(PlaceError::from)?;
    Ok((Arc::new(calls), Arc::new(move || start + began.elapsed())))
}

#[cfg(feature = "redis")]
async fn shared_sessions(url: &str, prefix: &str) -> Result<Arc<dyn SessionStore>, SettingsError> {
    let store = agent_tools::mcp_bridge_http::RedisStore::connect(url, prefix).await;
    let store = store.map_err(|error| PlaceError::Store(run_store::StoreError(error.to_string())));
    Ok(Arc::new(store?))
}

#[cfg(not(feature = "redis"))]
async fn shared_sessions(_: &str, _: &str) -> Result<Arc<dyn SessionStore>, SettingsError> {
    Err(PlaceError::NotBuilt.into())
}
