//! Requests and their responses.
use super::{OpenRequest, ResponseEffect, Tracker};
use crate::acp::client_request;
use crate::acp::lifecycle::{self, RequestCall};
use crate::acp::members::Members;
use crate::acp::members::answered;
use crate::acp::prompt_turn::{self, Answer, Turn, TurnEnd, TurnKind};
use crate::attribute::{Attributes, clip, id_text};
use crate::content::Gate;
use crate::json::member;
use crate::keys::{self, event};
use crate::span::{Parent, SpanHandle, Status};
use crate::trace_context::{Baggage, TraceContext};
use acp_types::v1::prompt_turn::{PromptRequest, PromptResponse};
use acp_types::v1::terminals::WaitForTerminalExitResponse;
use alloc::boxed::Box;
use jsonrpc_core::transcript::Direction;
use jsonrpc_core::{ErrorObject, Head, PeekedMessage, RequestId, find_member, wire};

impl Tracker {
    pub(super) fn on_request(&mut self, sender: Direction, message: &PeekedMessage<'_>) {
        let (Some(id), Some(method)) =
            (message.request_id(), message.method().and_then(|method| method.decode()))
        else {
            self.counters.invalid_lines += 1;
            return;
        };
        self.end_reused(sender, &id);
        if !self.has_room() {
            self.spans.dropped_spans += 1;
            return;
        }
        let params = message.params().unwrap_or("{}");
        let members = Members::of_params(params);
        let session = members.session();
        let meta = members.meta;
        let call = RequestCall {
            direction: sender,
            id: id_text(&id, message),
            method: &method,
            known: lifecycle::known_method(sender, &method),
            session: session.as_deref(),
        };
        let request = match (sender, &*method) {
            (Direction::Sent, "session/prompt") => self.start_turn(call, meta, params),
            (Direction::Received, "session/request_permission") => {
                self.start_permission(call, params)
            }
            _ => self.start_request(call, meta, params),
        };
        self.requests.insert(sender, id, request);
    }

    /// Handles a response to a request of `asker`.
    pub(super) fn on_response(&mut self, asker: Direction, message: &PeekedMessage<'_>) {
        let id = message.request_id();
        let Some(request) = id.and_then(|id| self.requests.remove(asker, &id)) else {
            self.counters.unmatched_responses += 1;
            return;
        };
        let outcome = match (message.error(), message.result()) {
            (Some(error), _) => Err(self.decode::<ErrorObject>(error)),
            (None, result) => Ok(result.unwrap_or("null")),
        };
        match &request.effect {
            ResponseEffect::Prompt(session) => self.end_turn(session, request.span, outcome),
            _ => self.end_request(request, outcome),
        }
    }

    /// Handles a response to a request of `asker`, if it is successful and nothing of it is
    /// recorded. Returns whether it was handled.
    pub(super) fn on_answered(&mut self, asker: Direction, head: &mut Head<'_>) -> bool {
        let Some(id) = answered(head) else { return false };
        let ends =
            |request: &OpenRequest| !request.is_tool && request.effect.ends_with_any_result();
        let Some(request) = self.requests.remove_if(asker, &id, ends) else { return false };
        self.end_request(request, Ok("{}"));
        true
    }

    fn start_turn(
        &mut self,
        call: RequestCall<'_>,
        meta: Option<&str>,
        params: &str,
    ) -> OpenRequest {
        let content = self.policy.records_content().then(|| wire::decode::<PromptRequest>(params));
        let content = content.and_then(Result::ok);
        let key = call.session.unwrap_or_default();
        let dropped = OpenRequest { span: None, effect: ResponseEffect::Other, is_tool: false };
        let Some(session) = self.sessions.get_or_insert(key) else {
            self.spans.dropped_spans += 1;
            return dropped;
        };
        session.is_forming = false;
        let policy = &self.policy;
        let model = session.model.as_deref();
        let (name, mut attributes) = prompt_turn::start(policy, &self.peers, call, model);
        let input = content.map(|content| prompt_turn::input(policy, &content));
        let (on_span, in_event) = policy.places(Gate::WithContent);
        attributes.set_some(keys::GEN_AI_INPUT_MESSAGES, input.clone().filter(|_| on_span));
        let kind = lifecycle::span_kind(call.direction);
        let (parent, baggage) = remote(meta);
        let mut start = self.spans.next(parent, kind, name, attributes);
        start.baggage = baggage;
        start.links = session.take_links();
        let Some(span) = self.spans.start(start) else { return dropped };
        let kind = TurnKind::Prompt;
        let cost = session.cost.clone();
        let model = session.model.as_deref();
        let mut turn = Turn::new(policy, &self.peers, kind, span, self.spans.now(), cost, model);
        turn.input = input.filter(|_| in_event);
        turn.reasoning_level = session.reasoning_level.clone().filter(|_| in_event);
        session.turns.push(turn);
        OpenRequest { span: Some(span), effect: ResponseEffect::Prompt(clip(key)), is_tool: false }
    }

