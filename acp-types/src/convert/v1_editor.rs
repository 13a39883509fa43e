//! An editor of version 1 with an agent of version 2.
use super::content::blocks_to_v2;
use super::outbox::Outbox;
use super::recent::Recent;
use super::setup::{initial_to_v2, paths, servers_to_v2, system_prompt_to_v2, value_to_v2};
use super::side::Side;
use super::{BridgeDiagnostic, BridgeLoss, MAX_REQUESTS, MAX_SESSIONS, refuse, tolerate};
use crate::capabilities::v1::Capabilities;
use crate::convert::call_ids::session_scope;
use crate::sorted_map::SortedMap;
use crate::v1::dispatch::ClientRequest;
use crate::v1::prompt_turn::{SessionNotification, SessionUpdate};
use crate::v1::session_modes::SessionModeId;
use crate::v1::session_setup::SessionId;
use crate::v2::dispatch::{AgentNotification, AgentRequest};
use crate::v2::permissions::RequestPermissionSubject;
use crate::v2::prompt_lifecycle::{SessionUpdate as UpdateV2, UpdateSessionNotification};
use crate::{v1, v2};
use alloc::boxed::Box;
use alloc::string::ToString;
use jsonrpc_core::wire::{Meta, Mode};
use jsonrpc_core::{ErrorCode, Notification, Request, RequestId};
use session::Session;
use subagents::{Subagents, drop_references, shows_subagents};

mod calls;
mod results;
mod session;
mod subagents;
mod terminals;
mod updates;

/// The state between the messages of both sides.
#[derive(Debug)]
pub(super) struct V1Editor {
    capabilities: Capabilities,
    /// Requests of the editor with responses that are converted.
    open_requests: SortedMap<RequestId, EditorRequest>,
    sessions: Recent<Session>,
    /// Sessions of subagents, if the editor does not show subagents.
    subagents: Subagents,
}

/// A request of the editor.
#[derive(Clone, Debug)]
enum EditorRequest {
    Prompt(SessionId),
    /// `session/new` and `session/fork`.
    New,
    Fork,
    Load(SessionId),
    Resume(SessionId),
    Mode(SessionId, SessionModeId),
    Option(SessionId),
    Close(SessionId),
    Options,
    Status,
}

/// Sends an update to the editor.
fn send(session: &SessionId, update: SessionUpdate, meta: Option<&Meta>, out: &mut Outbox) {
    let mut notification = SessionNotification::new(session.clone(), update);
    notification.meta = meta.cloned();
    out.notify(Side::Editor, "session/update", &notification);
}

fn find<'a>(sessions: &'a mut Recent<Session>, id: &SessionId) -> &'a mut Session {
    sessions.entry(id.as_str(), |session| !session.has_prompts(), Session::default)
}

impl V1Editor {
    pub(super) fn new(capabilities: Capabilities) -> Self {
        let open_requests = SortedMap::default();
        let sessions = Recent::new(MAX_SESSIONS);
        Self { capabilities, open_requests, sessions, subagents: Subagents::default() }
    }

    fn session(&mut self, id: &SessionId) -> &mut Session {
        find(&mut self.sessions, id)
    }

    /// Sends a converted request to the agent.
    fn ask(
        &mut self,
        id: &RequestId,
        method: &str,
        params: &dyn jsonrpc_core::wire::Wire,
        open_request: EditorRequest,
        out: &mut Outbox,
    ) {
        self.open_requests.insert(id.clone(), open_request);
        out.request(Side::Agent, id, method, params);
    }

