//! All the threads and runs, and who may be told what.
use crate::access::Principal;
use crate::agents::{AcpAgents, Agents};
use crate::connection::{NewRun, Unavailable};
use crate::model::{ModelRunStart, ModelThread};
use crate::run::StartError;
use crate::settings::{Limits, Settings, Times, WhenBusy};
use crate::thread::ThreadKey;
use agent_tools::{PageServers, Toolbox};
use agui_bridge::conversation::RunQueue;
use agui_types::capabilities::AgentCapabilities;
use agui_types::input::RunAgentInput;
use agui_types::run_log::RunOutcome;
use chat_model::ChatModel;
use futures::future::join_all;
use run_store::{Lease, Reader, Replica, RunLog};
use run_telemetry::{Span, Telemetry, Timeline};
use semconv_map::trace_context::TraceContext;
use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::oneshot::error::RecvError;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

mod kept;
mod shared;
mod steering;

pub(crate) use shared::Target;
use shared::run_name;

/// Maximum number of runs that wait for the task of a model's thread.
const MAX_STARTS: usize = 64;

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

/// A run: the same id of somebody else is another.
type RunKey = (Principal, String);

/// A run, until a while after its end.
#[derive(Debug)]
struct Kept {
    /// Runs are numbered as they come.
    number: u64,
    /// Whether it was begun here; else this is what is known of it.
    is_ours: bool,
    thread: ThreadKey,
    /// Tells whether a later input of its id is the same.
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

/// A run for which there is no agent yet.
struct Asked {
    input: RunAgentInput,
    log: Arc<RunLog>,
    cancel: CancellationToken,
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
        Some(self.agents.get(agent)?.capabilities(agent, &self.toolbox).await)
    }

    /// Which agents can be reached.
    pub(crate) async fn readiness(&self) -> BTreeMap<&str, bool> {
        let tried =
            self.agents.iter().map(async |(name, agents)| (&**name, agents.is_ready().await));
        join_all(tried).await.into_iter().collect()
    }

    pub(crate) fn telemetry(&self) -> &Telemetry {
        &self.telemetry
    }

    /// Begins a run with this agent or the default one, or follows the run that the same input began. `caller` is the span
    /// of whoever wants it.
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
            // Whoever brings the same answers again gets what came of them.
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

    /// Begins a run in a thread that this gateway has.
    async fn start_here(
        self: &Arc<Self>,
        run: RunKey,
        key: ThreadKey,
        lease: Lease,
        input: RunAgentInput,
        caller: Option<TraceContext>,
    ) -> Result<Reader, StartError> {
        let (log, cancel) = (RunLog::new(&input, self.limits.log()), CancellationToken::new());
        let (crowded_out, shared) = (CancellationToken::new(), CancellationToken::new());
        let (log, reader, record, mut before, forgotten, resumed) = {
            let mut runs = lock(&self.runs);
            let resumed = kept::resumed(&runs, &key, &input);
            let log = Arc::new(match runs.get(&run) {
                Some(other) if other.is_resumed_by(&key, &input) => log.behind(&other.log),
                Some(other) => return other.follow_same(&key, fingerprint(&input)),
                None => log,
            });
            let kept = Kept {
                number: self.number(),
                is_ours: true,
                thread: key.clone(),
                fingerprint: fingerprint(&input),
                log: log.clone(),
                cancel: cancel.clone(),
                forgotten: crowded_out.clone(),
                shared: shared.clone(),
                timeline: None,
                span: None,
            };
            let record = self.record(&kept, &input);
            let reader = log.follow(0)?;
            let forgotten = self.make_room(&mut runs)?;
            (log, reader, record, runs.insert(run.clone(), kept), forgotten, resumed)
        };
        self.forget_everywhere(&forgotten).await;
        let mut span = self.telemetry.run(&key.agent, &key.id, &run.1, caller.as_ref());
        if let (Some(span), Some(resumed)) = (&mut span, &resumed) {
            span.link_resumed(resumed);
        }
        if let Some(kept) = lock(&self.runs).get_mut(&run) {
            kept.timeline = span.as_ref().and_then(Span::timeline);
            kept.span = span.as_ref().and_then(Span::context);
        }
        // A task of its own: the client may go away at any time.
        let (reply, begun) = oneshot::channel();
        let threads = self.clone();
        self.tasks.spawn(async move {
            let name = run_name(&run);
            if let Some(before) = &before {
                before.shared.cancelled().await;
                threads.replicas.forget_run(&name).await;
            }
            let begun = match threads.replicas.begin_run(&name, &record).await {
                Ok(true) => {
                    let context = span.as_ref().and_then(Span::context);
                    let (log, cancel) = (log.clone(), cancel.clone());
                    let asked = Asked { input, log, cancel, span: context };
                    let begun = threads.begin(&key, lease, asked).await;
                    if begun.is_err() {
                        threads.replicas.forget_run(&name).await;
                    }
                    begun
                }
                Ok(false) => Err(StartError::Known),
                Err(error) => Err(error.into()),
            };
            let has_begun = begun.is_ok();
            if !has_begun {
                // Before anybody hears of it: the same may be asked for again at once.
                threads.forget(&run, &log);
                if let Some(before) = before.take() {
                    lock(&threads.runs).entry(run.clone()).or_insert(before);
                }
                log.end();
                if let Some(span) = &mut span {
                    span.set("agui.run.outcome", "refused");
                }
            }
            let _ = reply.send(begun);
            if has_begun {
                if let Some(before) = before {
                    before.forgotten.cancel();
                }
                let share = async {
                    threads.share(&run, &record, &log, &cancel).await;
                    shared.cancel();
                };
                let steer = threads.steer(&key, &run, &log, &cancel);
                let watch = threads.watch(&run, &log, &cancel);
                tokio::join!(share, watch, steer, end(span, &log));
                threads.keep(&crowded_out).await;
                // What others still read when this gateway ends, the store forgets by itself.
                if threads.forget(&run, &log) && !threads.shutdown.is_cancelled() {
                    threads.replicas.forget_run(&name).await;
                }
                threads.drop_log(&key, &run);
            }
        });
        begun.await.map_err(|_| StartError::Ending)?.map(|()| reader)
    }

