//! A connection to an agent: who sent what, and who waits for it.
//!
//! One task owns the connection. It reads whatever comes, answers what nobody else has to, and hands the rest to the
//! thread whose session it is for, in the order it came: the answer to a prompt comes after the updates that were sent
//! before it.
use crate::agent::{FromAgent, Opened, Trouble};
use crate::sessions::Sessions;
use acp_host::host::{Host, HostEvent};
use acp_host::transport::{AgentProcess, Incoming as Bytes, Outgoing, Transport, Writer};
use acp_types::v1::elicitation::{CreateElicitationResponse, ElicitationAction};
use acp_types::v1::session_setup::SessionId;
use acp_types::v1::tool_calls::{RequestPermissionOutcome, RequestPermissionResponse};
use agui_bridge::{Answer, Failure};
use futures::StreamExt;
use jsonrpc_core::framing::Lines;
use jsonrpc_core::wire::{Extra, Raw};
use jsonrpc_core::{
    CancelMethod, ErrorCode, ErrorObject, Incoming, Limits, Message, Notification, Peer, Request,
    RequestId,
};
use run_telemetry::Watch;
use semconv_map::trace_context::TraceContext;
use std::iter;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep_until, timeout_at};

/// How long an agent that has exited is listened to: what it started may hold its output open for ever.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// What a connection is told.
#[derive(Debug)]
pub(crate) enum Command {
    Request {
        method: &'static str,
        params: Raw,
        token: Token,
        time: Duration,
        /// The span of the run that it is for, if there is one.
        run: Option<TraceContext>,
    },
    Notify {
        method: &'static str,
        params: Raw,
    },
    Respond {
        id: RequestId,
        result: Raw,
    },
    Detach(SessionId),
    /// These tools of the page's may be called in the session.
    Contextual(SessionId, Vec<Raw>),
}

/// Who waits for an answer.
#[derive(Debug)]
pub(crate) enum Token {
    Once(oneshot::Sender<Result<Raw, Trouble>>),
    NewSession(oneshot::Sender<Result<Opened, Trouble>>),
    /// A session that there was is loaded, or resumed.
    OldSession(SessionId, oneshot::Sender<Result<Opened, Trouble>>),
    Prompt(SessionId),
    /// Nobody; this is the method.
    Nobody(&'static str),
}

pub(crate) struct Connection {
    lines: Lines,
    peer: Peer<Token>,
    sessions: Sessions,
    host: Host,
    outgoing: Watched,
    began: Instant,
}

/// Takes lines for the writer, and shows somebody what passes.
struct Watched {
    outgoing: Outgoing,
    watch: Option<Watch>,
}

impl Connection {
    fn new(outgoing: Outgoing, watch: Option<Watch>, host: Host) -> Self {
        Self {
            lines: Lines::default(),
            peer: Peer::new(CancelMethod::ACP, Limits::default()),
            sessions: Sessions::default(),
            host,
            outgoing: Watched { outgoing, watch },
            began: Instant::now(),
        }
    }

    /// Serves the connection until the agent ends it, or nobody has commands for it any more; then ends the agent.
    pub(crate) async fn serve(
        transport: Transport,
        mut commands: mpsc::Receiver<Command>,
        watch: Option<Watch>,
        host: Host,
    ) {
        let Transport { mut incoming, outgoing, writer, mut process } = transport;
        let mut connection = Self::new(outgoing, watch, host);
        let why = connection.talk(&mut incoming, &mut commands, process.as_mut()).await;
        // Whoever wants the agent from now on gets a new one.
        commands.close();
        drop(incoming);
        connection.end(why, writer, process, commands).await;
    }

    /// Gives the reason why it cannot go on.
    async fn talk(
        &mut self,
        incoming: &mut Bytes,
        commands: &mut mpsc::Receiver<Command>,
        mut process: Option<&mut AgentProcess>,
    ) -> String {
        loop {
            let timeout = self.peer.poll_timeout().map(|at| self.began + at);
            let done = tokio::select! {
                bytes = incoming.next() => match bytes {
                    Some(Ok(bytes)) => self.read(&bytes).await,
                    Some(Err(error)) => Err(format!("the connection to the agent failed: {error}")),
                    None => Err(closed()),
                },
                command = commands.recv() => match command {
                    Some(command) => self.handle(command).await,
                    None => {
                        self.outgoing.leave();
                        Err("the gateway is ending".to_owned())
                    }
                },
                told = self.host.next() => self.tell(told).await,
                () = sleep_until(timeout.unwrap_or(self.began)), if timeout.is_some() => {
                    self.expire().await;
                    Ok(())
                }
                () = exit(&mut process) => Err(self.last_words(incoming).await),
            };
            if let Err(why) = done {
                return why;
            }
        }
    }

