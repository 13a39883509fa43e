//! A connection to an agent: who sent what, and who waits for it.
//!
//! One task owns the connection. It reads whatever comes, answers what nobody else has to, and hands the rest to the
//! thread whose session it is for, in the order it came: the answer to a prompt comes after the updates that were sent
//! before it.
use crate::transport::{Address, ConnectError, Transport};
use acp_types::v1::authentication::AuthenticateRequest;
use acp_types::v1::initialization::{
    Implementation, InitializeRequest, InitializeResponse, ProtocolVersion,
};
use acp_types::v1::prompt_turn::{
    CancelNotification, PromptRequest, PromptResponse, SessionNotification,
};
use acp_types::v1::session_setup::{NewSessionRequest, NewSessionResponse, SessionId};
use acp_types::v1::tool_calls::{RequestPermissionRequest, RequestPermissionResponse};
use agui_bridge::Failure;
use futures::StreamExt;
use jsonrpc_core::framing::Lines;
use jsonrpc_core::wire::{self, Raw};
use jsonrpc_core::{
    CancelMethod, EndReason, ErrorCode, ErrorObject, Incoming, Limits, Message, Notification, Peer,
    Request, RequestId,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Mutex, mpsc, oneshot};
use tokio::time::{Instant, sleep_until};
use tokio_util::task::TaskTracker;

/// How long an agent may take to start and to answer anything but a prompt.
const ANSWER_TIME: Duration = Duration::from_secs(60);

/// How long a turn may take.
const TURN_TIME: Duration = Duration::from_secs(30 * 60);

/// The most messages that may wait for a thread, or for the connection.
const MAX_WAITING: usize = 1024;

/// The most messages kept for sessions that nobody has asked for yet: some agents speak before they have answered.
const MAX_EARLY: usize = 256;

/// What a thread hears from its session.
#[derive(Debug)]
pub(crate) enum FromAgent {
    /// `session/update`
    Update(SessionNotification),
    /// `session/request_permission`, to be answered with [`Agent::answer`].
    PermissionRequest(RequestId, RequestPermissionRequest),
    /// The agent does not want an answer any more.
    Withdrawn(RequestId),
    /// The turn is over.
    PromptEnded(Result<PromptResponse, Trouble>),
    /// The agent is gone; nothing follows.
    Gone(String),
}

/// Why the agent does not do what it was asked for.
#[derive(Clone, Debug)]
pub(crate) enum Trouble {
    /// It says so.
    Refused(ErrorObject),
    /// It cannot.
    Failed(Failure, String),
}

/// How to connect to the agent, and the connection once there is one.
#[derive(Debug)]
pub(crate) struct AgentPool {
    address: Address,
    authenticate: Option<String>,
    current: Mutex<Option<Arc<Agent>>>,
    tasks: TaskTracker,
}

impl AgentPool {
    pub(crate) fn new(address: Address, authenticate: Option<String>) -> Self {
        Self { address, authenticate, current: Mutex::default(), tasks: TaskTracker::new() }
    }

    /// The connection: the one there is, or a new one when there is none or it is gone.
    pub(crate) async fn agent(&self) -> Result<Arc<Agent>, Trouble> {
        let mut current = self.current.lock().await;
        if let Some(agent) = current.as_ref().filter(|agent| !agent.commands.is_closed()) {
            return Ok(agent.clone());
        }
        *current = None;
        let agent = Arc::new(self.connect().await?);
        Ok(current.insert(agent).clone())
    }

    /// Ends the connection and the agent's process.
    pub(crate) async fn shut_down(&self) {
        self.current.lock().await.take();
        self.tasks.close();
        self.tasks.wait().await;
    }

    async fn connect(&self) -> Result<Agent, Trouble> {
        let transport = self.address.connect().await.map_err(|error: ConnectError| {
            Trouble::Failed(Failure::AgentUnavailable, error.to_string())
        })?;
        let (commands, inbox) = mpsc::channel(MAX_WAITING);
        self.tasks.spawn(Connection::new(transport.outgoing.clone()).run(transport, inbox));
        let mut client = Implementation::new("spanwire-gateway", env!("CARGO_PKG_VERSION"));
        client.title = Some("Spanwire gateway".to_owned());
        let mut initialize = InitializeRequest::new(ProtocolVersion::V1);
        initialize.client_info = Some(client);
        let info: InitializeResponse = request(&commands, "initialize", &initialize).await?;
        if info.protocol_version != ProtocolVersion::V1 {
            let message =
                format!("the agent speaks version {} of ACP, not 1", info.protocol_version.0);
            return Err(Trouble::Failed(Failure::AcpVersion, message));
        }
        if let Some(method) = &self.authenticate {
            let request_params = AuthenticateRequest::new(method.as_str());
            let _: Raw = request(&commands, "authenticate", &request_params).await?;
        }
        Ok(Agent { commands, info })
    }
}