    async fn begin(
        self: &Arc<Self>,
        key: &ThreadKey,
        lease: Lease,
        asked: Asked,
    ) -> Result<(), StartError> {
        let agents = self.agents.get(&key.agent).ok_or(StartError::Ending)?;
        if self.shutdown.is_cancelled() {
            return Err(StartError::Ending);
        }
        let (reply, begun) = oneshot::channel();
        let Asked { input, log, cancel, span } = asked;
        match agents {
            Agents::Model(model) => {
                let run = ModelRunStart { input, log, cancel, span, reply };
                let sent = self.model_thread(key, lease, model)?.try_send(run);
                sent.map_err(|_| StartError::Overloaded)?;
                match timeout(self.times.queue.0, begun).await {
                    Ok(begun) => self.begun(begun),
                    Err(_) => Err(StartError::Busy),
                }
            }
            Agents::Acp(acp) => {
                let (name, run_id) = (key.name(), input.run_id.clone());
                self.open_thread(key, lease, acp).await?;
                acp.connection.start(&name, NewRun { input, log, span }, reply);
                let cancelled = async {
                    cancel.cancelled().await;
                    acp.connection.cancel(&name, &run_id);
                    std::future::pending::<()>().await;
                };
                tokio::select! {
                    begun = begun => self.begun(begun),
                    () = cancelled => Err(StartError::Ending),
                }
            }
        }
    }

    /// The answer of the thread; none comes when the thread ends before.
    fn begun(&self, begun: Result<Result<(), StartError>, RecvError>) -> Result<(), StartError> {
        match begun {
            Ok(begun) => begun,
            Err(_) if self.shutdown.is_cancelled() => Err(StartError::Ending),
            Err(_) => Err(StartError::Overloaded),
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

    /// Takes the place of a new thread. Returns its name, or `None` if the thread is open under this lease.
    fn enter(
        &self,
        key: &ThreadKey,
        lease: &Lease,
        model: Option<&mpsc::Sender<ModelRunStart>>,
    ) -> Result<Option<String>, StartError> {
        let mut threads = lock(&self.threads);
        if threads.get(key).is_some_and(|thread| thread.is_open(lease)) {
            return Ok(None);
        }
        threads.retain(|_, thread| !thread.has_ended());
        if threads.len() >= self.limits.threads {
            return Err(StartError::Overloaded);
        }
        let name = self.name();
        let entry = Entry { name: name.clone(), lease: lease.clone(), model: model.cloned() };
        threads.insert(key.clone(), entry);
        Ok(Some(name))
    }

    /// Opens the conversation of a thread, unless it is open.
    async fn open_thread(
        self: &Arc<Self>,
        key: &ThreadKey,
        lease: Lease,
        acp: &AcpAgents,
    ) -> Result<(), StartError> {
        let name = key.name();
        let entered = self.enter(key, &lease, None)?;
        if entered.is_none() && acp.connection.has_thread(&name) {
            return Ok(());
        }
        let entry = lock(&self.threads).get(key).map(|entry| entry.name.clone());
        let prefix = format!("{}{INTERRUPT}", entered.or(entry).unwrap_or_default());
        let session = self.replicas.recall(&name).await;
        let session = session.and_then(|session| serde_json::from_str(&session).ok());
        let remembered = watch::Sender::new(session);
        let mut remembers = remembered.subscribe();
        let opened = acp.open_thread(key, prefix, &self.page_servers, remembered)?;
        if opened {
            let (threads, name) = (self.clone(), name);
            self.tasks.spawn(async move {
                while remembers.changed().await.is_ok() {
                    let session = remembers.borrow_and_update().clone();
                    let session = session.and_then(|it| serde_json::to_string(&it).ok());
                    threads.replicas.remember(&name, session.as_deref()).await;
                }
            });
        }
        Ok(())
    }

    /// The thread of a model, new when there is none.
    fn model_thread(
        self: &Arc<Self>,
        key: &ThreadKey,
        lease: Lease,
        model: &Arc<ChatModel>,
    ) -> Result<mpsc::Sender<ModelRunStart>, StartError> {
        let (runs, inbox) = mpsc::channel(MAX_STARTS);
        if self.enter(key, &lease, Some(&runs))?.is_none() {
            let open = lock(&self.threads).get(key).and_then(|entry| entry.model.clone());
            return open.ok_or(StartError::Overloaded);
        }
        let thread = ModelThread {
            model: model.clone(),
            user: key.principal.as_str().to_owned(),
            queue: RunQueue::new(self.when_busy.into(), self.limits.queue),
            idle: self.times.idle.0,
            time: self.times.turn.0,
            telemetry: self.telemetry.clone(),
            shutdown: self.shutdown.clone(),
        };
        let (threads, key) = (self.clone(), key.clone());
        self.tasks.spawn(async move {
            thread.serve(inbox).await;
            threads.release(&key, &lease).await;
        });
        Ok(runs)
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

/// Ends the span of a run with the run.
async fn end(span: Option<Span>, log: &RunLog) {
    let Some(mut span) = span else { return };
    log.ended().await;
    if let Some(outcome) = log.outcome() {
        span.set("agui.run.outcome", outcome.name().to_owned());
        if let RunOutcome::Error(_) = outcome {
            span.fail(outcome.name().to_owned());
        }
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
