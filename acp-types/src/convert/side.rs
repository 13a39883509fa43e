//! The sides of a bridge.

/// A side of the bridge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Side {
    /// The editor, which is the client.
    Editor,
    /// The agent.
    Agent,
}
