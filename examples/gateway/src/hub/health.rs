//! Whether an agent can be reached, from several attempts: one failure does not make it unhealthy,
//! nor one success healthy.
use std::time::Duration;
use tokio::time::Instant;

/// Time after a failed attempt in which there is no other one: an attempt can start a process.
const PAUSE: Duration = Duration::from_secs(5);

/// Number of failures in a row after which a healthy agent is not.
const DOWN_AFTER: u32 = 3;

/// Number of successes in a row after which an unhealthy agent is healthy.
const UP_AFTER: u32 = 2;

/// The health of an agent.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Health {
    /// Unknown before the first attempt, which decides alone.
    pub(crate) is_up: Option<bool>,
    /// Attempts in a row that speak against it.
    against: u32,
    /// Time of the last attempt, if it failed.
    failed: Option<Instant>,
}

impl Health {
    /// Returns whether the agent is healthy, if the last attempt failed a short time ago.
    pub(crate) fn paused(&self, now: Instant) -> Option<bool> {
        let failed = self.failed?;
        self.is_up.filter(|_| now.saturating_duration_since(failed) < PAUSE)
    }

    /// Handles the outcome of an attempt; returns whether the agent is healthy.
    pub(crate) fn observe(&mut self, succeeded: bool, now: Instant) -> bool {
        self.failed = (!succeeded).then_some(now);
        let is_up = *self.is_up.get_or_insert(succeeded);
        if succeeded == is_up {
            self.against = 0;
            return is_up;
        }
        self.against += 1;
        let enough = if is_up { DOWN_AFTER } else { UP_AFTER };
        if self.against >= enough {
            self.is_up = Some(succeeded);
            self.against = 0;
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
        let now = Instant::now();
        for (number, (attempt, state)) in attempts.into_iter().zip(states).enumerate() {
            assert_eq!(health.observe(attempt, now), state, "attempt {number}");
        }
        assert!(!Health::default().observe(false, now), "the first decides alone");
    }

    #[test]
    fn failed_attempt_is_not_repeated_at_once() {
        let mut health = Health::default();
        let now = Instant::now();
        assert_eq!(health.paused(now), None);
        assert!(!health.observe(false, now));
        assert_eq!(health.paused(now + PAUSE / 2), Some(false));
        assert_eq!(health.paused(now + PAUSE), None);
        assert!(!health.observe(true, now + PAUSE));
        assert_eq!(health.paused(now + PAUSE), None, "only after a failure");
    }
}
