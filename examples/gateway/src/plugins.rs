//! Tools that ask the user while they run: a run ends for their questions, and another one brings the answers.
use crate::model::ModelAgent;
use agui_bridge::hybrid_tools::ToolRequest;
use agui_types::id::ToolCallId;
use agui_types::input::RunAgentInput;
use agui_types::interrupt::{Interrupt, ResumeStatus};
use async_trait::async_trait;
use futures::future::join_all;
use jsonrpc_core::wire::{self, Extra, Raw};
use mcp_bridge::mcp::content::{ContentBlock, Role, TextContent};
use mcp_bridge::mcp::dispatch::ServerRequest;
use mcp_bridge::mcp::sampling::{
    CreateMessageRequestParams, CreateMessageResult, SamplingContent, SamplingMessageContentBlock,
};
use mcp_bridge::mcp::tools::{CallToolResult, Tool};
use mcp_bridge::plugin::{
    Ask, Clock, NewCall, Outcome, PluginHost, PluginInterrupt, Resumption, SessionError,
    SessionStore, SuspendPolicy, Turn,
};
use mcp_bridge::tool_events::result_text;
use mcp_http::random_id;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{fmt, io, mem};
use tokio_util::sync::CancellationToken;

mod tools;

/// Stands between a session and its question in the name of an interrupt.
const ELICIT: &str = ":elicit:";

/// The tools, and the calls of them that wait for answers.
pub(crate) struct Plugins {
    host: PluginHost,
    store: Arc<dyn SessionStore>,
    /// Ends calls of agents that somebody else ended.
    held: Mutex<HashMap<String, CancellationToken>>,
}

/// Who answers the questions of a call while its caller waits.
#[async_trait]
pub(crate) trait Asker: Sync {
    async fn ask(&self, session_id: &str, ask: &Ask) -> Outcome;
}

impl fmt::Debug for Plugins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plugins").field("host", &self.host).finish_non_exhaustive()
    }
}

/// What came of a call, for now.
pub(crate) enum Called {
    /// It is done: a text, or an error for the model.
    Done(Result<String, String>),
    Asks(Vec<Interrupt>),
}

