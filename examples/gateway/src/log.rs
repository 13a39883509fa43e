//! Standard error of a program. A slow or closed reader causes no delay and no error, and no peer
//! can flood the log.
//!
//! Each place in the source logs at most [`LINES`] lines in [`WINDOW`], and then the number of
//! lines that were left out. `DEBUG` and `TRACE` are complete. Events with the target [`AUDIT`] go
//! to a [file of their own](Log::audit_to).
//!
//! ```
//! let log = gateway::log::Log::begin();
//! gateway::log::say("listening");
//! drop(log);
//! ```
pub use audit::AUDIT;
use audit::Audit;
use rate::Rate;
pub use rate::{LINES, WINDOW};
use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Instant;
use tracing_appender::non_blocking::{ErrorCounter, NonBlocking, NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::{FilterExt, LevelFilter, Targets};
use tracing_subscriber::prelude::*;

mod audit;
mod file;
mod rate;

/// Maximum number of lines that wait to be written; further lines are dropped.
const MAX_LINES: usize = 4096;

/// Targets that log the bytes of connections with their secrets. `RUST_LOG` cannot enable those.
const WIRE: [&str; 2] = ["tungstenite", "tokio_tungstenite"];

/// The filter without `RUST_LOG`: warnings, and decisions of permission rules.
const DEFAULT: &str = "warn,permission_rules=info";

/// The writer of the log, once it is set up.
static WRITER: OnceLock<NonBlocking> = OnceLock::new();

/// The log. Dropping it writes the waiting lines.
#[derive(Debug)]
pub struct Log {
    lost: ErrorCounter,
    rate: Arc<Rate>,
    audit: Audit,
    auditing: Option<WorkerGuard>,
    /// Ends the thread that reports what was left out.
    _reporting: Option<Sender<()>>,
    _writing: WorkerGuard,
}

impl Log {
    /// Sets up the log with the filter of `RUST_LOG`; by default warnings and decisions of
    /// permission rules are logged.
    #[must_use]
    pub fn begin() -> Self {
        let (writer, writing) =
            NonBlockingBuilder::default().buffered_lines_limit(MAX_LINES).finish(io::stderr());
        let lost = writer.error_counter();
        let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(DEFAULT));
        let plain = WIRE.map(|target| (target, LevelFilter::INFO));
        let plain = Targets::new().with_default(LevelFilter::TRACE).with_targets(plain);
        // The parser of HTML warns of tags that are not nested well, which are an agent's.
        let plain =
            plain.with_target(AUDIT, LevelFilter::OFF).with_target("html5ever", LevelFilter::ERROR);
        let rate = Arc::new(Rate::default());
        let lines = tracing_subscriber::fmt::layer()
            .with_writer(writer.clone())
            .with_ansi(io::stderr().is_terminal())
            .with_filter(filter.and(plain).and(rate::Limit(rate.clone())));
        let audit = Audit::default();
        let records = Targets::new().with_target(AUDIT, LevelFilter::INFO);
        let records = audit.clone().with_filter(records);
        tracing_subscriber::registry().with(lines).with(records).init();
        let _first = WRITER.set(writer);
        let reporting = report_regularly(rate.clone());
        Self { lost, rate, audit, auditing: None, _reporting: reporting, _writing: writing }
    }

    /// Writes events with the target [`AUDIT`] to a file from now on, as JSON lines; those before
    /// are dropped. The field `content` is written only if `has_content`. On Unix the file has mode
    /// 600, and links are refused. At 64 MiB it is renamed to `….1`.
    ///
    /// # Errors
    /// The file cannot be opened, or one is open.
    pub fn audit_to(&mut self, path: &Path, has_content: bool) -> io::Result<()> {
        self.auditing = Some(self.audit.open(path, has_content)?);
        Ok(())
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        self.rate.take_all().iter().for_each(say);
        let lost = self.lost.dropped_lines();
        if lost > 0 {
            tracing::warn!(lost, "lines were not logged: standard error took too long");
        }
    }
}

/// Reports after each window what was left out, until the returned handle is dropped.
fn report_regularly(rate: Arc<Rate>) -> Option<Sender<()>> {
    let (stop, stopped) = channel();
    let report = move || {
        while stopped.recv_timeout(WINDOW) == Err(RecvTimeoutError::Timeout) {
            rate.take(Instant::now()).iter().for_each(say);
        }
    };
    // Without the thread, the report follows at the end.
    thread::Builder::new().name("log".to_owned()).spawn(report).ok().map(|_| stop)
}

/// Writes a message, independently of `RUST_LOG`.
pub fn say(message: impl Display) {
    let line = format!("{message}\n");
    // A failure cannot be reported anywhere else.
    let _unsaid = match WRITER.get() {
        Some(writer) => writer.clone().write_all(line.as_bytes()),
        None => io::stderr().write_all(line.as_bytes()),
    };
}
