//! What is looked at of each message on the one way through it.
use alloc::borrow::Cow;
use jsonrpc_core::{Found, JsonStr};

pub(super) const PATHS: [&[&str]; 9] = [
    &["sessionId"],
    &["_meta"],
    &["update"],
    &["update", "sessionUpdate"],
    &["update", "toolCallId"],
    &["update", "status"],
    &["update", "kind"],
    &["update", "name"],
    &["update", "_meta"],
];

/// The values at [`PATHS`] in the params, as JSON text; one that comes twice is none.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Members<'a> {
    pub(crate) session: Option<&'a str>,
    pub(crate) meta: Option<&'a str>,
    pub(crate) update: Option<&'a str>,
    pub(crate) session_update: Option<&'a str>,
    pub(crate) tool_call_id: Option<&'a str>,
    pub(crate) status: Option<&'a str>,
    pub(crate) kind: Option<&'a str>,
    pub(crate) name: Option<&'a str>,
    pub(crate) update_meta: Option<&'a str>,
}

impl<'a> Members<'a> {
    #[inline]
    pub(super) fn new(found: [Found<'a>; PATHS.len()]) -> Self {
        let found = found.map(|member| member.ok().flatten());
        let [session, meta, update, of_update @ ..] = found;
        let [session_update, tool_call_id, status, kind, name, update_meta] = of_update;
        Self {
            session,
            meta,
            update,
            session_update,
            tool_call_id,
            status,
            kind,
            name,
            update_meta,
        }
    }
}

/// A member that is a string.
#[inline]
pub(crate) fn string(member: &str) -> Option<Cow<'_, str>> {
    JsonStr::new(member)?.decode()
}
