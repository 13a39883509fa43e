//! What a server tells of its work.
//!
//! Spec: [Logging](https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/logging) (2026-07-28,
//! deprecated there)
use alloc::string::String;
use jsonrpc_core::wire::Raw;
use jsonrpc_core::{object, open_enum};

open_enum! {
    /// How much a message matters, as in [RFC 5424](https://www.rfc-editor.org/rfc/rfc5424#section-6.2.1), the least first.
    ///
    /// Spec: [`LoggingLevel`](https://modelcontextprotocol.io/specification/2026-07-28/schema#logginglevel)
    ///
    /// ```
    /// use mcp_bridge::mcp::logging::LoggingLevel;
    ///
    /// assert!(LoggingLevel::Warning > LoggingLevel::Info);
    /// ```
    pub enum LoggingLevel {
        /// For those who look for a mistake.
        Debug = "debug",
        /// What goes on.
        Info = "info",
        /// What is worth knowing.
        Notice = "notice",
        /// What may become an error.
        Warning = "warning",
        /// What went wrong.
        Error = "error",
        /// A part does not work.
        Critical = "critical",
        /// Something has to be done at once.
        Alert = "alert",
        /// Nothing works.
        Emergency = "emergency",
    }
}

object! {
    /// The params of `logging/setLevel`. Up to 2025-11-25.
    ///
    /// Spec: [`SetLevelRequestParams`](https://modelcontextprotocol.io/specification/2025-11-25/schema#setlevelrequestparams)
    pub struct SetLevelRequestParams {
        /// The least level that is wanted.
        level: LoggingLevel = "level",
    }
    and "_meta"
}

object! {
    /// The params of `notifications/message`.
    ///
    /// Spec: [`LoggingMessageNotificationParams`](https://modelcontextprotocol.io/specification/2026-07-28/schema#loggingmessagenotificationparams)
    pub struct LoggingMessageNotificationParams {
        /// How much it matters.
        level: LoggingLevel = "level",
        /// What is told: any JSON.
        data: Raw = "data",
    }
    optional {
        /// Which part of the server tells it.
        logger: String = "logger",
    }
    and "_meta"
}
