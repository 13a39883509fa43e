//! This gateway among those that share a store.
use crate::history::{CallLimits, OpenStore, PlaceError, PlaceOptions};
use crate::settings::{Settings, SettingsError, shares};
use crate::store::{FileLimits, Replica, ReplicaOptions, RunRecord, RunStore};
use agui_bridge::CancelReason;
use agui_bridge::hybrid_tools::HybridRun;
use agui_types::event::{Event, RunErrorEvent};
use async_trait::async_trait;
use host::http::SessionStore as SignInStore;
use mcp_bridge::plugin::{Clock, SessionStore};
use mcp_bridge_http::random_id;
use serde_json::json;
use std::error::Error;
use std::iter;
use std::sync::Arc;
use std::time::Duration;

mod forwarding;

pub(crate) use forwarding::{ForwardedMark, ForwardedRequest, ForwardedResponse};

/// The code of a run of a gateway that is dead, or counts as dead.
const GATEWAY_LOST: &str = "GATEWAY_LOST";

/// Opens the configured store.
pub(crate) async fn open(settings: &Settings) -> Result<OpenStore, SettingsError> {
    let limits = FileLimits {
        bytes: settings.limits.history_bytes,
        threads: FileLimits::THREADS,
        shares: shares(&settings.auth),
        age: settings.times.history.0,
    };
    let prefix = settings.replicas.prefix.clone();
    let default_name = "gateway.db";
    let options = PlaceOptions { limits, prefix, lifetime: lifetime(settings), default_name };
    Ok(crate::history::open(settings.store.as_ref(), &options).await?)
}

/// Joins the gateways of a store. With a store of its own the gateway is alone.
pub(crate) async fn join(
    settings: &Settings,
    runs: Arc<dyn RunStore>,
) -> Result<Arc<Replica>, SettingsError> {
    let options = ReplicaOptions {
        id: random_id()?,
        lifetime: lifetime(settings),
        keep: settings.times.keep.0,
        lost: end_of_lost,
    };
    let replica = Replica::new(runs, options);
    replica.beat().await.map_err(PlaceError::from)?;
    Ok(Arc::new(replica))
}

/// Returns the end of a run of a gateway that is gone.
fn end_of_lost(record: &RunRecord) -> Event {
    cancelled_end(record).unwrap_or_else(|| {
        let lost = RunErrorEvent::new("The gateway that had the run is gone.");
        lost.with_code(GATEWAY_LOST).into()
    })
}

/// Returns the end of a run that was being cancelled.
fn cancelled_end(record: &RunRecord) -> Option<Event> {
    let reason: CancelReason = serde_json::from_value(json!(record.cancel.as_ref()?)).ok()?;
    let mut run = HybridRun::begin(&record.input);
    run.cancel(reason);
    iter::from_fn(|| run.poll_event()).last()
}

/// Returns the time that a gateway counts as alive after its last beat.
fn lifetime(settings: &Settings) -> Duration {
    settings.replicas.lease.0.max(Duration::from_millis(100))
}

/// The name of the sessions of users among the texts of the store.
const SESSIONS: &str = "sessions";

/// The sessions of users in the store of runs.
#[derive(Debug)]
struct StoredSessions {
    store: Arc<dyn RunStore>,
    is_shared: bool,
}

#[async_trait]
impl SignInStore for StoredSessions {
    async fn load(&self) -> Result<Option<String>, Box<dyn Error + Send + Sync>> {
        Ok(self.store.kept(SESSIONS).await?)
    }

    async fn save(&self, text: &str) -> Result<(), Box<dyn Error + Send + Sync>> {
        Ok(self.store.keep(SESSIONS, Some(text)).await?)
    }

    fn is_shared(&self) -> bool {
        self.is_shared
    }
}

/// Returns the place of the sessions of users, unless the store ends with this program.
pub(crate) fn sessions(settings: &Settings, store: &OpenStore) -> Option<Arc<dyn SignInStore>> {
    let is_shared = settings.shared_store().is_some();
    let kept = StoredSessions { store: store.runs.clone(), is_shared };
    (is_shared || store.path.is_some()).then(|| Arc::new(kept) as Arc<dyn SignInStore>)
}

/// Returns the store of suspended tool calls, and the clock for their expiry.
pub(crate) async fn tool_sessions(
    settings: &Settings,
    store: &OpenStore,
) -> Result<(Arc<dyn SessionStore>, Clock), SettingsError> {
    let place = settings.store.as_ref();
    let prefix = &settings.replicas.prefix;
    let limits = CallLimits { memory: settings.limits.kept_bytes, shares: shares(&settings.auth) };
    Ok(crate::history::open_calls(store, place, prefix, limits).await?)
}