/// A connection that is initialised.
#[derive(Debug)]
pub(crate) struct Agent {
    commands: mpsc::Sender<Command>,
    /// What the agent can do.
    pub(crate) info: InitializeResponse,
}

impl Agent {
    /// `session/new`; what the session says comes out of the second part.
    pub(crate) async fn new_session(
        &self,
        cwd: &str,
    ) -> Result<(SessionId, mpsc::Receiver<FromAgent>), Trouble> {
        let params = NewSessionRequest::new(cwd, Vec::new());
        let session: NewSessionResponse = request(&self.commands, "session/new", &params).await?;
        let (sender, inbox) = mpsc::channel(MAX_WAITING);
        self.command(Command::Attach(session.session_id.clone(), sender))?;
        Ok((session.session_id, inbox))
    }

    /// `session/prompt`; its answer comes to the session's inbox.
    pub(crate) fn prompt(&self, prompt: &PromptRequest) -> Result<(), Trouble> {
        self.command(Command::Request {
            method: "session/prompt",
            params: params(prompt)?,
            token: Token::Prompt(prompt.session_id.clone()),
            time: TURN_TIME,
        })
    }

    /// `session/cancel`
    pub(crate) fn cancel(&self, session_id: &SessionId) -> Result<(), Trouble> {
        let params = params(&CancelNotification::new(session_id.clone()))?;
        self.command(Command::Notify { method: "session/cancel", params })
    }

    /// Answers a permission request.
    pub(crate) fn answer(
        &self,
        id: RequestId,
        response: &RequestPermissionResponse,
    ) -> Result<(), Trouble> {
        self.command(Command::Respond { id, result: params(response)? })
    }

    /// Nobody listens to the session any more.
    pub(crate) fn detach(&self, session_id: SessionId) {
        if let Err(trouble) = self.command(Command::Detach(session_id)) {
            tracing::debug!(?trouble, "the session's connection has ended before it");
        }
    }

    fn command(&self, command: Command) -> Result<(), Trouble> {
        self.commands.try_send(command).map_err(|_| lost())
    }
}

fn lost() -> Trouble {
    Trouble::Failed(Failure::AgentExited, "the connection to the agent is gone".to_owned())
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
) -> Result<T, Trouble> {
    let (answer, answered) = oneshot::channel();
    let command = Command::Request {
        method,
        params: params(value)?,
        token: Token::Once(answer),
        time: ANSWER_TIME,
    };
    commands.try_send(command).map_err(|_| lost())?;
    let result = answered.await.map_err(|_| lost())??;
    result.decode().map_err(|error| unreadable(method, &error))
}

/// The answer came and is not what the method answers.
fn unreadable(method: &str, error: &wire::DecodeError) -> Trouble {
    let message = format!("the agent's answer to {method}: {error}");
    Trouble::Refused(ErrorObject::new(ErrorCode::INVALID_REQUEST, message))
}

