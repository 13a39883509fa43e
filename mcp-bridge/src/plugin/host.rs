//! Runs tools, lets them wait, and goes on with them.
use super::context::Run;
use super::journal::Answered;
use super::session::{SessionLimits, SessionRecord, SessionStatus};
use super::store::SessionStore;
use super::tool::PluginTool;
use super::turn::{Clock, NewCall, Notices, Resumption, SessionError, SuspendPolicy, Told, Turn};
use crate::mcp::tools::Tool;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use core::fmt;
use core::time::Duration;
use std::sync::{Mutex, MutexGuard, PoisonError};

mod ends;
mod run;

/// Runs tools, lets them wait, and goes on with them. It has no runtime: whoever awaits it runs the tool.
pub struct PluginHost {
    tools: BTreeMap<String, PluginTool>,
    policy: SuspendPolicy,
    store: Arc<dyn SessionStore>,
    /// Names this program among those that share the store.
    owner: String,
    clock: Clock,
    limits: SessionLimits,
    notices: Option<Notices>,
    parked: Mutex<BTreeMap<String, Run>>,
}

impl fmt::Debug for PluginHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PluginHost")
            .field("tools", &self.tools.keys())
            .field("policy", &self.policy)
            .field("owner", &self.owner)
            .field("parked", &self.parked().len())
            .finish_non_exhaustive()
    }
}

impl PluginHost {
    /// How often something is stored again that somebody else has changed meanwhile.
    pub const MAX_ATTEMPTS: usize = 64;

    /// Runs `tools`. `owner` names this program among those that share the store, and those that were before it: something
    /// random.
    pub fn new(
        tools: impl IntoIterator<Item = PluginTool>,
        policy: SuspendPolicy,
        store: Arc<dyn SessionStore>,
        owner: impl Into<String>,
        clock: Clock,
    ) -> Self {
        let tools = tools.into_iter().map(|tool| (tool.tool().name.clone(), tool));
        Self {
            tools: tools.collect(),
            policy,
            store,
            owner: owner.into(),
            clock,
            limits: SessionLimits::default(),
            notices: None,
            parked: Mutex::default(),
        }
    }

    /// With other limits.
    #[must_use]
    pub fn with_limits(mut self, limits: SessionLimits) -> Self {
        self.limits = limits;
        self
    }

    /// With somebody who takes what tools tell.
    #[must_use]
    pub fn with_notices(mut self, notices: Notices) -> Self {
        self.notices = Some(notices);
        self
    }

    /// The tools, as a server lists them.
    pub fn tools(&self) -> impl Iterator<Item = &Tool> {
        self.tools.values().map(PluginTool::tool)
    }

    /// Calls a tool.
    ///
    /// If the future is dropped, the session can be gone on with once its lease is over.
    ///
    /// # Errors
    /// There is no such tool, or the session cannot be kept.
    pub async fn call(&self, call: NewCall<'_>) -> Result<Turn, SessionError> {
        self.call_telling(call, None).await
    }

    /// As [`call`](Self::call), with somebody who takes what the tool tells until it waits.
    ///
    /// # Errors
    /// As for that.
    pub async fn call_telling(
        &self,
        call: NewCall<'_>,
        told: Option<Told>,
    ) -> Result<Turn, SessionError> {
        let record = self.record(call)?;
        if !self.is_stateless() {
            self.store.create(&record).await?;
        }
        self.run_kept(record, told).await
    }

    /// Runs a session that has not begun.
    pub(super) async fn run_kept(
        &self,
        record: SessionRecord,
        told: Option<Told>,
    ) -> Result<Turn, SessionError> {
        let run = self.begin(self.tool(&record.tool)?, &record, told);
        self.run(record, run).await
    }

    /// A session that has not begun.
    pub(super) fn record(&self, call: NewCall<'_>) -> Result<SessionRecord, SessionError> {
        let tool = self.tool(call.tool)?;
        let now = (self.clock)();
        Ok(SessionRecord {
            id: call.session_id.into(),
            call_id: call.call_id.into(),
            tool: call.tool.into(),
            fingerprint: tool.fingerprint().into(),
            principal: call.principal.into(),
            arguments: call.arguments,
            status: SessionStatus::Running,
            journal: Default::default(),
            result: None,
            reason: None,
            error: None,
            is_task: false,
            asks: Default::default(),
            revision: 0,
            epoch: 0,
            owner: self.owner.clone(),
            created: now,
            deadline: now.saturating_add(self.limits.lease),
            active: Duration::ZERO,
            waited: Duration::ZERO,
            since: now,
        })
    }

