//! The methods of the agent in version 2.

use crate::agent::{Agent, busy};
use crate::client::Client;
use crate::page_tools::PageTools;
use crate::script::{Scene, ShownUpdates};
use crate::session::{LATER, MODE, Turn};
use crate::talk;
use crate::turns::{running, state};
use crate::words::{self, WORDS};
use acp_types::connection::{Context, Peer, v2};
use acp_types::v1::error::RESOURCE_NOT_FOUND;
use acp_types::v1::prompt_turn::{PromptResponse as Outcome, StopReason as Reason};
use acp_types::v2::content::ContentBlock;
use acp_types::v2::error::SessionNotFoundErrorData;
use acp_types::v2::initialization::{
    AgentCapabilities, Implementation, InitializeRequest, InitializeResponse, McpCapabilities,
    McpStdioCapabilities, PromptCapabilities, PromptEmbeddedContextCapabilities,
    PromptImageCapabilities, PromptSkillCapabilities, ProtocolVersion, SessionCapabilities,
    SessionForkCapabilities,
};
use acp_types::v2::prompt_lifecycle::{
    CancelSessionNotification, PromptRequest, PromptResponse, SessionUpdate, UserMessage,
};
use acp_types::v2::session_config_options::{
    SessionConfigOptionValue, SetSessionConfigOptionRequest, SetSessionConfigOptionResponse,
};
use acp_types::v2::session_list::{ListSessionsRequest, ListSessionsResponse, SessionInfo};
use acp_types::v2::session_setup::{
    CloseSessionRequest, CloseSessionResponse, ForkSessionRequest, ForkSessionResponse,
    NewSessionRequest, NewSessionResponse, ReplayFrom, ResumeSessionRequest, ResumeSessionResponse,
    SessionId,
};
use acp_types::v2::session_states::{ErrorStopReason, IdleStateUpdate, StateUpdate, StopReason};
use acp_types::v2::slash_commands::{AvailableCommand, Command, Skill};
use jsonrpc_core::wire::{Extra, Raw};
use jsonrpc_core::{ErrorCode, ErrorObject};
use tokio::task::spawn_local;
use tokio::time::sleep;

/// The skill of the agent.
const SKILL: &str = "summarize";

#[async_trait::async_trait(?Send)]
impl v2::LocalAgent for Agent {
    async fn initialize(
        &self,
        request: InitializeRequest,
        _: Context,
    ) -> Result<InitializeResponse, ErrorObject> {
        let elicitation = request.capabilities.as_ref().and_then(|it| it.elicitation.as_ref());
        self.shows_forms.set(elicitation.is_some_and(|elicitation| elicitation.form.is_some()));
        let session = request.capabilities.as_ref().and_then(|it| it.session.as_ref());
        let commands = session.and_then(|session| session.commands.as_ref());
        self.shows.set(ShownUpdates {
            notices: true,
            compactions: true,
            subagents: true,
            suggestions: session.is_some_and(|session| session.prompt_suggestions.is_some()),
            skills: commands.is_some_and(|commands| commands.skill.is_some()),
            cursors: true,
        });
        let mut prompt = PromptCapabilities::new();
        prompt.image = Some(PromptImageCapabilities::new());
        prompt.embedded_context = Some(PromptEmbeddedContextCapabilities::new());
        prompt.skill = Some(PromptSkillCapabilities::new());
        let mut mcp = McpCapabilities::new();
        mcp.stdio = Some(McpStdioCapabilities::new());
        let mut session = SessionCapabilities::new();
        session.prompt = Some(prompt);
        session.mcp = Some(mcp);
        session.fork = Some(SessionForkCapabilities::new());
        let mut capabilities = AgentCapabilities::new();
        capabilities.session = Some(Box::new(session));
        let mut info = Implementation::new("demo-agent", env!("CARGO_PKG_VERSION"));
        info.title = Some("Demo agent".to_owned());
        let mut response = InitializeResponse::new(ProtocolVersion::V2, info);
        response.capabilities = Some(capabilities);
        Ok(response)
    }

    async fn new_session(
        &self,
        request: NewSessionRequest,
        _: Context,
    ) -> Result<NewSessionResponse, ErrorObject> {
        let servers = request.mcp_servers.as_deref().unwrap_or_default();
        let page = PageTools::of_v2(servers, request.meta.as_ref());
        let session_id =
            self.open(|session_id| self.scene_v2(session_id, request.cwd.to_string(), page))?;
        let mut response = NewSessionResponse::new(session_id.clone());
        response.config_options = Some(self.with_session(&session_id, |it| it.options())?);
        response.available_commands = Some(self.commands());
        Ok(response)
    }

