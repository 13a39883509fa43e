//! The methods of the agent.

use crate::client::Client;
use crate::output::Output;
use crate::page_tools::PageTools;
use crate::script::{Scene, ShownUpdates};
use crate::session::{LATER, Session};
use crate::words::{self, WORDS};
use acp_types::connection::{Context, Peer, v1};
use acp_types::v1::authentication::{
    AuthMethod, AuthMethodAgent, AuthenticateRequest, AuthenticateResponse,
};
use acp_types::v1::content::ContentBlock;
use acp_types::v1::error::RESOURCE_NOT_FOUND;
use acp_types::v1::initialization::{
    AgentCapabilities, Implementation, InitializeRequest, InitializeResponse, PromptCapabilities,
    ProtocolVersion, SessionCapabilities, SessionCloseCapabilities, SessionForkCapabilities,
};
use acp_types::v1::prompt_turn::{
    CancelNotification, ContentChunk, PromptRequest, PromptResponse, SessionUpdate,
};
use acp_types::v1::session_cursors::CursorId;
use acp_types::v1::session_modes::{SetSessionModeRequest, SetSessionModeResponse};
use acp_types::v1::session_setup::{
    CloseSessionRequest, CloseSessionResponse, ForkSessionRequest, ForkSessionResponse,
    LoadSessionRequest, LoadSessionResponse, NewSessionRequest, NewSessionResponse, SessionId,
};
use acp_types::v1::slash_commands::{AvailableCommand, AvailableCommandsUpdate};
use core::cell::{Cell, RefCell};
use core::time::Duration;
use jsonrpc_core::{ErrorCode, ErrorObject};
use std::collections::BTreeMap;
use std::rc::Rc;
use tokio::sync::mpsc;
use tokio::task::spawn_local;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

/// Maximum number of sessions.
const MAX_SESSIONS: usize = 1_000;

/// The only authentication method, which is optional.
const AUTH_METHOD: &str = "none";

/// The agent and its sessions, which clones share.
#[derive(Clone, Debug)]
pub(crate) struct Agent {
    /// The time between two updates.
    pub(crate) pause: Duration,
    pub(crate) output: Output,
    /// The client has gone.
    pub(crate) gone: CancellationToken,
    /// Takes the exit status to end the process.
    pub(crate) exit: mpsc::Sender<u8>,
    pub(crate) sessions: Rc<RefCell<BTreeMap<SessionId, Session>>>,
    pub(crate) has_terminal: Cell<bool>,
    pub(crate) shows_forms: Cell<bool>,
    pub(crate) shows: Cell<ShownUpdates>,
}

#[async_trait::async_trait(?Send)]
impl v1::LocalAgent for Agent {
    async fn initialize(
        &self,
        request: InitializeRequest,
        _: Context,
    ) -> Result<InitializeResponse, ErrorObject> {
        let client = request.client_capabilities.as_ref();
        self.has_terminal.set(client.and_then(|client| client.terminal).unwrap_or(false));
        let session = client.and_then(|client| client.session.as_ref());
        self.shows.set(ShownUpdates {
            notices: session.is_some_and(|session| session.notices.is_some()),
            compactions: session.is_some_and(|session| session.compaction.is_some()),
            subagents: client.is_some_and(|client| client.subagents.is_some()),
            suggestions: session.is_some_and(|session| session.prompt_suggestions.is_some()),
            skills: false,
            cursors: session.is_some_and(|session| session.cursors.is_some()),
        });
        let elicitation = client.and_then(|client| client.elicitation.as_ref());
        self.shows_forms.set(elicitation.is_some_and(|elicitation| elicitation.form.is_some()));
        let mut prompt = PromptCapabilities::new();
        prompt.image = Some(true);
        prompt.embedded_context = Some(true);
        let mut capabilities = AgentCapabilities::new();
        capabilities.load_session = Some(true);
        let mut sessions = SessionCapabilities::new();
        sessions.close = Some(SessionCloseCapabilities::new());
        sessions.fork = Some(SessionForkCapabilities::new());
        capabilities.session_capabilities = Some(sessions);
        capabilities.prompt_capabilities = Some(prompt);
        let mut info = Implementation::new("demo-agent", env!("CARGO_PKG_VERSION"));
        info.title = Some("Demo agent".to_owned());
        let mut response = InitializeResponse::new(ProtocolVersion::V1);
        response.agent_capabilities = Some(capabilities);
        response.agent_info = Some(info);
        response.auth_methods =
            Some(vec![AuthMethod::Agent(AuthMethodAgent::new(AUTH_METHOD, "No login needed"))]);
        Ok(response)
    }

