//! All the threads and runs, and who may be told what.
use crate::agent::Trouble;
use crate::agents::Agents;
use crate::model_thread::ModelThread;
use crate::settings::{Limits, Settings, Times, WhenBusy};
use crate::site::Principal;
use crate::thread::{Command, PageCalls, Remembered, Rules, Run, StartError, Thread};
use acp_types::v1::initialization::InitializeResponse;
use acp_types::v1::session_config_options::{SessionConfigId, SessionConfigOptionValue};
use acp_types::v1::session_modes::SessionModeId;
use agent_tools::{PageServers, Toolbox};
use agui_bridge::Failure;
use agui_bridge::quirks::Quirks;
use agui_types::capabilities::AgentCapabilities;
use agui_types::input::RunAgentInput;
use agui_types::run_log::RunOutcome;
use futures::FutureExt;
use futures::future::join_all;
use run_store::{Lease, Reader, Replica, RunLog};
use run_telemetry::{Span, Telemetry, Timeline};
use semconv_map::trace_context::TraceContext;
use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

mod kept;
mod shared;
mod steering;

pub(crate) use shared::Target;
use shared::run_name;

/// The most commands that may wait for a thread.
const MAX_COMMANDS: usize = 64;

/// Stands between the number of a thread and that of a permission request in it.
const INTERRUPT: &str = "-int-";

#[derive(Debug)]
struct Entry {
    name: String,
    lease: Lease,
    commands: mpsc::Sender<Command>,
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

/// What is to be set in an agent's session.
pub(crate) enum Setting {
    Mode(SessionModeId),
    ConfigOption(SessionConfigId, SessionConfigOptionValue),
}

/// A thread: the same id of somebody else, or with another agent, is another.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct ThreadKey {
    principal: Principal,
    agent: String,
    id: String,
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
    ) -> Option<Result<AgentCapabilities, Trouble>> {
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
                tokio::join!(share, threads.watch(&run, &log, &cancel), end(span, &log));
                threads.keep(&crowded_out).await;
                // What others still read when this gateway ends, the store forgets by itself.
                if threads.forget(&run, &log) && !threads.shutdown.is_cancelled() {
                    threads.replicas.forget_run(&name).await;
                }
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
        let Asked { input, log, cancel, span } = asked;
        let agents = self.agents.get(&key.agent).ok_or(StartError::Ending)?;
        let agent = match agents {
            Agents::Model(_) => None,
            Agents::Acp(agents) => Some(tokio::select! {
                biased;
                () = self.shutdown.cancelled() => return Err(StartError::Ending),
                () = cancel.cancelled() => {
                    Err(Trouble::Failed(Failure::AgentUnavailable, "not waited for".to_owned()))
                }
                agent = agents.pool.agent() => agent,
            }),
        };
        let connected = agent.as_ref().and_then(|agent| agent.as_ref().ok()).cloned();
        let run = Box::new(Run { input, agent, log, cancel, span });
        let (reply, begun) = oneshot::channel();
        let is_open = lock(&self.threads).get(key).is_some_and(|thread| thread.is_open(&lease));
        let remembered = match agents {
            Agents::Acp(_) if !is_open => {
                let session = self.replicas.recall(&key.name()).await;
                session.and_then(|session| serde_json::from_str(&session).ok())
            }
            _ => None,
        };
        let info = connected.as_ref().map(|agent| &agent.info);
        self.thread(key, lease, agents, info, remembered)?
            .try_send(Command::Run(run, reply))
            .map_err(|_| StartError::Overloaded)?;
        match timeout(self.times.queue.0, begun).await {
            Ok(Ok(begun)) => begun,
            Ok(Err(_)) if self.shutdown.is_cancelled() => Err(StartError::Ending),
            Ok(Err(_)) => Err(StartError::Overloaded),
            Err(_) => Err(StartError::Busy),
        }
    }

    /// Stops a run; `false` when no such run is going on.
    pub(crate) fn cancel(&self, principal: &Principal, run_id: &str) -> bool {
        let runs = lock(&self.runs);
        let run = runs.get(&(principal.clone(), run_id.to_owned()));
        let going_on = run.filter(|kept| kept.is_ours && !kept.log.has_ended());
        going_on.inspect(|kept| kept.cancel.cancel()).is_some()
    }

    /// Ends all runs, then the agents.
    pub(crate) async fn shut_down(&self) {
        self.shutdown.cancel();
        self.tasks.close();
        self.tasks.wait().await;
        join_all(self.agents.values().map(Agents::shut_down)).await;
    }

    /// The thread of this key, new when there is none.
    fn thread(
        self: &Arc<Self>,
        key: &ThreadKey,
        lease: Lease,
        agents: &Agents,
        info: Option<&InitializeResponse>,
        remembered: Option<Remembered>,
    ) -> Result<mpsc::Sender<Command>, StartError> {
        let mut threads = lock(&self.threads);
        if let Some(thread) = threads.get(key).filter(|thread| thread.is_open(&lease)) {
            return Ok(thread.commands.clone());
        }
        threads.retain(|_, thread| !thread.commands.is_closed());
        if threads.len() >= self.limits.threads {
            return Err(StartError::Overloaded);
        }
        let name = self.name();
        let (commands, inbox) = mpsc::channel(MAX_COMMANDS);
        let rules = Rules {
            cancel_grace: self.times.cancel_grace.0,
            when_busy: self.when_busy,
            queue: self.limits.queue,
            // A question ends before its thread does.
            idle: self.times.idle.0.max(self.times.question.0 + self.times.cancel_grace.0),
        };
        let shutdown = self.shutdown.clone();
        let remembered = watch::Sender::new(remembered);
        let mut remembers = remembered.subscribe();
        let serving = match agents {
            Agents::Acp(agents) => {
                let mut options = agents.options.clone();
                options.interrupt_prefix = format!("{name}{INTERRUPT}");
                if let Some(info) = info {
                    Quirks::of(info.agent_info.as_ref()).apply_to(&mut options);
                }
                let (binding, own) = (agents.page_tools, agents.own_tools);
                let (user, servers) = (key.principal.clone(), self.page_servers.clone());
                let page = PageCalls::new(binding, own, user, servers);
                let (cwd, input) = (agents.cwd.clone(), agents.input.clone());
                let thread = Thread::new(options, cwd, rules, input, page, remembered);
                thread.serve(inbox, shutdown).boxed()
            }
            Agents::Model(model) => {
                let time = self.times.turn.0;
                let (model, principal) = (model.clone(), key.principal.clone());
                let told = self.telemetry.clone();
                let thread = ModelThread::new(model, principal, rules, time, told, shutdown);
                thread.serve(inbox).boxed()
            }
        };
        let entry = Entry { name, lease: lease.clone(), commands: commands.clone() };
        threads.insert(key.clone(), entry);
        let (threads, key) = (self.clone(), key.clone());
        self.tasks.spawn(async move {
            let remember = async {
                while remembers.changed().await.is_ok() {
                    let session = remembers.borrow_and_update().clone();
                    let session = session.and_then(|it| serde_json::to_string(&it).ok());
                    threads.replicas.remember(&key.name(), session.as_deref()).await;
                }
            };
            tokio::join!(serving, remember);
            threads.release(&key, &lease).await;
        });
        Ok(commands)
    }
}

impl Entry {
    /// Whether the thread goes on under this lease.
    fn is_open(&self, lease: &Lease) -> bool {
        self.lease == *lease && !self.commands.is_closed()
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
