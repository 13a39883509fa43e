//! Things that the user may want to know now.
//!
//! Spec: [Notices](https://agentclientprotocol.com/protocol/v1/schema#notice), [version 2](https://agentclientprotocol.com/protocol/v2/schema#notice)
use alloc::string::String;
use jsonrpc_core::{object, open_enum};

object! {
    /// Something that the user may want to know now. It is no part of the session's history.
    ///
    /// Spec: [`Notice`](https://agentclientprotocol.com/protocol/v1/schema#notice), [version 2](https://agentclientprotocol.com/protocol/v2/schema#notice)
    pub struct Notice {
        /// How bad it is.
        severity: NoticeSeverity = "severity",
        /// What it is, in a line; not empty.
        title: String = "title",
    }
    optional {
        /// More about it.
        description: String = "description" [default_on_error],
    }
    and "_meta"
}

open_enum! {
    /// How bad it is.
    ///
    /// Spec: [`NoticeSeverity`](https://agentclientprotocol.com/protocol/v1/schema#noticeseverity), [version 2](https://agentclientprotocol.com/protocol/v2/schema#noticeseverity)
    pub enum NoticeSeverity {
        /// Good to know.
        Info = "info",
        /// Something may be wrong.
        Warning = "warning",
        /// Something is wrong.
        Error = "error",
    }
}
