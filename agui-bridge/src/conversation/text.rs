//! Pieces of an open text, which are most of the updates.
use super::Conversation;
use crate::outbox::Voice;
use agui_types::id::{MessageId, RunId};
use core::time::Duration;

/// The open text in the stream of a run.
#[derive(Debug)]
pub(crate) struct OpenText<'a> {
    pub(crate) run_id: &'a RunId,
    pub(crate) voice: Voice,
    /// The agent's id of the message.
    pub(crate) key: Option<&'a str>,
    pub(crate) message: &'a MessageId,
}

impl Conversation {
    /// Returns the open text if a further piece of it is one event without other effects.
    pub(crate) fn open_text(&self) -> Option<OpenText<'_>> {
        if !self.events.is_empty() {
            return None;
        }
        let run_id = &self.active.as_ref()?.run_id;
        let (voice, key, message) = self.translator.plain_text()?;
        Some(OpenText { run_id, voice, key, message })
    }

    /// Handles a piece of the open text. The caller encodes its event. Returns `false` without an
    /// effect if the text is not open, or the piece is too long for one event.
    pub(crate) fn handle_text(&mut self, message: &MessageId, text: &str, now: Duration) -> bool {
        self.begin_input(now);
        let is_handled = self.handle_more_text(message, text);
        if is_handled {
            self.page.machine.note_activity(self.now);
            self.translator.note_activity();
        }
        is_handled
    }

    /// As [`handle_text`](Self::handle_text), for a piece at the time of the previous one, without
    /// another input between them: neither time limits nor outputs can have changed.
    pub(crate) fn handle_more_text(&mut self, message: &MessageId, text: &str) -> bool {
        let Some(open) = self.open_text() else { return false };
        if open.message != message || text.len() > self.translator.delta_limit() {
            return false;
        }
        if matches!(open.voice, Voice::Agent) {
            self.memory.handle_text(message, text);
        }
        true
    }
}
