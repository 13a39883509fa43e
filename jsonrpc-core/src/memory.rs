//! An in-memory connection, for tests.
use crate::framing::{Frame, FrameError};
use core::pin::Pin;
use core::task::{Context as Task, Poll};
use futures::channel::mpsc;
use futures::{Sink, SinkExt, Stream, StreamExt};
use std::io;

/// The reader and the writer of one end.
pub type End = (Reader, Writer);

/// Creates two connected ends: frames arrive in order, and a full direction waits. Each direction
/// holds `capacity` frames and one more.
///
/// ```
/// use futures::executor::block_on;
/// use futures::{SinkExt, StreamExt};
/// use jsonrpc_core::memory;
///
/// let ((_, mut write), (mut read, _)) = memory::duplex(1);
/// block_on(async {
///     write.send("{}".into()).await?;
///     drop(write);
///     let frame = read.next().await.ok_or(std::io::ErrorKind::UnexpectedEof)??;
///     assert_eq!(frame, Ok("{}".into()));
///     assert!(read.next().await.is_none());
///     Ok::<(), std::io::Error>(())
/// })?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn duplex(capacity: usize) -> (End, End) {
    let (left, from_left) = mpsc::channel(capacity);
    let (right, from_right) = mpsc::channel(capacity);
    ((Reader(from_right), Writer(left)), (Reader(from_left), Writer(right)))
}

/// Yields the frames of the other end, and ends when that is dropped or closed.
#[derive(Debug)]
pub struct Reader(mpsc::Receiver<Frame>);

impl Stream for Reader {
    type Item = io::Result<Result<Frame, FrameError>>;

    fn poll_next(mut self: Pin<&mut Self>, task: &mut Task<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_next_unpin(task).map(|frame| frame.map(|frame| Ok(Ok(frame))))
    }
}

/// Sends frames to the other end; fails with [`io::ErrorKind::BrokenPipe`] when that is dropped.
#[derive(Debug)]
pub struct Writer(mpsc::Sender<Frame>);

impl Writer {
    fn broken(_: mpsc::SendError) -> io::Error {
        io::ErrorKind::BrokenPipe.into()
    }
}

impl Sink<Frame> for Writer {
    type Error = io::Error;

    fn poll_ready(mut self: Pin<&mut Self>, task: &mut Task<'_>) -> Poll<io::Result<()>> {
        self.0.poll_ready(task).map_err(Self::broken)
    }

    fn start_send(mut self: Pin<&mut Self>, frame: Frame) -> io::Result<()> {
        self.0.start_send(frame).map_err(Self::broken)
    }

    fn poll_flush(mut self: Pin<&mut Self>, task: &mut Task<'_>) -> Poll<io::Result<()>> {
        self.0.poll_flush_unpin(task).map_err(Self::broken)
    }

    fn poll_close(mut self: Pin<&mut Self>, task: &mut Task<'_>) -> Poll<io::Result<()>> {
        self.0.poll_close_unpin(task).map_err(Self::broken)
    }
}
