//! Requests of each user: at work, and in a minute.
use crate::http::{Connection, Principal};
use std::collections::HashMap;
use std::future::pending;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// Number of users beyond which those without a trace of activity are forgotten.
const MAX_USERS: usize = 1024;

/// The period of `UserLimits::a_minute`.
const MINUTE: Duration = Duration::from_secs(60);

/// Number of bytes of a body that count as one more request.
const BODY_SHARE: usize = 256 * 1024;

/// Limits of one user.
#[derive(Clone, Copy, Debug)]
pub struct UserLimits {
    /// Requests that are at work at the same time, including streams and WebSockets that are open.
    pub at_work: usize,
    /// Requests that begin in a minute. One with a large body counts once more for each 256 KiB of
    /// it.
    pub a_minute: u32,
}

/// The use of each user.
#[derive(Debug)]
pub(crate) struct Quotas {
    limits: UserLimits,
    users: Mutex<HashMap<Principal, UserUsage>>,
}

#[derive(Debug)]
struct UserUsage {
    /// Each request at work holds a reference.
    at_work: Arc<()>,
    /// Requests left, at `counted`. They grow back with time. A large request is begun with less
    /// than it counts.
    left: f64,
    counted: Instant,
}

/// A request at work. It counts until the last copy is dropped.
#[derive(Clone, Debug)]
pub struct RequestPermit {
    _slot: Arc<Slot>,
    _connection: Option<Connection>,
    /// Cancelled when the session of the request ends.
    session_end: Option<CancellationToken>,
}

impl RequestPermit {
    pub(crate) fn of_session(self, session_end: Option<CancellationToken>) -> Self {
        Self { session_end, ..self }
    }

    /// Waits for the end of the session to which the request belongs. A request with a token
    /// belongs to none, and waits for ever.
    pub async fn session_ended(&self) {
        match &self.session_end {
            Some(end) => end.cancelled().await,
            None => pending().await,
        }
    }
}

/// A part of the use of a user.
#[derive(Debug)]
struct Slot {
    _at_work: Arc<()>,
}

/// A request over a limit of its user.
#[derive(Debug, PartialEq, thiserror::Error)]
#[error("{why}")]
pub(crate) struct QuotaError {
    why: String,
    pub(crate) wait: Duration,
}

/// Wait after a refusal for requests at work. Their end is not known.
const AT_WORK_WAIT: Duration = Duration::from_secs(5);

impl Quotas {
    /// Returns quotas that are not used.
    pub(crate) fn new(limits: UserLimits) -> Self {
        Self { limits, users: Mutex::default() }
    }

    /// Takes a request with a body of this length from the quota of its user.
    pub(crate) fn begin(
        &self,
        user: &Principal,
        connection: Option<Connection>,
        body: usize,
        now: Instant,
    ) -> Result<RequestPermit, QuotaError> {
        let full = f64::from(self.limits.a_minute);
        let a_second = full / MINUTE.as_secs_f64();
        let grown = |used: &UserUsage| {
            let passed = now.saturating_duration_since(used.counted);
            (used.left + passed.as_secs_f64() * a_second).min(full)
        };
        let mut users = self.users.lock().unwrap_or_else(PoisonError::into_inner);
        if users.len() >= MAX_USERS {
            users.retain(|_, used| Arc::strong_count(&used.at_work) > 1 || grown(used) < full);
        }
        let fresh = || UserUsage { at_work: Arc::new(()), left: full, counted: now };
        let used = users.entry(user.clone()).or_insert_with(fresh);
        used.left = grown(used);
        used.counted = now;
        if used.left < 1.0 {
            let wait = Duration::from_secs_f64((1.0 - used.left) / a_second.max(f64::EPSILON));
            let why = format!("more than {} requests in a minute", self.limits.a_minute);
            return Err(QuotaError { why, wait: wait.min(MINUTE) });
        }
        if Arc::strong_count(&used.at_work) > self.limits.at_work {
            let why = format!("more than {} requests at the same time", self.limits.at_work);
            return Err(QuotaError { why, wait: AT_WORK_WAIT });
        }
        let count = u32::try_from(body / BODY_SHARE).unwrap_or(u32::MAX).saturating_add(1);
        used.left -= f64::from(count);
        let slot = Slot { _at_work: used.at_work.clone() };
        Ok(RequestPermit { _slot: Arc::new(slot), _connection: connection, session_end: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quota_is_for_one_user() {
        let quotas = Quotas::new(UserLimits { at_work: 2, a_minute: 4 });
        let now = Instant::now();
        let alice = Principal::from("alice");
        let first = quotas.begin(&alice, None, 0, now).unwrap();
        let copy = first.clone();
        let second = quotas.begin(&alice, None, 0, now).unwrap();
        drop(first);
        let refused = quotas.begin(&alice, None, 0, now).unwrap_err();
        assert_eq!(refused.to_string(), "more than 2 requests at the same time");
        assert!(quotas.begin(&Principal::from("bob"), None, 0, now).is_ok());
        drop(copy);
        let third = quotas.begin(&alice, None, 0, now).unwrap();
        drop(second);
        drop(third);
        drop(quotas.begin(&alice, None, 0, now).unwrap());
        let refused = quotas.begin(&alice, None, 0, now).unwrap_err();
        assert_eq!(refused.to_string(), "more than 4 requests in a minute");
        assert_eq!(refused.wait, Duration::from_secs(15));
        assert!(quotas.begin(&alice, None, 0, now + refused.wait).is_ok());
    }

    #[test]
    fn large_bodies_count_by_their_length() {
        let quotas = Quotas::new(UserLimits { at_work: 9, a_minute: 60 });
        let now = Instant::now();
        let alice = Principal::from("alice");
        let after = |seconds| now + Duration::from_secs(seconds);
        assert!(quotas.begin(&alice, None, 59 * BODY_SHARE - 1, now).is_ok());
        assert!(quotas.begin(&alice, None, 9 * BODY_SHARE, now).is_ok(), "one request is left");
        let refused = quotas.begin(&alice, None, 0, now).unwrap_err();
        assert_eq!(refused.wait, Duration::from_secs(10));
        assert!(quotas.begin(&alice, None, 0, after(9)).is_err());
        assert!(quotas.begin(&alice, None, 0, after(10)).is_ok());
    }

    #[test]
    fn users_without_activity_are_forgotten() {
        let quotas = Quotas::new(UserLimits { at_work: 1, a_minute: 60 });
        let now = Instant::now();
        let working = quotas.begin(&Principal::from("working"), None, 0, now).unwrap();
        for number in 0..MAX_USERS {
            let _ended =
                quotas.begin(&Principal::from(&*number.to_string()), None, 0, now).unwrap();
        }
        let later = now + MINUTE;
        drop(quotas.begin(&Principal::from("later"), None, 0, later).unwrap());
        assert_eq!(quotas.users.lock().unwrap().len(), 2);
        assert!(quotas.begin(&Principal::from("working"), None, 0, later).is_err());
        drop(working);
    }
}
