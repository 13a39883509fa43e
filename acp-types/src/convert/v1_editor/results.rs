//! Results of the agent.
use super::{EditorRequest, V1Editor, find, send};
use crate::convert::outbox::Outbox;
use crate::convert::setup::{commands_to_v1, modes_of, options_to_v1};
use crate::convert::side::Side;
use crate::convert::{BridgeDiagnostic, BridgeLoss, tolerate};
use crate::v1::prompt_turn::SessionUpdate;
use crate::v1::session_setup::SessionId;
use crate::v2::dispatch::AgentResponse;
use crate::{v1, v2};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use jsonrpc_core::wire::Mode;
use jsonrpc_core::{ErrorCode, ErrorObject, RequestId, Response};
use serde_json::value::RawValue;

/// The modes and options of a session that begins.
type ModesAndOptions = (
    Option<v1::session_modes::SessionModeState>,
    Option<Vec<v1::session_config_options::SessionConfigOption>>,
);

/// Answers a request that begins a session. Its commands follow in an update.
macro_rules! begun {
    ($editor:ident, $id:ident, $session:expr, $it:expr, $response_v1:expr, $out:ident) => {{
        let session = $session;
        let it = $it;
        let mut response_v1 = $response_v1;
        (response_v1.modes, response_v1.config_options) =
            $editor.begin(session, it.config_options, $out);
        response_v1.meta = it.meta;
        $out.result(Side::Editor, $id, &response_v1);
        if let Some(commands) = it.available_commands {
            let commands = commands_to_v1(&commands, $out);
            let update = v1::slash_commands::AvailableCommandsUpdate::new(commands);
            send(session, SessionUpdate::AvailableCommandsUpdate(update), None, $out);
        }
    }};
}

impl V1Editor {
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
        let read = match &response.outcome {
            Ok(result) => read(&open_request, result, out),
            Err(_) => {
                if let EditorRequest::Prompt(session) = &open_request {
                    self.session(session).refused(id);
                }
                return out.forward(Side::Editor, line);
            }
        };
        match read {
            Ok(read) => self.answered(id, open_request, read, out),
            Err(error) => {
                let message = format!("the agent's result is invalid: {error}");
                if let EditorRequest::Prompt(session) = &open_request {
                    self.session(session).refused(id);
                }
                out.diagnose(BridgeDiagnostic::Unreadable(Side::Agent, error));
                out.error(Side::Editor, id, ErrorObject::new(ErrorCode::INTERNAL_ERROR, message));
            }
        }
    }

    fn answered(
        &mut self,
        id: &RequestId,
        open_request: EditorRequest,
        read: AgentResponse,
        out: &mut Outbox,
    ) {
        use v1::session_setup as to;
        match (open_request, read) {
            (EditorRequest::Prompt(session), AgentResponse::PromptResponse(it)) => {
                self.session(&session).accept(id, it.message_id, out);
            }
            (_, AgentResponse::NewSessionResponse(it)) => {
                let session = it.session_id.clone();
                let response_v1 = to::NewSessionResponse::new(it.session_id.clone());
                begun!(self, id, &session, *it, response_v1, out);
            }
            (_, AgentResponse::ForkSessionResponse(it)) => {
                let session = it.session_id.clone();
                let response_v1 = to::ForkSessionResponse::new(it.session_id.clone());
                begun!(self, id, &session, *it, response_v1, out);
            }
            (EditorRequest::Load(session), AgentResponse::ResumeSessionResponse(it)) => {
                begun!(self, id, &session, it.into_inner(), to::LoadSessionResponse::new(), out);
            }
            (EditorRequest::Resume(session), AgentResponse::ResumeSessionResponse(it)) => {
                begun!(self, id, &session, it.into_inner(), to::ResumeSessionResponse::new(), out);
            }
            (open_request, AgentResponse::SetSessionConfigOptionResponse(it)) => {
                self.option_set(id, open_request, *it, out);
            }
            (EditorRequest::Close(session), AgentResponse::CloseSessionResponse(it)) => {
                if let Some(session) = self.sessions.remove(session.as_str()) {
                    session.close(out);
                }
                out.result(Side::Editor, id, &*it);
            }
            (_, AgentResponse::SessionOptionsResponse(it)) => {
                let it = it.into_inner();
                let options = it.config_options.as_deref();
                let mut response_v1 = to::SessionOptionsResponse::new();
                response_v1.modes = options.and_then(modes_of).map(|option| option.modes);
                response_v1.config_options =
                    options.map(|options| options_to_v1(options, &self.capabilities, out));
                response_v1.meta = it.meta;
                for command in it.available_commands.iter().flatten() {
                    out.lose(BridgeLoss::Command, command.name().map_or(String::new(), Into::into));
                }
                out.result(Side::Editor, id, &response_v1);
            }
            (_, AgentResponse::SessionStatusResponse(it)) => {
                if it.state.is_some() {
                    out.lose(BridgeLoss::State, "session/status");
                }
                let mut response_v1 =
                    v1::session_status::SessionStatusResponse::new(it.status.clone());
                response_v1.meta = it.meta;
                out.result(Side::Editor, id, &response_v1);
            }
            _ => {}
        }
    }

    fn option_set(
        &mut self,
        id: &RequestId,
        open_request: EditorRequest,
        it: v2::session_config_options::SetSessionConfigOptionResponse,
        out: &mut Outbox,
    ) {
        let (EditorRequest::Mode(session_id, _) | EditorRequest::Option(session_id)) =
            &open_request
        else {
            return;
        };
        let options = options_to_v1(&it.config_options, &self.capabilities, out);
        let session = find(&mut self.sessions, session_id);
        if let EditorRequest::Mode(_, mode) = &open_request {
            session.set_mode(mode);
            let mut response_v1 = v1::session_modes::SetSessionModeResponse::new();
            response_v1.meta = it.meta;
            out.result(Side::Editor, id, &response_v1);
            let update = v1::session_config_options::ConfigOptionUpdate::new(options);
            send(session_id, SessionUpdate::ConfigOptionUpdate(update), None, out);
        } else {
            session.change_mode(session_id, &it.config_options, out);
            let mut response_v1 =
                v1::session_config_options::SetSessionConfigOptionResponse::new(options);
            response_v1.meta = it.meta;
            out.result(Side::Editor, id, &response_v1);
        }
    }

    /// Records the options of a session that begins, and returns them with the modes.
    fn begin(
        &mut self,
        id: &SessionId,
        options: Option<Vec<v2::session_config_options::SessionConfigOption>>,
        out: &mut Outbox,
    ) -> ModesAndOptions {
        let Some(options) = options else { return (None, None) };
        let session = find(&mut self.sessions, id);
        session.mode = modes_of(&options);
        let modes = session.mode.as_ref().map(|option| option.modes.clone());
        (modes, Some(options_to_v1(&options, &self.capabilities, out)))
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
        EditorRequest::Load(_) | EditorRequest::Resume(_) => "session/resume",
        EditorRequest::Mode(..) | EditorRequest::Option(_) => "session/set_config_option",
        EditorRequest::Close(_) => "session/close",
        EditorRequest::Options => "session/options",
        EditorRequest::Status => "session/status",
    };
    let read = AgentResponse::decode_with(method, result, Mode::SpecLenient);
    read.map(|read| tolerate(Side::Agent, read, out)).map_err(|error| error.to_string())
}
