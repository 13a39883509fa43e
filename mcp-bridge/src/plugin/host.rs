//! Runs tools, lets them wait, and goes on with them.
use super::context::{Ask, Notice, Run, Sink, Stop};
use super::events::PluginSessionErrorCode;
use super::journal::{Answered, EntryKind, Outcome};
use super::session::{SessionLimits, SessionRecord, SessionStatus};
use super::store::{SessionStore, StoreError};
use super::tool::{PluginTool, failed};
use crate::mcp::tools::{CallToolResult, Tool};
use crate::relay::StateCodec;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;
use jsonrpc_core::wire::Raw;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How a call waits.
#[derive(Clone)]
#[non_exhaustive]
pub enum SuspendPolicy {
    /// The tool stays in memory. Its code may do whatever it likes; the program must not end, and the answer must come to it.
    Park,
    /// The tool ends, and is run again with its journal: by any program that has its code and the store.
    Replay,
    /// As [`Replay`](Self::Replay), but the journal travels through the client, sealed: nothing is kept but, with
    /// `is_single_use`, which states were used. Such a call is in no list, and cannot be aborted.
    Token {
        /// Seals it. A state that has expired, was changed or belongs elsewhere does not open.
        codec: Arc<dyn StateCodec + Send + Sync>,
        /// Whether a state can be used once only. One that comes again is refused, so that an answer whose result was lost
        /// on the way begins anew.
        is_single_use: bool,
    },
}

impl fmt::Debug for SuspendPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Park => "Park",
            Self::Replay => "Replay",
            Self::Token { .. } => "Token",
        })
    }
}

/// A call of a tool.
#[derive(Clone, Debug)]
pub struct NewCall<'a> {
    /// Names the session: at least 128 bits that nobody can guess.
    pub session_id: &'a str,
    /// The call, as the model has it.
    pub call_id: &'a str,
    /// The tool.
    pub tool: &'a str,
    /// Its arguments.
    pub arguments: Raw,
    /// Who calls.
    pub principal: &'a str,
}

/// A call that goes on.
#[derive(Clone, Debug)]
pub struct Resumption<'a> {
    /// What [`Turn::Asks`] gave.
    pub state: &'a str,
    /// The tool.
    pub tool: &'a str,
    /// The arguments, where they come again; they have to be the same, to the byte.
    pub arguments: Option<&'a Raw>,
    /// Who answers.
    pub principal: &'a str,
    /// The answers by key. There may be some only, and some that count already; what nobody asked is passed over.
    pub answers: Vec<(String, Outcome)>,
}

/// What came of a call, for now.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Turn {
    /// It is done.
    Done(CallToolResult),
    /// It waits for answers.
    Asks {
        /// What to come back with.
        state: String,
        /// What it needs.
        asks: Vec<Ask>,
    },
    /// It is being run already. The answers are kept, and count.
    Taken,
}

/// A call cannot go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// There is no such tool.
    #[error("no tool is named `{0}`")]
    UnknownTool(String),
    /// There is no such session, it belongs to somebody else, or it was lost; or the state was changed, used or has expired.
    #[error("there is no such session")]
    NotFound,
    /// It is in the memory of another program.
    #[error("the session is in the memory of `{owner}`")]
    Elsewhere {
        /// Which one.
        owner: String,
    },
    /// Nobody answered in time.
    #[error("the session has expired")]
    Expired,
    /// Somebody ended it.
    #[error("the session was aborted")]
    Aborted,
    /// It waited for other code than there is.
    #[error("the session is of the code `{expected}`, and there is `{actual}`")]
    OtherCode {
        /// The code that it is of.
        expected: String,
        /// The code that there is.
        actual: String,
    },
    /// The arguments are not those of the call.
    #[error("the arguments are not those of the call")]
    OtherArguments,
    /// Somebody else runs it by now.
    #[error("the session is run by somebody else")]
    Superseded,
    /// The store did not take it, however often.
    #[error("the session changes too often")]
    Contended,
    /// The tool failed before: this is why.
    #[error("the tool failed: {0}")]
    Failed(String),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The session has no JSON form.
    #[error("the session has no JSON form")]
    Unwritable,
}

impl SessionError {
    /// The code for the page of a chat.
    pub fn code(&self) -> PluginSessionErrorCode {
        match self {
            Self::NotFound | Self::Elsewhere { .. } | Self::Expired => {
                PluginSessionErrorCode::SessionNotFound
            }
            Self::Aborted => PluginSessionErrorCode::SessionAborted,
            _ => PluginSessionErrorCode::InternalError,
        }
    }
}

/// Tells the time, counted from one moment that all who share a store agree on.
pub type Clock = Arc<dyn Fn() -> Duration + Send + Sync>;