    fn start_request(
        &mut self,
        mut call: RequestCall<'_>,
        meta: Option<&str>,
        params: &str,
    ) -> OpenRequest {
        let effect = ResponseEffect::of(
            call.direction,
            call.method,
            call.session,
            params,
            self.policy.records_content(),
        );
        match &effect {
            // The response contains the session.
            ResponseEffect::NewSession => call.session = None,
            ResponseEffect::LoadSession { id, .. } => {
                if let Some(session) = self.sessions.get_or_insert(id) {
                    session.loading += 1;
                }
            }
            _ => {}
        }
        let (parent, baggage) = match call.direction {
            Direction::Sent => remote(meta),
            Direction::Received => (self.agent_parent(call.session), None),
        };
        let mut in_event = Attributes::default();
        let is_client_tool = client_request::is_client_tool(&call);
        let (name, kind, attributes) = if is_client_tool {
            self.note_client_tool(call.session);
            let details = client_request::details(&self.policy, call.method, params);
            let (name, kind, mut attributes) =
                client_request::start(&self.policy, &self.peers, call);
            attributes.extend(details.span);
            in_event = details.event;
            (name, kind, attributes)
        } else {
            let attributes = Attributes::of_span_in(core::mem::take(&mut self.spare));
            // The response contains the version used from now on.
            let peers =
                if let ResponseEffect::Initialize(peers) = &effect { peers } else { &self.peers };
            let (name, attributes) = lifecycle::start(&self.policy, peers, call, attributes);
            (name, lifecycle::span_kind(call.direction), attributes)
        };
        let mut start = self.spans.next(parent, kind, name, attributes);
        start.baggage = baggage;
        let span = self.spans.start(start);
        if let Some(span) = span {
            self.spans.details(span, event::DETAILS, in_event);
        }
        let is_tool = is_client_tool && client_request::has_result(&self.policy);
        OpenRequest { span, effect, is_tool }
    }

    /// Returns the parent of an agent request: the only running tool call, else the turn.
    pub(super) fn agent_parent(&self, session: Option<&str>) -> Parent {
        let turn = match session {
            Some(session) => {
                let session = self.sessions.get(session);
                if let Some(tool) = session.and_then(|session| session.only_tool()) {
                    return Parent::Span(tool.span);
                }
                session.and_then(|session| session.turns.first())
            }
            None => self.sessions.only_turn(),
        };
        turn.map_or(Parent::Root, |turn| Parent::Span(turn.span))
    }

    /// Records that the client works for the running tool call.
    fn note_client_tool(&mut self, session: Option<&str>) {
        let session = session.and_then(|session| self.sessions.get_mut(session));
        if let Some(session) = session
            && let Some(span) = session.only_tool().map(|tool| tool.span)
            && let Some(tool) = session.tools.values_mut().find(|tool| tool.span == span)
        {
            tool.is_by_client = true;
        }
    }

    fn end_turn(
        &mut self,
        session: &str,
        span: Option<SpanHandle>,
        outcome: Result<&str, Option<ErrorObject>>,
    ) {
        let Some(span) = span else { return };
        if let Ok(result) = outcome
            && self.peers.is_v2()
            && member(result, "stopReason").is_none()
        {
            let session = self.sessions.get_mut(session);
            let mut turns = session.into_iter().flat_map(|session| &mut session.turns);
            if let Some(turn) = turns.find(|turn| turn.span == span) {
                turn.kind = TurnKind::Accepted;
            }
            return;
        }
        let answer = match &outcome {
            Ok(result) => self.decode::<PromptResponse>(result).map(Answer::from),
            Err(_) => None,
        };
        if let Ok(result) = outcome
            && let Some(session) = self.sessions.get_mut(session)
            && let Some(turn) = session.turns.iter_mut().find(|turn| turn.span == span)
        {
            turn.values.read_answer(&self.active, result);
        }
        let how = match (&outcome, &answer) {
            (Err(Some(error)), _) => TurnEnd::Failed(error),
            (Err(None), _) => TurnEnd::FailedUnreadable,
            (Ok(_), Some(answer)) => TurnEnd::Answered(answer),
            (Ok(_), None) => TurnEnd::Unreadable,
        };
        self.sessions.end_turn(&self.policy, &mut self.spans, session, span, how);
    }

    fn end_request(&mut self, request: OpenRequest, outcome: Result<&str, Option<ErrorObject>>) {
        let OpenRequest { span, effect, is_tool } = request;
        let mut attributes = Attributes::default();
        if let (true, Ok(result), Some(span)) = (is_tool, &outcome, span) {
            let details = client_request::result(&self.policy, result);
            attributes.extend(details.span);
            self.spans.details(span, event::DETAILS, details.event);
        }
        if let ResponseEffect::LoadSession { id, is_replayed } = &effect
            && let Some(session) = self.sessions.get_mut(id)
        {
            session.loading = session.loading.saturating_sub(1);
            session.is_forming |= *is_replayed && outcome.is_ok();
            let replayed = core::mem::take(&mut session.replayed);
            attributes.set(keys::ACP_SESSION_REPLAYED_UPDATES, replayed);
        }
        let status = match outcome {
            Ok(result) => {
                self.on_result(span, effect, result, &mut attributes);
                Status::Unset
            }
            Err(Some(error)) => lifecycle::failure(&self.policy, &error, &mut attributes),
            Err(None) => lifecycle::unreadable_failure(&mut attributes),
        };
        if let Some(span) = span {
            self.spans.end(span, None, status, attributes);
        }
    }

