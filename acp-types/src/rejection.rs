//! Error responses to requests with unknown values that must not be ignored.
use alloc::format;
use jsonrpc_core::{ErrorCode, ErrorObject};

/// Returns the error for the first unknown item of a list of tags.
pub(crate) fn first_unknown<'a>(
    at: &str,
    what: &str,
    items: impl IntoIterator<Item = (bool, &'a str)>,
) -> Option<ErrorObject> {
    let mut items = items.into_iter().enumerate();
    let (index, (_, name)) = items.find(|(_, (is_known, _))| !is_known)?;
    Some(unknown(&format!("{at}/{index}"), what, name))
}

/// Returns the error for an unknown value.
pub(crate) fn unknown(at: &str, what: &str, name: &str) -> ErrorObject {
    ErrorObject::new(ErrorCode::INVALID_PARAMS, format!("at {at}: unknown {what} `{name}`"))
}
