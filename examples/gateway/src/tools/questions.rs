//! Tools that ask the user while they run: a call is suspended for its questions, and resumed with
//! the answers.
use crate::tools::lost::{LOST, open_calls};
use crate::tools::own_tools;
use agui_bridge::chat_history::ChatToolCall;
use agui_types::id::ToolCallId;
use agui_types::input::RunAgentInput;
use agui_types::interrupt::{Interrupt, ResumeStatus};
use async_trait::async_trait;
use jsonrpc_core::wire::{self, Extra, Raw};
use mcp_bridge::mcp::content::{ContentBlock, TextContent};
use mcp_bridge::mcp::dispatch::ServerRequest;
use mcp_bridge::mcp::tools::{CallToolResult, Tool};
use mcp_bridge::plugin::{
    Ask, Clock, NewCall, Outcome, PluginHost, PluginInterrupt, Resumption, Sampling, SessionError,
    SessionStore, StoreMemory, SuspendPolicy, Turn, answer_asks,
};
use mcp_bridge_http::{Sampler, random_id, sample};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{fmt, io, mem};
use tokio_util::sync::CancellationToken;

/// Why a call has no result that the user ended.
const ENDED_BY_USER: &str = "the user ended it";

/// Why a call has no result that has questions after the maximum number of rounds.
const REPEATED: &str = "the tool repeats its questions";

/// Separates the call from its question in the id of an interrupt.
pub(crate) const ELICIT: &str = ":elicit:";

/// Maximum number of requests of one call to a model.
pub const MAX_SAMPLES: u32 = 8;

/// Tools that ask, and their suspended calls.
pub struct Questions {
    host: PluginHost,
    store: Arc<dyn SessionStore>,
    /// Calls with a waiting caller; cancelled when the user ends them.
    held: Mutex<HashMap<String, CancellationToken>>,
}

/// Answers the questions of a call with a waiting caller.
#[async_trait]
pub(crate) trait Asker: Sync {
    async fn ask(&self, session_id: &str, ask: &Ask) -> Outcome;
}

impl fmt::Debug for Questions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Questions").field("host", &self.host).finish_non_exhaustive()
    }
}

/// The state of a call.
#[derive(Debug)]
pub enum CallState {
    /// The result: a text, or an error for the model.
    Done(Result<String, String>),
    /// The questions that suspend it.
    Asks(Vec<Interrupt>),
}

