//! Answers to requests that hold what this version does not know and must not pass over.
use alloc::format;
use jsonrpc_core::{ErrorCode, ErrorObject};

/// The error for the first thing of a list that is not known. Each has a tag, and is known or not.
pub(crate) fn first_unknown<'a>(
    at: &str,
    what: &str,
    items: impl IntoIterator<Item = (bool, &'a str)>,
) -> Option<ErrorObject> {
    let mut items = items.into_iter().enumerate();
    let (index, (_, name)) = items.find(|(_, (is_known, _))| !is_known)?;
    Some(unknown(&format!("{at}/{index}"), what, name))
}

/// The error for something that is not known.
pub(crate) fn unknown(at: &str, what: &str, name: &str) -> ErrorObject {
    ErrorObject::new(ErrorCode::INVALID_PARAMS, format!("at {at}: unknown {what} `{name}`"))
}
