//! What a tool can do while it runs.
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

/// How often a question is asked again because its answer would not do.
pub const MAX_ASKED_AGAIN: usize = 5;

/// What a tool can do while it runs. `E` is what it may ask.
///
/// Where a tool is run again, its questions and steps have to come in the same order each time, and whatever else it waits
/// for, or changes, belongs into a [`step`](Self::step).
#[derive(Debug)]
pub struct PluginContext<E> {
    shared: Arc<Shared>,
    elicits: PhantomData<fn() -> E>,
}

/// Something that a tool tells while it runs. It has a JSON form, for other programs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Notice {
    /// For a log.
    Log {
        /// How important it is.
        level: LoggingLevel,
        /// What happened.
        data: Raw,
    },
    /// How far it is.
    Progress {
        /// It grows.
        progress: f64,
        /// What it grows to, if that is known.
        total: Option<f64>,
        /// What it does, for people.
        message: Option<String>,
    },
}

/// A tool failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PluginError {
    /// The tool, run again, does something else.
    #[error(transparent)]
    Replay(#[from] ReplayMismatch),
    /// An answer has no form.
    #[error(transparent)]
    Form(#[from] Violation),
    /// A context is not an object.
    #[error(transparent)]
    Context(#[from] NotAnObject),
    /// What came of a question or a step is not what belongs there.
    #[error("what came of `{key}` cannot be used")]
    Outcome {
        /// Of which one.
        key: String,
        /// Why not.
        #[source]
        source: DecodeError,
    },
    /// What a step gave has no JSON form, or one with more than [`Journal::MAX_OUTCOME_BYTES`].
    #[error("what the step `{0}` gave cannot be kept")]
    Step(String),
    /// The client answered a question with an error.
    #[error("the client answered `{key}` with an error: {message}")]
    Client {
        /// Which one.
        key: String,
        /// Its message.
        message: String,
    },
    /// No answer would do.
    #[error("no answer to `{0}` would do")]
    Unanswerable(String),
    /// A request cannot be written.
    #[error("the request `{0}` has no JSON form")]
    Request(String),
    /// Something of the tool's own.
    #[error("{0}")]
    Failed(String),
    /// An error of the protocol, with which the call ends: the model does not see it.
    #[error(transparent)]
    Protocol(ErrorObject),
}

impl PluginError {
    /// A failure of the tool's own, for the model to read.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::Failed(message.into())
    }
}

impl<E> PluginContext<E> {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self { shared, elicits: PhantomData }
    }

    /// Asks the user. An answer that would not do is asked for again, [`MAX_ASKED_AGAIN`] times at most.
    ///
    /// # Errors
    /// The question cannot be asked, the client answered with an error, or no answer would do.
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

    /// Asks the model; `name` tells this request from others of the tool.
    ///
    /// # Errors
    /// The client answered with an error, or with something else than a message.
    pub async fn sample(
        &self,
        name: &str,
        params: CreateMessageRequestParams,
    ) -> Result<CreateMessageResult, PluginError> {
        let key = self.shared.next_key(name);
        let request = ServerRequest::CreateMessage(Box::new(params));
        self.ask(Ask { key, kind: EntryKind::Sample, request, context: None }).await
    }

    /// Does something that is not to be done again when the tool is: what it gave is kept, and given the next time.
    ///
    /// It is done again if the program ends before what it gave is kept: work that must not happen twice needs a key of its
    /// own where it has its effect.
    ///
    /// # Errors
    /// What it gave cannot be kept, or not be read again.
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

    /// Tells something for a log. What was told before is not told again when the tool is run again.
    pub fn log(&self, level: LoggingLevel, data: Raw) {
        self.shared.tell(Notice::Log { level, data });
    }

    /// Tells how far the tool is; as for [`log`](Self::log).
    pub fn progress(&self, progress: f64, total: Option<f64>, message: Option<&str>) {
        let message = message.map(ToString::to_string);
        self.shared.tell(Notice::Progress { progress, total, message });
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

/// What a tool that runs and the session around it share.
pub(super) struct Shared {
    state: Mutex<State>,
    sink: Mutex<Option<NoticeSink>>,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Shared").field(&*self.lock()).finish()
    }
}

#[derive(Debug, Default)]
struct State {
    journal: Journal,
    /// How often each name was used.
    used: BTreeMap<String, u32>,
    asks: BTreeMap<String, Ask>,
    /// Steps that work.
    working: usize,
    /// Whether a step has ended that is not stored yet.
    is_unsaved: bool,
    /// How many notices this run has given.
    told: u64,
    mismatch: Option<ReplayMismatch>,
    wakers: Vec<Waker>,
}

impl State {
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
    fn lock(&self) -> MutexGuard<'_, State> {
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

    fn tell(&self, notice: Notice) {
        let mut state = self.lock();
        state.told += 1;
        let is_new = state.told > state.journal.told;
        state.journal.told = state.journal.told.max(state.told);
        drop(state);
        let sink = self.sink().clone();
        if let Some(sink) = sink.filter(|_| is_new) {
            sink(&notice);
        }
    }
}

/// A step that works, until it is dropped.
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

/// A question that somebody waits for, until it is dropped.
struct Waiting<'a> {
    shared: &'a Shared,
    key: &'a str,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.shared.lock().asks.remove(self.key);
    }
}

/// What a tool is, once it runs.
pub(super) type Body = Pin<Box<dyn Future<Output = Result<CallToolResult, PluginError>> + Send>>;

/// A tool that runs, or waits.
pub(super) struct Run {
    shared: Arc<Shared>,
    body: Body,
}

/// Why a run stopped.
pub(super) enum Stop {
    /// A step ended, which is to be stored before the run goes on.
    Save,
    /// It waits for answers, and for nothing else.
    Asks,
    /// It is done.
    Done(Result<CallToolResult, PluginError>),
}

impl Run {
    pub(super) fn new(
        journal: Journal,
        sink: Option<NoticeSink>,
        body: impl FnOnce(Arc<Shared>) -> Body,
    ) -> Self {
        let state = Mutex::new(State { journal, ..State::default() });
        let shared = Arc::new(Shared { state, sink: Mutex::new(sink) });
        Self { body: body(Arc::clone(&shared)), shared }
    }

    /// Goes on until it stops.
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

    /// Has what the tool tells from now on go elsewhere.
    pub(super) fn set_sink(&self, sink: Option<NoticeSink>) {
        *self.shared.sink() = sink;
    }

    /// Tells that the steps so far are stored, and what is known by now.
    pub(super) fn go_on(&self, journal: &Journal) {
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
