//! Whoever follows a log, from wherever one is.
use super::{MAX_BATCH, RunLog};
use bytes::{Bytes, BytesMut};
use futures::Stream;
use futures::stream::unfold;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// After so long without an event a reader gets a comment, so that nothing between takes the stream for dead.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// Whoever follows a run.
pub(crate) struct Reader {
    log: Arc<RunLog>,
    /// The number of the last event that was read.
    after: u64,
    /// Whether anything was given.
    begun: bool,
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.log.readers.send_modify(|readers| *readers -= 1);
    }
}

enum Step {
    Give(Bytes),
    Wait,
    End,
}

impl Reader {
    /// Counts as one of the log's readers already.
    pub(super) fn new(log: Arc<RunLog>, after: u64) -> Self {
        Self { log, after, begun: false }
    }

    /// The run that is read.
    pub(crate) fn run_id(&self) -> &str {
        &self.log.run_id
    }

    /// What there is and what comes, with a comment in every silence. It ends with the run, and before it for a reader
    /// who fell behind what is kept.
    pub(crate) fn read(self) -> impl Stream<Item = Bytes> {
        let changed = self.log.changed.subscribe();
        unfold((self, changed), |(mut reader, mut changed)| async move {
            loop {
                changed.mark_unchanged();
                match reader.step() {
                    Step::Give(bytes) => return Some((bytes, (reader, changed))),
                    Step::End => return None,
                    Step::Wait => {}
                }
                if timeout(HEARTBEAT, changed.changed()).await.is_err() {
                    let heartbeat = Bytes::from_static(b": heartbeat\n\n");
                    return Some((heartbeat, (reader, changed)));
                }
            }
        })
    }

    fn step(&mut self) -> Step {
        let state = self.log.state();
        if self.after < state.folded {
            if self.begun {
                tracing::debug!(run = self.log.run_id, "a reader fell behind");
                return Step::End;
            }
            let is_in_between = self.after > 0 && !state.old.is_empty();
            let restated = if is_in_between { self.log.restated(&state.old) } else { None };
            let (start, rest) = state.old.split_at(state.old.len().min(1));
            let bytes = [start, restated.as_slice(), rest].concat().concat();
            self.after = state.folded;
            self.begun = true;
            if !bytes.is_empty() {
                return Step::Give(bytes.into());
            }
        }
        let read = usize::try_from(self.after - state.folded).unwrap_or(usize::MAX);
        let mut unread = state.recent.iter().skip(read);
        let Some(first) = unread.next() else {
            return if state.ended { Step::End } else { Step::Wait };
        };
        self.begun = true;
        self.after += 1;
        let Some(second) = unread.next() else { return Step::Give(first.clone()) };
        let mut batch = BytesMut::from(&first[..]);
        for frame in std::iter::once(second).chain(unread) {
            if batch.len() + frame.len() > MAX_BATCH {
                break;
            }
            batch.extend_from_slice(frame);
            self.after += 1;
        }
        Step::Give(batch.freeze())
    }
}
