//! Why an agent behind HTTP does not accept a message.
use acp_types::v1::error::AUTH_REQUIRED;
use display_error_chain::ErrorChainExt;
use jsonrpc_core::ErrorCode;
use reqwest::StatusCode;

/// Statuses after which the whole connection is useless.
const FATAL: [StatusCode; 2] = [StatusCode::NOT_FOUND, StatusCode::GONE];

/// Why the agent did not accept a message, or a stream ended.
#[derive(Clone, Debug, thiserror::Error)]
pub(super) enum Refusal {
    /// The agent refuses this request alone.
    #[error("the agent answers {0}: {1}")]
    Status(StatusCode, String),
    /// The agent denies access.
    #[error("{0}")]
    Denied(String),
    /// The connection is lost.
    #[error("{0}")]
    Lost(String),
}

impl Refusal {
    /// Describes an error with its causes, because the error alone says only that a request failed.
    /// The URL is left out: it may contain a password.
    pub(super) fn lost(error: reqwest::Error) -> Self {
        Self::Lost(error.without_url().chain().to_string())
    }

    /// Returns whether the whole connection is useless.
    pub(super) fn is_fatal(&self) -> bool {
        match self {
            Self::Status(status, _) => FATAL.contains(status),
            Self::Denied(_) | Self::Lost(_) => true,
        }
    }

    /// Returns the error code for a request that this refusal answers.
    pub(super) fn code(&self) -> ErrorCode {
        match self {
            Self::Denied(_) => AUTH_REQUIRED,
            Self::Status(..) | Self::Lost(_) => ErrorCode::INTERNAL_ERROR,
        }
    }

    /// Returns whether only the session is useless.
    pub(super) fn is_conflict(&self) -> bool {
        matches!(self, Self::Status(StatusCode::CONFLICT, _))
    }
}
