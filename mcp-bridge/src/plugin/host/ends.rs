//! Sessions that end before they are done, and those that there are.
use super::PluginHost;
use crate::plugin::session::{SessionRecord, SessionStatus};
use crate::plugin::turn::SessionError;
use alloc::vec::Vec;
use jsonrpc_core::ErrorObject;

impl PluginHost {
    /// Ends a call that waits or runs. One that is over stays as it is.
    ///
    /// # Errors
    /// There is no such session, or it is not this principal's.
    pub async fn abort(&self, id: &str, principal: &str, reason: &str) -> Result<(), SessionError> {
        self.end_early(id, principal, SessionStatus::Aborted, reason).await
    }

    /// Ends a session with an error of the protocol.
    pub(in crate::plugin) async fn end_with_error(
        &self,
        id: &str,
        principal: &str,
        error: ErrorObject,
    ) -> Result<(), SessionError> {
        let reason = error.message.clone();
        self.end_as(id, principal, SessionStatus::Failed, &reason, Some(error)).await
    }

    async fn end_early(
        &self,
        id: &str,
        principal: &str,
        status: SessionStatus,
        reason: &str,
    ) -> Result<(), SessionError> {
        self.end_as(id, principal, status, reason, None).await
    }

    async fn end_as(
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
                // What a session that has ended gives.
                _ => return Ok(()),
            }
        }
        Err(SessionError::Contended)
    }

    /// Ends a session that was in the memory of a program that has ended; whoever tells that has to know it.
    ///
    /// # Errors
    /// There is no such session, or it is not this principal's.
    pub async fn lose(&self, id: &str, principal: &str) -> Result<(), SessionError> {
        let reason = "the program that had it in memory has ended";
        self.end_early(id, principal, SessionStatus::Lost, reason).await
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
            if record.owner != self.owner {
                // It has gone on elsewhere since it was parked here.
                let behind = self.parked().remove(&record.id);
                drop(behind);
            }
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
}
