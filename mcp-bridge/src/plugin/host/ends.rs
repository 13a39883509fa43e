//! Ends sessions from outside, lists them and removes those that are over.
use super::PluginHost;
use crate::plugin::session::{SessionRecord, SessionStatus};
use crate::plugin::turn::SessionError;
use alloc::vec::Vec;
use core::time::Duration;
use jsonrpc_core::ErrorObject;

impl PluginHost {
    /// Ends a call that waits or runs. A call that is over stays unchanged.
    ///
    /// # Errors
    /// The session does not exist or belongs to another principal, or the store failed.
    pub async fn abort(&self, id: &str, principal: &str, reason: &str) -> Result<(), SessionError> {
        self.end_early(id, principal, SessionStatus::Aborted, reason, None).await
    }

    /// Ends a session with a protocol error.
    pub(in crate::plugin) async fn end_with_error(
        &self,
        id: &str,
        principal: &str,
        error: ErrorObject,
    ) -> Result<(), SessionError> {
        let reason = error.message.clone();
        self.end_early(id, principal, SessionStatus::Failed, &reason, Some(error)).await
    }

    async fn end_early(
        &self,
        id: &str,
        principal: &str,
        status: SessionStatus,
        reason: &str,
        error: Option<ErrorObject>,
    ) -> Result<(), SessionError> {
        for _ in 0..Self::MAX_ATTEMPTS {
            let mut record = self.store.load(id).await?.ok_or(SessionError::NotFound)?;
            if record.principal != principal {
                return Err(SessionError::NotFound);
            }
            if record.status.is_over() {
                return Ok(());
            }
            record.error.clone_from(&error);
            match self.end(record, status, reason).await {
                Ok(None) => {}
                Err(SessionError::Store(error)) => return Err(error.into()),
                // The outcome of the session that ended.
                _ => return Ok(()),
            }
        }
        Err(SessionError::Contended)
    }

    /// Ends a session that was parked in another program, after that program has ended.
    ///
    /// # Errors
    /// The session does not exist or belongs to another principal, or the store failed.
    pub async fn lose(&self, id: &str, principal: &str) -> Result<(), SessionError> {
        let reason = "the program that had it in memory has ended";
        self.end_early(id, principal, SessionStatus::Lost, reason, None).await
    }

    /// Returns the sessions that are not over.
    ///
    /// # Errors
    /// The store failed.
    pub async fn active(&self) -> Result<Vec<SessionRecord>, SessionError> {
        let mut records = self.store.list().await?;
        records.retain(|record| !record.status.is_over());
        Ok(records)
    }

    /// Ends sessions without an answer in time, and removes those that have been over for long enough.
    ///
    /// A store makes room by itself. A regular sweep frees memory earlier, and lets other programs go on with sessions whose
    /// future was dropped here.
    ///
    /// # Errors
    /// The store failed.
    pub async fn sweep(&self) -> Result<(), SessionError> {
        self.release().await?;
        let now = (self.clock)();
        for record in self.store.list().await? {
            if record.status.is_over() {
                if now >= record.deadline {
                    self.store.remove(&record.id).await?;
                }
                continue;
            }
            let is_running = record.status == SessionStatus::Running;
            // A runner that has ended may still be replaced after its lease.
            let grace = if is_running { self.limits.waiting } else { Duration::ZERO };
            if now >= record.deadline.saturating_add(grace) && !self.local.is_active(&record) {
                let reason = "no answer came in time";
                match self.end(record, SessionStatus::Expired, reason).await {
                    Err(SessionError::Store(error)) => return Err(error.into()),
                    // Ended here, or changed by another program meanwhile.
                    _ => continue,
                }
            }
        }
        self.drop_stale_parked().await
    }

    /// Ends the leases of sessions whose future was dropped, so that another program can go on with them at once. This program
    /// can without it.
    ///
    /// # Errors
    /// The store failed.
    pub async fn release(&self) -> Result<(), SessionError> {
        for (id, epoch) in self.local.take_dropped() {
            for _ in 0..Self::MAX_ATTEMPTS {
                let Some(mut record) = self.store.load(&id).await? else { break };
                let is_dropped = record.status == SessionStatus::Running && record.epoch == epoch;
                if !is_dropped || record.owner != self.owner {
                    break;
                }
                record.deadline = (self.clock)();
                record.revision += 1;
                if self.store.save(&record).await? {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Drops parked tools whose session is over, or went on elsewhere.
    pub(super) async fn drop_stale_parked(&self) -> Result<(), SessionError> {
        for id in self.local.idle() {
            let record = self.store.load(&id).await?;
            let is_ours = |it: &SessionRecord| it.owner == self.owner && !it.status.is_over();
            if !record.as_ref().is_some_and(is_ours) {
                drop(self.local.unpark(&id));
            }
        }
        self.local.set_checked();
        Ok(())
    }
}