    /// Goes on with a call.
    ///
    /// Whoever comes first runs it: for others that come meanwhile it is [`Turn::Taken`], and what they bring is taken in.
    /// Once it is done it gives the same result, however often it is asked.
    ///
    /// # Errors
    /// The session cannot go on; [`SessionError::code`] says what to tell.
    pub async fn resume(&self, resumption: Resumption<'_>) -> Result<Turn, SessionError> {
        self.resume_telling(resumption, None).await
    }

    /// As [`resume`](Self::resume), with somebody who takes what the tool tells until it waits again.
    ///
    /// # Errors
    /// As for that.
    pub async fn resume_telling(
        &self,
        resumption: Resumption<'_>,
        told: Option<Told>,
    ) -> Result<Turn, SessionError> {
        let tool = self.tool(resumption.tool)?;
        if let SuspendPolicy::Token { codec, is_single_use } = &self.policy {
            let record = codec.open(resumption.state, &bound_to(tool, resumption.principal));
            let record = record.ok_or(SessionError::NotFound)?;
            let record: SessionRecord =
                serde_json::from_str(&record).map_err(|_| SessionError::NotFound)?;
            return self.resume_token(tool, record, &resumption, *is_single_use, told).await;
        }
        for _ in 0..Self::MAX_ATTEMPTS {
            let record = self.store.load(resumption.state).await?.ok_or(SessionError::NotFound)?;
            let told = told.clone();
            if let Some(turn) = self.resume_stored(tool, record, &resumption, told).await? {
                return Ok(turn);
            }
        }
        Err(SessionError::Contended)
    }

    async fn resume_token(
        &self,
        tool: &PluginTool,
        mut record: SessionRecord,
        resumption: &Resumption<'_>,
        is_single_use: bool,
        told: Option<Told>,
    ) -> Result<Turn, SessionError> {
        check(tool, &record, resumption)?;
        let now = (self.clock)();
        if now >= record.deadline {
            return Err(SessionError::Expired);
        }
        if is_single_use {
            let name = alloc::format!("{}:{}", record.id, record.revision);
            if !self.store.use_once(&name, record.deadline, now).await? {
                return Err(SessionError::NotFound);
            }
        }
        answer(&mut record, resumption);
        self.claim(&mut record, now);
        let run = self.begin(tool, &record, told);
        self.run(record, run).await
    }

    /// Goes on with a stored call, unless somebody else changed it meanwhile.
    async fn resume_stored(
        &self,
        tool: &PluginTool,
        mut record: SessionRecord,
        resumption: &Resumption<'_>,
        told: Option<Told>,
    ) -> Result<Option<Turn>, SessionError> {
        check(tool, &record, resumption)?;
        if record.status.is_over() {
            return over(&record).map(Some);
        }
        let now = (self.clock)();
        let is_due = now >= record.deadline;
        if is_due && record.status.is_awaiting() {
            return self.end(record, SessionStatus::Expired, "nobody answered in time").await;
        }
        let is_only_parked = matches!(self.policy, SuspendPolicy::Park);
        if is_only_parked && record.owner != self.owner {
            return Err(SessionError::Elsewhere { owner: record.owner });
        }
        let is_changed = answer(&mut record, resumption);
        if record.status == SessionStatus::Running && !is_due {
            if !is_changed {
                return Ok(Some(Turn::Taken));
            }
            record.revision += 1;
            return Ok(self.store.save(&record).await?.then_some(Turn::Taken));
        }
        if is_only_parked && !self.parked().contains_key(&record.id) {
            return self.end(record, SessionStatus::Lost, "it is not in memory").await;
        }
        // What was parked here, and has gone on elsewhere since, is behind.
        let is_ours = record.owner == self.owner;
        self.claim(&mut record, now);
        if !self.store.save(&record).await? {
            return Ok(None);
        }
        let parked = self.parked().remove(&record.id);
        let run = match parked.filter(|_| is_ours) {
            Some(run) => {
                run.set_sink(self.sink(&record.id, told));
                run.go_on(&record.journal);
                run
            }
            None if is_only_parked => return Err(SessionError::NotFound),
            None => self.begin(tool, &record, told),
        };
        self.run(record, run).await.map(Some)
    }

    pub(super) fn find(&self, tool: &str) -> Option<&PluginTool> {
        self.tools.get(tool)
    }

    pub(super) fn store(&self) -> &dyn SessionStore {
        &*self.store
    }

    pub(super) fn now(&self) -> Duration {
        (self.clock)()
    }

    pub(super) fn owner(&self) -> &str {
        &self.owner
    }

    pub(super) fn limits(&self) -> &SessionLimits {
        &self.limits
    }

    fn tool(&self, name: &str) -> Result<&PluginTool, SessionError> {
        self.find(name).ok_or_else(|| SessionError::UnknownTool(name.into()))
    }

