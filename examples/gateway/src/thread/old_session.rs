//! A session that there was before the agent, or the gateway, was started again.
use super::{Agent, Opened, Reply, Run, Session, SessionScope, Thread, Trouble};
use acp_types::v1::session_setup::SessionId;
use agui_bridge::input::SessionMemory;
use futures::FutureExt;
use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// What is remembered of a session, so that it can be gone on with.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub(crate) struct Remembered {
    session_id: SessionId,
    /// What its agent has of the conversation.
    conversation: SessionMemory,
}

/// A run that waits for its session.
pub(super) struct Loading {
    run: Box<Run>,
    reply: Reply,
    agent: Arc<Agent>,
    session: BoxFuture<'static, Result<Opened, Trouble>>,
}

impl Loading {
    /// Stops the run that waits.
    pub(super) fn cancel(&self) -> &CancellationToken {
        &self.run.cancel
    }
}

impl Thread {
    /// Begins a run, when the session is there that the thread had.
    pub(super) fn begin_in_session(&mut self, run: Box<Run>, reply: Reply) {
        let agent = run.agent.as_ref().and_then(|agent| agent.as_ref().ok()).cloned();
        let has_session = self
            .session
            .as_ref()
            .zip(agent.as_ref())
            .is_some_and(|(session, agent)| Arc::ptr_eq(agent, &session.agent));
        let remembered = self.remembered.borrow().clone();
        if let Some(agent) = agent
            && let Some(remembered) = remembered
            && !has_session
            && !self.translator.is_interrupted()
        {
            self.session = None;
            let tools = run.input.tools.clone().unwrap_or_default();
            let given = self.page.give(&agent, &tools);
            let session =
                agent.old_session(remembered.session_id, self.cwd.clone(), given, run.span.clone());
            if let Some(session) = session {
                self.loading = Some(Loading { run, reply, agent, session: session.boxed() });
                return;
            }
        }
        let begun = self.begin(*run);
        if let Err(Ok(())) = reply.send(begun) {
            // It stopped waiting just now, and nobody will ever read the run.
            self.stop();
        }
    }

    /// The agent has the session again, or not: then the run has a new one.
    pub(super) fn loaded(&mut self, loaded: Result<Opened, Trouble>) {
        let Some(Loading { run, reply, agent, .. }) = self.loading.take() else { return };
        // Not while it is borrowed: it may be forgotten now.
        let remembered = self.remembered.borrow().clone();
        match (loaded, remembered) {
            (Ok(mut opened), Some(remembered)) => {
                let replay = std::mem::take(&mut opened.replay);
                if !replay.is_empty() {
                    self.translator.begin_replay();
                    for update in replay {
                        self.translator.handle_notification(update);
                    }
                    self.translator.end_replay();
                }
                self.session = Some(Session::new(agent, opened));
                if self.conversation == SessionMemory::new() {
                    self.conversation = remembered.conversation;
                }
            }
            (Err(trouble), _) => {
                tracing::info!(%trouble, "the session that the thread had is gone");
                self.forget_session();
            }
            (Ok(_), None) => {}
        }
        let begun = self.begin(*run);
        if let Err(Ok(())) = reply.send(begun) {
            self.stop();
        }
    }

    /// The session is as far as the conversation is now.
    pub(super) fn remember(&self) {
        let Some(session) = &self.session else { return };
        if self.input_rules.session == SessionScope::Turn {
            return;
        }
        let (session_id, conversation) = (session.id.clone(), self.conversation.clone());
        self.remembered.send_replace(Some(Remembered { session_id, conversation }));
    }

    /// The session cannot be gone on with.
    pub(super) fn forget_session(&self) {
        self.remembered.send_if_modified(|remembered| remembered.take().is_some());
    }
}

/// What the agent answered about the session that there was.
pub(super) async fn load(loading: &mut Option<Loading>) -> Result<Opened, Trouble> {
    match loading {
        Some(loading) => (&mut loading.session).await,
        None => std::future::pending().await,
    }
}
