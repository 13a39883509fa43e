//! Ends and lists sessions, and removes those that have ended.
use super::PluginHost;
use crate::plugin::session::{SessionRecord, SessionStatus};
use crate::plugin::turn::SessionError;
use alloc::vec::Vec;
use core::time::Duration;
use jsonrpc_core::ErrorObject;

impl PluginHost {
    /// Aborts a call that waits or runs. A call that has ended is unchanged.
    ///
    /// # Errors
    /// Returns an error if the session does not exist, belongs to another principal, or the store
    /// failed.
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
                // The session has ended; this is its outcome.
                _ => return Ok(()),
            }
        }
        Err(SessionError::Contended)
    }

    /// Marks a session as lost that was parked in another program, after that program has ended.
    ///
    /// # Errors
    /// Returns an error if the session does not exist, belongs to another principal, or the store
    /// failed.
    pub async fn lose(&self, id: &str, principal: &str) -> Result<(), SessionError> {
        let reason = "the program that parked the call has ended";
        self.end_early(id, principal, SessionStatus::Lost, reason, None).await
    }

    /// Returns the sessions that have not ended.
    ///
    /// # Errors
    /// Returns an error if the store failed.
    pub async fn active(&self) -> Result<Vec<SessionRecord>, SessionError> {
        let mut records = self.store.list().await?;
        records.retain(|record| !record.status.is_over());
        Ok(records)
    }

    /// Ends sessions that waited too long, and removes ended sessions after their retention.
    ///
    /// A store frees space by itself. A regular sweep frees memory earlier, and lets other programs
    /// resume sessions with a dropped future.
    ///
    /// # Errors
    /// Returns an error if the store failed.
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
                let reason = "no answer in time";
                match self.end(record, SessionStatus::Expired, reason).await {
                    Err(SessionError::Store(error)) => return Err(error.into()),
                    // Ended by this call, or changed concurrently by another program.
                    _ => continue,
                }
            }
        }
        self.drop_stale_parked().await
    }

    /// Ends the leases of sessions with a dropped future, so that another program can resume them
    /// at once. This program can resume them without it.
    ///
    /// # Errors
    /// Returns an error if the store failed.
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

    /// Drops parked tools if their session has ended or was continued elsewhere.
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
