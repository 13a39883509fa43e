//! Background for the agent beside the conversation.
use crate::json::Print;
use serde::{Deserialize, Serialize};

/// Fingerprints of the background for the agent beside the conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Background {
    pub(super) instructions: Option<Print>,
    pub(super) context: Option<Print>,
}
