//! Cursors of a session.
use super::report::{LintLimits, Report};
use super::rule;
use super::value::{Json, shown, text};
use crate::v2::session_cursors::CursorAnchor;
use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use jsonrpc_core::wire::decode;

/// The cursors of a session, by id.
#[derive(Clone, Debug, Default)]
pub(super) struct Cursors(BTreeMap<String, Cursor>);

#[derive(Clone, Debug)]
struct Cursor {
    /// Its first anchor, if it is valid.
    anchor: Option<CursorAnchor>,
    can_fork: bool,
}

impl Cursors {
    /// Checks a new or changed cursor.
    pub(super) fn update(&mut self, update: Json<'_>, limits: &LintLimits, report: &mut Report) {
        let Some(id) = text(update, "cursorId") else { return };
        let anchor = update.get("anchor").filter(|anchor| !anchor.is_null());
        let read = anchor.and_then(|anchor| decode::<CursorAnchor>(anchor.as_text()).ok());
        let pointer = "/params/update/anchor";
        if let Some(cursor) = self.0.get_mut(&*id) {
            if read.is_some() && read != cursor.anchor {
                let message = format!("`{}` had another anchor", shown(&id));
                report.add(&rule::CURSOR_ANCHOR, pointer, message);
            }
        } else {
            if anchor.is_none() {
                let message = format!("`{}` is new, and has no anchor", shown(&id));
                report.add(&rule::CURSOR_ANCHOR, "/params/update", message);
            }
            if self.0.len() >= limits.names {
                return;
            }
            let id = id.clone().into_owned();
            self.0.insert(id, Cursor { anchor: read, can_fork: false });
        }
        if let Some(capabilities) = update.get("capabilities")
            && let Some(cursor) = self.0.get_mut(&*id)
        {
            cursor.can_fork = capabilities.get("fork").is_some_and(Json::is_object);
        }
    }

    /// Checks a fork.
    pub(super) fn fork(&self, params: Json<'_>, report: &mut Report) {
        let Some(id) = text(params, "cursorId").map(Cow::into_owned) else { return };
        let message = match self.0.get(&id) {
            Some(cursor) if cursor.can_fork => return,
            Some(_) => format!("`{}` does not offer a fork", shown(&id)),
            None => format!("the session has no cursor `{}`", shown(&id)),
        };
        report.add(&rule::CURSOR_UNKNOWN, "/params/cursorId", message);
    }
}
