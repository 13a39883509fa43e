//! Tasks in progress.
use crate::endpoint::Endpoint;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use tokio::task::AbortHandle;

/// The tasks that run in this program, and the endpoint with their subscribers.
#[derive(Debug, Default)]
pub(crate) struct Tasks {
    running: Mutex<BTreeMap<String, AbortHandle>>,
    pub(crate) endpoint: OnceLock<Weak<Endpoint>>,
}

impl Tasks {
    pub(crate) fn running(&self) -> MutexGuard<'_, BTreeMap<String, AbortHandle>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
