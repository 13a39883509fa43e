//! The connections to one agent: one that all users share, or one for each user.
use crate::hub::{AgentConnection, AgentSetup, Unavailable, capabilities};
use agui_bridge::Failure;
use agui_bridge::conversation::ConversationOptions;
use agui_bridge::hub::HubOptions;
use agui_types::capabilities::AgentCapabilities;
use host::files::Root;
use host::workspace::FsAccess;
use serde::{Deserialize, Serialize};
use space::Space;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::{Notify, mpsc};
use tokio::time::{Instant, MissedTickBehavior, interval};

mod space;

pub use space::{SpaceError, UserSettings, UserSpaces, base};

/// Maximum interval at which idle agents are looked for.
const SWEEP: Duration = Duration::from_secs(5);

/// Users that share the process of an agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Isolation {
    /// All users share one process.
    #[default]
    Shared,
    /// Each user has a process.
    User,
}

/// The connection of a user, and the options of its conversations.
#[derive(Debug)]
pub struct UserAgent {
    /// The connection.
    pub connection: Arc<AgentConnection>,
    /// The options of its conversations.
    pub conversation: ConversationOptions,
    /// The directory of the files that it may read.
    pub root: Option<Arc<Root>>,
}

/// No agent can be started for a user.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoAgent {
    /// All processes of the agent are at work for other users.
    #[error(
        "the agent is at work for {0} other users, which is the limit; try again when one has ended"
    )]
    Full(usize),
    /// The space of the user cannot be prepared.
    #[error("the agent cannot be started for this user: {0}")]
    Space(String),
    /// The program is ending.
    #[error("the agents are ending")]
    Ending,
}

impl From<NoAgent> for Unavailable {
    fn from(error: NoAgent) -> Self {
        Self(Failure::AgentUnavailable, error.to_string())
    }
}

/// The connections to one agent: one that all users share, or one for each user.
///
/// The connection of a user is created when it is needed, and ended after [`HubOptions::idle`]
/// without use. If there are too many, the one that was idle for the longest time is ended in
/// favour of a new one.
#[derive(Debug)]
pub struct UserAgents {
    setup: AgentSetup,
    options: HubOptions,
    /// The spaces of users; `None` if they share the agent.
    spaces: Option<UserSpaces>,
    /// Maximum number of connections.
    limit: usize,
    /// Receives the names of threads that have ended.
    removed: mpsc::UnboundedSender<String>,
    state: Mutex<State>,
    /// Signals the end of a connection.
    ended: Notify,
}

#[derive(Debug, Default)]
struct State {
    users: BTreeMap<String, Entry>,
    /// Number of connections that are ending.
    ending: usize,
    is_closed: bool,
}

#[derive(Debug)]
struct Entry {
    agent: Arc<UserAgent>,
    used: Instant,
}

impl Entry {
    /// Returns whether no request and no run uses the agent.
    fn is_idle(&self) -> bool {
        Arc::strong_count(&self.agent) == 1 && !self.agent.connection.is_at_work()
    }
}

impl UserAgents {
    /// Creates the connections to an agent: one for all users, or with `spaces` one for each of at
    /// most `limit` users. `removed` receives the names of threads that ended without a request.
    pub fn new(
        setup: AgentSetup,
        options: HubOptions,
        spaces: Option<UserSpaces>,
        limit: usize,
        removed: mpsc::UnboundedSender<String>,
    ) -> Arc<Self> {
        let state = Mutex::default();
        let ended = Notify::new();
        let idle = options.idle;
        let agents = Self { setup, options, spaces, limit, removed, state, ended };
        let is_shared = agents.spaces.is_none();
        let agents = Arc::new(agents);
        if is_shared {
            let agent = agents.connect(agents.setup.clone(), agents.options.clone());
            let entry = Entry { agent, used: Instant::now() };
            agents.state().users.insert(String::new(), entry);
        } else {
            tokio::spawn(sweep(Arc::downgrade(&agents), idle));
        }
        agents
    }

    /// Returns the agent of a user, if it has been opened.
    pub fn find(&self, user: &str) -> Option<Arc<UserAgent>> {
        Some(self.state().users.get(self.key(user))?.agent.clone())
    }

    /// Returns the agent of a user. Opens it if it is not open, which may end the agent of another
    /// user that is idle. It is not ended while the result is kept.
    ///
    /// # Errors
    /// See [`NoAgent`].
    pub async fn open(self: &Arc<Self>, user: &str) -> Result<Arc<UserAgent>, NoAgent> {
        loop {
            // Created before the check, so that an end in between is noticed.
            let ended = self.ended.notified();
            {
                let mut state = self.state();
                let State { users, ending, is_closed } = &mut *state;
                if *is_closed {
                    return Err(NoAgent::Ending);
                }
                if let Some(entry) = users.get_mut(self.key(user)) {
                    entry.used = Instant::now();
                    return Ok(entry.agent.clone());
                }
                if users.len() + *ending < self.limit {
                    let agent = self.create(user)?;
                    let entry = Entry { agent: agent.clone(), used: Instant::now() };
                    users.insert(user.to_owned(), entry);
                    return Ok(agent);
                }
                if *ending == 0 {
                    let idle = users.iter().filter(|(_, entry)| entry.is_idle());
                    let oldest = idle.min_by_key(|(_, entry)| entry.used);
                    let oldest = oldest.map(|(user, _)| user.clone());
                    let oldest = oldest.ok_or(NoAgent::Full(users.len()))?;
                    self.end(&mut state, &oldest);
                }
            }
            ended.await;
        }
    }

