//! Log messages of a server.
//!
//! Spec: [Logging](https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/logging)
//! (2026-07-28, deprecated there)
use alloc::string::String;
use jsonrpc_core::wire::Raw;
use jsonrpc_core::{object, open_enum};

open_enum! {
    /// Severity of a log message, least severe first, as in [RFC
    /// 5424](https://www.rfc-editor.org/rfc/rfc5424#section-6.2.1).
    ///
    /// Spec: [`LoggingLevel`](https://modelcontextprotocol.io/specification/2026-07-28/schema#logginglevel)
    ///
    /// ```
    /// use mcp_bridge::mcp::logging::LoggingLevel;
    ///
    /// assert!(LoggingLevel::Warning > LoggingLevel::Info);
    /// ```
    pub enum LoggingLevel {
        /// Debugging information.
        Debug = "debug",
        /// Progress of normal operation.
        Info = "info",
        /// Significant events of normal operation.
        Notice = "notice",
        /// Conditions that may lead to errors.
        Warning = "warning",
        /// Errors.
        Error = "error",
        /// Failures of a component.
        Critical = "critical",
        /// Immediate action is required.
        Alert = "alert",
        /// The system is unusable.
        Emergency = "emergency",
    }
}

object! {
    /// The params of `logging/setLevel`. Up to 2025-11-25.
    ///
    /// Spec: [`SetLevelRequestParams`](https://modelcontextprotocol.io/specification/2025-11-25/schema#setlevelrequestparams)
    #[doc(alias = "logging/setLevel")]
    pub struct SetLevelRequestParams {
        /// The minimum level of messages to send.
        level: LoggingLevel = "level",
    }
    and "_meta"
}

object! {
    /// The params of `notifications/message`.
    ///
    /// Spec: [`LoggingMessageNotificationParams`](https://modelcontextprotocol.io/specification/2026-07-28/schema#loggingmessagenotificationparams)
    #[doc(alias = "notifications/message")]
    pub struct LoggingMessageNotificationParams {
        /// Severity of the message.
        level: LoggingLevel = "level",
        /// The data to log, any JSON value.
        data: Raw = "data",
    }
    optional {
        /// Name of the logger.
        logger: String = "logger",
    }
    and "_meta"
}