    /// Reads what an agent that has exited wrote before.
    async fn last_words(&mut self, incoming: &mut Bytes) -> String {
        let deadline = Instant::now() + LAST_WORDS;
        while Instant::now() < deadline
            && let Ok(Some(Ok(bytes))) = timeout_at(deadline, incoming.next()).await
        {
            if let Err(why) = self.read(&bytes).await {
                return why;
            }
        }
        closed()
    }

    async fn end(
        mut self,
        why: String,
        writer: Writer,
        process: Option<AgentProcess>,
        mut commands: mpsc::Receiver<Command>,
    ) {
        self.lines.finish();
        if let Err(error) = self.read_lines().await {
            tracing::debug!(error, "the agent's last words cannot be answered");
        }
        let Self { mut peer, mut sessions, host, outgoing, .. } = self;
        drop(outgoing);
        writer.end().await;
        host.end().await;
        let why = match process {
            None => why,
            Some(process) => match process.end().await {
                Ok(status) => format!("{why} ({status})"),
                Err(error) => format!("{why}; how it ended is not known: {error}"),
            },
        };
        tracing::info!(why, "agent gone");
        peer.handle_close();
        let open = iter::from_fn(|| peer.poll_ended(Duration::ZERO)).map(|ended| ended.token);
        let unsent =
            iter::from_fn(|| commands.try_recv().ok()).filter_map(|command| match command {
                Command::Request { token, .. } => Some(token),
                _ => None,
            });
        for token in open.chain(unsent) {
            let trouble = Trouble::Failed(Failure::AgentExited, why.clone());
            sessions.end(token, Err(trouble)).await;
        }
        sessions.close(&why).await;
    }

    async fn read(&mut self, bytes: &[u8]) -> Result<(), String> {
        self.lines.push(bytes);
        self.read_lines().await
    }

