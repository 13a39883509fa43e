//! Results of the agent.
use super::session::Session;
use super::{EditorRequest, V2Editor, find};
use crate::convert::outbox::Outbox;
use crate::convert::setup::options_to_v2;
use crate::convert::side::Side;
use crate::convert::{BridgeDiagnostic, BridgeLoss, tolerate};
use crate::v1::dispatch::AgentResponse;
use crate::v1::session_config_options::SessionConfigOption;
use crate::v1::session_modes::SessionModeState;
use crate::v1::session_setup::SessionId;
use crate::v2::session_config_options as options;
use crate::v2::session_setup as to;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use jsonrpc_core::wire::Mode;
use jsonrpc_core::{ErrorCode, ErrorObject, RequestId, Response};
use serde_json::value::RawValue;

/// The options of a session that begins.
type Options = Option<Vec<options::SessionConfigOption>>;

/// Answers a request that begins a session.
macro_rules! begun {
    ($editor:ident, $id:ident, $session:expr, $it:expr, $response_v2:expr, $out:ident) => {{
        let it = $it;
        let mut response_v2 = $response_v2;
        response_v2.config_options = $editor.begin($session, it.modes, it.config_options, $out);
        response_v2.meta = it.meta;
        $out.result(Side::Editor, $id, &response_v2);
    }};
}

impl V2Editor {
    pub(in crate::convert) fn agent_response(
        &mut self,
        line: &str,
        response: &Response<'_>,
        out: &mut Outbox,
    ) {
        let id = &response.id;
        let Some(open_request) = self.open_requests.remove(id) else {
            return out.forward(Side::Editor, line);
        };
        let initial_mode = self.initial_modes.remove(id);
        let read = match &response.outcome {
            Ok(result) => read(&open_request, result, out),
            Err(error) => return self.failed(line, id, open_request, error, out),
        };
        match read {
            Ok(read) => {
                if let Some((mode, lost)) = initial_mode.zip(modes(&read))
                    && lost.current_mode_id.as_str() != mode
                {
                    out.lose(BridgeLoss::Modes, mode);
                }
                self.answered(id, open_request, read, out);
            }
            Err(error) => {
                let message = String::from("the agent's result is invalid: ") + &error;
                out.diagnose(BridgeDiagnostic::Unreadable(Side::Agent, error));
                let error = ErrorObject::new(ErrorCode::INTERNAL_ERROR, message);
                match open_request {
                    EditorRequest::Prompt(session) => self.end_with(&session, id, &error, out),
                    _ => out.error(Side::Editor, id, error),
                }
            }
        }
    }

    fn failed(
        &mut self,
        line: &str,
        id: &RequestId,
        open_request: EditorRequest,
        error: &ErrorObject,
        out: &mut Outbox,
    ) {
        match open_request {
            EditorRequest::Prompt(session) => self.end_with(&session, id, error, out),
            EditorRequest::Load(session) | EditorRequest::Resume(session) => {
                let session = find(&mut self.sessions, &session);
                session.drops_replay = false;
                session.is_open = true;
                session.is_replayed = false;
                out.forward(Side::Editor, line);
            }
            _ => out.forward(Side::Editor, line),
        }
    }

    fn end_with(
        &mut self,
        id: &SessionId,
        prompt: &RequestId,
        error: &ErrorObject,
        out: &mut Outbox,
    ) {
        let session = find(&mut self.sessions, id);
        if session.has_turn(prompt) {
            session.failed(id, error, out);
            self.begin_turn(id, out);
        }
    }

