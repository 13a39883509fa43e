//! All threads and runs, and the access of users to them.
use crate::access::Principal;
use crate::agents::{AcpAgents, Agents};
use crate::model::ModelRunStart;
use crate::run::StartError;
use crate::settings::{Limits, Settings, Times, WhenBusy};
use crate::thread::ThreadKey;
use agent_tools::{PageServers, Toolbox};
use agui_types::capabilities::AgentCapabilities;
use agui_types::input::RunAgentInput;
use agui_types::run_log::RunOutcome;
use futures::future::join_all;
use hub_server::Unavailable;
use run_store::{Lease, Reader, Replica, RunLog};
use run_telemetry::trace_context::TraceContext;
use run_telemetry::{Telemetry, Timeline};
use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::mpsc;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

mod kept;
mod shared;
mod starting;
mod steering;

pub(crate) use shared::Target;

/// Stands between the number of a thread and that of a permission request in it.
const INTERRUPT: &str = "-int-";

#[derive(Debug)]
struct Entry {
    name: String,
    lease: Lease,
    /// Takes runs of a model's thread.
    model: Option<mpsc::Sender<ModelRunStart>>,
}

/// What all threads have in common, and the threads.
#[derive(Debug)]
pub(crate) struct Threads {
    agents: BTreeMap<String, Agents>,
    default_agent: String,
    toolbox: Arc<Toolbox>,
    page_servers: Arc<PageServers>,
    replicas: Arc<Replica>,
    times: Times,
    limits: Limits,
    when_busy: WhenBusy,
    telemetry: Telemetry,
    threads: Mutex<HashMap<ThreadKey, Entry>>,
    runs: Mutex<HashMap<RunKey, Kept>>,
    numbered: AtomicU64,
    shutdown: CancellationToken,
    tasks: TaskTracker,
}

/// A run: the same id of another user names another run.
type RunKey = (Principal, String);

/// A run, until a while after its end.
#[derive(Clone, Debug)]
struct Kept {
    /// Runs are numbered as they come.
    number: u64,
    /// Whether it was begun here; else this is what is known of it.
    is_ours: bool,
    thread: ThreadKey,
    /// Hash of the input, which a later input of the same id is compared with.
    fingerprint: u64,
    log: Arc<RunLog>,
    cancel: CancellationToken,
    /// Says that there is no room for it any more.
    forgotten: CancellationToken,
    /// Says that others have all of it.
    shared: CancellationToken,
    /// Its spans, where they are wanted and it was begun here.
    timeline: Option<Arc<Timeline>>,
    /// Its own span, likewise.
    span: Option<TraceContext>,
}

impl Threads {
    pub(crate) fn new(
        agents: BTreeMap<String, Agents>,
        default_agent: String,
        toolbox: Arc<Toolbox>,
        page_servers: Arc<PageServers>,
        replicas: Arc<Replica>,
        settings: &Settings,
        telemetry: Telemetry,
    ) -> Self {
        Self {
            agents,
            default_agent,
            toolbox,
            page_servers,
            replicas,
            times: settings.times,
            limits: settings.limits,
            when_busy: settings.when_busy,
            telemetry,
            threads: Mutex::default(),
            runs: Mutex::default(),
            numbered: AtomicU64::new(1),
            shutdown: CancellationToken::new(),
            tasks: TaskTracker::new(),
        }
    }

    /// The agents' names, the default one first.
    pub(crate) fn agents(&self) -> impl Iterator<Item = &str> {
        let others = self.agents.keys().filter(|name| **name != self.default_agent);
        std::iter::once(&self.default_agent).chain(others).map(String::as_str)
    }

    /// The servers of the page's tools.
    pub(crate) fn page_servers(&self) -> &PageServers {
        &self.page_servers
    }

    pub(crate) fn toolbox(&self) -> &Toolbox {
        &self.toolbox
    }

    /// A number that nothing else has here.
    fn number(&self) -> u64 {
        self.numbered.fetch_add(1, Ordering::Relaxed)
    }

    /// A name that nothing else has.
    pub(crate) fn name(&self) -> String {
        self.replicas.name(self.number())
    }

    /// What an agent can do; nothing for one that is not there.
    pub(crate) async fn capabilities(
        &self,
        agent: &str,
    ) -> Option<Result<AgentCapabilities, Unavailable>> {
        Some(self.agents.get(agent)?.capabilities(agent).await)
    }

    /// Which agents can be reached.
    pub(crate) async fn readiness(&self) -> BTreeMap<&str, bool> {
        let tried =
            self.agents.iter().map(async |(name, agents)| (&**name, agents.is_ready().await));
        join_all(tried).await.into_iter().collect()
    }

    /// The agents that have refused a session because of a missing login.
    pub(crate) fn needing_login(&self) -> Vec<&str> {
        let needs = |it: &Agents| matches!(it, Agents::Acp(acp) if acp.connection.needs_login());
        self.agents.iter().filter(|(_, it)| needs(it)).map(|(name, _)| &**name).collect()
    }

