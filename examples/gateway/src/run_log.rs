//! What a run has said so far: written by the run, read by the HTTP response that shows it.
//!
//! The run never waits for its reader, so a slow page cannot stall an agent; the log is bounded instead.
use bytes::{Bytes, BytesMut};
use futures::Stream;
use futures::stream::unfold;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::timeout;

/// The most bytes of a run that a reader may be behind.
pub(crate) const MAX_UNREAD: usize = 8 * 1024 * 1024;

/// After so long without an event the reader gets a comment, so that nothing between takes the stream for dead.
const HEARTBEAT: Duration = Duration::from_secs(15);

#[derive(Debug, Default)]
pub(crate) struct RunLog {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct State {
    unread: BytesMut,
    ended: bool,
}

impl RunLog {
    /// Adds bytes of the event stream.
    ///
    /// `false` when the reader is too far behind; the bytes are kept all the same, so that the run can still say how it
    /// ended.
    pub(crate) fn push(&self, sse: &[u8]) -> bool {
        let unread = {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.unread.extend_from_slice(sse);
            state.unread.len()
        };
        self.changed.notify_one();
        unread <= MAX_UNREAD
    }

    /// Nothing follows.
    pub(crate) fn end(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).ended = true;
        self.changed.notify_one();
    }

    /// What comes, as it comes, with a comment in every silence. For one reader.
    pub(crate) fn read(self: Arc<Self>) -> impl Stream<Item = Bytes> {
        unfold(self, |log| async move {
            loop {
                {
                    let mut state = log.state.lock().unwrap_or_else(PoisonError::into_inner);
                    if !state.unread.is_empty() {
                        let unread = state.unread.split().freeze();
                        drop(state);
                        return Some((unread, log));
                    }
                    if state.ended {
                        return None;
                    }
                }
                if timeout(HEARTBEAT, log.changed.notified()).await.is_err() {
                    return Some((Bytes::from_static(b": heartbeat\n\n"), log));
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::StreamExt;

    #[tokio::test]
    async fn a_reader_gets_all_and_then_the_end() {
        let log = Arc::new(RunLog::default());
        assert!(log.push(b"a"));
        let reader = tokio::spawn(log.clone().read().collect::<Vec<_>>());
        assert!(log.push(b"b"));
        log.end();
        assert_eq!(reader.await.unwrap().concat(), b"ab");
    }

    #[tokio::test(start_paused = true)]
    async fn silence_is_broken_by_comments() {
        let log = Arc::new(RunLog::default());
        let mut reader = Box::pin(log.clone().read());
        assert_eq!(reader.next().await.unwrap(), &b": heartbeat\n\n"[..]);
        log.end();
        assert_eq!(reader.next().await, None);
    }

    #[test]
    fn a_reader_too_far_behind_is_noticed() {
        let log = RunLog::default();
        assert!(log.push(&vec![b'x'; MAX_UNREAD]));
        assert!(!log.push(b"x"));
    }
}
