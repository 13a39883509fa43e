//! A login from its start to its end.
use crate::hub::{AgentConnection, Variables};
use crate::login::error::LoginError;
use crate::login::method::{Kind, Method};
use crate::login::terminal;
use acp_types::client::{Call, CallError};
use acp_types::v1::authentication::AuthenticateRequest;
use agui_bridge::{excerpt, reason};
use core::time::Duration;
use jsonrpc_core::ErrorCode;
use serde::Serialize;
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// Maximum duration of a login. A user may have to visit a page and to enter a code.
const LOGIN_TIME: Duration = Duration::from_secs(10 * 60);

/// Maximum number of inputs that wait for a program.
const MAX_INPUTS: usize = 16;

/// Maximum number of bytes of an input.
const MAX_INPUT: usize = 4096;

/// Maximum number of bytes of a message about a failure.
const MAX_MESSAGE: usize = 1024;

/// An open or ended login.
#[derive(Debug)]
pub(crate) struct Attempt {
    /// The user of the server. Others neither see the screen nor type.
    pub(crate) user: String,
    method: Method,
    progress: watch::Sender<Progress>,
    keys: mpsc::Sender<String>,
    cancel: CancellationToken,
}

/// What a user sees of a login.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Progress {
    /// Number of changes so far.
    pub(crate) version: u64,
    method_id: String,
    state: State,
    /// Why it has failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    /// Text on the screen of a terminal.
    #[serde(skip_serializing_if = "Option::is_none")]
    screen: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    Running,
    Done,
    Failed,
    Cancelled,
}

impl Attempt {
    /// Creates a login, and the receiver of its keys for [`run`](Self::run).
    pub(crate) fn new(user: &str, method: Method) -> (Self, mpsc::Receiver<String>) {
        let (keys, typed) = mpsc::channel(MAX_INPUTS);
        let is_terminal = matches!(method.kind, Kind::Terminal { .. });
        let progress = Progress {
            version: 0,
            method_id: method.id.clone(),
            state: State::Running,
            message: None,
            screen: is_terminal.then(String::new),
        };
        let progress = watch::Sender::new(progress);
        let cancel = CancellationToken::new();
        (Self { user: user.to_owned(), method, progress, keys, cancel }, typed)
    }

    pub(crate) fn is_running(&self) -> bool {
        self.progress.borrow().state == State::Running
    }

    /// Follows the login.
    pub(crate) fn progress(&self) -> watch::Receiver<Progress> {
        self.progress.subscribe()
    }

    /// Cancels the login. It ends soon.
    pub(crate) fn cancel(&self) {
        self.cancel.cancel();
    }

    /// Types a text on the terminal.
    pub(crate) fn type_text(&self, text: String) -> Result<(), LoginError> {
        if text.len() > MAX_INPUT {
            let limit = MAX_INPUT;
            let length = text.len();
            return Err(LoginError::TooLong { place: "text".to_owned(), limit, length });
        }
        if !matches!(self.method.kind, Kind::Terminal { .. }) {
            return Err(LoginError::NoTerminal);
        }
        if !self.is_running() {
            return Err(LoginError::None);
        }
        self.keys.try_send(text).map_err(|_| LoginError::Unread)
    }

    /// Logs in. Values that did not lead to a login are forgotten.
    pub(crate) async fn run(
        &self,
        agent: &str,
        connection: &AgentConnection,
        values: Variables,
        typed: mpsc::Receiver<String>,
    ) {
        let before = connection.login_state();
        let performed = timeout(LOGIN_TIME, self.perform(connection, values.clone(), typed));
        let ended = tokio::select! {
            ended = performed => ended.unwrap_or_else(|_| {
                Err(format!("the login took longer than {} s", LOGIN_TIME.as_secs()))
            }),
            () = self.cancel.cancelled() => Err(String::new()),
        };
        let user = &self.user;
        let method = &self.method.id;
        let state = match &ended {
            Ok(()) => State::Done,
            Err(_) if self.cancel.is_cancelled() => State::Cancelled,
            Err(_) => State::Failed,
        };
        tracing::info!(agent, user, method, ?state, "a login has ended");
        if ended.is_ok() {
            connection.handle_logged_in();
        } else if connection.login_state() != before
            && let Err(error) = connection.restart(before)
        {
            tracing::warn!(agent, %error, "the variables of a failed login stay");
        }
        let message = ended.err().filter(|why| !why.is_empty());
        self.change(|progress| {
            progress.state = state;
            progress.message = message.map(|why| excerpt(&values.hide(&why), MAX_MESSAGE));
        });
    }

    async fn perform(
        &self,
        connection: &AgentConnection,
        values: Variables,
        typed: mpsc::Receiver<String>,
    ) -> Result<(), String> {
        let id = &self.method.id;
        match &self.method.kind {
            Kind::Agent => {
                authenticate(connection, id).await.map_err(explain)?;
                connection.set_authenticate(Some(id.clone()));
            }
            Kind::Variables { .. } => {
                let mut login = connection.login_state();
                login.authenticate = None;
                login.variables.extend(values);
                connection.restart(login).map_err(|error| error.to_string())?;
                connection.initialized().await.map_err(|error| error.to_string())?;
                match authenticate(connection, id).await {
                    Ok(()) => connection.set_authenticate(Some(id.clone())),
                    // The variables are the whole login.
                    Err(CallError::Answered(error)) if IS_NO_METHOD.contains(&error.code) => {}
                    Err(error) => return Err(explain(error)),
                }
            }
            Kind::Terminal { arguments, environment, .. } => {
                let mut command = connection.command().ok_or("the agent is behind a URL")?;
                command.words.extend(arguments.iter().cloned());
                command.variables.extend(environment.clone());
                let show = |text| self.change(|progress| progress.screen = Some(text));
                terminal::run(command, typed, show).await?;
                // Running agents may not read the new credentials; one at work is left alone.
                if let Err(error) = connection.restart(connection.login_state()) {
                    tracing::info!(%error, "not restarted after a login");
                }
            }
            Kind::Manual { step } => return Err(step.clone()),
        }
        Ok(())
    }

    fn change(&self, change: impl FnOnce(&mut Progress)) {
        self.progress.send_modify(|progress| {
            progress.version += 1;
            change(progress);
        });
    }
}

/// Errors of `authenticate` for a method that has no use for it.
const IS_NO_METHOD: [ErrorCode; 2] = [ErrorCode::METHOD_NOT_FOUND, ErrorCode::INVALID_PARAMS];

async fn authenticate(connection: &AgentConnection, id: &str) -> Result<(), CallError> {
    let login = Call::new(&AuthenticateRequest::new(id)).with_timeout(LOGIN_TIME);
    connection.call(login).await.map(drop)
}

/// Returns the reason of a failure, without credentials.
pub(crate) fn explain(error: CallError) -> String {
    match error {
        CallError::Answered(error) | CallError::AuthRequired { error, .. } => reason(&error),
        error => error.to_string(),
    }
}
