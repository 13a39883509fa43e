//! A service for tools that ask while they run.
use crate::random::{random_id, since_1970};
use crate::running_tasks::Tasks;
use crate::service::{CallContext, RequestContext, Service};
use async_trait::async_trait;
use jsonrpc_core::wire::{DecodeError, Raw};
use jsonrpc_core::{ErrorCode, ErrorObject};
use mcp_bridge::mcp::capabilities::{ClientCapabilities, Implementation};
use mcp_bridge::mcp::dispatch::{ClientRequest, ServerRequest};
use mcp_bridge::mcp::sampling::{CreateMessageRequestParams, CreateMessageResult};
use mcp_bridge::mcp::tools::{CallToolResult, TaskSupport, Tool};
use mcp_bridge::plugin::{
    ANSWER_TOOL, AnswerArguments, Ask, MemoryStore, NoticeSink, Outcome, PluginHost, PluginTool,
    Resumption, SessionError, SuspendPolicy, Turn, answer_asks, answer_tool, ask_in_result,
    outcome, resumption,
};
use mcp_bridge::server::{
    CallOutcome, ServerOptions, ToolCall, missing_capability, tasks_required,
};
use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;

/// A model that answers sampling requests of tools, for clients without one.
#[async_trait]
pub trait Sampler: Send + Sync + 'static {
    /// Answers a request.
    ///
    /// # Errors
    /// Returns an error if the model does not respond. The tool receives the message.
    async fn sample(
        &self,
        params: &CreateMessageRequestParams,
    ) -> Result<CreateMessageResult, ErrorObject>;
}

/// Forwards answers to the program that has a call in memory.
#[async_trait]
pub trait Forwarder: Send + Sync + 'static {
    /// Forwards answers to `owner` and returns the outcome. `notices` receives the notices of the
    /// tool.
    ///
    /// # Errors
    /// Returns the error of the owner, or an error if the owner has ended.
    async fn forward(
        &self,
        owner: &str,
        resumption: Resumption<'_>,
        notices: Option<NoticeSink>,
    ) -> Result<Turn, SessionError>;
}

/// A service for tools that ask while they run. Clones share their state.
#[derive(Clone)]
pub struct PluginService {
    pub(crate) host: Arc<PluginHost>,
    tools: Arc<[Tool]>,
    server_info: Implementation,
    sampler: Option<Arc<dyn Sampler>>,
    forwarder: Option<Arc<dyn Forwarder>>,
    asks_in_results: bool,
    pub(crate) tasks: Arc<Tasks>,
}

impl fmt::Debug for PluginService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PluginService").field("host", &self.host).finish_non_exhaustive()
    }
}

impl PluginService {
    /// Creates a service with these tools. Calls that wait for an answer are kept in memory.
    ///
    /// # Errors
    /// Returns an error if the operating system provides no random bytes.
    pub fn in_memory(
        tools: impl IntoIterator<Item = PluginTool>,
        server_info: Implementation,
    ) -> io::Result<Self> {
        let store = Arc::new(MemoryStore::default());
        let clock = Arc::new(since_1970);
        let host = PluginHost::new(tools, SuspendPolicy::Park, store, random_id()?, clock);
        Ok(Self::new(host, server_info))
    }

    /// Creates a service with the tools of `host`, which determines where waiting calls are kept.
    pub fn new(host: impl Into<Arc<PluginHost>>, server_info: Implementation) -> Self {
        let host = host.into();
        let tools = host.tools().cloned().collect();
        Self {
            host,
            tools,
            server_info,
            sampler: None,
            forwarder: None,
            asks_in_results: false,
            tasks: Arc::default(),
        }
    }

    /// Sets a model for clients without one.
    #[must_use]
    pub fn with_sampler(mut self, sampler: Arc<dyn Sampler>) -> Self {
        self.sampler = Some(sampler);
        self
    }

