//! Taking a session out of the list.
//!
//! Spec: [Session Delete](https://agentclientprotocol.com/protocol/v2/session-delete)
pub use crate::shared::session_list::{DeleteSessionRequest, DeleteSessionResponse};
