//! Whether an agent can be reached, from several attempts: one failure does not make it unhealthy, nor one success
//! healthy.

use crate::AgentConnection;
use std::sync::PoisonError;
use std::time::Duration;
use tokio::time::timeout;

/// Timeout of a probe.
const PROBE_TIME: Duration = Duration::from_secs(2);

/// Number of failures in a row after which a healthy agent is not.
const DOWN_AFTER: u32 = 3;

/// Number of successes in a row after which an unhealthy agent is healthy.
const UP_AFTER: u32 = 2;

/// The health of an agent.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Health {
    /// Unknown before the first attempt, which decides alone.
    is_up: Option<bool>,
    /// Attempts in a row that speak against it.
    against: u32,
}

impl AgentConnection {
    /// Connects to the agent, and returns whether it is healthy; `None` for an optional agent that is not running.
    pub async fn is_ready(&self) -> Option<bool> {
        if self.is_optional && self.known().is_none() {
            return None;
        }
        let is_reached = matches!(timeout(PROBE_TIME, self.initialized()).await, Ok(Ok(_)));
        Some(self.health.lock().unwrap_or_else(PoisonError::into_inner).observe(is_reached))
    }
}

impl Health {
    /// Handles the outcome of an attempt; returns whether the agent is healthy.
    pub(crate) fn observe(&mut self, succeeded: bool) -> bool {
        let is_up = *self.is_up.get_or_insert(succeeded);
        if succeeded == is_up {
            self.against = 0;
            return is_up;
        }
        self.against += 1;
        let enough = if is_up { DOWN_AFTER } else { UP_AFTER };
        if self.against >= enough {
            (self.is_up, self.against) = (Some(succeeded), 0);
            return succeeded;
        }
        is_up
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_takes_several_attempts_to_change() {
        let mut health = Health::default();
        let attempts = [true, false, false, true, false, false, false, true, false, true, true];
        let states = [true, true, true, true, true, true, false, false, false, false, true];
        for (number, (attempt, state)) in attempts.into_iter().zip(states).enumerate() {
            assert_eq!(health.observe(attempt), state, "attempt {number}");
        }
        assert!(!Health::default().observe(false), "the first decides alone");
    }
}
