//! State of a running tool, shared with its session.
use super::ask::Ask;
use super::error::PluginError;
use super::journal::{EntryKind, Journal, Outcome, ReplayMismatch};
use super::notice::{Notice, NoticeSink};
use super::sampling::Sampling;
use super::session::SessionRecord;
use crate::mcp::tools::CallToolResult;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::future::{Future, poll_fn};
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use jsonrpc_core::wire::{Meta, Raw};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The call that a tool runs for.
#[derive(Debug)]
pub(super) struct Caller {
    pub(super) principal: String,
    pub(super) call_id: String,
    pub(super) meta: Option<Meta>,
}

/// State shared by a running tool and its session.
pub(super) struct SharedState {
    caller: Caller,
    /// Configuration of requests to a model: that of the tool, and that of the host.
    sampling: Vec<Arc<Sampling>>,
    state: Mutex<RunState>,
    sink: Mutex<Option<NoticeSink>>,
}

impl fmt::Debug for SharedState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SharedState").field(&*self.lock()).finish()
    }
}

#[derive(Debug, Default)]
pub(super) struct RunState {
    journal: Journal,
    /// Number of uses of each name.
    used: BTreeMap<String, u32>,
    asks: BTreeMap<String, Ask>,
    /// Number of steps in progress.
    working: usize,
    /// Whether a completed step has not been stored yet.
    is_unsaved: bool,
    /// Number of requests to a model in this run.
    samples: u32,
    /// Number of notices in this run.
    notices: u64,
    mismatch: Option<ReplayMismatch>,
    wakers: Vec<Waker>,
}

impl RunState {
    pub(super) fn begin(
        &mut self,
        key: &str,
        kind: EntryKind,
        request: u64,
    ) -> Result<Option<Outcome>, ReplayMismatch> {
        let known = self.journal.begin(key, kind, request).map(Option::<&Outcome>::cloned);
        if let Err(mismatch) = &known {
            self.mismatch.get_or_insert_with(|| mismatch.clone());
        }
        known
    }

    fn wait(&mut self, cx: &Context<'_>) {
        if !self.wakers.iter().any(|waker| waker.will_wake(cx.waker())) {
            self.wakers.push(cx.waker().clone());
        }
    }

    pub(super) fn end_step(&mut self, key: &str, value: Raw) -> bool {
        let is_kept = self.journal.end_step(key, value);
        self.is_unsaved |= is_kept;
        is_kept
    }
}

impl SharedState {
    pub(super) fn caller(&self) -> &Caller {
        &self.caller
    }

    pub(super) fn sampling(&self) -> &[Arc<Sampling>] {
        &self.sampling
    }

    /// Returns the number of the next request to a model, starting with 1.
    pub(super) fn next_sample(&self) -> u32 {
        let mut state = self.lock();
        state.samples = state.samples.saturating_add(1);
        state.samples
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, RunState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn sink(&self) -> MutexGuard<'_, Option<NoticeSink>> {
        self.sink.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn next_key(&self, name: &str) -> String {
        let mut state = self.lock();
        let used = state.used.entry(name.into()).or_default();
        *used += 1;
        if *used == 1 { name.into() } else { format!("{name}#{used}") }
    }

    pub(super) fn poll_answer(
        &self,
        ask: &Ask,
        request: u64,
        cx: &Context<'_>,
    ) -> Poll<Result<Outcome, ReplayMismatch>> {
        let mut state = self.lock();
        match state.begin(&ask.key, ask.kind, request) {
            Ok(Some(outcome)) => Poll::Ready(Ok(outcome)),
            Ok(None) => {
                state.asks.entry(ask.key.clone()).or_insert_with(|| ask.clone());
                state.wait(cx);
                Poll::Pending
            }
            Err(mismatch) => Poll::Ready(Err(mismatch)),
        }
    }

    pub(super) fn poll_saved(&self, cx: &Context<'_>) -> Poll<()> {
        let mut state = self.lock();
        if !state.is_unsaved {
            return Poll::Ready(());
        }
        state.wait(cx);
        Poll::Pending
    }

    pub(super) fn send_notice(&self, notice: Notice) {
        let mut state = self.lock();
        state.notices += 1;
        let is_new = state.notices > state.journal.notices;
        state.journal.notices = state.journal.notices.max(state.notices);
        drop(state);
        let sink = self.sink().clone();
        if let Some(sink) = sink.filter(|_| is_new) {
            sink(&notice);
        }
    }
}

/// A step in progress. Dropping it ends the step.
pub(super) struct StepGuard<'a>(&'a SharedState);

