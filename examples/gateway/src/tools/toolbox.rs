//! The tools of the server itself and of MCP servers, for models and for agents.
use crate::tools::lost::open_calls;
use crate::tools::questions::{CallState, ELICIT, Questions, ResumeError};
use crate::tools::server_calls::{Caller, ServerCalls};
use crate::tools::sources::{ToolServer, merge};
use agui_bridge::chat_history::ChatToolCall;
use agui_bridge::hybrid_tools::BackendTool;
use agui_types::id::ToolCallId;
use agui_types::input::RunAgentInput;
use jsonrpc_core::wire::{Meta, Raw};
use mcp_bridge::client::CallParams;
use mcp_bridge::mcp::tools::Tool;
use mcp_bridge::plugin::{Clock, Sampling, SessionError, SessionStore};
use mcp_bridge::registry::{RegisteredTool, Registry, ToolList, ToolSource};
use mcp_bridge_http::Sampler;
use serde_json::{Value, json};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};
use tokio::time::{Instant, timeout_at};

/// Name of the tool that returns the time.
const CLOCK: &str = "clock";

/// Result of a tool that asks, for the model, if the client does not support interrupts.
const CANNOT_ASK: &str = "the user cannot be asked: the client is of before AG-UI 1.0";

/// Time after the start of the program in which lists of tools wait for MCP servers.
const START_TIME: Duration = Duration::from_secs(10);

/// An MCP server of which the program offers the tools.
#[derive(Debug)]
pub struct OfferedServer {
    /// The connection.
    pub server: ToolServer,
    /// Names of the agents and models that get the server; all without this list.
    pub agents: Option<Vec<String>>,
    /// Whether calls of agents pass through this program.
    pub is_relayed: bool,
    /// Limits of its requests to the models that call its tools.
    pub sampling: Sampling,
}

impl OfferedServer {
    /// Returns whether an agent or a model gets the server.
    pub fn is_for(&self, agent: &str) -> bool {
        self.agents.as_ref().is_none_or(|agents| agents.iter().any(|name| name == agent))
    }
}

/// The MCP servers that a program offers.
pub type Offered = Vec<Arc<OfferedServer>>;

/// All tools, with their sources.
#[derive(Debug)]
pub struct Toolbox {
    own: Vec<Tool>,
    servers: Offered,
    merged: Mutex<MergedTools>,
    questions: Arc<Questions>,
    calls: ServerCalls,
    started: Instant,
}

/// The tools of all sources, and the numbers of changes of the servers when they were combined.
#[derive(Debug, Default)]
struct MergedTools {
    changes: Option<Vec<u64>>,
    registry: Arc<Registry>,
}

/// A model that calls a tool.
#[derive(Clone, Copy)]
#[expect(missing_debug_implementations, reason = "a model has none")]
pub struct ModelCaller<'a> {
    /// Name of the model.
    pub agent: &'a str,
    /// The user. Calls of different users are separate.
    pub user: &'a str,
    /// Whether the user can be asked.
    pub can_ask: bool,
    /// Answers the questions of tools to a model.
    pub model: &'a dyn Sampler,
}

impl Toolbox {
    /// Creates the tools. Suspended calls are kept in `sessions`, and expire by `clock`.
    ///
    /// # Errors
    /// The system has no randomness, or a schema is invalid.
    pub fn new(
        sessions: Arc<dyn SessionStore>,
        clock: Clock,
        servers: Offered,
    ) -> io::Result<Self> {
        let questions = Arc::new(Questions::new(sessions, clock)?);
        let mut clock =
            Tool::new(CLOCK, Raw::from_value(&json!({ "type": "object", "properties": {} }))?);
        clock.description = Some("The date and the time of day, in UTC.".to_owned());
        let own = [clock].into_iter().chain(questions.tools().cloned()).collect();
        let merged = Mutex::default();
        let calls = ServerCalls::new()?;
        let started = Instant::now();
        Ok(Self { own, servers, merged, questions, calls, started })
    }

    /// Returns the server's own tools that ask the user while they run.
    pub fn questions(&self) -> &Arc<Questions> {
        &self.questions
    }

    /// Returns the MCP servers.
    pub fn servers(&self) -> &Offered {
        &self.servers
    }

    /// Returns the MCP servers that are relayed to an agent.
    pub(crate) fn relayed(&self, agent: &str) -> impl Iterator<Item = &Arc<OfferedServer>> {
        self.servers.iter().filter(move |it| it.is_relayed && it.is_for(agent))
    }

    /// Waits until the tools of all MCP servers are known. After the start of the program it does
    /// not wait.
    pub async fn ready(&self) {
        let all = self.servers.iter().map(|it| it.server.ready());
        // Servers that take longer are offered when they are connected.
        let _late = timeout_at(self.started + START_TIME, futures::future::join_all(all)).await;
    }

    /// Returns all tools with their sources.
    pub fn registry(&self) -> Arc<Registry> {
        let mut merged = self.merged.lock().unwrap_or_else(PoisonError::into_inner);
        let changes: Vec<u64> = self.servers.iter().map(|it| it.server.changes()).collect();
        if merged.changes.as_ref() != Some(&changes) {
            let lists: Vec<_> =
                self.servers.iter().map(|it| (it.server.name(), it.server.tools())).collect();
            let servers = lists.iter().map(|(name, tools)| (*name, &**tools));
            merged.registry = Arc::new(merge(&self.own, servers));
            merged.changes = Some(changes);
        }
        merged.registry.clone()
    }

    /// Returns all tools in the form for HTTP clients.
    pub async fn list(&self) -> ToolList {
        self.ready().await;
        self.registry().list()
    }

