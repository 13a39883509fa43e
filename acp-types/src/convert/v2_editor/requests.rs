//! Requests of the editor.
use super::submissions::Repetition;
use super::{EditorRequest, V2Editor, find};
use crate::convert::outbox::Outbox;
use crate::convert::setup::{
    MODE_OPTION, initial_to_v1, paths, servers_to_v1, system_prompt_to_v1, value_to_v1,
};
use crate::convert::side::Side;
use crate::convert::{BridgeDiagnostic, BridgeLoss, MAX_REQUESTS, refuse, tolerate};
use crate::v1::cancellation::CancelRequestNotification;
use crate::v1::session_modes::{SessionModeId, SetSessionModeRequest};
use crate::v1::session_setup::SessionId;
use crate::v2::content::ContentBlock;
use crate::v2::dispatch::ClientRequest;
use crate::v2::session_config_options::{InitialSessionConfigOption, SessionConfigOptionValue};
use crate::v2::session_setup::ReplayFrom;
use crate::{v1, v2};
use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;
use jsonrpc_core::wire::Mode;
use jsonrpc_core::{ErrorCode, Request, RequestId};

impl V2Editor {
    pub(in crate::convert) fn editor_request(
        &mut self,
        line: &str,
        request: &Request<'_>,
        out: &mut Outbox,
    ) {
        let id = &request.id;
        let method = &*request.method;
        let mut deny = |code, message: &str| refuse(Side::Editor, request, code, message, out);
        if self.open_requests.len() >= MAX_REQUESTS {
            deny(ErrorCode::INTERNAL_ERROR, "too many open requests");
            return out.diagnose(BridgeDiagnostic::Full(Side::Editor, "MAX_REQUESTS"));
        }
        let read = match ClientRequest::decode_with(method, request.params, Mode::SpecLenient) {
            Ok(read) => tolerate(Side::Editor, read, out),
            Err(error) => return deny(ErrorCode::INVALID_PARAMS, &error.to_string()),
        };
        let mut deny = |code, message: &str| refuse(Side::Editor, request, code, message, out);
        match read {
            ClientRequest::InitializeRequest(_) => {
                deny(ErrorCode::INVALID_REQUEST, "the connection is initialized");
            }
            ClientRequest::LoginAuthRequest(it) => {
                out.request(Side::Agent, id, "authenticate", &*it);
            }
            ClientRequest::LogoutAuthRequest(it) if self.allows("logout") => {
                out.request(Side::Agent, id, "logout", &*it);
            }
            ClientRequest::LogoutAuthRequest(_) => {
                deny(ErrorCode::METHOD_NOT_FOUND, "the agent has no logout");
            }
            ClientRequest::NewSessionRequest(it) => {
                let servers = servers_to_v1(it.mcp_servers.as_deref().unwrap_or_default(), out);
                let mut request_v1 =
                    v1::session_setup::NewSessionRequest::new(it.cwd.as_str(), servers);
                request_v1.additional_directories = paths(it.additional_directories.as_ref());
                request_v1.system_prompt = system_prompt_to_v1(it.system_prompt.as_deref(), out);
                request_v1.config_options = self.initial(id, it.config_options);
                request_v1.meta = it.meta;
                self.ask(id, method, &request_v1, EditorRequest::New, out);
            }
            ClientRequest::ForkSessionRequest(it) => {
                let mut request_v1 =
                    v1::session_setup::ForkSessionRequest::new(it.session_id, it.cwd.as_str());
                request_v1.mcp_servers = it.mcp_servers.as_ref().map(|it| servers_to_v1(it, out));
                request_v1.additional_directories = paths(it.additional_directories.as_ref());
                request_v1.system_prompt = system_prompt_to_v1(it.system_prompt.as_deref(), out);
                request_v1.config_options = self.initial(id, it.config_options);
                request_v1.cursor_id = it.cursor_id;
                request_v1.meta = it.meta;
                self.ask(id, method, &request_v1, EditorRequest::Fork, out);
            }
            ClientRequest::ResumeSessionRequest(it) => match it.rejection() {
                Some(error) => out.error(Side::Editor, id, error),
                None => self.resume(request, *it, out),
            },
            ClientRequest::CloseSessionRequest(it) => self.close(line, id, *it, out),
            ClientRequest::ListSessionsRequest(_) if !self.allows("session/list") => {
                out.lose(BridgeLoss::SessionList, method);
                let none = Vec::<v2::session_list::SessionInfo>::new();
                out.result(Side::Editor, id, &v2::session_list::ListSessionsResponse::new(none));
            }
            ClientRequest::SetSessionConfigOptionRequest(it) => self.set_option(id, *it, out),
            ClientRequest::PromptRequest(it) => match it.rejection() {
                Some(error) => out.error(Side::Editor, id, error),
                None => self.prompt(request, *it, out),
            },
            ClientRequest::SessionOptionsRequest(_) => {
                self.open_requests.insert(id.clone(), EditorRequest::Options);
                out.forward(Side::Agent, line);
            }
            ClientRequest::CancelToolCallRequest(_) | ClientRequest::CancelTerminalRequest(_) => {
                deny(ErrorCode::INVALID_PARAMS, "the agent does not offer its cancellation");
            }
            ClientRequest::Other { method, .. } if method.starts_with("proxy/") => {
                deny(ErrorCode::METHOD_NOT_FOUND, "proxies are not converted");
            }
            // The others are equal in both versions.
            _ => out.forward(Side::Agent, line),
        }
    }

