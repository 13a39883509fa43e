//! Requests of an agent to an MCP server, which pass through this program: traced, audited, and
//! with questions to the user of the conversation.
use crate::telemetry::{Span, Telemetry, cut};
use crate::tools::events::{
    ALIVE_TIME, AUDIT, EventHandler, FromServer, Withdraw, ask_user, tool_question,
};
use crate::tools::sources::{CallEvent, ServerCall, ServerChanges, WatchedResource};
use crate::tools::toolbox::OfferedServer;
use async_trait::async_trait;
use futures::StreamExt;
use futures::future::join_all;
use futures::stream::FuturesUnordered;
use jsonrpc_core::wire::{Meta, Raw};
use jsonrpc_core::{ErrorCode, ErrorObject};
use mcp_bridge::client::{CallError, CallParams};
use mcp_bridge::context::{ContextLimits, extract};
use mcp_bridge::mcp::capabilities::Implementation;
use mcp_bridge::mcp::completion::CompletionReference;
use mcp_bridge::mcp::dispatch::{ClientRequest, ServerRequest};
use mcp_bridge::mcp::elicitation::ElicitRequestParams;
use mcp_bridge::mcp::logging::LoggingMessageNotificationParams;
use mcp_bridge::mcp::skills::SkillsCapability;
use mcp_bridge::mcp::subscriptions::ServerChange;
use mcp_bridge::plugin::Notice;
use mcp_bridge::server::{CallOutcome, Needs, ServerOptions, ToolCall, adapt_outcome};
use mcp_bridge_http::{CallContext, Endpoint, RequestContext, Service};
use opentelemetry::trace::SpanKind;
use semconv_map::keys;
use semconv_map::trace_context::{TRACEPARENT, TraceContext};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::oneshot;
use tokio::time::interval;

/// Member of `_meta` with the least level of log messages.
///
/// Spec: [`RequestMetaObject`](https://modelcontextprotocol.io/specification/2026-07-28/schema#requestmetaobject)
const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

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

/// Reports the changes of a server to the clients of its relay.
pub(crate) async fn report_changes(
    mut changes: ServerChanges,
    relay: Arc<RelayService>,
    endpoint: Arc<Endpoint>,
) {
    loop {
        match changes.recv().await {
            Ok(ServerChange::Tools) => endpoint.tools_changed(),
            Ok(change) => endpoint.notify_changed(&change),
            Err(RecvError::Lagged(_)) => {
                endpoint.tools_changed();
                endpoint.notify_changed(&ServerChange::Prompts);
                endpoint.notify_changed(&ServerChange::Resources);
                let watched: Vec<_> = relay.watched().keys().cloned().collect();
                let watched = watched.into_iter().map(ServerChange::Resource);
                watched.for_each(|change| endpoint.notify_changed(&change));
            }
            Err(RecvError::Closed) => return,
        }
    }
}

/// A server for the agent of one conversation.
pub(crate) struct RelayService {
    pub(crate) server: Arc<OfferedServer>,
    pub(crate) user: String,
    pub(crate) events: EventHandler,
    /// The number of calls of the conversation.
    pub(crate) calls: Arc<AtomicU64>,
    pub(crate) telemetry: Telemetry,
    /// Subscriptions of the agent to resources, and the number of its connections that have each.
    pub(crate) watched: Mutex<HashMap<String, (usize, Option<WatchedResource>)>>,
}

/// A request in progress.
struct Subject<'a> {
    /// Identifies the request.
    key: u64,
    method: &'a str,
    /// The tool, prompt or resource.
    target: &'a str,
    meta: Option<&'a Meta>,
}

#[async_trait]
impl Service for RelayService {
    fn options(&self, _principal: &str) -> ServerOptions {
        let server = &self.server.server;
        let description = server.description();
        let own = || Implementation::new(server.name(), env!("CARGO_PKG_VERSION"));
        let info = description.as_ref().and_then(|it| it.server_info.clone()).unwrap_or_else(own);
        let mut options = ServerOptions::new(info, server.tools());
        if let Some(description) = description {
            let offered = description.capabilities;
            let skills = SkillsCapability::of(&offered);
            options.capabilities.prompts = offered.prompts;
            options.capabilities.resources = offered.resources;
            options.capabilities.completions = offered.completions;
            options.capabilities.logging = offered.logging;
            options.instructions = description.instructions;
            if let Some(skills) = skills {
                skills.declare(&mut options.capabilities);
            }
        }
        options
    }

