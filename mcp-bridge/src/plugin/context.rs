//! Context of a running tool: questions, steps, logs and progress.
use super::ask::Ask;
use super::elicits::{ElicitKey, ElicitResponse, context_text};
use super::error::PluginError;
use super::journal::{EntryKind, Outcome, digest};
use super::notice::Notice;
use super::sampling::SamplingContext;
use super::shared::{Caller, QuestionGuard, SharedState, StepGuard};
use crate::context::ModelContext;
use crate::mcp::dispatch::ServerRequest;
use crate::mcp::elicitation::{
    ElicitAction, ElicitRequestParams, ElicitRequestURLParams, ElicitResult,
};
use crate::mcp::logging::LoggingLevel;
use crate::mcp::roots::{ListRootsResult, Root};
use crate::mcp::sampling::{CreateMessageRequestParams, CreateMessageResult};
use crate::schema::Form;
use alloc::boxed::Box;
use alloc::string::ToString;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::future::{Future, poll_fn};
use core::marker::PhantomData;
use jsonrpc_core::wire::{Meta, Raw};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Maximum number of times that a question is repeated after an invalid answer.
pub const MAX_ASKED_AGAIN: usize = 5;

/// Context of a running tool. `E` is the set of questions that the tool declares.
///
/// A tool that is replayed has to ask its questions and run its steps in the same order each time.
/// Any other asynchronous work or side effect belongs in a [`step`](Self::step).
///
/// The [module](super) has an example.
#[derive(Debug)]
pub struct PluginContext<E> {
    shared: Arc<SharedState>,
    elicits: PhantomData<fn() -> E>,
}

impl<E> PluginContext<E> {
    pub(super) fn new(shared: Arc<SharedState>) -> Self {
        Self { shared, elicits: PhantomData }
    }

    /// Returns the caller, as the transport authenticated it. It is empty over stdin and stdout.
    pub fn principal(&self) -> &str {
        &self.shared.caller().principal
    }

    /// Returns the id of the call. Repeated and replayed runs of the call have the same id.
    pub fn call_id(&self) -> &str {
        &self.shared.caller().call_id
    }

    /// Returns the `_meta` of the first request of the call, without the members that the protocol
    /// defines for each request, such as the progress token.
    pub fn meta(&self) -> Option<&Meta> {
        self.shared.caller().meta.as_ref()
    }

    /// Asks the user a question. After an invalid answer the question is repeated, at most
    /// [`MAX_ASKED_AGAIN`] times.
    ///
    /// # Errors
    /// Returns an error if the question cannot be asked, the client responds with an error, or all
    /// answers are invalid.
    pub async fn elicit<K: ElicitKey<Set = E>>(
        &self,
        message: &str,
        context: &K::Context,
    ) -> Result<ElicitResponse<K::Answer>, PluginError> {
        let form = Form::of::<K::Answer>()?;
        let context = ModelContext::from_value(context)?;
        let mut params = form.ask(message);
        for _ in 0..=MAX_ASKED_AGAIN {
            let key = self.shared.next_key(K::NAME);
            let request =
                ServerRequest::Elicit(Box::new(ElicitRequestParams::Form(Box::new(params))));
            let ask = Ask { key, kind: EntryKind::Elicit, request, context: Some(context.clone()) };
            let result: ElicitResult = self.ask(ask).await?;
            match ElicitResponse::read(&form, &result) {
                Ok(elicited) => return Ok(elicited),
                Err(problems) => params = form.ask_again(message, &problems),
            }
        }
        Err(PluginError::Unanswerable(K::NAME.into()))
    }

    /// Asks the user to open a URL, such as a page to sign in or to pay. `name` identifies the
    /// question within the tool.
    ///
    /// [`ElicitResponse::Accept`] means that the user agreed to open the URL, not that the user has
    /// finished there.
    ///
    /// Spec: [URL
    /// mode](https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#url-mode-elicitation-requests)
    ///
    /// # Errors
    /// Returns an error if the client responds with an error.
    pub async fn elicit_url(
        &self,
        name: &str,
        message: &str,
        url: &str,
    ) -> Result<ElicitResponse<()>, PluginError> {
        let key = self.shared.next_key(name);
        let params = ElicitRequestURLParams::new(message, url);
        let request = ServerRequest::Elicit(Box::new(ElicitRequestParams::Url(Box::new(params))));
        let ask = Ask { key, kind: EntryKind::Elicit, request, context: None };
        let result: ElicitResult = self.ask(ask).await?;
        Ok(match result.action {
            ElicitAction::Accept => ElicitResponse::Accept(()),
            ElicitAction::Decline => ElicitResponse::Decline,
            _ => ElicitResponse::Cancel,
        })
    }

    /// Requests the folders and files that the client works in.
    ///
    /// # Errors
    /// Returns an error if the client responds with an error or with something other than roots.
    pub async fn roots(&self) -> Result<Vec<Root>, PluginError> {
        let key = self.shared.next_key("roots");
        let request = ServerRequest::ListRoots(Box::default());
        let ask = Ask { key, kind: EntryKind::Roots, request, context: None };
        let result: ListRootsResult = self.ask(ask).await?;
        Ok(result.roots)
    }

    /// Sends a request to the model of the client. `name` identifies the request within the tool.
    /// The request and the response pass the [configuration](super::Sampling) of the tool and of
    /// the host.
    ///
    /// # Errors
    /// Returns an error if the client responds with an error or with something other than a
    /// message, or the configuration rejects the request or the response.
    pub async fn sample(
        &self,
        name: &str,
        mut params: CreateMessageRequestParams,
    ) -> Result<CreateMessageResult, PluginError> {
        let key = self.shared.next_key(name);
        let number = self.shared.next_sample();
        let Caller { principal, call_id, .. } = self.shared.caller();
        let context = SamplingContext::new(&key, principal, call_id, number);
        for sampling in self.shared.sampling() {
            params = sampling.before(params, context)?;
        }
        let request = ServerRequest::CreateMessage(Box::new(params));
        let kind = EntryKind::Sample;
        let key = key.clone();
        let mut result = self.ask(Ask { key, kind, request, context: None }).await?;
        for sampling in self.shared.sampling().iter().rev() {
            result = sampling.after(result, context)?;
        }
        Ok(result)
    }

    /// Runs `work` once and records its outcome. A replay returns the recorded outcome.
    ///
    /// `work` runs again if the program ends before the outcome is stored. An effect that must not
    /// happen twice needs an idempotency key where it takes place.
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
        let working = StepGuard::new(&self.shared);
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

    /// Reports a log message, under the name of a logger if it has one. A replay does not repeat
    /// messages that were already reported.
    pub fn log(&self, level: LoggingLevel, logger: Option<&str>, data: Raw) {
        let logger = logger.map(ToString::to_string);
        self.shared.send_notice(Notice::Log { level, logger, data });
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
        let waiting = QuestionGuard { shared: &self.shared, key: &ask.key };
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