#[derive(Debug)]
enum Command {
    Request { method: &'static str, params: Raw, token: Token, time: Duration },
    Notify { method: &'static str, params: Raw },
    Respond { id: RequestId, result: Raw },
    Attach(SessionId, mpsc::Sender<FromAgent>),
    Detach(SessionId),
}

/// Who waits for an answer.
#[derive(Debug)]
enum Token {
    Once(oneshot::Sender<Result<Raw, Trouble>>),
    Prompt(SessionId),
}

struct Connection {
    lines: Lines,
    peer: Peer<Token>,
    sessions: Sessions,
    outgoing: mpsc::Sender<Vec<u8>>,
    began: Instant,
}

impl Connection {
    fn new(outgoing: mpsc::Sender<Vec<u8>>) -> Self {
        Self {
            lines: Lines::default(),
            peer: Peer::new(CancelMethod::ACP, Limits::default()),
            sessions: Sessions::default(),
            outgoing,
            began: Instant::now(),
        }
    }

    async fn run(mut self, transport: Transport, mut commands: mpsc::Receiver<Command>) {
        let Transport { mut incoming, outgoing, process } = transport;
        drop(outgoing);
        let why = loop {
            let timeout = self.peer.poll_timeout().map(|at| self.began + at);
            tokio::select! {
                bytes = incoming.next() => match bytes {
                    Some(Ok(bytes)) => {
                        self.lines.push(&bytes);
                        if let Err(why) = self.read_lines().await {
                            break why;
                        }
                    }
                    Some(Err(error)) => break format!("the connection to the agent failed: {error}"),
                    None => break "the agent closed the connection".to_owned(),
                },
                command = commands.recv() => match command {
                    Some(command) => if let Err(why) = self.handle(command).await {
                        break why;
                    },
                    None => break "the gateway is ending".to_owned(),
                },
                () = sleep_until(timeout.unwrap_or(self.began)), if timeout.is_some() => self.expire().await,
            }
        };
        self.lines.finish();
        if let Err(error) = self.read_lines().await {
            tracing::debug!(error, "the agent's last words cannot be answered");
        }
        drop(incoming);
        let Self { mut peer, sessions, outgoing, .. } = self;
        drop(outgoing);
        let why = match process {
            None => why,
            Some(process) => match process.end().await {
                Ok(status) => format!("{why} ({status})"),
                Err(error) => format!("{why}; how it ended is not known: {error}"),
            },
        };
        tracing::info!(why, "agent gone");
        peer.handle_close();
        while let Some(ended) = peer.poll_ended(Duration::ZERO) {
            if let Token::Once(answer) = ended.token {
                let _ = answer.send(Err(Trouble::Failed(Failure::AgentExited, why.clone())));
            }
        }
        sessions.close(&why).await;
    }

    /// Deals with the lines that have come; the error is why the connection cannot go on.
    async fn read_lines(&mut self) -> Result<(), String> {
        let Self { lines, peer, sessions, outgoing, .. } = self;
        while let Some(line) = lines.next() {
            match peer.handle_line(line) {
                Incoming::Notification(notification) => sessions.notification(&notification).await,
                Incoming::Request(request) => {
                    if let Err(error) = sessions.request(&request).await
                        && let Ok(response) = peer.respond(&request.id, Err(error))
                    {
                        send(outgoing, response)?;
                    }
                }
                Incoming::Response { token, outcome, .. } => {
                    sessions.end(token, outcome.map(Raw::from).map_err(Trouble::Refused)).await;
                }
                Incoming::Cancelled { id, .. } => sessions.withdraw(id).await,
                Incoming::Refused { response, .. } => send(outgoing, response)?,
                Incoming::Unmatched(response) => {
                    tracing::debug!(id = %response.id, "an answer that nobody waits for");
                }
                Incoming::Malformed { error, reply, ended } => {
                    tracing::warn!(%error, "the agent wrote a line that is no message");
                    if let Some(reply) = reply {
                        send(outgoing, reply)?;
                    }
                    if let Some((_, token)) = ended {
                        let error = ErrorObject::new(ErrorCode::INVALID_REQUEST, error.to_string());
                        sessions.end(token, Err(Trouble::Refused(error))).await;
                    }
                }
            }
        }
        Ok(())
    }

    async fn handle(&mut self, command: Command) -> Result<(), String> {
        match command {
            Command::Request { method, params, token, time } => {
                let deadline = self.began.elapsed() + time;
                match self.peer.register(token, Some(deadline)) {
                    Ok(id) => send(&self.outgoing, Request::new(id, method, Some(params.as_ref()))),
                    Err(error) => Err(error.to_string()),
                }
            }
            Command::Notify { method, params } => {
                send(&self.outgoing, Notification::new(method, Some(params.as_ref())))
            }
            Command::Respond { id, result } => {
                self.sessions.asked.remove(&id);
                match self.peer.respond(&id, Ok(result.as_ref())) {
                    Ok(response) => send(&self.outgoing, response),
                    Err(error) => {
                        tracing::debug!(%error, "an answer that nobody wants any more");
                        Ok(())
                    }
                }
            }
            Command::Attach(session_id, inbox) => {
                self.sessions.attach(session_id, inbox).await;
                Ok(())
            }
            Command::Detach(session_id) => {
                self.sessions.open.remove(&session_id);
                Ok(())
            }
        }
    }

    async fn expire(&mut self) {
        while let Some(ended) = self.peer.poll_ended(self.began.elapsed()) {
            debug_assert_eq!(ended.reason, EndReason::Expired);
            let failure = match ended.token {
                Token::Once(_) => Failure::AgentTimeout,
                Token::Prompt(_) => Failure::TurnTimeout,
            };
            let trouble = Trouble::Failed(failure, "the agent took too long to answer".to_owned());
            self.sessions.end(ended.token, Err(trouble)).await;
        }
    }
}

/// Queues a message; the error is that the agent does not read any more.
fn send<'a>(
    outgoing: &mpsc::Sender<Vec<u8>>,
    message: impl Into<Message<'a>>,
) -> Result<(), String> {
    let mut line = Vec::new();
    message.into().to_line(&mut line);
    outgoing.try_send(line).map_err(|_| "the agent does not read what it is sent".to_owned())
}

/// The sessions that somebody listens to, and what came for others.
#[derive(Debug, Default)]
struct Sessions {
    open: HashMap<SessionId, mpsc::Sender<FromAgent>>,
    asked: HashMap<RequestId, SessionId>,
    early: Vec<(SessionId, FromAgent)>,
}

impl Sessions {
    async fn notification(&mut self, notification: &Notification<'_>) {
        if notification.method != "session/update" {
            tracing::debug!(method = %notification.method, "a notification that the gateway has no use for");
            return;
        }
        match decode::<SessionNotification>(notification.params) {
            Ok(update) => self.deliver(update.session_id.clone(), FromAgent::Update(update)).await,
            Err(error) => tracing::warn!(%error, "an update that cannot be read"),
        }
    }

