//! Results of the agent.
use super::{Asked, V1Editor, find, send};
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
    ($editor:ident, $id:ident, $session:expr, $it:expr, $same:expr, $out:ident) => {{
        let session = $session;
        let it = $it;
        let mut same = $same;
        (same.modes, same.config_options) = $editor.begin(session, it.config_options, $out);
        same.meta = it.meta;
        $out.result(Side::Editor, $id, &same);
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
        let Some(asked) = self.asked.remove(id) else { return out.forward(Side::Editor, line) };
        let read = match &response.outcome {
            Ok(result) => read(&asked, result, out),
            Err(_) => {
                if let Asked::Prompt(session) = &asked {
                    self.session(session).refused(id);
                }
                return out.forward(Side::Editor, line);
            }
        };
        match read {
            Ok(read) => self.answered(id, asked, read, out),
            Err(error) => {
                let message = format!("the agent's result is invalid: {error}");
                if let Asked::Prompt(session) = &asked {
                    self.session(session).refused(id);
                }
                out.diagnose(BridgeDiagnostic::Unreadable(Side::Agent, error));
                out.error(Side::Editor, id, ErrorObject::new(ErrorCode::INTERNAL_ERROR, message));
            }
        }
    }

    fn answered(&mut self, id: &RequestId, asked: Asked, read: AgentResponse, out: &mut Outbox) {
        use v1::session_setup as to;
        match (asked, read) {
            (Asked::Prompt(session), AgentResponse::PromptResponse(it)) => {
                self.session(&session).accept(id, it.message_id, out);
            }
            (_, AgentResponse::NewSessionResponse(it)) => {
                let session = it.session_id.clone();
                let same = to::NewSessionResponse::new(it.session_id.clone());
                begun!(self, id, &session, *it, same, out);
            }
            (_, AgentResponse::ForkSessionResponse(it)) => {
                let session = it.session_id.clone();
                let same = to::ForkSessionResponse::new(it.session_id.clone());
                begun!(self, id, &session, *it, same, out);
            }
            (Asked::Load(session), AgentResponse::ResumeSessionResponse(it)) => {
                begun!(self, id, &session, it.into_inner(), to::LoadSessionResponse::new(), out);
            }
            (Asked::Resume(session), AgentResponse::ResumeSessionResponse(it)) => {
                begun!(self, id, &session, it.into_inner(), to::ResumeSessionResponse::new(), out);
            }
            (asked, AgentResponse::SetSessionConfigOptionResponse(it)) => {
                self.option_set(id, asked, *it, out);
            }
            (Asked::Close(session), AgentResponse::CloseSessionResponse(it)) => {
                if let Some(session) = self.sessions.remove(session.as_str()) {
                    session.close(out);
                }
                out.result(Side::Editor, id, &*it);
            }
            (_, AgentResponse::SessionOptionsResponse(it)) => {
                let it = it.into_inner();
                let options = it.config_options.as_deref();
                let mut same = to::SessionOptionsResponse::new();
                same.modes = options.and_then(modes_of).map(|option| option.modes);
                same.config_options =
                    options.map(|options| options_to_v1(options, &self.capabilities, out));
                same.meta = it.meta;
                for command in it.available_commands.iter().flatten() {
                    out.lose(BridgeLoss::Command, command.name().map_or(String::new(), Into::into));
                }
                out.result(Side::Editor, id, &same);
            }
            (_, AgentResponse::SessionStatusResponse(it)) => {
                if it.state.is_some() {
                    out.lose(BridgeLoss::State, "session/status");
                }
                let mut same = v1::session_status::SessionStatusResponse::new(it.status.clone());
                same.meta = it.meta;
                out.result(Side::Editor, id, &same);
            }
            _ => {}
        }
    }

    fn option_set(
        &mut self,
        id: &RequestId,
        asked: Asked,
        it: v2::session_config_options::SetSessionConfigOptionResponse,
        out: &mut Outbox,
    ) {
        let (Asked::Mode(session_id, _) | Asked::Option(session_id)) = &asked else { return };
        let options = options_to_v1(&it.config_options, &self.capabilities, out);
        let session = find(&mut self.sessions, session_id);
        if let Asked::Mode(_, mode) = &asked {
            session.set_mode(mode);
            let mut same = v1::session_modes::SetSessionModeResponse::new();
            same.meta = it.meta;
            out.result(Side::Editor, id, &same);
            let update = v1::session_config_options::ConfigOptionUpdate::new(options);
            send(session_id, SessionUpdate::ConfigOptionUpdate(update), None, out);
        } else {
            session.change_mode(session_id, &it.config_options, out);
            let mut same = v1::session_config_options::SetSessionConfigOptionResponse::new(options);
            same.meta = it.meta;
            out.result(Side::Editor, id, &same);
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
fn read(asked: &Asked, result: &RawValue, out: &mut Outbox) -> Result<AgentResponse, String> {
    let method = match asked {
        Asked::Prompt(_) => "session/prompt",
        Asked::New => "session/new",
        Asked::Fork => "session/fork",
        Asked::Load(_) | Asked::Resume(_) => "session/resume",
        Asked::Mode(..) | Asked::Option(_) => "session/set_config_option",
        Asked::Close(_) => "session/close",
        Asked::Options => "session/options",
        Asked::Status => "session/status",
    };
    let read = AgentResponse::decode_with(method, result, Mode::SpecLenient);
    read.map(|read| tolerate(Side::Agent, read, out)).map_err(|error| error.to_string())
}
