//! How long things may take, and how many there may be.
use http_access::{AuthSettings, ConnectionLimits, UserLimits};
use run_store::LogLimits;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// One of several users fills no more than one of so many shares of a limit.
const SHARES: usize = 4;

/// Shares of a limit, of which a user may fill one.
pub(crate) fn shares(auth: &AuthSettings) -> usize {
    if auth.has_several_users() { SHARES } else { 1 }
}

/// How long things may take.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Times {
    /// How long the agent may take to start, and to answer anything but a prompt.
    pub(crate) answer: Seconds,
    /// How long a turn may take, without the time that the user takes to answer.
    pub(crate) turn: Seconds,
    /// How long the agent may take to end a turn that was cancelled.
    pub(crate) cancel_grace: Seconds,
    /// How long the agent may take to exit after the end of its input, before it is terminated.
    pub(crate) exit_grace: Seconds,
    /// How long a question may wait for its answer.
    pub(crate) question: Seconds,
    /// How long a thread is kept in which nothing happens.
    pub(crate) idle: Seconds,
    /// How long a run goes on without readers.
    pub(crate) disconnect_grace: Seconds,
    /// How long a run can be read after its end.
    pub(crate) keep: Seconds,
    /// How long a run may wait for its turn.
    pub(crate) queue: Seconds,
    /// How long a client may take to read what was sent.
    pub(crate) write: Seconds,
    /// How long a client may take to send the headers of its first request.
    pub(crate) header: Seconds,
    /// How long it may take to send a body.
    pub(crate) body: Seconds,
    /// How long a connection is kept between two requests.
    pub(crate) connection_idle: Seconds,
}

impl Default for Times {
    fn default() -> Self {
        let seconds = |seconds| Seconds(Duration::from_secs(seconds));
        Self {
            answer: seconds(60),
            turn: seconds(30 * 60),
            cancel_grace: seconds(10),
            exit_grace: seconds(4),
            question: seconds(15 * 60),
            idle: seconds(30 * 60),
            disconnect_grace: seconds(60),
            keep: seconds(10 * 60),
            queue: seconds(30),
            write: seconds(30),
            header: seconds(10),
            body: seconds(60),
            connection_idle: seconds(75),
        }
    }
}

/// How many there may be of things.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Limits {
    /// Threads that are open.
    pub(crate) threads: usize,
    /// Runs that are going on or are kept.
    pub(crate) runs: usize,
    /// Runs that wait for their turn in one thread.
    pub(crate) queue: usize,
    /// Clients that read one run at the same time.
    pub(crate) readers: usize,
    /// Events of a run that are kept as they were sent; older ones are compacted.
    pub(crate) log_events: usize,
    /// Bytes of those, and again of the older ones.
    pub(crate) log_bytes: usize,
    /// Bytes of all runs; beyond, those that have ended are forgotten early.
    pub(crate) kept_bytes: usize,
    /// Connections of clients. A quarter may have no user, and a quarter may be at work for one of several users.
    pub(crate) connections: usize,
    /// Requests of one of several users in a minute.
    pub(crate) requests_a_minute: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            threads: 1024,
            runs: 1024,
            queue: 8,
            readers: 16,
            log_events: 20_000,
            log_bytes: 8 * 1024 * 1024,
            kept_bytes: 256 * 1024 * 1024,
            connections: 1024,
            requests_a_minute: 1200,
        }
    }
}

impl Limits {
    /// Limits of the requests of one user.
    pub(crate) fn of_user(&self, auth: &AuthSettings) -> UserLimits {
        let at_work = self.connections.div_ceil(shares(auth));
        let a_minute = auth.has_several_users().then_some(self.requests_a_minute);
        UserLimits { at_work, a_minute: a_minute.unwrap_or(u32::MAX) }
    }

    /// Limits of the connections of all clients.
    pub(crate) fn of_connections(&self, times: &Times) -> ConnectionLimits {
        let limits = ConnectionLimits {
            connections: self.connections,
            strangers: self.connections.div_ceil(SHARES),
            header: times.header.0,
            body: times.body.0,
            idle: times.connection_idle.0,
            write: times.write.0,
        };
        limits.within_open_files()
    }

    pub(crate) fn log(&self) -> LogLimits {
        LogLimits { events: self.log_events, bytes: self.log_bytes, readers: self.readers }
    }
}

/// A time in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(try_from = "f64", into = "f64")]
pub(crate) struct Seconds(pub(crate) Duration);

impl Seconds {
    /// The longest time that can be set: a year.
    const MAX: f64 = 366.0 * 24.0 * 3600.0;
}

impl TryFrom<f64> for Seconds {
    type Error = &'static str;

    fn try_from(seconds: f64) -> Result<Self, Self::Error> {
        if !(0.0..=Self::MAX).contains(&seconds) {
            return Err("expected a number of seconds, from 0 to a year");
        }
        Ok(Self(Duration::from_secs_f64(seconds)))
    }
}

impl From<Seconds> for f64 {
    fn from(seconds: Seconds) -> Self {
        seconds.0.as_secs_f64()
    }
}
