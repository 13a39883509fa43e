//! Probes of an agent, and whether it can be used.
use crate::hub::AgentConnection;
use crate::hub::health::Health;
use std::sync::{MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::{Instant, timeout};

/// Timeout of a probe.
const PROBE_TIME: Duration = Duration::from_secs(2);

impl AgentConnection {
    /// Connects to the agent, and returns whether it is healthy; `None` for an optional agent that
    /// is not running. After a failed attempt, the state is returned without another one for some
    /// seconds.
    pub async fn is_ready(&self) -> Option<bool> {
        if self.is_optional && self.known().is_none() {
            return None;
        }
        let known = self.health().paused(Instant::now());
        if known.is_some() {
            return known;
        }
        let reached = timeout(PROBE_TIME, self.initialized()).await;
        match &reached {
            Ok(Ok(_)) => {}
            Ok(Err(why)) => tracing::warn!(%why, "a probe does not reach an agent"),
            Err(_) => {
                tracing::warn!(
                    seconds = PROBE_TIME.as_secs(),
                    "a probe gets no answer of an agent"
                );
            }
        }
        Some(self.health().observe(matches!(reached, Ok(Ok(_))), Instant::now()))
    }

    /// Returns whether the agent is healthy by its last attempt, without another one; `None` if it
    /// is not running.
    pub fn last_health(&self) -> Option<bool> {
        let is_up = self.health().is_up;
        match self.known() {
            Some(_) => Some(is_up.unwrap_or(true)),
            None => is_up.filter(|is_up| !is_up),
        }
    }

    fn health(&self) -> MutexGuard<'_, Health> {
        self.health.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
