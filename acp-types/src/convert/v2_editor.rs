//! An editor of version 2 with an agent of version 1.
use super::outbox::Outbox;
use super::recent::Recent;
use super::side::Side;
use super::{BridgeDiagnostic, MAX_REQUESTS, MAX_SESSIONS, cancelled, refuse, tolerate};
use crate::capabilities::v1::Capabilities;
use crate::convert::call_ids::session_scope;
use crate::methods::Receiver;
use crate::sorted_map::SortedMap;
use crate::v1::dispatch::{AgentNotification, AgentRequest};
use crate::v1::session_modes::SessionModeId;
use crate::v1::session_setup::SessionId;
use crate::v1::tool_calls::{PermissionOptionId, ToolCallId};
use crate::v2;
use crate::v2::permissions::{
    CancelledPermissionOutcome, RequestPermissionOutcome, RequestPermissionResponse,
};
use crate::v2::prompt_lifecycle::{SessionUpdate, UpdateSessionNotification};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use jsonrpc_core::wire::{Meta, Mode, Wire, decode};
use jsonrpc_core::{ErrorCode, Notification, Request, RequestId, Response, find_member};
use session::{OwnTurn, Session};

mod calls;
mod requests;
mod results;
mod session;
mod submissions;
mod updates;

/// The state between the messages of both sides.
#[derive(Debug)]
pub(super) struct V2Editor {
    capabilities: Capabilities,
    /// Requests of the editor with responses that are converted.
    open_requests: SortedMap<RequestId, EditorRequest>,
    /// Modes that open requests of the editor set initially.
    initial_modes: SortedMap<RequestId, String>,
    /// Open requests of the agent that the user has to answer.
    questions: SortedMap<RequestId, Question>,
    sessions: Recent<Session>,
}

/// A request of the editor.
#[derive(Clone, Debug)]
enum EditorRequest {
    Prompt(SessionId),
    New,
    Fork,
    Load(SessionId),
    Resume(SessionId),
    Mode(SessionId, SessionModeId),
    Option(SessionId),
    Close(SessionId),
    Options,
}

/// A request of the agent.
#[derive(Clone, Debug)]
struct Question {
    session: Option<SessionId>,
    permission: Option<Permission>,
}

/// A tool call that the agent wants to run, and the options that permit it.
#[derive(Clone, Debug)]
struct Permission {
    call: ToolCallId,
    granting: Vec<PermissionOptionId>,
}

/// Sends an update to the editor.
fn send(session: &SessionId, update: SessionUpdate, meta: Option<&Meta>, out: &mut Outbox) {
    let mut notification = UpdateSessionNotification::new(session.clone(), update);
    notification.meta = meta.cloned();
    out.notify(Side::Editor, "session/update", &notification);
}

fn find<'a>(sessions: &'a mut Recent<Session>, id: &SessionId) -> &'a mut Session {
    sessions.entry(id.as_str(), |session| !session.is_busy(), Session::default)
}

impl V2Editor {
    pub(super) fn new(capabilities: Capabilities) -> Self {
        let open_requests = SortedMap::default();
        let initial_modes = SortedMap::default();
        let questions = SortedMap::default();
        let sessions = Recent::new(MAX_SESSIONS);
        Self { capabilities, open_requests, initial_modes, questions, sessions }
    }

    fn allows(&self, method: &str) -> bool {
        self.capabilities.allows((Receiver::Agent, method)).is_ok()
    }

    /// Sends a converted request to the agent.
    fn ask(
        &mut self,
        id: &RequestId,
        method: &str,
        params: &dyn Wire,
        open_request: EditorRequest,
        out: &mut Outbox,
    ) {
        self.open_requests.insert(id.clone(), open_request);
        out.request(Side::Agent, id, method, params);
    }

    /// Returns whether silence of the agent ends a turn.
    pub(super) fn awaits_silence(&self) -> bool {
        self.sessions
            .iter()
            .any(|(id, session)| session.own_turn == Some(OwnTurn::Quiet) && !self.has_question(id))
    }

    /// Ends the turns without a prompt, unless the agent waits for the user.
    pub(super) fn fell_silent(&mut self, out: &mut Outbox) {
        let ids = self.sessions.iter().map(|(id, _)| SessionId::from(id));
        let quiet: Vec<_> = ids.filter(|id| !self.has_question(id.as_str())).collect();
        for id in quiet {
            find(&mut self.sessions, &id).fell_silent(&id, out);
        }
    }

    fn has_question(&self, session: &str) -> bool {
        let mut questions = self.questions.iter();
        questions.any(|(_, it)| it.session.as_ref().is_some_and(|it| it.as_str() == session))
    }

    pub(super) fn editor_notification(
        &mut self,
        line: &str,
        notification: &Notification<'_>,
        out: &mut Outbox,
    ) {
        if let Some(id) = cancelled(notification) {
            for (_, session) in self.sessions.iter_mut() {
                if session.take_held(&id, out) {
                    return;
                }
                if session.has_accepted(&id) {
                    // The editor has the response.
                    return;
                }
            }
        }
        out.forward(Side::Agent, line);
        if notification.method == "session/cancel"
            && let Some(params) = notification.params
            && let Some(session) = find_member(params.get(), &["sessionId"])
            && let Ok(session) = decode::<SessionId>(session)
        {
            find(&mut self.sessions, &session).cancel_held(out);
            self.withdraw(&session, out);
        }
    }

