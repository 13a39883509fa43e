//! Calls that go through a relay.
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

/// What is in a sealed state.
#[derive(Serialize, Deserialize)]
struct State {
    /// A call that waits, of an old server, and the relay that knows it.
    call: Option<(String, u64)>,
    /// The state of a new server.
    state: Option<String>,
    /// Which keys are questions to the person: they can be cancelled.
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
                    // It may be done: then there is nothing to cancel.
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

    /// A client calls, for the first time or again.
    fn forward(&mut self, connection: ConnectionId, call: ToolCall) {
        let at = (connection, call.id);
        let bound_to = format!("{}\0{}", call.name, canonical(&call.arguments));
        let Some(sealed) = &call.request_state else {
            return self.call_upstream(at, bound_to, &call, None, Vec::new());
        };
        let state = self.codec.open(sealed, &bound_to);
        let state = state.and_then(|state| serde_json::from_str::<State>(&state).ok());
        let Some(state) = state else {
            let text = "at /requestState: expected one of ours, for this call, in time";
            return self.fail(at, ErrorObject::new(ErrorCode::INVALID_PARAMS, text));
        };
        match state.call {
            Some((instance, waiting)) if instance == self.options.instance => {
                self.go_on(at, UpstreamCall::from_number(waiting), call);
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
                let (asked, outcome, expires) = (Vec::new(), None, None);
                let link = Link { downstream, bound_to, asked, outcome, expires };
                self.links.insert(upstream, link);
            }
            Err(error) => {
                self.fail(at, ErrorObject::new(ErrorCode::INTERNAL_ERROR, error.to_string()));
            }
        }
    }

    /// A client calls again for a call that waits.
    fn go_on(&mut self, at: (ConnectionId, CallId), upstream: UpstreamCall, call: ToolCall) {
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
        let is_asked = |key: &String| link.asked.iter().any(|(asked, _)| asked == key);
        let responses: Vec<_> =
            call.responses.into_iter().filter(|(key, _)| is_asked(key)).collect();
        link.asked.retain(|(key, _)| !responses.iter().any(|(answered, _)| answered == key));
        let left = core::mem::take(&mut link.asked);
        // A call that has just ended tells so next.
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
                if let (true, Err(error)) = (tells, self.client.listen_to_tools()) {
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
                    link.asked.retain(|(asked, _)| *asked != key);
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
                // The protocol does not say which call a message is about.
                let mut open = self.links.values().filter_map(|link| link.downstream);
                if let (Some((connection, id)), None) = (open.next(), open.next())
                    && let Some(server) = self.server(connection)
                {
                    let _ended = server.log(id, &params);
                }
            }
            // The client of the call does not wait for less.
            ClientEvent::Notification(_) | ClientEvent::Task { .. } => {}
            ClientEvent::Malformed(problem) => {
                self.events.push_back(RelayEvent::Malformed(problem));
            }
        }
    }

    /// Refuses requests about tools, unless an earlier list is known.
    fn fail_tools(&mut self, problem: &str) {
        if matches!(self.tools, Some(Ok(()))) {
            return;
        }
        let text = format!("the upstream server has no tools for us: {problem}");
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

    /// A call needs something of its client.
    fn ask(&mut self, upstream: UpstreamCall, needs: Needs) {
        let instance = self.options.instance.clone();
        let Some(link) = self.links.get_mut(&upstream) else { return };
        let Some(at) = link.downstream else {
            // Nobody is there: it is asked for when the client calls again.
            link.asked.extend(needs.requests);
            return;
        };
        let is_legacy = self.client.era() == Some(Era::Legacy);
        if is_legacy {
            link.asked.extend(needs.requests.iter().cloned());
        }
        let is_question = |request: &ServerRequest| matches!(request, ServerRequest::Elicit(_));
        let questions = needs.requests.iter().filter(|(_, request)| is_question(request));
        let state = State {
            call: is_legacy.then(|| (instance, upstream.get())),
            state: needs.request_state.clone(),
            questions: questions.map(|(key, _)| key.clone()).collect(),
        };
        let state = serde_json::to_string(&state).unwrap_or_default();
        let mut asked = Needs::new(needs.requests);
        asked.request_state = Some(self.codec.seal(&state, &link.bound_to));
        let keys: Vec<_> = asked.requests.iter().map(|(key, _)| key.clone()).collect();
        let Some(server) = self.server(at.0) else { return };
        match server.ask(at.1, asked, None) {
            Ok(()) => self.asked(upstream, at, is_legacy),
            Err(error) => self.refuse(upstream, at, &error, keys, is_legacy),
        }
    }

    /// The client was asked.
    fn asked(&mut self, upstream: UpstreamCall, at: (ConnectionId, CallId), is_legacy: bool) {
        if !is_legacy {
            // The call ended with what it needs; it is made again with the state that the client has.
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

    /// The client cannot be asked.
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
                link.asked.retain(|(key, _)| !keys.contains(key));
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

    /// A call has ended.
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

/// What a client is told that calls again for a call that is no more; the model may try anew.
fn lost() -> CallToolResult {
    let text = "The call was lost while it waited. Please call the tool again.";
    let mut result = CallToolResult::new([ContentBlock::Text(TextContent::new(text))]);
    result.is_error = Some(true);
    result
}
