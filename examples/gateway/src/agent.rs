//! The agent: how to get one, and what it can be asked for.
use crate::connection::{Command, Connection, Token};
use crate::health::Health;
use crate::settings::Times;
use crate::thread::Given;
use acp_host::host::{Access, Host};
use acp_host::terminals::TerminalEvent;
use acp_host::transport::{Address, ConnectError};
use acp_types::v1::authentication::AuthenticateRequest;
use acp_types::v1::elicitation::{CompleteElicitationNotification, CreateElicitationRequest};
use acp_types::v1::error::AUTH_REQUIRED;
use acp_types::v1::initialization::{
    ClientCapabilities, ElicitationCapabilities, ElicitationFormCapabilities,
    ElicitationUrlCapabilities, Implementation, InitializeRequest, InitializeResponse,
    ProtocolVersion,
};
use acp_types::v1::prompt_turn::{
    CancelNotification, PromptRequest, PromptResponse, SessionNotification,
};
use acp_types::v1::session_config_options::{
    SessionConfigOptionValue, SetSessionConfigOptionRequest, SetSessionConfigOptionResponse,
};
use acp_types::v1::session_modes::{SessionModeId, SetSessionModeRequest};
use acp_types::v1::session_setup::{
    CloseSessionRequest, LoadSessionRequest, NewSessionRequest, NewSessionResponse,
    ResumeSessionRequest, SessionId,
};
use acp_types::v1::tool_calls::RequestPermissionRequest;
use agui_bridge::contextual_tools::Dispatch;
use agui_bridge::{Answer, Failure};
use jsonrpc_core::wire::{self, Raw};
use jsonrpc_core::{ErrorCode, ErrorObject, RequestId};
use run_telemetry::Telemetry;
use semconv_map::trace_context::TraceContext;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Mutex, mpsc, oneshot};
use tokio::time::{Instant, timeout};
use tokio_util::task::TaskTracker;

/// The most commands that may wait for a connection.
const MAX_COMMANDS: usize = 1024;

/// How long a prompt may stay unanswered in all, with the time in which the agent waits for a person. How long the
/// agent may work is up to the translator.
const PROMPT_TIME: Duration = Duration::from_secs(24 * 60 * 60);

/// How long an agent that is probed may take.
const PROBE_TIME: Duration = Duration::from_secs(2);

/// What a thread hears from its session.
#[derive(Debug)]
pub(crate) enum FromAgent {
    /// `session/update`
    Update(SessionNotification),
    /// `session/request_permission`, to be answered with [`Agent::answer`].
    PermissionRequest(RequestId, RequestPermissionRequest),
    /// `elicitation/create`, likewise.
    ElicitationRequest(RequestId, Box<CreateElicitationRequest>),
    /// `elicitation/complete`
    ElicitationComplete(CompleteElicitationNotification),
    /// A call of one of the page's tools by the extension method; it was answered.
    ContextualCall(Dispatch),
    /// A command that the gateway runs for the session began, said something, or has ended.
    Terminal(TerminalEvent),
    /// The agent does not want an answer any more.
    Withdrawn(RequestId),
    /// The turn is over.
    PromptEnded(Result<PromptResponse, Trouble>),
    /// The agent is gone; nothing follows.
    Gone(String),
}

/// A session, and what comes from it.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) response: NewSessionResponse,
    pub(crate) inbox: mpsc::Receiver<FromAgent>,
    /// What was told again of one that there was.
    pub(crate) replay: Vec<SessionNotification>,
}

/// Why the agent does not do what it was asked for.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum Trouble {
    /// It says so.
    #[error("the agent refuses: {}", .0.message)]
    Refused(ErrorObject),
    /// It cannot.
    #[error("{1}")]
    Failed(Failure, String),
}

impl Trouble {
    /// The connection ended, or has ended.
    pub(crate) fn lost() -> Self {
        Self::Failed(Failure::AgentExited, "the connection to the agent is gone".to_owned())
    }

    /// The answer came and is not what the method answers.
    pub(crate) fn unreadable(method: &str, error: &wire::DecodeError) -> Self {
        let message = format!("the agent's answer to {method}: {error}");
        Self::Refused(ErrorObject::new(ErrorCode::INVALID_REQUEST, message))
    }

