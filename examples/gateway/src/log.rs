//! Standard error of the gateway. A slow or closed reader causes no delay and no error.
use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::sync::OnceLock;
use tracing_appender::non_blocking::{ErrorCounter, NonBlocking, NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::prelude::*;

/// Maximum number of lines that wait to be written; further lines are dropped.
const MAX_LINES: usize = 4096;

/// Targets that log the bytes of connections with their secrets. `RUST_LOG` cannot enable those.
const WIRE: [&str; 2] = ["tungstenite", "tokio_tungstenite"];

/// The writer of the log, once it is set up.
static WRITER: OnceLock<NonBlocking> = OnceLock::new();

/// The log. Dropping it writes the waiting lines.
pub(crate) struct Log {
    lost: ErrorCounter,
    _writing: WorkerGuard,
}

impl Log {
    /// Sets up the log with the filter of `RUST_LOG`; by default warnings and decisions of rules are logged.
    pub(crate) fn begin() -> Self {
        let (writer, writing) =
            NonBlockingBuilder::default().buffered_lines_limit(MAX_LINES).finish(io::stderr());
        let lost = writer.error_counter();
        let usual = |_| EnvFilter::new("warn,permission_rules=info");
        let filter = EnvFilter::try_from_default_env().unwrap_or_else(usual);
        let plain = WIRE.map(|target| (target, LevelFilter::INFO));
        // It warns of tags that are not nested well, which are an agent's.
        let plain = Targets::new()
            .with_default(LevelFilter::TRACE)
            .with_targets(plain)
            .with_target("html5ever", LevelFilter::ERROR);
        let lines = tracing_subscriber::fmt::layer()
            .with_writer(writer.clone())
            .with_ansi(io::stderr().is_terminal())
            .with_filter(plain);
        tracing_subscriber::registry().with(filter).with(lines).init();
        let _first = WRITER.set(writer);
        Self { lost, _writing: writing }
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        let lost = self.lost.dropped_lines();
        if lost > 0 {
            tracing::warn!(lost, "lines were not logged: standard error took too long");
        }
    }
}

/// Writes a message, independently of `RUST_LOG`.
pub(crate) fn say(message: impl Display) {
    let line = format!("{message}\n");
    // A failure cannot be reported anywhere else.
    let _unsaid = match WRITER.get() {
        Some(writer) => writer.clone().write_all(line.as_bytes()),
        None => io::stderr().write_all(line.as_bytes()),
    };
}
