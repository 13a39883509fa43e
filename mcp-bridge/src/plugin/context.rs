//! Context of a running tool: questions, steps, logs and progress.
use super::ask::Ask;
use super::elicits::{ElicitKey, Elicited, context_text};
use super::journal::{EntryKind, Journal, Outcome, ReplayMismatch, digest};
use super::turn::NoticeSink;
use crate::context::{ModelContext, NotAnObject};
use crate::mcp::dispatch::ServerRequest;
use crate::mcp::elicitation::{ElicitRequestParams, ElicitResult};
use crate::mcp::logging::LoggingLevel;
use crate::mcp::sampling::{CreateMessageRequestParams, CreateMessageResult};
use crate::mcp::tools::CallToolResult;
use crate::schema::{Form, Violation};
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::future::{Future, poll_fn};
use core::marker::PhantomData;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use jsonrpc_core::ErrorObject;
use jsonrpc_core::wire::{DecodeError, Raw};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Maximum number of times that a question is repeated after an invalid answer.
pub const MAX_ASKED_AGAIN: usize = 5;

/// Context of a running tool. `E` is the set of questions that the tool declares.
///
/// A tool that is replayed has to ask its questions and run its steps in the same order each time. Any other
/// asynchronous work or side effect belongs in a [`step`](Self::step).
#[derive(Debug)]
pub struct PluginContext<E> {
    shared: Arc<Shared>,
    elicits: PhantomData<fn() -> E>,
}

/// A log message or a progress report of a running tool. It can be serialized for other programs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Notice {
    /// A log message.
    Log {
        /// Severity of the message.
        level: LoggingLevel,
        /// The logged data.
        data: Raw,
    },
    /// A progress report.
    Progress {
        /// Progress so far. It increases with each report.
        progress: f64,
        /// Total amount of progress, if known.
        total: Option<f64>,
        /// Human-readable description.
        message: Option<String>,
    },
}

/// An error of a tool.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PluginError {
    /// The replayed tool deviates from its journal.
    #[error(transparent)]
    Replay(#[from] ReplayMismatch),
    /// The answer type of a question has no form.
    #[error(transparent)]
    Form(#[from] Violation),
    /// A context is not an object.
    #[error(transparent)]
    Context(#[from] NotAnObject),
    /// The outcome of a question or step cannot be decoded.
    #[error("the outcome of `{key}` is invalid")]
    Outcome {
        /// Key of the question or step.
        key: String,
        /// The reason.
        #[source]
        source: DecodeError,
    },
    /// The outcome of a step has no JSON form or exceeds [`Journal::MAX_OUTCOME_BYTES`].
    #[error("the outcome of step `{0}` cannot be stored")]
    Step(String),
    /// The client answered a question with an error.
    #[error("the client answered `{key}` with an error: {message}")]
    Client {
        /// Key of the question.
        key: String,
        /// Message of the error.
        message: String,
    },
    /// All answers to a question were invalid.
    #[error("no valid answer to `{0}`")]
    Unanswerable(String),
    /// A request cannot be serialized.
    #[error("the request `{0}` has no JSON form")]
    Request(String),
    /// An error specific to the tool.
    #[error("{0}")]
    Failed(String),
    /// A protocol error that ends the call. The model does not receive it.
    #[error(transparent)]
    Protocol(ErrorObject),
}

impl PluginError {
    /// Creates an error with a message for the model.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::Failed(message.into())
    }
}

impl<E> PluginContext<E> {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self { shared, elicits: PhantomData }
    }

    /// Asks the user a question. After an invalid answer the question is repeated, at most [`MAX_ASKED_AGAIN`] times.
    ///
    /// # Errors
    /// Returns an error if the question cannot be asked, the client responds with an error, or all answers are invalid.
    pub async fn elicit<K: ElicitKey<Set = E>>(
        &self,
        message: &str,
        context: &K::Context,
    ) -> Result<Elicited<K::Answer>, PluginError> {
        let form = Form::of::<K::Answer>()?;
        let context = ModelContext::from_value(context)?;
        let mut params = form.ask(message);
        for _ in 0..=MAX_ASKED_AGAIN {
            let key = self.shared.next_key(K::NAME);
            let request =
                ServerRequest::Elicit(Box::new(ElicitRequestParams::Form(Box::new(params))));
            let ask = Ask { key, kind: EntryKind::Elicit, request, context: Some(context.clone()) };
            let result: ElicitResult = self.ask(ask).await?;
            match Elicited::read(&form, &result) {
                Ok(elicited) => return Ok(elicited),
                Err(problems) => params = form.ask_again(message, &problems),
            }
        }
        Err(PluginError::Unanswerable(K::NAME.into()))
    }

    /// Sends a request to the model of the client. `name` identifies the request within the tool.
    ///
    /// # Errors
    /// Returns an error if the client responds with an error or with something other than a message.
    pub async fn sample(
        &self,
        name: &str,
        params: CreateMessageRequestParams,
    ) -> Result<CreateMessageResult, PluginError> {
        let key = self.shared.next_key(name);
        let request = ServerRequest::CreateMessage(Box::new(params));
        self.ask(Ask { key, kind: EntryKind::Sample, request, context: None }).await
    }

    /// Runs `work` once and records its outcome. A replay returns the recorded outcome.
    ///
    /// `work` runs again if the program ends before the outcome is stored. An effect that must not happen twice needs
    /// an idempotency key where it takes place.
    ///
    /// # Errors
    /// Returns an error if the outcome cannot be stored or decoded.
    pub async fn step<T, F>(&self, name: &str, work: impl FnOnce() -> F) -> Result<T, PluginError>
    where
        T: Serialize + DeserializeOwned,
        F: Future<Output = T>,
    {
        let key = self.shared.next_key(name);
        let known = self.shared.lock().begin(&key, EntryKind::Step, 0)?;
        if let Some(Outcome::Value(value)) = known {
            return value.decode_serde().map_err(|source| PluginError::Outcome { key, source });
        }
        let working = Working::new(&self.shared);
        let value = work().await;
        drop(working);
        let kept = Raw::from_value(&value).ok();
        let is_kept = kept.is_some_and(|raw| self.shared.lock().end_step(&key, raw));
        if !is_kept {
            return Err(PluginError::Step(key));
        }
        poll_fn(|cx| self.shared.poll_saved(cx)).await;
        Ok(value)
    }

    /// Reports a log message. A replay does not repeat messages that were already reported.
    pub fn log(&self, level: LoggingLevel, data: Raw) {
        self.shared.send_notice(Notice::Log { level, data });
    }

    /// Reports progress. A replay does not repeat reports, see [`log`](Self::log).
    pub fn progress(&self, progress: f64, total: Option<f64>, message: Option<&str>) {
        let message = message.map(ToString::to_string);
        self.shared.send_notice(Notice::Progress { progress, total, message });
    }

    async fn ask<T: DeserializeOwned>(&self, ask: Ask) -> Result<T, PluginError> {
        let params = ask.request.to_params();
        let params = params.map_err(|_| PluginError::Request(ask.key.clone()))?;
        let text = params.as_ref().map(Raw::as_str).unwrap_or_default();
        let request = digest([ask.request.method(), text, &context_text(ask.context.as_ref())]);
        let waiting = Waiting { shared: &self.shared, key: &ask.key };
        let outcome = poll_fn(|cx| waiting.shared.poll_answer(&ask, request, cx)).await?;
        let key = ask.key.clone();
        match outcome {
            Outcome::Value(value) => {
                value.decode_serde().map_err(|source| PluginError::Outcome { key, source })
            }
            Outcome::Error(message) => Err(PluginError::Client { key, message }),
        }
    }
}

