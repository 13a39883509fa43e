//! Tools that run, and what is kept of them.
use super::{PluginHost, bound_to, over};
use crate::mcp::tools::CallToolResult;
use crate::plugin::context::{PluginError, Run, Stop};
use crate::plugin::journal::EntryKind;
use crate::plugin::session::{SessionRecord, SessionStatus};
use crate::plugin::tool::failed;
use crate::plugin::turn::{SessionError, SuspendPolicy, Turn};
use alloc::string::{String, ToString};
use jsonrpc_core::ErrorObject;
use jsonrpc_core::wire::Raw;

impl PluginHost {
    /// Runs a tool until it is done or waits.
    pub(super) async fn run(
        &self,
        mut record: SessionRecord,
        mut run: Run,
    ) -> Result<Turn, SessionError> {
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
                Stop::Done(Err(PluginError::Protocol(error))) => {
                    return self.finish_with_error(record, error).await;
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
                    if record.is_task {
                        record.asks.clone_from(&asks);
                    }
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

    async fn finish_with_error(
        &self,
        mut record: SessionRecord,
        error: ErrorObject,
    ) -> Result<Turn, SessionError> {
        self.turn(&mut record, SessionStatus::Failed, (self.clock)());
        record.error = Some(error.clone());
        self.commit(&mut record).await?;
        Err(SessionError::Protocol(error))
    }

    fn seal(&self, record: &SessionRecord) -> Result<String, SessionError> {
        let SuspendPolicy::Token { codec, .. } = &self.policy else {
            return Ok(record.id.clone());
        };
        let text = serde_json::to_string(record).map_err(|_| SessionError::Unwritable)?;
        Ok(codec.seal(&text, &bound_to(self.tool(&record.tool)?, &record.principal)))
    }
}
