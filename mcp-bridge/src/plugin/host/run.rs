//! Runs a tool until it returns or waits, and stores its state.
use super::local::ActiveRun;
use super::{PluginHost, bound_to, over};
use crate::mcp::tools::CallToolResult;
use crate::plugin::error::PluginError;
use crate::plugin::journal::EntryKind;
use crate::plugin::session::{SessionRecord, SessionStatus};
use crate::plugin::shared::Stop;
use crate::plugin::store::StoreError;
use crate::plugin::tool::failed;
use crate::plugin::turn::{SessionError, SuspendPolicy, Turn};
use alloc::string::{String, ToString};
use jsonrpc_core::ErrorObject;
use jsonrpc_core::wire::Raw;

impl PluginHost {
    /// Runs a tool until it returns or waits.
    pub(super) async fn run(
        &self,
        mut record: SessionRecord,
        mut active: ActiveRun,
    ) -> Result<Turn, SessionError> {
        let turn = self.run_to_turn(&mut record, &mut active).await;
        active.is_over = true;
        turn
    }

    async fn run_to_turn(
        &self,
        record: &mut SessionRecord,
        active: &mut ActiveRun,
    ) -> Result<Turn, SessionError> {
        loop {
            let Some(run) = &mut active.run else { return Err(SessionError::NotFound) };
            let stop = run.next().await;
            let now = (self.clock)();
            record.journal = run.journal();
            let passed = record.active.saturating_add(now.saturating_sub(record.since));
            if passed > self.limits.active && !matches!(stop, Stop::Done(_)) {
                let result = failed("the tool exceeded its running time");
                return self.finish(record, active, SessionStatus::Failed, result).await;
            }
            match stop {
                Stop::Done(Ok(result)) => {
                    return self.finish(record, active, SessionStatus::Completed, result).await;
                }
                Stop::Done(Err(PluginError::Protocol(error))) => {
                    return self.finish_with_error(record, active, error).await;
                }
                Stop::Done(Err(error)) => {
                    let result = failed(&error.to_string());
                    return self.finish(record, active, SessionStatus::Failed, result).await;
                }
                Stop::Save => {
                    self.set_status(record, SessionStatus::Running, now);
                    self.commit(record, active).await?;
                }
                Stop::Asks => {
                    let asks = run.asks();
                    let is_for_user = asks.iter().any(|ask| ask.kind == EntryKind::Elicit);
                    let status = match is_for_user {
                        true => SessionStatus::AwaitingElicit,
                        false => SessionStatus::AwaitingSample,
                    };
                    self.set_status(record, status, now);
                    if record.is_task {
                        record.asks.clone_from(&asks);
                    }
                    if self.suspend(record, active).await? {
                        return Ok(Turn::Asks { state: self.seal(record)?, asks });
                    }
                }
            }
            if let Some(run) = &active.run {
                run.resume(&record.journal);
            }
        }
    }

    /// Stores a session that waits. Returns `false` if answers have arrived and the tool can
    /// continue.
    async fn suspend(
        &self,
        record: &mut SessionRecord,
        active: &mut ActiveRun,
    ) -> Result<bool, SessionError> {
        // Park the tool before other callers can see that it waits.
        let parked = active.run.take_if(|_| self.is_parking());
        let is_parked = parked.is_some();
        if let Some(run) = parked {
            self.local.park(&record.id, run);
        }
        let committed = self.commit(record, active).await;
        if matches!(committed, Ok(false)) {
            if is_parked && self.local.is_check_due() {
                self.drop_stale_parked().await?;
            }
            return Ok(true);
        }
        if is_parked {
            active.run = self.local.unpark(&record.id);
        }
        committed.map(|_| false)
    }

    /// Stores the state of a session that this program runs. Returns whether answers have arrived,
    /// in which case the session continues even if it was about to wait.
    ///
    /// A session is created when it first waits. Nothing refers to it before that.
    async fn commit(
        &self,
        record: &mut SessionRecord,
        active: &mut ActiveRun,
    ) -> Result<bool, SessionError> {
        if self.is_stateless() {
            return Ok(false);
        }
        if !active.is_stored {
            if record.status.is_awaiting() {
                self.store.create(record).await?;
                active.is_stored = true;
            }
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
                self.set_status(record, SessionStatus::Running, record.since);
            }
        }
        Err(SessionError::Contended)
    }

    async fn finish(
        &self,
        record: &mut SessionRecord,
        active: &mut ActiveRun,
        status: SessionStatus,
        result: CallToolResult,
    ) -> Result<Turn, SessionError> {
        self.set_status(record, status, (self.clock)());
        record.result = Some(Raw::from_value(&result).map_err(|_| SessionError::Unwritable)?);
        self.commit_end(record, active).await?;
        Ok(Turn::Done(result))
    }

    async fn finish_with_error(
        &self,
        record: &mut SessionRecord,
        active: &mut ActiveRun,
        error: ErrorObject,
    ) -> Result<Turn, SessionError> {
        self.set_status(record, SessionStatus::Failed, (self.clock)());
        record.error = Some(error.clone());
        self.commit_end(record, active).await?;
        Err(SessionError::Protocol(error))
    }

    /// Stores the end of a session. If there is no room for the result, the session is removed: the
    /// caller has the result, but a repeated answer does not receive it.
    async fn commit_end(
        &self,
        record: &mut SessionRecord,
        active: &mut ActiveRun,
    ) -> Result<(), SessionError> {
        match self.commit(record, active).await {
            Err(SessionError::Store(StoreError::Full)) if !record.is_task => {
                Ok(self.store.remove(&record.id).await?)
            }
            committed => committed.map(|_| ()),
        }
    }

    fn seal(&self, record: &SessionRecord) -> Result<String, SessionError> {
        let SuspendPolicy::Token { codec, .. } = &self.policy else {
            return Ok(record.id.clone());
        };
        let text = serde_json::to_string(record).map_err(|_| SessionError::Unwritable)?;
        Ok(codec.seal(&text, &bound_to(self.tool(&record.tool)?, &record.principal)))
    }
}