    /// What it is where the agent has not been greeted yet.
    fn at_start(self) -> Self {
        match self {
            Self::Failed(Failure::AgentExited, why) => {
                Self::Failed(Failure::AgentUnavailable, format!("the agent does not start: {why}"))
            }
            other => other,
        }
    }
}

/// What an agent is offered.
#[derive(Debug)]
pub(crate) struct Offers {
    /// Whether there is somebody whom the agent can ask.
    pub(crate) elicits: bool,
    /// What it may do here.
    pub(crate) access: Option<Access>,
}

/// How to connect to the agent, and the connection once there is one.
#[derive(Debug)]
pub(crate) struct AgentPool {
    address: Address,
    authenticate: Option<String>,
    offers: Offers,
    times: Times,
    telemetry: Telemetry,
    state: Mutex<State>,
    tasks: TaskTracker,
}

#[derive(Debug, Default)]
struct State {
    current: Option<Arc<Agent>>,
    /// The last attempt that failed, and when it did.
    failed: Option<(Instant, Trouble)>,
    health: Health,
}

impl Offers {
    fn declare(&self) -> ClientCapabilities {
        let mut capabilities = ClientCapabilities::new();
        if self.elicits {
            let mut elicitation = ElicitationCapabilities::new();
            elicitation.form = Some(ElicitationFormCapabilities::new());
            elicitation.url = Some(ElicitationUrlCapabilities::new());
            capabilities.elicitation = Some(elicitation);
        }
        if let Some(access) = &self.access {
            access.declare(&mut capabilities);
        }
        capabilities
    }
}

impl AgentPool {
    pub(crate) fn new(
        address: Address,
        authenticate: Option<String>,
        offers: Offers,
        times: Times,
        telemetry: Telemetry,
    ) -> Self {
        let (state, tasks) = (Mutex::default(), TaskTracker::new());
        Self { address, authenticate, offers, times, telemetry, state, tasks }
    }

    /// The connection: the one there is, or a new one when there is none or it is gone.
    ///
    /// Whoever waits while somebody else connects gets what comes of that, so that nobody waits for more than one
    /// attempt.
    pub(crate) async fn agent(&self) -> Result<Arc<Agent>, Trouble> {
        let asked = Instant::now();
        let mut state = self.state.lock().await;
        if let Some(agent) = state.current.as_ref().filter(|agent| !agent.commands.is_closed()) {
            return Ok(agent.clone());
        }
        if let Some((_, trouble)) = state.failed.as_ref().filter(|(at, _)| *at > asked) {
            return Err(trouble.clone());
        }
        state.current = None;
        match self.connect().await.map_err(Trouble::at_start) {
            Ok(agent) => Ok(state.current.insert(Arc::new(agent)).clone()),
            Err(trouble) => {
                state.failed = Some((Instant::now(), trouble.clone()));
                Err(trouble)
            }
        }
    }

    /// Tries whether the agent can be reached, and gives what the last attempts have come to.
    pub(crate) async fn probe(&self) -> bool {
        let reached = matches!(timeout(PROBE_TIME, self.agent()).await, Ok(Ok(_)));
        self.state.lock().await.health.observe(reached)
    }

    /// Ends the connection and the agent's process.
    pub(crate) async fn shut_down(&self) {
        self.state.lock().await.current.take();
        self.tasks.close();
        self.tasks.wait().await;
    }

    async fn connect(&self) -> Result<Agent, Trouble> {
        let transport =
            self.address.connect(self.times.exit_grace.0).await.map_err(|error| match error {
                ConnectError::Denied(why) => Trouble::Refused(ErrorObject::new(AUTH_REQUIRED, why)),
                error => Trouble::Failed(Failure::AgentUnavailable, error.to_string()),
            })?;
        let (commands, inbox) = mpsc::channel(MAX_COMMANDS);
        let watch = self.telemetry.watch(self.address.kind());
        let host = Host::new(self.offers.access.clone());
        self.tasks.spawn(Connection::serve(transport, inbox, watch, host));
        let mut client = Implementation::new("spanwire-gateway", env!("CARGO_PKG_VERSION"));
        client.title = Some("Spanwire gateway".to_owned());
        let mut initialize = InitializeRequest::new(ProtocolVersion::V1);
        initialize.client_info = Some(client);
        initialize.client_capabilities = Some(self.offers.declare());
        let time = self.times.answer.0;
        let info: InitializeResponse = request(&commands, "initialize", &initialize, time).await?;
        if info.protocol_version != ProtocolVersion::V1 {
            let message =
                format!("the agent speaks version {} of ACP, not 1", info.protocol_version.0);
            return Err(Trouble::Failed(Failure::AcpVersion, message));
        }
        if let Some(method) = &self.authenticate {
            let params = AuthenticateRequest::new(method.as_str());
            let _: Raw = request(&commands, "authenticate", &params, time).await?;
        }
        let is_ours = self.address.is_local();
        // Over HTTP the answer to `session/load` may overtake what is told again.
        let loads = !matches!(self.address, Address::Http(_));
        Ok(Agent { commands, times: self.times, is_ours, loads, info })
    }
}

