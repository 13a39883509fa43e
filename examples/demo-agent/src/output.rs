//! Writing to standard output.

use core::pin::Pin;
use core::task::{Context, Poll};
use futures::Sink;
use jsonrpc_core::framing::Frame;
use std::io::{self, Write};

/// Standard output. Each write is flushed; if the client does not read, the agent blocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Output;

impl Output {
    /// Writes a line that is not a message.
    pub(crate) fn noise(self, line: &str) {
        self.line(line.as_bytes());
    }

    fn line(self, line: &[u8]) {
        let mut out = io::stdout().lock();
        // After a closed output, the end of the input follows.
        let _ = out.write_all(line).and_then(|()| out.write_all(b"\n")).and_then(|()| out.flush());
    }
}

impl Sink<Frame> for Output {
    type Error = io::Error;

    fn poll_ready(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn start_send(self: Pin<&mut Self>, frame: Frame) -> io::Result<()> {
        self.line(frame.as_bytes());
        Ok(())
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