    /// Returns whether a tool is offered to a model.
    fn is_for(&self, tool: &RegisteredTool, agent: &str) -> bool {
        match tool.source.server() {
            None => true,
            Some(server) => self.server(server).is_some_and(|it| it.is_for(agent)),
        }
    }

    fn server(&self, name: &str) -> Option<&OfferedServer> {
        self.servers.iter().find(|it| it.server.name() == name).map(|it| &**it)
    }

    /// Returns the tools for a model.
    pub fn for_models(&self, agent: &str) -> Vec<BackendTool> {
        let registry = self.registry();
        let offered = registry.iter().filter(|tool| self.is_for(tool, agent));
        let tools = offered.map(|registered| {
            let description = registered.tool.description.clone().unwrap_or_default();
            let mut tool = BackendTool::new(&*registered.name, description);
            tool.parameters = Some(registered.tool.input_schema.clone());
            tool
        });
        tools.collect()
    }

    /// Returns the server's own tools in the form for MCP clients.
    pub fn for_agents(&self) -> impl Iterator<Item = Tool> {
        self.own.iter().cloned()
    }

    /// Runs one of the server's own tools that does not ask.
    ///
    /// # Errors
    /// The tool does not exist; the text is for the model.
    pub async fn call(&self, name: &str) -> Result<String, String> {
        match name {
            CLOCK => Ok(humantime::format_rfc3339_seconds(SystemTime::now()).to_string()),
            other => Err(format!("the tool `{other}` does not exist")),
        }
    }

    /// Runs a tool for a model. `meta` accompanies the call of an MCP server.
    pub async fn call_for_model(
        &self,
        request: &ChatToolCall,
        caller: ModelCaller<'_>,
        meta: Option<Meta>,
    ) -> CallState {
        if self.questions.has(&request.name) {
            return match caller.can_ask {
                true => self.questions.call(request, caller.user, caller.model).await,
                false => CallState::Done(Err(CANNOT_ASK.to_owned())),
            };
        }
        let registry = self.registry();
        let tool = registry.find(&request.name).filter(|tool| self.is_for(tool, caller.agent));
        let (Some(RegisteredTool { tool, source: ToolSource::Mcp { server }, .. }), arguments) =
            (tool, Raw::from_text(&request.arguments))
        else {
            return CallState::Done(self.call(&request.name).await);
        };
        let Some(OfferedServer { server, sampling, .. }) = self.server(server) else {
            return CallState::Done(Err(format!("the tool `{}` does not exist", request.name)));
        };
        let arguments = match arguments {
            Ok(arguments) => arguments,
            Err(error) => return CallState::Done(Err(format!("invalid arguments: {error}"))),
        };
        let mut params = CallParams::new(&*tool.name, arguments);
        params.meta = meta;
        params.wants_progress = true;
        let call = match server.open(caller.user, params).await {
            Ok(call) => call,
            Err(error) => return CallState::Done(Err(error.to_string())),
        };
        let principal = caller.user;
        let tool = &*request.name;
        let call_id = request.id.as_str();
        let called = Caller { principal, tool, call_id, sampling, sampled: 0 };
        match self.calls.advance(call, called, caller.model).await {
            CallState::Asks(interrupts) if !caller.can_ask => {
                for interrupt in interrupts {
                    let session = interrupt.id.as_str().split_once(ELICIT);
                    let session = session.map_or("", |(session, _)| session);
                    let _was_waiting = self.calls.abort(session, caller.user);
                }
                CallState::Done(Err(CANNOT_ASK.to_owned()))
            }
            called => called,
        }
    }

    /// Resumes calls with the answers in the input of a run. Returns the new state of each.
    ///
    /// # Errors
    /// An answer belongs to no question of the user, or is too late.
    pub async fn resume(
        &self,
        input: &RunAgentInput,
        user: &str,
        model: &dyn Sampler,
    ) -> Result<Vec<(ToolCallId, CallState)>, ResumeError> {
        let entries = input.resume.iter().flatten().cloned();
        let (of_servers, own): (Vec<_>, Vec<_>) =
            entries.partition(|entry| ServerCalls::asked(entry.interrupt_id.as_str()));
        let lost = self.unanswered(input, user);
        let mut came = self.calls.resume(of_servers, lost, user, model).await?;
        if !own.is_empty() {
            let mut input = input.clone();
            input.resume = Some(own);
            came.extend(self.questions.resume(&input, user, model).await?);
        }
        Ok(came)
    }

    /// Returns the calls of MCP servers' tools in the history that have no result and do not wait
    /// for the user. A server may be unavailable after a restart, so its tools are those that
    /// neither the page nor the program has.
    fn unanswered(&self, input: &RunAgentInput, user: &str) -> Vec<ToolCallId> {
        let is_own = |name: &str| self.own.iter().any(|tool| tool.name == name);
        let is_of_page = |name: &str| input.tools.iter().flatten().any(|tool| tool.name == name);
        let mut open = open_calls(input, |name| !is_own(name) && !is_of_page(name));
        open.retain(|call| !self.calls.waits(user, call.as_str()));
        open
    }

    /// Returns the open calls of a user, for display.
    ///
    /// # Errors
    /// The store cannot be reached.
    pub async fn sessions(&self, user: &str) -> Result<Vec<Value>, SessionError> {
        let mut sessions = self.questions.sessions(user).await?;
        sessions.extend(self.calls.sessions(user));
        Ok(sessions)
    }

    /// Ends an open call of a user.
    ///
    /// # Errors
    /// The user has no such call, or the store cannot be reached.
    pub async fn abort(&self, session: &str, user: &str) -> Result<(), SessionError> {
        match self.calls.abort(session, user) {
            true => Ok(()),
            false => self.questions.abort(session, user).await,
        }
    }
}
