//! The beginning of a run in a thread that this gateway owns.
use super::session_note::SessionNote;
use super::table::ThreadEntry;
use super::{
    INTERRUPT, InputDigest, RunEntry, RunKey, Threads, check_id, lock, run_name, runs, thread_name,
};
use crate::agents::{AcpAgents, Agents, ThreadIds};
use crate::hub::{NewRun, RunStart, UserAgent};
use crate::model::ChatModel;
use crate::model_thread::{ModelRunStart, ModelThread};
use crate::run::{Cancel, StartError, all_cancelled};
use crate::store::{Lease, Reader, RunLog, RunRecord, ThreadName};
use crate::telemetry::Span;
use crate::telemetry::trace_context::TraceContext;
use agui_bridge::conversation::{RememberedSession, RunQueue, RunRequest, SessionSettings};
use agui_bridge::hub::HubRefused;
use agui_bridge::input::branch_of;
use agui_types::input::RunAgentInput;
use agui_types::run_log::RunOutcome;
use agui_types::tool::Tool;
use host::http::Principal;
use mcp_bridge_http::random_id;
use std::sync::Arc;
use tokio::sync::oneshot::error::RecvError;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// Length of the random part of message ids.
const ID_SCOPE: usize = 8;

/// Maximum number of runs that wait for the task of a model's thread.
const MAX_STARTS: usize = 64;

/// The input of a run, as a client has sent it.
pub(super) struct PostedInput {
    pub(super) input: RunAgentInput,
    pub(super) digest: InputDigest,
    /// The span of the request.
    pub(super) caller: Option<TraceContext>,
}

/// A run that has its place among the others.
struct Registration {
    entry: RunEntry,
    /// The reader of the request.
    reader: Reader,
    record: RunRecord,
    /// The interrupted run with the same id, which this one resumes.
    before: Option<RunEntry>,
    /// Runs that were removed to make room.
    forgotten: Vec<RunKey>,
    /// The span of the interrupted run that this one resumes.
    resumed: Option<TraceContext>,
    /// What ends the storing of each open run of the thread.
    open: Vec<CancellationToken>,
}

/// A run before its agent is known.
struct RunCandidate {
    name: String,
    input: RunAgentInput,
    /// The open runs of the thread before it.
    before: Vec<CancellationToken>,
    log: Arc<RunLog>,
    cancel: Cancel,
    span: Option<TraceContext>,
}