    async fn call(&self, call: &ToolCall, context: &CallContext) -> CallOutcome {
        let meta = call.meta.as_ref();
        let target = &*call.name;
        let method = "tools/call";
        let subject = Subject { key: self.key(), method, target, meta };
        let user = &*self.user;
        let server = self.server.server.name();
        let tool = target;
        let content = call.arguments.as_str();
        tracing::info!(target: AUDIT, event = "tool.call", user, server, tool, content);
        let mut span = self.span(&subject).await;
        let mut params = CallParams::new(tool, call.arguments.clone());
        params.wants_progress = call.progress_token.is_some();
        params.meta = match span.as_ref().and_then(Span::context) {
            Some(span) => Some(traced_meta(meta, &span)),
            None => meta.cloned(),
        };
        // The level of a session up to 2025-11-25 is not in the request.
        if let Some(level) = call.log_level.as_ref().and_then(|level| Raw::from_value(level).ok()) {
            params.meta.get_or_insert_default().insert(LOG_LEVEL, level);
        }
        let outcome = match self.server.server.open(&self.user, params).await {
            Ok(open) => match self.relay(open, &subject, Some(context)).await {
                CallEvent::Ended(Ok(result)) => CallOutcome::Done(result),
                CallEvent::Ended(Err(CallError::Refused(error))) => CallOutcome::Failed(error),
                CallEvent::Ended(Err(error)) => {
                    CallOutcome::failed(&format!("the tool has no result: {error}"))
                }
                other => CallOutcome::failed(&format!("the tool has no result: {other:?}")),
            },
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

    async fn request(
        &self,
        request: &ClientRequest,
        context: &RequestContext,
    ) -> Result<Raw, ErrorObject> {
        let Some((target, meta)) = relayed(request) else {
            let problem = format!("unknown method: {}", request.method());
            return Err(ErrorObject::new(ErrorCode::METHOD_NOT_FOUND, problem));
        };
        let subject = Subject { key: self.key(), method: request.method(), target, meta };
        let user = &*self.user;
        let server = self.server.server.name();
        let method = subject.method;
        let params = request.to_params().ok().flatten();
        let content = params.as_ref().map_or("{}", Raw::as_str);
        tracing::info!(target: AUDIT, event = "mcp.request", user, server, method, content);
        let mut span = self.span(&subject).await;
        let traced = span.as_ref().and_then(Span::context);
        let sent = match traced {
            Some(span) => with_meta(request, traced_meta(meta, &span))?,
            None => request.clone(),
        };
        let outcome = match self.server.server.request(&self.user, sent).await {
            Ok(open) => match self.relay(open, &subject, None).await {
                CallEvent::Answered(result) => Ok(result),
                CallEvent::Ended(Err(CallError::Refused(error))) => Err(error),
                CallEvent::Ended(Err(error)) => Err(internal(error.to_string())),
                other => Err(internal(format!("unexpected {other:?}"))),
            },
            Err(error) => Err(internal(error.to_string())),
        };
        if let (Err(error), Some(span)) = (&outcome, &mut span) {
            span.fail(error.code.0.to_string());
        }
        adapt_outcome(request, outcome, context.era)
    }

    fn subscribed(&self, uri: &str) {
        let mut watched = self.watched();
        let (count, _) = watched.entry(uri.to_owned()).or_insert_with(|| {
            let watch = self.server.server.watch_resource(&self.user, uri);
            if watch.is_none() {
                let server = self.server.server.name();
                tracing::warn!(server, uri, "too many resources of an MCP server are watched");
            }
            (0, watch)
        });
        *count += 1;
    }

    fn unsubscribed(&self, uri: &str) {
        let mut watched = self.watched();
        let Some((count, _)) = watched.get_mut(uri) else { return };
        *count -= 1;
        if *count == 0 {
            watched.remove(uri);
        }
    }
}

/// Returns the subject and the `_meta` of a request that is relayed.
fn relayed(request: &ClientRequest) -> Option<(&str, Option<&Meta>)> {
    Some(match request {
        ClientRequest::ListPrompts(params)
        | ClientRequest::ListResources(params)
        | ClientRequest::ListResourceTemplates(params)
        | ClientRequest::ListSkills(params) => ("", params.meta.as_ref()),
        ClientRequest::GetSkill(params) => (&params.uri, params.meta.as_ref()),
        ClientRequest::ReadResourceDirectory(params) => (&params.uri, params.meta.as_ref()),
        ClientRequest::GetPrompt(params) => (&params.name, params.meta.as_ref()),
        ClientRequest::ReadResource(params) => (&params.uri, params.meta.as_ref()),
        ClientRequest::Complete(params) => {
            let target = match &params.r#ref {
                CompletionReference::Prompt(prompt) => &*prompt.name,
                CompletionReference::Resource(resource) => &*resource.uri,
                _ => "",
            };
            (target, params.meta.as_ref())
        }
        _ => return None,
    })
}

/// Returns a request with another `_meta`.
fn with_meta(request: &ClientRequest, meta: Meta) -> Result<ClientRequest, ErrorObject> {
    let mut request = request.clone();
    let member = match &mut request {
        ClientRequest::ListPrompts(params)
        | ClientRequest::ListResources(params)
        | ClientRequest::ListResourceTemplates(params)
        | ClientRequest::ListSkills(params) => &mut params.meta,
        ClientRequest::GetSkill(params) => &mut params.meta,
        ClientRequest::ReadResourceDirectory(params) => &mut params.meta,
        ClientRequest::GetPrompt(params) => &mut params.meta,
        ClientRequest::ReadResource(params) => &mut params.meta,
        ClientRequest::Complete(params) => &mut params.meta,
        other => return Err(internal(format!("`{}` is not relayed", other.method()))),
    };
    *member = Some(meta);
    Ok(request)
}

fn internal(problem: String) -> ErrorObject {
    ErrorObject::new(ErrorCode::INTERNAL_ERROR, problem)
}

impl RelayService {
    fn key(&self) -> u64 {
        self.calls.fetch_add(1, Ordering::Relaxed)
    }

