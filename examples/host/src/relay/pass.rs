//! Forwarding of bytes.

use super::insertion::{InputEnd, LineInserter, Observer};
use super::tap::{BufferPrefix, Tap};
use super::whole_write::{wait, write};
use crate::system::{End, Ready, widen};
use core::sync::atomic::{AtomicU64, Ordering};
use jsonrpc_core::transcript::Direction;
use std::collections::VecDeque;
use std::io::{Read, Write};
use std::iter::repeat_n;
use std::sync::Arc;
use std::time::Instant;

/// Size of a read: the capacity of a pipe, until it is widened.
const CHUNK: usize = 64 << 10;

/// Number of observed buffers that are kept for the next reads, because new memory costs more than
/// a read.
const KEPT_BUFFERS: usize = 32;

/// Why a relay ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum RelayEnd {
    /// The source has ended.
    Source,
    /// The sink is closed.
    Sink,
}

/// Treatment of bytes before they are written.
#[derive(Debug)]
pub(crate) enum PassMode<'a> {
    /// Bytes are kept for the observer.
    Copy(Direction, &'a Tap),
    /// Lines may get insertions.
    Insert(LineInserter),
    /// Bytes are not observed.
    Pass,
}

impl<'a> PassMode<'a> {
    pub(crate) fn of(
        watching: Observer,
        direction: Direction,
        tap: &'a Tap,
        ends: InputEnd,
    ) -> Self {
        match watching {
            Observer::Copies => Self::Copy(direction, tap),
            Observer::Inserts(insert) => Self::Insert(LineInserter::new(insert, direction, ends)),
            Observer::Nothing => Self::Pass,
        }
    }
}

/// The number of reads and writes of a relay.
#[derive(Debug, Default)]
pub(crate) struct Progress(AtomicU64);

impl Progress {
    fn advance(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    /// Returns the number. It is odd while bytes were read but not yet written.
    pub(crate) fn count(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }
}

/// Forwards all of `source` to `sink`, each read in one write. The tap gets the bytes before the
/// write, so that a response to them follows them in the tap.
///
pub(crate) fn relay(
    mut source: impl Read + End,
    mut sink: impl Write + End,
    mut before: PassMode<'_>,
    progress: &Progress,
) -> RelayEnd {
    let ended = relay_each(&mut source, &mut sink, &mut before, progress);
    if let PassMode::Insert(lines) = &mut before
        && ended == RelayEnd::Source
        && lines.forward_rest(Instant::now(), &mut sink).is_err()
    {
        return RelayEnd::Sink;
    }
    ended
}

fn relay_each(
    source: &mut (impl Read + End),
    sink: &mut (impl Write + End),
    before: &mut PassMode<'_>,
    progress: &Progress,
) -> RelayEnd {
    let mut buffers = Buffers::default();
    let mut are_wide = false;
    loop {
        let length = match source.read(buffers.next()) {
            Ok(0) => return RelayEnd::Source,
            Ok(length) => length,
            Err(error) => match wait(&error, &source, Ready::Read) {
                Ok(()) => continue,
                Err(_) => return RelayEnd::Source,
            },
        };
        if length == CHUNK && !are_wide {
            // The source is faster than the sink. Larger pipes wake the processes at their other
            // ends less often.
            widen(source);
            widen(sink);
            are_wide = true;
        }
        let at = Instant::now();
        let passing = BufferPrefix { buffer: &buffers.next, length };
        let bytes = passing.bytes();
        progress.advance();
        let written = match before {
            PassMode::Copy(direction, tap) => {
                // The tap first: a response must not precede its request in the tap.
                let observer_sleeps = tap.offer(*direction, at, passing);
                let written = write(sink, bytes);
                if observer_sleeps {
                    tap.wake();
                }
                written
            }
            PassMode::Insert(lines) => lines.forward(at, bytes, sink),
            PassMode::Pass => write(sink, bytes),
        };
        progress.advance();
        if written.is_err() {
            return RelayEnd::Sink;
        }
    }
}

fn new_buffer() -> Arc<[u8]> {
    repeat_n(0, CHUNK).collect()
}

/// Buffers for reads. A buffer in the tap is replaced by another one, and reused after it was
/// observed.
#[derive(Debug)]
struct Buffers {
    next: Arc<[u8]>,
    /// The buffers in the tap, oldest first.
    left: VecDeque<Arc<[u8]>>,
}

impl Default for Buffers {
    fn default() -> Self {
        Self { next: new_buffer(), left: VecDeque::new() }
    }
}

impl Buffers {
    /// Returns a buffer that is not in the tap.
    fn next(&mut self) -> &mut [u8] {
        if Arc::get_mut(&mut self.next).is_none() {
            let next = self.looked_at().unwrap_or_else(new_buffer);
            self.left.push_back(core::mem::replace(&mut self.next, next));
            while self.left.len() > KEPT_BUFFERS && self.looked_at().is_some() {}
        }
        // A shared buffer would be copied.
        Arc::make_mut(&mut self.next)
    }

