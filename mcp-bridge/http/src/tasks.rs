//! Calls as tasks. They continue after the response to their request.
use crate::endpoint::Endpoint;
use crate::plugins::{Caller, PluginService};
use futures::FutureExt;
use jsonrpc_core::wire::Raw;
use jsonrpc_core::{ErrorCode, ErrorObject};
use mcp_bridge::context::Carriers;
use mcp_bridge::mcp::base::{EmptyResult, RequestMetaObject, ResultType};
use mcp_bridge::mcp::capabilities::ClientCapabilities;
use mcp_bridge::mcp::dispatch::ClientRequest;
use mcp_bridge::plugin::{NewCall, Outcome, PluginHost, SessionError, StartedTask, Turn, outcome};
use mcp_bridge::server::{CallOutcome, ToolCall, missing_capability, missing_capability_error};
use serde::Serialize;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Weak};

/// How a run of a task starts.
enum TaskStart {
    Started(Box<StartedTask>),
    Answered,
}

impl PluginService {
    /// Sets the endpoint. Its subscribed clients are notified of the status of their tasks.
    pub fn serve_at(&self, endpoint: &Arc<Endpoint>) {
        self.tasks.endpoint.get_or_init(|| Arc::downgrade(endpoint));
    }

    /// Starts a call as a task.
    pub(crate) async fn call_as_task(
        &self,
        call: &ToolCall,
        principal: &str,
        id: &str,
    ) -> CallOutcome {
        self.begin_task(NewCall::of(call, id, principal), call).await
    }

    /// Starts a task for the client of a call that accepts tasks. Returns the outcome of the call.
    pub async fn begin_task(&self, new: NewCall<'_>, call: &ToolCall) -> CallOutcome {
        let id = new.session_id;
        let tool = new.tool;
        let principal = new.principal;
        match self.host.start_task(new).await {
            Ok(started) => {
                let task = started.task.clone();
                let begin = TaskStart::Started(Box::new(started));
                self.spawn(id, tool, principal, call.capabilities.clone(), begin);
                CallOutcome::Task(Box::new(task))
            }
            Err(error) => outcome(call, Err(error)),
        }
    }

    /// Handles a request about a task.
    pub(crate) async fn task_request(
        &self,
        request: &ClientRequest,
        principal: &str,
    ) -> Result<Raw, ErrorObject> {
        let meta = match request {
            ClientRequest::GetTask(params) | ClientRequest::CancelTask(params) => &params.meta,
            ClientRequest::UpdateTask(params) => &params.meta,
            other => {
                let problem = format!("unknown method: {}", other.method());
                return Err(ErrorObject::new(ErrorCode::METHOD_NOT_FOUND, problem));
            }
        };
        let meta = RequestMetaObject::read(meta.as_ref()).unwrap_or_default();
        let capabilities = meta.client_capabilities.unwrap_or_default();
        match request {
            ClientRequest::GetTask(params) => {
                let carriers = Carriers::for_peer(&capabilities);
                let view = self.host.task(&params.task_id, principal, carriers).await;
                let view = view.map_err(refusal)?;
                if view.is_idle {
                    self.go_on(&params.task_id, &view.tool, principal, capabilities);
                }
                written(&view.task)
            }
            ClientRequest::UpdateTask(params) => {
                let answers = params.input_responses.iter();
                let answers = answers.map(|(key, it)| (key.to_owned(), Outcome::Value(it.clone())));
                let answers: Vec<_> = answers.collect();
                let can_go_on = self.host.answer_task(&params.task_id, principal, &answers).await;
                if can_go_on.map_err(refusal)? {
                    let view = self.host.task(&params.task_id, principal, Carriers::NONE).await;
                    self.go_on(
                        &params.task_id,
                        &view.map_err(refusal)?.tool,
                        principal,
                        capabilities,
                    );
                }
                acknowledged()
            }
            ClientRequest::CancelTask(params) => {
                self.host.cancel_task(&params.task_id, principal).await.map_err(refusal)?;
                if let Some(running) = self.tasks.running().remove(&params.task_id) {
                    running.abort();
                }
                self.notify(&params.task_id, principal, &capabilities).await;
                acknowledged()
            }
            _ => acknowledged(),
        }
    }