    fn watched(&self) -> MutexGuard<'_, HashMap<String, (usize, Option<WatchedResource>)>> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts the span of a request, below the span that the agent states, or else that of the run.
    async fn span(&self, subject: &Subject<'_>) -> Option<Span> {
        let stated = subject.meta.and_then(|meta| TraceContext::from_meta(meta.as_str()));
        let (reply, run) = oneshot::channel();
        (self.events)(FromServer::Span(reply));
        let run = run.await.ok().flatten();
        let method = subject.method.to_owned();
        let target = cut(subject.target);
        let run = stated.or(run);
        let name = match subject.method {
            "tools/call" | "prompts/get" => format!("{method} {target}"),
            _ => method.clone(),
        };
        let mut span = self.telemetry.span(name, SpanKind::Client, run.as_ref())?;
        match subject.method {
            "tools/call" => {
                span.set(keys::GEN_AI_OPERATION_NAME, "execute_tool");
                span.set(keys::GEN_AI_TOOL_NAME, target);
            }
            "prompts/get" => span.set(keys::GEN_AI_PROMPT_NAME, target),
            // A URI may contain what the user keeps private.
            _ => {}
        }
        span.set(keys::MCP_METHOD_NAME, method);
        if let Some(server) = self.server.server.description() {
            span.set(keys::MCP_PROTOCOL_VERSION, server.version.as_str().to_owned());
        }
        Some(span)
    }

    /// Follows a request until its last event.
    async fn relay(
        &self,
        mut open: ServerCall,
        subject: &Subject<'_>,
        context: Option<&CallContext>,
    ) -> CallEvent {
        // Questions are withdrawn when the request ends or is cancelled.
        let _withdraw = Withdraw { events: &self.events, key: subject.key, is_over: false };
        let mut asked = FuturesUnordered::new();
        let mut beat = interval(ALIVE_TIME);
        let mut progress = 0.0;
        let report = |progress, total, message: Option<&str>| {
            if let Some(context) = context {
                context.progress(progress, total, message);
            }
        };
        loop {
            let is_asking = !asked.is_empty();
            let event = async {
                if is_asking { open.next_while_asking().await } else { open.next().await }
            };
            tokio::select! {
                event = event => match event {
                    CallEvent::Needs(needs) => asked.push(self.answers(needs, subject)),
                    CallEvent::Progress(params) => {
                        progress = params.progress.as_f64().unwrap_or(progress);
                        let total = params.total.as_ref().and_then(serde_json::Number::as_f64);
                        report(progress, total, params.message.as_deref());
                    }
                    CallEvent::Log(params) => {
                        let LoggingMessageNotificationParams { level, logger, data, .. } = *params;
                        if let Some(context) = context {
                            context.notify(&Notice::Log { level, logger, data });
                        }
                    }
                    event @ (CallEvent::Ended(_) | CallEvent::Answered(_)) => return event,
                    _ => {}
                },
                Some(answers) = asked.next() => open.answer(answers).await,
                _ = beat.tick(), if is_asking => {
                    progress += ALIVE_PROGRESS;
                    report(progress, None, Some("waiting for the user"));
                }
            }
        }
    }

    /// Answers all requests of one event.
    async fn answers(
        &self,
        needs: Needs,
        subject: &Subject<'_>,
    ) -> Vec<(String, Result<Raw, ErrorObject>)> {
        let answers = needs.requests.into_iter().map(async |(name, request)| {
            let answer = self.answer(&request, subject, &name).await;
            (name, answer.map_err(internal))
        });
        join_all(answers).await
    }

    async fn answer(
        &self,
        request: &ServerRequest,
        subject: &Subject<'_>,
        name: &str,
    ) -> Result<Raw, String> {
        let ServerRequest::Elicit(params) = request else {
            return Err("no model is available".to_owned());
        };
        let extracted = extract(params, &ContextLimits::default());
        let ElicitRequestParams::Form(form) = &extracted.request else {
            return Err("the user can be asked by form only".to_owned());
        };
        let call = (subject.target, subject.meta);
        let question = tool_question(call, form, extracted.context.as_ref(), name, None)?;
        ask_user(&self.events, subject.key, question).await
    }
}
