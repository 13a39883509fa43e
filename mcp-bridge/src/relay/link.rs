//! Relayed calls.
use super::{ConnectionId, Link, Relay, RelayEvent, StateCodec};
use crate::arguments::canonical;
use crate::client::{CallError, CallParams, ClientEvent, UpstreamCall};
use crate::mcp::base::Era;
use crate::mcp::content::{ContentBlock, TextContent};
use crate::mcp::dispatch::{ServerNotification, ServerRequest};
use crate::mcp::tools::CallToolResult;
use crate::server::{AskError, CallId, Needs, ServerEvent, ToolCall};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use jsonrpc_core::wire::Raw;
use jsonrpc_core::{ErrorCode, ErrorObject};
use serde::{Deserialize, Serialize};

/// Content of a sealed state.
#[derive(Serialize, Deserialize)]
struct RelayState {
    /// A waiting call of a server up to 2025-11-25, and the relay that has it.
    call: Option<(String, u64)>,
    /// The state of a server since 2026-07-28.
    state: Option<String>,
    /// Keys of the requests to the user, which can be cancelled.
    questions: Vec<String>,
}

impl<C: StateCodec> Relay<C> {
    pub(super) fn handle_server_event(&mut self, connection: ConnectionId, event: ServerEvent) {
        match event {
            ServerEvent::Call(call) => self.forward(connection, *call),
            ServerEvent::Cancelled(id) => {
                let at = Some((connection, id));
                let found = self.links.iter().find(|(_, link)| link.downstream == at);
                if let Some(call) = found.map(|(call, _)| *call) {
                    self.links.remove(&call);
                    // An error means that the call has ended.
                    let _done = self.client.cancel(call);
                }
            }
            ServerEvent::Request { id, request } => {
                let text = format!("unknown method: {}", request.method());
                let refusal = ErrorObject::new(ErrorCode::METHOD_NOT_FOUND, text);
                if let Some(server) = self.server(connection) {
                    let _cancelled = server.respond(&id, Err(refusal));
                }
            }
            ServerEvent::Notification(_) => {}
            ServerEvent::Malformed(problem) => {
                self.events.push_back(RelayEvent::Malformed(problem));
            }
        }
    }