    /// Sets the forwarder of answers to calls in the memory of other programs.
    #[must_use]
    pub fn with_forwarder(mut self, forwarder: Arc<dyn Forwarder>) -> Self {
        self.forwarder = Some(forwarder);
        self
    }

    /// Puts questions into results, for clients that show no forms, and adds a tool with which
    /// models return the answers.
    #[must_use]
    pub fn with_questions_in_results(mut self) -> Self {
        self.asks_in_results = true;
        self.tools = self.tools.iter().cloned().chain([answer_tool()]).collect();
        self
    }

    /// Returns the host of the tools.
    pub fn host(&self) -> &PluginHost {
        &self.host
    }

    /// Returns the tools.
    pub fn tools(&self) -> &[Tool] {
        &self.tools
    }

    /// Periodically expires sessions without an answer and removes ended sessions. The future never
    /// completes; spawn it as a task.
    pub async fn sweep(&self, every: Duration) {
        loop {
            tokio::time::sleep(every).await;
            if let Err(error) = self.host.sweep().await {
                tracing::warn!(%error, "failed to sweep sessions");
            }
        }
    }

    /// Resumes a session in this program or in its owner.
    pub(crate) async fn resume(
        &self,
        resumption: Resumption<'_>,
        notices: Option<NoticeSink>,
    ) -> Result<Turn, SessionError> {
        match (self.host.resume(resumption.clone(), notices.clone()).await, &self.forwarder) {
            (Err(SessionError::Elsewhere { owner }), Some(forwarder)) => {
                forwarder.forward(&owner, resumption, notices).await
            }
            (turn, _) => turn,
        }
    }

    /// Resumes a call while it requests samples that the client does not support.
    pub(crate) async fn sampled(
        &self,
        caller: &Caller<'_>,
        notices: Option<&NoticeSink>,
        turn: Result<Turn, SessionError>,
    ) -> Result<Turn, SessionError> {
        let Some(sampler) = &self.sampler else { return turn };
        let answer = |ask: &Ask| {
            let params = unsupported_sampling(ask, caller.capabilities)?.clone();
            Some(async move { sample(&params, &**sampler).await })
        };
        let resume = |state: String, answers| async move {
            let Caller { tool, principal, .. } = *caller;
            let state = &state;
            let resumption = Resumption { state, tool, arguments: None, principal, answers };
            self.resume(resumption, notices.cloned()).await
        };
        answer_asks(turn, answer, resume).await
    }
}

impl PluginService {
    /// Returns the answers in this call, if it is a call of the answer tool.
    fn answered(&self, call: &ToolCall) -> Option<Result<AnswerArguments, DecodeError>> {
        let brings = self.asks_in_results && call.name == ANSWER_TOOL;
        brings.then(|| call.arguments.decode())
    }

    /// Returns the questions of a call as a result, for clients that show no forms.
    fn in_result(
        &self,
        caller: &Caller<'_>,
        turn: &Result<Turn, SessionError>,
    ) -> Option<CallToolResult> {
        let Ok(Turn::Asks { state, asks }) = turn else { return None };
        let is_beyond = |ask: &Ask| missing_capability(caller.capabilities, &ask.request).is_some();
        let is_for_model = self.asks_in_results && asks.iter().any(is_beyond);
        is_for_model.then(|| ask_in_result(caller.tool, state, asks)).flatten()
    }
}

/// Releases the session of a call when its future is dropped, so that another program can resume it
/// at once.
struct ReleaseOnDrop(Option<Arc<PluginHost>>);

impl ReleaseOnDrop {
    fn disarm(mut self) {
        self.0 = None;
    }
}

impl Drop for ReleaseOnDrop {
    fn drop(&mut self) {
        let (Some(host), Ok(runtime)) = (self.0.take(), Handle::try_current()) else { return };
        runtime.spawn(async move {
            if let Err(error) = host.release().await {
                tracing::warn!(%error, "failed to release a dropped session");
            }
        });
    }
}

