//! What a run says: written by the run, read by any number of HTTP responses.
//!
//! A reader has no queue of its own, it follows the log by a cursor, so that neither a slow page nor one that is gone
//! stalls an agent. The log is bounded: what is old is [compacted](agui_types::compact), and whoever is not past it yet
//! begins again, with what restates the conversation before.
use agui_types::event::{Event, MessagesSnapshotEvent, StateSnapshotEvent};
use agui_types::input::RunAgentInput;
use agui_types::message::{Message, ReasoningMessage};
use agui_types::{compact, sse};
use bytes::Bytes;
use jsonrpc_core::wire::Raw;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::timeout;

mod outcome;
mod reader;
mod shared;

pub(crate) use outcome::Outcome;
pub(crate) use reader::Reader;

/// The most bytes that a reader takes out of the log at once.
const MAX_BATCH: usize = 256 * 1024;

/// How much of a run is kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LogLimits {
    /// Events that are kept as they were sent.
    pub(crate) events: usize,
    /// Bytes of those, and again of the ones before them when compacted.
    pub(crate) bytes: usize,
    /// Readers at the same time.
    pub(crate) readers: usize,
}

/// The events of one run, numbered from 1.
#[derive(Debug)]
pub(crate) struct RunLog {
    run_id: String,
    limits: LogLimits,
    /// The conversation and its state before the run.
    messages: Vec<Message>,
    before: Option<Raw>,
    state: Mutex<State>,
    /// Says that there is more, or that nothing follows.
    changed: watch::Sender<()>,
    readers: watch::Sender<usize>,
}

#[derive(Debug, Default)]
struct State {
    /// How many events are in `old`.
    folded: u64,
    /// The oldest, compacted, an event each.
    old: Vec<Bytes>,
    old_bytes: usize,
    /// Those that followed.
    recent: VecDeque<Bytes>,
    recent_bytes: usize,
    outcome: Option<Outcome>,
    ended: bool,
}

/// Too many follow the run already.
#[derive(Debug, thiserror::Error)]
#[error("{0} others read this run already")]
pub(crate) struct TooManyReaders(pub(crate) usize);

impl RunLog {
    pub(crate) fn new(input: &RunAgentInput, limits: LogLimits) -> Self {
        Self {
            run_id: input.run_id.to_string(),
            limits,
            messages: input.messages.clone(),
            before: input.state.clone(),
            state: Mutex::default(),
            changed: watch::Sender::new(()),
            readers: watch::Sender::new(0),
        }
    }

    /// The same for what goes on under the id of a run before it: the numbers go on.
    pub(crate) fn behind(self, before: &Self) -> Self {
        self.state().folded = before.last();
        self
    }

    /// Adds an event; one that cannot be written is left out, and said.
    ///
    /// `false` when the log is full; the event is kept all the same, so that the run can still say how it ended.
    pub(crate) fn push(&self, event: &Event) -> bool {
        let fits = {
            let mut state = self.state();
            if state.ended {
                // Another gateway has ended it.
                return true;
            }
            let number = state.last() + 1;
            state.outcome = Outcome::of(event).or(state.outcome.take());
            let Some(frame) = frame(event, Some((&self.run_id, number))) else { return true };
            state.recent_bytes += frame.len();
            state.recent.push_back(frame);
            state.fold_if_over(&self.limits, self.before.as_ref());
            state.old_bytes <= self.limits.bytes
        };
        self.changed.send_replace(());
        fits
    }

    /// Nothing follows.
    pub(crate) fn end(&self) {
        self.state().ended = true;
        self.changed.send_replace(());
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.state().ended
    }

    /// How it ended, if its end was said here.
    pub(crate) fn outcome(&self) -> Option<Outcome> {
        self.state().outcome.clone()
    }

    /// How much memory the events take.
    pub(crate) fn bytes(&self) -> usize {
        let state = self.state();
        state.old_bytes + state.recent_bytes
    }

    /// Whether the run has ended and `after` is its last event.
    pub(crate) fn is_read(&self, after: u64) -> bool {
        let state = self.state();
        state.ended && after >= state.last()
    }

