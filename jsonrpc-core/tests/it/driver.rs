//! A connection that runs by itself.
