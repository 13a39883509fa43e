//! The description of a failed HTTP request.
use display_error_chain::ErrorChainExt;

/// Describes an error with its causes. The URL is left out: it may contain a secret.
pub(crate) fn failure(error: reqwest::Error) -> String {
    error.without_url().chain().to_string()
}
