//! Standard error of the gateway. A slow or closed reader delays nothing and fails nothing.
use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::sync::OnceLock;
use tracing_appender::non_blocking::{ErrorCounter, NonBlocking, NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::prelude::*;

/// The most lines that wait to be written; more are lost.
const MAX_LINES: usize = 4096;

/// Targets that log the bytes of connections with their secrets. `RUST_LOG` cannot enable those.
const WIRE: [&str; 2] = ["tungstenite", "tokio_tungstenite"];

/// What writes, once there is a log.
static WRITER: OnceLock<NonBlocking> = OnceLock::new();

/// Writes what is logged, until it is dropped.
pub(crate) struct Log {
    lost: ErrorCounter,
    _writing: WorkerGuard,
}

impl Log {
    /// Logs what `RUST_LOG` asks for, or warnings.
    pub(crate) fn begin() -> Self {
        let (writer, writing) =
            NonBlockingBuilder::default().buffered_lines_limit(MAX_LINES).finish(io::stderr());
        let lost = writer.error_counter();
        let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("warn"));
        let plain = WIRE.map(|target| (target, LevelFilter::INFO));
        let plain = Targets::new().with_default(LevelFilter::TRACE).with_targets(plain);
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

/// Says something that is no matter of `RUST_LOG`.
pub(crate) fn say(message: impl Display) {
    let line = format!("{message}\n");
    // There is nowhere else to say that it cannot be said.
    let _unsaid = match WRITER.get() {
        Some(writer) => writer.clone().write_all(line.as_bytes()),
        None => io::stderr().write_all(line.as_bytes()),
    };
}