    async fn fork_session(
        &self,
        request: ForkSessionRequest,
        context: Context,
    ) -> Result<ForkSessionResponse, ErrorObject> {
        let servers = request.mcp_servers.as_deref().unwrap_or_default();
        let page = PageTools::of_v2(servers, request.meta.as_ref());
        let cursor = request.cursor_id;
        let session_id = self.fork(&request.session_id, cursor.as_ref(), |session_id| {
            self.scene_v2(session_id, request.cwd.to_string(), page)
        })?;
        let (options, cursors) =
            self.find(&session_id, |session| (session.options(), session.cursors()))?;
        let mut response = ForkSessionResponse::new(session_id.clone());
        response.config_options = Some(options);
        response.available_commands = Some(self.commands());
        // After the response: before it, the client does not know the session.
        let client = Client::v2(context.peer().clone(), session_id);
        spawn_local(async move {
            for cursor in cursors {
                client.update(cursor).await;
            }
        });
        Ok(response)
    }

    async fn resume_session(
        &self,
        request: ResumeSessionRequest,
        context: Context,
    ) -> Result<ResumeSessionResponse, ErrorObject> {
        let id = request.session_id;
        let (history, cursors, is_busy, options) = self.find(&id, |session| {
            let history = session.history().cloned().collect::<Vec<_>>();
            (history, session.cursors(), session.is_busy(), session.options())
        })?;
        let client = Client::v2(context.peer().clone(), id);
        match request.replay_from {
            Some(ReplayFrom::Start(_)) => {
                for (session, update) in history {
                    client.update_of(&session, update).await;
                }
                for cursor in cursors {
                    client.update(cursor).await;
                }
            }
            Some(other) => {
                let message = format!("no replay from {:?}; expected `start`", other.tag());
                return Err(ErrorObject::new(ErrorCode::INVALID_PARAMS, message));
            }
            None => {}
        }
        let idle = IdleStateUpdate::new(StopReason::NotReported(Extra::new()));
        let idle = state(StateUpdate::Idle(Box::new(idle)));
        client.update(if is_busy { running() } else { idle }).await;
        let mut response = ResumeSessionResponse::new();
        response.config_options = Some(options);
        response.available_commands = Some(self.commands());
        Ok(response)
    }

    async fn close_session(
        &self,
        request: CloseSessionRequest,
        _: Context,
    ) -> Result<CloseSessionResponse, ErrorObject> {
        // Closing an unknown session succeeds.
        if let Some(session) = self.sessions.borrow_mut().remove(&request.session_id) {
            session.cancel();
        }
        Ok(CloseSessionResponse::new())
    }

    async fn list_sessions(
        &self,
        request: ListSessionsRequest,
        _: Context,
    ) -> Result<ListSessionsResponse, ErrorObject> {
        let sessions = self.sessions.borrow();
        let cwd = request.cwd.as_ref().map(|cwd| cwd.as_str());
        let listed = sessions
            .values()
            .filter(|session| cwd.is_none_or(|cwd| cwd == session.scene.cwd))
            .map(|it| SessionInfo::new(it.scene.session_id.clone(), it.scene.cwd.as_str()));
        Ok(ListSessionsResponse::new(listed.collect::<Vec<_>>()))
    }

    async fn set_session_config_option(
        &self,
        request: SetSessionConfigOptionRequest,
        _: Context,
    ) -> Result<SetSessionConfigOptionResponse, ErrorObject> {
        let mode = match &request.value {
            SessionConfigOptionValue::Id(value) if request.config_id.as_str() == MODE => {
                value.value.as_str()
            }
            _ => "",
        };
        let options = self.find(&request.session_id, |session| {
            session.set_mode(mode).then(|| session.options())
        })?;
        let message = format!("expected a mode as the value of `{MODE}`");
        let invalid = || ErrorObject::new(ErrorCode::INVALID_PARAMS, message);
        Ok(SetSessionConfigOptionResponse::new(options.ok_or_else(invalid)?))
    }

    async fn prompt(
        &self,
        request: PromptRequest,
        context: Context,
    ) -> Result<PromptResponse, ErrorObject> {
        let id = request.session_id;
        let text = text(&request.prompt);
        let is_invocation = invokes_skill(&request.prompt)?;
        while let Some(mut turn) = self.find(&id, |session| session.await_own_turn())? {
            // The channel has no values, so that this is its end.
            let _ = turn.changed().await;
        }
        let begun = self.find(&id, |session| {
            let message_id = session.scene.message_id();
            let mut said = UserMessage::new(message_id.as_str());
            said.content = request.prompt.into();
            let said = SessionUpdate::UserMessage(Box::new(said));
            let turn = session.begin([said.clone()], |scene| {
                if is_invocation {
                    talk::summarize(scene, &text)
                } else {
                    words::steps(&text, scene)
                }
            })?;
            Some((message_id, said, turn))
        })?;
        let (message_id, said, turn) = begun.ok_or_else(busy)?;
        let client = Client::v2(context.peer().clone(), id);
        // After the response, which accepts the prompt.
        spawn_local(self.clone().work(client, said, turn));
        Ok(PromptResponse::new(message_id))
    }

