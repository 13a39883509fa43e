//! Results of the agent.
use super::session::Session;
use super::{Asked, V2Editor, find};
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
    ($editor:ident, $id:ident, $session:expr, $it:expr, $same:expr, $out:ident) => {{
        let it = $it;
        let mut same = $same;
        same.config_options = $editor.begin($session, it.modes, it.config_options, $out);
        same.meta = it.meta;
        $out.result(Side::Editor, $id, &same);
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
        let Some(asked) = self.asked.remove(id) else { return out.forward(Side::Editor, line) };
        let initial_mode = self.initial_modes.remove(id);
        let read = match &response.outcome {
            Ok(result) => read(&asked, result, out),
            Err(error) => return self.failed(line, id, asked, error, out),
        };
        match read {
            Ok(read) => {
                if let Some((mode, lost)) = initial_mode.zip(modes(&read))
                    && lost.current_mode_id.as_str() != mode
                {
                    out.lose(BridgeLoss::Modes, mode);
                }
                self.answered(id, asked, read, out);
            }
            Err(error) => {
                let message = String::from("the agent's result is invalid: ") + &error;
                out.diagnose(BridgeDiagnostic::Unreadable(Side::Agent, error));
                let error = ErrorObject::new(ErrorCode::INTERNAL_ERROR, message);
                match asked {
                    Asked::Prompt(session) => self.end_with(&session, id, &error, out),
                    _ => out.error(Side::Editor, id, error),
                }
            }
        }
    }

    fn failed(
        &mut self,
        line: &str,
        id: &RequestId,
        asked: Asked,
        error: &ErrorObject,
        out: &mut Outbox,
    ) {
        match asked {
            Asked::Prompt(session) => self.end_with(&session, id, error, out),
            Asked::Load(session) | Asked::Resume(session) => {
                let session = find(&mut self.sessions, &session);
                (session.drops_replay, session.is_open) = (false, true);
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

    fn answered(&mut self, id: &RequestId, asked: Asked, read: AgentResponse, out: &mut Outbox) {
        match (asked, read) {
            (Asked::Prompt(session), AgentResponse::PromptResponse(it)) => {
                let state = find(&mut self.sessions, &session);
                if state.has_turn(id) {
                    state.ended(&session, *it, out);
                    self.begin_turn(&session, out);
                }
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
            (Asked::Load(session), AgentResponse::LoadSessionResponse(it)) => {
                find(&mut self.sessions, &session).loaded(&session, out);
                begun!(self, id, &session, it.into_inner(), to::ResumeSessionResponse::new(), out);
            }
            (Asked::Resume(session), AgentResponse::ResumeSessionResponse(it)) => {
                find(&mut self.sessions, &session).loaded(&session, out);
                begun!(self, id, &session, it.into_inner(), to::ResumeSessionResponse::new(), out);
            }
            (Asked::Mode(session, mode), AgentResponse::SetSessionModeResponse(it)) => {
                let session = find(&mut self.sessions, &session);
                if let Some(modes) = &mut session.modes {
                    modes.current_mode_id = mode;
                }
                let all = session.all_options(out);
                let mut same = options::SetSessionConfigOptionResponse::new(all);
                same.meta = it.into_inner().meta;
                out.result(Side::Editor, id, &same);
            }
            (Asked::Option(session), AgentResponse::SetSessionConfigOptionResponse(it)) => {
                let session = find(&mut self.sessions, &session);
                session.options = options_to_v2(&it.config_options);
                let all = session.all_options(out);
                let mut same = options::SetSessionConfigOptionResponse::new(all);
                same.meta = it.meta;
                out.result(Side::Editor, id, &same);
            }
            (_, AgentResponse::SessionOptionsResponse(it)) => {
                let it = it.into_inner();
                let has_any = it.modes.is_some() || it.config_options.is_some();
                let mut session = Session::default();
                session.modes = it.modes;
                session.options =
                    it.config_options.as_deref().map(options_to_v2).unwrap_or_default();
                let mut same = to::SessionOptionsResponse::new();
                same.config_options = has_any.then(|| session.all_options(out));
                same.meta = it.meta;
                out.result(Side::Editor, id, &same);
            }
            (Asked::Close(session), AgentResponse::CloseSessionResponse(it)) => {
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
        (session.is_closed, session.is_open) = (false, true);
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
fn read(asked: &Asked, result: &RawValue, out: &mut Outbox) -> Result<AgentResponse, String> {
    let method = match asked {
        Asked::Prompt(_) => "session/prompt",
        Asked::New => "session/new",
        Asked::Fork => "session/fork",
        Asked::Load(_) => "session/load",
        Asked::Resume(_) => "session/resume",
        Asked::Mode(..) => "session/set_mode",
        Asked::Option(_) => "session/set_config_option",
        Asked::Close(_) => "session/close",
        Asked::Options => "session/options",
    };
    let read = AgentResponse::decode_with(method, result, Mode::SpecLenient);
    read.map(|read| tolerate(Side::Agent, read, out)).map_err(|error| error.to_string())
}