    /// Returns the capabilities of the agent with this name. Connects to the agent of the user.
    ///
    /// # Errors
    /// The agent cannot be started.
    pub async fn capabilities(
        self: &Arc<Self>,
        name: &str,
        user: &str,
    ) -> Result<AgentCapabilities, Unavailable> {
        let agent = self.open(user).await?;
        let info = agent.connection.initialized().await?;
        Ok(capabilities(name, &info.response.value, &agent.conversation))
    }

    /// Returns whether users share the agent, and it can be reached; `None` if it is not probed.
    pub async fn is_ready(&self) -> Option<bool> {
        self.shared()?.is_ready().await
    }

    /// Returns the last known health of a shared agent, without an effect on it.
    pub fn last_health(&self) -> Option<bool> {
        self.shared()?.last_health()
    }

    /// Returns the connection that all users share, if they do.
    pub fn shared(&self) -> Option<Arc<AgentConnection>> {
        if self.spaces.is_some() {
            return None;
        }
        Some(self.find("")?.connection.clone())
    }

    /// Ends all runs, then the agents.
    pub async fn shut_down(&self) {
        let users = {
            let mut state = self.state();
            state.is_closed = true;
            std::mem::take(&mut state.users)
        };
        let ending = users.values().map(|entry| entry.agent.connection.shut_down());
        futures::future::join_all(ending).await;
        loop {
            let ended = self.ended.notified();
            if self.state().ending == 0 {
                return;
            }
            ended.await;
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the key of a user: one for all that share the agent.
    fn key<'a>(&self, user: &'a str) -> &'a str {
        if self.spaces.is_some() { user } else { "" }
    }

    /// Creates the agent of a user in the user's space.
    fn create(&self, user: &str) -> Result<Arc<UserAgent>, NoAgent> {
        let mut setup = self.setup.clone();
        let mut options = self.options.clone();
        if let Some(spaces) = &self.spaces {
            let space = Space::open(spaces, user).map_err(|error| {
                tracing::error!(user, %error, "the space of a user cannot be prepared");
                // The error may name a directory of this machine.
                NoAgent::Space("ask the operator to read the log".to_owned())
            })?;
            space.apply(&mut setup, &mut options.conversation);
        }
        Ok(self.connect(setup, options))
    }

    fn connect(&self, setup: AgentSetup, options: HubOptions) -> Arc<UserAgent> {
        let conversation = options.conversation.clone();
        let access = setup.access.as_ref().filter(|access| access.fs != FsAccess::Off);
        let root = access.map(|access| access.root.clone());
        let connection = Arc::new(AgentConnection::new(setup, options, self.removed.clone()));
        Arc::new(UserAgent { connection, conversation, root })
    }

    /// Ends the agent of a user, and its threads.
    fn end(self: &Arc<Self>, state: &mut State, user: &str) {
        let Some(Entry { agent, .. }) = state.users.remove(user) else { return };
        state.ending += 1;
        let agents = self.clone();
        tokio::spawn(async move {
            let threads = agent.connection.threads();
            agent.connection.shut_down().await;
            for thread in threads {
                // The program is ending if there is no receiver.
                let _ = agents.removed.send(thread);
            }
            agents.state().ending -= 1;
            agents.ended.notify_waiters();
        });
    }

    /// Ends the agents that were not used for this time.
    fn end_idle(self: &Arc<Self>, idle: Duration) {
        let mut state = self.state();
        let now = Instant::now();
        let mut over = Vec::new();
        for (user, entry) in &mut state.users {
            if !entry.is_idle() {
                entry.used = now;
            } else if now.saturating_duration_since(entry.used) >= idle {
                over.push(user.clone());
            }
        }
        for user in over {
            tracing::info!(user, "the agent of a user is idle; ending it");
            self.end(&mut state, &user);
        }
    }
}

impl AgentConnection {
    /// Returns whether the agent has runs or calls, or is starting or ending.
    fn is_at_work(&self) -> bool {
        let state = self.shared.lock();
        let is_starting = state.hub.is_connected() && !state.is_open;
        let has_calls = !(state.waiting.is_empty() && state.calls.is_empty());
        let has_runs = state.threads.values().any(|thread| !thread.runs.is_empty());
        is_starting || state.is_ending() || has_calls || has_runs
    }

    /// Returns the names of its threads.
    fn threads(&self) -> Vec<String> {
        self.shared.lock().threads.keys().cloned().collect()
    }
}

/// Ends idle agents, until the agents are dropped.
async fn sweep(agents: Weak<UserAgents>, idle: Duration) {
    let mut ticks = interval((idle / 4).clamp(Duration::from_millis(50), SWEEP));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let Some(agents) = agents.upgrade() else { return };
        agents.end_idle(idle);
    }
}

#[cfg(test)]
mod tests;