    pub(super) fn is_stateless(&self) -> bool {
        matches!(self.policy, SuspendPolicy::Token { .. })
    }

    fn is_parking(&self) -> bool {
        matches!(self.policy, SuspendPolicy::Park | SuspendPolicy::ParkOrReplay)
    }

    fn parked(&self) -> MutexGuard<'_, BTreeMap<String, Run>> {
        self.parked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self, tool: &PluginTool, record: &SessionRecord, told: Option<Told>) -> Run {
        let sink = self.sink(&record.id, told);
        tool.run(record.arguments.clone(), record.journal.clone(), sink)
    }

    /// Who takes what a tool tells: whoever takes that of all, and whoever takes it for this call.
    fn sink(&self, id: &str, told: Option<Told>) -> Option<Told> {
        let Some(notices) = self.notices.clone() else { return told };
        let id = String::from(id);
        Some(Arc::new(move |notice| {
            notices(&id, notice);
            if let Some(told) = &told {
                told(notice);
            }
        }))
    }

    /// Makes this program the one that runs a session.
    fn claim(&self, record: &mut SessionRecord, now: Duration) {
        self.turn(record, SessionStatus::Running, now);
        record.epoch += 1;
        record.revision += 1;
        record.owner.clone_from(&self.owner);
    }

    /// Changes the status, and counts the time of the one before.
    fn turn(&self, record: &mut SessionRecord, status: SessionStatus, now: Duration) {
        let passed = now.saturating_sub(record.since);
        if record.status == SessionStatus::Running {
            record.active = record.active.saturating_add(passed);
        } else {
            record.waited = record.waited.saturating_add(passed);
        }
        let until = match status {
            SessionStatus::Running => self.limits.lease,
            status if status.is_awaiting() => self.limits.waiting,
            _ => self.limits.kept,
        };
        record.asks.clear();
        (record.status, record.since) = (status, now);
        record.deadline = now.saturating_add(until);
    }

    /// Ends a session before it is done, unless somebody else changed it meanwhile.
    async fn end(
        &self,
        mut record: SessionRecord,
        status: SessionStatus,
        reason: &str,
    ) -> Result<Option<Turn>, SessionError> {
        self.turn(&mut record, status, (self.clock)());
        record.reason = Some(reason.into());
        record.revision += 1;
        if !self.store.save(&record).await? {
            return Ok(None);
        }
        let parked = self.parked().remove(&record.id);
        drop(parked);
        over(&record).map(Some)
    }
}

/// Whether a session is this caller's, and of this code.
fn check(
    tool: &PluginTool,
    record: &SessionRecord,
    resumption: &Resumption<'_>,
) -> Result<(), SessionError> {
    if record.principal != resumption.principal || record.tool != resumption.tool {
        return Err(SessionError::NotFound);
    }
    let arguments = resumption.arguments;
    if arguments.is_some_and(|arguments| *arguments != record.arguments) {
        return Err(SessionError::OtherArguments);
    }
    if !record.status.is_over() && record.fingerprint != tool.fingerprint() {
        let (expected, actual) = (record.fingerprint.clone(), tool.fingerprint().into());
        return Err(SessionError::OtherCode { expected, actual });
    }
    Ok(())
}

/// Takes answers in; whether one of them is new.
fn answer(record: &mut SessionRecord, resumption: &Resumption<'_>) -> bool {
    let mut is_changed = false;
    for (key, outcome) in &resumption.answers {
        is_changed |= record.journal.answer(key, outcome.clone()) == Answered::Recorded;
    }
    is_changed
}

/// What a session that is over gives.
fn over(record: &SessionRecord) -> Result<Turn, SessionError> {
    if let Some(error) = record.error.clone() {
        return Err(SessionError::Protocol(error));
    }
    match record.status {
        SessionStatus::Completed | SessionStatus::Failed => {
            let result = record.result.as_ref().and_then(|result| result.decode().ok());
            let reason = || SessionError::Failed(record.reason.clone().unwrap_or_default());
            result.map(Turn::Done).ok_or_else(reason)
        }
        SessionStatus::Aborted => Err(SessionError::Aborted),
        SessionStatus::Expired => Err(SessionError::Expired),
        SessionStatus::Lost => Err(SessionError::NotFound),
        _ => Err(SessionError::Superseded),
    }
}

/// What a sealed state is good for: this tool, this caller, this code.
fn bound_to(tool: &PluginTool, principal: &str) -> String {
    let parts = [tool.tool().name.as_str(), principal, tool.fingerprint()];
    let parts = parts.map(|part| alloc::format!("{}:{part}", part.len()));
    parts.concat()
}