/// An error resuming a call: its code and message.
#[derive(Debug)]
pub struct ResumeError(pub &'static str, pub String);

impl Questions {
    /// Creates the tools. Suspended calls are kept in `store`, and expire by `clock`.
    ///
    /// # Errors
    /// The system has no randomness, or the schema of a tool is invalid.
    pub fn new(store: Arc<dyn SessionStore>, clock: Clock) -> io::Result<Self> {
        let tools = own_tools::all().map_err(io::Error::other)?;
        let host =
            PluginHost::new(tools, SuspendPolicy::Replay, store.clone(), random_id()?, clock)
                .with_sampling(Sampling::new().with_max_requests(MAX_SAMPLES));
        Ok(Self { host, store, held: Mutex::default() })
    }

    /// Returns the tools.
    pub fn tools(&self) -> impl Iterator<Item = &Tool> {
        self.host.tools()
    }

    /// Returns whether a tool is one that asks.
    pub fn has(&self, name: &str) -> bool {
        self.tools().any(|tool| tool.name == name)
    }

    /// Returns the memory of the calls of a principal and of all.
    pub fn memory(&self, principal: &str) -> StoreMemory {
        self.store.memory(principal)
    }

    /// Calls a tool. `model` answers its questions to a model.
    pub async fn call(
        &self,
        request: &ChatToolCall,
        principal: &str,
        model: &dyn Sampler,
    ) -> CallState {
        if let Err(error) = self.host.sweep().await {
            tracing::warn!(%error, "expired sessions cannot be removed");
        }
        let arguments = Raw::from_text(&request.arguments);
        let arguments = arguments.map_err(|error| format!("invalid arguments: {error}"));
        let (arguments, session_id) =
            match arguments.and_then(|raw| Ok((raw, random_id().map_err(|e| e.to_string())?))) {
                Ok(both) => both,
                Err(error) => return CallState::Done(Err(error)),
            };
        let call_id = request.id.as_str();
        let tool = &*request.name;
        let call =
            NewCall { session_id: &session_id, call_id, tool, arguments, principal, meta: None };
        let turn = self.host.call(call, None).await;
        self.sampled(turn, tool, principal, call_id, &session_id, model).await
    }

    /// Calls a tool for a caller that waits for the result. Dropping the future ends the call.
    pub(crate) async fn call_held(
        self: &Arc<Self>,
        tool: &str,
        arguments: Raw,
        principal: &str,
        asker: &dyn Asker,
    ) -> CallEnd {
        let Ok(session_id) = random_id() else {
            return CallEnd::Done(failed("no randomness is available"));
        };
        let session_id = session_id.as_str();
        let held = self.hold(session_id, principal);
        let call_id = session_id;
        let call = NewCall { session_id, call_id, tool, arguments, principal, meta: None };
        let answer = |ask: &Ask| {
            let ask = ask.clone();
            Some(async move { asker.ask(session_id, &ask).await })
        };
        let resume = |state, answers| self.resume_call(state, tool, principal, answers);
        let turn = tokio::select! {
            turn = async {
                answer_asks(self.host.call(call, None).await, answer, resume).await
            } => turn,
            () = held.ended.cancelled() => Err(SessionError::Aborted),
        };
        CallEnd::Done(match turn {
            Ok(Turn::Done(result)) => result,
            Ok(Turn::Asks { .. }) => failed(REPEATED),
            Ok(_) => failed("the call continues elsewhere"),
            // The tool may stop before this waits for the end of the call.
            Err(SessionError::Aborted) => return CallEnd::Ended(failed(ENDED_BY_USER)),
            Err(error) => failed(&error.to_string()),
        })
    }

    /// Resumes a call with answers.
    async fn resume_call(
        &self,
        state: String,
        tool: &str,
        principal: &str,
        answers: Vec<(String, Outcome)>,
    ) -> Result<Turn, SessionError> {
        let resumption = Resumption { state: &state, tool, arguments: None, principal, answers };
        self.host.resume(resumption, None).await
    }

    fn hold(self: &Arc<Self>, session_id: &str, principal: &str) -> CallGuard {
        let ended = CancellationToken::new();
        let session_id = session_id.to_owned();
        let principal = principal.to_owned();
        self.held().insert(session_id.clone(), ended.clone());
        CallGuard { questions: self.clone(), session_id, principal, ended }
    }

    fn held(&self) -> MutexGuard<'_, HashMap<String, CancellationToken>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Resumes a call while it has questions for the model.
    async fn sampled(
        &self,
        turn: Result<Turn, SessionError>,
        tool: &str,
        principal: &str,
        call_id: &str,
        session_id: &str,
        model: &dyn Sampler,
    ) -> CallState {
        let answer = |ask: &Ask| {
            (!is_for_user(ask)).then(|| answer_without_user(ask.request.clone(), model))
        };
        let resume = |state, answers| self.resume_call(state, tool, principal, answers);
        match answer_asks(turn, answer, resume).await {
            Ok(Turn::Asks { asks, .. }) if asks.iter().any(is_for_user) => {
                CallState::Asks(interrupts(&asks, session_id, call_id))
            }
            Ok(Turn::Asks { .. }) => CallState::Done(Err(REPEATED.to_owned())),
            Ok(Turn::Done(result)) => CallState::Done(result_for_model(&result)),
            Ok(_) => CallState::Done(Err("the call continues elsewhere".to_owned())),
            Err(error) => CallState::Done(Err(error.to_string())),
        }
    }

    /// Resumes calls with the answers in the input of a run. Returns the new state of each.
    ///
    /// # Errors
    /// An answer belongs to no question of the user, or is too late.
    pub async fn resume(
        &self,
        input: &RunAgentInput,
        principal: &str,
        model: &dyn Sampler,
    ) -> Result<Vec<(ToolCallId, CallState)>, ResumeError> {
        let mut sessions: BTreeMap<&str, Vec<(String, Outcome)>> = BTreeMap::new();
        for entry in input.resume.iter().flatten() {
            let id = entry.interrupt_id.as_str();
            let unknown =
                || ResumeError("RESUME_MISMATCH", "There is no such question.".to_owned());
            let (session, key) = id.split_once(ELICIT).ok_or_else(unknown)?;
            let answer = if entry.status == ResumeStatus::Resolved {
                answer(entry.payload.as_ref())
            } else {
                json!({ "action": "cancel" })
            };
            let answer = Raw::from_value(&answer)
                .map_err(|error| ResumeError("RESUME_INVALID", error.to_string()))?;
            sessions.entry(session).or_default().push((key.to_owned(), Outcome::Value(answer)));
        }
        let mut states = Vec::new();
        let mut has_lost = false;
        for (session, answers) in sessions {
            let record = self.store.load(session).await.ok().flatten();
            if record.is_none() && !has_lost {
                let lost = self.lost_calls(input, principal).await;
                has_lost = !lost.is_empty();
                states.extend(lost.into_iter().map(|id| (id, CallState::Done(Err(LOST.into())))));
            }
            if record.is_none() && has_lost {
                continue;
            }
            let record =
                record.filter(|record| record.principal == principal).ok_or_else(|| {
                    ResumeError(
                        "RESUME_MISMATCH",
                        "There is no such question, or not any more.".to_owned(),
                    )
                })?;
            let tool = record.tool.as_str();
            let resumption =
                Resumption { state: session, tool, arguments: None, principal, answers };
            let turn = self.host.resume(resumption, None).await;
            if let Err(SessionError::Expired) = turn {
                let message = "Nobody answered in time.".to_owned();
                return Err(ResumeError("INTERRUPT_EXPIRED", message));
            }
            let call_id = record.call_id.as_str();
            let state = self.sampled(turn, tool, principal, call_id, session, model).await;
            states.push((call_id.into(), state));
        }
        Ok(states)
    }

    /// The calls in the history of a run that have neither a result nor a session: the session was
    /// in a program that has ended, and the model has to know.
    async fn lost_calls(&self, input: &RunAgentInput, principal: &str) -> Vec<ToolCallId> {
        let active = self.host.active().await.unwrap_or_default();
        let is_kept = |id: &ToolCallId| {
            let mut records = active.iter().filter(|record| record.principal == principal);
            records.any(|record| record.call_id == id.as_str())
        };
        let mut open = open_calls(input, |name| self.has(name));
        open.retain(|id| !is_kept(id));
        open
    }

    /// Returns the open calls of a user, for display.
    ///
    /// # Errors
    /// The store cannot be reached.
    pub async fn sessions(&self, principal: &str) -> Result<Vec<Value>, SessionError> {
        self.host.sweep().await?;
        let active = self.host.active().await?;
        let records = active.into_iter().filter(|record| record.principal == principal);
        let shown = records.map(|record| {
            json!({
                "sessionId": record.id,
                "callId": record.call_id,
                "toolName": record.tool,
                "status": record.status,
                "waitsSince": humantime::format_rfc3339_seconds(
                    std::time::UNIX_EPOCH + record.since,
                )
                .to_string(),
            })
        });
        Ok(shown.collect())
    }

    /// Ends an open call of a user.
    ///
    /// # Errors
    /// The user has no such call, or the store cannot be reached.
    pub async fn abort(&self, session: &str, principal: &str) -> Result<(), SessionError> {
        self.host.abort(session, principal, ENDED_BY_USER).await?;
        if let Some(held) = self.held().get(session) {
            held.cancel();
        }
        Ok(())
    }
}

/// The end of a call with a waiting caller.
pub(crate) enum CallEnd {
    /// The result.
    Done(CallToolResult),
    /// The call was ended with open questions.
    Ended(CallToolResult),
}

/// A call with a waiting caller. Dropping it ends the call, unless it is over.
struct CallGuard {
    questions: Arc<Questions>,
    session_id: String,
    principal: String,
    ended: CancellationToken,
}

impl Drop for CallGuard {
    fn drop(&mut self) {
        self.questions.held().remove(&self.session_id);
        let questions = self.questions.clone();
        let session = mem::take(&mut self.session_id);
        let principal = mem::take(&mut self.principal);
        tokio::spawn(async move {
            // A call that is over is not changed.
            let _ = questions.host.abort(&session, &principal, "the caller is gone").await;
        });
    }
}

fn is_for_user(ask: &Ask) -> bool {
    matches!(ask.request, ServerRequest::Elicit(_))
}

/// Answers a question that is not for the user.
async fn answer_without_user(request: ServerRequest, model: &dyn Sampler) -> Outcome {
    match request {
        ServerRequest::CreateMessage(params) => sample(&params, model).await,
        ServerRequest::ListRoots(_) => Outcome::Error("a chat has no roots".to_owned()),
        other => Outcome::Error(format!("unknown method: {}", other.method())),
    }
}

/// Returns an error as the result of a call.
pub(crate) fn failed(why: &str) -> CallToolResult {
    let mut result = CallToolResult::new([ContentBlock::Text(TextContent::new(why))]);
    result.is_error = Some(true);
    result
}

/// Returns a payload as the result of an elicitation. The payload may be the content alone.
pub(crate) fn answer(payload: Option<&Raw>) -> Value {
    let payload: Value = payload.and_then(|payload| payload.decode().ok()).unwrap_or_default();
    match payload.get("action") {
        Some(Value::String(_)) => payload,
        _ => json!({ "action": "accept", "content": payload }),
    }
}

/// Returns a result as text for the model.
pub(crate) fn result_for_model(result: &CallToolResult) -> Result<String, String> {
    let text = result.to_text();
    if result.is_error.unwrap_or_default() { Err(text) } else { Ok(text) }
}

fn interrupts(asks: &[Ask], session_id: &str, call_id: &str) -> Vec<Interrupt> {
    let mut interrupts = Vec::new();
    for ask in asks {
        let Some(question) = PluginInterrupt::of(ask, session_id, call_id) else {
            tracing::warn!(key = ask.key, "a question that a page cannot answer");
            continue;
        };
        let mut metadata = question.metadata.clone().unwrap_or_default();
        if let Ok(key) = Raw::from_value(&ask.key) {
            metadata.insert("elicitKey", key);
        }
        let mut interrupt = Interrupt::new(question.id, question.reason);
        interrupt.message = Some(question.message);
        interrupt.tool_call_id = Some(question.tool_call_id.into());
        interrupt.response_schema = question.response_schema.decode::<Extra>().ok();
        interrupt.metadata = Raw::from_value(&metadata)
            .ok()
            .and_then(|metadata| wire::decode(metadata.as_str()).ok());
        interrupts.push(interrupt);
    }
    interrupts
}