    async fn request(&mut self, request: &Request<'_>) -> Result<(), ErrorObject> {
        if request.method != "session/request_permission" {
            return Err(ErrorObject::new(
                ErrorCode::METHOD_NOT_FOUND,
                "this client does not have the method",
            ));
        }
        let asked = decode::<RequestPermissionRequest>(request.params)
            .map_err(|error| ErrorObject::new(ErrorCode::INVALID_PARAMS, error.to_string()))?;
        self.asked.insert(request.id.clone(), asked.session_id.clone());
        self.deliver(
            asked.session_id.clone(),
            FromAgent::PermissionRequest(request.id.clone(), asked),
        )
        .await;
        Ok(())
    }

    async fn withdraw(&mut self, id: RequestId) {
        if let Some(session_id) = self.asked.remove(&id) {
            self.deliver(session_id, FromAgent::Withdrawn(id)).await;
        }
    }

    async fn end(&mut self, token: Token, outcome: Result<Raw, Trouble>) {
        match token {
            Token::Once(answer) => {
                let _ = answer.send(outcome);
            }
            Token::Prompt(session_id) => {
                let ended = outcome.and_then(|result| {
                    result.decode().map_err(|error| unreadable("session/prompt", &error))
                });
                self.deliver(session_id, FromAgent::PromptEnded(ended)).await;
            }
        }
    }

    async fn deliver(&mut self, session_id: SessionId, what: FromAgent) {
        let what = match self.open.get(&session_id) {
            Some(inbox) => match inbox.send(what).await {
                Ok(()) => return,
                Err(mpsc::error::SendError(what)) => {
                    self.open.remove(&session_id);
                    what
                }
            },
            None => what,
        };
        if self.early.len() == MAX_EARLY {
            tracing::warn!(session = %session_id, "too much for sessions that nobody listens to; some of it is lost");
            self.early.remove(0);
        }
        self.early.push((session_id, what));
    }

    async fn attach(&mut self, session_id: SessionId, inbox: mpsc::Sender<FromAgent>) {
        let (mine, others) =
            std::mem::take(&mut self.early).into_iter().partition(|(id, _)| *id == session_id);
        self.early = others;
        self.open.insert(session_id.clone(), inbox);
        let mine: Vec<_> = mine;
        for (_, what) in mine {
            self.deliver(session_id.clone(), what).await;
        }
    }

    async fn close(self, why: &str) {
        for inbox in self.open.into_values() {
            let _ = inbox.send(FromAgent::Gone(why.to_owned())).await;
        }
    }
}

fn decode<T: DeserializeOwned>(params: Option<&RawValue>) -> Result<T, wire::DecodeError> {
    wire::decode(params.map_or("{}", RawValue::get))
}
