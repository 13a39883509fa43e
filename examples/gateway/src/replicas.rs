//! This gateway among those that share a store.
use crate::settings::{ReplicaSettings, SettingsError};
use agent_tools::mcp_bridge::plugin::{Clock, SessionStore};
use agent_tools::mcp_bridge_http::{random_id, since_1970};
use agui_types::event::RunErrorEvent;
use run_store::{MemoryStore, Replica, ReplicaOptions, RunStore};
use std::sync::Arc;
use std::time::Duration;

mod forwarding;

pub(crate) use forwarding::{Forwarded, ForwardedRequest, ForwardedResponse, serve, to_its_owner};

/// The code of a run of a gateway that is dead, or counts as dead.
const GATEWAY_LOST: &str = "GATEWAY_LOST";

/// Joins the gateways of the configured store. Without a store the gateway is alone.
pub(crate) async fn join(
    settings: &ReplicaSettings,
    keep: Duration,
) -> Result<Replica, SettingsError> {
    let lifetime = settings.lease.0.max(Duration::from_millis(100));
    let (store, id): (Arc<dyn RunStore>, _) = match &settings.store {
        None => (Arc::new(MemoryStore::default()), String::new()),
        Some(url) => (shared(url.reveal(), &settings.prefix, lifetime).await?, random_id()?),
    };
    let mut lost = RunErrorEvent::new("The gateway that had the run is gone.");
    lost.code = Some(GATEWAY_LOST.to_owned());
    let replica = Replica::new(store, ReplicaOptions { id, lifetime, keep, lost: lost.into() });
    replica.beat().await.map_err(|error| SettingsError::Store(error.to_string()))?;
    Ok(replica)
}

/// Returns the store of suspended tool calls, and the clock for their expiry. Gateways with a shared store use the time
/// of day. A single gateway uses a monotonic clock.
pub(crate) async fn tool_sessions(
    settings: &ReplicaSettings,
) -> Result<(Arc<dyn SessionStore>, Clock), SettingsError> {
    match &settings.store {
        None => {
            let (start, began) = (since_1970(), std::time::Instant::now());
            let clock = Arc::new(move || start + began.elapsed());
            Ok((Arc::new(agent_tools::mcp_bridge::plugin::MemoryStore::default()), clock))
        }
        Some(url) => {
            let prefix = format!("{}:tools", settings.prefix);
            Ok((shared_sessions(url.reveal(), &prefix).await?, Arc::new(since_1970)))
        }
    }
}

#[cfg(feature = "redis")]
async fn shared(
    url: &str,
    prefix: &str,
    lifetime: Duration,
) -> Result<Arc<dyn RunStore>, SettingsError> {
    let store = run_store::RedisStore::connect(url, prefix, lifetime).await;
    Ok(Arc::new(store.map_err(|error| SettingsError::Store(error.to_string()))?))
}

#[cfg(feature = "redis")]
async fn shared_sessions(url: &str, prefix: &str) -> Result<Arc<dyn SessionStore>, SettingsError> {
    let store = agent_tools::mcp_bridge_http::RedisStore::connect(url, prefix).await;
    Ok(Arc::new(store.map_err(|error| SettingsError::Store(error.to_string()))?))
}

/// The store of the replicas cannot be used.
#[cfg(not(feature = "redis"))]
const NOT_BUILT: &str = "this gateway was built without its feature `redis`";

#[cfg(not(feature = "redis"))]
async fn shared(_: &str, _: &str, _: Duration) -> Result<Arc<dyn RunStore>, SettingsError> {
    Err(SettingsError::Store(NOT_BUILT.to_owned()))
}

#[cfg(not(feature = "redis"))]
async fn shared_sessions(_: &str, _: &str) -> Result<Arc<dyn SessionStore>, SettingsError> {
    Err(SettingsError::Store(NOT_BUILT.to_owned()))
}
