//! All threads and runs, and the access of users to them.
use crate::agents::{AcpAgents, Agents};
use crate::chat_socket::SocketLimits;
use crate::fair_queue::{FairLimits, FairQueue};
use crate::hub::Unavailable;
use crate::run::{StartError, request_cancel};
use crate::settings::{Limits, Settings, Times, WhenBusy, shares};
use crate::store::{Reader, Replica, ThreadName};
use crate::telemetry::Telemetry;
use crate::telemetry::trace_context::TraceContext;
use crate::tools::{PageServers, Toolbox};
use agui_bridge::CancelReason;
use agui_types::capabilities::AgentCapabilities;
use agui_types::input::RunAgentInput;
use futures::future::join_all;
use host::http::Principal;
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

mod runs;
mod session_note;
mod shared;
mod starting;
mod steering;
mod table;

use runs::{InputDigest, RunEntry, RunKey, run_name};
use table::ThreadTable;

pub(crate) use shared::Target;
use starting::PostedInput;

/// Separates the number of a thread from the number of a permission request.
const INTERRUPT: &str = "-int-";

/// Places for requests of rendered text, and for searches of files: in total, and of a user.
const REQUESTED_WORK: FairLimits = FairLimits { at_once: 2, of_user: 1 };

/// Longest time that the answer to a cancellation waits for the store.
const CANCEL_TIME: Duration = Duration::from_secs(2);

/// Maximum number of bytes of the id of a thread or a run.
const MAX_ID: usize = 1024;

/// All threads, and their shared parts.
#[derive(Debug)]
pub(crate) struct Threads {
    agents: BTreeMap<String, Agents>,
    default_agent: String,
    page_servers: Arc<PageServers>,
    replicas: Arc<Replica>,
    times: Times,
    limits: Limits,
    /// Shares of the limits, of which a user may fill one.
    shares: usize,
    when_busy: WhenBusy,
    telemetry: Telemetry,
    threads: Mutex<ThreadTable>,
    runs: Mutex<HashMap<RunKey, RunEntry>>,
    renderings: Arc<FairQueue>,
    file_searches: Arc<FairQueue>,
    numbered: AtomicU64,
    shutdown: CancellationToken,
    tasks: TaskTracker,
}

impl Threads {
    pub(crate) fn new(
        agents: BTreeMap<String, Agents>,
        default_agent: String,
        page_servers: Arc<PageServers>,
        replicas: Arc<Replica>,
        settings: &Settings,
        telemetry: Telemetry,
    ) -> Self {
        Self {
            agents,
            default_agent,
            page_servers,
            replicas,
            times: settings.times,
            limits: settings.limits,
            shares: shares(&settings.auth),
            when_busy: settings.when_busy,
            telemetry,
            threads: Mutex::default(),
            runs: Mutex::default(),
            renderings: FairQueue::new(REQUESTED_WORK),
            file_searches: FairQueue::new(REQUESTED_WORK),
            numbered: AtomicU64::new(1),
            shutdown: CancellationToken::new(),
            tasks: TaskTracker::new(),
        }
    }

    pub(crate) fn has_agent(&self, name: &str) -> bool {
        self.agents.contains_key(name)
    }

    /// Returns the servers of page tools.
    pub(crate) fn page_servers(&self) -> &PageServers {
        &self.page_servers
    }

    /// Returns the places for requests of rendered text.
    pub(crate) fn renderings(&self) -> &Arc<FairQueue> {
        &self.renderings
    }

    /// Returns the places for searches of files.
    pub(crate) fn file_searches(&self) -> &Arc<FairQueue> {
        &self.file_searches
    }

    pub(crate) fn toolbox(&self) -> &Toolbox {
        self.page_servers.toolbox()
    }

    /// Returns the limits of chats over a WebSocket.
    pub(crate) fn of_sockets(&self) -> SocketLimits {
        SocketLimits { idle: self.times.idle.0, ending: self.shutdown.clone() }
    }

    /// Returns a number that is unique in this gateway.
    fn number(&self) -> u64 {
        self.numbered.fetch_add(1, Ordering::Relaxed)
    }

    /// Returns a globally unique name.
    pub(crate) fn name(&self) -> String {
        self.replicas.name(self.number())
    }

    /// Returns the capabilities of an agent; `None` for an unknown name.
    pub(crate) async fn capabilities(
        &self,
        agent: &str,
        user: &Principal,
    ) -> Option<Result<AgentCapabilities, Unavailable>> {
        Some(self.agents.get(agent)?.capabilities(agent, user).await)
    }

    /// Returns an agent.
    pub(crate) fn agent(&self, name: &str) -> Option<&Agents> {
        self.agents.get(name)
    }

    /// Returns for each agent whether it can be reached.
    pub(crate) async fn readiness(&self) -> BTreeMap<&str, bool> {
        let tried =
            self.agents.iter().map(async |(name, agents)| (&**name, agents.is_ready().await));
        let tried = join_all(tried).await;
        tried.into_iter().filter_map(|(name, is_ready)| Some((name, is_ready?))).collect()
    }

