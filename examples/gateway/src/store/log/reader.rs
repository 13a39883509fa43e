//! A reader of a run: a cursor into its log, as a stream of server-sent events.
use super::RunLog;
use agui_types::id::RunId;
use agui_types::run_log::LogRead;
use bytes::Bytes;
use futures::Stream;
use futures::stream::unfold;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// Interval of comments in a silent stream, which keep proxies from closing it.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// Last comment for a reader that fell behind, which clients without support for it ignore.
const BEHIND: &[u8] = b": the rest is compacted; read on with Last-Event-ID\n\n";
/// Time that a reader waits for the store to have the end of a run.
const STORE_TIME: Duration = Duration::from_secs(2);

/// A reader of a run. It is counted until dropped.
#[derive(Debug)]
pub struct Reader {
    log: Arc<RunLog>,
    /// Number of the last read event.
    after: u64,
    /// Whether the stream has begun.
    has_begun: bool,
    /// Whether the reader fell behind.
    is_behind: bool,
    /// Frames for the place after the first event.
    snapshot: Option<Bytes>,
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.log.readers.send_modify(|readers| *readers -= 1);
    }
}

impl Reader {
    /// Creates a reader that the log already counts.
    pub(super) fn new(log: Arc<RunLog>, after: u64) -> Self {
        Self { log, after, has_begun: false, is_behind: false, snapshot: None }
    }

    /// Returns the id of the run.
    pub fn run_id(&self) -> &RunId {
        self.log.run_id()
    }

    /// Inserts frames after the first event, `RUN_STARTED`: [snapshots](crate::store::snapshot) of
    /// the conversation before the run.
    #[must_use]
    pub fn with_snapshot(mut self, snapshot: Bytes) -> Self {
        self.snapshot = Some(snapshot);
        self
    }

    /// Returns the events so far and all later ones, with comments in between. The stream ends with
    /// the run, or with a comment when the reader falls behind the kept events.
    pub fn read(self) -> impl Stream<Item = Bytes> + Send {
        let changed = self.log.changed();
        unfold((self, changed), |(mut reader, mut changed)| async move {
            if reader.is_behind {
                return None;
            }
            loop {
                changed.mark_unchanged();
                match reader.log.read(reader.after) {
                    LogRead::Restart(_) if reader.has_begun => {
                        tracing::debug!(run = %reader.run_id(), "a reader fell behind");
                        reader.is_behind = true;
                        return Some((Bytes::from_static(BEHIND), (reader, changed)));
                    }
                    LogRead::Frames(frames) | LogRead::Restart(frames) => {
                        reader.after = frames.last;
                        reader.has_begun = true;
                        if reader.log.outcome().is_some() && reader.after >= reader.log.last() {
                            let mut held = reader.log.is_end_held.subscribe();
                            let _late = timeout(STORE_TIME, held.wait_for(|held| !held)).await;
                        }
                        let bytes = match reader.snapshot.take() {
                            Some(snapshot) => inserted(&frames.bytes, &snapshot),
                            None => frames.bytes,
                        };
                        return Some((bytes, (reader, changed)));
                    }
                    LogRead::Ended => return None,
                    _ => {}
                }
                if timeout(HEARTBEAT, changed.changed()).await.is_err() {
                    let heartbeat = Bytes::from_static(b": heartbeat\n\n");
                    return Some((heartbeat, (reader, changed)));
                }
            }
        })
    }
}

/// Inserts frames after the first frame.
fn inserted(frames: &[u8], snapshot: &[u8]) -> Bytes {
    let end = frames.windows(2).position(|it| it == b"\n\n").map_or(frames.len(), |at| at + 2);
    let (first, rest) = frames.split_at(end);
    [first, snapshot, rest].concat().into()
}
