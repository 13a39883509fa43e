//! Answers to the agent that do not come from the editor, between the editor's lines.

use super::whole_write::write;
use crate::system::End;
use std::io::Write;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// The agent's input, which the editor's bytes and answers share.
#[derive(Clone, Debug, Default)]
pub(crate) struct SharedInput(Arc<(Mutex<Place>, Condvar)>);

/// The place of the editor's bytes.
#[derive(Debug, Default)]
struct Place {
    is_within_line: bool,
    is_closed: bool,
}

/// Sends answers; `None` is the end.
pub(crate) type Answers = Sender<Option<String>>;

/// Creates the queue of answers. The agent's output is read on, while an answer waits for its
/// input.
pub(crate) fn answers() -> (Answers, Receiver<Option<String>>) {
    channel()
}

impl SharedInput {
    /// Writes bytes of the editor.
    pub(crate) fn forward(
        &self,
        sink: &mut (impl Write + End),
        bytes: &[u8],
    ) -> std::io::Result<()> {
        let mut place = self.lock();
        if let Some(last) = bytes.last() {
            place.is_within_line = *last != b'\n';
        }
        let written = write(sink, bytes);
        drop(place);
        self.0.1.notify_all();
        written
    }

    /// Handles the end of the editor's bytes: no answer is written any more.
    pub(crate) fn close(&self) {
        self.lock().is_closed = true;
        self.0.1.notify_all();
    }

    /// Writes answers between the editor's lines until the input is closed.
    pub(crate) fn write_answers(
        &self,
        answers: &Receiver<Option<String>>,
        mut sink: impl Write + End,
    ) {
        while let Ok(Some(answer)) = answers.recv() {
            let within = |place: &mut Place| place.is_within_line && !place.is_closed;
            let place = self.0.1.wait_while(self.lock(), within);
            let place = place.unwrap_or_else(PoisonError::into_inner);
            if place.is_closed || write(&mut sink, format!("{answer}\n").as_bytes()).is_err() {
                return;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Place> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use std::io::{self, BufRead, BufReader};
    use std::thread;

    #[test]
    fn answer_is_written_after_the_line_of_the_editor() {
        let input = SharedInput::default();
        let (send, receive) = answers();
        let (output, mut editor) = io::pipe().unwrap();
        let answering = editor.try_clone().unwrap();
        input.forward(&mut editor, b"{\"a\":").unwrap();
        thread::scope(|threads| {
            let shared = input.clone();
            threads.spawn(move || shared.write_answers(&receive, answering));
            send.send(Some("answer".to_owned())).unwrap();
            input.forward(&mut editor, b"1}\n").unwrap();
            let mut lines = BufReader::new(output).lines();
            assert_eq!(lines.next().unwrap().unwrap(), "{\"a\":1}");
            assert_eq!(lines.next().unwrap().unwrap(), "answer");
            // An answer after the end is dropped, and the second writer is closed.
            input.close();
            send.send(Some("late".to_owned())).unwrap();
            drop(editor);
            assert!(lines.next().is_none());
        });
    }

    #[test]
    fn end_within_a_line_drops_the_answers() {
        let input = SharedInput::default();
        let (send, receive) = answers();
        let (mut output, mut editor) = io::pipe().unwrap();
        let answering = editor.try_clone().unwrap();
        input.forward(&mut editor, b"{\"a\":").unwrap();
        thread::scope(|threads| {
            let shared = input.clone();
            threads.spawn(move || shared.write_answers(&receive, answering));
            send.send(Some("answer".to_owned())).unwrap();
            input.close();
            drop(editor);
            let mut text = String::new();
            io::Read::read_to_string(&mut output, &mut text).unwrap();
            assert_eq!(text, "{\"a\":");
        });
    }
}