/// State shared by a running tool and its session.
pub(super) struct Shared {
    state: Mutex<RunState>,
    sink: Mutex<Option<NoticeSink>>,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Shared").field(&*self.lock()).finish()
    }
}

#[derive(Debug, Default)]
struct RunState {
    journal: Journal,
    /// Number of uses of each name.
    used: BTreeMap<String, u32>,
    asks: BTreeMap<String, Ask>,
    /// Number of steps in progress.
    working: usize,
    /// Whether a completed step has not been stored yet.
    is_unsaved: bool,
    /// Number of notices in this run.
    notices: u64,
    mismatch: Option<ReplayMismatch>,
    wakers: Vec<Waker>,
}

impl RunState {
    fn begin(
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

    fn end_step(&mut self, key: &str, value: Raw) -> bool {
        let is_kept = self.journal.end_step(key, value);
        self.is_unsaved |= is_kept;
        is_kept
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, RunState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn sink(&self) -> MutexGuard<'_, Option<NoticeSink>> {
        self.sink.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next_key(&self, name: &str) -> String {
        let mut state = self.lock();
        let used = state.used.entry(name.into()).or_default();
        *used += 1;
        if *used == 1 { name.into() } else { format!("{name}#{used}") }
    }

    fn poll_answer(
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

    fn poll_saved(&self, cx: &Context<'_>) -> Poll<()> {
        let mut state = self.lock();
        if !state.is_unsaved {
            return Poll::Ready(());
        }
        state.wait(cx);
        Poll::Pending
    }

    fn send_notice(&self, notice: Notice) {
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
struct Working<'a>(&'a Shared);

impl<'a> Working<'a> {
    fn new(shared: &'a Shared) -> Self {
        shared.lock().working += 1;
        Self(shared)
    }
}

impl Drop for Working<'_> {
    fn drop(&mut self) {
        self.0.lock().working -= 1;
    }
}

/// A question in progress. Dropping it ends the wait.
struct Waiting<'a> {
    shared: &'a Shared,
    key: &'a str,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.shared.lock().asks.remove(self.key);
    }
}

/// Body of a tool: the future of one call.
pub(super) type Body = Pin<Box<dyn Future<Output = Result<CallToolResult, PluginError>> + Send>>;

/// A tool in memory that runs or waits.
pub(super) struct Run {
    shared: Arc<Shared>,
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
        journal: Journal,
        sink: Option<NoticeSink>,
        body: impl FnOnce(Arc<Shared>) -> Body,
    ) -> Self {
        let state = Mutex::new(RunState { journal, ..RunState::default() });
        let shared = Arc::new(Shared { state, sink: Mutex::new(sink) });
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
