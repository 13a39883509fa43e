//! The record in the store of an agent's session, which is continued after a restart.
use crate::store::Replica;
use agui_bridge::conversation::RememberedSession;
use futures::FutureExt;
use tokio::sync::{Mutex, watch};
use tokio::task::unconstrained;

/// Writes the session of one thread, one version after the other.
#[derive(Debug)]
pub(super) struct SessionNote {
    thread: String,
    /// Held while a version is being written.
    session: Mutex<watch::Receiver<Option<RememberedSession>>>,
}

impl SessionNote {
    pub(super) fn new(thread: String, session: watch::Receiver<Option<RememberedSession>>) -> Self {
        Self { thread, session: Mutex::new(session) }
    }

    /// Writes the present version, unless the store has it. Returns when the store has it.
    pub(super) async fn write(&self, replicas: &Replica) {
        let mut session = self.session.lock().await;
        let changed = unconstrained(session.changed()).now_or_never();
        if !matches!(changed, Some(Ok(()))) {
            return;
        }
        let present = session.borrow_and_update().clone();
        let text = present.and_then(|session| serde_json::to_string(&session).ok());
        replicas.remember(&self.thread, text.as_deref()).await;
    }
}
