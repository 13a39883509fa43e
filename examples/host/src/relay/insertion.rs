//! Insertion of text into forwarded lines, and answers instead of forwarding.

use super::answers::{Answers, SharedInput};
use super::whole_write::write;
use crate::system::End;
use core::ops::Range;
use jsonrpc_core::framing::Lines;
use jsonrpc_core::transcript::Direction;
use std::fmt::Debug;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::Instant;

/// Reads each line before it is forwarded, and may insert text or answer it.
///
/// Each direction calls it on a thread of its own, and forwards nothing until the call returns.
pub trait Insert: Debug + Send + Sync {
    /// Returns the treatment of a line, which is given without its line end.
    fn treat(&self, direction: Direction, at: Instant, line: &[u8]) -> Treatment;

    /// Reports a line over [`Lines::DEFAULT_LIMIT`], which is forwarded unchanged.
    fn too_long(&self);
}

/// The observer of forwarded bytes.
#[derive(Clone, Debug)]
pub enum Observer {
    /// Bytes are kept in a [`Tap`](super::Tap).
    Copies,
    /// Lines pass through this.
    Inserts(Arc<dyn Insert>),
    /// No observer.
    Nothing,
}

/// The treatment of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a line is forwarded or not")]
pub enum Treatment {
    /// The line is forwarded unchanged.
    Forward,
    /// The line is forwarded with an insertion.
    Insert(Insertion),
    /// A line of the agent is not forwarded: the agent gets this line, given without its line end.
    /// A line of the editor is forwarded unchanged.
    Answer(String),
}

/// Text for a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Insertion {
    /// The replaced bytes; an empty range inserts.
    pub at: Range<usize>,
    /// The text.
    pub text: String,
}

/// The lines of one direction. An incomplete line is held back.
#[derive(Debug)]
pub(crate) struct LineInserter {
    insert: Arc<dyn Insert>,
    direction: Direction,
    ends: InputEnd,
    unfinished: Vec<u8>,
    /// Within a line that is too long.
    is_passing: bool,
    passed: Vec<u8>,
}

/// The end of the agent's input that a direction uses.
#[derive(Debug)]
pub(crate) enum InputEnd {
    /// Lines of the editor share the input with answers.
    Editor(SharedInput),
    /// Lines of the agent may be answered.
    Agent(Answers),
}

/// Capacity of a buffer that is kept for the next lines.
const USUAL: usize = 1 << 20;

impl LineInserter {
    pub(crate) fn new(insert: Arc<dyn Insert>, direction: Direction, ends: InputEnd) -> Self {
        let unfinished = Vec::new();
        let passed = Vec::new();
        Self { insert, direction, ends, unfinished, is_passing: false, passed }
    }

    /// Forwards the next bytes.
    pub(crate) fn forward(
        &mut self,
        at: Instant,
        bytes: &[u8],
        sink: &mut (impl Write + End),
    ) -> io::Result<()> {
        self.push(at, bytes);
        self.write(sink)
    }

    /// Forwards the rest at the end of the stream.
    pub(crate) fn forward_rest(
        &mut self,
        at: Instant,
        sink: &mut (impl Write + End),
    ) -> io::Result<()> {
        self.finish(at);
        self.write(sink)
    }

    fn write(&self, sink: &mut (impl Write + End)) -> io::Result<()> {
        match &self.ends {
            InputEnd::Editor(input) => input.forward(sink, &self.passed),
            InputEnd::Agent(_) => write(sink, &self.passed),
        }
    }

    /// Takes the next bytes; returns those to forward.
    fn push(&mut self, at: Instant, bytes: &[u8]) -> &[u8] {
        self.passed.clear();
        self.passed.shrink_to(USUAL);
        for piece in bytes.split_inclusive(|&byte| byte == b'\n') {
            let is_whole = piece.ends_with(b"\n");
            if self.is_passing {
                self.passed.extend_from_slice(piece);
                self.is_passing = !is_whole;
            } else if is_whole && self.unfinished.is_empty() {
                self.pass(at, piece);
            } else {
                self.unfinished.extend_from_slice(piece);
                self.is_passing = !is_whole && self.unfinished.len() > Lines::DEFAULT_LIMIT;
                if is_whole || self.is_passing {
                    self.finish_line(at);
                }
            }
        }
        &self.passed
    }

    /// Returns the rest at the end of the stream.
    fn finish(&mut self, at: Instant) -> &[u8] {
        self.passed.clear();
        self.finish_line(at);
        &self.passed
    }

    fn finish_line(&mut self, at: Instant) {
        let line = core::mem::take(&mut self.unfinished);
        self.pass(at, &line);
    }

