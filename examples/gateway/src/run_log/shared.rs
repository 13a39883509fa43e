//! A log in parts: as they are brought to other gateways, and as they are put together there.
use super::{MAX_BATCH, Outcome, RunLog, decode, frame};
use agui_types::event::Event;
use bytes::Bytes;
use run_store::Part;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::timeout;

impl RunLog {
    /// Says that there is more, or that nothing follows.
    pub(crate) fn changed(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    /// The number of the last event.
    pub(crate) fn last(&self) -> u64 {
        self.state().last()
    }

    /// Waits for an event that has not come from elsewhere yet, until the run has ended, or for so long.
    pub(crate) async fn comes(&self, event_id: &str, time: Duration) {
        let number = event_id.rsplit_once(':').and_then(|(_, number)| number.parse::<u64>().ok());
        let mut changed = self.changed();
        let comes = async {
            while !self.has_ended()
                && number.is_some_and(|number| number > self.last())
                && changed.changed().await.is_ok()
            {}
        };
        let _late = timeout(time, comes).await;
    }

    pub(crate) fn is_being_read(&self) -> bool {
        *self.readers.borrow() > 0
    }

    /// What follows the event of that number, not too much at once.
    pub(crate) fn part(&self, after: u64) -> Part {
        let state = self.state();
        let is_behind = after < state.folded;
        let base = is_behind.then(|| (state.folded, state.old.clone()));
        let after = after.max(state.folded);
        let skipped = usize::try_from(after - state.folded).unwrap_or(usize::MAX);
        let mut bytes = 0;
        let fitting = state.recent.iter().skip(skipped).take_while(|frame| {
            let is_first = bytes == 0;
            bytes += frame.len();
            is_first || bytes <= MAX_BATCH
        });
        let frames: Vec<Bytes> = fitting.cloned().collect();
        let has_ended = state.ended && after + frames.len() as u64 == state.last();
        Part { base, after, frames, has_ended }
    }

    /// Takes a part of a run elsewhere; what is known is left as it is.
    pub(crate) fn apply(&self, part: Part) {
        {
            let mut state = self.state();
            if let Some((folded, old)) = part.base
                && folded > state.folded
            {
                let gone = usize::try_from(folded - state.folded).unwrap_or(usize::MAX);
                let gone = gone.min(state.recent.len());
                let bytes: usize = state.recent.drain(..gone).map(|frame| frame.len()).sum();
                state.recent_bytes -= bytes;
                state.folded = folded;
                state.old_bytes = old.iter().map(Bytes::len).sum();
                state.old = old;
            }
            let known = state.last().saturating_sub(part.after);
            let known = usize::try_from(known).unwrap_or(usize::MAX);
            for frame in part.frames.into_iter().skip(known) {
                state.recent_bytes += frame.len();
                state.recent.push_back(frame);
            }
            state.fold_if_over(&self.limits, self.before.as_ref());
            state.ended |= part.has_ended;
            if part.has_ended {
                let last = state.recent.back().and_then(decode);
                state.outcome = last.as_ref().and_then(Outcome::of);
            }
        }
        self.changed.send_replace(());
    }

    /// The number of the last event, and this one as the next.
    pub(crate) fn next_frame(&self, event: &Event) -> (u64, Bytes) {
        let last = self.last();
        let frame = frame(event, Some((&self.run_id, last + 1)));
        (last, frame.unwrap_or_default())
    }

    /// Ends a run with this event, unless it has ended.
    pub(crate) fn lose(&self, event: &Event) {
        self.push(event);
        self.end();
    }
}