    fn go_on(&self, id: &str, tool: &str, principal: &str, capabilities: ClientCapabilities) {
        self.spawn(id, tool, principal, capabilities, TaskStart::Answered);
    }

    /// Runs a task in the background. Has no effect if the task is already running.
    fn spawn(
        &self,
        id: &str,
        tool: &str,
        principal: &str,
        capabilities: ClientCapabilities,
        begin: TaskStart,
    ) {
        let mut running = self.tasks.running();
        running.retain(|_, task| !task.is_finished());
        let service = self.clone();
        let name = id.to_owned();
        let tool = tool.to_owned();
        let principal = principal.to_owned();
        let task = tokio::spawn(async move {
            let caller = Caller { tool: &tool, principal: &principal, capabilities: &capabilities };
            let ran = AssertUnwindSafe(service.run(&name, &caller, begin)).catch_unwind().await;
            let problem = ran.unwrap_or_else(|_| {
                Some(ErrorObject::new(ErrorCode::INTERNAL_ERROR, "the server failed"))
            });
            if let Some(problem) = problem {
                let failed = service.host.fail_task(&name, &principal, problem).await;
                if let Err(error) = failed {
                    tracing::warn!(%error, "failed to end a failed task");
                }
            }
            service.notify(&name, &principal, &capabilities).await;
        });
        running.insert(id.to_owned(), task.abort_handle());
    }

    /// Runs a task until it waits or ends. Returns the reason why it cannot continue.
    async fn run(&self, id: &str, caller: &Caller<'_>, begin: TaskStart) -> Option<ErrorObject> {
        let turn = match begin {
            TaskStart::Started(started) => self.host.run_task(*started, None).await,
            TaskStart::Answered => {
                let resumption = PluginHost::task_resumption(id, caller.tool, caller.principal);
                self.resume(resumption, None).await
            }
        };
        match self.sampled(caller, None, turn).await {
            Ok(Turn::Asks { asks, .. }) => asks.iter().find_map(|ask| {
                missing_capability(caller.capabilities, &ask.request)
                    .map(|required| missing_capability_error(&required))
            }),
            // The task has ended or runs elsewhere.
            Ok(_)
            | Err(
                SessionError::Protocol(_)
                | SessionError::Superseded
                | SessionError::Aborted
                | SessionError::Expired
                | SessionError::NotFound,
            ) => None,
            Err(error) => Some(ErrorObject::new(ErrorCode::INTERNAL_ERROR, error.to_string())),
        }
    }

    /// Notifies subscribers of the status of a task.
    async fn notify(&self, id: &str, principal: &str, capabilities: &ClientCapabilities) {
        let Some(endpoint) = self.tasks.endpoint.get().and_then(Weak::upgrade) else { return };
        let carriers = Carriers::for_peer(capabilities);
        if let Ok(view) = self.host.task(id, principal, carriers).await {
            endpoint.notify_task(principal, &view.task);
        }
    }
}

fn refusal(error: SessionError) -> ErrorObject {
    let code = match error {
        SessionError::NotFound => ErrorCode::INVALID_PARAMS,
        _ => ErrorCode::INTERNAL_ERROR,
    };
    ErrorObject::new(code, error.to_string())
}

fn acknowledged() -> Result<Raw, ErrorObject> {
    let mut done = EmptyResult::new();
    done.result_type = Some(ResultType::Complete);
    written(&done)
}

fn written<T: Serialize>(result: &T) -> Result<Raw, ErrorObject> {
    let raw = Raw::from_value(result);
    raw.map_err(|error| ErrorObject::new(ErrorCode::INTERNAL_ERROR, error.to_string()))
}