    /// Follows the run behind the event of that number; 0 is the beginning.
    pub(crate) fn follow(self: &Arc<Self>, after: u64) -> Result<Reader, TooManyReaders> {
        let limit = self.limits.readers;
        let is_in = self.readers.send_if_modified(|readers| {
            let is_in = *readers < limit;
            *readers += usize::from(is_in);
            is_in
        });
        if !is_in {
            return Err(TooManyReaders(limit));
        }
        Ok(Reader::new(self.clone(), after))
    }

    /// The number in an event id that this run has given.
    pub(crate) fn number(&self, event_id: &str) -> Option<u64> {
        let (run_id, number) = event_id.rsplit_once(':')?;
        let number = number.parse().ok().filter(|number| *number <= self.state().last());
        number.filter(|_| run_id == printable(&self.run_id))
    }

    /// Waits until nobody has read the run for this long.
    pub(crate) async fn abandoned(&self, grace: Duration) {
        let mut readers = self.readers.subscribe();
        loop {
            // The sender is in the log, so that both waits end only with what they wait for.
            let _ = readers.wait_for(|readers| *readers == 0).await;
            if timeout(grace, readers.wait_for(|readers| *readers > 0)).await.is_err() {
                return;
            }
        }
    }

    /// Waits for the end of the run.
    pub(crate) async fn ended(&self) {
        let mut changed = self.changed.subscribe();
        while !self.has_ended() && changed.changed().await.is_ok() {}
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What puts a conversation that has seen a part of the old events back to where it was before the run.
    fn restated(&self, old: &[Bytes]) -> Option<Bytes> {
        let mut messages = self.messages.clone();
        for event in old.iter().filter_map(decode) {
            // Reasoning that a snapshot does not name stays as it is, and would be said twice.
            if let Event::ReasoningMessageStart(start) = event {
                let empty = ReasoningMessage::new(start.message_id, "");
                messages.push(Message::Reasoning(empty));
            }
        }
        let restated = Event::from(MessagesSnapshotEvent::new(messages));
        frame(&restated, None)
    }
}

impl State {
    /// The number of the last event.
    fn last(&self) -> u64 {
        self.folded + self.recent.len() as u64
    }

    fn fold_if_over(&mut self, limits: &LogLimits, before: Option<&Raw>) {
        if self.recent_bytes > limits.bytes || self.recent.len() > limits.events {
            self.fold(limits, before);
        }
    }

