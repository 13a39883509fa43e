//! The connections of the users of one server.
use super::connection::{Connection, Lease};
use super::{ServerChanges, ServerOptions, Unavailable, WatchedResource};
use crate::fair_queue::{FairLimits, FairQueue};
use crate::tools::sources::address::ServerAddress;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The connections to a server: one for all users, or one for each.
pub(super) struct Users {
    /// Lists the tools, and serves the first user; all users of a shared connection.
    first: Arc<Connection>,
    assigned: Mutex<UserConnections>,
    /// Turns on a shared connection.
    turns: Arc<FairQueue>,
}

/// The connections by user.
#[derive(Default)]
struct UserConnections {
    /// The user of the connection that lists the tools.
    first: Option<String>,
    others: BTreeMap<String, Arc<Connection>>,
}

impl Drop for Users {
    fn drop(&mut self) {
        self.first.abort();
        self.assigned().others.values().for_each(|connection| connection.abort());
    }
}

impl Users {
    /// Connects in the background, to list the tools.
    pub(super) fn start(name: String, address: Arc<ServerAddress>, options: ServerOptions) -> Self {
        let turns =
            FairQueue::new(FairLimits { at_once: usize::MAX, of_user: options.max_shared_calls });
        let first = Connection::new(name, address, options, true);
        first.start();
        Self { first, assigned: Mutex::default(), turns }
    }

    /// Returns the connection that lists the tools.
    pub(super) fn first(&self) -> &Connection {
        &self.first
    }

    fn assigned(&self) -> MutexGuard<'_, UserConnections> {
        self.assigned.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the connection of a user, which may be closed.
    fn connection(&self, assigned: &mut UserConnections, user: &str) -> Arc<Connection> {
        let options = self.first.options();
        if options.is_shared || assigned.first.get_or_insert_with(|| user.to_owned()) == user {
            return self.first.clone();
        }
        if let Some(connection) = assigned.others.get(user) {
            return connection.clone();
        }
        assigned.others.retain(|_, connection| connection.is_in_use());
        let name = self.first.name.clone();
        let address = self.first.address.clone();
        let connection = Connection::new(name, address, options.clone(), false);
        assigned.others.insert(user.to_owned(), connection.clone());
        connection
    }

    /// Uses the connection of a user, which is opened if it is closed.
    ///
    /// # Errors
    /// The connections of other users are all used.
    pub(super) fn lease(&self, user: &str) -> Result<Lease, Unavailable> {
        let mut assigned = self.assigned();
        let connection = self.connection(&mut assigned, user);
        if !connection.is_running() {
            self.make_room(&assigned)?;
            connection.start();
        }
        Ok(Lease::new(connection))
    }

    /// Uses the connection of a user for a call. On a shared connection, it waits while the user
    /// has too many calls.
    ///
    /// # Errors
    /// The connections of other users are all used.
    pub(super) async fn enter(&self, user: &str) -> Result<Lease, Unavailable> {
        if !self.first.options().is_shared {
            return self.lease(user);
        }
        let place = self.turns.enter(user).await;
        Ok(self.lease(user)?.with_place(place))
    }

    /// Uses the connection that lists the tools.
    pub(super) fn lease_first(&self) -> Lease {
        Lease::new(self.first.clone())
    }

    /// Closes the connection that was not used for the longest time, if there are too many.
    fn make_room(&self, assigned: &UserConnections) -> Result<(), Unavailable> {
        let limit = self.first.options().max_connections;
        let open = || assigned.others.values().filter(|connection| connection.is_running());
        if open().count() < limit {
            return Ok(());
        }
        let unused = open().filter_map(|connection| Some((connection.unused_since()?, connection)));
        let Some((_, oldest)) = unused.min_by_key(|(since, _)| *since) else {
            let reason =
                format!("the connections of {limit} users have open calls; try again later");
            return Err(self.first.unavailable(&reason));
        };
        oldest.end();
        Ok(())
    }

    /// Returns the changes for a user.
    pub(super) fn subscribe(&self, user: &str) -> ServerChanges {
        let connection = self.connection(&mut self.assigned(), user);
        let is_other = !Arc::ptr_eq(&connection, &self.first);
        let lists = is_other.then(|| self.first.subscribe());
        ServerChanges { own: connection.subscribe(), lists }
    }

    /// Subscribes a user to changes of a resource. Returns `None` if too many are watched.
    pub(super) fn watch(&self, user: &str, uri: &str) -> Option<WatchedResource> {
        let connection = self.connection(&mut self.assigned(), user);
        if !connection.watch(uri) {
            return None;
        }
        // Without room, the subscription begins with the next call of the user.
        let _lease = self.lease(user);
        Some(WatchedResource { connection, uri: uri.to_owned() })
    }

    /// Ends all connections, after a sign-out.
    pub(super) fn end_all(&self) {
        self.first.end();
        self.assigned().others.values().for_each(|connection| connection.end());
    }
}