    async fn authenticate(
        &self,
        request: AuthenticateRequest,
        _: Context,
    ) -> Result<AuthenticateResponse, ErrorObject> {
        if request.method_id.as_str() == AUTH_METHOD {
            return Ok(AuthenticateResponse::new());
        }
        let message = format!("no way to log in {:?}", request.method_id);
        Err(ErrorObject::new(ErrorCode::INVALID_PARAMS, message))
    }

    async fn new_session(
        &self,
        request: NewSessionRequest,
        context: Context,
    ) -> Result<NewSessionResponse, ErrorObject> {
        let page = PageTools::of(&request.mcp_servers, request.meta.as_ref());
        let session_id = self.open(|session_id| self.scene(session_id, request.cwd, page))?;
        let mut response = NewSessionResponse::new(session_id.clone());
        response.modes = Some(self.with_session(&session_id, |session| session.modes())?);
        // After the response: before it, the client does not know the session.
        let client = Client::new(context.peer().clone(), session_id);
        spawn_local(async move { client.update(commands()).await });
        Ok(response)
    }

    async fn fork_session(
        &self,
        request: ForkSessionRequest,
        context: Context,
    ) -> Result<ForkSessionResponse, ErrorObject> {
        let servers = request.mcp_servers.as_deref().unwrap_or_default();
        let page = PageTools::of(servers, request.meta.as_ref());
        let source = request.session_id;
        let cursor = request.cursor_id;
        let session_id = self.fork(&source, cursor.as_ref(), |session_id| {
            self.scene(session_id, request.cwd, page)
        })?;
        let mut response = ForkSessionResponse::new(session_id.clone());
        let (modes, cursors) =
            self.with_session(&session_id, |session| (session.modes(), session.cursors()))?;
        response.modes = Some(modes);
        let client = Client::new(context.peer().clone(), session_id);
        spawn_local(async move {
            client.update(commands()).await;
            for cursor in cursors {
                client.update(cursor).await;
            }
        });
        Ok(response)
    }

    async fn load_session(
        &self,
        request: LoadSessionRequest,
        context: Context,
    ) -> Result<LoadSessionResponse, ErrorObject> {
        let (history, cursors, modes) = self.with_session(&request.session_id, |session| {
            let history = session.history().cloned().collect::<Vec<_>>();
            (history, session.cursors(), session.modes())
        })?;
        let client = Client::new(context.peer().clone(), request.session_id);
        for (session, update) in history {
            client.update_of(&session, update).await;
        }
        for cursor in cursors {
            client.update(cursor).await;
        }
        let mut response = LoadSessionResponse::new();
        response.modes = Some(modes);
        Ok(response)
    }

    async fn close_session(
        &self,
        request: CloseSessionRequest,
        _: Context,
    ) -> Result<CloseSessionResponse, ErrorObject> {
        self.with_session(&request.session_id, |session| session.cancel())?;
        self.sessions.borrow_mut().remove(&request.session_id);
        Ok(CloseSessionResponse::new())
    }

    async fn set_session_mode(
        &self,
        request: SetSessionModeRequest,
        _: Context,
    ) -> Result<SetSessionModeResponse, ErrorObject> {
        let mode = request.mode_id.as_str();
        if self.with_session(&request.session_id, |session| session.set_mode(mode))? {
            return Ok(SetSessionModeResponse::new());
        }
        Err(ErrorObject::new(ErrorCode::INVALID_PARAMS, format!("no mode {mode:?}")))
    }

    async fn prompt(
        &self,
        request: PromptRequest,
        context: Context,
    ) -> Result<PromptResponse, ErrorObject> {
        let steps = |scene: &mut Scene| words::steps(&text(&request.prompt), scene);
        let said = request.prompt.iter().map(|block| ContentChunk::new(block.clone()));
        let said = said.map(SessionUpdate::UserMessageChunk);
        while let Some(mut turn) =
            self.with_session(&request.session_id, Session::await_own_turn)?
        {
            // The channel has no values, so that this is its end.
            let _ = turn.changed().await;
        }
        let turn = self.with_session(&request.session_id, |session| session.begin(said, steps))?;
        let turn = turn.ok_or_else(busy)?;
        let client = Client::new(context.peer().clone(), request.session_id.clone());
        let outcome = self.run(turn, &client, Some(&context)).await;
        self.offer_cursor(&client, &request.session_id).await;
        // The session may have been closed meanwhile.
        let later = self.with_session(&request.session_id, |session| {
            session.end();
            session.has_later()
        });
        if later.unwrap_or_default() {
            spawn_local(self.clone().work_later(client, request.session_id));
        }
        outcome
    }

    async fn cancel(&self, notification: CancelNotification, _: Peer) {
        // An unknown session has no turn to cancel.
        let _ = self.with_session(&notification.session_id, |session| session.cancel());
    }
}