    /// Updates the state from a result.
    fn on_result(
        &mut self,
        span: Option<SpanHandle>,
        effect: ResponseEffect,
        result: &str,
        attributes: &mut Attributes,
    ) {
        match effect {
            ResponseEffect::Initialize(peers) => {
                self.start_over(span);
                self.peers = *peers;
                if !self.peers.on_initialized(result) {
                    self.counters.undecodable += 1;
                }
                self.counters.unknown_versions += u64::from(!self.peers.has_known_version());
                self.peers.set_protocol_version(attributes);
                self.set_agent();
            }
            ResponseEffect::NewSession => self.on_new_session(result, attributes),
            ResponseEffect::ForkSession(origin) => self.on_fork(&origin, result, attributes),
            ResponseEffect::LoadSession { id, .. } => self.on_loaded(&id, result),
            ResponseEffect::SetConfigOption(id) => self.on_options(&id, result),
            ResponseEffect::SetModel { session, model } => {
                if let Some(session) = self.sessions.get_or_insert(&session) {
                    session.model = Some(model);
                }
            }
            ResponseEffect::EndSession(id) => self.on_session_ended(&id),
            ResponseEffect::Permission(permission) => {
                self.on_permission(result, &permission, attributes);
            }
            ResponseEffect::TerminalExit(terminal) => {
                let response = self.decode::<WaitForTerminalExitResponse>(object(result));
                let Some(response) = response else { return };
                attributes.set_some(keys::PROCESS_EXIT_CODE, response.exit_code.map(i64::from));
                if let Some((session, id)) = terminal
                    && let Some(session) = self.sessions.get_mut(&session)
                {
                    session.terminals.on_exit(&id, &response);
                }
            }
            ResponseEffect::TerminalOutput(session, id) => {
                let limit = self.policy.content_limits.tool_bytes;
                if let Some(session) = self.sessions.get_mut(&session) {
                    session.terminals.on_output(&id, result, limit);
                }
            }
            ResponseEffect::Prompt(_) | ResponseEffect::Other => {}
        }
    }

    pub(super) fn on_cancel(&mut self, members: &Members<'_>) {
        let session = members.session();
        let session = session.and_then(|session| self.sessions.get(&session));
        for turn in session.into_iter().flat_map(|session| &session.turns) {
            self.spans.event(turn.span, event::SESSION_CANCEL, Attributes::default());
        }
    }

    pub(super) fn on_cancel_request(&mut self, sender: Direction, params: &str) {
        let id = find_member(params, &["requestId"]);
        let Some(id) = id.and_then(|id| wire::decode::<RequestId>(id).ok()) else { return };
        if let Some(span) = self.request_span(sender, &id) {
            self.spans.event(span, event::CANCEL_REQUEST, Attributes::default());
        }
    }

    /// Ends the previous request of a reused id. The response cannot be attributed to one of the
    /// two, so it counts for the new request.
    fn end_reused(&mut self, sender: Direction, id: &RequestId) {
        let Some(request) = self.requests.remove(sender, id) else { return };
        if let (ResponseEffect::Prompt(session), Some(span)) = (&request.effect, request.span) {
            let policy = &self.policy;
            let spans = &mut self.spans;
            let how = TurnEnd::IdReused;
            self.sessions.end_turn(policy, spans, session, span, how);
        } else {
            if let ResponseEffect::LoadSession { id, .. } = &request.effect
                && let Some(session) = self.sessions.get_mut(id)
            {
                session.loading = session.loading.saturating_sub(1);
            }
            if let Some(span) = request.span {
                let mut attributes = Attributes::default();
                attributes.set(keys::ACP_REQUEST_END, keys::end::ID_REUSED);
                self.spans.end(span, None, Status::Unset, attributes);
            }
        }
    }

    /// Returns whether another request can be tracked. Requests of ended spans are evicted if
    /// necessary.
    fn has_room(&mut self) -> bool {
        if self.requests.len() >= self.limits.open_spans {
            let spans = &self.spans;
            self.requests.retain(|request| {
                matches!(
                    request.effect,
                    ResponseEffect::Prompt(_) | ResponseEffect::LoadSession { .. }
                ) || request.span.is_some_and(|span| spans.is_open(span))
            });
        }
        self.requests.len() < self.limits.open_spans
    }
}

/// Returns the parent and the baggage in the `_meta` of a request.
#[inline(always)]
pub(crate) fn remote(meta: Option<&str>) -> (Parent, Option<Baggage>) {
    let Some(meta) = meta else { return (Parent::Root, None) };
    let parent = TraceContext::from_meta(meta).map(Box::new);
    (parent.map_or(Parent::Root, Parent::Remote), Baggage::from_meta(meta))
}

/// Maps `null` to an empty object, because some agents respond with `null`.
fn object(result: &str) -> &str {
    if result == "null" { "{}" } else { result }
}