impl Threads {
    /// Begins a run in a thread of this gateway.
    pub(super) async fn start_here(
        self: &Arc<Self>,
        run: RunKey,
        key: ThreadName,
        lease: Lease,
        posted: PostedInput,
    ) -> Result<Reader, StartError> {
        let PostedInput { input, digest, caller } = posted;
        let log = RunLog::new(&input, self.limits.log()).with_held_end();
        let Registration { entry, reader, mut record, mut before, forgotten, resumed, open } = {
            let mut runs = lock(&self.runs);
            let open = runs::open(&runs, &key);
            let resumed = runs::resumed(&runs, &key, &input);
            let log = Arc::new(match runs.get(&run) {
                Some(other) if other.is_resumed_by(&key, &input, digest) => log.behind(&other.log),
                Some(other) => return other.follow_same(&key, digest),
                None => log,
            });
            let entry = RunEntry::new(self.number(), key.clone(), digest, log);
            let record = self.record(&entry, &input);
            let reader = entry.log.follow(0)?;
            let forgotten = self.make_room(&mut runs, &run.0)?;
            let before = runs.insert(run.clone(), entry.clone());
            Registration { entry, reader, record, before, forgotten, resumed, open }
        };
        let RunEntry { log, cancel, forgotten: crowded_out, stored, .. } = entry.clone();
        self.retire(&forgotten).await;
        let mut span = self.telemetry.run(&key.agent, &key.id, &run.1, caller.as_ref());
        if let (Some(span), Some(resumed)) = (&mut span, &resumed) {
            span.link_resumed(resumed);
        }
        if let Some(entry) = lock(&self.runs).get_mut(&run) {
            entry.timeline = span.as_ref().and_then(Span::timeline);
            entry.span = span.as_ref().and_then(Span::context);
        }
        let principal = run.0.clone();
        // A separate task, since the client may disconnect at any time.
        let (reply, begun) = oneshot::channel();
        let threads = self.clone();
        // It may leave while the run waits, too.
        let watch = {
            let threads = self.clone();
            let run = run.clone();
            let log = log.clone();
            let cancel = cancel.clone();
            async move { threads.watch(&run, &log, &cancel).await }
        };
        let serve = async move {
            let name = run_name(&run);
            if let Some(before) = &before {
                before.stored.cancelled().await;
                threads.replicas.forget_run(&name).await;
            }
            let begun = match threads.replicas.begin_run(&name, &record).await {
                Ok(true) => {
                    // The log has the conversation, too.
                    record.input.messages = Vec::new();
                    record.input.state = None;
                    let context = span.as_ref().and_then(Span::context);
                    let log = log.clone();
                    let cancel = cancel.clone();
                    let run = name.clone();
                    let before = open.clone();
                    let candidate =
                        RunCandidate { name: run, input, before, log, cancel, span: context };
                    let begun = threads.begin(&key, lease, candidate).await;
                    if !matches!(begun, Ok(RunStart::Begun)) {
                        threads.replicas.forget_run(&name).await;
                    }
                    begun
                }
                Ok(false) => Err(StartError::Known),
                Err(error) => Err(error.into()),
            };
            let has_begun = matches!(begun, Ok(RunStart::Begun));
            if !has_begun {
                // Recorded before the reply, since the client may repeat the request at once.
                threads.forget(&run, &log);
                stored.cancel();
                if let Some(before) = before.take() {
                    lock(&threads.runs).entry(run.clone()).or_insert(before);
                }
                log.end();
                if let Some(span) = &mut span {
                    let outcome = if begun.is_ok() { "repeated" } else { "refused" };
                    span.set("agui.run.outcome", outcome);
                }
            }
            let _ = reply.send(begun);
            if has_begun {
                if let Some(before) = before {
                    before.forgotten.cancel();
                }
                let share = async {
                    all_cancelled(open).await;
                    threads.share(&run, &record, &entry).await;
                    stored.cancel();
                };
                let steer = threads.steer(&key, &run, &log, &cancel);
                tokio::join!(share, steer, end(span, &log));
                drop(record);
                threads.keep(&crowded_out).await;
                // At the end of this gateway, records that others read expire in the store.
                if threads.forget(&run, &log) && !threads.shutdown.is_cancelled() {
                    threads.replicas.retire_run(&name).await;
                }
            }
        };
        self.tasks.spawn(async move { tokio::join!(watch, serve) });
        match begun.await.map_err(|_| StartError::Ending)?? {
            RunStart::Begun => Ok(reader),
            RunStart::Again(earlier) => match self.find(&principal, earlier.as_str()).await? {
                Some(log) => Ok(log.follow(0)?),
                None => Err(StartError::Resumed(earlier.to_string())),
            },
        }
    }