    pub(crate) fn telemetry(&self) -> &Telemetry {
        &self.telemetry
    }

    /// Begins a run with this agent or the default one, or follows the run that the same input began. `caller` is the span
    /// of the request.
    pub(crate) async fn start(
        self: &Arc<Self>,
        principal: Principal,
        agent: Option<&str>,
        input: RunAgentInput,
        is_forwarded: bool,
        caller: Option<TraceContext>,
    ) -> Result<Reader, StartError> {
        let agent = agent.unwrap_or(&self.default_agent);
        if !self.agents.contains_key(agent) {
            return Err(StartError::UnknownAgent(agent.to_owned()));
        }
        let run = (principal.clone(), input.run_id.to_string());
        let key = ThreadKey { principal, agent: agent.to_owned(), id: input.thread_id.to_string() };
        if let Some(same) = self.follow_same(&run, &key, &input) {
            return same;
        }
        let started =
            self.start_anywhere(run.clone(), key.clone(), input.clone(), is_forwarded, caller);
        match started.await {
            // A repeated request with the same answers gets the run that they resumed.
            Err(StartError::Resumed(other)) => match self.find(&run.0, &other).await? {
                Some(log) => Ok(log.follow(0)?),
                None => Err(StartError::Resumed(other)),
            },
            // It was begun elsewhere.
            Err(StartError::Known) => {
                let _log = self.find(&run.0, &run.1).await?;
                let known = lock(&self.runs)
                    .get(&run)
                    .map(|other| other.follow_same(&key, fingerprint(&input)));
                known.unwrap_or(Err(StartError::OtherRun))
            }
            started => started,
        }
    }

    /// Stops a run; `false` when no such run is going on.
    pub(crate) fn cancel(&self, principal: &Principal, run_id: &str) -> bool {
        let runs = lock(&self.runs);
        let run = runs.get(&(principal.clone(), run_id.to_owned()));
        let going_on = run.filter(|kept| kept.is_ours && !kept.log.has_ended());
        going_on.inspect(|kept| kept.cancel.cancel()).is_some()
    }

    /// Ends all runs and the agents.
    pub(crate) async fn shut_down(&self) {
        self.shutdown.cancel();
        join_all(self.agents.values().map(Agents::shut_down)).await;
        self.tasks.close();
        self.tasks.wait().await;
    }

    /// Releases threads that the connections of agents have removed, until those end.
    pub(crate) async fn release_removed(self: Arc<Self>, mut removed: UnboundedReceiver<String>) {
        while let Some(name) = removed.recv().await {
            let Some(key) = ThreadKey::of_name(&name) else { continue };
            if self.acp(&key.agent).is_some_and(|acp| acp.connection.has_thread(&name)) {
                continue;
            }
            let entry = lock(&self.threads).remove(&key);
            if let Some(entry) = entry {
                self.release(&key, &entry.lease).await;
            }
        }
    }

    /// The ACP agent of this name.
    fn acp(&self, agent: &str) -> Option<&AcpAgents> {
        match self.agents.get(agent)? {
            Agents::Acp(acp) => Some(acp),
            Agents::Model(_) => None,
        }
    }
}

impl Entry {
    /// Whether the thread is open under this lease.
    fn is_open(&self, lease: &Lease) -> bool {
        self.lease == *lease && !self.has_ended()
    }

    /// Whether the task of a model's thread has ended.
    fn has_ended(&self) -> bool {
        self.model.as_ref().is_some_and(mpsc::Sender::is_closed)
    }
}

impl Kept {
    /// Returns what is kept of a run that begins here.
    fn new(number: u64, thread: ThreadKey, fingerprint: u64, log: Arc<RunLog>) -> Self {
        Self {
            number,
            is_ours: true,
            thread,
            fingerprint,
            log,
            cancel: CancellationToken::new(),
            forgotten: CancellationToken::new(),
            shared: CancellationToken::new(),
            timeline: None,
            span: None,
        }
    }

    /// Follows it, if it is what the same input has begun.
    fn follow_same(&self, thread: &ThreadKey, fingerprint: u64) -> Result<Reader, StartError> {
        if self.thread != *thread || self.fingerprint != fingerprint {
            return Err(StartError::OtherRun);
        }
        Ok(self.log.follow(0)?)
    }

    /// Whether an input of its id goes on with it: some clients, as CopilotKit, resume an interrupted run under its own id.
    fn is_resumed_by(&self, thread: &ThreadKey, input: &RunAgentInput) -> bool {
        let interrupted =
            self.log.outcome().is_some_and(|outcome| outcome == RunOutcome::Interrupt);
        let answers = input.resume.as_ref().is_some_and(|answers| !answers.is_empty());
        interrupted && answers && self.thread == *thread && self.fingerprint != fingerprint(input)
    }
}

/// The same for the same input.
fn fingerprint(input: &RunAgentInput) -> u64 {
    let mut hasher = DefaultHasher::new();
    serde_json::to_vec(input).unwrap_or_default().hash(&mut hasher);
    hasher.finish()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