    /// Returns for each agent that runs or has failed whether it could be reached at last.
    pub(crate) fn last_readiness(&self) -> BTreeMap<&str, bool> {
        let known = self.agents.iter();
        known.filter_map(|(name, agents)| Some((&**name, agents.last_health()?))).collect()
    }

    pub(crate) fn telemetry(&self) -> &Telemetry {
        &self.telemetry
    }

    /// Begins a run with this agent or the default one, or follows the run of a repeated input.
    /// `caller` is the span of the request.
    pub(crate) async fn start(
        self: &Arc<Self>,
        principal: Principal,
        agent: Option<&str>,
        input: RunAgentInput,
        is_forwarded: bool,
        caller: Option<TraceContext>,
    ) -> Result<Reader, StartError> {
        let agent = agent.unwrap_or(&self.default_agent);
        if !self.has_agent(agent) {
            return Err(StartError::UnknownAgent(agent.to_owned()));
        }
        check_id("threadId", input.thread_id.as_str())?;
        check_id("runId", input.run_id.as_str())?;
        let run = (principal.clone(), input.run_id.to_string());
        let key = thread_name(&principal, agent, input.thread_id.as_str());
        let digest = InputDigest::new(&input);
        if let Some(same) = self.follow_same(&run, &key, &input, digest) {
            return same;
        }
        if let Some(same) = self.follow_stored(&run, &key, digest).await? {
            return Ok(same);
        }
        let posted = PostedInput { input, digest, caller };
        match self.start_anywhere(run.clone(), key.clone(), posted, is_forwarded).await {
            // Another gateway has begun the run.
            Err(StartError::Known) => {
                let _log = self.find(&run.0, &run.1).await?;
                let known = lock(&self.runs).get(&run).map(|other| other.follow_same(&key, digest));
                known.unwrap_or(Err(StartError::OtherRun))
            }
            started => started,
        }
    }

    /// Stops a run. Returns `false` if it is not active, otherwise when the store has it, so that
    /// no later process carries the instruction out. A store that does not respond delays the
    /// answer, at most by [`CANCEL_TIME`].
    pub(crate) async fn cancel(&self, principal: &Principal, run_id: &str) -> bool {
        let active = {
            let runs = lock(&self.runs);
            let run = runs.get(&(principal.clone(), run_id.to_owned()));
            let active = run.filter(|run| run.is_ours && !run.log.has_ended());
            active.inspect(|run| request_cancel(&run.cancel, CancelReason::User)).cloned()
        };
        let Some(RunEntry { thread, .. }) = active else { return false };
        if let Some((acp, name)) = self.conversation(&thread) {
            acp.connection.cancel(&name, &run_id.into(), CancelReason::User);
        }
        let name = run_name(&(principal.clone(), run_id.to_owned()));
        let stored = async {
            self.replicas.cancel_run(&name, CancelReason::User.as_str()).await;
            self.write_session(&thread).await;
        };
        if timeout(CANCEL_TIME, stored).await.is_err() {
            tracing::warn!(run = run_id, "a cancelled instruction is not stored as such yet");
        }
        true
    }

    /// Ends all runs and the agents.
    pub(crate) async fn shut_down(&self) {
        self.shutdown.cancel();
        join_all(self.agents.values().map(Agents::shut_down)).await;
        self.tasks.close();
        self.tasks.wait().await;
    }

    /// Releases threads that the connections of agents have removed, until the connections end.
    pub(crate) async fn release_removed(self: Arc<Self>, mut removed: UnboundedReceiver<String>) {
        while let Some(name) = removed.recv().await {
            let Some(key) = ThreadName::of_text(&name) else { continue };
            if self.conversation(&key).is_some_and(|(acp, name)| acp.connection.has_thread(&name)) {
                continue;
            }
            let entry = lock(&self.threads).remove(&key);
            if let Some(entry) = entry {
                self.release(&key, &entry.lease).await;
            }
        }
    }

    /// Returns the ACP agent with this name.
    fn acp(&self, agent: &str) -> Option<&AcpAgents> {
        match self.agents.get(agent)? {
            Agents::Acp(acp) => Some(acp),
            Agents::Model(_) => None,
        }
    }
}

fn check_id(name: &'static str, id: &str) -> Result<(), StartError> {
    if id.len() > MAX_ID {
        return Err(StartError::LongId { name, limit: MAX_ID, length: id.len() });
    }
    Ok(())
}

/// Returns the name of a thread of a user.
fn thread_name(principal: &Principal, agent: &str, thread: &str) -> ThreadName {
    let user = principal.as_str().to_owned();
    let agent = agent.to_owned();
    let id = thread.to_owned();
    ThreadName { user, agent, id }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
