//! The fast path for text: from the agent's line to the frame for the run's log.
//!
//! Most lines of an agent are pieces of one message or thought. The text of such a line is copied
//! into the frame with its escapes, without decoding. A line that differs from the previous one
//! only in its text and a number is not even peeked at. All other lines pass through the
//! connection.
use super::Hub;
use super::shape::Shape;
use super::text_piece::TextPiece;
use super::threads::ThreadNumber;
use crate::conversation::OpenText;
use crate::outbox::Voice;
use acp_types::client::SessionKey;
use agui_types::id::{MessageId, RunId};
use agui_types::sse::{DeltaWriter, JsonString};
use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;
use jsonrpc_core::{JsonStr, PeekedMessage};

/// Maximum number of known open texts.
const MAX_TEXTS: usize = 8;

/// The open texts that may use the fast path, the most recent first.
#[derive(Debug, Default)]
pub(super) struct FastTexts {
    texts: Vec<FastText>,
    /// Thread and time of the last piece, unless another input has been handled since.
    pub(super) settled: Option<(ThreadNumber, Duration)>,
}

/// The open text of a thread, and the shape of its lines.
#[derive(Debug)]
struct FastText {
    thread: ThreadNumber,
    session: SessionKey,
    /// Id of the session, as JSON text.
    session_id: String,
    run_id: RunId,
    message: MessageId,
    voice: Voice,
    /// The agent's id of the message.
    key: Option<String>,
    writer: DeltaWriter,
    shape: Shape,
}

impl Hub {
    /// Handles a line that differs from the previous one of an open text only in its text and a
    /// number. Returns `false` for other lines, without an effect.
    pub(super) fn handle_similar(&mut self, line: &str, now: Duration) -> bool {
        let mut found = self.texts.texts.iter().enumerate();
        let Some((place, text)) = found.find_map(|(place, it)| Some((place, it.shape.text(line)?)))
        else {
            return false;
        };
        self.write_text(place, text, now)
    }

    /// Handles a peeked message, on the fast path or through the connection.
    pub(super) fn handle_message(&mut self, line: &PeekedMessage<'_>, now: Duration) {
        let piece = TextPiece::read(line);
        if let Some(piece) = &piece
            && self.handle_piece(line, piece, now)
        {
            return;
        }
        let Some(connection) = &mut self.connection else { return };
        connection.handle_peeked(line, now);
        self.text_thread = None;
        self.drive(now);
        if let (Some(piece), Some(thread)) = (piece, self.text_thread.take()) {
            self.note_text(line, &piece, thread);
        }
    }

    /// Handles a line that continues an open text. Returns `false` for other lines, without an
    /// effect.
    fn handle_piece(
        &mut self,
        line: &PeekedMessage<'_>,
        piece: &TextPiece<'_>,
        now: Duration,
    ) -> bool {
        let Some(place) = self.texts.texts.iter().position(|it| it.is_continued_by(piece)) else {
            return false;
        };
        if !self.write_text(place, piece.text, now) {
            return false;
        }
        if let Some(text) = self.texts.texts.first_mut() {
            text.shape.learn(line.line(), piece.text);
        }
        true
    }

    /// Writes the frame of a text in quotes, if it is one event without other effects.
    fn write_text(&mut self, place: usize, text: &str, now: Duration) -> bool {
        self.texts.texts.swap(0, place);
        let Some(known) = self.texts.texts.first() else { return false };
        let number = known.thread;
        let Some(thread) = self.threads.get_mut(number) else { return false };
        let parsed = JsonString::parse(text).ok().filter(|(_, value)| !value.is_empty());
        let Some((delta, value)) = parsed else { return false };
        if thread.session.is_none_or(|(_, key)| key != known.session) {
            return false;
        }
        let conversation = &mut thread.conversation;
        let is_settled = self.texts.settled == Some((number, now));
        let is_handled = if is_settled {
            conversation.handle_more_text(&known.message, &value)
        } else {
            conversation.handle_text(&known.message, &value, now)
        };
        if !is_handled {
            return false;
        }
        self.run_events.push_text(&thread.name, &known.run_id, |frames| {
            known.writer.write_escaped(frames, delta);
        });
        if !is_settled {
            self.settle(number, now);
            self.texts.settled = Some((number, now));
        }
        true
    }

    /// Records the text that a line has begun or continued.
    fn note_text(&mut self, line: &PeekedMessage<'_>, piece: &TextPiece<'_>, number: ThreadNumber) {
        let Some(thread) = self.threads.get(number) else { return };
        let (Some((_, session)), Some(open)) = (thread.session, thread.conversation.open_text())
        else {
            return;
        };
        let mut text = FastText::new(number, session, piece.session, &open);
        if !text.is_continued_by(piece) {
            return;
        }
        text.shape.learn(line.line(), piece.text);
        self.texts.texts.retain(|it| it.thread != number);
        self.texts.texts.insert(0, text);
        self.texts.texts.truncate(MAX_TEXTS);
    }
}

impl FastText {
    fn new(
        thread: ThreadNumber,
        session: SessionKey,
        session_id: &str,
        open: &OpenText<'_>,
    ) -> Self {
        let writer = match open.voice {
            Voice::Thought => DeltaWriter::reasoning_message(open.message),
            Voice::Agent | Voice::User => DeltaWriter::text_message(open.message),
        };
        Self {
            thread,
            session,
            session_id: session_id.to_owned(),
            run_id: open.run_id.clone(),
            message: open.message.clone(),
            voice: open.voice,
            key: open.key.map(ToOwned::to_owned),
            writer,
            shape: Shape::default(),
        }
    }

    fn is_continued_by(&self, piece: &TextPiece<'_>) -> bool {
        let tag = match self.voice {
            Voice::Agent => "\"agent_message_chunk\"",
            Voice::Thought => "\"agent_thought_chunk\"",
            Voice::User => return false,
        };
        let is_same = |id: JsonStr<'_>| self.key.as_deref().is_some_and(|key| id == key);
        piece.tag == tag && piece.session == self.session_id && piece.message_id.is_none_or(is_same)
    }
}