    async fn begin(
        self: &Arc<Self>,
        key: &ThreadName,
        lease: Lease,
        candidate: RunCandidate,
    ) -> Result<RunStart, StartError> {
        let agents = self.agents.get(&key.agent).ok_or(StartError::Ending)?;
        if self.shutdown.is_cancelled() {
            return Err(StartError::Ending);
        }
        let (reply, begun) = oneshot::channel();
        let RunCandidate { name, input, before, log, cancel, span } = candidate;
        match agents {
            Agents::Model(model) => {
                let run = ModelRunStart { name, input, before, log, cancel, span, reply };
                let sent = self.model_thread(key, lease, model)?.try_send(run);
                sent.map_err(|_| StartError::Overloaded)?;
                match timeout(self.times.queue.0, begun).await {
                    Ok(begun) => self.begun(begun),
                    Err(_) => Err(StartError::Busy),
                }
            }
            Agents::Acp(acp) => {
                let history = self.replicas.history(&name, &input).await;
                let name = key.text();
                let run_id = input.run_id.clone();
                let user = acp.users.open(&key.user).await?;
                self.open_thread(key, lease, acp, &user).await?;
                if let Some(entry) = lock(&self.threads).get_mut(key) {
                    entry.has_run = true;
                }
                let branch_of = self.branch_source(key, &input, &user).await?;
                let mut run = RunRequest::from(input);
                run.history = history;
                run.branch_of = branch_of.map(Box::new);
                user.connection.start(
                    &name,
                    NewRun { run, log, span, cancel: cancel.clone() },
                    reply,
                );
                let cancelled = async {
                    let reason = *cancel.wait().await;
                    user.connection.cancel(&name, &run_id, reason);
                    std::future::pending::<()>().await;
                };
                tokio::select! {
                    begun = begun => self.begun(begun),
                    () = cancelled => Err(StartError::Ending),
                }
            }
        }
    }

    /// Returns the session of the thread that the thread of an input branches off from. It is of
    /// the same user and agent.
    async fn branch_source(
        &self,
        key: &ThreadName,
        input: &RunAgentInput,
        user: &UserAgent,
    ) -> Result<Option<RememberedSession>, StartError> {
        let Some(source) = branch_of(input) else { return Ok(None) };
        check_id("forwardedProps.acp.branchOf", source.as_str())?;
        if user.connection.has_session(&key.text()) {
            return Ok(None);
        }
        let source = ThreadName { id: source.to_string(), ..key.clone() }.text();
        if let Some(session) = user.connection.remembered(&source) {
            return Ok(Some(session));
        }
        let session = self.replicas.recall(&source).await;
        Ok(session.and_then(|session| serde_json::from_str(&session).ok()))
    }

    /// Opens the session of a thread before its first run, and returns its settings. `tools` are
    /// those of the page. Without settings if the agent opens none, as before a login: the first
    /// message shows the reason. A model has no session.
    pub(crate) async fn prepare(
        self: &Arc<Self>,
        principal: &Principal,
        agent: &str,
        thread: &str,
        tools: &[Tool],
    ) -> Result<SessionSettings, StartError> {
        let Some(agents) = self.agents.get(agent) else {
            return Err(StartError::UnknownAgent(agent.to_owned()));
        };
        let Agents::Acp(acp) = agents else { return Ok(SessionSettings::default()) };
        check_id("threadId", thread)?;
        if self.shutdown.is_cancelled() {
            return Err(StartError::Ending);
        }
        let key = thread_name(principal, agent, thread);
        let name = key.text();
        let lease = self.replicas.take(&name).await?;
        if !self.replicas.is_mine(&lease.owner) {
            return Err(StartError::Moved);
        }
        let user = acp.users.open(&key.user).await?;
        self.open_thread(&key, lease, acp, &user).await?;
        if let Err(reason) = user.connection.prepare(&name, tools).await {
            tracing::info!(agent, reason, "no session is open before the first message");
        }
        Ok(user.connection.settings(&name).unwrap_or_default())
    }

    /// Receives the answer of the thread, unless the thread ends first.
    fn begun(
        &self,
        begun: Result<Result<RunStart, HubRefused>, RecvError>,
    ) -> Result<RunStart, StartError> {
        match begun {
            Ok(begun) => Ok(begun?),
            Err(_) if self.shutdown.is_cancelled() => Err(StartError::Ending),
            Err(_) => Err(StartError::Overloaded),
        }
    }

