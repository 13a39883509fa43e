//! Lines on their way to an agent: a queue that is bounded in bytes, and the task that empties it.
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// Maximum number of unwritten bytes; an agent that far behind has stopped reading.
const MAX_UNWRITTEN: usize = 64 * 1024 * 1024;

/// How long the unwritten lines may take when the connection ends.
const FLUSH_TIME: Duration = Duration::from_secs(1);

/// The agent does not read.
#[derive(Debug, thiserror::Error)]
#[error("the agent does not read what it is sent")]
pub struct LineSendError;

/// Takes lines for the writer, each with its line feed. Never waits.
#[derive(Clone, Debug)]
pub struct LineSender {
    lines: mpsc::UnboundedSender<Vec<u8>>,
    unwritten: Arc<AtomicUsize>,
}

impl LineSender {
    /// Queues a line.
    ///
    /// # Errors
    /// Too many bytes are unwritten, or the writer has ended.
    pub fn send(&self, line: Vec<u8>) -> Result<(), LineSendError> {
        let length = line.len();
        let unwritten = self.unwritten.fetch_add(length, Ordering::Relaxed).saturating_add(length);
        if unwritten > MAX_UNWRITTEN {
            return Err(LineSendError);
        }
        self.lines.send(line).map_err(|_| LineSendError)
    }
}

/// The writer's end of the queue.
#[derive(Debug)]
pub struct LineReceiver {
    lines: mpsc::UnboundedReceiver<Vec<u8>>,
    unwritten: Arc<AtomicUsize>,
    /// Bytes of the line that was taken last.
    taken: usize,
}

/// Creates a queue of lines.
pub fn queue() -> (LineSender, LineReceiver) {
    let (sender, lines) = mpsc::unbounded_channel();
    let unwritten = Arc::new(AtomicUsize::new(0));
    let outgoing = LineSender { lines: sender, unwritten: unwritten.clone() };
    (outgoing, LineReceiver { lines, unwritten, taken: 0 })
}

impl LineReceiver {
    /// Waits for the next line. The line before counts as written.
    pub async fn next(&mut self) -> Option<Vec<u8>> {
        self.unwritten.fetch_sub(self.taken, Ordering::Relaxed);
        self.taken = 0;
        let line = self.lines.recv().await?;
        self.taken = line.len();
        Some(line)
    }
}

/// The task that writes.
#[derive(Debug)]
pub struct Writer(JoinHandle<()>);

impl Writer {
    pub(super) fn new(task: JoinHandle<()>) -> Self {
        Self(task)
    }

    /// Lets the task write the queued lines once all senders are dropped, and aborts it if the
    /// agent does not read them.
    pub async fn end(mut self) {
        if timeout(FLUSH_TIME, &mut self.0).await.is_err() {
            self.0.abort();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn queue_is_bounded_by_unwritten_bytes() {
        let (outgoing, mut queue) = queue();
        outgoing.send(vec![b'x'; MAX_UNWRITTEN - 1]).unwrap();
        outgoing.send(vec![b'y']).unwrap();
        assert_eq!(queue.next().await.unwrap().len(), MAX_UNWRITTEN - 1);
        // The first is written now.
        assert_eq!(queue.next().await.unwrap(), b"y");
        outgoing.send(vec![b'z'; MAX_UNWRITTEN - 1]).unwrap();
        outgoing.send(vec![b'!']).unwrap_err();
    }

    #[tokio::test]
    async fn queue_without_a_writer_refuses_lines() {
        let (outgoing, queue) = queue();
        drop(queue);
        outgoing.send(vec![b'x']).unwrap_err();
    }
}
