//! Detection of text updates that have no effect.
use crate::acp::members::Update;
use crate::attribute::MAX_NAME_BYTES;
use alloc::vec::Vec;

/// Recognizes updates that only continue the last text, while text is not recorded.
#[derive(Debug)]
pub(super) struct Quiet {
    /// Session in which more text has no effect, as JSON text. Empty if unknown.
    session: Vec<u8>,
    /// Decisive prefixes of such updates, the last used first: a line with the same prefix has the
    /// same effect. Empty if unknown.
    starts: [Vec<u8>; 2],
}

/// Maximum length of a remembered prefix. A longer one contains text, so another line is unlikely
/// to share it.
const MAX_START: usize = 2 * MAX_NAME_BYTES;

impl Default for Quiet {
    /// Allocates all memory in advance.
    fn default() -> Self {
        let start = || Vec::with_capacity(MAX_START);
        Self { session: Vec::with_capacity(MAX_NAME_BYTES), starts: [start(), start()] }
    }
}

impl Quiet {
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
            self.starts.reverse();
        }
        place.is_some()
    }

    #[inline]
    fn place(&self, line: &[u8]) -> Option<usize> {
        self.starts.iter().position(|start| !start.is_empty() && line.starts_with(start))
    }

    /// Returns whether an update has no effect. `line` is its line.
    pub(super) fn is_more(&mut self, update: &Update<'_>, line: &[u8]) -> bool {
        let is_more = !self.session.is_empty()
            && update.members.session == Some(&*self.session)
            && update.members.are_of_text();
        if is_more && let Some(start) = line.get(..update.read).filter(|it| it.len() <= MAX_START) {
            let [newer, older] = &mut self.starts;
            core::mem::swap(newer, older);
            newer.clear();
            newer.extend_from_slice(start);
        }
        is_more
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
        self.starts.iter_mut().for_each(Vec::clear);
    }
}
