//! Passing bytes on, before anything looks at them.

use crate::tap::Tap;
use core::sync::atomic::{AtomicBool, Ordering};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use semconv_map::Direction;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Instant;

/// How much is read at once: what a pipe holds.
const CHUNK: usize = 64 << 10;

/// Why a relay ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// The source has nothing more.
    Source,
    /// The sink takes no more.
    Sink,
}

/// Passes all of `source` on to `sink`, each read in one write, and leaves a copy in `tap`.
///
/// `holding` is true while bytes were read and are not yet written.
pub(crate) fn relay(
    mut source: impl Read + AsFd,
    mut sink: impl Write + AsFd,
    direction: Direction,
    tap: &Tap,
    holding: &AtomicBool,
) -> Ended {
    let mut buffer = vec![0; CHUNK];
    loop {
        let length = match source.read(&mut buffer) {
            Ok(0) => return Ended::Source,
            Ok(length) => length,
            Err(error) => match wait(&error, source.as_fd(), PollFlags::POLLIN) {
                Ok(()) => continue,
                Err(_) => return Ended::Source,
            },
        };
        let at = Instant::now();
        let bytes = buffer.get(..length).unwrap_or_default();
        holding.store(true, Ordering::SeqCst);
        let written = write(&mut sink, bytes);
        holding.store(false, Ordering::SeqCst);
        tap.offer(direction, at, bytes);
        if written.is_err() {
            return Ended::Sink;
        }
    }
}

/// Reads `source` to its end and forgets it, so that who writes there is not held up.
pub(crate) fn discard(mut source: impl Read + AsFd) {
    let mut buffer = vec![0; CHUNK];
    loop {
        match source.read(&mut buffer) {
            Ok(0) => return,
            Ok(_) => {}
            Err(error) => {
                if wait(&error, source.as_fd(), PollFlags::POLLIN).is_err() {
                    return;
                }
            }
        }
    }
}

fn write(sink: &mut (impl Write + AsFd), mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match sink.write(bytes) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(length) => bytes = bytes.get(length..).unwrap_or_default(),
            Err(error) => wait(&error, sink.as_fd(), PollFlags::POLLOUT)?,
        }
    }
    Ok(())
}

/// Deals with what is no failure: an interrupted call, and an end of a pipe that somebody made non-blocking.
fn wait(error: &io::Error, fd: BorrowedFd<'_>, until: PollFlags) -> io::Result<()> {
    match error.kind() {
        ErrorKind::Interrupted => Ok(()),
        ErrorKind::WouldBlock => match poll(&mut [PollFd::new(fd, until)], PollTimeout::NONE) {
            Ok(_) | Err(nix::errno::Errno::EINTR) => Ok(()),
            Err(errno) => Err(errno.into()),
        },
        _ => Err(io::Error::new(error.kind(), error.to_string())),
    }
}
