//! Text of the agent that changes nothing.
use super::members::Update;
use crate::attribute::MAX_NAME_BYTES;
use alloc::string::String;
use alloc::vec::Vec;

/// Knows updates that only say more of what was said last, while none of it is recorded.
#[derive(Debug)]
pub(super) struct Quiet {
    /// The session, as JSON text, in which more text changes nothing; empty where that is not known.
    session: String,
    /// What such updates start with, as far as they were read: one that starts so says the same as far as it is read. Empty
    /// where that is not known.
    starts: [Vec<u8>; 2],
}

/// A start that is longer is not kept: it has text in it, so another line will hardly start with it.
const MAX_START: usize = 2 * MAX_NAME_BYTES;

impl Default for Quiet {
    /// With all the memory that it will take.
    fn default() -> Self {
        let start = || Vec::with_capacity(MAX_START);
        Self { session: String::with_capacity(MAX_NAME_BYTES), starts: [start(), start()] }
    }
}

impl Quiet {
    /// Whether a line of the agent starts as one that said nothing new.
    #[inline]
    pub(super) fn knows(&self, line: &[u8]) -> bool {
        self.starts.iter().any(|start| !start.is_empty() && line.starts_with(start))
    }

    /// Whether an update says nothing new; `line` is its line.
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

    /// From now on more text changes nothing in this session, named as JSON text.
    pub(super) fn begin(&mut self, session: &str) {
        self.forget();
        if session.len() <= MAX_NAME_BYTES {
            self.session.push_str(session);
        }
    }

    /// Something happened.
    pub(super) fn forget(&mut self) {
        self.session.clear();
        self.starts.iter_mut().for_each(Vec::clear);
    }
}