    pub(super) fn editor_request(&mut self, line: &str, request: &Request<'_>, out: &mut Outbox) {
        let id = &request.id;
        let method = &*request.method;
        if self.open_requests.len() >= MAX_REQUESTS {
            out.diagnose(BridgeDiagnostic::Full(Side::Editor, "MAX_REQUESTS"));
            return refuse(
                Side::Editor,
                request,
                ErrorCode::INTERNAL_ERROR,
                "too many open requests",
                out,
            );
        }
        let read = ClientRequest::decode_with(method, request.params, Mode::SpecLenient);
        let read = match read {
            Ok(read) => tolerate(Side::Editor, read, out),
            Err(error) => {
                let message = error.to_string();
                return refuse(Side::Editor, request, ErrorCode::INVALID_PARAMS, &message, out);
            }
        };
        match read {
            ClientRequest::InitializeRequest(_) => {
                let message = "the connection is initialized";
                refuse(Side::Editor, request, ErrorCode::INVALID_REQUEST, message, out);
            }
            ClientRequest::AuthenticateRequest(it) => {
                out.request(Side::Agent, id, "auth/login", &*it);
            }
            ClientRequest::LogoutRequest(it) => out.request(Side::Agent, id, "auth/logout", &*it),
            ClientRequest::NewSessionRequest(it) => {
                let mut request_v2 = v2::session_setup::NewSessionRequest::new(it.cwd.as_str());
                request_v2.mcp_servers = Some(servers_to_v2(&it.mcp_servers, out));
                request_v2.additional_directories = paths(it.additional_directories.as_ref());
                request_v2.system_prompt = system_prompt_to_v2(it.system_prompt.as_deref(), out);
                request_v2.config_options = initial_to_v2(it.config_options);
                request_v2.meta = it.meta;
                self.ask(id, method, &request_v2, EditorRequest::New, out);
            }
            ClientRequest::ForkSessionRequest(it) => {
                let mut request_v2 =
                    v2::session_setup::ForkSessionRequest::new(it.session_id, it.cwd.as_str());
                request_v2.mcp_servers = it.mcp_servers.as_ref().map(|it| servers_to_v2(it, out));
                request_v2.additional_directories = paths(it.additional_directories.as_ref());
                request_v2.system_prompt = system_prompt_to_v2(it.system_prompt.as_deref(), out);
                request_v2.config_options = initial_to_v2(it.config_options);
                request_v2.cursor_id = it.cursor_id;
                request_v2.meta = it.meta;
                self.ask(id, method, &request_v2, EditorRequest::Fork, out);
            }
            ClientRequest::LoadSessionRequest(it) => {
                let start = v2::session_setup::ReplayFromStart::new();
                let from = v2::session_setup::ReplayFrom::Start(start);
                let mut resume =
                    v1::session_setup::ResumeSessionRequest::new(it.session_id, it.cwd);
                resume.mcp_servers = Some(it.mcp_servers);
                resume.additional_directories = it.additional_directories;
                resume.system_prompt = it.system_prompt;
                resume.config_options = it.config_options;
                resume.meta = it.meta;
                self.resume(id, resume, Some(from), out);
            }
            ClientRequest::ResumeSessionRequest(it) => self.resume(id, *it, None, out),
            ClientRequest::SetSessionModeRequest(it) => self.set_mode(request, *it, out),
            ClientRequest::SetSessionConfigOptionRequest(it) => {
                let session = it.session_id.clone();
                self.ask(id, method, &option_request(*it), EditorRequest::Option(session), out);
            }
            ClientRequest::PromptRequest(it) => {
                let content = blocks_to_v2("prompt", &it.prompt, out);
                let session = it.session_id.clone();
                let busy = self.sessions.values().filter(|session| session.has_prompts()).count();
                if busy >= MAX_SESSIONS || !self.session(&session).prompt(id.clone(), &content) {
                    out.diagnose(BridgeDiagnostic::Full(Side::Editor, "MAX_PROMPTS"));
                    let message = "too many open prompts";
                    return refuse(Side::Editor, request, ErrorCode::INTERNAL_ERROR, message, out);
                }
                let mut request_v2 =
                    v2::prompt_lifecycle::PromptRequest::new(it.session_id, content);
                request_v2.meta = it.meta;
                self.ask(id, method, &request_v2, EditorRequest::Prompt(session), out);
            }
            ClientRequest::CloseSessionRequest(it) => {
                self.open_requests.insert(id.clone(), EditorRequest::Close(it.session_id));
                out.forward(Side::Agent, line);
            }
            ClientRequest::SessionOptionsRequest(_) => {
                self.open_requests.insert(id.clone(), EditorRequest::Options);
                out.forward(Side::Agent, line);
            }
            ClientRequest::SessionStatusRequest(_) => {
                self.open_requests.insert(id.clone(), EditorRequest::Status);
                out.forward(Side::Agent, line);
            }
            ClientRequest::Other { method, .. } if method.starts_with("proxy/") => {
                let message = "proxies are not converted";
                refuse(Side::Editor, request, ErrorCode::METHOD_NOT_FOUND, message, out);
            }
            // The others are equal in both versions.
            _ => out.forward(Side::Agent, line),
        }
    }

    fn resume(
        &mut self,
        id: &RequestId,
        it: v1::session_setup::ResumeSessionRequest,
        replay_from: Option<v2::session_setup::ReplayFrom>,
        out: &mut Outbox,
    ) {
        let session = it.session_id.clone();
        let open_request = match replay_from {
            Some(_) => EditorRequest::Load(session.clone()),
            None => EditorRequest::Resume(session.clone()),
        };
        let state = self.session(&session);
        state.restart();
        state.is_replayed = replay_from.is_some();
        let mut request_v2 =
            v2::session_setup::ResumeSessionRequest::new(it.session_id, it.cwd.as_str());
        request_v2.mcp_servers = it.mcp_servers.as_ref().map(|it| servers_to_v2(it, out));
        request_v2.additional_directories = paths(it.additional_directories.as_ref());
        request_v2.system_prompt = system_prompt_to_v2(it.system_prompt.as_deref(), out);
        request_v2.config_options = initial_to_v2(it.config_options);
        request_v2.replay_from = replay_from;
        request_v2.meta = it.meta;
        self.ask(id, "session/resume", &request_v2, open_request, out);
    }

