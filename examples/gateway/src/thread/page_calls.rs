//! The calls that an agent makes of the page's tools, in one thread.
use super::Agent;
use crate::settings::PageToolsBinding;
use crate::site::Principal;
use acp_types::v1::session_setup::McpServer;
use agent_tools::page_server::TextResult;
use agent_tools::{FromServer, PageServer, PageServers};
use agui_bridge::Translator;
use agui_bridge::contextual_tools::{Dispatch, Wire};
use agui_bridge::frontend_tool::{
    Binding, Completion, FrontendTools, NewCall, Options, Outcome, ToolMode, ToolResult,
};
use agui_types::id::ToolCallId;
use agui_types::input::RunAgentInput;
use agui_types::tool::Tool;
use jsonrpc_core::wire::Meta;
use mcp_http::CallContext;
use std::collections::BTreeMap;
use std::mem;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;

/// The calls, and who waits for them.
pub(crate) struct PageCalls {
    machine: FrontendTools,
    options: Options,
    binding: PageToolsBinding,
    /// Whether the agent gets the gateway's own tools; if nothing is said, when it gets the page's.
    own_tools: Option<bool>,
    principal: Principal,
    servers: Arc<PageServers>,
    server: Option<PageServer>,
    waiting: Waiting,
}

#[derive(Default)]
struct Waiting {
    calls: BTreeMap<ToolCallId, Waiter>,
    /// What the agent is told with the next prompt.
    late: Vec<String>,
}

/// A call of the agent's over MCP.
struct Waiter {
    key: u64,
    reply: oneshot::Sender<TextResult>,
    context: CallContext,
    /// How often it was shown that the call is alive.
    alive: u32,
}

impl Binding for Waiting {
    fn answer(&mut self, call_id: &ToolCallId, outcome: Outcome) {
        // Calls of the extension method were answered when they came.
        if let Some(waiter) = self.calls.remove(call_id) {
            let _ = waiter.reply.send(outcome.to_text());
        }
    }

    fn keep_alive(&mut self, call_id: &ToolCallId) {
        if let Some(waiter) = self.calls.get_mut(call_id) {
            waiter.alive += 1;
            let progress = f64::from(waiter.alive);
            waiter.context.progress(progress, None, Some("waiting for the page"));
        }
    }

    fn tell(&mut self, _: &ToolCallId, text: &str) {
        self.late.push(text.to_owned());
    }
}

/// What an agent is given with a session, so that it has the page's tools.
#[derive(Debug, Default)]
pub(crate) struct Given {
    pub(crate) servers: Vec<McpServer>,
    pub(crate) meta: Option<Meta>,
}

impl PageCalls {
    pub(crate) fn new(
        binding: PageToolsBinding,
        own_tools: Option<bool>,
        principal: Principal,
        servers: Arc<PageServers>,
    ) -> Self {
        let mut options = Options::new();
        if binding == PageToolsBinding::Contextual {
            // Its calls are answered before the page has heard of them.
            options.modes = vec![("*".to_owned(), ToolMode::Ack)];
        }
        let machine = FrontendTools::new(options.clone());
        let waiting = Waiting::default();
        Self { machine, options, binding, own_tools, principal, servers, server: None, waiting }
    }

    /// What a new session is given. An agent gets nothing where the page has no tools, unless it is to have the gateway's.
    pub(crate) fn give(&mut self, agent: &Agent, tools: &[Tool]) -> Given {
        let wants_own = self.binding == PageToolsBinding::Mcp && self.own_tools == Some(true);
        if tools.is_empty() && !wants_own {
            return Given::default();
        }
        let over_http = match self.binding {
            PageToolsBinding::Off => return Given::default(),
            PageToolsBinding::Contextual => {
                let meta = Wire::default().announce(None, tools);
                return Given { servers: Vec::new(), meta };
            }
            PageToolsBinding::Mcp if agent.speaks_mcp_over_http() => true,
            PageToolsBinding::Mcp if agent.is_ours() => false,
            PageToolsBinding::Mcp => {
                tracing::info!(
                    "the agent cannot reach the page's tools: it speaks no MCP over HTTP"
                );
                return Given::default();
            }
        };
        match self.server(over_http) {
            Ok(server) => Given { servers: vec![server], meta: None },
            Err(error) => {
                tracing::error!(%error, "the page's tools have no server");
                Given::default()
            }
        }
    }