/// A connection that is initialised.
#[derive(Debug)]
pub(crate) struct Agent {
    commands: mpsc::Sender<Command>,
    times: Times,
    /// Whether it runs here, and not behind a URL.
    is_ours: bool,
    /// Whether what a session tells again comes before the answer to `session/load`.
    loads: bool,
    /// What the agent can do.
    pub(crate) info: InitializeResponse,
}

impl Agent {
    /// `session/new`, for a run.
    pub(crate) async fn new_session(
        &self,
        cwd: &str,
        given: Given,
        run: Option<TraceContext>,
    ) -> Result<Opened, Trouble> {
        let (answer, answered) = oneshot::channel();
        let mut request = NewSessionRequest::new(cwd, given.servers);
        request.meta = given.meta;
        self.command(Command::Request {
            method: "session/new",
            params: params(&request)?,
            token: Token::NewSession(answer),
            time: self.times.answer.0,
            run,
        })?;
        answered.await.map_err(|_| Trouble::lost())?
    }

    /// `session/resume` where the agent has it, else `session/load`; nothing where it has neither.
    pub(crate) fn old_session(
        self: &Arc<Self>,
        session_id: SessionId,
        cwd: String,
        given: Given,
        run: Option<TraceContext>,
    ) -> Option<impl Future<Output = Result<Opened, Trouble>> + Send + use<>> {
        let capabilities = self.info.agent_capabilities.as_ref()?;
        let sessions = capabilities.session_capabilities.as_ref();
        let resumes = sessions.is_some_and(|sessions| sessions.resume.is_some());
        let loads = self.loads && capabilities.load_session == Some(true);
        if !resumes && !loads {
            return None;
        }
        let agent = self.clone();
        Some(async move {
            let (method, params) = if resumes {
                let mut request = ResumeSessionRequest::new(session_id.clone(), cwd);
                request.mcp_servers = Some(given.servers);
                request.meta = given.meta;
                ("session/resume", params(&request)?)
            } else {
                let mut request = LoadSessionRequest::new(session_id.clone(), cwd, given.servers);
                request.meta = given.meta;
                ("session/load", params(&request)?)
            };
            let (answer, answered) = oneshot::channel();
            let token = Token::OldSession(session_id, answer);
            let time = agent.times.answer.0;
            agent.command(Command::Request { method, params, token, time, run })?;
            answered.await.map_err(|_| Trouble::lost())?
        })
    }

    /// `session/prompt`, for a run; its answer comes to the session's inbox.
    pub(crate) fn prompt(
        &self,
        prompt: &PromptRequest,
        run: Option<TraceContext>,
    ) -> Result<(), Trouble> {
        self.command(Command::Request {
            method: "session/prompt",
            params: params(prompt)?,
            token: Token::Prompt(prompt.session_id.clone()),
            time: PROMPT_TIME,
            run,
        })
    }

    /// `session/cancel`
    pub(crate) fn cancel(&self, session_id: &SessionId) -> Result<(), Trouble> {
        let params = params(&CancelNotification::new(session_id.clone()))?;
        self.command(Command::Notify { method: "session/cancel", params })
    }

    /// `session/set_mode`
    pub(crate) async fn set_mode(
        &self,
        session_id: &SessionId,
        mode: &SessionModeId,
    ) -> Result<(), Trouble> {
        let params = SetSessionModeRequest::new(session_id.clone(), mode.clone());
        let time = self.times.answer.0;
        let _: Raw = request(&self.commands, "session/set_mode", &params, time).await?;
        Ok(())
    }

