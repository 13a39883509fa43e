//! Calls of MCP servers' tools by models. A call that asks the user waits until a run has the
//! answer.
use crate::tools::events::AUDIT;
use crate::tools::lost::LOST;
use crate::tools::questions::{CallState, ELICIT, ResumeError, answer, result_for_model};
use crate::tools::sources::{CallEvent, ServerCall};
use agui_types::id::ToolCallId;
use agui_types::interrupt::{Interrupt, ResumeEntry, ResumeStatus};
use jsonrpc_core::wire::{self, Extra, Raw};
use jsonrpc_core::{ErrorCode, ErrorObject};
use mcp_bridge::context::{self, ContextLimits, extract};
use mcp_bridge::mcp::dispatch::ServerRequest;
use mcp_bridge::mcp::elicitation::ElicitRequestParams;
use mcp_bridge::plugin::{Sampling, SamplingContext};
use mcp_bridge_http::{Sampler, random_id, since_1970};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Maximum number of calls that wait for users.
const MAX_WAITING: usize = 1024;

/// Maximum number of calls that wait for one user.
const MAX_WAITING_OF_USER: usize = MAX_WAITING / 4;

/// Time for the user to answer.
const ANSWER_TIME: Duration = Duration::from_secs(60 * 60);

/// Maximum size of a result for a model, in bytes. The rest is left out.
const MAX_RESULT: usize = 256 * 1024;

/// The answer to a request that the program cannot fulfil.
type Answer = (String, Result<Raw, ErrorObject>);

/// Prefix of the session ids of calls.
const PREFIX: &str = "mcp-";

/// Calls that wait for users.
#[derive(Debug)]
pub(crate) struct ServerCalls {
    /// Prefix of the session ids of this process. Calls of another process, such as one before a
    /// restart, are lost.
    prefix: String,
    /// The calls by session id.
    waiting: Mutex<HashMap<String, SuspendedServerCall>>,
}

/// A call in progress, and its caller.
#[derive(Debug)]
pub(crate) struct Caller<'a> {
    pub(crate) principal: &'a str,
    pub(crate) tool: &'a str,
    pub(crate) call_id: &'a str,
    /// Limits of the requests of the call to the model.
    pub(crate) sampling: &'a Sampling,
    /// Number of those requests.
    pub(crate) sampled: u32,
}

/// A call that waits for the user.
#[derive(Debug)]
struct SuspendedServerCall {
    call: ServerCall,
    principal: String,
    tool: String,
    call_id: String,
    sampling: Sampling,
    /// Number of requests to the model.
    sampled: u32,
    /// Keys of the questions.
    questions: Vec<String>,
    /// Answers to the other requests, which are sent together with those of the user.
    answered: Vec<Answer>,
    /// When the call began to wait, since 1970.
    since: Duration,
}

impl ServerCalls {
    /// Creates the calls of this process.
    ///
    /// # Errors
    /// The system has no randomness.
    pub(crate) fn new() -> io::Result<Self> {
        let prefix = format!("{PREFIX}{}-", random_id()?);
        Ok(Self { prefix, waiting: Mutex::default() })
    }

