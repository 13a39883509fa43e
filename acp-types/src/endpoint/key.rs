//! Keys of sessions, turns, calls and requests of one connection.

macro_rules! keys {
    ($($(#[$attr:meta])* $Key:ident;)+) => { $(
        $(#[$attr])*
        ///
        /// Unique within its connection, and never reused.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $Key(u64);

        impl $Key {
            /// Creates a key from its number, for tests and for stored keys.
            pub const fn new(number: u64) -> Self {
                Self(number)
            }

            /// Returns the number of the key.
            pub const fn get(self) -> u64 {
                self.0
            }
        }
    )+ };
}

keys! {
    /// Identifies a session from [`open_session`](crate::client::Connection::open_session) on,
    /// before the agent has assigned an id.
    SessionKey;
    /// Identifies a turn until its end is polled.
    TurnKey;
    /// Identifies a call until its end is polled.
    CallKey;
    /// Identifies a request of the agent until it is answered.
    RequestKey;
}
