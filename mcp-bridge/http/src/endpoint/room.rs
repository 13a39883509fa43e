//! Room for new sessions and requests: shares of principals, and the end of unused connections.
use super::Endpoint;
use crate::connection::{Client, Connection};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// There is no room, and every connection has an open call.
#[derive(Debug)]
pub(super) struct NoRoom;

impl Endpoint {
    /// Makes room for a connection of a client among those that are open. Returns the connection
    /// that ended in favour of it.
    ///
    /// # Errors
    /// Returns an error if every connection that could end has an open call.
    pub(super) fn make_room(
        &self,
        open: &[Arc<Connection>],
        client: &Client,
    ) -> Result<Option<Arc<Connection>>, NoRoom> {
        let is_own = |other: &&Arc<Connection>| other.client.principal == client.principal;
        let is_over_share = self.options.authenticate.is_some()
            && open.iter().filter(is_own).count() >= self.options.max_connections_each;
        if !is_over_share && open.len() < self.options.max_connections {
            return Ok(None);
        }
        let mut counts = BTreeMap::<&Client, usize>::new();
        for connection in open {
            *counts.entry(&connection.client).or_default() += 1;
        }
        let unused = open.iter().filter(|connection| !is_over_share || is_own(connection));
        let unused = unused.filter_map(|connection| Some((connection.unused_for()?, connection)));
        let ended = unused
            .max_by_key(|(unused, connection)| (counts.get(&connection.client).copied(), *unused));
        let (_, ended) = ended.ok_or(NoRoom)?;
        ended.close();
        let count = self.ended.fetch_add(1, Ordering::Relaxed) + 1;
        if count.is_power_of_two() {
            tracing::warn!(count, "too many sessions or subscriptions; ended as many so far");
        }
        Ok(Some(Arc::clone(ended)))
    }
}
