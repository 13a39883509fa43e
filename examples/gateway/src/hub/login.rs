//! Starts and logins while the server runs: calls of the program, variables of the agent, and its
//! restart.
use crate::hub::connection::AgentConnection;
use crate::hub::state::Unavailable;
use crate::hub::state::{LOST, SharedHub, State};
use crate::hub::variables::Variables;
use acp_types::client::{
    AgentResponse, Call, CallError, CallKey, CloseReason, Initialization, ReceivedValue,
};
use agui_bridge::Failure;
use host::transport::Address;
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::oneshot;

/// The agent has runs or is starting, and cannot be restarted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the agent is at work; wait for the end of its runs, or stop them")]
pub struct InUse;

/// The command of an agent that is a process of this program.
#[derive(Clone, Debug)]
pub struct AgentCommand {
    /// The program and its arguments.
    pub words: Vec<String>,
    /// Variables of the environment that it does not inherit.
    pub secrets: Vec<String>,
    /// Variables that are set for it, with those of a login.
    pub variables: BTreeMap<String, String>,
}

/// What a login leaves for the next start of the agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoginState {
    /// The authentication method to use once connected.
    pub authenticate: Option<String>,
    /// Variables that are set for the agent.
    pub variables: Variables,
}

impl AgentConnection {
    /// Connects to the agent, and returns its answer to `initialize`.
    pub async fn initialized(&self) -> Result<Box<Initialization>, Unavailable> {
        let (reply, initialized) = oneshot::channel();
        {
            let mut state = self.shared.lock();
            if let Some(initialized) = state.initialized() {
                return Ok(Box::new(initialized.clone()));
            }
            if state.is_ending() {
                state.waiting_for_next.push(reply);
            } else {
                state.connect(self.shared.now());
                state.waiting.push(reply);
            }
        }
        self.shared.wake.notify_one();
        let lost = || Unavailable(Failure::AgentUnavailable, LOST.to_owned());
        initialized.await.unwrap_or_else(|_| Err(lost()))
    }

    /// Returns the agent's response to `initialize`, if the agent runs.
    pub fn known(&self) -> Option<Initialization> {
        self.shared.lock().initialized().cloned()
    }

    /// Returns whether the agent has refused a session because of a missing login, and has opened
    /// none since.
    pub fn needs_login(&self) -> bool {
        self.shared.lock().hub.needs_login()
    }

    /// Handles a successful login: the agent counts as logged in until it refuses a session again.
    pub fn handle_logged_in(&self) {
        self.shared.lock().hub.handle_logged_in();
    }

    /// Calls the agent. Dropping the future withdraws the call.
    ///
    /// # Errors
    /// The agent refuses, does not respond in time, or is not running.
    pub async fn call(&self, call: Call) -> Result<Box<ReceivedValue<AgentResponse>>, CallError> {
        let closed = || CallError::Closed(CloseReason::ClientClosed);
        let (reply, ended) = oneshot::channel();
        let key = {
            let mut state = self.shared.lock();
            // A call on a closed connection has no end.
            let is_connected = state.hub.is_connected();
            let call = is_connected.then(|| state.hub.call(call, self.shared.now())).flatten();
            let key = call.ok_or_else(closed)?;
            state.calls.insert(key, reply);
            key
        };
        self.shared.wake.notify_one();
        let _withdrawn = OpenCall { shared: self.shared.clone(), key };
        ended.await.unwrap_or_else(|_| Err(closed()))
    }

    /// Returns what the last login has left.
    pub fn login_state(&self) -> LoginState {
        let state = self.shared.lock();
        LoginState { authenticate: state.authenticate.clone(), variables: state.variables.clone() }
    }

    /// Sets the authentication method for the next start.
    pub fn set_authenticate(&self, method: Option<String>) {
        self.shared.lock().authenticate = method;
    }

    /// Ends the agent, if it runs, so that its next start has this state.
    ///
    /// # Errors
    /// The agent has runs, or is starting. Nothing is changed.
    pub fn restart(&self, login: LoginState) -> Result<(), InUse> {
        let mut state = self.shared.lock();
        let is_starting = state.hub.is_connected() && !state.is_open;
        if is_starting || state.threads.values().any(|thread| !thread.runs.is_empty()) {
            return Err(InUse);
        }
        state.authenticate = login.authenticate;
        state.variables = login.variables;
        state.hub.handle_closed(CloseReason::ClientClosed, self.shared.now());
        drop(state);
        self.shared.wake.notify_one();
        Ok(())
    }

    /// Returns the command of the agent; `None` for an agent behind a URL.
    pub fn command(&self) -> Option<AgentCommand> {
        let mut address = self.address.clone();
        self.shared.lock().variables.set(&mut address);
        match address {
            Address::Command { words, secrets, variables } => {
                Some(AgentCommand { words, secrets, variables })
            }
            _ => None,
        }
    }
}

impl State {
    /// Returns the response to `initialize` of the agent that runs.
    fn initialized(&self) -> Option<&Initialization> {
        self.hub.initialized().filter(|_| self.hub.is_connected())
    }
}

/// A call that is withdrawn if it is open.
struct OpenCall {
    shared: Arc<SharedHub>,
    key: CallKey,
}

impl Drop for OpenCall {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        if state.calls.remove(&self.key).is_some() {
            state.hub.withdraw(self.key);
            drop(state);
            self.shared.wake.notify_one();
        }
    }
}