    fn server(&mut self, over_http: bool) -> std::io::Result<McpServer> {
        let server = match &mut self.server {
            Some(server) => server,
            none => {
                let offers_own = self.own_tools.unwrap_or(true);
                none.insert(self.servers.open_one(self.principal.as_str(), offers_own)?)
            }
        };
        server.offer(self.machine.tools());
        if over_http {
            Ok(server.over_http(&self.options))
        } else {
            server.over_stdio(&self.options)
        }
    }

    /// A run begins with a turn of its own.
    pub(crate) fn begin_turn(&mut self, input: &RunAgentInput, now: Duration) {
        self.machine.begin_turn(input.tools.as_deref().unwrap_or_default(), now);
        self.take(input, now);
    }

    /// A run goes on with the turn of the one before.
    pub(crate) fn resume_turn(&mut self, input: &RunAgentInput, now: Duration) {
        self.machine.resume_turn(input.tools.as_deref().unwrap_or_default(), now);
        self.take(input, now);
    }

    /// Takes the results that a run brings.
    pub(crate) fn take(&mut self, input: &RunAgentInput, now: Duration) {
        for (call, completion) in self.machine.handle_messages(&input.messages, now) {
            tracing::debug!(%call, ?completion, "a result of the page's");
        }
        if let Some(server) = &self.server {
            server.offer(self.machine.tools());
        }
    }

    /// Takes a result that comes beside a run.
    pub(crate) fn complete(
        &mut self,
        call: &ToolCallId,
        result: ToolResult,
        now: Duration,
    ) -> Result<(), ResultError> {
        match self.machine.complete(call, result, now) {
            Completion::Delivered => Ok(()),
            Completion::AlreadyDone => Err(ResultError::AlreadyDone),
            _ => Err(ResultError::Unknown),
        }
    }

    pub(crate) fn hear(&mut self, heard: FromServer, now: Duration) {
        match heard {
            FromServer::Call { key, call, context, reply } => {
                match self.machine.handle_call(call, now) {
                    Ok(call_id) => {
                        let waiter = Waiter { key, reply, context, alive: 0 };
                        self.waiting.calls.insert(call_id, waiter);
                    }
                    Err(error) => {
                        let _ = reply.send((error.to_string(), true));
                    }
                }
            }
            // The thread's own.
            FromServer::Ask { .. } => {}
            FromServer::Withdrawn(key) => {
                let calls = &mut self.waiting.calls;
                let call = calls.iter().find(|(_, waiter)| waiter.key == key);
                if let Some(call_id) = call.map(|(call_id, _)| call_id.clone()) {
                    calls.remove(&call_id);
                    self.machine.handle_withdrawn(&call_id);
                }
            }
        }
    }

    /// A call by the extension method.
    pub(crate) fn hear_contextual(&mut self, call: Dispatch, now: Duration) {
        if let Err(error) = self.machine.handle_call(NewCall::new(call.name, call.arguments), now) {
            tracing::warn!(%error, "a call that the page does not see");
        }
    }

    /// Whether somebody waits for the result of a call, or would be told of it.
    pub(crate) fn awaits(&self, call: &ToolCallId) -> bool {
        self.machine.awaits(call)
    }

    pub(crate) fn machine(&mut self) -> &mut FrontendTools {
        &mut self.machine
    }

    /// Does what is due.
    pub(crate) fn drive(&mut self, translator: &mut Translator) {
        self.machine.drive(&mut self.waiting, translator);
    }

    /// What the next prompt is to begin with.
    pub(crate) fn late(&mut self) -> Vec<String> {
        mem::take(&mut self.waiting.late)
    }

    /// The next that the agent asks for.
    pub(crate) async fn next(&mut self) -> FromServer {
        if let Some(server) = &mut self.server
            && let Some(heard) = server.inbox.recv().await
        {
            return heard;
        }
        std::future::pending().await
    }
}

/// Why a result that came beside a run was not taken.
#[derive(Clone, Copy, Debug, thiserror::Error)]
pub(crate) enum ResultError {
    #[error("no such call waits for a result")]
    Unknown,
    #[error("the call has its result")]
    AlreadyDone,
}