    async fn cancel_session(&self, notification: CancelSessionNotification, _: Peer) {
        // An unknown session has no turn to cancel.
        let _ = self.with_session(&notification.session_id, |session| session.cancel());
    }
}

impl Agent {
    /// Returns the context of the turns of a session in version 2.
    fn scene_v2(&self, session_id: SessionId, cwd: String, page: PageTools) -> Scene {
        Scene {
            session_id,
            is_v2: true,
            page,
            cwd,
            has_terminal: false,
            shows: self.shows.get(),
            shows_forms: self.shows_forms.get(),
            asks: true,
            prompts: Vec::new(),
            ids: 0,
        }
    }

    /// Calls a function with a session.
    fn find<R>(
        &self,
        id: &SessionId,
        act: impl FnOnce(&mut crate::session::Session) -> R,
    ) -> Result<R, ErrorObject> {
        self.with_session(id, act).map_err(|mut error| {
            if error.code == RESOURCE_NOT_FOUND {
                error.data = Some(Raw::of(&SessionNotFoundErrorData::new(id.clone())));
            }
            error
        })
    }

    /// Returns the words, and the skill for a client that shows skills.
    fn commands(&self) -> Vec<AvailableCommand> {
        let words = WORDS.iter().map(|word| Command::new(word.name, word.about));
        let skill = Skill::new(SKILL, "summarizes what you say after it");
        let skill = self.shows.get().skills.then_some(AvailableCommand::Skill(skill));
        words.map(AvailableCommand::Command).chain(skill).collect()
    }

    /// Works on a prompt, and then on the turns that follow without one.
    async fn work(self, client: Client, said: SessionUpdate, turn: Turn) {
        let id = turn.session_id.clone();
        client.update(running()).await;
        client.update(said).await;
        let mut next = Some(turn);
        while let Some(turn) = next {
            let outcome = self.run(turn, &client, None).await;
            // The session may have been closed meanwhile.
            let is_continued = self.with_session(&id, |session| session.end()).unwrap_or_default();
            if is_continued {
                return;
            }
            self.offer_cursor(&client, &id).await;
            client.update(idle(outcome)).await;
            next = None;
            if self.with_session(&id, |session| session.has_later()).unwrap_or_default() {
                sleep(LATER).await;
                next = self.with_session(&id, |session| session.begin_later()).ok().flatten();
            }
            if next.is_some() {
                client.update(running()).await;
            }
        }
    }
}

/// The end of a turn.
fn idle(outcome: Result<Outcome, ErrorObject>) -> SessionUpdate {
    let (reason, usage) = match outcome {
        Ok(response) => {
            let extra = Extra::new();
            let reason = match response.stop_reason {
                Reason::EndTurn => StopReason::EndTurn(extra),
                Reason::MaxTokens => StopReason::MaxTokens(extra),
                Reason::MaxTurnRequests => StopReason::MaxTurnRequests(extra),
                Reason::Refusal => StopReason::Refusal(extra),
                Reason::Cancelled => StopReason::Cancelled(extra),
                _ => StopReason::NotReported(extra),
            };
            (reason, response.usage)
        }
        Err(error) => {
            let mut reason = ErrorStopReason::new();
            reason.error = Some(Box::new(error));
            (StopReason::Error(reason), None)
        }
    };
    let mut idle = IdleStateUpdate::new(reason);
    idle.usage = usage.map(Box::new);
    state(StateUpdate::Idle(Box::new(idle)))
}

/// Returns whether a prompt invokes the skill.
fn invokes_skill(prompt: &[ContentBlock]) -> Result<bool, ErrorObject> {
    let invoked = prompt.iter().find_map(|block| match block {
        ContentBlock::Skill(skill) => Some(&skill.name),
        _ => None,
    });
    match invoked {
        Some(name) if name != SKILL => {
            let message = format!("no skill `{name}`; expected `{SKILL}`");
            Err(ErrorObject::new(ErrorCode::INVALID_PARAMS, message))
        }
        invoked => Ok(invoked.is_some()),
    }
}

/// Returns the last text of the prompt: the client may put context before it.
fn text(prompt: &[ContentBlock]) -> String {
    let text = prompt.iter().rev().find_map(|block| match block {
        ContentBlock::Text(text) => Some(text.text.clone()),
        _ => None,
    });
    text.unwrap_or_default()
}