    /// `session/set_config_option`; gives all options as they are then.
    pub(crate) async fn set_config_option(
        &self,
        set: &SetSessionConfigOptionRequest,
    ) -> Result<SetSessionConfigOptionResponse, Trouble> {
        let time = self.times.answer.0;
        request(&self.commands, "session/set_config_option", set, time).await
    }

    /// `session/set_mode`, before a prompt that follows; whether it is set, the agent tells itself.
    pub(crate) fn ask_mode(&self, session_id: &SessionId, mode: &SessionModeId) {
        let request = SetSessionModeRequest::new(session_id.clone(), mode.clone());
        self.ask("session/set_mode", &request);
    }

    /// `session/set_config_option`, likewise.
    pub(crate) fn ask_config_option(
        &self,
        session_id: &SessionId,
        config: &str,
        value: SessionConfigOptionValue,
    ) {
        let request = SetSessionConfigOptionRequest::new(session_id.clone(), config, value);
        self.ask("session/set_config_option", &request);
    }

    /// Makes a request whose answer nobody waits for.
    fn ask(&self, method: &'static str, request: &impl Serialize) {
        let asked = params(request).and_then(|params| {
            let (token, time) = (Token::Nobody(method), self.times.answer.0);
            self.command(Command::Request { method, params, token, time, run: None })
        });
        if let Err(trouble) = asked {
            tracing::debug!(?trouble, method, "the connection has ended before it");
        }
    }

    /// Answers what the agent asked.
    pub(crate) fn answer(&self, id: RequestId, response: &Answer) -> Result<(), Trouble> {
        self.command(Command::Respond { id, result: params(response)? })
    }

    /// Nobody listens to the session any more; an agent that serves `session/close` may forget it.
    pub(crate) fn detach(&self, session_id: SessionId) {
        let close = CloseSessionRequest::new(session_id.clone());
        if let Err(trouble) = self.command(Command::Detach(session_id)) {
            tracing::debug!(?trouble, "the session's connection has ended before it");
        } else if self.closes_sessions() {
            self.ask("session/close", &close);
        }
    }

    pub(crate) fn is_ours(&self) -> bool {
        self.is_ours
    }

    pub(crate) fn speaks_mcp_over_http(&self) -> bool {
        let capabilities = self.info.agent_capabilities.as_ref();
        let mcp = capabilities.and_then(|capabilities| capabilities.mcp_capabilities.as_ref());
        mcp.is_some_and(|mcp| mcp.http == Some(true))
    }

    /// Tells which tools of the page's the agent may call by the extension method.
    pub(crate) fn offer_contextual(&self, session_id: &SessionId, tools: Vec<Raw>) {
        let (session_id, command) = (session_id.clone(), Command::Contextual);
        if let Err(trouble) = self.command(command(session_id, tools)) {
            tracing::debug!(?trouble, "the session's connection has ended before it");
        }
    }

    fn closes_sessions(&self) -> bool {
        let capabilities = self.info.agent_capabilities.as_ref();
        capabilities
            .and_then(|capabilities| capabilities.session_capabilities.as_ref()?.close.as_ref())
            .is_some()
    }

    fn command(&self, command: Command) -> Result<(), Trouble> {
        send(&self.commands, command)
    }
}

fn send(commands: &mpsc::Sender<Command>, command: Command) -> Result<(), Trouble> {
    commands.try_send(command).map_err(|error| match error {
        mpsc::error::TrySendError::Full(_) => {
            Trouble::Failed(Failure::Overloaded, "too much waits for the agent".to_owned())
        }
        mpsc::error::TrySendError::Closed(_) => Trouble::lost(),
    })
}

fn params(value: &impl Serialize) -> Result<Raw, Trouble> {
    Raw::from_value(value).map_err(|error| {
        Trouble::Refused(ErrorObject::new(
            ErrorCode::INTERNAL_ERROR,
            format!("cannot write a message: {error}"),
        ))
    })
}

async fn request<T: DeserializeOwned>(
    commands: &mpsc::Sender<Command>,
    method: &'static str,
    value: &impl Serialize,
    time: Duration,
) -> Result<T, Trouble> {
    let (answer, answered) = oneshot::channel();
    send(
        commands,
        Command::Request {
            method,
            params: params(value)?,
            token: Token::Once(answer),
            time,
            run: None,
        },
    )?;
    let result = answered.await.map_err(|_| Trouble::lost())??;
    result.decode().map_err(|error| Trouble::unreadable(method, &error))
}
