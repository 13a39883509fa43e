//! Threads and runs of other gateways, and records of own ones for them.
use super::starting::PostedInput;
use super::{InputDigest, RunEntry, RunKey, Threads, lock, run_name, thread_name};
use crate::history::{LiveThreads, chat_path};
use crate::replicas::{ForwardedRequest, ForwardedResponse};
use crate::run::{StartError, request_cancel};
use crate::store::{Lease, Reader, Replica, RunLog, RunRecord, StoreError, ThreadName};
use agui_bridge::CancelReason;
use agui_types::input::RunAgentInput;
use axum::http::{Method, StatusCode};
use host::http::Principal;
use serde::Deserialize;
use std::sync::Arc;

/// Maximum number of changes of the owner during the start of a run.
const MAX_MOVES: usize = 4;

/// The subject of a request.
pub(crate) enum Target<'a> {
    Interrupt(&'a str),
    Run(&'a str),
    Thread { agent: &'a str, thread: &'a str },
}

/// The response of a gateway that has begun a run for another.
#[derive(Debug, Deserialize)]
struct TurnStart {
    #[serde(rename = "runId")]
    run_id: String,
}

/// The response of a gateway that refuses a request.
#[derive(Debug, Deserialize)]
struct RefusalBody {
    error: String,
}

impl Threads {
    pub(crate) fn replicas(&self) -> &Arc<Replica> {
        &self.replicas
    }

    /// Returns the other gateway that owns the subject of a request; `None` if this gateway or none
    /// owns it.
    pub(crate) async fn owner(
        &self,
        principal: &Principal,
        target: Target<'_>,
    ) -> Result<Option<String>, StoreError> {
        match target {
            Target::Interrupt(id) => Ok(self.replicas.namer(id).map(str::to_owned)),
            Target::Run(run_id) => {
                let run = (principal.clone(), run_id.to_owned());
                if lock(&self.runs).get(&run).is_some_and(|run| run.is_ours) {
                    return Ok(None);
                }
                let record = self.replicas.run(&run_name(&run)).await?;
                let owner = record.map(|record| record.owner);
                Ok(owner.filter(|owner| !self.replicas.is_mine(owner)))
            }
            Target::Thread { agent, thread } => {
                self.replicas.owner(&thread_name(principal, agent, thread).text()).await
            }
        }
    }

    /// Returns a run of any gateway, active or run.
    pub(crate) async fn find(
        self: &Arc<Self>,
        principal: &Principal,
        run_id: &str,
    ) -> Result<Option<Arc<RunLog>>, StartError> {
        let run = (principal.clone(), run_id.to_owned());
        if let Some(run) = lock(&self.runs).get(&run) {
            return Ok(Some(run.log.clone()));
        }
        let name = run_name(&run);
        let Some(record) = self.replicas.run(&name).await? else { return Ok(None) };
        let Some(thread) = ThreadName::of_text(&record.thread) else { return Ok(None) };
        let log = Arc::new(RunLog::new(&record.input, self.limits.log()));
        let crowded_out;
        let forgotten = {
            let mut runs = lock(&self.runs);
            if let Some(run) = runs.get(&run) {
                return Ok(Some(run.log.clone()));
            }
            let forgotten = self.make_room(&mut runs, principal)?;
            let mirror = RunEntry::copy(self.number(), thread, record.fingerprint, log.clone());
            crowded_out = mirror.forgotten.clone();
            runs.insert(run.clone(), mirror);
            forgotten
        };
        self.retire(&forgotten).await;
        let threads = self.clone();
        let mirrored = log.clone();
        self.tasks.spawn(async move {
            let follow = async {
                let unread = threads.times.disconnect_grace.0.max(threads.replicas.beat_time());
                threads.replicas.mirror(&name, &record, &mirrored, unread).await;
                if mirrored.has_ended() {
                    threads.keep(&crowded_out).await;
                }
            };
            tokio::select! {
                () = threads.shutdown.cancelled() => {}
                () = follow => {}
            }
            threads.forget(&run, &mirrored);
            // A reader that has just connected reconnects.
            mirrored.end();
        });
        Ok(Some(log))
    }

    /// Follows the run of the same input that only the store has, as after a restart: it is not
    /// carried out again.
    pub(super) async fn follow_stored(
        self: &Arc<Self>,
        run: &RunKey,
        thread: &ThreadName,
        input: InputDigest,
    ) -> Result<Option<Reader>, StartError> {
        let record = self.replicas.run(&run_name(run)).await?;
        let is_same =
            |it: &RunRecord| it.fingerprint == input.fingerprint && it.thread == thread.text();
        if !record.as_ref().is_some_and(is_same) {
            return Ok(None);
        }
        let log = self.find(&run.0, &run.1).await?;
        Ok(log.map(|log| log.follow(0)).transpose()?)
    }

    /// Returns the number of an event of a run. A copy may receive the event later than a reader
    /// elsewhere.
    pub(crate) async fn event_number(
        &self,
        principal: &Principal,
        run_id: &str,
        log: &RunLog,
        event_id: &str,
    ) -> Option<u64> {
        let run = (principal.clone(), run_id.to_owned());
        let is_ours = lock(&self.runs).get(&run).is_some_and(|run| run.is_ours);
        if !is_ours {
            log.comes(event_id, self.replicas.beat_time()).await;
        }
        log.number(event_id)
    }

    /// Ends the retention of runs of this gateway in the store.
    pub(super) async fn retire(&self, runs: &[RunKey]) {
        for run in runs {
            self.replicas.retire_run(&run_name(run)).await;
        }
    }

    /// Begins a run at the gateway that owns its thread. Returns `None` if the thread has moved.
    async fn start_at(
        self: &Arc<Self>,
        owner: &str,
        key: &ThreadName,
        posted: &PostedInput,
    ) -> Result<Option<Reader>, StartError> {
        let PostedInput { input, digest, caller } = posted;
        let body = serde_json::to_string(input).map_err(|error| StoreError(error.to_string()))?;
        let principal = key.user.clone();
        let trace = caller.as_ref().map(|it| (it.traceparent(), it.tracestate.clone()));
        let method = Method::POST;
        let path = chat_path(&key.agent);
        let request = ForwardedRequest { principal, method, path, body, trace };
        let response = request.send(&self.replicas, owner).await?;
        let Some(ForwardedResponse { status, body }) = response else { return Ok(None) };
        match StatusCode::from_u16(status) {
            Ok(StatusCode::OK) => {
                let begun: TurnStart =
                    serde_json::from_str(&body).map_err(|error| StoreError(error.to_string()))?;
                let run = (Principal::from(&*key.user), begun.run_id);
                self.forget_resumed(&run, key, input, *digest);
                let log = self.find(&run.0, &run.1).await?;
                let lost = || StoreError("the run is gone already".to_owned());
                Ok(Some(log.ok_or_else(lost)?.follow(0)?))
            }
            Ok(StatusCode::MISDIRECTED_REQUEST) => Ok(None),
            _ => {
                let refused = serde_json::from_str::<RefusalBody>(&body);
                let why = refused.map_or(body, |refused| refused.error);
                Err(StartError::Elsewhere(status, why))
            }
        }
    }

    /// Begins a run at the owner of its thread, or here if the thread has no owner.
    pub(super) async fn start_anywhere(
        self: &Arc<Self>,
        run: RunKey,
        key: ThreadName,
        posted: PostedInput,
        is_forwarded: bool,
    ) -> Result<Reader, StartError> {
        for _ in 0..MAX_MOVES {
            let lease = self.replicas.take(&key.text()).await?;
            if self.replicas.is_mine(&lease.owner) {
                return self.start_here(run, key, lease, posted).await;
            }
            if is_forwarded {
                break;
            }
            if let Some(reader) = self.start_at(&lease.owner, &key, &posted).await? {
                return Ok(reader);
            }
        }
        Err(StartError::Moved)
    }

    /// Returns the record of a run for other gateways.
    pub(super) fn record(&self, run: &RunEntry, input: &RunAgentInput) -> RunRecord {
        let mut input = input.clone();
        input.tools = None;
        input.context = None;
        input.forwarded_props = None;
        self.replicas.record(run.thread.text(), run.input.fingerprint, input)
    }

    /// Copies the events of a run to the store for readers elsewhere. Stops a run that another
    /// gateway has ended.
    pub(super) async fn share(&self, run: &RunKey, record: &RunRecord, entry: &RunEntry) {
        let RunEntry { log, forgotten, thread, .. } = entry;
        // A reader that has the end may continue the conversation after a crash. Its agent has the
        // whole answer, in the same session.
        let written = self.write_session(thread);
        let name = run_name(run);
        let shutdown = &self.shutdown;
        if !self.replicas.share(&name, record, log, forgotten, shutdown, written).await {
            tracing::warn!(run = run.1, "another gateway has ended the run");
            request_cancel(&entry.cancel, CancelReason::OwnerLost);
        }
    }

    /// Writes the present state of an agent's session. Returns when the store has it.
    pub(super) async fn write_session(&self, thread: &ThreadName) {
        let note = lock(&self.threads).get(thread).and_then(|entry| entry.note.clone());
        let Some(note) = note else { return };
        if let Some((acp, name)) = self.conversation(thread) {
            acp.connection.report_session(&name);
        }
        note.write(&self.replicas).await;
    }

    /// Notes that a run is about to be read at another gateway.
    pub(crate) async fn read_elsewhere(
        &self,
        principal: &Principal,
        run_id: &str,
    ) -> Result<(), StoreError> {
        let run = (principal.clone(), run_id.to_owned());
        self.replicas.watch_run(&run_name(&run)).await
    }

    /// Handles the loss of a thread to another gateway, which considered this one dead.
    pub(crate) fn lose(&self, name: &str) {
        let Some(key) = ThreadName::of_text(name) else { return };
        tracing::warn!(thread = key.id, "another gateway has taken a thread");
        for run in lock(&self.runs).values() {
            if run.is_ours && run.thread == key {
                request_cancel(&run.cancel, CancelReason::OwnerLost);
            }
        }
        lock(&self.threads).remove(&key);
        if let Some((acp, name)) = self.conversation(&key) {
            acp.connection.remove(&name);
        }
        for run in lock(&self.runs).values() {
            if run.is_ours && run.thread == key {
                let run_id = run.log.run_id().clone();
                let input = RunAgentInput::new(key.id.as_str(), run_id, Vec::new());
                let record = self.replicas.record(name.to_owned(), run.input.fingerprint, input);
                run.log.end_with(&self.replicas.lost(&record));
            }
        }
    }

    /// Releases an ended thread for other gateways.
    pub(super) async fn release(&self, key: &ThreadName, lease: &Lease) {
        let is_new = lock(&self.threads).get(key).is_some_and(|entry| !entry.has_ended());
        if !is_new {
            self.replicas.release(&key.text(), lease).await;
        }
    }
}

impl LiveThreads for Threads {
    fn log(&self, thread: &ThreadName, run_id: &str) -> Option<Arc<RunLog>> {
        let run = (Principal::from(&*thread.user), run_id.to_owned());
        let runs = lock(&self.runs);
        runs.get(&run).filter(|run| run.is_ours && run.thread == *thread).map(|it| it.log.clone())
    }

    fn close(&self, thread: &ThreadName) -> bool {
        let mut runs = lock(&self.runs);
        let is_active = |run: &RunEntry| run.is_ours && !run.stored.is_cancelled();
        if runs.values().any(|run| run.thread == *thread && is_active(run)) {
            return false;
        }
        for (_, run) in runs.extract_if(|_, run| run.thread == *thread) {
            run.forgotten.cancel();
        }
        drop(runs);
        lock(&self.threads).remove(thread);
        if let Some((acp, name)) = self.conversation(thread) {
            acp.connection.remove(&name);
        }
        true
    }
}
