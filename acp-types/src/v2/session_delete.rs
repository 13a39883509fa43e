//! Deletion of sessions.
//!
//! Spec: [Session Delete](https://agentclientprotocol.com/protocol/v2/session-delete)
pub use crate::shared::session_list::{DeleteSessionRequest, DeleteSessionResponse};
