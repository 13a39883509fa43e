//! Runs tools, suspends them while they wait, and resumes them.
use super::journal::AnswerOutcome;
use super::notice::NoticeSink;
use super::sampling::Sampling;
use super::session::{SessionLimits, SessionRecord, SessionStatus};
use super::store::SessionStore;
use super::tool::PluginTool;
use super::turn::{Clock, NewCall, Resumption, SessionError, SuspendPolicy, Turn};
use crate::arguments::is_same;
use crate::mcp::tools::Tool;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use core::fmt;
use core::time::Duration;

mod ends;
mod local;
mod run;

pub(super) use local::ActiveRun;

/// Runs tools, suspends them while they wait, and resumes them. The host has no runtime: a tool
/// runs in the future of the call.
///
/// The [module](super) has an example.
pub struct PluginHost {
    tools: BTreeMap<String, PluginTool>,
    policy: SuspendPolicy,
    store: Arc<dyn SessionStore>,
    /// Identifies this program among those that share the store.
    owner: String,
    clock: Clock,
    limits: SessionLimits,
    sampling: Option<Arc<Sampling>>,
    local: Arc<local::LocalRuns>,
}

impl fmt::Debug for PluginHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PluginHost")
            .field("tools", &self.tools.keys())
            .field("policy", &self.policy)
            .field("owner", &self.owner)
            .field("parked", &self.local.parked_count())
            .finish_non_exhaustive()
    }
}

impl PluginHost {
    /// Maximum number of attempts to save a record that other programs change at the same time.
    pub const MAX_ATTEMPTS: usize = 64;

