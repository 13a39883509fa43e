//! The messages of one stream, for a reader that may disconnect and return.
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// Maximum number of messages that are kept for a returning reader. The oldest are dropped first.
const MAX_MESSAGES: usize = 1024;

/// Maximum size of the messages that are kept, in bytes.
const MAX_BYTES: usize = 16 << 20;

/// The messages of one request, or those without a request.
#[derive(Debug)]
pub(crate) struct MessageStream {
    /// Number of the stream within its connection.
    pub(crate) number: u64,
    log: Mutex<Log>,
    changed: watch::Sender<()>,
}

#[derive(Debug, Default)]
struct Log {
    messages: VecDeque<Arc<str>>,
    /// Number of dropped messages. They precede the first message that is kept.
    dropped: u64,
    bytes: usize,
    /// Whether the stream is complete.
    is_done: bool,
    /// Number of the current reader. Earlier readers receive nothing further.
    reader: u64,
    /// Number of messages that were read.
    read: u64,
}

/// The requested events are no longer kept.
#[derive(Debug)]
pub(crate) struct ExpiredEvents;

impl MessageStream {
    pub(crate) fn new(number: u64) -> Self {
        Self { number, log: Mutex::default(), changed: watch::Sender::new(()) }
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Appends a message and optionally completes the stream.
    pub(crate) fn push(&self, message: String, is_last: bool) {
        let mut log = self.log();
        log.is_done |= is_last;
        log.bytes += message.len();
        log.messages.push_back(message.into());
        while log.messages.len() > MAX_MESSAGES || (log.bytes > MAX_BYTES && log.messages.len() > 1)
        {
            let Some(oldest) = log.messages.pop_front() else { break };
            log.bytes -= oldest.len();
            log.dropped += 1;
        }
        drop(log);
        self.changed.send_replace(());
    }

    pub(crate) fn finish(&self) {
        self.log().is_done = true;
        self.changed.send_replace(());
    }

    /// Disconnects the current reader. Another reader may connect.
    pub(crate) fn detach(&self) {
        self.log().reader += 1;
        self.changed.send_replace(());
    }

    /// Returns a reader of the messages after the first `after`, or of the unread messages. It
    /// replaces the current reader.
    ///
    /// # Errors
    /// Returns an error if some of the messages are no longer kept.
    pub(crate) fn read(self: &Arc<Self>, after: Option<u64>) -> Result<Reader, ExpiredEvents> {
        let mut log = self.log();
        let after = after.unwrap_or(log.read.max(log.dropped));
        if after < log.dropped {
            return Err(ExpiredEvents);
        }
        log.reader += 1;
        let id = log.reader;
        drop(log);
        self.changed.send_replace(());
        let changed = self.changed.subscribe();
        Ok(Reader { stream: Arc::clone(self), id, next: after, changed })
    }
}

/// A reader of a stream.
#[derive(Debug)]
pub(crate) struct Reader {
    stream: Arc<MessageStream>,
    id: u64,
    next: u64,
    changed: watch::Receiver<()>,
}

impl Reader {
    /// Waits for the next message. Returns `None` at the end of the stream or if the reader was
    /// replaced.
    pub(crate) async fn next(&mut self) -> Option<Arc<str>> {
        loop {
            self.changed.mark_unchanged();
            if let Some(found) = self.poll() {
                return found;
            }
            // The sender lives as long as the stream, which the reader holds.
            self.changed.changed().await.ok()?;
        }
    }

    /// Returns the next message or the end, if available.
    fn poll(&mut self) -> Option<Option<Arc<str>>> {
        let mut log = self.stream.log();
        if log.reader != self.id {
            return Some(None);
        }
        // Messages that were dropped before this slow reader read them are skipped.
        self.next = self.next.max(log.dropped);
        let index = usize::try_from(self.next - log.dropped).ok();
        match index.and_then(|index| log.messages.get(index).cloned()) {
            Some(message) => {
                self.next += 1;
                log.read = log.read.max(self.next);
                Some(Some(message))
            }
            None if log.is_done => Some(None),
            None => None,
        }
    }

    /// Returns whether all messages have been read.
    pub(crate) fn is_at_end(&self) -> bool {
        let log = self.stream.log();
        let count = u64::try_from(log.messages.len()).unwrap_or(u64::MAX);
        log.is_done && self.next >= log.dropped.saturating_add(count)
    }

    /// Returns the event id of the last message, for [`MessageStream::read`].
    pub(crate) fn event_id(&self) -> String {
        format!("{}-{}", self.stream.number, self.next)
    }
}