/// Why answers are not taken: a code, and words.
pub(crate) struct Refused(pub(crate) &'static str, pub(crate) String);

impl Plugins {
    /// `clock`: the time that calls wait by.
    pub(crate) fn new(store: Arc<dyn SessionStore>, clock: Clock) -> io::Result<Self> {
        let tools = tools::all().map_err(io::Error::other)?;
        let host =
            PluginHost::new(tools, SuspendPolicy::Replay, store.clone(), random_id()?, clock);
        Ok(Self { host, store, held: Mutex::default() })
    }

    pub(crate) fn tools(&self) -> impl Iterator<Item = &Tool> {
        self.host.tools()
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.tools().any(|tool| tool.name == name)
    }

    /// Calls a tool; what it asks a model, `model` answers.
    pub(crate) async fn call(
        &self,
        request: &ToolRequest,
        principal: &str,
        model: &ModelAgent,
    ) -> Called {
        if let Err(error) = self.host.sweep().await {
            tracing::warn!(%error, "sessions that wait too long stay");
        }
        let arguments = Raw::from_text(&request.arguments);
        let arguments = arguments.map_err(|error| format!("the arguments: {error}"));
        let (arguments, session_id) =
            match arguments.and_then(|raw| Ok((raw, random_id().map_err(|e| e.to_string())?))) {
                Ok(both) => both,
                Err(error) => return Called::Done(Err(error)),
            };
        let (call_id, tool) = (request.id.as_str(), &*request.name);
        let call = NewCall { session_id: &session_id, call_id, tool, arguments, principal };
        let turn = self.host.call(call, None).await;
        self.sampled(turn, tool, principal, call_id, &session_id, model).await
    }

    /// Calls a tool for a caller who waits until it is done. If the future is dropped, the call ends.
    pub(crate) async fn call_held(
        self: &Arc<Self>,
        tool: &str,
        arguments: Raw,
        principal: &str,
        asker: &dyn Asker,
    ) -> Held {
        let Ok(session_id) = random_id() else {
            return Held::Done(failed("there is no randomness"));
        };
        let held = self.hold(&session_id, principal);
        let call_id = session_id.as_str();
        let call = NewCall { session_id: &session_id, call_id, tool, arguments, principal };
        let mut turn = self.host.call(call, None).await;
        loop {
            let (state, asks) = match turn {
                Ok(Turn::Asks { state, asks }) => (state, asks),
                Ok(Turn::Done(result)) => return Held::Done(result),
                Ok(_) => return Held::Done(failed("the call goes on elsewhere")),
                Err(error) => return Held::Done(failed(&error.to_string())),
            };
            let asked = asks.iter();
            let asked = asked.map(async |ask| (ask.key.clone(), asker.ask(&session_id, ask).await));
            let answers = tokio::select! {
                answers = join_all(asked) => answers,
                () = held.ended.cancelled() => return Held::Ended(failed("the user ended it")),
            };
            let resumption =
                Resumption { state: &state, tool, arguments: None, principal, answers };
            turn = self.host.resume(resumption, None).await;
        }
    }

    fn hold(self: &Arc<Self>, session_id: &str, principal: &str) -> Holding {
        let ended = CancellationToken::new();
        let (session_id, principal) = (session_id.to_owned(), principal.to_owned());
        self.held().insert(session_id.clone(), ended.clone());
        Holding { plugins: self.clone(), session_id, principal, ended }
    }

    fn held(&self) -> MutexGuard<'_, HashMap<String, CancellationToken>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Goes on as long as the tool asks the model alone.
    async fn sampled(
        &self,
        mut turn: Result<Turn, SessionError>,
        tool: &str,
        principal: &str,
        call_id: &str,
        session_id: &str,
        model: &ModelAgent,
    ) -> Called {
        loop {
            let (state, asks) = match turn {
                Ok(Turn::Asks { state, asks }) => (state, asks),
                Ok(Turn::Done(result)) => return Called::Done(told(&result)),
                Ok(_) => return Called::Done(Err("the call goes on elsewhere".to_owned())),
                Err(error) => return Called::Done(Err(error.to_string())),
            };
            let mut answers = Vec::new();
            for ask in &asks {
                if let ServerRequest::CreateMessage(params) = &ask.request {
                    answers.push((ask.key.clone(), sample(params, model).await));
                }
            }
            if answers.is_empty() {
                return Called::Asks(interrupts(&asks, session_id, call_id));
            }
            let resumption =
                Resumption { state: &state, tool, arguments: None, principal, answers };
            turn = self.host.resume(resumption, None).await;
        }
    }

    /// Takes the answers that a run brings; gives what came of each call that they are for.
    pub(crate) async fn resume(
        &self,
        input: &RunAgentInput,
        principal: &str,
        model: &ModelAgent,
    ) -> Result<Vec<(ToolCallId, Called)>, Refused> {
        let mut sessions: BTreeMap<&str, Vec<(String, Outcome)>> = BTreeMap::new();
        for entry in input.resume.iter().flatten() {
            let id = entry.interrupt_id.as_str();
            let unknown = || Refused("RESUME_MISMATCH", "There is no such question.".to_owned());
            let (session, key) = id.split_once(ELICIT).ok_or_else(unknown)?;
            let answer = if entry.status == ResumeStatus::Resolved {
                answer(entry.payload.as_ref())
            } else {
                json!({ "action": "cancel" })
            };
            let answer = Raw::from_value(&answer)
                .map_err(|error| Refused("RESUME_INVALID", error.to_string()))?;
            sessions.entry(session).or_default().push((key.to_owned(), Outcome::Value(answer)));
        }
        let mut came = Vec::new();
        for (session, answers) in sessions {
            let record = self.store.load(session).await.ok().flatten();
            let record =
                record.filter(|record| record.principal == principal).ok_or_else(|| {
                    Refused(
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
                return Err(Refused("INTERRUPT_EXPIRED", message));
            }
            let call_id = record.call_id.as_str();
            let called = self.sampled(turn, tool, principal, call_id, session, model).await;
            came.push((call_id.into(), called));
        }
        Ok(came)
    }

    /// The calls of somebody's that are not over, for people to see.
    pub(crate) async fn sessions(&self, principal: &str) -> Result<Vec<Value>, SessionError> {
        self.host.sweep().await?;
        let active = self.host.active().await?;
        let own = active.into_iter().filter(|record| record.principal == principal);
        let shown = own.map(|record| {
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

    /// Ends one of them; what waits for it is told so.
    pub(crate) async fn abort(&self, session: &str, principal: &str) -> Result<(), SessionError> {
        self.host.abort(session, principal, "the user ended it").await?;
        if let Some(held) = self.held().get(session) {
            held.cancel();
        }
        Ok(())
    }
}

/// What came of a call whose caller waited.
pub(crate) enum Held {
    Done(CallToolResult),
    /// Its questions are not to be answered any more.
    Ended(CallToolResult),
}

/// A call whose caller waits; when it is dropped the call ends, unless it is over.
struct Holding {
    plugins: Arc<Plugins>,
    session_id: String,
    principal: String,
    ended: CancellationToken,
}

impl Drop for Holding {
    fn drop(&mut self) {
        self.plugins.held().remove(&self.session_id);
        let (plugins, session) = (self.plugins.clone(), mem::take(&mut self.session_id));
        let principal = mem::take(&mut self.principal);
        tokio::spawn(async move {
            // One that is over stays as it is.
            let _ = plugins.host.abort(&session, &principal, "its caller is gone").await;
        });
    }
}

/// A result that says what went wrong.
pub(crate) fn failed(why: &str) -> CallToolResult {
    let mut result = CallToolResult::new([ContentBlock::Text(TextContent::new(why))]);
    result.is_error = Some(true);
    result
}

/// What a payload says: the result of an elicitation, or the content of one.
fn answer(payload: Option<&Raw>) -> Value {
    let payload: Value = payload.and_then(|payload| payload.decode().ok()).unwrap_or_default();
    match payload.get("action") {
        Some(Value::String(_)) => payload,
        _ => json!({ "action": "accept", "content": payload }),
    }
}

/// What the model is told of a result.
fn told(result: &CallToolResult) -> Result<String, String> {
    let text = result_text(result);
    if result.is_error.unwrap_or_default() { Err(text) } else { Ok(text) }
}

fn interrupts(asks: &[Ask], session_id: &str, call_id: &str) -> Vec<Interrupt> {
    let mut interrupts = Vec::new();
    for ask in asks {
        let Some(question) = PluginInterrupt::of(ask, session_id, call_id) else {
            tracing::warn!(key = ask.key, "a question that a page cannot be asked");
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

/// What the model says to a tool.
async fn sample(params: &CreateMessageRequestParams, model: &ModelAgent) -> Outcome {
    let texts = params.messages.iter().flat_map(|message| message.content.blocks());
    let texts = texts.filter_map(|block| match block {
        SamplingMessageContentBlock::Text(text) => Some(text.text.as_str()),
        _ => None,
    });
    let asked = texts.collect::<Vec<_>>().join("\n");
    let result = match model.say(&asked).await {
        Err(error) => return Outcome::Error(error),
        Ok(said) => {
            let text = SamplingMessageContentBlock::Text(TextContent::new(said));
            CreateMessageResult::new(Role::Assistant, SamplingContent::One(text), "gateway")
        }
    };
    match Raw::from_value(&result) {
        Ok(result) => Outcome::Value(result),
        Err(error) => Outcome::Error(error.to_string()),
    }
}
