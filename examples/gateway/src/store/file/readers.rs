//! Connections that read beside the thread that writes.
use super::schema;
use crate::fair_queue::{FairLimits, FairQueue};
use crate::store::StoreError;
use rusqlite::{Connection, Result};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::task::spawn_blocking;

/// Number of the connections.
const READERS: usize = 2;

/// Number of the connections that a user has at once.
const READERS_OF_USER: usize = 1;

/// Connections that read what has been committed.
#[derive(Debug)]
pub(super) struct Readers {
    idle: Mutex<Vec<Connection>>,
    turns: Arc<FairQueue>,
}

impl Readers {
    /// Opens connections to a file that the program has open.
    pub(super) fn open(path: &Path) -> Result<Arc<Self>> {
        let connections = (0..READERS).map(|_| schema::reader(path)).collect::<Result<_>>()?;
        let limits = FairLimits { at_once: READERS, of_user: READERS_OF_USER };
        Ok(Arc::new(Self { idle: Mutex::new(connections), turns: FairQueue::new(limits) }))
    }

    /// Runs a query of a user, in turn with other users.
    pub(super) async fn run<T: Send + 'static>(
        self: &Arc<Self>,
        user: &str,
        query: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
    ) -> std::result::Result<T, StoreError> {
        let place = self.turns.enter(user).await;
        let readers = self.clone();
        // The place is free when the query has ended, also for a caller that is gone.
        let reading = spawn_blocking(move || {
            let _place = place;
            let connection = readers.idle().pop();
            let Some(connection) = connection else { return Err(ended()) };
            let result = query(&connection);
            readers.idle().push(connection);
            Ok(result?)
        });
        reading.await.map_err(|_| ended())?
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn ended() -> StoreError {
    StoreError("the file of the store cannot be read".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt;
    use std::sync::mpsc;
    use std::time::Duration;
    use tokio::time::timeout;

    #[tokio::test]
    async fn reads_of_a_user_leave_a_connection_to_others() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("store.db");
        let _writer = schema::open(&path).expect("a file");
        let readers = Readers::open(&path).expect("connections");
        let (end, is_over) = mpsc::channel::<()>();
        let long = move |_: &Connection| {
            let _ended = is_over.recv();
            Ok(())
        };
        let mut first = Box::pin(readers.run("a", long));
        let mut second = Box::pin(readers.run("a", |_| Ok(())));
        assert!(first.as_mut().now_or_never().is_none());
        assert!(second.as_mut().now_or_never().is_none());
        let other = timeout(Duration::from_secs(60), readers.run("b", |_| Ok(())));
        other.await.expect("a turn").expect("a read");
        assert!(second.as_mut().now_or_never().is_none(), "one connection for each user");
        drop(end);
        first.await.expect("a read");
        second.await.expect("a read");
    }
}
