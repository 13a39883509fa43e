//! The agent as seen by a client: sessions and turns.
use super::machine::{Client, Done, NOW};
use super::shared::{Link, Program, SharedConnection};
use super::state::ended;
use super::{Peer, RequestError};
use crate::client::{
    Initialization, OpenedSession, Prompt, PromptError, ReceivedValue, SessionKey,
    SessionSetupRequest, TurnEnd,
};
use alloc::sync::Arc;
use core::future::poll_fn;
use core::time::Duration;

/// The agent on the other side of a client's connection: opens sessions. Clones share the
/// connection. It is [shut down](Peer::shut_down) when the program has dropped the last of them,
/// their [`Session`]s and their [`peer`](Self::peer)s.
///
/// ```
/// use acp_types::client::{Prompt, TurnEnd};
/// use acp_types::connection::{RequestError, Sessions};
/// use acp_types::v1::session_setup::NewSessionRequest;
///
/// /// Opens a session, and sends one prompt.
/// async fn turn(sessions: &Sessions) -> Result<TurnEnd, RequestError> {
///     let session = sessions.open(NewSessionRequest::new("/project", [])).await?;
///     let end = session.prompt(Prompt::v1(["Hello".into()])).await?;
///     Ok(end.value)
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Sessions {
    program: Arc<Program>,
}

impl Sessions {
    pub(super) fn new(shared: Arc<SharedConnection<Client>>) -> Self {
        Self { program: Arc::new(Program::new(shared)) }
    }

    fn shared(&self) -> &Arc<SharedConnection<Client>> {
        self.program.shared()
    }

    /// Returns the agent, for calls and notifications outside of sessions.
    pub fn peer(&self) -> Peer {
        Peer::of_program(self.shared().clone(), self.program.clone())
    }

    /// Waits for the response to `initialize`, which is sent automatically.
    ///
    /// # Errors
    /// The agent refused, supports none of the offered versions, or the connection is closed.
    pub async fn initialized(&self) -> Result<Initialization, RequestError> {
        poll_fn(|task| self.shared().poll_initialized(task)).await
    }

    /// Opens a session: new, loaded, resumed or forked. The history of a loaded session is passed
    /// to the client's update handler first.
    ///
    /// # Errors
    /// The agent refused, the session is in use, or the connection is closed.
    pub async fn open(&self, how: impl Into<SessionSetupRequest>) -> Result<Session, RequestError> {
        let how = how.into();
        let (key, end) = self.shared().with(|state| {
            let key = state.machine.machine.open_session(how, NOW);
            (key, state.await_end(key.get()))
        });
        // Dropped if opening fails, which releases the session.
        let mut session = Session { program: self.program.clone(), key, opened: None };
        match ended(end.await)? {
            Done::Opened(opened) => session.opened = Some(opened),
            Done::Result(_) | Done::Turn(_) => {}
        }
        Ok(session)
    }

    /// Shuts the connection down gracefully; see [`Peer::shut_down`].
    pub fn shut_down(&self) {
        self.shared().shut_down();
    }
}

/// An open session. Dropping it releases the session, and closes it if the agent supports that. The
/// [module](super) has an example.
#[derive(Debug)]
pub struct Session {
    program: Arc<Program>,
    key: SessionKey,
    opened: Option<alloc::boxed::Box<OpenedSession>>,
}

impl Session {
    fn shared(&self) -> &SharedConnection<Client> {
        self.program.shared()
    }

    /// Returns the agent's response. Its replay is empty, since the update handler has received it.
    pub fn opened(&self) -> Option<&OpenedSession> {
        self.opened.as_deref()
    }

    /// Returns the id of the session.
    pub fn id(&self) -> &str {
        self.opened.as_ref().map(|opened| opened.session_id.as_str()).unwrap_or_default()
    }

    /// Sends a prompt, and waits for the end of its turn. Updates of the turn may still wait for
    /// the client's handler: see [`Peer::caught_up`]. Dropping the future cancels the turn.
    ///
    /// # Errors
    /// A turn is already open, the prompt failed, or the connection is closed.
    pub async fn prompt(&self, prompt: Prompt) -> Result<ReceivedValue<TurnEnd>, RequestError> {
        let (turn, end) = self.shared().with(|state| {
            let turn = state.machine.machine.prompt(self.key, prompt, NOW)?.get();
            Ok::<_, PromptError>((turn, state.await_end(turn)))
        })?;
        let _waiting = TurnGuard { session: self, turn };
        match ended(end.await)? {
            Done::Turn(end) => Ok(*end),
            Done::Result(_) | Done::Opened(_) => Err(RequestError::Prompt(PromptError::NotOpen)),
        }
    }

    /// Cancels the open turn, if any. It still ends, usually with the stop reason `cancelled`.
    pub fn cancel(&self) {
        self.shared().with(|state| state.machine.machine.cancel(self.key, Duration::MAX, NOW));
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.shared().with(|state| {
            state.machine.machine.release(self.key, NOW);
            state.end_call(self.key.get())
        });
    }
}

/// A turn with an awaited end.
struct TurnGuard<'a> {
    session: &'a Session,
    turn: u64,
}

impl Drop for TurnGuard<'_> {
    fn drop(&mut self) {
        let pending = self.session.shared().lock().end_call(self.turn);
        if pending.is_some() {
            self.session.cancel();
        }
    }
}