    /// Sets the option with the modes.
    fn set_mode(
        &mut self,
        request: &Request<'_>,
        it: v1::session_modes::SetSessionModeRequest,
        out: &mut Outbox,
    ) {
        use v2::session_config_options as to;
        let Some(option) = self.session(&it.session_id).mode.clone() else {
            let message = "the session has no modes";
            return refuse(Side::Editor, request, ErrorCode::INVALID_PARAMS, message, out);
        };
        let value = to::SessionConfigOptionValueId::new(it.mode_id.as_str());
        let value = to::SessionConfigOptionValue::Id(value);
        let mut request_v2 =
            to::SetSessionConfigOptionRequest::new(it.session_id.clone(), option.config_id, value);
        request_v2.meta = it.meta;
        let open_request = EditorRequest::Mode(it.session_id, it.mode_id);
        self.ask(&request.id, "session/set_config_option", &request_v2, open_request, out);
    }

    pub(super) fn editor_notification(
        &mut self,
        line: &str,
        notification: &Notification<'_>,
        out: &mut Outbox,
    ) {
        if let Some(id) = super::cancelled(notification)
            && let Some(session) = self.accepted_prompt(&id)
        {
            // The agent has answered the prompt, so that only its turn can be cancelled.
            let cancel = v2::prompt_lifecycle::CancelSessionNotification::new(session);
            return out.notify(Side::Agent, "session/cancel", &cancel);
        }
        out.forward(Side::Agent, line);
    }

    /// Returns the session of an open prompt that the agent has accepted.
    fn accepted_prompt(&self, id: &RequestId) -> Option<SessionId> {
        let mut sessions = self.sessions.iter();
        sessions.find(|(_, session)| session.is_accepted(id)).map(|(session, _)| session.into())
    }

    pub(super) fn agent_request(&mut self, line: &str, request: &Request<'_>, out: &mut Outbox) {
        let method = &*request.method;
        match AgentRequest::decode_with(method, request.params, Mode::SpecLenient) {
            Ok(read) => match tolerate(Side::Agent, read, out) {
                AgentRequest::RequestPermissionRequest(mut it) => {
                    if let Some(hidden) = self.subagents.permission(&mut it) {
                        out.lose_of(BridgeLoss::NotAnnounced, hidden.as_str(), method);
                    }
                    if let Some(RequestPermissionSubject::ToolCall(subject)) =
                        it.subject.as_deref_mut()
                        && !shows_subagents(&self.capabilities)
                    {
                        drop_references(&mut subject.tool_call, out);
                    }
                    let session = it.session_id.clone();
                    let calls = &mut self.session(&session).calls;
                    let request_v1 = calls.permission(&session, &request.id, *it, out);
                    out.request(Side::Editor, &request.id, method, &request_v1);
                }
                AgentRequest::CreateElicitationRequest(it) => {
                    let mut request_v1 = v1::elicitation::CreateElicitationRequest::from(*it);
                    if let Some(hidden) = self.subagents.elicitation(&mut request_v1) {
                        out.lose_of(BridgeLoss::NotAnnounced, hidden.as_str(), method);
                    }
                    if let Some(scope) = session_scope(&mut request_v1) {
                        let ids = &self.session(&scope.session_id).calls.ids;
                        scope.tool_call_id = scope.tool_call_id.as_ref().map(|id| ids.last(id));
                    }
                    out.request(Side::Editor, &request.id, method, &request_v1);
                }
                _ => out.forward(Side::Editor, line),
            },
            Err(error) => {
                let message = error.to_string();
                refuse(Side::Agent, request, ErrorCode::INVALID_PARAMS, &message, out);
            }
        }
    }

    /// Returns whether the editor shows an update. That of a subagent may move to the session that
    /// the editor shows.
    fn shows(&mut self, it: &mut UpdateSessionNotification) -> bool {
        let UpdateV2::SubagentUpdate(subagent) = &it.update else {
            return self.subagents.update(it);
        };
        let update_v1 = SessionUpdate::SubagentUpdate(Box::new((**subagent).clone().into()));
        let is_shown = self.capabilities.allows(&update_v1).is_ok();
        if !is_shown && self.sessions.get(subagent.session_id.as_str()).is_none() {
            self.subagents.add(&subagent.session_id, &it.session_id);
        }
        is_shown
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
                AgentNotification::UpdateSessionNotification(mut it) => {
                    if !self.shows(&mut it) {
                        return out.lose(BridgeLoss::NotAnnounced, it.update.tag());
                    }
                    let session = find(&mut self.sessions, &it.session_id);
                    session.update(line, it, &self.capabilities, out);
                }
                _ => out.forward(Side::Editor, line),
            },
            Err(error) => {
                out.diagnose(BridgeDiagnostic::Unreadable(Side::Agent, error.to_string()));
            }
        }
    }
}

/// Converts a value of an option, which version 2 tags with its type.
fn option_request(
    it: v1::session_config_options::SetSessionConfigOptionRequest,
) -> v2::session_config_options::SetSessionConfigOptionRequest {
    let mut request_v2 = v2::session_config_options::SetSessionConfigOptionRequest::new(
        it.session_id,
        it.config_id,
        value_to_v2(it.value),
    );
    request_v2.meta = it.meta;
    request_v2
}