    /// Continues a call until its end, or until it asks the user.
    pub(crate) async fn advance(
        &self,
        mut call: ServerCall,
        mut caller: Caller<'_>,
        model: &dyn Sampler,
    ) -> CallState {
        let mut refused = None;
        loop {
            let needs = match call.next().await {
                CallEvent::Ended(Ok(result)) => {
                    return CallState::Done(match result_for_model(&result) {
                        Ok(text) => Ok(shortened(text)),
                        Err(text) => Err(shortened(text)),
                    });
                }
                CallEvent::Ended(Err(error)) => {
                    return CallState::Done(Err(format!("the tool has no result: {error}")));
                }
                CallEvent::Needs(needs) => needs,
                _ => continue,
            };
            let Ok(id) = random_id() else {
                return CallState::Done(Err("no randomness is available".to_owned()));
            };
            let session = format!("{}{id}", self.prefix);
            let mut interrupts = Vec::new();
            let mut questions = Vec::new();
            let mut answered = Vec::new();
            for (key, request) in needs.requests {
                let answer = match &request {
                    ServerRequest::Elicit(params) => {
                        if let Some(question) = question(&session, &key, params, caller.call_id) {
                            interrupts.push(question);
                            questions.push(key);
                            continue;
                        }
                        Err("the user can be asked by form only".to_owned())
                    }
                    ServerRequest::CreateMessage(params) => {
                        caller.sampled += 1;
                        let user = caller.principal;
                        let number = caller.sampled;
                        let tool = caller.tool;
                        let context = SamplingContext::new(&key, user, caller.call_id, number);
                        let params = match caller.sampling.before((**params).clone(), context) {
                            Ok(params) => params,
                            // Of an error, a server since 2026-07-28 is not notified, and asks
                            // again.
                            Err(error) => {
                                let reason = refused.unwrap_or_else(|| error.to_string());
                                return CallState::Done(Err(reason));
                            }
                        };
                        let json = Raw::from_value(&params).ok();
                        let content = json.as_ref().map_or("{}", Raw::as_str);
                        let event = "sampling";
                        tracing::info!(target: AUDIT, event, user, tool, number, content);
                        let result = model.sample(&params).await.map_err(|error| error.message);
                        let after = |result| caller.sampling.after(result, context);
                        let result = result.and_then(|it| after(it).map_err(|it| it.to_string()));
                        if let Err(reason) = &result {
                            refused =
                                Some(format!("the model has not answered the tool: {reason}"));
                        }
                        let raw = |result| Raw::from_value(&result).map_err(|it| it.to_string());
                        result.and_then(raw)
                    }
                    other => Err(format!("unknown method: {}", other.method())),
                };
                answered.push((key, as_answer(answer)));
            }
            if interrupts.is_empty() {
                call.answer(answered).await;
                continue;
            }
            let principal = caller.principal.to_owned();
            let tool = caller.tool.to_owned();
            let call_id = caller.call_id.to_owned();
            let since = since_1970();
            let sampling = caller.sampling.clone();
            let sampled = caller.sampled;
            let waiting = SuspendedServerCall {
                call,
                principal,
                tool,
                call_id,
                sampling,
                sampled,
                questions,
                answered,
                since,
            };
            let mut all = self.lock();
            if !has_room(all.values().map(|other| &*other.principal), &waiting.principal) {
                return CallState::Done(Err("too many calls wait for users".to_owned()));
            }
            all.insert(session, waiting);
            return CallState::Asks(interrupts);
        }
    }

    /// Returns whether a question is one of a call, of this process or another.
    pub(crate) fn asked(interrupt: &str) -> bool {
        interrupt.starts_with(PREFIX)
    }

    /// Returns whether a call of a user waits for an answer.
    pub(crate) fn waits(&self, principal: &str, call_id: &str) -> bool {
        let all = self.lock();
        all.values().any(|waiting| waiting.principal == principal && waiting.call_id == call_id)
    }

    /// Continues calls with the answers of their user. Questions without an answer are cancelled.
    /// If a call waited in another process, the calls in `lost` fail.
    ///
    /// # Errors
    /// An answer is for the call of another user.
    pub(crate) async fn resume(
        &self,
        entries: Vec<ResumeEntry>,
        lost: Vec<ToolCallId>,
        principal: &str,
        model: &dyn Sampler,
    ) -> Result<Vec<(ToolCallId, CallState)>, ResumeError> {
        let mut sessions: HashMap<String, HashMap<String, Raw>> = HashMap::new();
        for entry in entries {
            let Some((session, key)) = entry.interrupt_id.as_str().split_once(ELICIT) else {
                continue;
            };
            if entry.status != ResumeStatus::Resolved {
                sessions.entry(session.to_owned()).or_default();
                continue;
            }
            let given = Raw::from_value(&answer(entry.payload.as_ref()))
                .map_err(|error| ResumeError("RESUME_INVALID", error.to_string()))?;
            sessions.entry(session.to_owned()).or_default().insert(key.to_owned(), given);
        }
        let mut came = Vec::new();
        let mut has_lost = false;
        for (session, mut given) in sessions {
            let Some(waiting) = self.take(&session, principal) else {
                if lost.is_empty() || session.starts_with(&self.prefix) {
                    let message = "There is no such question, or not any more.".to_owned();
                    return Err(ResumeError("RESUME_MISMATCH", message));
                }
                has_lost = true;
                continue;
            };
            let SuspendedServerCall {
                call,
                tool,
                call_id,
                sampling,
                sampled,
                questions,
                mut answered,
                ..
            } = waiting;
            for key in questions {
                let given = given.remove(&key).map_or_else(cancelled, Ok);
                answered.push((key, given));
            }
            call.answer(answered).await;
            let tool = &*tool;
            let sampling = &sampling;
            let caller = Caller { principal, tool, call_id: &call_id, sampling, sampled };
            let called = self.advance(call, caller, model).await;
            came.push((call_id.as_str().into(), called));
        }
        if has_lost {
            came.extend(lost.into_iter().map(|id| (id, CallState::Done(Err(LOST.to_owned())))));
        }
        Ok(came)
    }