    /// Forwards a line, with its line end if it has one.
    fn pass(&mut self, at: Instant, line: &[u8]) {
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        let treatment = if text.len() > Lines::DEFAULT_LIMIT {
            self.insert.too_long();
            Treatment::Forward
        } else if text.is_empty() {
            Treatment::Forward
        } else {
            self.insert.treat(self.direction, at, text)
        };
        let insertion = match treatment {
            Treatment::Forward => None,
            Treatment::Insert(insertion) => Some(insertion),
            Treatment::Answer(answer) => match &self.ends {
                // Without an agent that reads, nothing needs the answer.
                InputEnd::Agent(answers) => return drop(answers.send(Some(answer))),
                InputEnd::Editor(_) => None,
            },
        };
        let pieces = insertion.as_ref().and_then(|insertion| {
            let after = line.get(insertion.at.end..)?;
            Some([line.get(..insertion.at.start)?, insertion.text.as_bytes(), after])
        });
        match pieces {
            Some(pieces) => pieces.iter().for_each(|piece| self.passed.extend_from_slice(piece)),
            None => self.passed.extend_from_slice(line),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::sync::atomic::{AtomicU64, Ordering};

    /// Replaces the second byte of lines that start with `x` by `+`.
    #[derive(Debug, Default)]
    struct Plus {
        long: AtomicU64,
    }

    impl Insert for Plus {
        fn treat(&self, _: Direction, _: Instant, line: &[u8]) -> Treatment {
            match line.first() {
                Some(b'x') => Treatment::Insert(Insertion { at: 1..2, text: "+".to_owned() }),
                Some(b'?') => Treatment::Answer("!".to_owned()),
                _ => Treatment::Forward,
            }
        }

        fn too_long(&self) {
            self.long.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn passed(pieces: &[&[u8]]) -> (Vec<Vec<u8>>, Vec<u8>, u64) {
        let plus = Arc::new(Plus::default());
        let insert: Arc<dyn Insert> = Arc::<Plus>::clone(&plus);
        let ends = InputEnd::Editor(SharedInput::default());
        let mut inserting = LineInserter::new(insert, Direction::Sent, ends);
        let now = Instant::now();
        let passed = pieces.iter().map(|piece| inserting.push(now, piece).to_vec()).collect();
        (passed, inserting.finish(now).to_vec(), plus.long.load(Ordering::Relaxed))
    }

    #[test]
    fn something_is_put_into_whole_lines() {
        let (pieces, rest, _) = passed(&[b"x-a\r\n\ny-\n", b"x-", b"b", b"\nx-c"]);
        assert_eq!(pieces, [&b"x+a\r\n\ny-\n"[..], b"", b"", b"x+b\n"]);
        assert_eq!(rest, b"x+c");
    }

    /// A range outside of the line is ignored.
    #[test]
    fn a_place_outside_of_the_line_is_none() {
        assert_eq!(passed(&[b"x\n", b"x"]).0, [&b"x+"[..], b""]);
        assert_eq!(passed(&[b"x"]).1, b"x");
    }

    #[test]
    fn answered_line_of_the_agent_is_not_forwarded() {
        assert_eq!(passed(&[b"?\na\n"]).0, [b"?\na\n"], "a line of the editor");
        let (send, receive) = super::super::answers::answers();
        let insert: Arc<dyn Insert> = Arc::new(Plus::default());
        let mut inserting = LineInserter::new(insert, Direction::Received, InputEnd::Agent(send));
        let now = Instant::now();
        assert_eq!(inserting.push(now, b"a\n?"), b"a\n");
        assert_eq!(inserting.push(now, b"x\r\nb\n"), b"b\n");
        assert_eq!(receive.try_iter().collect::<Vec<_>>(), [Some("!".to_owned())]);
    }

    #[test]
    fn a_line_that_is_too_long_passes_as_it_comes() {
        let limit = Lines::DEFAULT_LIMIT;
        let long = vec![b'x'; limit + 1];
        let (pieces, rest, count) = passed(&[&long, b"xx", b"xx\nx-a\n"]);
        assert!(pieces == [&long[..], b"xx", b"xx\nx+a\n"]);
        assert_eq!(&*rest, &b""[..]);
        assert_eq!(count, 1);
        let ends = [&long[..], b"\n"].concat();
        let (pieces, _, count) = passed(&[&ends, b"x-\n"]);
        assert!(pieces == [&ends[..], b"x+\n"]);
        assert_eq!(count, 1);
        let (pieces, _, count) = passed(&[&ends[1..]]);
        assert!(pieces[0].len() == limit + 1 && pieces[0][1] == b'+');
        assert_eq!(count, 0);
    }
}