    /// Handles the user's answer. The turn continues after the last one.
    pub(super) fn editor_response(
        &mut self,
        line: &str,
        response: &Response<'_>,
        out: &mut Outbox,
    ) {
        let Some(question) = self.questions.remove(&response.id) else {
            return out.forward(Side::Agent, line);
        };
        let outcome = response.outcome.as_ref().ok().filter(|_| question.permission.is_some());
        let read = outcome.and_then(|it| decode::<RequestPermissionResponse>(it.get()).ok());
        let chosen = read.as_ref().and_then(|it| it.outcome.option_id());
        if let (Some(id), Some(permission), Some(chosen)) =
            (&question.session, &question.permission, chosen)
            && permission.granting.contains(chosen)
        {
            find(&mut self.sessions, id).calls.permitted(&permission.call);
        }
        match read {
            // An unknown outcome is no permission.
            Some(mut read) if !read.outcome.is_known() => {
                let cancelled = CancelledPermissionOutcome::new();
                read.outcome = RequestPermissionOutcome::Cancelled(cancelled);
                out.result(Side::Agent, &response.id, &read);
            }
            _ => out.forward(Side::Agent, line),
        }
        if let Some(id) = question.session
            && self.questions.iter().all(|(_, other)| other.session.as_ref() != Some(&id))
        {
            find(&mut self.sessions, &id).resumed(&id, out);
        }
    }

    pub(super) fn agent_request(&mut self, line: &str, request: &Request<'_>, out: &mut Outbox) {
        let id = &request.id;
        let method = &*request.method;
        let read = match AgentRequest::decode_with(method, request.params, Mode::SpecLenient) {
            Ok(read) => tolerate(Side::Agent, read, out),
            Err(error) => {
                let code = ErrorCode::INVALID_PARAMS;
                let message = error.to_string();
                return refuse(Side::Agent, request, code, &message, out);
            }
        };
        match read {
            AgentRequest::RequestPermissionRequest(it) => {
                let session = it.session_id.clone();
                let granting = it.options.iter().filter(|option| option.kind.is_permission());
                let granting = granting.map(|option| option.option_id.clone()).collect();
                let call = it.tool_call.tool_call_id.clone();
                let state = find(&mut self.sessions, &session);
                let request_v2 = state.calls.permission(*it, out);
                let permission = Permission { call: state.calls.ids.last(&call), granting };
                self.question(request, Some(session), Some(permission), out);
                out.request(Side::Editor, id, method, &request_v2);
            }
            AgentRequest::CreateElicitationRequest(mut it) => {
                let params = request.params.map(|params| params.get());
                let session = params.and_then(|it| find_member(it, &["sessionId"]));
                let session = session.and_then(|text| decode(text).ok());
                if let Some(scope) = session_scope(&mut it) {
                    let ids = &find(&mut self.sessions, &scope.session_id).calls.ids;
                    scope.tool_call_id = scope.tool_call_id.as_ref().map(|id| ids.last(id));
                }
                self.question(request, session, None, out);
                let request_v2 = v2::elicitation::CreateElicitationRequest::from(*it);
                out.request(Side::Editor, id, method, &request_v2);
            }
            AgentRequest::MessageMcpRequest(_) => out.forward(Side::Editor, line),
            AgentRequest::Other { method, .. } if !method.starts_with("proxy/") => {
                out.forward(Side::Editor, line);
            }
            // Files, terminals and proxies, which the agent was not offered.
            _ => {
                let message = "the editor does not offer this";
                refuse(Side::Agent, request, ErrorCode::METHOD_NOT_FOUND, message, out);
            }
        }
    }

    fn question(
        &mut self,
        request: &Request<'_>,
        session: Option<SessionId>,
        permission: Option<Permission>,
        out: &mut Outbox,
    ) {
        if let Some(id) = &session {
            find(&mut self.sessions, id).blocked(id, out);
        }
        if self.questions.len() < MAX_REQUESTS {
            self.questions.insert(request.id.clone(), Question { session, permission });
        }
    }

    pub(super) fn agent_notification(
        &mut self,
        line: &str,
        notification: &Notification<'_>,
        out: &mut Outbox,
    ) {
        let method = &*notification.method;
        let params = notification.params;
        match AgentNotification::decode_with(method, params, Mode::SpecLenient) {
            Ok(read) => match tolerate(Side::Agent, read, out) {
                AgentNotification::SessionNotification(it) => {
                    find(&mut self.sessions, &it.session_id).update(line, it, out);
                }
                _ => out.forward(Side::Editor, line),
            },
            Err(error) => {
                out.diagnose(BridgeDiagnostic::Unreadable(Side::Agent, error.to_string()));
            }
        }
    }
}