    /// Deals with the lines that have come; the error is why the connection cannot go on.
    async fn read_lines(&mut self) -> Result<(), String> {
        let Self { lines, peer, sessions, host, outgoing, .. } = self;
        while let Some(line) = lines.next() {
            if let (Ok(line), Some(watch)) = (&line, &mut outgoing.watch) {
                watch.receive(line.as_bytes());
            }
            match peer.handle_line(line) {
                Incoming::Notification(notification) => sessions.notification(&notification).await,
                Incoming::Request(request) => {
                    let answer = match host.request(&request, |session| sessions.has(session)) {
                        Some(answer) => answer,
                        None => sessions.request(&request).await,
                    };
                    if let Some(answer) = answer {
                        respond(peer, outgoing, &request.id, answer)?;
                    }
                }
                Incoming::Response { token, outcome, .. } => {
                    sessions.end(token, outcome.map(Raw::from).map_err(Trouble::Refused)).await;
                }
                Incoming::Cancelled { id, .. } if host.withdraw(&id) => {
                    let error = ErrorObject::new(ErrorCode::REQUEST_CANCELLED, "cancelled");
                    respond(peer, outgoing, &id, Err(error))?;
                }
                Incoming::Cancelled { id, .. } => sessions.withdraw(id).await,
                Incoming::Refused { response, .. } => outgoing.send(response)?,
                Incoming::Unmatched(response) => {
                    tracing::debug!(id = %response.id, "an answer that nobody waits for");
                }
                Incoming::Malformed { error, reply, ended } => {
                    tracing::warn!(%error, "the agent wrote a line that is no message");
                    if let Some(reply) = reply {
                        outgoing.send(reply)?;
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
        let Self { peer, sessions, host, outgoing, .. } = self;
        match command {
            Command::Request { method, params, token, time, run } => {
                let token = match token {
                    Token::OldSession(session_id, answer) if !sessions.loads(&session_id) => {
                        let why = format!("the session {session_id} is in use");
                        let trouble = Trouble::Failed(Failure::AgentUnavailable, why);
                        let _nobody = answer.send(Err(trouble));
                        return Ok(());
                    }
                    token => token,
                };
                if matches!(token, Token::NewSession(_)) {
                    sessions.opens();
                }
                if peer.open_ours() >= Limits::DEFAULT_OPEN {
                    let why = "too many requests wait for the agent".to_owned();
                    let trouble = Trouble::Failed(Failure::Overloaded, why);
                    sessions.end(token, Err(trouble)).await;
                    return Ok(());
                }
                let deadline = self.began.elapsed() + time;
                let id = peer.register(token, Some(deadline)).map_err(|error| error.to_string())?;
                let request = Request::new(id, method, Some(params.as_ref()));
                outgoing.send_for(request, run.as_ref())
            }
            Command::Notify { method, params } => {
                outgoing.send(Notification::new(method, Some(params.as_ref())))
            }
            Command::Respond { id, result } => {
                sessions.answered(&id);
                respond(peer, outgoing, &id, Ok(result))
            }
            Command::Contextual(session_id, tools) => {
                sessions.offer_contextual(&session_id, tools);
                Ok(())
            }
            Command::Detach(session_id) => {
                host.end_session(&session_id);
                let mut left = sessions.detach(&session_id).into_iter();
                left.try_for_each(|(id, method)| respond(peer, outgoing, &id, cancelled(&method)))
            }
        }
    }

    /// Passes on what the agent's files and terminals have come to.
    async fn tell(&mut self, told: HostEvent) -> Result<(), String> {
        match told {
            HostEvent::Answer(id, answer) => {
                respond(&mut self.peer, &mut self.outgoing, &id, answer)
            }
            HostEvent::Terminal(session_id, shown) => {
                self.sessions.deliver(&session_id, FromAgent::Terminal(shown)).await;
                Ok(())
            }
        }
    }

    async fn expire(&mut self) {
        while let Some(ended) = self.peer.poll_ended(self.began.elapsed()) {
            let failure = match ended.token {
                Token::Once(_)
                | Token::NewSession(_)
                | Token::OldSession(..)
                | Token::Nobody(_) => Failure::AgentTimeout,
                Token::Prompt(_) => Failure::TurnTimeout,
            };
            let trouble = Trouble::Failed(failure, "the agent took too long to answer".to_owned());
            self.sessions.end(ended.token, Err(trouble)).await;
        }
    }
}

fn closed() -> String {
    "the agent closed the connection".to_owned()
}

async fn exit(process: &mut Option<&mut AgentProcess>) {
    match process {
        Some(process) => process.exited().await,
        None => std::future::pending().await,
    }
}

/// The answer to a question that nobody can be asked.
pub(crate) fn cancelled(method: &str) -> Result<Raw, ErrorObject> {
    let answer = if method == "elicitation/create" {
        Answer::Elicitation(CreateElicitationResponse::new(ElicitationAction::Cancel(Extra::new())))
    } else {
        let outcome = RequestPermissionOutcome::Cancelled(Extra::new());
        Answer::Permission(RequestPermissionResponse::new(outcome))
    };
    Raw::from_value(&answer)
        .map_err(|error| ErrorObject::new(ErrorCode::INTERNAL_ERROR, error.to_string()))
}

/// Answers a request of the agent's, unless it has its answer.
fn respond(
    peer: &mut Peer<Token>,
    outgoing: &mut Watched,
    id: &RequestId,
    answer: Result<Raw, ErrorObject>,
) -> Result<(), String> {
    match peer.respond(id, answer.as_ref().map(Raw::as_ref).map_err(Clone::clone)) {
        Ok(response) => outgoing.send(response),
        Err(error) => {
            tracing::debug!(%error, "an answer that nobody wants any more");
            Ok(())
        }
    }
}

impl Watched {
    /// Queues a message; the error is that the agent does not read any more.
    fn send<'a>(&mut self, message: impl Into<Message<'a>>) -> Result<(), String> {
        self.send_for(message, None)
    }

    /// The same for a run, whose span this is.
    fn send_for<'a>(
        &mut self,
        message: impl Into<Message<'a>>,
        run: Option<&TraceContext>,
    ) -> Result<(), String> {
        let mut line = Vec::new();
        message.into().to_line(&mut line);
        if let Some(watch) = &mut self.watch {
            line = watch.send(line, run);
        }
        self.outgoing.send(line).map_err(|error| error.to_string())
    }

    /// The gateway ends the connection.
    fn leave(&mut self) {
        if let Some(watch) = &mut self.watch {
            watch.leave();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use acp_host::transport::queue;

    fn request() -> (Command, oneshot::Receiver<Result<Raw, Trouble>>) {
        let (answer, answered) = oneshot::channel();
        let (params, time) = (Raw::from_text("{}").unwrap(), Duration::from_secs(60));
        (
            Command::Request {
                method: "test",
                params,
                token: Token::Once(answer),
                time,
                run: None,
            },
            answered,
        )
    }

    #[tokio::test]
    async fn a_request_too_many_fails_alone() {
        let (outgoing, _queue) = queue();
        let mut connection = Connection::new(outgoing, None, Host::new(None));
        let mut open = Vec::new();
        for _ in 0..Limits::DEFAULT_OPEN {
            let (command, answered) = request();
            connection.handle(command).await.unwrap();
            open.push(answered);
        }
        let (command, answered) = request();
        connection.handle(command).await.unwrap();
        let answer = answered.await.unwrap();
        assert!(matches!(answer, Err(Trouble::Failed(Failure::Overloaded, _))), "{answer:?}");
        assert!(open[0].try_recv().is_err(), "the others go on");
    }
}
