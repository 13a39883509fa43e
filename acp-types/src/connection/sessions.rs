//! The agent as a client speaks to it: its sessions, and their turns.
use super::machine::{Client, Done, NOW};
use super::shared::{Link, Shared};
use super::{Peer, RequestError};
use crate::client::{
    Initialized, Open, Opened, Prompt, PromptError, Received, SessionKey, TurnEnd,
};
use alloc::sync::Arc;
use core::future::poll_fn;
use core::time::Duration;

/// The agent on the other side of a client's connection: opens sessions. Clones speak on the same connection.
#[derive(Clone, Debug)]
pub struct Sessions {
    shared: Arc<Shared<Client>>,
}

impl Sessions {
    pub(super) fn new(shared: Arc<Shared<Client>>) -> Self {
        Self { shared }
    }

    /// The agent, for calls and notifications outside of sessions.
    pub fn peer(&self) -> Peer {
        Peer::new(self.shared.clone())
    }

    /// Waits for the answer to `initialize`, which is sent by itself.
    ///
    /// # Errors
    /// The agent refused, speaks no version that is offered, or is gone.
    pub async fn initialized(&self) -> Result<Initialized, RequestError> {
        poll_fn(|task| self.shared.poll_initialized(task)).await
    }

    /// Opens a session: new, loaded, resumed or forked. The history of a session that is loaded is given to the client's
    /// handler of updates before.
    ///
    /// # Errors
    /// The agent refused, the session is in use, or the connection is closed.
    pub async fn open(&self, how: impl Into<Open>) -> Result<Session, RequestError> {
        let how = how.into();
        let key = self.shared.with(|state| {
            let key = state.machine.machine.open_session(how, NOW);
            state.await_end(key.get());
            key
        });
        // Released again, unless it is opened.
        let mut session = Session { shared: self.shared.clone(), key, opened: None };
        match poll_fn(|task| self.shared.poll_end(key.get(), task)).await? {
            Done::Opened(opened) => session.opened = Some(opened),
            Done::Result(_) | Done::Turn(_) => {}
        }
        Ok(session)
    }

    /// Ends the connection as soon as nothing is open on it; see [`Peer::shut_down`].
    pub fn shut_down(&self) {
        self.shared.shut_down();
    }
}

/// An open session. It is released when it is dropped, which closes it where the agent can do that.
#[derive(Debug)]
pub struct Session {
    shared: Arc<Shared<Client>>,
    key: SessionKey,
    opened: Option<alloc::boxed::Box<Opened>>,
}

impl Session {
    /// The answer of the agent to its opening. The replay is empty: it was given to the handler of updates.
    pub fn opened(&self) -> Option<&Opened> {
        self.opened.as_deref()
    }

    /// Its id.
    pub fn id(&self) -> &str {
        self.opened.as_ref().map(|opened| opened.session_id.as_str()).unwrap_or_default()
    }

    /// Sends a prompt, and waits for the end of its turn. The updates of the turn may still wait for the client's handler:
    /// see [`Peer::caught_up`]. Dropped before the end, the turn is cancelled.
    ///
    /// # Errors
    /// A turn is open already, the prompt failed, or the connection is closed.
    pub async fn prompt(&self, prompt: Prompt) -> Result<Received<TurnEnd>, RequestError> {
        let turn = self.shared.with(|state| {
            let turn = state.machine.machine.prompt(self.key, prompt, NOW)?;
            state.await_end(turn.get());
            Ok::<_, PromptError>(turn.get())
        })?;
        let waiting = Waiting { session: self, turn };
        match poll_fn(|task| self.shared.poll_end(waiting.turn, task)).await? {
            Done::Turn(end) => Ok(*end),
            Done::Result(_) | Done::Opened(_) => Err(RequestError::Prompt(PromptError::NotOpen)),
        }
    }

    /// Cancels the turn that is open, if one is: it still ends, mostly with the stop reason `cancelled`.
    pub fn cancel(&self) {
        self.shared.with(|state| state.machine.machine.cancel(self.key, Duration::MAX, NOW));
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.shared.with(|state| {
            state.give_up(self.key.get());
            state.machine.machine.release(self.key, NOW);
        });
    }
}

/// A turn whose end is awaited.
struct Waiting<'a> {
    session: &'a Session,
    turn: u64,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if self.session.shared.lock().give_up(self.turn) {
            self.session.cancel();
        }
    }
}
