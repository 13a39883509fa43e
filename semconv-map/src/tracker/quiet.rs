//! Detection of text updates that have no effect.
use crate::acp::members::{TEXTS, Update};
use crate::attribute::MAX_NAME_BYTES;
use alloc::vec::Vec;
use jsonrpc_core::framing::Affix;

/// Recognizes updates that only continue the last text, while text is not recorded.
#[derive(Debug)]
pub(super) struct QuietText {
    /// Session in which more text has no effect, as JSON text. Empty if unknown.
    session: Vec<u8>,
    /// For each kind of text, that of the last line first.
    kinds: [QuietKind; 2],
}

/// The lines of one kind of text in the session.
#[derive(Debug)]
struct QuietKind {
    /// The kind of the update, as JSON text.
    kind: &'static [u8],
    /// The decisive prefix of such lines: a line with the same prefix has the same effect. Its
    /// digits may differ, because lines of another session or kind are not learned.
    start: Affix,
}

/// Maximum length of a remembered prefix. A longer one contains text, so another line is unlikely
/// to share it.
const MAX_START: usize = 2 * MAX_NAME_BYTES;

impl Default for QuietText {
    /// Allocates all memory in advance.
    fn default() -> Self {
        let kinds = TEXTS.map(|kind| QuietKind { kind, start: Affix::with_capacity(MAX_START) });
        Self { session: Vec::with_capacity(MAX_NAME_BYTES), kinds }
    }
}

impl QuietText {
    /// Returns whether a line of the agent has a remembered prefix.
    #[inline]
    pub(super) fn knows(&self, line: &[u8]) -> bool {
        self.place(line).is_some()
    }

    /// Returns the same, and compares the next line with this prefix first, because texts of one
    /// kind follow each other.
    #[inline]
    pub(super) fn follow(&mut self, line: &[u8]) -> bool {
        let place = self.place(line);
        if place == Some(1) {
            self.kinds.reverse();
        }
        place.is_some()
    }

    #[inline]
    fn place(&self, line: &[u8]) -> Option<usize> {
        self.kinds.iter().position(|kind| kind.start.strip_prefix(line).is_some())
    }

    /// Returns whether an update has no effect, and learns its line if so.
    pub(super) fn is_more(&mut self, update: &Update<'_>, line: &[u8]) -> bool {
        if self.session.is_empty() || update.members.session != Some(&*self.session) {
            return false;
        }
        let kind = update.members.session_update;
        let Some(kind) = self.kinds.iter_mut().find(|known| kind == Some(known.kind)) else {
            return false;
        };
        if let Some(start) = line.get(..update.read).filter(|start| start.len() <= MAX_START) {
            kind.start.learn(start);
        }
        true
    }

    /// Marks a session, given as JSON text, in which more text has no effect.
    pub(super) fn begin(&mut self, session: &[u8]) {
        self.forget();
        if session.len() <= MAX_NAME_BYTES {
            self.session.extend_from_slice(session);
        }
    }

    /// Forgets the session after any other event.
    pub(super) fn forget(&mut self) {
        self.session.clear();
        self.kinds.iter_mut().for_each(|kind| kind.start.forget());
    }
}
