//! The contextual tools of sessions, within bounds.
use super::{MAX_SESSION_BYTES, MAX_SESSIONS, MAX_TOOL_BYTES, MAX_TOOLS};
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::{DecodeError, Extra, Raw};
use serde::{Deserialize, Serialize};

/// The tools of each session's turn, by the page's names.
///
/// Tools are copied on insertion and on retrieval: changes to either copy do not affect the store.
///
/// | | |
/// |---|---|
/// | an entry that is not JSON, or exceeds a limit | skipped, and returned with the reason |
/// | no entries, or none that is accepted | the session has no tools |
/// | an empty session id | ignored; not found |
/// | deletion of an absent session | ignored |
/// | an entry that is JSON but not a tool | kept and returned; no call matches it |
///
/// **Threads.** The store has no lock, since the crate does not depend on an operating system. It
/// is `Send` and `Sync`; reads take `&self` and writes `&mut self`. Share it in an `RwLock` or a
/// `Mutex`. Retrieved tools are copies, so the lock need not outlive the call.
///
/// ```
/// use agui_bridge::contextual_tools::ContextualToolsStore;
/// use jsonrpc_core::wire::Raw;
/// use std::sync::RwLock;
///
/// let store = RwLock::new(ContextualToolsStore::new());
/// std::thread::scope(|scope| {
///     for session in ["a", "b"] {
///         let store = &store;
///         scope.spawn(move || {
///             let tool = Raw::from_text(r#"{"name":"go","description":""}"#).unwrap();
///             store.write().unwrap().set(session, [tool]);
///         });
///     }
/// });
/// assert_eq!(store.read().unwrap().get("a").map(|tools| tools.len()), Some(1));
/// ```
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ContextualToolsStore {
    sessions: BTreeMap<Box<str>, Vec<Raw>>,
}

/// An entry that was not stored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("tools[{index}]: {reason}")]
pub struct SkippedTool {
    /// Index of the entry, from zero.
    pub index: usize,
    /// The reason.
    pub reason: SkipReason,
}

/// The reason why an entry was not stored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SkipReason {
    /// The entry is not JSON.
    #[error("{0}")]
    NotJson(DecodeError),
    /// The entry exceeds [`MAX_TOOL_BYTES`].
    #[error("expected at most {MAX_TOOL_BYTES} bytes")]
    TooLarge,
    /// The session's tools would exceed [`MAX_SESSION_BYTES`].
    #[error("expected at most {MAX_SESSION_BYTES} bytes of tools")]
    TooMuch,
    /// [`MAX_TOOLS`] entries precede it.
    #[error("expected at most {MAX_TOOLS} tools")]
    TooMany,
    /// [`MAX_SESSIONS`] other sessions have tools.
    #[error("{MAX_SESSIONS} other sessions have tools")]
    StoreFull,
}

impl ContextualToolsStore {
    /// Creates a store without sessions.
    pub fn new() -> Self {
        Self::default()
    }

    /// Replaces the tools of a session. Returns the entries that were not stored.
    pub fn set(
        &mut self,
        session_id: &str,
        tools: impl IntoIterator<Item = impl Into<ToolText>>,
    ) -> Vec<SkippedTool> {
        let mut kept = Vec::new();
        let mut skipped = Vec::new();
        let mut bytes = 0;
        if session_id.is_empty() {
            return skipped;
        }
        let full = !self.sessions.contains_key(session_id) && self.sessions.len() >= MAX_SESSIONS;
        for (index, tool) in tools.into_iter().enumerate() {
            let checked = if full {
                Err(SkipReason::StoreFull)
            } else {
                check(tool.into(), kept.len(), bytes)
            };
            match checked {
                Ok(tool) => {
                    bytes += tool.as_str().len();
                    kept.push(tool);
                }
                Err(reason) => skipped.push(SkippedTool { index, reason }),
            }
        }
        if kept.is_empty() {
            self.sessions.remove(session_id);
        } else {
            self.sessions.insert(session_id.into(), kept);
        }
        skipped
    }

    /// Deletes the tools of a session, at the end of its turn.
    pub fn delete(&mut self, session_id: &str) {
        self.sessions.remove(session_id);
    }

    /// Returns a copy of a session's tools, or `None` if it has none.
    pub fn get(&self, session_id: &str) -> Option<Vec<Raw>> {
        self.sessions.get(session_id).cloned()
    }

    /// Returns whether a session has a tool with the page's name `name`.
    pub fn has(&self, session_id: &str, name: &str) -> bool {
        let named = |tool: &Raw| {
            let members = tool.decode::<Extra>().ok();
            let own = members.as_ref().and_then(|members| members.get("name"));
            own.is_some_and(|own| own.decode::<String>().is_ok_and(|own| own == name))
        };
        self.sessions.get(session_id).is_some_and(|tools| tools.iter().any(named))
    }
}

/// The JSON text of a tool, or the error of reading it.
#[derive(Clone, Debug)]
pub struct ToolText(Result<Raw, DecodeError>);

impl From<Raw> for ToolText {
    fn from(tool: Raw) -> Self {
        Self(Ok(tool))
    }
}

impl From<&str> for ToolText {
    fn from(tool: &str) -> Self {
        Self(Raw::from_text(tool))
    }
}

fn check(tool: ToolText, kept: usize, bytes: usize) -> Result<Raw, SkipReason> {
    let tool = tool.0.map_err(SkipReason::NotJson)?;
    if tool.as_str().len() > MAX_TOOL_BYTES {
        Err(SkipReason::TooLarge)
    } else if kept >= MAX_TOOLS {
        Err(SkipReason::TooMany)
    } else if tool.as_str().len() > MAX_SESSION_BYTES - bytes {
        Err(SkipReason::TooMuch)
    } else {
        Ok(tool)
    }
}