    /// Converts initial values of options, and records the one that stands for a mode.
    fn initial(
        &mut self,
        id: &RequestId,
        options: Option<Vec<InitialSessionConfigOption>>,
    ) -> Option<Vec<v1::session_config_options::InitialSessionConfigOption>> {
        for option in options.iter().flatten() {
            if let SessionConfigOptionValue::Id(value) = &option.value
                && option.config_id.as_str() == MODE_OPTION
            {
                self.initial_modes.insert(id.clone(), value.value.as_str().into());
            }
        }
        initial_to_v1(options)
    }

    /// Loads or resumes a session, as the agent can and the editor wishes.
    fn resume(
        &mut self,
        request: &Request<'_>,
        it: v2::session_setup::ResumeSessionRequest,
        out: &mut Outbox,
    ) {
        let replays = it.replay_from.is_some();
        let loads = self.allows("session/load");
        let resumes = self.allows("session/resume");
        if !loads && !resumes {
            let message = "the agent can neither load nor resume a session";
            return refuse(Side::Editor, request, ErrorCode::METHOD_NOT_FOUND, message, out);
        }
        let session = it.session_id.clone();
        let servers = servers_to_v1(it.mcp_servers.as_deref().unwrap_or_default(), out);
        let folders = paths(it.additional_directories.as_ref());
        let prompt = system_prompt_to_v1(it.system_prompt.as_deref(), out);
        let options = self.initial(&request.id, it.config_options);
        let state = find(&mut self.sessions, &session);
        state.restart(&session, out);
        state.is_replayed = replays;
        if loads && (replays || !resumes) {
            // The request has no member for the begin of the replay.
            let is_whole = |from: &ReplayFrom| matches!(from, ReplayFrom::Start(start) if start.meta.is_none() && start.extra.is_empty());
            if !it.replay_from.iter().all(is_whole) {
                out.lose_of(BridgeLoss::Replay, session.as_str(), "replayFrom");
            }
            state.drops_replay = !replays;
            let mut request_v1 =
                v1::session_setup::LoadSessionRequest::new(it.session_id, it.cwd.as_str(), servers);
            request_v1.additional_directories = folders;
            request_v1.system_prompt = prompt;
            request_v1.config_options = options;
            request_v1.meta = it.meta;
            self.ask(&request.id, "session/load", &request_v1, EditorRequest::Load(session), out);
        } else {
            if replays {
                out.lose(BridgeLoss::Replay, session.as_str());
            }
            let mut request_v1 =
                v1::session_setup::ResumeSessionRequest::new(it.session_id, it.cwd.as_str());
            request_v1.mcp_servers = Some(servers);
            request_v1.additional_directories = folders;
            request_v1.system_prompt = prompt;
            request_v1.config_options = options;
            request_v1.meta = it.meta;
            self.ask(
                &request.id,
                "session/resume",
                &request_v1,
                EditorRequest::Resume(session),
                out,
            );
        }
    }