    /// Moves the older half of the recent events to the old ones; `before` is the state before the run.
    fn fold(&mut self, limits: &LogLimits, before: Option<&Raw>) {
        let mut events: Vec<_> = self.old.iter().filter_map(decode).collect();
        while (self.recent_bytes > limits.bytes / 2 || self.recent.len() > limits.events / 2)
            && let Some(frame) = self.recent.pop_front()
        {
            self.recent_bytes -= frame.len();
            self.folded += 1;
            events.extend(decode(&frame));
        }
        // Deltas can be compacted only with what they start from.
        let first = events
            .iter()
            .find(|event| matches!(event, Event::StateSnapshot(_) | Event::StateDelta(_)));
        if let Some(Event::StateDelta(_)) = first
            && let Some(before) = before.cloned().or_else(|| Raw::from_text("{}").ok())
        {
            events.insert(1, StateSnapshotEvent::new(before).into());
        }
        match compact::compact(events) {
            Ok(events) => {
                self.old = events.iter().filter_map(|event| frame(event, None)).collect();
                self.old_bytes = self.old.iter().map(Bytes::len).sum();
            }
            Err(violation) => tracing::error!(%violation, "the log cannot be compacted"),
        }
    }
}

/// An event as it is in the stream.
fn frame(event: &Event, id: Option<(&str, u64)>) -> Option<Bytes> {
    let mut bytes = Vec::new();
    if let Some((run_id, number)) = id {
        sse::write_id(&mut bytes, &format!("{}:{number}", printable(run_id)));
    }
    match sse::write_event(&mut bytes, event) {
        Ok(()) => Some(bytes.into()),
        Err(error) => {
            tracing::error!(%error, kind = event.tag(), "an event cannot be written");
            None
        }
    }
}

/// An event out of what [`frame`] made of it.
fn decode(frame: &Bytes) -> Option<Event> {
    let mut decoder = sse::Decoder::with_limit(usize::MAX);
    decoder.push(frame);
    decoder.next_frame()?.ok()?.decode().ok()
}

/// A run id as it is in a header of HTTP and a line of the stream.
fn printable(run_id: &str) -> String {
    run_id.chars().map(|c| if c.is_ascii_graphic() { c } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use agui_types::event::{
        ReasoningMessageContentEvent, ReasoningMessageEndEvent, ReasoningMessageStartEvent,
        RunFinishedEvent, RunStartedEvent, TextMessageContentEvent, TextMessageEndEvent,
        TextMessageStartEvent,
    };
    use agui_types::reduce::Reducer;
    use agui_types::verify::Verifier;
    use futures::StreamExt;
    use jsonrpc_core::wire;
    use proptest::prelude::*;

    const LIMITS: LogLimits = LogLimits { events: 64, bytes: 16 * 1024, readers: 2 };

    fn input() -> RunAgentInput {
        wire::decode(
            r#"{"protocolVersion":"1.0","threadId":"t","runId":"r 1","state":{"n":0},"tools":[],"context":[],
                "messages":[{"id":"u","role":"user","content":"Hi"}]}"#,
        )
        .unwrap()
    }

    /// A run that thinks, counts and says `words` words.
    fn run(words: usize) -> Vec<Event> {
        let mut started = RunStartedEvent::new("t", "r 1");
        started.protocol_version = Some("1.0".to_owned());
        let mut events: Vec<Event> = vec![
            started.into(),
            ReasoningMessageStartEvent::new("thought", "reasoning").into(),
            ReasoningMessageContentEvent::new("thought", "Hm").into(),
            ReasoningMessageEndEvent::new("thought").into(),
            TextMessageStartEvent::new("m").into(),
        ];
        for word in 0..words {
            events.push(TextMessageContentEvent::new("m", format!("word {word} ")).into());
            let patch = format!(r#"[{{"op":"replace","path":"/n","value":{word}}}]"#);
            let delta = format!(r#"{{"type":"STATE_DELTA","delta":{patch}}}"#);
            events.push(wire::decode(&delta).unwrap());
        }
        events.push(TextMessageEndEvent::new("m").into());
        events.push(RunFinishedEvent::new("t", "r 1").into());
        events
    }

    proptest! {
        /// However a log is brought elsewhere in parts, and whatever part comes twice, its readers there read the same run.
        #[test]
        fn parts_put_together_are_the_log(
            events in 1..80_usize,
            bytes in 200..3000_usize,
            steps in prop::collection::vec((1..40_usize, any::<bool>()), 0..40),
        ) {
            let limits = LogLimits { events, bytes, ..LIMITS };
            let here = RunLog::new(&input(), limits);
            let there = Arc::new(RunLog::new(&input(), limits));
            let said = run(60);
            let mut unsaid = said.iter();
            let mut before = here.part(0);
            for (count, again) in steps.into_iter().chain([(said.len(), true)]) {
                unsaid.by_ref().take(count).for_each(|event| { here.push(event); });
                if again {
                    there.apply(before.clone());
                    before = here.part(there.last());
                    there.apply(before.clone());
                }
            }
            here.end();
            while !there.has_ended() {
                there.apply(here.part(there.last()));
            }
            prop_assert_eq!(there.last(), said.len() as u64);
            let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
            let (read, _) = runtime.unwrap().block_on(rest(&there, 0));
            prop_assert_eq!(reduced(&read), reduced(&said));
            let last = read.last().map(Event::tag);
            prop_assert_eq!(last, Some("RUN_FINISHED"));
        }
    }

    /// A log of all events, and whether they fitted.
    fn log(events: &[Event]) -> (Arc<RunLog>, bool) {
        let log = Arc::new(RunLog::new(&input(), LIMITS));
        let fits = events.iter().all(|event| log.push(event));
        log.end();
        (log, fits)
    }

    /// What a reader gets who has seen the events up to that number.
    async fn rest(log: &Arc<RunLog>, after: u64) -> (Vec<Event>, String) {
        let bytes: Vec<Bytes> = log.follow(after).unwrap().read().collect().await;
        let mut decoder = sse::Decoder::default();
        decoder.push(&bytes.concat());
        let (mut events, mut last) = (Vec::new(), String::new());
        while let Some(frame) = decoder.next_frame() {
            let frame = frame.unwrap();
            events.push(frame.decode().unwrap());
            last = frame.last_event_id;
        }
        (events, last)
    }

    fn reduced<'a>(events: impl IntoIterator<Item = &'a Event>) -> String {
        let mut reducer = Reducer::for_input(&input()).unwrap();
        for event in events {
            assert!(reducer.handle(event).is_none(), "{event:?}");
        }
        let (messages, state) = reducer.into_parts();
        format!("{} {state}", serde_json::to_string(&messages).unwrap())
    }

    #[tokio::test]
    async fn every_reader_gets_all_that_it_has_not_read() {
        let events = run(3);
        let (log, fits) = log(&events);
        assert!(fits);
        for after in 0..=events.len() {
            let (rest, last) = rest(&log, after as u64).await;
            assert_eq!(rest, events[after..]);
            let read = if rest.is_empty() { "" } else { "r_1:13" };
            assert_eq!(last, read);
            assert!(log.is_read(13) && !log.is_read(12));
        }
        assert_eq!(log.number("r_1:13"), Some(13));
        for strange in ["r_1:14", "r_2:1", "r_1:x", "1", ""] {
            assert_eq!(log.number(strange), None, "{strange}");
        }
    }

    #[tokio::test]
    async fn whoever_missed_what_was_compacted_comes_to_the_same() {
        let events = run(500);
        let (log, fits) = log(&events);
        assert!(fits);
        assert!(log.bytes() <= 2 * LIMITS.bytes, "{}", log.bytes());
        let whole = reduced(&events);
        for after in [0, 1, 2, 3, 4, 5, 6, 7, 100, 101, 900, events.len() - 5, events.len()] {
            let (rest, last) = rest(&log, after as u64).await;
            assert_eq!(reduced(events[..after].iter().chain(&rest)), whole, "after {after}");
            if after < events.len() {
                assert_eq!(last, format!("r_1:{}", events.len()));
            }
            if after > 0 && after <= 900 {
                let mut verifier = Verifier::strict_for(&input());
                assert!(matches!(rest[1], Event::MessagesSnapshot(_)), "after {after}");
                rest.iter().for_each(|event| verifier.handle(event).unwrap());
                verifier.finish().unwrap();
            }
        }
    }

    #[tokio::test]
    async fn a_log_that_no_compaction_helps_is_full_and_still_takes_the_end() {
        let text = |n: u64| -> Event { TextMessageStartEvent::new(format!("m{n}")).into() };
        let log = Arc::new(RunLog::new(&input(), LIMITS));
        let fitted = (0..10_000).take_while(|n| log.push(&text(*n))).count();
        assert!((LIMITS.events..2000).contains(&fitted), "{fitted}");
        log.push(&RunFinishedEvent::new("t", "r 1").into());
        log.end();
        assert!(matches!(rest(&log, 0).await.0.last(), Some(Event::RunFinished(_))));
    }

    #[tokio::test]
    async fn a_reader_who_fell_behind_is_left() {
        let log = Arc::new(RunLog::new(&input(), LIMITS));
        let events = run(500);
        log.push(&events[0]);
        let mut reader = Box::pin(log.follow(0).unwrap().read());
        assert!(reader.next().await.is_some());
        events[1..].iter().for_each(|event| assert!(log.push(event)));
        assert_eq!(reader.next().await, None);
    }

    #[tokio::test(start_paused = true)]
    async fn silence_is_broken_by_comments() {
        let log = Arc::new(RunLog::new(&input(), LIMITS));
        let mut reader = Box::pin(log.follow(0).unwrap().read());
        assert_eq!(reader.next().await.unwrap(), &b": heartbeat\n\n"[..]);
        log.end();
        assert_eq!(reader.next().await, None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_run_is_abandoned_when_nobody_has_read_it_for_a_while() {
        let log = Arc::new(RunLog::new(&input(), LIMITS));
        let grace = Duration::from_secs(60);
        let first = log.follow(0).unwrap();
        let second = log.follow(0).unwrap();
        assert!(log.follow(0).is_err(), "there is a limit");
        let waiting = tokio::spawn({
            let log = log.clone();
            async move { log.abandoned(grace).await }
        });
        drop(first);
        tokio::time::sleep(grace * 2).await;
        assert!(!waiting.is_finished(), "one still reads");
        drop(second);
        tokio::time::sleep(grace / 2).await;
        let third = log.follow(0).unwrap();
        tokio::time::sleep(grace).await;
        drop(third);
        tokio::time::sleep(grace / 2).await;
        assert!(!waiting.is_finished(), "somebody came back");
        waiting.await.unwrap();
    }
}