    /// Reserves a new thread. Returns its name, or `None` if the thread is open under this lease.
    fn enter(
        self: &Arc<Self>,
        key: &ThreadName,
        lease: &Lease,
        model: Option<&mpsc::Sender<ModelRunStart>>,
    ) -> Result<Option<String>, StartError> {
        let mut threads = lock(&self.threads);
        let used = self.number();
        if let Some(thread) = threads.get_mut(key).filter(|thread| thread.is_open(lease)) {
            thread.used = used;
            return Ok(None);
        }
        // The agent may have the thread under an earlier lease.
        let note = threads.get(key).and_then(|entry| entry.note.clone());
        threads.remove(key);
        threads.remove_ended();
        let evicted = self.make_place(&mut threads, &key.user)?;
        // The name begins the ids of questions, which an agent must not be able to guess.
        let random = random_id().map_err(|_| StartError::Overloaded)?;
        let name = format!("{}-{random}", self.name());
        let name_of = name.clone();
        let lease = lease.clone();
        let model = model.cloned();
        let has_run = model.is_some();
        let entry = ThreadEntry { name: name_of, lease, model, note, has_run, used };
        threads.insert(key.clone(), entry);
        drop(threads);
        if let Some((key, entry)) = evicted {
            self.evict(key, entry);
        }
        Ok(Some(name))
    }

    /// Opens the conversation of a thread, unless it is open.
    async fn open_thread(
        self: &Arc<Self>,
        key: &ThreadName,
        lease: Lease,
        acp: &AcpAgents,
        user: &UserAgent,
    ) -> Result<(), StartError> {
        let name = key.text();
        let entered = self.enter(key, &lease, None)?;
        if entered.is_none() && user.connection.has_thread(&name) {
            return Ok(());
        }
        let entry = lock(&self.threads).get(key).map(|entry| entry.name.clone());
        let interrupt_prefix = format!("{}{INTERRUPT}", entered.or(entry).unwrap_or_default());
        let random = random_id().map_err(|_| StartError::Overloaded)?;
        let id_scope = format!("{}-", random.get(..ID_SCOPE).unwrap_or(&random));
        let ids = ThreadIds { interrupt_prefix, id_scope };
        let session = self.replicas.recall(&name).await;
        let session = session.and_then(|session| serde_json::from_str(&session).ok());
        let remembered = watch::Sender::new(session);
        let mut changes = remembered.subscribe();
        let note = Arc::new(SessionNote::new(name, changes.clone()));
        if acp.open_thread(user, key, ids, &self.page_servers, remembered)? {
            if let Some(entry) = lock(&self.threads).get_mut(key) {
                entry.note = Some(note.clone());
            }
            let threads = self.clone();
            self.tasks.spawn(async move {
                while changes.changed().await.is_ok() {
                    note.write(&threads.replicas).await;
                }
            });
        }
        Ok(())
    }

    /// Returns the thread of a model. Opens it if it is not open.
    fn model_thread(
        self: &Arc<Self>,
        key: &ThreadName,
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
            replicas: self.replicas.clone(),
            user: key.user.clone(),
            name: key.text().into(),
            queue: RunQueue::new(self.when_busy.into(), self.limits.queue),
            idle: self.times.idle.0,
            time: self.times.turn.0,
            telemetry: self.telemetry.clone(),
            shutdown: self.shutdown.clone(),
        };
        let threads = self.clone();
        let key = key.clone();
        self.tasks.spawn(async move {
            thread.serve(inbox).await;
            threads.release(&key, &lease).await;
        });
        Ok(runs)
    }
}

/// Ends the span of a run with the run.
async fn end(span: Option<Span>, log: &RunLog) {
    let Some(mut span) = span else { return };
    log.ended().await;
    if let Some(outcome) = log.outcome() {
        span.set("agui.run.outcome", outcome.name().to_owned());
        if let Some(reason) = outcome.cancel_reason() {
            span.set("agui.run.cancel_reason", reason.to_owned());
        }
        if let RunOutcome::Error(_) = outcome {
            span.fail(outcome.name().to_owned());
        }
    }
}
