use crate::{CancelMethod, Limits};

/// What a connection needs to be told.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// How either side takes a request back.
    pub cancel_method: CancelMethod,
    /// How many requests may be open.
    pub limits: Limits,
    /// How many requests of theirs are handled at the same time, not counting those that wait for the peer; at least
    /// one.
    pub handlers: usize,
    /// How many notifications may wait to be handled; at least one.
    pub notifications: usize,
    /// How many messages of clients may wait to be written; at least one.
    pub outgoing: usize,
}

impl Options {
    /// The requests that are handled at the same time unless told otherwise.
    pub const DEFAULT_HANDLERS: usize = 64;
    /// The notifications that may wait unless told otherwise.
    pub const DEFAULT_NOTIFICATIONS: usize = 1024;
    /// The messages of clients that may wait unless told otherwise.
    pub const DEFAULT_OUTGOING: usize = 64;

    /// The defaults, for a protocol that takes requests back so.
    pub fn new(cancel_method: CancelMethod) -> Self {
        Self {
            cancel_method,
            limits: Limits::default(),
            handlers: Self::DEFAULT_HANDLERS,
            notifications: Self::DEFAULT_NOTIFICATIONS,
            outgoing: Self::DEFAULT_OUTGOING,
        }
    }
}