impl<'a> StepGuard<'a> {
    pub(super) fn new(shared: &'a SharedState) -> Self {
        shared.lock().working += 1;
        Self(shared)
    }
}

impl Drop for StepGuard<'_> {
    fn drop(&mut self) {
        self.0.lock().working -= 1;
    }
}

/// A question in progress. Dropping it ends the wait.
pub(super) struct QuestionGuard<'a> {
    pub(super) shared: &'a SharedState,
    pub(super) key: &'a str,
}

impl Drop for QuestionGuard<'_> {
    fn drop(&mut self) {
        self.shared.lock().asks.remove(self.key);
    }
}

/// Body of a tool: the future of one call.
pub(super) type Body = Pin<Box<dyn Future<Output = Result<CallToolResult, PluginError>> + Send>>;

/// A tool in memory that runs or waits.
pub(super) struct Run {
    shared: Arc<SharedState>,
    body: Body,
}

/// The reason why a run stopped.
pub(super) enum Stop {
    /// A step completed and has to be stored before the run continues.
    Save,
    /// All that the run waits for are answers.
    Asks,
    /// The tool returned.
    Done(Result<CallToolResult, PluginError>),
}

impl Run {
    pub(super) fn new(
        record: &SessionRecord,
        sink: Option<NoticeSink>,
        sampling: Vec<Arc<Sampling>>,
        body: impl FnOnce(Arc<SharedState>) -> Body,
    ) -> Self {
        let principal = record.principal.clone();
        let call_id = record.call_id.clone();
        let caller = Caller { principal, call_id, meta: record.meta.clone() };
        let journal = record.journal.clone();
        let state = Mutex::new(RunState { journal, ..RunState::default() });
        let shared = Arc::new(SharedState { caller, sampling, state, sink: Mutex::new(sink) });
        Self { body: body(Arc::clone(&shared)), shared }
    }

    /// Runs the tool until it stops.
    pub(super) async fn next(&mut self) -> Stop {
        poll_fn(|cx| {
            let polled = self.body.as_mut().poll(cx);
            let mut state = self.shared.lock();
            if let Some(mismatch) = state.mismatch.take() {
                return Poll::Ready(Stop::Done(Err(mismatch.into())));
            }
            match polled {
                Poll::Ready(result) => Poll::Ready(Stop::Done(result)),
                Poll::Pending if state.is_unsaved => Poll::Ready(Stop::Save),
                Poll::Pending if state.working == 0 && !state.asks.is_empty() => {
                    Poll::Ready(Stop::Asks)
                }
                Poll::Pending => Poll::Pending,
            }
        })
        .await
    }

    /// Redirects further notices.
    pub(super) fn set_sink(&self, sink: Option<NoticeSink>) {
        *self.shared.sink() = sink;
    }

    /// Continues after the steps were stored, with the answers that have arrived.
    pub(super) fn resume(&self, journal: &Journal) {
        let mut state = self.shared.lock();
        state.is_unsaved = false;
        state.journal.take_answers(journal);
        let wakers = core::mem::take(&mut state.wakers);
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
    }

    pub(super) fn journal(&self) -> Journal {
        self.shared.lock().journal.clone()
    }

    pub(super) fn asks(&self) -> Vec<Ask> {
        self.shared.lock().asks.values().cloned().collect()
    }
}

impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run").field("shared", &self.shared).finish_non_exhaustive()
    }
}
