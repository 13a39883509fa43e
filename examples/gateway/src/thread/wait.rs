//! What a thread waits for; what is not there never comes.
use super::turn::Asked;
use super::{Active, Session, Stage};
use crate::agent::{Agent, FromAgent, Opened, Trouble};
use std::sync::Arc;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

pub(super) async fn wait(cancelled: Option<CancellationToken>) {
    match cancelled {
        Some(cancelled) => cancelled.cancelled().await,
        None => std::future::pending().await,
    }
}

pub(super) async fn wait_until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

pub(super) async fn hear(session: &mut Option<Session>) -> Option<FromAgent> {
    match session {
        Some(session) => session.inbox.recv().await,
        None => std::future::pending().await,
    }
}

/// What the agent answered to `session/new`.
pub(super) struct Answered {
    pub(super) agent: Arc<Agent>,
    pub(super) session: Result<Opened, Trouble>,
    pub(super) asked: Asked,
}

pub(super) async fn open(active: &mut Option<Active>) -> Answered {
    let Some(Active { stage: Stage::Opening { agent, session, asked }, .. }) = active else {
        return std::future::pending().await;
    };
    let session = session.await;
    Answered { agent: agent.clone(), session, asked: asked.clone() }
}