/// The caller of a tool and its capabilities.
pub(crate) struct Caller<'a> {
    pub(crate) tool: &'a str,
    pub(crate) principal: &'a str,
    pub(crate) capabilities: &'a ClientCapabilities,
}

/// Returns the request of a tool to a model, if the client does not support sampling.
fn unsupported_sampling<'a>(
    ask: &'a Ask,
    capabilities: &ClientCapabilities,
) -> Option<&'a CreateMessageRequestParams> {
    let ServerRequest::CreateMessage(params) = &ask.request else { return None };
    missing_capability(capabilities, &ask.request).map(|_| &**params)
}

/// Returns the answer of a model to a tool.
pub async fn sample(params: &CreateMessageRequestParams, sampler: &dyn Sampler) -> Outcome {
    match sampler.sample(params).await.map(|result| Raw::from_value(&result)) {
        Ok(Ok(raw)) => Outcome::Value(raw),
        Ok(Err(error)) => Outcome::Error(error.to_string()),
        Err(error) => Outcome::Error(error.message),
    }
}

#[async_trait]
impl Service for PluginService {
    fn options(&self, _principal: &str) -> ServerOptions {
        let mut options = ServerOptions::new(self.server_info.clone(), Arc::clone(&self.tools));
        let support = |tool: &Tool| self.host.task_support(&tool.name);
        if self.tools.iter().any(|tool| support(tool) != TaskSupport::Forbidden) {
            options.offer_tasks();
        }
        options
    }

    async fn call(&self, call: &ToolCall, context: &CallContext) -> CallOutcome {
        let Ok(session) = context.new_id() else {
            return CallOutcome::Failed(ErrorObject::new(
                ErrorCode::INTERNAL_ERROR,
                "no randomness",
            ));
        };
        let principal = context.principal();
        let is_new = call.request_state.is_none();
        match self.host.task_support(&call.name) {
            TaskSupport::Forbidden => {}
            _ if is_new && call.takes_task() => {
                return self.call_as_task(call, principal, &session).await;
            }
            TaskSupport::Required => return CallOutcome::Failed(tasks_required()),
            _ => {}
        }
        let release = ReleaseOnDrop(Some(Arc::clone(&self.host)));
        let client = context.clone();
        let notices: NoticeSink = Arc::new(move |notice| client.notify(notice));
        let answered = self.answered(call);
        let (tool, turn) = match (&answered, resumption(call, principal)) {
            (Some(Err(error)), _) => {
                let problem = ErrorObject::new(ErrorCode::INVALID_PARAMS, error.to_string());
                return CallOutcome::Failed(problem);
            }
            (Some(Ok(answers)), _) => {
                let resumption = answers.as_resumption(principal);
                (&*answers.tool, self.resume(resumption, Some(Arc::clone(&notices))).await)
            }
            (None, Some(resumption)) => {
                (&*call.name, self.resume(resumption, Some(Arc::clone(&notices))).await)
            }
            (None, None) => {
                let notices = Some(Arc::clone(&notices));
                (&*call.name, self.host.handle(call, &session, principal, notices).await)
            }
        };
        let caller = Caller { tool, principal, capabilities: &call.capabilities };
        let turn = self.sampled(&caller, Some(&notices), turn).await;
        release.disarm();
        match self.in_result(&caller, &turn) {
            Some(result) => result.into(),
            None => outcome(call, turn),
        }
    }

    async fn abandoned(&self, request_state: &str, principal: &str) {
        // A session that has ended is unchanged. With tokens there is no session.
        let ended =
            self.host.abort(request_state, principal, "the client cancelled the call").await;
        if let Err(error) = ended {
            tracing::debug!(%error, "failed to abort a session");
        }
    }

    async fn request(
        &self,
        request: &ClientRequest,
        context: &RequestContext,
    ) -> Result<Raw, ErrorObject> {
        self.task_request(request, &context.principal).await
    }
}