    /// Forwards a call of a client, for the first time or again.
    fn forward(&mut self, connection: ConnectionId, call: ToolCall) {
        let at = (connection, call.id);
        let bound_to = format!("{}\0{}", call.name, canonical(&call.arguments));
        let Some(sealed) = &call.request_state else {
            return self.call_upstream(at, bound_to, &call, None, Vec::new());
        };
        let state = self.codec.open(sealed, &bound_to);
        let state = state.and_then(|state| serde_json::from_str::<RelayState>(&state).ok());
        let Some(state) = state else {
            let text = "at /requestState: expected a valid state of this server for this call";
            return self.fail(at, ErrorObject::new(ErrorCode::INVALID_PARAMS, text));
        };
        match state.call {
            Some((instance, waiting)) if instance == self.options.instance => {
                self.resume(at, UpstreamCall::from_number(waiting), call);
            }
            Some(_) => self.finish(at, lost()),
            None => {
                let responses = call.responses.iter().filter_map(|(key, response)| {
                    let is_question = state.questions.contains(key);
                    let cancelled =
                        || Raw::from_text(r#"{"action":"cancel"}"#).ok().filter(|_| is_question);
                    Some((key.clone(), response.as_ref().ok().cloned().or_else(cancelled)?))
                });
                let responses = responses.collect();
                self.call_upstream(at, bound_to, &call, state.state, responses);
            }
        }
    }

    fn call_upstream(
        &mut self,
        at: (ConnectionId, CallId),
        bound_to: String,
        call: &ToolCall,
        request_state: Option<String>,
        responses: Vec<(String, Raw)>,
    ) {
        let mut params = CallParams::new(&*call.name, call.arguments.clone());
        params.meta.clone_from(&call.meta);
        params.wants_progress = call.progress_token.is_some();
        (params.request_state, params.responses) = (request_state, responses);
        match self.client.call(params) {
            Ok(upstream) => {
                let downstream = Some(at);
                let (pending_requests, outcome, expires) = (Vec::new(), None, None);
                let link = Link { downstream, bound_to, pending_requests, outcome, expires };
                self.links.insert(upstream, link);
            }
            Err(error) => {
                self.fail(at, ErrorObject::new(ErrorCode::INTERNAL_ERROR, error.to_string()));
            }
        }
    }

    /// Continues a waiting call when the client calls again.
    fn resume(&mut self, at: (ConnectionId, CallId), upstream: UpstreamCall, call: ToolCall) {
        let is_free = |link: &&mut Link| link.downstream.is_none_or(|downstream| downstream == at);
        let Some(link) = self.links.get_mut(&upstream).filter(is_free) else {
            return self.finish(at, lost());
        };
        (link.downstream, link.expires) = (Some(at), None);
        if let Some(outcome) = link.outcome.take() {
            self.links.remove(&upstream);
            return match outcome {
                Ok(result) => self.finish(at, result),
                Err(error) => self.fail(at, error),
            };
        }
        let is_pending =
            |key: &String| link.pending_requests.iter().any(|(pending, _)| pending == key);
        let responses: Vec<_> =
            call.responses.into_iter().filter(|(key, _)| is_pending(key)).collect();
        link.pending_requests
            .retain(|(key, _)| !responses.iter().any(|(answered, _)| answered == key));
        let left = core::mem::take(&mut link.pending_requests);
        // If the call has just ended, an event reports it next.
        let _ended = self.client.answer(upstream, responses);
        if !left.is_empty() {
            self.ask(upstream, Needs::new(left));
        }
    }

    pub(super) fn handle_client_event(&mut self, event: ClientEvent) {
        match event {
            ClientEvent::Ready(server) => {
                let tools = server.capabilities.tools.as_ref();
                let tells = tools.is_some_and(|tools| tools.list_changed == Some(true));
                self.events.push_back(RelayEvent::Ready(server));
                self.list_tools();
                if let (true, Err(error)) = (tells, self.client.subscribe_to_tools()) {
                    self.events.push_back(RelayEvent::Malformed(error.to_string()));
                }
            }
            ClientEvent::Unusable(error) => {
                self.fail_tools(&error.to_string());
                self.events.push_back(RelayEvent::Unusable(error));
            }
            ClientEvent::Tools(list) => {
                self.tools = Some(Ok(()));
                self.options.server.tools = list.tools.clone().into();
                for (connection, server) in &mut self.connections {
                    server.set_tools(self.options.server.tools.clone());
                    self.touched.insert(*connection);
                }
                self.events.push_back(RelayEvent::Tools(list));
            }
            ClientEvent::ToolsFailed(error) => {
                self.fail_tools(&error.to_string());
                self.events.push_back(RelayEvent::ToolsFailed(error));
            }
            ClientEvent::ToolsChanged => self.list_tools(),
            ClientEvent::Done { call, result } => self.end(call, Ok(*result)),
            ClientEvent::Failed { call, error } => {
                let error = match error {
                    CallError::Refused(error) => error,
                    other => ErrorObject::new(ErrorCode::INTERNAL_ERROR, other.to_string()),
                };
                self.end(call, Err(error));
            }
            ClientEvent::Needs { call, needs } => self.ask(call, needs),
            ClientEvent::Withdrawn { call, key } => {
                if let Some(link) = self.links.get_mut(&call) {
                    link.pending_requests.retain(|(pending, _)| *pending != key);
                }
            }
            ClientEvent::Progress { call, params } => {
                let downstream = self.links.get(&call).and_then(|link| link.downstream);
                if let Some((connection, id)) = downstream
                    && let Some(server) = self.server(connection)
                {
                    let _ended = server.progress(id, |token| {
                        let mut params = (*params).clone();
                        params.progress_token = token;
                        params
                    });
                }
            }
            ClientEvent::Notification(ServerNotification::LoggingMessage(params)) => {
                // The protocol does not say which call a message belongs to.
                let mut open = self.links.values().filter_map(|link| link.downstream);
                if let (Some((connection, id)), None) = (open.next(), open.next())
                    && let Some(server) = self.server(connection)
                {
                    let _ended = server.log(id, &params);
                }
            }
            // The client waits for the outcome only.
            ClientEvent::Notification(_) | ClientEvent::Task { .. } => {}
            ClientEvent::Malformed(problem) => {
                self.events.push_back(RelayEvent::Malformed(problem));
            }
        }
    }

    /// Rejects requests about tools, unless an earlier list is known.
    fn fail_tools(&mut self, problem: &str) {
        if matches!(self.tools, Some(Ok(()))) {
            return;
        }
        let text = format!("the tools of the upstream server are not available: {problem}");
        let error = ErrorObject::new(ErrorCode::INTERNAL_ERROR, text);
        for (connection, server) in &mut self.connections {
            server.fail_tools(error.clone());
            self.touched.insert(*connection);
        }
        self.tools = Some(Err(error));
    }

    fn list_tools(&mut self) {
        if let Err(error) = self.client.list_tools() {
            self.events.push_back(RelayEvent::Malformed(error.to_string()));
        }
    }

    /// Requests the input of a call from its client.
    fn ask(&mut self, upstream: UpstreamCall, needs: Needs) {
        let instance = self.options.instance.clone();
        let Some(link) = self.links.get_mut(&upstream) else { return };
        let Some(at) = link.downstream else {
            // No client is waiting. The input is requested when the client calls again.
            link.pending_requests.extend(needs.requests);
            return;
        };
        let is_legacy = self.client.era() == Some(Era::Legacy);
        if is_legacy {
            link.pending_requests.extend(needs.requests.iter().cloned());
        }
        let is_question = |request: &ServerRequest| matches!(request, ServerRequest::Elicit(_));
        let questions = needs.requests.iter().filter(|(_, request)| is_question(request));
        let state = RelayState {
            call: is_legacy.then(|| (instance, upstream.get())),
            state: needs.request_state.clone(),
            questions: questions.map(|(key, _)| key.clone()).collect(),
        };
        let state = serde_json::to_string(&state).unwrap_or_default();
        let mut forwarded = Needs::new(needs.requests);
        forwarded.request_state = Some(self.codec.seal(&state, &link.bound_to));
        let keys: Vec<_> = forwarded.requests.iter().map(|(key, _)| key.clone()).collect();
        let Some(server) = self.server(at.0) else { return };
        match server.ask(at.1, forwarded, None) {
            Ok(()) => self.register_pending(upstream, at, is_legacy),
            Err(error) => self.refuse(upstream, at, &error, keys, is_legacy),
        }
    }

    /// Records that the client was asked.
    fn register_pending(
        &mut self,
        upstream: UpstreamCall,
        at: (ConnectionId, CallId),
        is_legacy: bool,
    ) {
        if !is_legacy {
            // The call ended with `input_required`. The client calls again with the state.
            self.links.remove(&upstream);
            let _ended = self.client.cancel(upstream);
            return;
        }
        let is_open = self.connections.get(&at.0).is_some_and(|server| server.is_open(at.1));
        let expires = self.now.checked_add(self.options.wait);
        if let Some(link) = self.links.get_mut(&upstream).filter(|_| !is_open) {
            (link.downstream, link.expires) = (None, expires);
        }
    }

    /// Handles a client that cannot be asked.
    fn refuse(
        &mut self,
        upstream: UpstreamCall,
        at: (ConnectionId, CallId),
        error: &AskError,
        keys: Vec<String>,
        is_legacy: bool,
    ) {
        if is_legacy && matches!(error, AskError::Capability { .. }) {
            if let Some(link) = self.links.get_mut(&upstream) {
                link.pending_requests.retain(|(key, _)| !keys.contains(key));
            }
            let refusal = ErrorObject::new(ErrorCode::METHOD_NOT_FOUND, error.to_string());
            let refusals = keys.into_iter().map(|key| (key, Err(refusal.clone())));
            let _ended = self.client.answer(upstream, refusals.collect());
            return;
        }
        self.links.remove(&upstream);
        let _ended = self.client.cancel(upstream);
        let refusal = error.error_object();
        let refusal = refusal
            .unwrap_or_else(|| ErrorObject::new(ErrorCode::INTERNAL_ERROR, error.to_string()));
        self.fail(at, refusal);
    }

    /// Ends a call.
    fn end(&mut self, upstream: UpstreamCall, outcome: Result<CallToolResult, ErrorObject>) {
        let Some(link) = self.links.get_mut(&upstream) else { return };
        let Some(at) = link.downstream else {
            link.outcome = Some(outcome);
            return;
        };
        self.links.remove(&upstream);
        match outcome {
            Ok(result) => self.finish(at, result),
            Err(error) => self.fail(at, error),
        }
    }

    fn finish(&mut self, (connection, call): (ConnectionId, CallId), result: CallToolResult) {
        if let Some(server) = self.server(connection) {
            let _cancelled = server.finish(call, result);
        }
    }

    fn fail(&mut self, (connection, call): (ConnectionId, CallId), error: ErrorObject) {
        if let Some(server) = self.server(connection) {
            let _cancelled = server.fail(call, error);
        }
    }
}

/// Returns the result for a client that continues a call that no longer exists. The model may call the tool again.
fn lost() -> CallToolResult {
    let text = "The call was lost while it waited. Please call the tool again.";
    let mut result = CallToolResult::new([ContentBlock::Text(TextContent::new(text))]);
    result.is_error = Some(true);
    result
}
