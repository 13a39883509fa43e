//! Waiting for turns that an agent begins without a prompt.
use crate::hub::AgentConnection;
use agui_bridge::conversation::Conversation;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{sleep, timeout};

/// Maximum number of callers that wait in one thread.
const MAX_WAITING: usize = 32;

/// Time that [`AgentConnection::activity`] waits, shorter than the time limits of common proxies.
pub const ACTIVITY_WAIT: Duration = Duration::from_secs(25);

/// Too many callers wait for the agent in this thread.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("{MAX_WAITING} requests wait for the agent in this thread already")]
pub struct TooManyWaiting;

impl AgentConnection {
    /// Waits until the agent works in a thread outside of a run, which a run with
    /// `forwardedProps.acp.follow` then shows. Returns `false` if it does not within
    /// [`ACTIVITY_WAIT`].
    pub async fn activity(&self, thread: &str) -> Result<bool, TooManyWaiting> {
        let activity = self.shared.lock().threads.get(thread).map(|it| it.activity.clone());
        let Some(activity) = activity else {
            sleep(ACTIVITY_WAIT).await;
            return Ok(false);
        };
        // One reference is that of the thread, another one is this.
        if Arc::strong_count(&activity) > MAX_WAITING + 1 {
            return Err(TooManyWaiting);
        }
        let begun = activity.notified();
        let mut begun = std::pin::pin!(begun);
        begun.as_mut().enable();
        let is_active =
            self.shared.lock().hub.conversation(thread).is_some_and(Conversation::has_activity);
        Ok(is_active || timeout(ACTIVITY_WAIT, begun).await.is_ok())
    }
}