    /// Takes the oldest buffer in the tap, if it was observed.
    fn looked_at(&mut self) -> Option<Arc<[u8]>> {
        Arc::get_mut(self.left.front_mut()?)?;
        self.left.pop_front()
    }
}

/// Reads `source` to its end and discards it, so that its writer does not block.
pub(crate) fn discard(mut source: impl Read + End) {
    let mut buffer = vec![0; CHUNK];
    loop {
        match source.read(&mut buffer) {
            Ok(0) => return,
            Ok(_) => {}
            Err(error) => {
                if wait(&error, &source, Ready::Read).is_err() {
                    return;
                }
            }
        }
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use crate::relay::TapOutput;
    use std::fs::File;
    use std::io;
    use std::os::fd::{AsFd, BorrowedFd};

    /// A sink that reads the tap at each write.
    struct Sink<'a> {
        tap: &'a Tap,
        file: File,
        written: Vec<u8>,
    }

    impl Write for Sink<'_> {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let TapOutput::Chunks(chunks) = self.tap.take() else { panic!("closed") };
            let chunks: Vec<_> = chunks.iter().map(|chunk| chunk.bytes).collect();
            assert_eq!(chunks, [bytes]);
            self.written.extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl AsFd for &mut Sink<'_> {
        fn as_fd(&self) -> BorrowedFd<'_> {
            self.file.as_fd()
        }
    }

    /// A response can therefore only follow the written bytes in the tap.
    #[test]
    fn the_copy_is_there_before_anybody_can_read_the_bytes() {
        let tap = Tap::default();
        let (source, mut feed) = io::pipe().unwrap();
        feed.write_all(b"{}\n").unwrap();
        drop(feed);
        let file = File::open("/dev/null").unwrap();
        let mut sink = Sink { tap: &tap, file, written: Vec::new() };
        let before = PassMode::Copy(Direction::Sent, &tap);
        let ended = relay(source, &mut sink, before, &Progress::default());
        assert_eq!(ended, RelayEnd::Source);
        assert_eq!(sink.written, b"{}\n");
        tap.close();
        assert!(matches!(tap.take(), TapOutput::End));
    }

    /// Observed bytes do not change, and their memory is reused afterwards.
    #[test]
    fn buffers_that_were_left_are_used_again_once_they_were_looked_at() {
        let mut buffers = Buffers::default();
        let mut looked_at = Vec::new();
        for at in 0..2 * KEPT_BUFFERS {
            buffers.next().fill(at as u8);
            looked_at.push(Arc::clone(&buffers.next));
        }
        buffers.next();
        assert_eq!(buffers.left.len(), looked_at.len());
        for (at, buffer) in looked_at.iter().enumerate() {
            assert!(buffer.iter().all(|byte| *byte == at as u8), "{at}");
        }
        let oldest = looked_at.remove(0).as_ptr();
        looked_at.push(Arc::clone(&buffers.next));
        assert_eq!(buffers.next().as_ptr(), oldest);
        looked_at.clear();
        looked_at.push(Arc::clone(&buffers.next));
        buffers.next();
        assert_eq!(buffers.left.len(), KEPT_BUFFERS);
    }

    /// Low traffic leaves pipes unchanged; a larger pipe is not shrunk.
    #[test]
    #[cfg(target_os = "linux")]
    fn pipes_are_widened_once_more_comes_than_they_hold() {
        use nix::fcntl::{FcntlArg, fcntl};
        let held = |pipe: &dyn AsFd| fcntl(pipe.as_fd(), FcntlArg::F_GETPIPE_SZ).unwrap();
        let widest = std::fs::read_to_string("/proc/sys/fs/pipe-max-size").unwrap();
        let widest = widest.trim().parse::<i32>().unwrap().min(1 << 20);
        for (given, made_for) in
            [(CHUNK, 1 << 16), (CHUNK - 1, 1 << 16), (CHUNK, 1 << 17), (CHUNK, 1 << 21)]
        {
            let (source, mut feed) = io::pipe().unwrap();
            let (mut result, sink) = io::pipe().unwrap();
            for pipe in [&source as &dyn AsFd, &sink] {
                // A larger capacity needs privileges.
                let made = fcntl(pipe.as_fd(), FcntlArg::F_SETPIPE_SZ(made_for));
                assert!(made.is_ok() || made_for > widest);
            }
            let before = held(&source);
            let expected = if given == CHUNK { before.max(widest) } else { before };
            feed.write_all(&vec![7; given]).unwrap();
            let relayed =
                std::thread::spawn(|| relay(source, sink, PassMode::Pass, &Progress::default()));
            result.read_exact(&mut vec![0; given]).unwrap();
            assert_eq!(held(&feed), expected, "{given} {made_for}");
            assert_eq!(held(&result), expected, "{given} {made_for}");
            drop(feed);
            assert_eq!(relayed.join().unwrap(), RelayEnd::Source);
        }
    }

    /// A non-blocking pipe is awaited.
    #[test]
    fn non_blocking_ends_are_waited_for() {
        use nix::fcntl::{FcntlArg, OFlag, fcntl};
        let tap = Tap::default();
        let (source, mut feed) = io::pipe().unwrap();
        let (mut result, sink) = io::pipe().unwrap();
        for fd in [source.as_fd(), sink.as_fd()] {
            fcntl(fd, FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).unwrap();
        }
        let given = vec![7; 3 * CHUNK];
        let expected = given.clone();
        let before = PassMode::Copy(Direction::Received, &tap);
        let ended = std::thread::scope(|threads| {
            let ended = threads.spawn(|| relay(source, sink, before, &Progress::default()));
            threads.spawn(move || feed.write_all(&given).unwrap());
            let mut passed = Vec::new();
            result.read_to_end(&mut passed).unwrap();
            assert!(passed == expected);
            ended.join().unwrap()
        });
        assert_eq!(ended, RelayEnd::Source);
    }
}
