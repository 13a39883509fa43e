//! Log messages and progress of tools.
use crate::mcp::logging::LoggingLevel;
use alloc::string::String;
use alloc::sync::Arc;
use jsonrpc_core::wire::Raw;
use serde::{Deserialize, Serialize};

/// A log message or a progress report of a running tool. It can be serialized for other programs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Notice {
    /// A log message.
    Log {
        /// Severity of the message.
        level: LoggingLevel,
        /// Name of the logger, if it has one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        logger: Option<String>,
        /// The logged data.
        data: Raw,
    },
    /// A progress report.
    Progress {
        /// Progress so far. It increases with each report.
        progress: f64,
        /// Total amount of progress, if known.
        total: Option<f64>,
        /// Human-readable description.
        message: Option<String>,
    },
}

/// Receives the log messages and progress of one call.
pub type NoticeSink = Arc<dyn Fn(&Notice) + Send + Sync>;
