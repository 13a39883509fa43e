//! Notices for the user.
//!
//! Spec: [Notices](https://agentclientprotocol.com/protocol/v1/schema#notice), [version
//! 2](https://agentclientprotocol.com/protocol/v2/schema#notice)
use alloc::string::String;
use jsonrpc_core::{object, open_enum};

object! {
    /// A notice for the user. It is not part of the session's history.
    ///
    /// Spec: [`Notice`](https://agentclientprotocol.com/protocol/v1/schema#notice), [version
    /// 2](https://agentclientprotocol.com/protocol/v2/schema#notice)
    pub struct Notice {
        /// Severity of the notice.
        severity: NoticeSeverity = "severity",
        /// One line of text, not empty.
        title: String = "title",
    }
    optional {
        /// Human-readable description.
        description: String = "description" [default_on_error],
    }
    and "_meta"
}

open_enum! {
    /// Severity of a notice.
    ///
    /// Spec: [`NoticeSeverity`](https://agentclientprotocol.com/protocol/v1/schema#noticeseverity),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/schema#noticeseverity)
    pub enum NoticeSeverity {
        /// Informational.
        Info = "info",
        /// A possible problem.
        Warning = "warning",
        /// A problem.
        Error = "error",
    }
}
