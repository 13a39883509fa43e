//! Writes that wait for a non-blocking pipe.
use crate::system::{End, Ready, wait_ready};
use std::io::{self, ErrorKind, Write};

/// Writes all bytes.
pub(crate) fn write(sink: &mut (impl Write + End), mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match sink.write(bytes) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(length) => bytes = bytes.get(length..).unwrap_or_default(),
            Err(error) => wait(&error, sink, Ready::Write)?,
        }
    }
    Ok(())
}

/// Retries after an interrupted call, and after a wait for a non-blocking pipe.
pub(crate) fn wait(error: &io::Error, end: &impl End, ready: Ready) -> io::Result<()> {
    match error.kind() {
        ErrorKind::Interrupted => Ok(()),
        ErrorKind::WouldBlock => wait_ready(end, ready),
        _ => Err(io::Error::new(error.kind(), error.to_string())),
    }
}