impl Agent {
    /// Works on a turn without a prompt in version 1, which does not report its end.
    async fn work_later(self, client: Client, id: SessionId) {
        sleep(LATER).await;
        if let Ok(Some(turn)) = self.with_session(&id, Session::begin_later) {
            // The client does not receive the outcome.
            let _ = self.run(turn, &client, None).await;
            let _ = self.with_session(&id, Session::end);
        }
    }

    /// `pause` is the time between two updates.
    pub(crate) fn new(pause: Duration, output: Output, exit: mpsc::Sender<u8>) -> Self {
        Self {
            pause,
            output,
            gone: CancellationToken::new(),
            exit,
            sessions: Rc::default(),
            has_terminal: Cell::new(false),
            shows_forms: Cell::new(false),
            shows: Cell::default(),
        }
    }

    /// Returns the context of the turns of a session in version 1.
    fn scene(&self, session_id: SessionId, cwd: String, page: PageTools) -> Scene {
        Scene {
            session_id,
            is_v2: false,
            page,
            cwd,
            has_terminal: self.has_terminal.get(),
            shows: self.shows.get(),
            shows_forms: self.shows_forms.get(),
            asks: true,
            prompts: Vec::new(),
            ids: 0,
        }
    }

    /// Announces a cursor at the end of a session, if the client has cursors.
    pub(crate) async fn offer_cursor(&self, client: &Client, id: &SessionId) {
        if let Ok(Some(update)) = self.with_session(id, Session::add_cursor) {
            client.update(update).await;
        }
    }

    /// Opens a session with the conversation of another one, and returns its id.
    pub(crate) fn fork(
        &self,
        source: &SessionId,
        cursor: Option<&CursorId>,
        scene: impl FnOnce(SessionId) -> Scene,
    ) -> Result<SessionId, ErrorObject> {
        let new_id = new_session_id()?;
        let fork = self.with_session(source, |session| session.fork(cursor, scene(new_id)))?;
        let unknown = "the session has no such cursor";
        self.insert(fork.ok_or_else(|| ErrorObject::new(ErrorCode::INVALID_PARAMS, unknown))?)
    }

    /// Opens a session, and returns its id.
    pub(crate) fn open(
        &self,
        scene: impl FnOnce(SessionId) -> Scene,
    ) -> Result<SessionId, ErrorObject> {
        self.insert(Session::new(scene(new_session_id()?)))
    }

    fn insert(&self, session: Session) -> Result<SessionId, ErrorObject> {
        let mut sessions = self.sessions.borrow_mut();
        if sessions.len() >= MAX_SESSIONS {
            let message = format!("no more than {MAX_SESSIONS} sessions");
            return Err(ErrorObject::new(ErrorCode::INTERNAL_ERROR, message));
        }
        let session_id = session.scene.session_id.clone();
        sessions.insert(session_id.clone(), session);
        Ok(session_id)
    }

    /// Calls a function with a session.
    pub(crate) fn with_session<R>(
        &self,
        id: &SessionId,
        act: impl FnOnce(&mut Session) -> R,
    ) -> Result<R, ErrorObject> {
        let mut sessions = self.sessions.borrow_mut();
        let session = sessions
            .get_mut(id)
            .ok_or_else(|| ErrorObject::new(RESOURCE_NOT_FOUND, format!("no session {id:?}")))?;
        Ok(act(session))
    }
}

/// The words as commands.
fn commands() -> SessionUpdate {
    let commands = WORDS.iter().map(|word| AvailableCommand::new(word.name, word.about));
    let update = AvailableCommandsUpdate::new(commands.collect::<Vec<_>>());
    SessionUpdate::AvailableCommandsUpdate(update)
}

/// The error for a prompt during a turn.
pub(crate) fn busy() -> ErrorObject {
    let message = "a prompt of this session is being worked on; cancel it or wait";
    ErrorObject::new(ErrorCode::INVALID_REQUEST, message)
}

/// Returns an id that is unique among all processes and cannot be guessed.
fn new_session_id() -> Result<SessionId, ErrorObject> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)
        .map_err(|error| ErrorObject::new(ErrorCode::INTERNAL_ERROR, error.to_string()))?;
    Ok(SessionId::from(format!("demo-{:032x}", u128::from_ne_bytes(bytes))))
}

/// Returns the last text of the prompt: the client may put context before it.
fn text(prompt: &[ContentBlock]) -> String {
    let text = prompt.iter().rev().find_map(|block| match block {
        ContentBlock::Text(text) => Some(text.text.clone()),
        _ => None,
    });
    text.unwrap_or_default()
}