    fn answered(
        &mut self,
        id: &RequestId,
        open_request: EditorRequest,
        read: AgentResponse,
        out: &mut Outbox,
    ) {
        match (open_request, read) {
            (EditorRequest::Prompt(session), AgentResponse::PromptResponse(it)) => {
                let state = find(&mut self.sessions, &session);
                if state.has_turn(id) {
                    state.ended(&session, *it, out);
                    self.begin_turn(&session, out);
                }
            }
            (_, AgentResponse::NewSessionResponse(it)) => {
                let session = it.session_id.clone();
                let response_v2 = to::NewSessionResponse::new(it.session_id.clone());
                begun!(self, id, &session, *it, response_v2, out);
            }
            (_, AgentResponse::ForkSessionResponse(it)) => {
                let session = it.session_id.clone();
                let response_v2 = to::ForkSessionResponse::new(it.session_id.clone());
                begun!(self, id, &session, *it, response_v2, out);
            }
            (EditorRequest::Load(session), AgentResponse::LoadSessionResponse(it)) => {
                find(&mut self.sessions, &session).loaded(&session, out);
                begun!(self, id, &session, it.into_inner(), to::ResumeSessionResponse::new(), out);
            }
            (EditorRequest::Resume(session), AgentResponse::ResumeSessionResponse(it)) => {
                find(&mut self.sessions, &session).loaded(&session, out);
                begun!(self, id, &session, it.into_inner(), to::ResumeSessionResponse::new(), out);
            }
            (EditorRequest::Mode(session, mode), AgentResponse::SetSessionModeResponse(it)) => {
                let session = find(&mut self.sessions, &session);
                if let Some(modes) = &mut session.modes {
                    modes.current_mode_id = mode;
                }
                let all = session.all_options(out);
                let mut response_v2 = options::SetSessionConfigOptionResponse::new(all);
                response_v2.meta = it.into_inner().meta;
                out.result(Side::Editor, id, &response_v2);
            }
            (EditorRequest::Option(session), AgentResponse::SetSessionConfigOptionResponse(it)) => {
                let session = find(&mut self.sessions, &session);
                session.options = options_to_v2(&it.config_options);
                let all = session.all_options(out);
                let mut response_v2 = options::SetSessionConfigOptionResponse::new(all);
                response_v2.meta = it.meta;
                out.result(Side::Editor, id, &response_v2);
            }
            (_, AgentResponse::SessionOptionsResponse(it)) => {
                let it = it.into_inner();
                let has_any = it.modes.is_some() || it.config_options.is_some();
                let mut session = Session::default();
                session.modes = it.modes;
                session.options =
                    it.config_options.as_deref().map(options_to_v2).unwrap_or_default();
                let mut response_v2 = to::SessionOptionsResponse::new();
                response_v2.config_options = has_any.then(|| session.all_options(out));
                response_v2.meta = it.meta;
                out.result(Side::Editor, id, &response_v2);
            }
            (EditorRequest::Close(session), AgentResponse::CloseSessionResponse(it)) => {
                find(&mut self.sessions, &session).close(&session, out);
                out.result(Side::Editor, id, &*it);
            }
            _ => {}
        }
    }

    /// Records the modes and options of a session that begins, and returns them as options.
    fn begin(
        &mut self,
        id: &SessionId,
        modes: Option<SessionModeState>,
        options: Option<Vec<SessionConfigOption>>,
        out: &mut Outbox,
    ) -> Options {
        let session = find(&mut self.sessions, id);
        session.is_closed = false;
        session.is_open = true;
        let has_any = modes.is_some() || options.is_some();
        session.modes = modes;
        session.options = options.as_deref().map(options_to_v2).unwrap_or_default();
        has_any.then(|| session.all_options(out))
    }
}

/// Returns the modes of a session that begins.
fn modes(read: &AgentResponse) -> Option<&SessionModeState> {
    match read {
        AgentResponse::NewSessionResponse(it) => it.modes.as_ref(),
        AgentResponse::ForkSessionResponse(it) => it.modes.as_ref(),
        AgentResponse::LoadSessionResponse(it) => it.modes.as_ref(),
        AgentResponse::ResumeSessionResponse(it) => it.modes.as_ref(),
        _ => None,
    }
}

/// Decodes the result of a converted request.
fn read(
    open_request: &EditorRequest,
    result: &RawValue,
    out: &mut Outbox,
) -> Result<AgentResponse, String> {
    let method = match open_request {
        EditorRequest::Prompt(_) => "session/prompt",
        EditorRequest::New => "session/new",
        EditorRequest::Fork => "session/fork",
        EditorRequest::Load(_) => "session/load",
        EditorRequest::Resume(_) => "session/resume",
        EditorRequest::Mode(..) => "session/set_mode",
        EditorRequest::Option(_) => "session/set_config_option",
        EditorRequest::Close(_) => "session/close",
        EditorRequest::Options => "session/options",
    };
    let read = AgentResponse::decode_with(method, result, Mode::SpecLenient);
    read.map(|read| tolerate(Side::Agent, read, out)).map_err(|error| error.to_string())
}