    /// Closes a session. An agent without such a request receives a cancellation of its turn.
    fn close(
        &mut self,
        line: &str,
        id: &RequestId,
        it: v2::session_setup::CloseSessionRequest,
        out: &mut Outbox,
    ) {
        if self.allows("session/close") {
            self.open_requests.insert(id.clone(), EditorRequest::Close(it.session_id));
            return out.forward(Side::Agent, line);
        }
        let session = find(&mut self.sessions, &it.session_id);
        if session.is_busy() || session.is_working() {
            let cancel = v1::prompt_turn::CancelNotification::new(it.session_id.clone());
            out.notify(Side::Agent, "session/cancel", &cancel);
        }
        session.close(&it.session_id, out);
        self.withdraw(&it.session_id, out);
        out.result(Side::Editor, id, &v2::session_setup::CloseSessionResponse::new());
    }

    /// Cancels the open requests of a session's agent, as agents of version 2 do.
    pub(super) fn withdraw(&self, session: &SessionId, out: &mut Outbox) {
        for (id, question) in self.questions.iter() {
            if question.session.as_ref() == Some(session) {
                let cancel = CancelRequestNotification::new(id.clone());
                out.notify(Side::Editor, "$/cancel_request", &cancel);
            }
        }
    }

    fn set_option(
        &mut self,
        id: &RequestId,
        it: v2::session_config_options::SetSessionConfigOptionRequest,
        out: &mut Outbox,
    ) {
        use v1::session_config_options as to;
        let session = it.session_id.clone();
        let has_modes = find(&mut self.sessions, &session).has_mode_option();
        let value = match it.value {
            SessionConfigOptionValue::Id(value)
                if has_modes && it.config_id.as_str() == MODE_OPTION =>
            {
                let mode = SessionModeId::from(value.value.as_str());
                let mut request_v1 = SetSessionModeRequest::new(session.clone(), mode.clone());
                request_v1.meta = it.meta;
                let open_request = EditorRequest::Mode(session, mode);
                return self.ask(id, "session/set_mode", &request_v1, open_request, out);
            }
            value => value_to_v1(value),
        };
        let mut request_v1 =
            to::SetSessionConfigOptionRequest::new(it.session_id, it.config_id, value);
        request_v1.meta = it.meta;
        self.ask(id, "session/set_config_option", &request_v1, EditorRequest::Option(session), out);
    }

    /// Begins or holds a turn: an agent of version 1 has one at a time.
    fn prompt(
        &mut self,
        request: &Request<'_>,
        it: v2::prompt_lifecycle::PromptRequest,
        out: &mut Outbox,
    ) {
        let id = it.session_id.clone();
        let skill = it.prompt.iter().find_map(|block| match block {
            ContentBlock::Skill(skill) => Some(&skill.name),
            _ => None,
        });
        if let Some(skill) = skill {
            let message = format!("the agent has no skill `{skill}`");
            return refuse(Side::Editor, request, ErrorCode::INVALID_PARAMS, &message, out);
        }
        let session = find(&mut self.sessions, &id);
        let repetition = match &it.idempotency_key {
            Some(_) if session.is_full() => Repetition::First,
            Some(key) => session.submissions.submit(key, &request.id, out),
            None => Repetition::First,
        };
        if repetition == Repetition::Repeated {
            return;
        }
        if repetition == Repetition::First && session.hold(request.id.clone(), it) {
            self.begin_turn(&id, out);
        } else {
            out.diagnose(BridgeDiagnostic::Full(Side::Editor, "MAX_PROMPTS"));
            let message = "too many open prompts";
            refuse(Side::Editor, request, ErrorCode::INTERNAL_ERROR, message, out);
        }
    }

    /// Sends the next held prompt, unless a turn is open.
    pub(super) fn begin_turn(&mut self, session: &SessionId, out: &mut Outbox) {
        if let Some((id, prompt)) = find(&mut self.sessions, session).begin_turn(session, out) {
            self.ask(&id, "session/prompt", &prompt, EditorRequest::Prompt(session.clone()), out);
        }
    }
}
