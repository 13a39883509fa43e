//! Calls of an MCP server's tools by an agent, which pass through this program: traced, audited, and with questions to the user of
//! the conversation.
use crate::page_server::{ALIVE_TIME, AUDIT, FromServer, Withdraw, ask_user, tool_question};
use crate::toolbox::OfferedServer;
use async_trait::async_trait;
use futures::StreamExt;
use futures::future::join_all;
use futures::stream::FuturesUnordered;
use jsonrpc_core::wire::{Meta, Raw};
use jsonrpc_core::{ErrorCode, ErrorObject};
use mcp_bridge::client::{CallError, CallParams};
use mcp_bridge::context::{Limits, extract};
use mcp_bridge::mcp::capabilities::Implementation;
use mcp_bridge::mcp::dispatch::ServerRequest;
use mcp_bridge::mcp::elicitation::ElicitRequestParams;
use mcp_bridge::server::{CallOutcome, Needs, ServerOptions, ToolCall};
use mcp_bridge_http::{CallContext, Service};
use opentelemetry::trace::SpanKind;
use run_telemetry::{Span, Telemetry, cut};
use semconv_map::keys;
use semconv_map::trace_context::{TRACEPARENT, TraceContext};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::{mpsc, oneshot};
use tokio::time::interval;
use tool_sources::{CallEvent, ServerCall};

/// Progress that is reported while the user is asked, in addition to that of the tool.
const ALIVE_PROGRESS: f64 = 0.001;

/// Returns the `_meta` of a call below a span.
pub fn traced_meta(meta: Option<&Meta>, span: &TraceContext) -> Meta {
    let mut meta = meta.cloned().unwrap_or_default();
    if let Ok(parent) = Raw::from_value(&span.traceparent()) {
        meta.insert(TRACEPARENT, parent);
    }
    meta
}

/// A server for the agent of one conversation.
pub(crate) struct RelayService {
    pub(crate) server: Arc<OfferedServer>,
    pub(crate) user: String,
    pub(crate) requests: mpsc::Sender<FromServer>,
    /// The number of calls of the conversation.
    pub(crate) calls: Arc<AtomicU64>,
    pub(crate) telemetry: Telemetry,
}

#[async_trait]
impl Service for RelayService {
    fn options(&self, _principal: &str) -> ServerOptions {
        let server = &self.server.server;
        let description = server.description();
        let own = || Implementation::new(server.name(), env!("CARGO_PKG_VERSION"));
        let info = description.as_ref().and_then(|it| it.server_info.clone()).unwrap_or_else(own);
        let mut options = ServerOptions::new(info, server.tools());
        options.instructions = description.and_then(|it| it.instructions);
        options
    }

    async fn call(&self, call: &ToolCall, context: &CallContext) -> CallOutcome {
        let key = self.calls.fetch_add(1, Ordering::Relaxed);
        let (user, server, tool) = (&*self.user, self.server.server.name(), &*call.name);
        let content = call.arguments.as_str();
        tracing::info!(target: AUDIT, event = "tool.call", user, server, tool, content);
        // Questions are withdrawn when the call ends or is cancelled.
        let _withdraw = Withdraw { requests: &self.requests, key, is_over: false };
        let mut span = self.span(call).await;
        let mut params = CallParams::new(tool, call.arguments.clone());
        params.wants_progress = call.progress_token.is_some();
        params.meta = match span.as_ref().and_then(Span::context) {
            Some(span) => Some(traced_meta(call.meta.as_ref(), &span)),
            None => call.meta.clone(),
        };
        let outcome = match self.server.server.open(params).await {
            Ok(open) => self.relay(open, call, context, key).await,
            Err(error) => CallOutcome::failed(&error.to_string()),
        };
        let is_error = match &outcome {
            CallOutcome::Done(result) => result.is_error == Some(true),
            _ => true,
        };
        if let (true, Some(span)) = (is_error, &mut span) {
            span.fail("tool_error".to_owned());
        }
        outcome
    }
}

impl RelayService {
    /// Starts the span of a call, below the span that the agent states, or else that of the run.
    async fn span(&self, call: &ToolCall) -> Option<Span> {
        let stated = call.meta.as_ref().and_then(|meta| TraceContext::from_meta(meta.as_str()));
        let (reply, run) = oneshot::channel();
        let run = match self.requests.send(FromServer::Span(reply)).await {
            Ok(()) => run.await.ok().flatten(),
            Err(_) => None,
        };
        let (tool, run) = (cut(&call.name), stated.or(run));
        let name = format!("tools/call {tool}");
        let mut span = self.telemetry.span(name, SpanKind::Client, run.as_ref())?;
        span.set(keys::MCP_METHOD_NAME, "tools/call");
        span.set(keys::GEN_AI_OPERATION_NAME, "execute_tool");
        span.set(keys::GEN_AI_TOOL_NAME, tool);
        if let Some(server) = self.server.server.description() {
            span.set(keys::MCP_PROTOCOL_VERSION, server.version.as_str().to_owned());
        }
        Some(span)
    }

    async fn relay(
        &self,
        mut open: ServerCall,
        call: &ToolCall,
        context: &CallContext,
        key: u64,
    ) -> CallOutcome {
        let mut asked = FuturesUnordered::new();
        let (mut beat, mut progress) = (interval(ALIVE_TIME), 0.0);
        loop {
            let is_asking = !asked.is_empty();
            let event = async {
                if is_asking { open.next_while_asking().await } else { open.next().await }
            };
            tokio::select! {
                event = event => match event {
                    CallEvent::Ended(Ok(result)) => return CallOutcome::Done(result),
                    CallEvent::Ended(Err(CallError::Refused(error))) => {
                        return CallOutcome::Failed(error);
                    }
                    CallEvent::Ended(Err(error)) => {
                        return CallOutcome::failed(&format!("the tool has no result: {error}"));
                    }
                    CallEvent::Needs(needs) => asked.push(self.answers(needs, call, key)),
                    CallEvent::Progress(params) => {
                        progress = params.progress.as_f64().unwrap_or(progress);
                        let total = params.total.as_ref().and_then(serde_json::Number::as_f64);
                        context.progress(progress, total, params.message.as_deref());
                    }
                    _ => {}
                },
                Some(answers) = asked.next() => open.answer(answers).await,
                _ = beat.tick(), if is_asking => {
                    progress += ALIVE_PROGRESS;
                    context.progress(progress, None, Some("waiting for the user"));
                }
            }
        }
    }

    /// Answers all requests of one event.
    async fn answers(
        &self,
        needs: Needs,
        call: &ToolCall,
        key: u64,
    ) -> Vec<(String, Result<Raw, ErrorObject>)> {
        let answers = needs.requests.into_iter().map(async |(name, request)| {
            let answer = self.answer(&request, call, &name, key).await;
            let internal = |problem| ErrorObject::new(ErrorCode::INTERNAL_ERROR, problem);
            (name, answer.map_err(internal))
        });
        join_all(answers).await
    }

    async fn answer(
        &self,
        request: &ServerRequest,
        call: &ToolCall,
        name: &str,
        key: u64,
    ) -> Result<Raw, String> {
        let ServerRequest::Elicit(params) = request else {
            return Err("no model is available".to_owned());
        };
        let extracted = extract(params, &Limits::default());
        let ElicitRequestParams::Form(form) = &extracted.request else {
            return Err("the user can be asked by form only".to_owned());
        };
        let question = tool_question(call, form, extracted.context.as_ref(), name, None)?;
        ask_user(&self.requests, key, question).await
    }
}
