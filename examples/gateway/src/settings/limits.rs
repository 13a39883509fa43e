//! Time limits and size limits.
use crate::store::LogLimits;
use host::http::{AuthSettings, ConnectionLimits, SessionLimits, UserLimits};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// With several users, each of them may use one of this many shares of a limit.
const SHARES: usize = 4;

/// Returns the number of shares of a limit, of which a user may use one.
pub(crate) fn shares(auth: &AuthSettings) -> usize {
    if auth.has_several_users() { SHARES } else { 1 }
}

/// Time limits, in seconds.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Times {
    /// Timeout for the start of the agent, and for responses except to prompts.
    pub(crate) answer: Seconds,
    /// Maximum duration of a turn, without the time for answers of the user.
    pub(crate) turn: Seconds,
    /// Timeout for the end of a cancelled turn.
    pub(crate) cancel_grace: Seconds,
    /// Time for the agent to exit after the end of its input, before it is terminated.
    pub(crate) exit_grace: Seconds,
    /// Maximum time for the answer to a question.
    pub(crate) question: Seconds,
    /// Time for which an idle thread is kept.
    pub(crate) idle: Seconds,
    /// Time for which a run continues without readers.
    pub(crate) disconnect_grace: Seconds,
    /// Time for which a run can be read after its end.
    pub(crate) keep: Seconds,
    /// Time of use of the store for which an unused conversation stays outside of the trash.
    pub(crate) history: Seconds,
    /// Time without a request after which a browser is signed out.
    pub(crate) sign_in_idle: Seconds,
    /// Time after which a browser is signed out in any case.
    pub(crate) sign_in: Seconds,
    /// Maximum time of a run in the queue.
    pub(crate) queue: Seconds,
    /// Timeout for a client to read sent data.
    pub(crate) write: Seconds,
    /// Timeout for the headers of the first request of a connection.
    pub(crate) header: Seconds,
    /// Timeout for the body of a request.
    pub(crate) body: Seconds,
    /// Time for which a connection is kept between two requests.
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
            history: seconds(90 * 24 * 60 * 60),
            sign_in_idle: seconds(7 * 24 * 60 * 60),
            sign_in: seconds(30 * 24 * 60 * 60),
            queue: seconds(30),
            write: seconds(30),
            header: seconds(10),
            body: seconds(60),
            connection_idle: seconds(75),
        }
    }
}

impl Times {
    /// Limits of the sessions of browsers.
    pub(crate) fn of_sessions(&self) -> SessionLimits {
        SessionLimits { idle: self.sign_in_idle.0, age: self.sign_in.0 }
    }
}

/// Size limits.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Limits {
    /// Open threads.
    pub(crate) threads: usize,
    /// Active and kept runs.
    pub(crate) runs: usize,
    /// Queued runs of a thread.
    pub(crate) queue: usize,
    /// Concurrent readers of a run.
    pub(crate) readers: usize,
    /// Events of a run that are kept unchanged; older ones are compacted.
    pub(crate) log_events: usize,
    /// Bytes of the unchanged events of a run, and of the compacted ones.
    pub(crate) log_bytes: usize,
    /// Bytes of all runs. Beyond this limit, ended runs are removed early.
    pub(crate) kept_bytes: usize,
    /// Bytes of the conversations in the store. Beyond their share of this limit, the oldest of a
    /// user are moved to the trash.
    pub(crate) history_bytes: u64,
    /// Connections of clients. A quarter may be without a user, and a quarter may belong to one of
    /// several users.
    pub(crate) connections: usize,
    /// Requests of each of several users per minute.
    pub(crate) requests_a_minute: u32,
    /// Processes of an agent with one for each user.
    pub(crate) user_agents: usize,
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
            history_bytes: 512 * 1024 * 1024,
            connections: 1024,
            requests_a_minute: 1200,
            user_agents: 16,
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
    /// Maximum value: a year.
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
