//! The messages of one stream, for a reader who may come and go.
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// The most messages of a stream that are kept for a reader who comes again; the oldest go first.
const MAX_MESSAGES: usize = 1024;

/// The most bytes of a stream that are kept.
const MAX_BYTES: usize = 16 << 20;

/// The messages that belong to one request, or to none.
#[derive(Debug)]
pub(crate) struct MessageStream {
    /// Names it within its connection.
    pub(crate) number: u64,
    log: Mutex<Log>,
    changed: watch::Sender<()>,
}

#[derive(Debug, Default)]
struct Log {
    messages: VecDeque<Arc<str>>,
    /// How many were left out, all of them before the first one that is kept.
    dropped: u64,
    bytes: usize,
    /// Nothing follows.
    is_done: bool,
    /// The reader that gets the messages; who came before it gets nothing more.
    reader: u64,
    /// How many were read.
    read: u64,
}

/// The events before the one that a reader wants are gone.
#[derive(Debug)]
pub(crate) struct Gone;

impl MessageStream {
    pub(crate) fn new(number: u64) -> Self {
        Self { number, log: Mutex::default(), changed: watch::Sender::new(()) }
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a message, the last one or not.
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

    /// Ends the reader that there is; another may come.
    pub(crate) fn detach(&self) {
        self.log().reader += 1;
        self.changed.send_replace(());
    }

    /// A reader of what follows the first `after` messages, or of what nobody has read, in place of the one that there is.
    ///
    /// # Errors
    /// Some of them are not kept any more.
    pub(crate) fn read(self: &Arc<Self>, after: Option<u64>) -> Result<Reader, Gone> {
        let mut log = self.log();
        let after = after.unwrap_or(log.read.max(log.dropped));
        if after < log.dropped {
            return Err(Gone);
        }
        log.reader += 1;
        let id = log.reader;
        drop(log);
        self.changed.send_replace(());
        let changed = self.changed.subscribe();
        Ok(Reader { stream: Arc::clone(self), id, next: after, changed })
    }
}

/// Somebody who reads a stream.
#[derive(Debug)]
pub(crate) struct Reader {
    stream: Arc<MessageStream>,
    id: u64,
    next: u64,
    changed: watch::Receiver<()>,
}

impl Reader {
    /// The next message, once there is one; nothing once the stream or the reader has ended.
    pub(crate) async fn next(&mut self) -> Option<Arc<str>> {
        loop {
            self.changed.mark_unchanged();
            if let Some(found) = self.poll() {
                return found;
            }
            // The sender lives as long as the stream, which this holds.
            self.changed.changed().await.ok()?;
        }
    }

    /// What there is by now: a message, the end, or nothing yet.
    fn poll(&mut self) -> Option<Option<Arc<str>>> {
        let mut log = self.stream.log();
        if log.reader != self.id {
            return Some(None);
        }
        // Somebody who is this slow has lost what came between.
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

    /// Whether what was read so far is all.
    pub(crate) fn is_at_end(&self) -> bool {
        let log = self.stream.log();
        let count = u64::try_from(log.messages.len()).unwrap_or(u64::MAX);
        log.is_done && self.next >= log.dropped.saturating_add(count)
    }

    /// Names what was read so far, for [`MessageStream::read`].
    pub(crate) fn event_id(&self) -> String {
        format!("{}-{}", self.stream.number, self.next)
    }
}