    /// Creates a host of `tools`. `owner` is a random text that identifies this program among all
    /// programs that ever share the store.
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
            sampling: None,
            local: Arc::default(),
        }
    }

    /// Sets the time limits.
    #[must_use]
    pub fn with_limits(mut self, limits: SessionLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the configuration of the requests of all tools to a model.
    #[must_use]
    pub fn with_sampling(mut self, sampling: Sampling) -> Self {
        self.sampling = Some(Arc::new(sampling));
        self
    }

    /// Returns the tools as a server lists them.
    pub fn tools(&self) -> impl Iterator<Item = &Tool> {
        self.tools.values().map(PluginTool::tool)
    }

    /// Calls a tool. `notices` receives its log messages and progress until it waits.
    ///
    /// The session is stored when the tool first waits for an answer. If the future is dropped
    /// before that, the call leaves no trace.
    ///
    /// # Errors
    /// Returns an error if the tool does not exist or the session cannot be stored.
    pub async fn call(
        &self,
        call: NewCall<'_>,
        notices: Option<NoticeSink>,
    ) -> Result<Turn, SessionError> {
        let record = self.record(call)?;
        let active = self.activate(&record, false);
        self.begin(record, active, notices).await
    }

    /// Starts the tool of a session from the beginning.
    pub(super) async fn begin(
        &self,
        record: SessionRecord,
        mut active: ActiveRun,
        notices: Option<NoticeSink>,
    ) -> Result<Turn, SessionError> {
        let tool = self.tool(&record.tool)?;
        let run = tool.run(&record, notices, self.sampling.as_ref());
        active.run = Some(run);
        self.run(record, active).await
    }

    pub(super) fn activate(&self, record: &SessionRecord, is_stored: bool) -> ActiveRun {
        let mut active = self.local.activate(record, is_stored);
        active.parks = self.is_parking();
        active
    }

    /// Creates the record of a new call.
    pub(super) fn record(&self, call: NewCall<'_>) -> Result<SessionRecord, SessionError> {
        let tool = self.tool(call.tool)?;
        let now = (self.clock)();
        Ok(SessionRecord {
            id: call.session_id.into(),
            call_id: call.call_id.into(),
            tool: call.tool.into(),
            fingerprint: tool.fingerprint().into(),
            principal: call.principal.into(),
            meta: call.meta,
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

    /// Resumes a call with answers. `notices` receives log messages and progress until the tool
    /// waits again.
    ///
    /// One caller at a time runs the tool. The answers of other callers are stored, and those
    /// callers receive [`Turn::Taken`]. After the future of a run was dropped, the same program can
    /// resume at once, and other programs after [`release`](Self::release) or the end of the lease.
    /// A completed call returns its result again.
    ///
    /// # Errors
    /// Returns an error if the session cannot be resumed. [`SessionError::code`] returns the code
    /// for a chat page.
    pub async fn resume(
        &self,
        resumption: Resumption<'_>,
        notices: Option<NoticeSink>,
    ) -> Result<Turn, SessionError> {
        let tool = self.tool(resumption.tool)?;
        if let SuspendPolicy::Token { codec, is_single_use } = &self.policy {
            let record = codec.open(resumption.state, &bound_to(tool, resumption.principal));
            let record = record.ok_or(SessionError::NotFound)?;
            let record: SessionRecord =
                serde_json::from_str(&record).map_err(|_| SessionError::NotFound)?;
            return self.resume_token(tool, record, &resumption, *is_single_use, notices).await;
        }
        for _ in 0..Self::MAX_ATTEMPTS {
            let record = self.store.load(resumption.state).await?.ok_or(SessionError::NotFound)?;
            let notices = notices.clone();
            if let Some(turn) = self.resume_stored(tool, record, &resumption, notices).await? {
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
        notices: Option<NoticeSink>,
    ) -> Result<Turn, SessionError> {
        check(tool, &record, resumption)?;
        let now = (self.clock)();
        if now >= record.deadline {
            return Err(SessionError::Expired);
        }
        if is_single_use {
            let name = alloc::format!("{}:{}", record.id, record.revision);
            let principal = resumption.principal;
            if !self.store.use_once(principal, &name, record.deadline, now).await? {
                return Err(SessionError::NotFound);
            }
        }
        answer(&mut record, resumption);
        self.claim(&mut record, now);
        let active = self.activate(&record, false);
        self.begin(record, active, notices).await
    }

    /// Resumes a stored call. Returns `None` if another program changed it concurrently.
    async fn resume_stored(
        &self,
        tool: &PluginTool,
        mut record: SessionRecord,
        resumption: &Resumption<'_>,
        notices: Option<NoticeSink>,
    ) -> Result<Option<Turn>, SessionError> {
        check(tool, &record, resumption)?;
        if record.status.is_over() {
            return over(&record).map(Some);
        }
        let now = (self.clock)();
        let is_due = now >= record.deadline;
        if is_due && record.status.is_awaiting() {
            return self.end(record, SessionStatus::Expired, "no answer in time").await;
        }
        let is_only_parked = matches!(self.policy, SuspendPolicy::Park);
        if is_only_parked && record.owner != self.owner {
            return Err(SessionError::Elsewhere { owner: record.owner });
        }
        let is_ours = record.owner == self.owner;
        let is_running = record.status == SessionStatus::Running;
        let is_left = is_due || (is_ours && !self.local.is_active(&record));
        let is_changed = answer(&mut record, resumption);
        if is_running && !is_left {
            if !is_changed {
                return Ok(Some(Turn::Taken));
            }
            record.revision += 1;
            return Ok(self.store.save(&record).await?.then_some(Turn::Taken));
        }
        if is_only_parked && !self.local.is_parked(&record.id) {
            return self.end(record, SessionStatus::Lost, "the call is not in memory").await;
        }
        self.claim(&mut record, now);
        let mut active = self.activate(&record, true);
        let saved = self.store.save(&record).await;
        if !matches!(saved, Ok(true)) {
            active.is_over = true;
            return saved.map(|_| None).map_err(Into::into);
        }
        // A tool parked here is outdated if another program continued the session.
        let parked = self.local.unpark(&record.id).filter(|_| is_ours);
        match parked {
            Some(run) => {
                run.set_sink(notices);
                run.resume(&record.journal);
                active.run = Some(run);
                self.run(record, active).await.map(Some)
            }
            None if is_only_parked => Err(SessionError::NotFound),
            None => self.begin(record, active, notices).await.map(Some),
        }
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

    pub(crate) fn owner(&self) -> &str {
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

    /// Makes this program the runner of a session.
    fn claim(&self, record: &mut SessionRecord, now: Duration) {
        self.set_status(record, SessionStatus::Running, now);
        record.epoch += 1;
        record.revision += 1;
        record.owner.clone_from(&self.owner);
    }

    /// Sets the status, and adds the time since the previous change.
    fn set_status(&self, record: &mut SessionRecord, status: SessionStatus, now: Duration) {
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
        record.status = status;
        record.since = now;
        record.deadline = now.saturating_add(until);
    }

    /// Ends a session early. Returns `None` if another program changed it concurrently.
    async fn end(
        &self,
        mut record: SessionRecord,
        status: SessionStatus,
        reason: &str,
    ) -> Result<Option<Turn>, SessionError> {
        self.set_status(&mut record, status, (self.clock)());
        record.reason = Some(reason.into());
        record.revision += 1;
        if !self.store.save(&record).await? {
            return Ok(None);
        }
        drop(self.local.unpark(&record.id));
        over(&record).map(Some)
    }
}

/// Checks that a session belongs to the caller and to the tool's current code.
fn check(
    tool: &PluginTool,
    record: &SessionRecord,
    resumption: &Resumption<'_>,
) -> Result<(), SessionError> {
    if record.principal != resumption.principal || record.tool != resumption.tool {
        return Err(SessionError::NotFound);
    }
    let arguments = resumption.arguments;
    if arguments.is_some_and(|arguments| !is_same(arguments, &record.arguments)) {
        return Err(SessionError::OtherArguments);
    }
    if !record.status.is_over() && record.fingerprint != tool.fingerprint() {
        let expected = record.fingerprint.clone();
        let actual = tool.fingerprint().into();
        return Err(SessionError::OtherCode { expected, actual });
    }
    Ok(())
}

/// Adds answers to the journal. Returns whether one of them is new.
fn answer(record: &mut SessionRecord, resumption: &Resumption<'_>) -> bool {
    let mut is_changed = false;
    for (key, outcome) in &resumption.answers {
        is_changed |= record.journal.answer(key, outcome.clone()) == AnswerOutcome::Recorded;
    }
    is_changed
}

/// Returns the outcome of a session that has ended.
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

/// Returns the associated data of a sealed state: tool, caller and code.
fn bound_to(tool: &PluginTool, principal: &str) -> String {
    let parts = [tool.tool().name.as_str(), principal, tool.fingerprint()];
    let parts = parts.map(|part| alloc::format!("{}:{part}", part.len()));
    parts.concat()
}