    /// Removes a call of a user, which cancels it unless it is continued.
    fn take(&self, session: &str, principal: &str) -> Option<SuspendedServerCall> {
        let mut all = self.lock();
        all.get(session).filter(|waiting| waiting.principal == principal)?;
        all.remove(session)
    }

    /// Ends a call of a user. Returns whether there was one.
    pub(crate) fn abort(&self, session: &str, principal: &str) -> bool {
        self.take(session, principal).is_some()
    }

    /// Returns the calls of a user, for display.
    pub(crate) fn sessions(&self, principal: &str) -> Vec<Value> {
        let all = self.lock();
        let own = all.iter().filter(|(_, waiting)| waiting.principal == principal);
        let shown = own.map(|(session, waiting)| {
            json!({
                "sessionId": session,
                "callId": waiting.call_id,
                "toolName": waiting.tool,
                "status": "awaiting_elicit",
                "waitsSince": humantime::format_rfc3339_seconds(
                    std::time::UNIX_EPOCH + waiting.since,
                )
                .to_string(),
            })
        });
        shown.collect()
    }

    /// Returns the calls, without those that have waited too long.
    fn lock(&self) -> MutexGuard<'_, HashMap<String, SuspendedServerCall>> {
        let mut all = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let now = since_1970();
        all.retain(|_, waiting| now.saturating_sub(waiting.since) < ANSWER_TIME);
        all
    }
}

/// Returns the interrupt of a question, with the context of the question as metadata. `None` unless
/// it has a form.
fn question(
    session: &str,
    key: &str,
    params: &ElicitRequestParams,
    call_id: &str,
) -> Option<Interrupt> {
    let extracted = extract(params, &ContextLimits::default());
    let ElicitRequestParams::Form(form) = &extracted.request else { return None };
    let mut metadata = Extra::new();
    if let Some(shown) = extracted.context.filter(|context| !context.is_empty()) {
        metadata.insert(context::NAME, shown.as_raw().clone());
    }
    metadata.insert("elicitKey", Raw::from_value(&key).ok()?);
    let mut interrupt = Interrupt::new(format!("{session}{ELICIT}{key}"), "input_required");
    interrupt.message = Some(form.message.clone());
    interrupt.tool_call_id = Some(call_id.into());
    interrupt.response_schema = form.requested_schema.decode::<Extra>().ok();
    interrupt.metadata =
        Raw::from_value(&metadata).ok().and_then(|metadata| wire::decode(metadata.as_str()).ok());
    Some(interrupt)
}

fn as_answer(answer: Result<Raw, String>) -> Result<Raw, ErrorObject> {
    answer.map_err(|error| ErrorObject::new(ErrorCode::INTERNAL_ERROR, error))
}

fn cancelled() -> Result<Raw, ErrorObject> {
    let cancel = Raw::from_value(&json!({ "action": "cancel" }));
    cancel.map_err(|error| ErrorObject::new(ErrorCode::INTERNAL_ERROR, error.to_string()))
}

/// Returns whether a further call of a user may wait, beside those of these users.
fn has_room<'a>(waiting: impl Iterator<Item = &'a str>, user: &str) -> bool {
    let mut all = 0;
    let mut own = 0;
    waiting.for_each(|other| {
        all += 1;
        own += usize::from(other == user);
    });
    all < MAX_WAITING && own < MAX_WAITING_OF_USER
}

/// Returns a text within the limit for models.
fn shortened(mut text: String) -> String {
    let length = text.len();
    if length <= MAX_RESULT {
        return text;
    }
    let end = (0..=MAX_RESULT).rev().find(|end| text.is_char_boundary(*end)).unwrap_or_default();
    text.truncate(end);
    let left_out = length - text.len();
    text.push_str(&format!("\n[{left_out} more bytes were left out]"));
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::iter::repeat_n;

    #[test]
    fn one_user_fills_a_quarter_of_the_waiting_calls() {
        let of_ada = |count| repeat_n("ada", count);
        assert!(has_room(of_ada(255), "ada"));
        assert!(!has_room(of_ada(256), "ada"));
        assert!(has_room(of_ada(256), "ben"));
        let others = (0..4).flat_map(|user| repeat_n(["a", "b", "c", "d"][user], 256));
        assert!(!has_room(others, "ben"));
    }
}