/// Takes what tools tell while they run, each with the name of its session.
pub type Notices = Arc<dyn Fn(&str, &Notice) + Send + Sync>;

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
        let tool = self.tool(call.tool)?;
        let now = (self.clock)();
        let record = SessionRecord {
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
            revision: 0,
            epoch: 0,
            owner: self.owner.clone(),
            created: now,
            deadline: now.saturating_add(self.limits.lease),
            active: Duration::ZERO,
            waited: Duration::ZERO,
            since: now,
        };
        if !self.is_stateless() {
            self.store.create(&record).await?;
        }
        let run = self.begin(tool, &record);
        self.run(record, run).await
    }

    /// Goes on with a call.
    ///
    /// Whoever comes first runs it: for others that come meanwhile it is [`Turn::Taken`], and what they bring is taken in.
    /// Once it is done it gives the same result, however often it is asked.
    ///
    /// # Errors
    /// The session cannot go on; [`SessionError::code`] says what to tell.
    pub async fn resume(&self, resumption: Resumption<'_>) -> Result<Turn, SessionError> {
        let tool = self.tool(resumption.tool)?;
        if let SuspendPolicy::Token { codec, is_single_use } = &self.policy {
            let record = codec.open(resumption.state, &bound_to(tool, resumption.principal));
            let record = record.ok_or(SessionError::NotFound)?;
            let record: SessionRecord =
                serde_json::from_str(&record).map_err(|_| SessionError::NotFound)?;
            return self.resume_token(tool, record, &resumption, *is_single_use).await;
        }
        for _ in 0..Self::MAX_ATTEMPTS {
            let record = self.store.load(resumption.state).await?.ok_or(SessionError::NotFound)?;
            if let Some(turn) = self.resume_stored(tool, record, &resumption).await? {
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
        let run = self.begin(tool, &record);
        self.run(record, run).await
    }

    /// Goes on with a stored call, unless somebody else changed it meanwhile.
    async fn resume_stored(
        &self,
        tool: &PluginTool,
        mut record: SessionRecord,
        resumption: &Resumption<'_>,
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
        let is_parked = self.is_parking();
        if is_parked && record.owner != self.owner {
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
        if is_parked && !self.parked().contains_key(&record.id) {
            return self.end(record, SessionStatus::Lost, "it is not in memory").await;
        }
        self.claim(&mut record, now);
        if !self.store.save(&record).await? {
            return Ok(None);
        }
        let parked = self.parked().remove(&record.id);
        let run = match parked {
            Some(run) => {
                run.go_on(&record.journal);
                run
            }
            None if is_parked => return Err(SessionError::NotFound),
            None => self.begin(tool, &record),
        };
        self.run(record, run).await.map(Some)
    }

    /// Ends a call that waits or runs. One that is over stays as it is.
    ///
    /// # Errors
    /// There is no such session, or it is not this principal's.
    pub async fn abort(&self, id: &str, principal: &str, reason: &str) -> Result<(), SessionError> {
        for _ in 0..Self::MAX_ATTEMPTS {
            let record = self.store.load(id).await?.ok_or(SessionError::NotFound)?;
            if record.principal != principal {
                return Err(SessionError::NotFound);
            }
            if record.status.is_over() {
                return Ok(());
            }
            if let Err(SessionError::Aborted) =
                self.end(record, SessionStatus::Aborted, reason).await
            {
                return Ok(());
            }
        }
        Err(SessionError::Contended)
    }

    /// The sessions that are not over.
    ///
    /// # Errors
    /// The store failed.
    pub async fn active(&self) -> Result<Vec<SessionRecord>, SessionError> {
        let mut records = self.store.list().await?;
        records.retain(|record| !record.status.is_over());
        Ok(records)
    }

    /// Ends the sessions that nobody answered in time, and forgets those that are over for long enough. To be called now and
    /// then.
    ///
    /// # Errors
    /// The store failed.
    pub async fn sweep(&self) -> Result<(), SessionError> {
        let now = (self.clock)();
        for record in self.store.list().await? {
            if now < record.deadline {
                continue;
            }
            if record.status.is_over() {
                self.store.remove(&record.id).await?;
            } else if record.status.is_awaiting() {
                match self.end(record, SessionStatus::Expired, "nobody answered in time").await {
                    Err(SessionError::Store(error)) => return Err(error.into()),
                    // Ended, or changed by somebody else meanwhile.
                    _ => continue,
                }
            }
        }
        Ok(())
    }

    fn tool(&self, name: &str) -> Result<&PluginTool, SessionError> {
        self.tools.get(name).ok_or_else(|| SessionError::UnknownTool(name.into()))
    }

    fn is_stateless(&self) -> bool {
        matches!(self.policy, SuspendPolicy::Token { .. })
    }

    fn is_parking(&self) -> bool {
        matches!(self.policy, SuspendPolicy::Park)
    }

    fn parked(&self) -> MutexGuard<'_, BTreeMap<String, Run>> {
        self.parked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self, tool: &PluginTool, record: &SessionRecord) -> Run {
        let sink = self.notices.as_ref().map(|notices| -> Sink {
            let (notices, id) = (Arc::clone(notices), record.id.clone());
            Arc::new(move |notice| notices(&id, notice))
        });
        tool.run(record.arguments.clone(), record.journal.clone(), sink)
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

    /// Runs a tool until it is done or waits.
    async fn run(&self, mut record: SessionRecord, mut run: Run) -> Result<Turn, SessionError> {
        loop {
            let stop = run.next().await;
            let now = (self.clock)();
            record.journal = run.journal();
            let passed = record.active.saturating_add(now.saturating_sub(record.since));
            if passed > self.limits.active && !matches!(stop, Stop::Done(_)) {
                let result = failed("the tool ran for longer than it may");
                return self.finish(record, SessionStatus::Failed, result).await;
            }
            match stop {
                Stop::Done(Ok(result)) => {
                    return self.finish(record, SessionStatus::Completed, result).await;
                }
                Stop::Done(Err(error)) => {
                    let result = failed(&error.to_string());
                    return self.finish(record, SessionStatus::Failed, result).await;
                }
                Stop::Save => {
                    self.turn(&mut record, SessionStatus::Running, now);
                    self.commit(&mut record).await?;
                }
                Stop::Asks => {
                    let asks = run.asks();
                    let is_for_user = asks.iter().any(|ask| ask.kind == EntryKind::Elicit);
                    let status = match is_for_user {
                        true => SessionStatus::AwaitingElicit,
                        false => SessionStatus::AwaitingSample,
                    };
                    self.turn(&mut record, status, now);
                    match self.suspend(&mut record, run).await? {
                        Some(again) => run = again,
                        None => return Ok(Turn::Asks { state: self.seal(&record)?, asks }),
                    }
                }
            }
            run.go_on(&record.journal);
        }
    }

    /// Keeps a session that waits; gives the tool back if answers came meanwhile.
    async fn suspend(
        &self,
        record: &mut SessionRecord,
        run: Run,
    ) -> Result<Option<Run>, SessionError> {
        let mut run = Some(run);
        if let Some(run) = run.take_if(|_| self.is_parking()) {
            // Before others see that it waits.
            self.parked().insert(record.id.clone(), run);
        }
        let is_answered = self.commit(record).await;
        if matches!(is_answered, Ok(false)) {
            return Ok(None);
        }
        let parked = self.parked().remove(&record.id);
        is_answered?;
        parked.or(run).map(Some).ok_or(SessionError::NotFound)
    }

    /// Keeps what happened to a session that this program runs; whether answers came meanwhile. It runs on then, even if it
    /// was to wait.
    async fn commit(&self, record: &mut SessionRecord) -> Result<bool, SessionError> {
        if self.is_stateless() {
            return Ok(false);
        }
        let mut is_answered = false;
        for _ in 0..Self::MAX_ATTEMPTS {
            record.revision += 1;
            if self.store.save(record).await? {
                return Ok(is_answered);
            }
            let current = self.store.load(&record.id).await?.ok_or(SessionError::NotFound)?;
            if current.epoch != record.epoch || current.status.is_over() {
                return Err(over(&current).err().unwrap_or(SessionError::Superseded));
            }
            record.revision = current.revision;
            is_answered |= record.journal.take_answers(&current.journal);
            if is_answered && record.status.is_awaiting() {
                self.turn(record, SessionStatus::Running, record.since);
            }
        }
        Err(SessionError::Contended)
    }

    async fn finish(
        &self,
        mut record: SessionRecord,
        status: SessionStatus,
        result: CallToolResult,
    ) -> Result<Turn, SessionError> {
        self.turn(&mut record, status, (self.clock)());
        record.result = Some(Raw::from_value(&result).map_err(|_| SessionError::Unwritable)?);
        self.commit(&mut record).await?;
        Ok(Turn::Done(result))
    }

    fn seal(&self, record: &SessionRecord) -> Result<String, SessionError> {
        let SuspendPolicy::Token { codec, .. } = &self.policy else {
            return Ok(record.id.clone());
        };
        let text = serde_json::to_string(record).map_err(|_| SessionError::Unwritable)?;
        Ok(codec.seal(&text, &bound_to(self.tool(&record.tool)?, &record.principal)))
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
